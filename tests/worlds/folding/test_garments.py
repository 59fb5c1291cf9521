"""Garment templates, checked against shapely."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from outlines import outline
from shapely.geometry import Polygon
from shapely.ops import unary_union

from meip.base import documents
from meip.base.errors import WorldError
from meip.worlds.folding.cloth import Garment, Part, first_crossing, signed_area
from meip.worlds.folding.garments import TEMPLATES, garment, make_style, parameters, random_garment
from meip.worlds.folding.styles import STYLES

PARTS = {
    "tshirt": {"body", "sleeve_left", "sleeve_right"},
    "longsleeve": {"body", "sleeve_left", "sleeve_right"},
    "sweater": {"body", "sleeve_left", "sleeve_right"},
    "hoodie": {"body", "sleeve_left", "sleeve_right", "hood"},
    "tanktop": {"body"},
    "trousers": {"leg_left", "leg_right"},
}


def edges(part: Part) -> dict[tuple[object, object], str]:
    return dict(zip(zip(part.points, part.points[1:] + part.points[:1], strict=True), part.tags, strict=True))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.sampled_from(TEMPLATES), st.integers(0, 2**32 - 1))
def test_every_draw_is_simple_polygons_that_do_not_overlap(template: str, seed: int) -> None:
    one = random_garment(template, np.random.default_rng(seed))
    polygons = [Polygon(part.points) for part in one.parts]
    assert all(polygon.is_valid and polygon.exterior.is_ccw for polygon in polygons)
    union = unary_union(polygons)
    assert union.area == pytest.approx(sum(p.area for p in polygons), abs=1e-6)
    assert Polygon(outline(one)).symmetric_difference(union).area < 1e-6
    assert signed_area(outline(one)) == pytest.approx(one.area)
    if one.logo:
        assert polygons[0].contains(Polygon(one.logo))


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.sampled_from(TEMPLATES), st.integers(0, 2**32 - 1))
def test_seams_are_exactly_the_edges_that_two_parts_share(template: str, seed: int) -> None:
    one = random_garment(template, np.random.default_rng(seed))
    for part in one.parts:
        others = {edge for other in one.parts if other is not part for edge in edges(other)}
        for (a, b), tag in edges(part).items():
            assert ((b, a) in others) == (tag == "seam")


@pytest.mark.parametrize("template", TEMPLATES)
def test_templates_have_their_parts_and_a_different_number_of_vertices(template: str) -> None:
    one = garment(template)
    assert {part.name for part in one.parts} == PARTS[template]
    others = [len(outline(garment(t))) for t in TEMPLATES if t != template]
    assert len(outline(one)) not in others


def test_only_garments_with_an_open_collar_have_a_neckline() -> None:
    necks = {t: sum(tag == "neck" for part in garment(t).parts for tag in part.tags) for t in TEMPLATES}
    assert necks == {"tshirt": 4, "longsleeve": 4, "sweater": 4, "hoodie": 0, "tanktop": 4, "trousers": 0}


def test_a_hundred_random_shirts_are_a_hundred_different_shirts() -> None:
    rng = np.random.default_rng(5)
    drawn = {outline(random_garment("tshirt", rng)).tobytes() for _ in range(100)}
    assert len(drawn) == 100


def test_the_same_seed_draws_the_same_garment() -> None:
    assert random_garment("hoodie", np.random.default_rng(7)) == random_garment("hoodie", np.random.default_rng(7))


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_parameter_changes_the_garment_and_says_what_it_means(template: str) -> None:
    plain = garment(template)
    for name, parameter in parameters(template).items():
        assert parameter.low <= parameter.default <= parameter.high
        assert parameter.meaning
        for value in (parameter.low, parameter.high):
            try:
                changed = garment(template, **{name: value})
            except WorldError as error:
                assert "do not fit together" in str(error)  # an end of the range may need others to move with it
            else:
                assert (changed.parts, changed.logo) != (plain.parts, plain.logo) or value == parameter.default


def test_a_garment_survives_its_document() -> None:
    one = random_garment("hoodie", np.random.default_rng(3), name="mine")
    assert documents.parse(documents.dump(one)) == one


@pytest.mark.parametrize(
    ("template", "style", "words"),
    [
        ("tshrit", {}, "did you mean 'tshirt'"),
        ("tshirt", {"chets": 50}, "did you mean 'chest'"),
        ("tshirt", {"chest": 500}, "expected 44 to 64"),
        ("tshirt", {"chest": float("nan")}, "expected 44 to 64"),
        ("tshirt", {"neck_points": 1.5}, "whole number"),
        ("tshirt", {"sleeve_angle": 44, "sleeve": 17, "cuff": 19}, "lies on the body"),
        ("tanktop", {"strap": 9, "chest": 38}, "no room for a neck"),
    ],
)
def test_impossible_styles_are_refused_in_words(template: str, style: dict[str, float], words: str) -> None:
    with pytest.raises(WorldError, match=words):
        make_style(template, **style)


def test_parts_that_do_not_meet_have_no_common_outline() -> None:
    square = ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))
    apart = Garment("two", (Part("a", square), Part("b", tuple((x + 3, y) for x, y in square))))
    with pytest.raises(WorldError, match="do not form one outline"):
        outline(apart)


def test_the_crossing_test_agrees_with_shapely_on_random_polygons() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        polygon = rng.normal(size=(int(rng.integers(4, 9)), 2))
        assert (first_crossing(polygon) is None) == Polygon(polygon).is_valid


def test_every_style_class_is_listed_under_its_template() -> None:
    assert all(cls.template == name for name, cls in STYLES.items())
