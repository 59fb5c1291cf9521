"""Small helpers on simple polygons [n, 2], counter-clockwise. A *place* is an edge's index plus a position along it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from meip.base.arrays import Floats
from meip.worlds.folding.cloth import signed_area

__all__ = [
    "chord_inside", "crossings_with_line", "inserted", "nearest_place", "pairs", "piece", "point_at", "side",
    "simplified", "turns", "walked",
]  # fmt: skip


def side(p: Floats, q: Floats, r: Floats) -> Floats:
    """+1 where r lies to the left of the line from p to q, -1 to its right, 0 on it."""
    turn: Floats = (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
    return np.sign(turn)


def turns(polygon: Floats) -> Floats:
    """The change of direction at each vertex in degrees: positive at convex vertices, negative at reflex ones."""
    before = polygon - np.roll(polygon, 1, axis=0)
    after = np.roll(polygon, -1, axis=0) - polygon
    cross = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    angles: Floats = np.degrees(np.arctan2(cross, (before * after).sum(axis=1)))
    return angles


def point_at(polygon: Floats, place: float) -> Floats:
    """The point at a place."""
    i, n = int(place // 1), len(polygon)
    share = place - i
    point: Floats = (1 - share) * polygon[i % n] + share * polygon[(i + 1) % n]
    return point


def walked(polygon: Floats, place: float, by: float) -> float:
    """The place so far along the outline from another, backwards if negative."""
    n = len(polygon)
    steps = np.linalg.norm(np.roll(polygon, -1, axis=0) - polygon, axis=1)
    start = np.concatenate([[0.0], np.cumsum(steps)])
    i = int(place // 1) % n
    along = (start[i] + (place % 1) * steps[i] + by) % start[-1]
    k = min(int(np.searchsorted(start, along, side="right")) - 1, n - 1)
    return float((k + (along - start[k]) / max(steps[k], 1e-300)) % n)


def nearest_place(polygon: Floats, point: Floats) -> tuple[float, float]:
    """The place of the outline that is nearest to a point, and how far off it is."""
    steps = np.roll(polygon, -1, axis=0) - polygon
    along = np.clip(((point - polygon) * steps).sum(axis=1) / (steps**2).sum(axis=1), 0.0, 1.0)
    gaps = np.linalg.norm(polygon + along[:, None] * steps - point, axis=1)
    edge = int(np.argmin(gaps))
    return (edge + float(along[edge])) % len(polygon), float(gaps[edge])


def inserted(polygon: Floats, places: Mapping[str, float]) -> tuple[Floats, dict[str, int]]:
    """The polygon with a vertex at each place, and the vertices' indices by name."""
    wrapped = {name: place % len(polygon) for name, place in places.items()}
    every = sorted(set(wrapped.values()) | {float(i) for i in range(len(polygon))})
    points = np.array([point_at(polygon, place) for place in every])
    return points, {name: every.index(place) for name, place in wrapped.items()}


def piece(polygon: Floats, p: float, q: float) -> Floats:
    """What lies between two places, from p on to q, closed by the chord from q back to p."""
    n = len(polygon)
    end = q if q > p else q + n
    inner = [polygon[i % n] for i in range(int(p // 1) + 1, int(np.ceil(end)))]
    return np.array([point_at(polygon, p), *inner, point_at(polygon, q)])


def chord_inside(polygon: Floats, p: float, q: float, least: float = 0.004) -> bool:
    """Does the chord between two places lie strictly inside, and cut off at least this share of the area?"""
    n = len(polygon)
    ends = {int(p // 1), int(q // 1)} | {int(place - 1) % n for place in (p, q) if place % 1 == 0}
    others = [i for i in range(n) if i not in ends]
    a, b = point_at(polygon, p), point_at(polygon, q)
    c, d = polygon[others], polygon[[(i + 1) % n for i in others]]
    if ((side(a, b, c) * side(a, b, d) <= 0) & (side(c, d, a) * side(c, d, b) <= 0)).any():
        return False
    whole = signed_area(polygon)
    # A chord outside the polygon would add area to one of the two sides.
    return least * whole < signed_area(piece(polygon, p, q)) < (1 - least) * whole


def crossings_with_line(polygon: Floats, point: Floats, direction: Floats) -> list[float]:
    """The places where a line through a point crosses the outline."""
    heights = (polygon - point) @ np.array([-direction[1], direction[0]])
    following = np.roll(heights, -1)
    found = np.nonzero((heights < 0) != (following < 0))[0]
    return [float(i + heights[i] / (heights[i] - following[i])) for i in found]


def simplified(chain: Floats, tolerance: float) -> Floats:
    """Douglas-Peucker: few of these points, so that all stay within the tolerance of the chain through them."""
    keep = np.zeros(len(chain), dtype=bool)
    keep[[0, -1]] = True
    stack = [(0, len(chain) - 1)]
    while stack:
        low, high = stack.pop()
        if high - low < 2:
            continue
        step = chain[high] - chain[low]
        inner = chain[low + 1 : high] - chain[low]
        along = np.clip(inner @ step / max(float(step @ step), 1e-300), 0.0, 1.0)
        gaps = np.linalg.norm(inner - along[:, None] * step, axis=1)
        worst = int(np.argmax(gaps))
        if gaps[worst] > tolerance:
            middle = low + 1 + worst
            keep[middle] = True
            stack += [(low, middle), (middle, high)]
    return chain[keep]


def pairs(points: Floats) -> tuple[tuple[float, float], ...]:
    """An array as the tuples that documents hold."""
    return tuple((float(x), float(y)) for x, y in points)
