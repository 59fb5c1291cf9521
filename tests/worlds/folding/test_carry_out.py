"""A fold for hands: what is grasped lies on the outline that moves and is laid down where the fold takes it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip.base import documents
from meip.base.errors import WorldError
from meip.worlds.folding.canvas import write_image
from meip.worlds.folding.carry_out import carried, instruction, sentences
from meip.worlds.folding.cloth import Cloth, Garment, Part
from meip.worlds.folding.folds import Fold, fold
from meip.worlds.folding.garments import garment
from meip.worlds.folding.parse_graph import parse_image, to_garment
from meip.worlds.folding.picture_files import PictureFiles
from meip.worlds.folding.render import mask

SQUARE = Garment("square", (Part("body", ((0, 0), (10, 0), (10, 10), (0, 10))),))


def test_half_a_square_is_lifted_by_its_two_far_corners() -> None:
    flat = Cloth.flat(SQUARE)
    across: Fold = (5.0, 6.0, 20.0, 0.0)  # the upper part is the smaller one
    one = carried(flat, across, fold(flat, across))
    assert one.crease.tolist() == [[0.0, 6.0], [10.0, 6.0]]
    assert one.side == "left"  # seen from (0, 6) to (10, 6)
    assert one.grasps.tolist() == [[0.0, 10.0], [10.0, 10.0]]
    assert one.places.tolist() == [[0.0, 2.0], [10.0, 2.0]]
    assert sentences(SQUARE, flat, across, fold(flat, across)) == (
        "The upper side moves. In the garment's coordinates: crease from (0, 6) to (10, 6); "
        "lay (0, 10) onto (0, 2) and (10, 10) onto (10, 2)."
    )


def test_the_side_that_moves_is_named_as_it_is_seen() -> None:
    flat = Cloth.flat(SQUARE)
    for action, side in (
        ((3.0, 5.0, 9.0, np.pi / 2), "left"),
        ((8.0, 5.0, 9.0, -1.5), "right"),
        ((5.0, 2.0, 9.0, 3.1), "lower"),
    ):
        assert sentences(SQUARE, flat, action, fold(flat, action)).startswith(f"The {side} side moves.")


def test_a_corner_is_lifted_by_its_tip() -> None:
    flat = Cloth.flat(SQUARE)
    tip: Fold = (8.0, 8.0, 20.0, 3 * np.pi / 4)
    one = carried(flat, tip, fold(flat, tip))
    assert one.grasps == pytest.approx(np.array([[10.0, 10.0]]))
    assert one.places == pytest.approx(np.array([[6.0, 6.0]]))


@settings(max_examples=40, deadline=None)
@given(st.floats(-20, 20), st.floats(15, 60), st.floats(0, np.pi))
def test_every_grasp_is_on_the_moving_side_and_is_laid_down_on_the_other(x: float, y: float, theta: float) -> None:
    flat = Cloth.flat(garment("tshirt"))
    action: Fold = (x, y, 200.0, theta)
    try:
        after = fold(flat, action)
    except WorldError:
        return
    one = carried(flat, action, after)
    across = np.array([-np.sin(theta), np.cos(theta)]) * (1 if one.side == "left" else -1)
    middle = np.array([x, y])
    assert ((one.grasps - middle) @ across > 0).all() and ((one.places - middle) @ across < 0).all()
    assert one.places == pytest.approx(one.grasps - 2 * ((one.grasps - middle) @ across)[:, None] * across)
    assert all(np.linalg.norm(flat.xy - point, axis=1).min() < 1e-6 * flat.scale for point in one.grasps)
    assert all(np.linalg.norm(after.xy - point, axis=1).min() < 1e-6 * flat.scale for point in one.places)


def test_a_plan_for_a_picture_is_in_its_pixels_as_well(tmp_path: Path) -> None:
    image, place = mask(garment("tshirt"), size=500)
    write_image(tmp_path / "shirt.png", image)
    world = PictureFiles.read_problem(tmp_path / "shirt.png")
    assert world.garment == to_garment(parse_image(tmp_path / "shirt.png"))
    assert documents.parse(documents.dump(world.garment)) == world.garment
    flat = Cloth.flat(world.garment)
    _, low, _, high = flat.bounds
    half: Fold = (0.0, (low + high) / 2 + 2, 500.0, 0.0)
    one = instruction(world.garment, flat, half, fold(flat, half))
    assert "centimetres" not in one  # nothing in a mask tells its size
    for x, y in one["pixels"]["grasp"]:
        assert image[max(round(y) - 4, 0) : round(y) + 5, max(round(x) - 4, 0) : round(x) + 5].max() == 255
    told = sentences(world.garment, flat, half, fold(flat, half))
    assert told.startswith("The ") and "In the garment's coordinates: crease from (" in told
    assert "In pixels of the picture: crease from (" in told and "e-" not in told
    (left, _), (right, _) = one["pixels"]["crease"]
    hem, top = place(np.array([[0.0, 0.0], [0.0, 70.0]]))[:, 1]
    assert left < right and top < one["pixels"]["crease"][0][1] < hem


def test_templates_are_in_centimetres_and_pictures_that_are_doubtful_are_not_planned_with(tmp_path: Path) -> None:
    shirt = garment("tshirt")
    flat = Cloth.flat(shirt)
    half: Fold = (0.0, 36.0, 200.0, 0.0)
    assert "centimetres" in instruction(shirt, flat, half, fold(flat, half))
    disc = np.fromfunction(lambda y, x: 255.0 * ((x - 100) ** 2 + (y - 100) ** 2 < 70**2), (200, 200))
    write_image(tmp_path / "disc.png", disc.astype(np.uint8))
    with pytest.raises(WorldError, match="not sure"):
        PictureFiles.read_problem(tmp_path / "disc.png")
