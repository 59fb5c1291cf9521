"""The cheapest way round an outline through the corners and edges of the grammar, in a given frame.

The outline is a ring of places where a corner may be. In a frame every corner of the grammar has a cost at every
place, and every edge a cost between two places: minus the logarithms of how likely they are, up to a constant. The
cheapest way round (dynamic programming, once for each place of the first corner) is the likeliest derivation there.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats, Ints
from meip.base.kernels import kernel
from meip.worlds.folding.grammar import CORNERS, EDGES, KINDS, RULES, Corner

__all__ = ["Network", "Ring", "cheapest_way", "network", "ring_of"]

REACH = 4.0  # corners further off than this many spreads are not looked at
PLACE = 0.5  # the share of what a place costs; the rest is in where corners lie from each other
EDGE_CAP = 6.0  # what one odd edge may cost at most
CORNER_GAIN = 3.0  # what finding a corner is worth
BETWEEN = 1.0  # what a corner costs where the outline has none
FILL_SPREAD = 0.1
STEP = 0.07  # the outline's turn is measured this far (in root areas) before and after a place
FIRST = [next(iter(rule)) for rule in RULES.values()]
PIECES = 110  # the ring has about this many places


@dataclass(frozen=True)
class Network:
    """All ways round one kind of garment, written out: states are corners, links edges."""

    kind: str
    states: tuple[str, ...]
    """Corners in an order in which links go forwards; the last is the first one again.

    A corner that several alternatives produce is a state in each of them: a way cannot change from one to another.
    """
    place: Floats  # [S, 7] x, y, spreads, turn, its spread, what an odd turn costs at most
    links: Ints  # [T, 2] from and to, by state
    shape: Floats  # [T, 5] outwards, inwards, spread, fill, wider
    price: Floats  # [T] -log probability of the alternatives that begin with this edge
    choices: tuple[tuple[tuple[str, str], ...], ...]
    """Per link: the rules (with their side) and alternatives that begin with it."""
    usual: int
    """How many corners the way with the first alternative of each rule has."""


@cache
def network(kind: str) -> Network:
    """The grammar's rules for one kind."""
    words = KINDS[kind].produces.split()
    table = CORNERS[KINDS[kind].corners]
    links = [
        link
        for k in range(0, len(words) - 2, 2)
        for link in _expanded(words[k], words[k + 1], words[k + 2] if k + 3 < len(words) else "end", words)
    ]
    order = _ordered([(a, b) for a, b, *_ in links])
    index = {name: i for i, name in enumerate(order)}
    links.sort(key=lambda link: (index[link[1]], index[link[0]]))
    shapes = [EDGES[edge] for _, _, edge, _, _ in links]
    states = tuple(words[0] if name == "end" else name.partition("@")[0] for name in order)
    return Network(
        kind,
        states,
        np.array([_mirrored(words[0] if name == "end" else name, table) for name in order]),
        np.array([(index[a], index[b]) for a, b, *_ in links], dtype=np.int64),
        np.array([(e.outwards, e.inwards, e.spread, e.fill, e.wider) for e in shapes]),
        np.array([price for _, _, _, price, _ in links]),
        tuple(chosen for *_, chosen in links),
        len({name.partition("@")[0] for name in order[:-1] if name.partition("@")[2] in ("", *FIRST)}),
    )


_Link = tuple[str, str, str, float, tuple[tuple[str, str], ...]]


def _expanded(
    a: str, word: str, b: str, words: list[str], price: float = 0.0, chosen: tuple[tuple[str, str], ...] = ()
) -> list[_Link]:
    """All edges that a word may produce between two corners."""
    name = word.removeprefix("<")
    if name not in RULES:
        return [(a, b, name, price, chosen)]
    side = "_left" if word != name else "_right" if f"<{name}" in words else ""
    found: list[_Link] = []
    for option, alternative in RULES[name].items():
        inner = alternative.produces.split()
        if side == "_left":
            inner = [w.replace("_right", "_left") for w in reversed(inner)]
        inner[1::2] = [f"{corner}@{option}" for corner in inner[1::2]]
        chain = [a, *inner, b]
        cost, first = price - float(np.log(alternative.probability)), (*chosen, (name + side, option))
        for k in range(0, len(chain) - 2, 2):
            start, edge, end = chain[k : k + 3]
            found += _expanded(start, edge, end, words, cost, first) if k == 0 else _expanded(start, edge, end, words)
    return found


def _ordered(links: list[tuple[str, str]]) -> list[str]:
    """The states in an order in which every link goes forwards."""
    left = list(dict.fromkeys(state for link in links for state in link))
    order: list[str] = []
    while left:
        free = next(s for s in left if not any(b == s and a in left for a, b in links))
        order.append(free)
        left.remove(free)
    return order


def _mirrored(name: str, table: dict[str, Corner]) -> tuple[float, ...]:
    """A corner's numbers; those of the left are the mirror image of those of the right."""
    name, _, option = name.partition("@")
    stem, _, side = name.rpartition("_")
    stem = stem if side in ("left", "right") else name
    one = table.get(f"{stem}@{option}", table[stem])
    return (-one.x if side == "left" else one.x), one.y, one.spread_x, one.spread_y, one.turn, one.turn_spread, one.odd


@dataclass(frozen=True)
class Ring:
    """The places of an outline where corners may be, round its centre, in units of the root of its area."""

    at: Floats  # [N] place on the polygon (see `planar`)
    points: Floats  # [N, 2]
    turn: Floats  # [N] degrees
    shape: Floats  # [3, N, N] how far the outline from i to j goes beyond the chord outwards, inwards; its fill
    centre: Floats  # [2] in the polygon's coordinates
    unit: float


def ring_of(polygon: Floats) -> Ring:
    """The corners of a polygon (counter-clockwise) and places between them."""
    x, y = polygon.T
    cross = x * np.roll(y, -1) - np.roll(x, -1) * y
    area = 0.5 * float(cross.sum())
    centre = ((polygon + np.roll(polygon, -1, axis=0)) * cross[:, None]).sum(axis=0) / (6 * area)
    unit = abs(area) ** 0.5
    local = (polygon - centre) / unit
    steps = np.linalg.norm(np.roll(local, -1, axis=0) - local, axis=1)
    start = np.concatenate([[0.0], np.cumsum(steps)])
    counts = np.maximum(1, np.ceil(steps * (PIECES / start[-1]))).astype(int)
    at = np.concatenate([i + np.arange(n) / n for i, n in enumerate(counts)])
    which = at.astype(int)
    along = start[which] + (at - which) * steps[which]

    def walked(by: float) -> Floats:
        s = np.mod(along + by, start[-1])
        k = np.clip(np.searchsorted(start, s, side="right") - 1, 0, len(steps) - 1)
        share = ((s - start[k]) / np.maximum(steps[k], 1e-12))[:, None]
        return np.asarray((1 - share) * local[k] + share * local[(k + 1) % len(local)])

    points = walked(0.0)
    before, after = points - walked(-STEP), walked(STEP) - points
    sine = before[:, 0] * after[:, 1] - before[:, 1] * after[:, 0]
    turn = np.degrees(np.arctan2(sine, (before * after).sum(axis=1)))
    return Ring(at, points, turn, _shapes(points), centre, unit)


@kernel
def _shapes(points: Any) -> Any:
    """How the ring runs beside each chord i -> j: how far to its right, to its left, and which share it fills."""
    n = len(points)
    shape = np.zeros((3, n, n))
    for i in range(n):
        twice = 0.0
        for gap in range(1, n):
            j, h = (i + gap) % n, (i + gap - 1) % n
            ax, ay = points[h, 0] - points[i, 0], points[h, 1] - points[i, 1]
            dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            twice += ax * dy - ay * dx
            length = max(np.sqrt(dx * dx + dy * dy), 1e-9)
            for k in range(1, gap):
                m = (i + k) % n
                d = (dx * (points[m, 1] - points[i, 1]) - dy * (points[m, 0] - points[i, 0])) / length
                shape[0, i, j] = max(shape[0, i, j], -d)
                shape[1, i, j] = max(shape[1, i, j], d)
            deep = max(shape[0, i, j], shape[1, i, j])
            shape[2, i, j] = 0.5 * abs(twice) / (length * deep) if deep > 1e-6 else 0.0
    return shape


@kernel
def _corner_costs(points: Any, turn: Any, rough: Any, allowed: Any, place: Any) -> Any:
    """[S, N] what each corner costs at each place."""
    cost = np.full((len(place), len(points)), np.inf)
    for s in range(len(place)):
        for i in range(len(points)):
            zx = (points[i, 0] - place[s, 0]) / place[s, 2]
            zy = (points[i, 1] - place[s, 1]) / place[s, 3]
            if allowed[s, i] and abs(zx) < REACH and abs(zy) < REACH:
                zt = (turn[i] - place[s, 4]) / place[s, 5]
                turned = min(0.5 * zt * zt, place[s, 6])
                cost[s, i] = 0.5 * PLACE * (zx * zx + zy * zy) + turned + rough[i] - CORNER_GAIN
    return cost


@kernel
def _edge_costs(
    points: Any, shape: Any, corner: Any, place: Any, links: Any, edges: Any, price: Any, cap: float
) -> Any:
    """[T, N, N] what each edge costs between two places at which its corners may be."""
    n = len(points)
    cost = np.full((len(links), n, n), np.inf)
    for t in range(len(links)):
        a, b = links[t]
        out, inn, spread, fill, wider = edges[t]
        vx, vy = place[b, 0] - place[a, 0], place[b, 1] - place[a, 1]
        vx += wider * (1.0 if vx > 0 else -1.0)
        sx, sy = place[a, 2] ** 2 + place[b, 2] ** 2, place[a, 3] ** 2 + place[b, 3] ** 2
        for i in range(n):
            if corner[a, i] == np.inf:
                continue
            for j in range(n):
                if i == j or corner[b, j] == np.inf:
                    continue
                zo, zi = shape[0, i, j] - out, shape[1, i, j] - inn
                zo = max(zo, 0.0) if out < 0.04 else zo  # a nearly straight edge may be straighter
                zi = max(zi, 0.0) if inn < 0.04 else zi
                bent = 0.5 * (zo * zo + zi * zi) / (spread * spread)
                if fill > 0.0:
                    bent += 0.5 * ((shape[2, i, j] - fill) / FILL_SPREAD) ** 2
                wx, wy = points[j, 0] - points[i, 0] - vx, points[j, 1] - points[i, 1] - vy
                cost[t, i, j] = min(bent, cap) + 0.5 * (wx * wx / sx + wy * wy / sy) + price[t]
    return cost


@kernel
def _rest(corner: Any, edge: Any, links: Any) -> Any:
    """[S, N] At least so much it costs to go on to the end, wherever that is."""
    states, n = corner.shape
    rest = np.full((states, n), np.inf)
    for t in range(len(links) - 1, -1, -1):  # links into later states come last
        a, b = links[t]
        for i in range(n):
            if corner[a, i] == np.inf:
                continue
            for j in range(n):
                if b == states - 1:
                    total = edge[t, i, j] + corner[0, j]
                else:
                    total = edge[t, i, j] + corner[b, j] + rest[b, j]
                if total < rest[a, i]:
                    rest[a, i] = total
    return rest


@kernel
def _way(corner: Any, edge: Any, links: Any, rest: Any, limit: float) -> Any:
    """The cheapest way round: (cost, the place of each state or -1, the link into each state or -1).

    Ways that cannot become cheaper than the best so far, or than the limit, are left.
    """
    states, n = corner.shape
    last = states - 1
    best = limit
    best_at, best_by = np.full(states, -1, np.int64), np.full(states, -1, np.int64)
    cost = np.empty((states, n))
    by, back = np.empty((states, n), np.int64), np.empty((states, n), np.int64)
    for first in np.argsort(rest[0]):
        if corner[0, first] == np.inf or rest[0, first] >= best:
            continue
        cost[:] = np.inf
        cost[0, first] = 0.0
        for t in range(len(links)):
            a, b = links[t]
            for i in range(n):
                here = cost[a, i]
                if here == np.inf or here + rest[a, i] >= best:
                    continue
                gap = (i - first) % n
                if b == last:
                    total = here + edge[t, i, first] + corner[0, first]
                    if gap > 0 and total < cost[last, first]:
                        cost[last, first], by[last, first], back[last, first] = total, t, i
                    continue
                for j in range(n):
                    if corner[b, j] < np.inf and (j - first) % n > gap:
                        total = here + edge[t, i, j] + corner[b, j]
                        if total < cost[b, j]:
                            cost[b, j], by[b, j], back[b, j] = total, t, i
        if cost[last, first] < best:
            best = cost[last, first]
            best_at[:], best_by[:] = -1, -1
            s, i = last, first
            while s > 0:
                t = by[s, i]
                best_at[s], best_by[s] = i, t
                i, s = back[s, i], links[t, 0]
            best_at[0] = first
    return (best if best < limit else np.inf), best_at, best_by


def cheapest_way(
    ring: Ring,
    net: Network,
    angle: float,
    allowed: NDArray[np.bool_],
    barred: NDArray[np.bool_] | None = None,
    cap: float = EDGE_CAP,
    limit: float = np.inf,
) -> tuple[float, NDArray[np.int64], NDArray[np.int64]]:
    """Where up points into this direction (radians): the cost, each state's place, the link into each state (or -1).

    `allowed` [S, N] are the places that a corner may have; links that are `barred` [T] are not taken; `cap` is what an
    odd edge may cost at most; of ways that cost more than the `limit` the cost is infinite.
    """
    c, s = np.cos(angle), np.sin(angle)
    framed = ring.points @ np.array([[s, c], [-c, s]])  # across, up
    rough = np.where(ring.at % 1 == 0, 0.0, BETWEEN)
    corner = _corner_costs(framed, ring.turn, rough, allowed, net.place)
    if np.isinf(corner.min(axis=1)[[0, -1]]).any():
        return np.inf, np.zeros(0, np.int64), np.zeros(0, np.int64)
    price = net.price if barred is None else np.where(barred, np.inf, net.price)
    edge = _edge_costs(framed, ring.shape, corner, net.place, net.links, net.shape, price, cap)
    cost, at, by = _way(corner, edge, net.links, _rest(corner, edge, net.links), limit)
    return float(cost), at, by
