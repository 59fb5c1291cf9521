"""Which fold led from one cloth to the next, told from the cloths alone: the crease's direction and what moved."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from meip.base.arrays import Floats
from meip.worlds.folding.cloth import Cloth, Layer, signed_area

__all__ = ["Crease", "crease_between", "moved_layers"]


@dataclass(frozen=True)
class Crease:
    """The direction of a fold in degrees, 0 to 180 (0: across), and the share of the material that it moved."""

    angle: float
    moved: float


def moved_layers(before: Cloth, after: Cloth) -> list[Layer]:
    """The layers of a folded cloth that the fold moved: no layer of their part lay like that before."""
    still = {(layer.part, layer.affine.tobytes()) for layer in before}
    return [layer for layer in after if (layer.part, layer.affine.tobytes()) not in still]


def crease_between(before: Cloth, after: Cloth) -> Crease | None:
    """The fold between two cloths that follow each other; None if it cannot be told."""
    moved = moved_layers(before, after)
    share = sum(signed_area(layer.polygon) for layer in moved) / before.area
    for layer in moved:
        for source in before:
            if source.part == layer.part:
                turn = _reflection(source.affine, layer.affine, before.scale)
                if turn is not None:
                    return Crease(turn, share)
    return None


def _reflection(source: Floats, target: Floats, scale: float) -> float | None:
    """The axis of the reflection that takes one isometry to another, in degrees; None if it is no reflection."""
    linear = target[:, :2] @ source[:, :2].T  # the inverse of an isometry is its transpose
    shift = target[:, 2] - linear @ source[:, 2]
    if np.linalg.det(linear) > 0 or np.linalg.norm(linear @ shift + shift) > 1e-6 * scale:
        return None
    return float(np.degrees(np.arctan2(linear[1, 0], linear[0, 0])) / 2 % 180)
