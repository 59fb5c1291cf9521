from __future__ import annotations

import numpy as np
import pytest

from meip.base import documents
from meip.base.errors import MeipError, WorldError
from meip.worlds.folding.cloth import Cloth, Garment, Part


def square(name: str = "body") -> Part:
    return Part(name, ((0, 0), (0, 1), (1, 1), (1, 0)), ("seam", "neck", "outline", "outline"))


def test_a_part_is_stored_counter_clockwise_with_its_tags_on_the_same_edges() -> None:
    part = square()
    assert part.area == 1
    edges = {frozenset((part.points[i], part.points[(i + 1) % 4])): part.tags[i] for i in range(4)}
    assert edges[frozenset(((0.0, 0.0), (0.0, 1.0)))] == "seam"
    assert edges[frozenset(((0.0, 1.0), (1.0, 1.0)))] == "neck"


@pytest.mark.parametrize(
    ("points", "tags", "words"),
    [
        (((0, 0), (1, 1), (1, 0), (0, 1)), (), "crosses itself"),
        (((0, 0), (1, 1)), (), "at least 3"),
        (((0, 0), (1, 1), (2, 2)), (), "no area"),
        (((0, 0), (1, 0), (0, 1)), ("outline",), "one tag per edge"),
        (((0, 0), (1, 0), (0, 1)), ("outline", "outline", "seem"), "seam"),
    ],
)
def test_a_bad_part_is_refused_in_words(points: tuple, tags: tuple, words: str) -> None:  # type: ignore[type-arg]
    with pytest.raises(WorldError, match=words):
        Part("body", points, tags)


def test_a_garment_survives_its_document() -> None:
    garment = Garment("mine", (square(),), logo=((0.4, 0.4), (0.6, 0.4), (0.5, 0.6)), style={"width": 1.0})
    assert documents.parse(documents.dump(garment)) == garment
    broken = documents.dump(garment)
    broken["parts"][0]["points"][0] = [0.5, float("nan")]
    with pytest.raises(MeipError):
        documents.parse(broken)


def test_a_flat_cloth_is_hashable_immutable_and_equal_by_content() -> None:
    garment = Garment("mine", (square(),))
    one, two = Cloth.flat(garment), Cloth.flat(garment)
    assert one == two
    assert len({one, two}) == 1
    assert one.area == pytest.approx(1)
    assert one[0].part == "body"
    assert one[-1].face == 1
    with pytest.raises(ValueError, match="read-only"):
        one.xy[0, 0] = 3.0
    moved = Cloth(one.start, np.array(one.xy) + 0.1, one.tag, one.label, one.maps, one.parts, one.scale)
    assert moved != one
