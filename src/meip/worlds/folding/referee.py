"""The referee: was it folded the way people fold? Looks at cloths only, never at a utility.

A sleeve is folded when at least 60 % of its material lies on material of the body, and that is at least 30 percentage
points more than when the garment lay flat. The garment is halved when its body is between .40 and .70 as high as it was
flat and all of it covers at most .72 of the flat area. *Default order*: every sleeve is folded strictly before it is
halved; what is no higher than a shelf is deep (45 cm, a baby's clothes) need not be.

*Neat* is what a person's eyes see besides: sleeves are folded along the body's axis (within 15 degrees), the last fold
runs across it (within 10), no fold moves only a sliver, every sleeve and the hood lie on the body in the end (95 % of
them), and what is left is a rectangle (.85 of the smallest one round it). The order is no part of it. *Enough*: it was
folded as often as people do, once for each sleeve, once for a hood, and once in half where it is large.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.errors import WorldError
from meip.base.kernels import kernel
from meip.worlds.folding.carry_out import likely_centimetre
from meip.worlds.folding.cloth import Cloth, Garment, signed_area
from meip.worlds.folding.creases import crease_between
from meip.worlds.folding.silhouette import silhouette, silhouette_area

__all__ = ["SHELF", "Referee", "Verdict", "rectangularity"]

COVERED, GAINED = 0.60, 0.30
HEIGHT, AREA = (0.40, 0.70), 0.72
SHELF = 45.0  # cm
POINTS = 400  # material points per sleeve, about
UPRIGHT, ACROSS = 15.0, 10.0  # degrees
SLIVER = 0.02  # of the material
ON_BODY = 0.95
RECTANGLE = 0.85


@dataclass(frozen=True)
class Verdict:
    """What the referee says about one plan."""

    sleeves: dict[str, int | None]
    """The state (counted from 0) in which each sleeve is first folded; None: never."""
    coverage: dict[str, float]
    """The share of each sleeve that lies on the body in the end."""
    halved: int | None
    """The state in which the garment is first halved; None: never."""
    default_order: bool
    enough: bool
    """Was it folded as often as people would?"""
    rectangularity: float
    """Area covered in the end over the area of the smallest rectangle round it."""
    height_ratio: float
    area_ratio: float
    untidy: tuple[str, ...] = ()
    """What a person's eyes would mind; empty if it is neat."""

    @property
    def neat(self) -> bool:
        return not self.untidy


@kernel
def _inside(polygon: Any, points: Any, found: Any) -> None:
    """Mark the points that lie inside the polygon (or-ed into `found`)."""
    n = len(polygon)
    for k in range(len(points)):
        x, y = points[k, 0], points[k, 1]
        inside = False
        for i in range(n):
            j = i + 1 if i + 1 < n else 0
            if (polygon[i, 1] > y) != (polygon[j, 1] > y):
                w = (y - polygon[i, 1]) / (polygon[j, 1] - polygon[i, 1])
                if x < polygon[i, 0] + w * (polygon[j, 0] - polygon[i, 0]):
                    inside = not inside
        found[k] = found[k] or inside


def _within(polygon: Floats, points: Floats) -> NDArray[np.bool_]:
    found = np.zeros(len(points), dtype=np.bool_)
    _inside(np.array(polygon), points, found)
    return found


def _material(polygon: Floats) -> Floats:
    """Points spread evenly over a polygon, [about POINTS, 2]."""
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    step = np.sqrt(abs(signed_area(polygon)) / POINTS)
    x, y = (np.arange(a + step / 2, b, step) for a, b in zip(low, high, strict=True))
    points = np.stack(np.meshgrid(x, y), axis=-1).reshape(-1, 2)
    return points[_within(polygon, points)]


class Referee:
    """Judges plans of one garment."""

    def __init__(self, garment: Garment) -> None:
        self.flat = Cloth.flat(garment)
        self._points = {
            p.name: _material(p.polygon) for p in garment.parts if p.name.startswith("sleeve") or p.name == "hood"
        }
        self._height = self._span(self.flat)
        self.large = self._height * likely_centimetre(garment) > SHELF
        self._area = silhouette_area(self.flat)
        self._before = {name: self.coverage(self.flat, name) for name in self._points}

    @property
    def sleeves(self) -> tuple[str, ...]:
        return tuple(name for name in self._points if name != "hood")

    def coverage(self, cloth: Cloth, sleeve: str) -> float:
        """The share of a sleeve's (or the hood's) material that lies on material of the body."""
        points = self._points[sleeve]
        on_body = np.zeros(len(points), dtype=np.bool_)
        for layer in cloth:
            if layer.part != sleeve:
                continue
            table = points @ layer.affine[:, :2].T + layer.affine[:, 2]
            mine = _within(layer.polygon, table)
            for body in cloth:
                if body.part == "body":
                    on_body |= mine & _within(body.polygon, table)
        return float(on_body.mean())

    def _span(self, cloth: Cloth) -> float:
        """The height of the body, or of all of it where no part is called so: a hood does not count."""
        body = [layer.polygon for layer in cloth if layer.part == "body"]
        return float(np.ptp((np.concatenate(body) if body else cloth.xy)[:, 1]))

    def folded(self, cloth: Cloth, sleeve: str) -> bool:
        share = self.coverage(cloth, sleeve)
        return share >= COVERED and share - self._before[sleeve] >= GAINED

    def ratios(self, cloth: Cloth) -> tuple[float, float]:
        """The body's height and the covered area, relative to the flat garment."""
        return self._span(cloth) / self._height, silhouette_area(cloth) / self._area

    def halved(self, cloth: Cloth) -> bool:
        height, area = self.ratios(cloth)
        return HEIGHT[0] <= height <= HEIGHT[1] and area <= AREA

    def judge(self, plan: Sequence[Cloth]) -> Verdict:
        """The verdict on a plan s_0 .. s_{h-1}."""
        if not plan:
            raise WorldError("the referee was given a plan without states")
        sleeves = {name: _first(self.folded(cloth, name) for cloth in plan) for name in self.sleeves}
        halved = _first(self.halved(cloth) for cloth in plan)
        end = len(plan) if halved is None and not self.large else halved
        order = bool(sleeves) and end is not None and all(t is not None and t < end for t in sleeves.values())
        enough = len(plan) - 1 == len(self._points) + self.large
        height, area = self.ratios(plan[-1])
        coverage = {name: self.coverage(plan[-1], name) for name in self.sleeves}
        box = rectangularity(plan[-1])
        return Verdict(sleeves, coverage, halved, order, enough, box, height, area, self._untidy(plan, sleeves, box))

    def _untidy(self, plan: Sequence[Cloth], sleeves: Mapping[str, int | None], box: float) -> tuple[str, ...]:
        """Everything that is not neat about a plan, in words."""
        folds = [crease_between(before, after) for before, after in pairwise(plan)]
        found = [] if folds else ["nothing was folded"]
        for k, fold in enumerate(folds, start=1):
            if fold is not None and fold.moved < SLIVER:
                found.append(f"fold {k} moves a sliver")
            if fold is not None and k in sleeves.values() and abs(fold.angle - 90) > UPRIGHT:
                found.append(f"fold {k}, of a sleeve, is slanted")
        across = self.large or len(folds) not in sleeves.values()  # the last fold of a small one may be a sleeve's
        if folds and across and folds[-1] is not None and min(folds[-1].angle, 180 - folds[-1].angle) > ACROSS:
            found.append("the last fold does not run across")
        found += [
            f"{name.replace('_', ' ')} sticks out" for name in self._points if self.coverage(plan[-1], name) < ON_BODY
        ]
        return (*found, *(["it is no rectangle"] if box < RECTANGLE else []))


def _first(marks: Any) -> int | None:
    return next((i for i, mark in enumerate(marks) if mark), None)


def rectangularity(cloth: Cloth) -> float:
    """Area covered over the area of the smallest rectangle (in any direction) round it."""
    hull = _hull(np.concatenate(silhouette(cloth)))
    sides = np.roll(hull, -1, axis=0) - hull
    sides = sides / np.hypot(sides[:, 0], sides[:, 1])[:, None]
    along = hull @ sides.T  # the smallest rectangle has a side along the hull
    across = hull @ np.column_stack([-sides[:, 1], sides[:, 0]]).T
    smallest = float((np.ptp(along, axis=0) * np.ptp(across, axis=0)).min())
    return min(1.0, silhouette_area(cloth) / smallest)


def _hull(points: Floats) -> Floats:
    """The convex hull, counter-clockwise (monotone chain)."""
    ordered = sorted({(float(x), float(y)) for x, y in points})

    def half(rows: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
        chain: list[tuple[float, float]] = []
        for x, y in rows:
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) - (by - ay) * (x - ax) > 0:
                    break
                chain.pop()
            chain.append((x, y))
        return chain[:-1]

    return np.array(half(ordered) + half(ordered[::-1]))
