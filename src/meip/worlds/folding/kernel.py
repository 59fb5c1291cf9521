"""The fold, in numba: split every layer by a segment, turn the smaller side over to the back.

A layer's ring is walked once, with the crossings inserted. Its edges are labelled by the side of the line they lie on
(an edge on the line belongs to the side of the interior), runs of edges on one side are chains, and the ends of the
chains, sorted along the line, are linked in neighbouring pairs: each pair is a chord of the layer. Walking chains and
links gives the pieces. (Clipping half-plane by half-plane instead would join the pieces of a concave layer by bridges.)

Conventions: u is the direction of the line and n = (-u_y, u_x) its normal; "plus" is the side n points to. Polygons run
counter-clockwise, so a plus piece runs along its chords in direction u and a minus piece against it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from meip.base.kernels import bare_kernel, kernel
from meip.worlds.folding.chords import (
    ENDS_INSIDE,
    FOLDED,
    JOIN,
    MISSES,
    TEARS,
    UNSTABLE,
    Chords,
    chosen_chords,
    merged_chords,
    on_chosen,
)

__all__ = [
    "CREASE_TAG", "ENDS_INSIDE", "FOLDED", "FRESH", "JOIN", "MISSES", "SEAM_TAG", "TEARS", "UNSTABLE", "Pieces",
    "RankedPairs", "Ring", "cut", "on_chosen", "workspace",
]  # fmt: skip

SEAM_TAG, CREASE_TAG, FRESH = 1, 2, 9  # FRESH: a crease that this very fold makes


class Ring(NamedTuple):
    """The rings of all layers with the crossings inserted, [M] each."""

    x: Any
    y: Any
    sign: Any  # -1, 0, 1: side of the line
    tag: Any  # of the edge that starts here
    own: Any  # False for an inserted crossing
    t: Any  # position along the line
    side: Any  # of the edge that starts here
    stop: Any  # does a chain end here?
    start: Any  # [L + 1]
    crossed: Any  # [L + 1] does the layer have vertices on both sides?


class RankedPairs(NamedTuple):
    """Runs of edges on one side, [M] each."""

    first: Any  # ring position of the first vertex
    last: Any  # and of the last
    side: Any
    layer: Any
    link: Any  # the chain that starts at the other end of the chord that begins where this one ends
    low: Any  # that chord
    high: Any
    cut: Any  # is that chord folded?


class Pieces(NamedTuple):
    """What the layers fall into, [M] each, and their vertices."""

    start: Any
    x: Any
    y: Any
    tag: Any
    layer: Any
    side: Any
    area: Any


@kernel
def workspace(vertices: int, layers: int) -> Any:
    """Room for one fold of a cloth of this size: rings, chains, chords, pieces."""
    m = 4 * vertices + 8
    floats = np.empty((11, m))
    ints = np.empty((12, m), np.int64)
    flags = np.empty((5, m), np.bool_)
    starts = np.empty(layers + 1, np.int64)
    crossed = np.empty(layers + 1, np.bool_)
    ring = Ring(floats[0], floats[1], ints[0], ints[1], flags[0], floats[2], ints[11], flags[4], starts, crossed)
    chains = RankedPairs(ints[2], ints[3], ints[4], ints[5], ints[6], floats[3], floats[4], flags[1])
    pieces = Pieces(np.empty(m + 1, np.int64), floats[5], floats[6], ints[7], ints[8], ints[9], floats[7])
    bounds = np.empty(layers + 1, np.int64)
    chords = Chords(floats[8], floats[9], flags[2], ints[10], floats[10], flags[3], bounds)
    return ring, chains, chords, pieces


@bare_kernel
def _trace(xy: Any, tag: Any, start: Any, line: Any, snap: float, ring: Any) -> None:
    """Fill the ring: every vertex with its side (on the line if nearer than `snap`), and the crossings."""
    cx, cy, ux, uy = line
    x, y, t, sign, tags, own = ring.x, ring.y, ring.t, ring.sign, ring.tag, ring.own
    m = 0
    for layer in range(len(start) - 1):
        ring.start[layer] = m
        low, high = start[layer], start[layer + 1]
        dx, dy = xy[high - 1, 0] - cx, xy[high - 1, 1] - cy
        before, before_t, j = ux * dy - uy * dx, ux * dx + uy * dy, high - 1
        least = most = 0
        for i in range(low, high):
            dx, dy = xy[i, 0] - cx, xy[i, 1] - cy
            here, here_t = ux * dy - uy * dx, ux * dx + uy * dy
            if (before > snap and here < -snap) or (before < -snap and here > snap):
                w = before / (before - here)
                x[m], y[m] = xy[j, 0] + w * (xy[i, 0] - xy[j, 0]), xy[j, 1] + w * (xy[i, 1] - xy[j, 1])
                t[m] = before_t + w * (here_t - before_t)
                sign[m], tags[m], own[m] = 0, tag[j], False
                m += 1
            s = int(here > snap) - int(here < -snap)
            x[m], y[m], t[m], sign[m], tags[m], own[m] = xy[i, 0], xy[i, 1], here_t, s, tag[i], True
            least, most = min(least, s), max(most, s)
            m += 1
            before, before_t, j = here, here_t, i
        ring.crossed[layer] = least < 0 < most
    ring.start[len(start) - 1] = m


# Arrays are taken out of their tuples before loops: inside, each access would count references.


@bare_kernel
def _mark(ring: Any, low: int, high: int) -> None:
    """Sides of the edges of one crossed layer, and where chains end.

    An edge on the line belongs to the side of the interior (its left). A chain ends where sides change, and where a
    reflex vertex touches the line from one side.
    """
    x, y, t, sign, sides, stops = ring.x, ring.y, ring.t, ring.sign, ring.side, ring.stop
    for i in range(low, high):
        j = i + 1 if i + 1 < high else low
        s = sign[i] + sign[j]
        if s == 0:
            s = 1 if t[j] > t[i] else -1
        sides[i] = 1 if s > 0 else -1
    h = high - 1
    for i in range(low, high):
        stop = False
        if sign[i] == 0:
            j = i + 1 if i + 1 < high else low
            stop = sides[h] != sides[i]
            if not stop and sign[h] != 0 and sign[j] != 0:
                stop = (x[i] - x[h]) * (y[j] - y[i]) - (y[i] - y[h]) * (x[j] - x[i]) < 0.0
        stops[i] = stop
        h = i


@bare_kernel
def _chain(ring: Any, layers: int, chains: Any, bounds: Any) -> int:
    """The chains of all layers (none of a layer on one side of the line); returns how many."""
    starts, stops, sides = ring.start, ring.stop, ring.side
    firsts, lasts, owners, chain_sides = chains.first, chains.last, chains.layer, chains.side
    k = 0
    for layer in range(layers):
        bounds[layer] = k
        low, high = starts[layer], starts[layer + 1]
        if not ring.crossed[layer]:
            continue
        _mark(ring, low, high)
        begin = low
        while not stops[begin]:
            begin += 1
        i = begin
        while True:
            j = i + 1 if i + 1 < high else low
            while not stops[j]:
                j = j + 1 if j + 1 < high else low
            firsts[k], lasts[k], owners[k], chain_sides[k] = i, j, layer, sides[i]
            k += 1
            i = j
            if i == begin:
                break
    bounds[layers] = k
    return k


@bare_kernel
def _link(t: Any, chains: Any, k0: int, k1: int, order: Any, at: Any) -> bool:
    """Pair the chain ends of one layer along the line, side by side. False if they do not alternate."""
    firsts, lasts, sides, links, low, high = (
        chains.first,
        chains.last,
        chains.side,
        chains.link,
        chains.low,
        chains.high,
    )
    for side in (1, -1):
        n = 0
        for c in range(k0, k1):
            if sides[c] != side:
                continue
            for ends in (0, 1):  # a plus chain ends where its chord begins: (end, start), (end, start), ..
                place = side * (t[lasts[c]] if ends else t[firsts[c]])
                # equal places (a reflex vertex that touches): close one chord before the next begins
                p = n
                while p > 0 and (at[p - 1] > place or (at[p - 1] == place and ends == 0 and order[p - 1] & 1)):
                    at[p], order[p] = at[p - 1], order[p - 1]
                    p -= 1
                at[p], order[p] = place, 2 * c + ends
                n += 1
        for p in range(0, n, 2):
            if not order[p] & 1 or order[p + 1] & 1:
                return False
            c = order[p] >> 1
            links[c] = order[p + 1] >> 1
            low[c], high[c] = min(side * at[p], side * at[p + 1]), max(side * at[p], side * at[p + 1])
    return True


@bare_kernel
def _walk(ring: Any, chains: Any, k0: int, k1: int, pieces: Any, p: int, near: float, used: Any) -> int:
    """Append the pieces of one crossed layer at p: along chains, across folded chords. The new number; -1: torn."""
    x, y, tag, own = ring.x, ring.y, ring.tag, ring.own
    firsts, lasts, sides, links, cuts = chains.first, chains.last, chains.side, chains.link, chains.cut
    px, py, ptag = pieces.x, pieces.y, pieces.tag
    layer = chains.layer[k0]
    low, high = ring.start[layer], ring.start[layer + 1]
    for seed in range(k0, k1):
        if used[seed]:
            continue
        begin = pieces.start[p]
        v, side, c = begin, 0, seed
        by_chord = False
        for d in range(k0, k1):  # the chain that leads here, to know whether its chord is folded
            by_chord |= cuts[d] and links[d] == seed
        while not used[c]:
            used[c] = True
            i, end = firsts[c], False
            keep = by_chord or own[i]  # a crossing of a chord that is not folded is no corner
            by_chord = cuts[c]
            while not end or by_chord:
                if keep:
                    edge = FRESH if end else tag[i]
                    if v > begin and abs(px[v - 1] - x[i]) < near and abs(py[v - 1] - y[i]) < near:
                        ptag[v - 1] = edge  # the same place twice
                    else:
                        px[v], py[v], ptag[v] = x[i], y[i], edge
                        v += 1
                if end:
                    break
                i, keep = (i + 1 if i + 1 < high else low), True
                end = i == lasts[c]
            if by_chord:
                if side == -sides[c]:
                    return -1
                side = sides[c]
            c = links[c] if by_chord else (c + 1 if c + 1 < k1 else k0)
        p = _close(pieces, p, v, layer, side, near)
    return p


@bare_kernel
def _close(pieces: Any, p: int, v: int, layer: int, side: int, near: float) -> int:
    """Finish piece p, whose vertices end at v; a piece without area is left out."""
    x, y = pieces.x, pieces.y
    begin = pieces.start[p]
    x0, y0 = x[begin], y[begin]
    if v > begin + 1 and abs(x[v - 1] - x0) < near and abs(y[v - 1] - y0) < near:
        v -= 1
    twice = 0.0
    for i in range(begin + 1, v - 1):
        twice += (x[i] - x0) * (y[i + 1] - y0) - (y[i] - y0) * (x[i + 1] - x0)
    if v < begin + 3 or twice <= near * near:
        return p
    pieces.area[p], pieces.layer[p], pieces.side[p] = 0.5 * twice, layer, side
    pieces.start[p + 1] = v
    return p + 1


@bare_kernel
def _whole(ring: Any, layer: int, pieces: Any, p: int, near: float) -> int:
    """Append a layer that is not crossed as one piece, with its side."""
    x, y, tag, sign = ring.x, ring.y, ring.tag, ring.sign
    px, py, ptag = pieces.x, pieces.y, pieces.tag
    v, side = pieces.start[p], 0
    for i in range(ring.start[layer], ring.start[layer + 1]):
        px[v], py[v], ptag[v] = x[i], y[i], tag[i]
        if sign[i] != 0:
            side = sign[i]
        v += 1
    return _close(pieces, p, v, layer, side, near)


@bare_kernel
def _silhouette_chords(ring: Any, chains: Any, chords: Any, layers: int, r: float, join: float) -> tuple[int, int, int]:
    """RankedPairs, their links and the chords the segment contains: (code, number of chords, number contained)."""
    bounds = chords.bounds
    k = _chain(ring, layers, chains, bounds)
    for layer in range(layers):
        if bounds[layer] < bounds[layer + 1] and not _link(
            ring.t, chains, bounds[layer], bounds[layer + 1], chords.order, chords.at
        ):
            return UNSTABLE, 0, 0
    n = merged_chords(ring, chains, k, layers, chords.low, chords.high, join)
    code, picked = chosen_chords(chords.low, chords.high, n, r, join, chords.chosen)
    for c in range(k):
        middle = 0.5 * (chains.low[c] + chains.high[c])
        chains.cut[c] = picked == n or on_chosen(middle, chords, n, join)
        chords.used[c] = False
    return code, n, picked


@bare_kernel
def cut(
    xy: Any, tag: Any, start: Any, line: Any, r: float, scale: float, snap: float, work: Any
) -> tuple[int, int, int, int]:
    """Cut the layers along the chords that the segment contains: (code, pieces, chords, chords contained).

    Where it contains all, every piece knows its side. Else only the pieces at a folded chord do; see `folds`.
    """
    ring, chains, chords, pieces = work
    layers = len(start) - 1
    near = 1e-12 * scale
    _trace(xy, tag, start, line, snap * scale, ring)
    code, n, picked = _silhouette_chords(ring, chains, chords, layers, r, JOIN * scale)
    if code != FOLDED:
        return code, 0, n, picked
    p = 0
    pieces.start[0] = 0
    for layer in range(layers):
        k0, k1 = chords.bounds[layer], chords.bounds[layer + 1]
        if k0 == k1:
            before = p
            p = _whole(ring, layer, pieces, p, near)
            if picked < n and p > before:
                pieces.side[before] = 0
        else:
            p = _walk(ring, chains, k0, k1, pieces, p, near, chords.used)
            if p < 0:
                return TEARS, 0, n, picked
    return FOLDED, p, n, picked
