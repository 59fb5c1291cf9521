from __future__ import annotations

import numpy as np
import pytest
from outlines import outline
from shapely.geometry import Polygon
from shapely.ops import unary_union
from test_folds import random_cloths, random_fold

from meip.base.errors import WorldError
from meip.worlds.folding import garments
from meip.worlds.folding.cloth import Cloth, Garment, Part, signed_area
from meip.worlds.folding.folds import fold
from meip.worlds.folding.silhouette import parsed, silhouette, silhouette_area

SHEET = Cloth.flat(Garment("sheet", (Part("body", ((0, 0), (4, 0), (4, 4), (0, 4))),)))


def folded_cloths(count: int, seed: int) -> list[Cloth]:
    rng, fresh = random_cloths(seed)
    found: list[Cloth] = []
    while len(found) < count:
        cloth = fresh[int(rng.integers(len(fresh)))]
        for _ in range(int(rng.integers(1, 5))):
            try:
                cloth = fold(cloth, random_fold(cloth, rng))
            except WorldError:
                continue
        if len(cloth) < 30:
            found.append(cloth)
    return found


def test_the_outline_is_the_union_by_shapely() -> None:
    holes = 0
    for cloth in folded_cloths(150, 7):
        union = unary_union([Polygon(layer.polygon).buffer(1e-8 * cloth.scale, join_style="mitre") for layer in cloth])
        assert silhouette_area(cloth) == pytest.approx(union.area, abs=1e-5 * cloth.scale**2)
        loops = silhouette(cloth)
        for loop in loops:
            assert Polygon(loop).buffer(0).area == pytest.approx(abs(signed_area(loop)), abs=1e-5 * cloth.scale**2)
        holes += any(signed_area(loop) < 0 for loop in loops)
    assert holes > 0


@pytest.mark.parametrize("template", garments.TEMPLATES)
def test_a_flat_garment_has_the_outline_of_its_parts_together(template: str) -> None:
    garment = garments.garment(template)
    (loop,) = silhouette(Cloth.flat(garment))
    assert signed_area(loop) == pytest.approx(signed_area(outline(garment)))


def test_a_ring_has_a_hole() -> None:
    left = Part("left", ((0, 0), (3, 0), (3, 1), (1, 1), (1, 2), (3, 2), (3, 3), (0, 3)), ("outline",) * 8)
    right = Part("right", ((3, 0), (4, 0), (4, 3), (3, 3), (3, 2), (3, 1)), ("outline",) * 6)
    outer, hole = silhouette(Cloth.flat(Garment("ring", (left, right))))
    assert signed_area(outer) == pytest.approx(12)
    assert signed_area(hole) == pytest.approx(-2)


def test_the_parsed_outline_leaves_out_what_an_eye_would_not_see() -> None:
    folded = fold(SHEET, (2.001, 2, 9, np.pi / 2))
    (loop,) = parsed(folded)
    assert len(loop) == 4
    bumpy = Part("body", ((0, 0), (2, -0.01), (4, 0), (4, 4), (0, 4)))
    assert len(parsed(Cloth.flat(Garment("bumpy", (bumpy,))))[0]) == 4
