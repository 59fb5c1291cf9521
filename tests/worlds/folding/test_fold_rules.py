from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip.base.errors import WorldError
from meip.worlds.folding.cloth import CREASE, Cloth, Garment, Part
from meip.worlds.folding.folds import fold, fold_many, pile
from meip.worlds.folding.garments import TEMPLATES, garment
from meip.worlds.folding.kernel import ENDS_INSIDE, FOLDED, MISSES

SHEET = Cloth.flat(Garment("sheet", (Part("body", ((0, 0), (4, 0), (4, 4), (0, 4))),)))


def test_the_smaller_side_goes_to_the_back_turned_over() -> None:
    folded = fold(SHEET, (1, 2, 9, np.pi / 2))
    assert [layer.face for layer in folded] == [-1, 1]
    assert folded[0].polygon[:, 0].min() == pytest.approx(1)
    assert folded[0].polygon[:, 0].max() == pytest.approx(2)
    assert folded.bounds == pytest.approx((1, 0, 4, 4))


def test_of_equal_halves_the_side_of_the_negative_normal_moves() -> None:
    assert fold(SHEET, (2, 2, 9, 0)).bounds == pytest.approx((0, 2, 4, 4))
    assert fold(SHEET, (2, 2, 9, np.pi)).bounds == pytest.approx((0, 0, 4, 2))


def test_a_moved_stack_is_reversed() -> None:
    twice = fold(fold(SHEET, (1, 2, 9, np.pi / 2)), (2, 1, 9, 0))
    assert [layer.face for layer in twice] == [-1, 1, -1, 1]
    widths = [np.ptp(layer.polygon[:, 0]) for layer in twice]
    assert widths == pytest.approx([3, 1, 1, 3])


def test_a_crease_is_tagged_on_both_sides_and_in_the_same_place() -> None:
    folded = fold(SHEET, (1, 2, 9, np.pi / 2))
    for layer in folded:
        (i,) = np.flatnonzero(layer.tags == CREASE)
        assert layer.polygon[[i, (i + 1) % 4], 0] == pytest.approx([1, 1])


def test_the_map_of_a_layer_takes_the_garment_to_the_table() -> None:
    folded = fold(fold(SHEET, (1, 2, 9, 1.3)), (2, 1, 9, 0.2))
    for layer in folded:
        inverse = np.linalg.inv(layer.affine[:, :2])
        back = (layer.polygon - layer.affine[:, 2]) @ inverse.T
        assert back.min() > -1e-9
        assert back.max() < 4 + 1e-9
        assert np.linalg.det(layer.affine[:, :2]) == pytest.approx(layer.face)


def test_a_short_segment_folds_one_sleeve_and_leaves_the_other() -> None:
    cloth = Cloth.flat(garment("longsleeve"))
    sleeve = next(layer for layer in cloth if layer.part == "sleeve_left")
    x, y = sleeve.polygon.mean(axis=0)
    short = fold(cloth, (x, y, 0.4 * cloth.scale, np.pi / 2))
    assert len(short) == len(cloth) + 1
    assert [(layer.part, layer.face) for layer in short if layer.face < 0] == [("sleeve_left", -1)]


def test_what_hangs_on_a_folded_sleeve_moves_with_it() -> None:
    cloth = Cloth.flat(garment("trousers"))
    x0, y0, x1, y1 = cloth.bounds
    leg = next(layer for layer in cloth if layer.part == "leg_left")
    low = leg.polygon[np.argsort(leg.polygon[:, 1])[:2]].mean(axis=0)
    once = fold(cloth, (low[0], y0 + 0.1 * (y1 - y0), 0.25 * (x1 - x0), 0.0))
    assert len(once) == 3
    twice = fold(once, (low[0], y0 + 0.25 * (y1 - y0), 0.3 * (x1 - x0), 0.0))
    hem = [layer for layer in twice if layer.part == "leg_left" and layer.face == 1]
    assert len(hem) == 2  # the thigh, and the end of the leg, turned over twice
    assert all(layer.face == 1 for layer in twice if layer.part == "leg_right")


def test_a_fold_along_a_seam_turns_the_sleeve_under_the_body() -> None:
    body = Part("body", ((0, 0), (4, 0), (4, 4), (0, 4)), ("outline", "outline", "outline", "seam"))
    sleeve = Part("sleeve_left", ((-2, 0), (0, 0), (0, 4), (-2, 3)), ("outline", "seam", "outline", "outline"))
    cloth = Cloth.flat(Garment("half a shirt", (body, sleeve)))
    folded = fold(cloth, (0, 2, 2.5, np.pi / 2))
    assert [(layer.part, layer.face) for layer in folded] == [("sleeve_left", -1), ("body", 1)]
    assert folded.bounds == pytest.approx((0, 0, 4, 4))


@pytest.mark.parametrize(
    ("action", "words"),
    [
        ((9, 9, 1, 0), "misses the cloth"),
        ((4, 2, 9, np.pi / 2), "misses the cloth"),
        ((0, 2, 3, 0), "ends inside"),
        ((2, 2, 1, 0.3), "ends inside"),
        ((2, 2, -1, 0.3), "r > 0"),
        ((2, float("nan"), 1, 0.3), "finite"),
        ((2, 2, 1), "four"),
    ],
)
def test_a_segment_that_cannot_be_folded_is_refused_in_words(action: tuple[float, ...], words: str) -> None:
    with pytest.raises(WorldError, match=words):
        fold(SHEET, action)


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_batch_gives_the_same_cloths_as_one_fold_at_a_time(template: str) -> None:
    cloth = Cloth.flat(garment(template))
    rng = np.random.default_rng(5)
    x0, y0, x1, y1 = cloth.bounds
    actions = np.stack(
        [rng.uniform(x0, x1, 60), rng.uniform(y0, y1, 60), rng.uniform(10, 90, 60), rng.uniform(0, 3, 60)], 1
    )
    codes, after = fold_many(cloth, actions)
    assert {FOLDED, ENDS_INSIDE} <= set(codes) <= {FOLDED, ENDS_INSIDE, MISSES}
    good = np.flatnonzero(codes == FOLDED)
    assert all(after[k] == fold(cloth, actions[k]) for k in good)
    again, _ = fold_many(pile([cloth, after[good[0]]]), actions[:2], which=[0, 1])
    assert again[0] == codes[0]


def test_the_same_line_from_another_centre_is_the_same_state() -> None:
    one = fold(SHEET, (1, 2, 9, np.pi / 2))
    two = fold(SHEET, (1, 1.5, 7, -np.pi / 2))
    assert one == two
    assert hash(one) == hash(two)


def test_a_segment_whose_sides_hang_together_elsewhere_would_tear_the_cloth() -> None:
    ring = ((0, -3), (1, -3), (1, 4), (6, 4), (6, -4), (4, -4), (4, 2), (3, 2), (3, -5), (7, -5), (7, 5), (0, 5))
    spiral = Cloth.flat(Garment("spiral", (Part("body", ring),)))
    with pytest.raises(WorldError, match="tear"):
        fold(spiral, (2, 0, 2.5, 0))  # two of the three arms: the piece between them lies on both sides
    assert len(fold(spiral, (0.5, 0, 1, 0))) == 2
    assert len(fold(spiral, (3.5, 0, 9, 0))) == 4


@settings(max_examples=50, deadline=None, derandomize=True)
@given(
    st.floats(-3, 3), st.floats(-50, 50), st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.floats(0.3, 2),
    st.floats(-3, 3), st.sampled_from(TEMPLATES),
)  # fmt: skip
def test_folding_commutes_with_moving_the_table(
    turn: float, shift: float, along: float, up: float, size: float, theta: float, template: str
) -> None:
    flat = Cloth.flat(garment(template))
    rotation = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])

    def moved(cloth: Cloth) -> Cloth:
        maps = rotation @ cloth.maps
        maps[:, :, 2] += shift
        return Cloth(cloth.start, cloth.xy @ rotation.T + shift, cloth.tag, cloth.label, maps, cloth.parts, cloth.scale)

    x0, y0, x1, y1 = flat.bounds
    x, y = x0 + along * (x1 - x0), y0 + up * (y1 - y0)
    there = rotation @ [x, y] + shift
    codes, here = fold_many(flat, [(x, y, size * flat.scale, theta)])
    codes_there, after = fold_many(moved(flat), [(*there, size * flat.scale, theta + turn)])
    assert codes == codes_there
    if codes[0] == FOLDED:
        np.testing.assert_allclose(after[0].xy, moved(here[0]).xy, atol=1e-9 * flat.scale)
        np.testing.assert_allclose(after[0].maps, moved(here[0]).maps, atol=1e-9 * flat.scale)
        np.testing.assert_array_equal(after[0].label, here[0].label)
