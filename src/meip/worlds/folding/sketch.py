"""Folding with a line: what lies on the table, what a drawn line would fold, and lines that people often want.

Seen as hands do it: what is folded comes to lie on top (`render`, view "over").
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import MeipError
from meip.model.scenes import Guide, Line, Outline, Quantity, Scene, Sheet, Stroke
from meip.worlds.folding.carry_out import centimetre
from meip.worlds.folding.cloth import TAGS, Cloth, Garment, signed_area
from meip.worlds.folding.creases import moved_layers
from meip.worlds.folding.folds import Fold, fold

__all__ = ["line_of", "scene", "stroke"]

OVER = 0.004  # times the cloth's scale: a line that ends on a vertex reaches over it by as much
MARGIN = 0.12  # of the larger side of the flat garment, on each side


def scene(garment: Garment, states: Sequence[Cloth], actions: Sequence[Fold]) -> Scene:
    """The layers as they lie after these folds; guides: the middle lines, and the last fold mirrored."""
    flat, now = states[0], states[-1]
    sheets = tuple(_sheet(now, i, garment.logo) for i in reversed(range(len(now))))
    low_x, low_y, high_x, high_y = _box([flat, now])
    margin = MARGIN * max(high_x - low_x, high_y - low_y)
    unit = "cm" if centimetre(garment) == 1.0 else ""
    quantities = (
        Quantity("x", unit), Quantity("y", unit), Quantity("r", unit), Quantity("theta", "°", 180 / math.pi),
    )  # fmt: skip
    box = (low_x - margin, low_y - margin, high_x + margin, high_y + margin)
    return Scene(sheets, box, _guides(flat, now, actions), quantities)


def stroke(cloth: Cloth, line: Line) -> Stroke:
    """What a line from one point to another would fold, and where that would come to lie."""
    (x0, y0), (x1, y1) = line
    length = math.hypot(x1 - x0, y1 - y0)
    if not length > 1e-9 * cloth.scale:
        return Stroke(line, problem="The line has no length: draw from one side of the cloth to the other.")
    x, y, r, theta = (x0 + x1) / 2, (y0 + y1) / 2, length / 2, math.atan2(y1 - y0, x1 - x0) % math.pi
    problem = ""
    for action in ((x, y, r, theta), (x, y, r + OVER * cloth.scale, theta)):
        try:
            return _folded(cloth, action, fold(cloth, action), line)
        except MeipError as error:
            problem = problem or _short(str(error))
    return Stroke(line, problem=problem)


def _folded(cloth: Cloth, action: Fold, after: Cloth, line: Line) -> Stroke:
    lands = [layer.polygon for layer in reversed(moved_layers(cloth, after))]
    x, y, _, theta = action
    middle, across = np.array([x, y]), np.array([-math.sin(theta), math.cos(theta)])
    moves = [_reflected(polygon, middle, across) for polygon in lands]
    share = sum(signed_area(polygon) for polygon in lands) / cloth.area
    return Stroke(
        line,
        action,
        moves=tuple(map(_outline, moves)),
        lands=tuple(map(_outline, lands)),
        crease=_crease(lands, middle, across, cloth.scale),
        note=f"{share:.0%} of the cloth moves" if lands else "nothing moves",
    )


def line_of(action: Fold) -> Line:
    x, y, r, theta = action
    dx, dy = r * math.cos(theta), r * math.sin(theta)
    return (x - dx, y - dy), (x + dx, y + dy)


def _sheet(cloth: Cloth, i: int, logo: Sequence[tuple[float, float]]) -> Sheet:
    layer = cloth[i]
    front = layer.face > 0
    printed = np.asarray(logo) @ layer.affine[:, :2].T + layer.affine[:, 2] if front and logo else None
    return Sheet(
        _outline(layer.polygon),
        layer.part.replace("_", " "),
        "front" if front else "back",
        tuple(TAGS[tag] for tag in layer.tags),
        () if printed is None else (_outline(printed),),
    )


def _guides(flat: Cloth, now: Cloth, actions: Sequence[Fold]) -> tuple[Guide, ...]:
    """The mirror of the last fold across the garment's middle line, and the middle lines of the cloth as it lies."""
    found = []
    low_x, low_y, high_x, high_y = now.bounds
    beyond = 0.05 * max(high_x - low_x, high_y - low_y)
    if actions:
        axis = (flat.bounds[0] + flat.bounds[2]) / 2
        (x0, y0), (x1, y1) = line_of(actions[-1])
        found.append(Guide("the last fold, mirrored", ((2 * axis - x1, y1), (2 * axis - x0, y0))))
    x, y = (low_x + high_x) / 2, (low_y + high_y) / 2
    found.append(Guide("middle, across", ((low_x - beyond, y), (high_x + beyond, y))))
    found.append(Guide("middle, upright", ((x, low_y - beyond), (x, high_y + beyond))))
    return tuple(found)


def _crease(lands: Sequence[Floats], middle: Floats, across: Floats, scale: float) -> Line | None:
    points = np.concatenate(lands) if lands else np.empty((0, 2))
    on = points[np.abs((points - middle) @ across) < 1e-6 * scale]
    if not len(on):
        return None
    along = np.array([across[1], -across[0]])
    reach = (on - middle) @ along
    a, b = middle + reach.min() * along, middle + reach.max() * along
    return (float(a[0]), float(a[1])), (float(b[0]), float(b[1]))


def _box(cloths: Sequence[Cloth]) -> tuple[float, float, float, float]:
    bounds = np.array([cloth.bounds for cloth in cloths])
    low, high = bounds[:, :2].min(axis=0), bounds[:, 2:].max(axis=0)
    return float(low[0]), float(low[1]), float(high[0]), float(high[1])


def _reflected(polygon: Floats, middle: Floats, across: Floats) -> Floats:
    found: Floats = polygon - 2 * ((polygon - middle) @ across)[:, None] * across
    return found


def _outline(polygon: Floats) -> Outline:
    return tuple((round(float(x), 4) + 0.0, round(float(y), 4) + 0.0) for x, y in polygon)


def _short(problem: str) -> str:
    """An error of `folds` without its numbers, which the drawn line shows."""
    _, _, rest = problem.partition(") ")
    return f"The line {rest}." if rest else problem
