"""How a fold is carried out: the crease, the side that moves, where to grasp it and where to lay it down.

The side that moves is lifted by one or two points of its outline, those that reach furthest from the crease, and laid
down where the fold reflects them to. All of it in the garment's coordinates; in pixels where the garment came from a
picture, in centimetres where it has a scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.creases import moved_layers
from meip.worlds.folding.folds import Fold
from meip.worlds.folding.styles import STYLES

__all__ = ["Carried", "carried", "centimetre", "instruction", "likely_centimetre", "numbers", "sentences"]

APART = 0.35  # two hands are at least this share of the crease's length apart
USUAL = 62.0  # cm: the root of a grown-up's shirt's area
REACHES = 0.5  # the second hand holds a point at least this share as far from the crease as the first

UNITS = {"cm": "In cm", "garment": "In the garment's coordinates", "pixels": "In pixels of the picture"}


@dataclass(frozen=True, eq=False)
class Carried:
    """One fold for hands: arrays in the garment's coordinates."""

    crease: Floats  # [2, 2]
    side: str
    """The side that moves, seen along the crease: left or right."""
    grasps: Floats  # [1 or 2, 2]
    places: Floats  # [1 or 2, 2] where each is laid down


def carried(before: Cloth, action: Fold, after: Cloth) -> Carried:
    """How the cloth before becomes the cloth after, which this fold made of it."""
    x, y, _, theta = action
    middle, along = np.array([x, y]), np.array([np.cos(theta), np.sin(theta)])
    across = np.array([-along[1], along[0]])
    moved = [layer.polygon for layer in moved_layers(before, after)]
    laid = np.concatenate(moved) if moved else after.xy
    lifted = laid - 2 * ((laid - middle) @ across)[:, None] * across
    heights, reach = (lifted - middle) @ across, (lifted - middle) @ along
    on = np.abs(heights) < 1e-6 * before.scale
    ends = reach[on] if on.any() else reach
    crease = middle + np.array([[ends.min()], [ends.max()]]) * along
    hands = _hands(reach, np.abs(heights), float(np.ptp(ends)))
    return Carried(crease, "left" if heights.sum() > 0 else "right", lifted[hands], laid[hands])


def _hands(reach: Floats, heights: Floats, length: float) -> list[int]:
    """The vertex furthest from the crease, and one that is far from both if there is one."""
    first = int(np.argmax(heights))
    apart = np.abs(reach - reach[first])
    fits = (heights >= REACHES * heights[first]) & (apart >= APART * length)
    if not fits.any():
        return [first]
    second = int(np.argmax(np.where(fits, apart * heights, -1.0)))
    return sorted([first, second], key=lambda i: reach[i])


def instruction(garment: Garment, before: Cloth, action: Fold, after: Cloth) -> dict[str, Any]:
    """The same as a JSON object, with pixels and centimetres where they are known."""
    one = carried(before, action, after)
    lists = {"crease": one.crease, "grasp": one.grasps, "place": one.places}
    found: dict[str, Any] = {"moves": one.side, **{name: _rounded(points) for name, points in lists.items()}}
    if garment.onto:
        to_pixels = np.array(garment.onto).reshape(3, 3)
        found["pixels"] = {name: _rounded(_mapped(to_pixels, points), 1) for name, points in lists.items()}
    unit = centimetre(garment)
    if unit:
        found["centimetres"] = {name: _rounded(points * unit, 1) for name, points in lists.items()}
    return found


def sentences(garment: Garment, before: Cloth, action: Fold, after: Cloth) -> str:
    """The same in words: which side, over which crease, grasped and laid down where, in every unit that is known."""
    how = instruction(garment, before, action, after)
    start, end = np.array(how["crease"])
    away = np.array([start[1] - end[1], end[0] - start[0]]) * (1 if how["moves"] == "left" else -1)
    names = ("right", "left") if abs(away[0]) >= abs(away[1]) else ("upper", "lower")
    side = names[0] if away[int(abs(away[1]) > abs(away[0]))] > 0 else names[1]
    texts = []
    for unit, one in _by_unit(how).items():
        ends = " to ".join(_pair(point) for point in one["crease"])
        hands = " and ".join(f"{_pair(a)} onto {_pair(b)}" for a, b in zip(one["grasp"], one["place"], strict=True))
        texts.append(f"{UNITS[unit]}: crease from {ends}; lay {hands}.")
    return f"The {side} side moves. {' '.join(texts)}"


def numbers(garment: Garment, before: Cloth, action: Fold, after: Cloth) -> list[str]:
    """The same in short lines, to stand below a picture."""
    lines = []
    for unit, one in _by_unit(instruction(garment, before, action, after)).items():
        lines += [f"crease, {unit}", " - ".join(_pair(point) for point in one["crease"])]
        lines += [f"lay {_pair(a)} > {_pair(b)}" for a, b in zip(one["grasp"], one["place"], strict=True)]
    return lines


def _by_unit(how: dict[str, Any]) -> dict[str, Any]:
    """An instruction in centimetres, or else in the garment's own unit, and in pixels if they are known."""
    found = {"cm": how["centimetres"]} if "centimetres" in how else {"garment": how}
    return found | ({"pixels": how["pixels"]} if "pixels" in how else {})


def _pair(point: Sequence[float]) -> str:
    x, y = (round(number) if abs(number) >= 100 else round(number, 1) for number in point)
    return f"({x:g}, {y:g})"


def centimetre(garment: Garment) -> float:
    """The length of a unit in centimetres; templates are drawn in centimetres; 0 if nothing tells."""
    return garment.centimetre or (1.0 if garment.template in STYLES else 0.0)


def likely_centimetre(garment: Garment) -> float:
    """The same; where nothing tells, the garment is taken to be as large as a grown-up's shirt."""
    return centimetre(garment) or USUAL / float(np.sqrt(garment.area))


def _mapped(homography: Floats, points: Floats) -> Floats:
    lifted = np.column_stack([points, np.ones(len(points))]) @ homography.T
    return np.asarray(lifted[:, :2] / lifted[:, 2:])


def _rounded(points: Floats, digits: int = 4) -> list[Sequence[float]]:
    return [[round(float(x), digits) + 0.0, round(float(y), digits) + 0.0] for x, y in points]
