"""The grammar is a grammar, its numbers are those of the templates, and a parse is its likeliest derivation."""

from __future__ import annotations

from collections.abc import Callable

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from outlines import outline, real_shirts

from meip.base.arrays import Floats
from meip.base.errors import WorldError
from meip.worlds.folding.canvas import Text
from meip.worlds.folding.chart import cheapest_way, network, ring_of
from meip.worlds.folding.cvat import read_cvat
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.derive import derive
from meip.worlds.folding.garments import garment, random_garment
from meip.worlds.folding.grammar import CORNERS, EDGES, KINDS, RULES
from meip.worlds.folding.parse_graph import Hints, ParseGraph, parse_array, to_garment
from meip.worlds.folding.parse_picture import overlay
from meip.worlds.folding.parse_tree import cloth_trees, picture_tree
from meip.worlds.folding.photo import photograph
from meip.worlds.folding.render import demonstration_row, mask

Mask = NDArray[np.uint8]


def shirt(*, sleeve: bool = True, turn: float = 0.0) -> Mask:
    """A T-shirt, turned clockwise; without its right sleeve if one lies under the body."""
    one = garment("tshirt")
    if not sleeve:
        image = np.zeros((700, 700), np.uint8)
        _, place = mask(one, size=700)
        for part in one.parts[:2]:
            cv2.fillPoly(image, [np.round(place(part.polygon)).astype(np.int32)], 255)
        return image
    return mask(one, size=500, turn=-turn)[0]


def test_alternatives_add_up_and_produce_only_what_is_defined() -> None:
    assert sum(kind.probability for kind in KINDS.values()) == pytest.approx(1.0)
    for rule in RULES.values():
        assert sum(alternative.probability for alternative in rule.values()) == pytest.approx(1.0)
    for name, kind in KINDS.items():
        words = kind.produces.split()
        assert words[0] == words[-1]
        net = network(name)
        stems = {state.removesuffix("_left").removesuffix("_right") for state in net.states}
        assert stems == {corner for corner in CORNERS[kind.corners] if "@" not in corner}
        for corner, _, option in (name.partition("@") for name in CORNERS[kind.corners] if "@" in name):
            assert any(corner in way[option].produces for way in RULES.values() if option in way)
    used = {word for rule in RULES.values() for one in rule.values() for word in one.produces.split()[::2]}
    used |= {word.removeprefix("<") for kind in KINDS.values() for word in kind.produces.split()[1::2]}
    assert used - set(RULES) == set(EDGES)


@pytest.mark.parametrize(("template", "table"), [("tshirt", "short"), ("hoodie", "hooded"), ("trousers", "legs")])
def test_the_places_of_corners_are_those_of_the_templates(template: str, table: str) -> None:
    rng = np.random.default_rng(3)
    corners = [c for name, c in CORNERS[table].items() if name not in ("notch", "rim") and "@" not in name]
    gaps = []
    for _ in range(15):
        points = ring_of(outline(random_garment(template, rng))).points
        away = [np.hypot(points[:, 0] - c.x, points[:, 1] - c.y).min() for c in corners]
        gaps.append(away)
    assert np.mean(gaps, axis=0).max() < 0.09


@pytest.mark.parametrize("turn", [0.0, 130.0, 250.0])
def test_the_axis_is_the_garments_own_and_a_mirror_image_is_read_as_well(turn: float) -> None:
    for image in (shirt(turn=turn), np.ascontiguousarray(shirt(turn=-turn)[:, ::-1])):
        graph = parse_array(image)
        (x0, y0), (x1, y1) = graph.axis
        found = np.degrees(np.arctan2(x1 - x0, y0 - y1))
        assert abs((found - turn + 180) % 360 - 180) < 4
        assert graph.probability > 0.95 and not graph.doubt


def test_the_choices_are_recorded_with_their_frequency_and_how_likely_they_are() -> None:
    v_neck = parse_array(mask(garment("tshirt", neck_points=1, neck_depth=13), size=600)[0])
    hoodie = parse_array(mask(garment("hoodie"), size=600)[0])
    taken = {choice.node: choice.alternative for choice in v_neck.choices}
    assert taken["cloth"] == "tshirt" and taken["neck"] == "V neck" and taken["yoke_left"] == "set-in sleeve"
    assert {choice.alternative for choice in hoodie.choices} >= {"hoodie", "hood up"}
    assert all(0 < choice.probability <= 1 and 0 < choice.frequency < 1 for choice in v_neck.choices)


def test_a_sleeve_under_the_body_is_asked_about_and_pointing_at_the_armpit_answers() -> None:
    image = shirt(sleeve=False)
    graph = parse_array(image)
    assert "on the right" in graph.doubt
    with pytest.raises(WorldError, match="armpit_right"):
        to_garment(graph)
    assert to_garment(graph, unsure=True).parts
    x, y = graph.vertices[graph.corners["armpit_right"]]
    told = parse_array(image, hints=Hints(keypoints={"armpit_right": (x, y)}))
    assert not told.doubt


def moved_sleeve(by: Callable[[Floats, Floats, Floats], Floats]) -> Mask:
    """A T-shirt whose right sleeve was moved: `by` gets its points, and its shoulder and armpit."""
    one = garment("tshirt")
    image = np.zeros((700, 700), np.uint8)
    _, place = mask(one, size=700)
    body = one.part("body").polygon
    for part in one.parts:
        points = part.polygon
        if part.name == "sleeve_right":
            seam = points[(np.abs(points[:, None] - body[None]).max(axis=2) < 1e-9).any(axis=1)]
            points = by(points, seam[seam[:, 1].argmax()], seam[seam[:, 1].argmin()])
        cv2.fillPoly(image, [np.round(place(points)).astype(np.int32)], 255)
    return image


def test_a_sleeve_pushed_partly_under_the_body_is_read_as_such_and_asked_about() -> None:
    pushed = parse_array(moved_sleeve(lambda points, shoulder, armpit: points - [9.0, 0.0]))
    assert "right sleeve" in pushed.doubt and "under the body" in pushed.doubt
    assert "notch_right" in pushed.corners or pushed.probability < 0.95
    x, y = pushed.vertices[pushed.corners["armpit_right"]]
    assert (
        "right"
        not in parse_array(
            moved_sleeve(lambda points, shoulder, armpit: points - [9.0, 0.0]),
            hints=Hints(keypoints={"armpit_right": (x, y)}),
        ).doubt
    )


def test_a_sleeve_bent_to_the_body_is_never_taken_for_something_else_without_a_question() -> None:
    for degrees in (15, 30, 45, 60):
        a = np.radians(degrees)
        turn = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
        graph = parse_array(moved_sleeve(lambda points, shoulder, armpit, t=turn: (points - shoulder) @ t + shoulder))
        (x0, y0), (x1, y1) = graph.axis
        upright = abs(np.degrees(np.arctan2(x1 - x0, y0 - y1))) < 25
        assert graph.doubt or (upright and len(graph.polygons) == 3)


def test_the_cheapest_way_is_the_same_with_a_limit_that_it_keeps_and_none_below_it() -> None:
    ring, net = ring_of(outline(garment("tshirt"))), network("tshirt")
    allowed = np.ones((len(net.states), len(ring.at)), np.bool_)
    cost, at, by = cheapest_way(ring, net, np.pi / 2, allowed)
    again, same, _ = cheapest_way(ring, net, np.pi / 2, allowed, limit=cost + 1e-6)
    assert again == cost and (same == at).all() and (by[1:-1] >= -1).all()
    assert np.isinf(cheapest_way(ring, net, np.pi / 2, allowed, limit=cost - 1e-6)[0])


def drawn(*corners: tuple[int, int]) -> Mask:
    """A mask of a top whose right half (as seen) is given, from the hem up to the neck."""
    image = np.zeros((520, 520), np.uint8)
    right = [(260 + x, 480 - y) for x, y in corners]
    left = [(260 - x, 480 - y) for x, y in reversed(corners)]
    cv2.fillPoly(image, [np.array(right + left, dtype=np.int32)], 255)
    return image


def test_a_sleeveless_top_is_asked_about_unless_somebody_says_that_it_has_no_sleeves() -> None:
    image = drawn((155, 0), (145, 210), (180, 345), (60, 395), (50, 375))
    graph = parse_array(image)
    assert "no sleeve" in graph.doubt or "sleeveless" in graph.doubt
    told = parse_array(image, hints=Hints(kind="sleeveless"))
    assert not told.doubt and [part.name for part in to_garment(told).parts] == ["body"]


def test_a_sleeve_that_is_much_smaller_than_the_other_is_asked_about() -> None:
    one = garment("tshirt")
    image = np.zeros((700, 700), np.uint8)
    _, place = mask(one, size=700)
    for part in one.parts:
        points = place(part.polygon)
        if part.name == "sleeve_right":  # what is left of it beside a body that it lies under
            seam = place(np.array([p for p in part.points if p in one.parts[0].points]))
            points = np.where(
                (points[:, None] == seam).all(axis=2).any(axis=1)[:, None],
                points,
                0.3 * points + 0.7 * seam.mean(axis=0),
            )
        cv2.fillPoly(image, [np.round(points).astype(np.int32)], 255)
    assert parse_array(image).doubt


def square() -> Mask:
    image = np.zeros((400, 400), np.uint8)
    image[100:300, 100:300] = 255
    return image


def test_what_is_no_garment_is_asked_about_with_the_second_best_beside_it() -> None:
    graph = parse_array(square())
    assert graph.doubt and graph.probability < 0.7
    plain = parse_array(square(), hints=Hints(kind="plain"))
    assert [polygon.name for polygon in plain.polygons] == ["body"] and not plain.doubt
    assert to_garment(plain).area == pytest.approx(65.0**2)


def test_a_person_can_say_where_the_top_is_and_what_it_is() -> None:
    image = shirt(turn=20.0)
    upside = parse_array(image, hints=Hints(up=200.0))
    (_, hem), (_, top) = upside.axis
    assert top > hem  # it does as it is told, and says that it is not sure
    assert upside.doubt
    with pytest.raises(WorldError, match="no kind of garment is called 'sock'"):
        parse_array(image, hints=Hints(kind="sock"))
    with pytest.raises(WorldError, match="no corner is called 'armpit'; did you mean 'armpit_left'"):
        parse_array(image, hints=Hints(keypoints={"armpit": (1.0, 2.0)}))


def test_derivations_that_disagree_have_shares_that_add_up_to_at_most_one() -> None:
    found = derive(np.array([(0.0, 0.0), (3.0, 0.0), (3.0, 3.1), (0.0, 3.0)]) * 50)
    assert len(found) == 2
    assert found[0].probability >= found[1].probability > 0
    assert found[0].probability + found[1].probability <= 1 + 1e-9


def test_the_tree_shows_cloth_polygons_alternatives_edges_and_vertices() -> None:
    graph = parse_array(shirt(), source="shirt.png")
    texts = [item.text for item in picture_tree(graph).items if hasattr(item, "text")]
    assert any(text.startswith("cloth: tshirt") for text in texts)
    assert {"body", "sleeve left", "sleeve right"} <= set(texts)
    assert sum(text.startswith("set-in sleeve") for text in texts) == 2
    assert sum(text.isdigit() for text in texts) == 2 * sum(len(polygon.edges) for polygon in graph.polygons)
    assert overlay(graph, np.zeros((500, 500, 3), np.uint8)).photo is not None


def test_the_tree_of_a_folded_cloth_has_its_layers_as_polygons_and_one_number_for_corners_that_meet() -> None:
    row = demonstration_row(bundled()[0])
    states = [frame.cloth for frame in row.frames if frame.view == "over"]
    texts = [item.text for item in cloth_trees(row).items if isinstance(item, Text)]
    heads = [text for text in texts if text.startswith(row.title)]
    assert len(heads) == len(states)
    for head, cloth in zip(heads, states, strict=True):
        places = {tuple(np.round(point, 3)) for point in cloth.xy}
        assert head.endswith(f"{len(cloth)} polygons, {len(places)} vertices")
    assert sum(text == "layer 1" for text in texts) == len(states)
    assert "turned over" in texts


def right(graph: ParseGraph, truth: dict[str, Mask], up: float) -> bool:
    """The parts overlap by more than half with the true ones, and the axis is within 25 degrees."""
    (x0, y0), (x1, y1) = graph.axis
    if abs((np.degrees(np.arctan2(x1 - x0, y0 - y1)) - up + 180) % 360 - 180) >= 25:
        return False
    if {polygon.name for polygon in graph.polygons} != set(truth):
        return False
    for polygon in graph.polygons:
        seen = np.zeros_like(truth[polygon.name])
        cv2.fillPoly(seen, [np.round(graph.points(polygon)).astype(np.int32)], 255)
        both, either = seen & truth[polygon.name], seen | truth[polygon.name]
        if np.count_nonzero(both) <= 0.5 * np.count_nonzero(either):
            return False
    return True


@pytest.mark.parametrize("template", ["tshirt", "sweater", "hoodie", "trousers"])
def test_photographs_parse_into_the_parts_that_were_photographed(template: str) -> None:
    good = 0
    for seed in range(3):
        rng = np.random.default_rng([11, seed])
        taken = photograph(random_garment(template, rng), rng, size=480)
        graph = parse_array(taken.image)
        fits = right(graph, taken.parts, taken.up)
        assert fits or graph.doubt
        good += fits
    assert good >= 2


def test_a_sheet_of_paper_says_how_large_a_garment_is() -> None:
    rng = np.random.default_rng(8)
    one = garment("tshirt")
    taken = photograph(one, rng, sheet=True, tilt=0.35)
    assert taken.sheet is not None
    found = to_garment(parse_array(taken.image, hints=Hints(sheet=())))
    assert found.centimetre == 1.0
    assert found.area == pytest.approx(one.area, rel=0.15)
    corners = tuple((float(x), float(y)) for x, y in taken.sheet)
    assert to_garment(parse_array(taken.image, hints=Hints(sheet=corners))).area == pytest.approx(one.area, rel=0.1)
    with pytest.raises(WorldError, match="no sheet of paper"):
        parse_array(photograph(one, np.random.default_rng(1)).image // 2, hints=Hints(sheet=()))


def test_real_outlines_are_parsed_or_asked_about() -> None:
    wrong = asked = total = 0
    for image in read_cvat(real_shirts())[1::24]:  # of the two thirds that may be looked at
        outer, points = image.polygons[0], image.points
        if not {"neck_left", "neck_right", "waist_left", "waist_right"} <= set(points):
            continue
        scale = 400 / float(np.ptp(outer, axis=0).max())
        picture = np.zeros((480, 480), np.uint8)
        cv2.fillPoly(picture, [np.round((outer - outer.min(axis=0)) * scale + 40).astype(np.int32)], 255)
        graph = parse_array(picture)
        up = points["neck_left"] + points["neck_right"] - points["waist_left"] - points["waist_right"]
        axis = np.subtract(graph.axis[1], graph.axis[0])
        straight = axis @ up > np.cos(np.radians(25)) * np.linalg.norm(axis) * np.linalg.norm(up)
        wrong += not straight and not graph.doubt
        asked += bool(graph.doubt)
        total += 1
    assert total >= 8 and wrong == 0 and asked < 0.4 * total
