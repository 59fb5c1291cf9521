"""Folding with a drawn line: what is shown is what the fold does."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip.model.scenes import Line
from meip.worlds.folding.cloth import Cloth, signed_area
from meip.worlds.folding.folds import fold
from meip.worlds.folding.garments import garment
from meip.worlds.folding.sketch import line_of, scene, stroke

SHIRT = garment("tshirt")
FLAT = Cloth.flat(SHIRT)
numbers = st.floats(-60, 110, allow_nan=False)


@given(numbers, numbers, numbers, numbers)
@settings(max_examples=150, deadline=None)
def test_a_legal_stroke_shows_where_its_fold_lands(a: float, b: float, c: float, d: float) -> None:
    line: Line = ((a, b), (c, d))
    found = stroke(FLAT, line)
    if found.action is None:
        assert found.problem.endswith(".") and not found.moves and not found.lands
        return
    after = fold(FLAT, found.action)
    for outline in found.lands:
        layers = [layer.polygon for layer in after if layer.polygon.shape == (len(outline), 2)]
        assert any(np.allclose(outline, polygon, atol=1e-3) for polygon in layers)
    moved = sum(abs(signed_area(np.array(outline))) for outline in found.moves)
    landed = sum(abs(signed_area(np.array(outline))) for outline in found.lands)
    assert moved == pytest.approx(landed, abs=1e-2) and moved <= FLAT.area / 2 + 1e-2
    x, y, _, theta = found.action
    across = np.array([-math.sin(theta), math.cos(theta)])
    for before, behind in zip(found.moves, found.lands, strict=True):
        heights = (np.array(before) - (x, y)) @ across, (np.array(behind) - (x, y)) @ across
        assert np.allclose(heights[0], -heights[1], atol=1e-2), "mirrored at the line"


def test_a_line_from_corner_to_corner_is_legal_though_it_ends_on_the_outline() -> None:
    body = SHIRT.part("body").points
    seams = [(body[i], body[i + 1]) for i, tag in enumerate(SHIRT.part("body").tags) if tag == "seam"]
    assert len(seams) == 2 and all(stroke(FLAT, seam).action is not None for seam in seams)


def test_a_line_and_its_reverse_are_the_same_fold() -> None:
    ahead, back = stroke(FLAT, ((-20, -5), (-18, 80))), stroke(FLAT, ((-18, 80), (-20, -5)))
    assert ahead.action == pytest.approx(back.action) and 0 <= ahead.action[3] < math.pi


def test_the_scene_has_what_was_folded_on_top_and_keeps_its_frame() -> None:
    found = stroke(FLAT, ((-15, -10), (-15, 90)))
    after = fold(FLAT, found.action)
    flat, now = scene(SHIRT, [FLAT], []), scene(SHIRT, [FLAT, after], [found.action])
    assert flat.box == pytest.approx(now.box) and all(sheet.side == "front" for sheet in flat.sheets)
    assert [sheet.side for sheet in now.sheets[-len(found.lands) :]] == ["back"] * len(found.lands)
    assert [sheet.points for sheet in now.sheets[-len(found.lands) :]] == list(found.lands)
    assert sum(bool(sheet.prints) for sheet in flat.sheets) >= 1


def test_the_mirror_of_the_mirror_is_the_fold_itself() -> None:
    action = (-20.0, 30.0, 50.0, 1.4)
    after = fold(FLAT, action)
    (once,) = [g.line for g in scene(SHIRT, [FLAT, after], [action]).guides if "mirrored" in g.name]
    mirrored = stroke(FLAT, once).action
    (twice,) = [g.line for g in scene(SHIRT, [FLAT, after], [mirrored]).guides if "mirrored" in g.name]
    assert np.allclose(sorted(twice), sorted(line_of(action)))
