"""The visible outline: the union of all layers, in numba.

Every edge is cut where edges of other layers meet it; a part of an edge is on the outline if no other layer has its
middle inside. Parts that coincide count once if both layers lie on the same side, and not at all (a seam) if they lie
on different sides. What is left is walked into loops, keeping left where loops touch: outer loops run counter-
clockwise, holes clockwise. `parsed` then leaves out corners that an eye would not see.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.kernels import bare_kernel, kernel
from meip.worlds.folding.cloth import Cloth, signed_area
from meip.worlds.folding.folds import Pile, pile

__all__ = ["loops_of", "outlines", "parsed", "silhouette", "silhouette_area", "trace"]

TOUCH = 1e-6  # edges this near each other (times the scale) coincide
PARSED = 0.01  # a corner that sticks out less than this (times the scale) is not seen
SMALL = 1e-3  # a loop with less area than this (times the scale squared) is not seen


@bare_kernel
def _gather(start: Any, xy: Any, edges: Any, owner: Any, boxes: Any) -> int:
    """Edges [N, 7]: ends, unit direction, length; the layer of each; the layers' bounding boxes."""
    n = 0
    for layer in range(len(start) - 1):
        low, high = start[layer], start[layer + 1]
        boxes[layer, 0] = boxes[layer, 1] = np.inf
        boxes[layer, 2] = boxes[layer, 3] = -np.inf
        for i in range(low, high):
            j = i + 1 if i + 1 < high else low
            x0, y0, x1, y1 = xy[i, 0], xy[i, 1], xy[j, 0], xy[j, 1]
            boxes[layer, 0], boxes[layer, 1] = min(boxes[layer, 0], x0), min(boxes[layer, 1], y0)
            boxes[layer, 2], boxes[layer, 3] = max(boxes[layer, 2], x0), max(boxes[layer, 3], y0)
            length = np.sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
            edges[n, 0], edges[n, 1], edges[n, 2], edges[n, 3] = x0, y0, x1, y1
            edges[n, 4], edges[n, 5], edges[n, 6] = (x1 - x0) / length, (y1 - y0) / length, length
            owner[n] = layer
            n += 1
    return n


@bare_kernel
def _add(i: int, s: float, head: Any, after: Any, place: Any) -> None:
    """Cut edge i at distance s from its start: push onto its list. after[0] counts the entries."""
    k = after[0]
    if k < len(place):
        place[k], after[k], head[i] = s, head[i], k
        after[0] = k + 1


@bare_kernel
def _touches(edges: Any, i: int, x: float, y: float, tol: float, head: Any, after: Any, place: Any) -> bool:
    """Is the point on edge i? If inside it, cut it there."""
    dx, dy = x - edges[i, 0], y - edges[i, 1]
    if abs(edges[i, 4] * dy - edges[i, 5] * dx) > tol:
        return False
    s = edges[i, 4] * dx + edges[i, 5] * dy
    if s < -tol or s > edges[i, 6] + tol:
        return False
    if tol < s < edges[i, 6] - tol:
        _add(i, s, head, after, place)
    return True


@bare_kernel
def _meet(edges: Any, i: int, j: int, tol: float, head: Any, after: Any, place: Any) -> None:
    """Cut edges i and j where they meet: at ends that lie on the other edge, or where they cross."""
    touching = False
    for a, b in ((i, j), (j, i)):
        touching |= _touches(edges, a, edges[b, 0], edges[b, 1], tol, head, after, place)
        touching |= _touches(edges, a, edges[b, 2], edges[b, 3], tol, head, after, place)
    if touching:
        return
    turn = edges[i, 4] * edges[j, 5] - edges[i, 5] * edges[j, 4]
    if turn == 0.0:
        return
    dx, dy = edges[j, 0] - edges[i, 0], edges[j, 1] - edges[i, 1]
    s = (dx * edges[j, 5] - dy * edges[j, 4]) / turn
    t = (dx * edges[i, 5] - dy * edges[i, 4]) / turn
    if 0.0 < s < edges[i, 6] and 0.0 < t < edges[j, 6]:
        _add(i, s, head, after, place)
        _add(j, t, head, after, place)


@bare_kernel
def _meetings(edges: Any, start: Any, boxes: Any, tol: float, head: Any, after: Any, place: Any) -> None:
    """Cut all edges of different layers where they meet. Most pairs are far apart: their boxes are looked at first."""
    base = start[0]
    for q in range(1, len(start) - 1):
        for p in range(q):
            x0, y0 = max(boxes[p, 0], boxes[q, 0]) - tol, max(boxes[p, 1], boxes[q, 1]) - tol
            x1, y1 = min(boxes[p, 2], boxes[q, 2]) + tol, min(boxes[p, 3], boxes[q, 3]) + tol
            if x0 > x1 or y0 > y1:
                continue
            for i in range(start[q] - base, start[q + 1] - base):
                ax, ay, bx, by = edges[i, 0], edges[i, 1], edges[i, 2], edges[i, 3]
                if ax > bx:
                    ax, bx = bx, ax
                if ay > by:
                    ay, by = by, ay
                if ax > x1 or bx < x0 or ay > y1 or by < y0:
                    continue
                ax, ay, bx, by = ax - tol, ay - tol, bx + tol, by + tol
                for j in range(start[p] - base, start[p + 1] - base):
                    u, v = edges[j, 0], edges[j, 2]
                    if (u < ax and v < ax) or (u > bx and v > bx):
                        continue
                    u, v = edges[j, 1], edges[j, 3]
                    if (u < ay and v < ay) or (u > by and v > by):
                        continue
                    _meet(edges, i, j, tol, head, after, place)


@bare_kernel
def _hides(
    edges: Any, start: Any, boxes: Any, layer: int, own: int, x: float, y: float, dx: float, dy: float, tol: float
) -> bool:
    """Does this layer take the middle of a part of an edge (of layer `own`, in direction d) off the outline?"""
    if layer == own or x < boxes[layer, 0] - tol or x > boxes[layer, 2] + tol:
        return False
    if y < boxes[layer, 1] - tol or y > boxes[layer, 3] + tol:
        return False
    base = start[0]
    inside = False
    for k in range(start[layer] - base, start[layer + 1] - base):
        px, py = x - edges[k, 0], y - edges[k, 1]
        if abs(edges[k, 4] * py - edges[k, 5] * px) <= tol:
            s = edges[k, 4] * px + edges[k, 5] * py
            if -tol <= s <= edges[k, 6] + tol:  # they coincide
                return bool(edges[k, 4] * dx + edges[k, 5] * dy <= 0 or layer < own)
        if (edges[k, 1] > y) != (edges[k, 3] > y) and x < edges[k, 0] + edges[k, 4] * py / edges[k, 5]:
            inside = not inside
    return inside


@bare_kernel
def _hiding(
    edges: Any, start: Any, boxes: Any, own: int, x: float, y: float, dx: float, dy: float, tol: float, first: int
) -> int:
    """A layer that hides it, or -1. Neighbours are often hidden by the same one: `first` is looked at first."""
    if first >= 0 and _hides(edges, start, boxes, first, own, x, y, dx, dy, tol):
        return first
    for layer in range(len(start) - 1):
        if layer != first and _hides(edges, start, boxes, layer, own, x, y, dx, dy, tol):
            return layer
    return -1


@bare_kernel
def _node(nodes: Any, n: int, x: float, y: float, tol: float) -> int:
    """The index of the node at this place; n if there is none yet."""
    for k in range(n):
        if abs(nodes[k, 0] - x) <= tol and abs(nodes[k, 1] - y) <= tol:
            return k
    nodes[n, 0], nodes[n, 1] = x, y
    return n


@bare_kernel
def _parts(edges: Any, start: Any, boxes: Any, owner: Any, n: int, tol: float, lists: Any, out: Any) -> int:
    """The parts of edges that are on the outline, as pairs of nodes [K, 2]. Returns how many."""
    head, after, place = lists
    kept, nodes = out
    count, m, hiding = 0, 0, -1
    for i in range(n):
        s = 0.0
        while s < edges[i, 6]:
            t, k = edges[i, 6], head[i]
            while k > 0:  # the next cut: lists are short, so no sorting
                if place[k] > s + tol and place[k] < t:
                    t = place[k]
                k = after[k]
            mid = 0.5 * (s + t)
            x, y = edges[i, 0] + mid * edges[i, 4], edges[i, 1] + mid * edges[i, 5]
            by = _hiding(edges, start, boxes, owner[i], x, y, edges[i, 4], edges[i, 5], 2.0 * tol, hiding)
            if by >= 0:
                hiding = by
            else:
                a = _node(nodes, m, edges[i, 0] + s * edges[i, 4], edges[i, 1] + s * edges[i, 5], 4.0 * tol)
                m = max(m, a + 1)
                b = _node(nodes, m, edges[i, 0] + t * edges[i, 4], edges[i, 1] + t * edges[i, 5], 4.0 * tol)
                m = max(m, b + 1)
                if a != b and count < len(kept):
                    kept[count, 0], kept[count, 1] = a, b
                    count += 1
            s = t
    return count


@bare_kernel
def _next(kept: Any, count: int, nodes: Any, used: Any, e: int) -> int:
    """The part to go on with after part e: of those that start where it ends, the one furthest to the left; or -1."""
    a, b = kept[e, 0], kept[e, 1]
    ax, ay = nodes[b, 0] - nodes[a, 0], nodes[b, 1] - nodes[a, 1]
    best, best_turn = -1, -4.0
    for k in range(count):
        if kept[k, 0] == b and not used[k]:
            bx, by = nodes[kept[k, 1], 0] - nodes[b, 0], nodes[kept[k, 1], 1] - nodes[b, 1]
            turn = np.arctan2(ax * by - ay * bx, ax * bx + ay * by)
            if turn > best_turn:
                best, best_turn = k, turn
    return best


@bare_kernel
def _loops(
    kept: Any, count: int, nodes: Any, used: Any, loops: Any, points: Any, p: int, q: int
) -> tuple[int, int, int]:
    """Walk the parts into loops, written from loop p and point q on: (new p, new q, parts left without a loop)."""
    lost = 0
    for k in range(count):
        used[k] = False
    for seed in range(count):
        if used[seed]:
            continue
        loops[p] = q
        e, end = seed, q
        while e >= 0 and not used[e]:
            used[e] = True
            points[end, 0], points[end, 1] = nodes[kept[e, 0], 0], nodes[kept[e, 0], 1]
            end += 1
            if kept[e, 1] == kept[seed, 0]:
                break
            e = _next(kept, count, nodes, used, e)
        if e < 0 or kept[e, 1] != kept[seed, 0]:
            lost += end - q
        elif end - q > 2:
            p, q = p + 1, end
    loops[p] = q
    return p, q, lost


@kernel
def trace(start: Any, xy: Any, scale: float, loops: Any, points: Any, p: int, q: int) -> tuple[int, int]:
    """The outline of one cloth, exactly, into loops[p..] (where each starts) and points[q..]. Returns the new ends.

    Rounding may leave parts without a loop where edges nearly coincide: then try again with another tolerance.
    """
    layers = len(start) - 1
    n = start[layers] - start[0]
    edges, boxes = np.empty((n, 7)), np.empty((layers, 4))
    owner, head = np.empty(n, np.int64), np.empty(n, np.int64)
    most = n * n + 2 * n + 2
    after, place = np.empty(most, np.int64), np.empty(most)
    kept, nodes, used = np.empty((8 * n, 2), np.int64), np.empty((16 * n, 2)), np.empty(8 * n, np.bool_)
    _gather(start, xy, edges, owner, boxes)
    end_p, end_q = p, q
    for factor in (1.0, 0.01, 30.0, 1.0):  # the last: nothing helps, settle for the usual tolerance
        tol = factor * TOUCH * scale
        for i in range(n):
            head[i] = 0
        after[0] = 1
        _meetings(edges, start, boxes, tol, head, after, place)
        count = _parts(edges, start, boxes, owner, n, tol, (head, after, place), (kept, nodes))
        end_p, end_q, lost = _loops(kept, count, nodes, used, loops, points, p, q)
        if lost == 0:
            break
    return end_p, end_q


@bare_kernel
def _offset(points: Any, i: int, j: int, k: int) -> float:
    """Distance of point j from the segment between points i and k."""
    dx, dy = points[k, 0] - points[i, 0], points[k, 1] - points[i, 1]
    px, py = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
    square = dx * dx + dy * dy
    w = min(1.0, max(0.0, (px * dx + py * dy) / square)) if square > 0.0 else 0.0
    return float(np.sqrt((px - w * dx) ** 2 + (py - w * dy) ** 2))


@bare_kernel
def _simplify(points: Any, begin: int, end: int, tol: float) -> int:
    """Leave out corners of one loop, the flattest first, while they stick out less than tol. Returns the new end."""
    while end - begin > 3:
        best, least = -1, tol
        for j in range(begin, end):
            off = _offset(points, j - 1 if j > begin else end - 1, j, j + 1 if j + 1 < end else begin)
            if off < least:
                best, least = j, off
        if best < 0:
            break
        for j in range(best, end - 1):
            points[j, 0], points[j, 1] = points[j + 1, 0], points[j + 1, 1]
        end -= 1
    return end


@bare_kernel
def _area(points: Any, begin: int, end: int) -> float:
    twice = 0.0
    for i in range(begin, end):
        j = i + 1 if i + 1 < end else begin
        ax, ay = points[i, 0] - points[begin, 0], points[i, 1] - points[begin, 1]
        twice += ax * (points[j, 1] - points[begin, 1]) - ay * (points[j, 0] - points[begin, 0])
    return 0.5 * twice


@bare_kernel
def _see(loops: Any, points: Any, p: int, new_p: int, scale: float) -> tuple[int, int]:
    """Parse the loops p..new_p in place: without corners and loops too small to be seen. Returns the new ends."""
    p_out, q_out = p, loops[p]
    for k in range(p, new_p):
        begin, end = loops[k], loops[k + 1]
        if abs(_area(points, begin, end)) < SMALL * scale * scale:
            continue
        end = _simplify(points, begin, end, PARSED * scale)
        loops[p_out] = q_out
        for i in range(begin, end):
            points[q_out, 0], points[q_out, 1] = points[i, 0], points[i, 1]
            q_out += 1
        p_out += 1
    loops[p_out] = q_out
    return p_out, q_out


@kernel
def _outlines(first: Any, start: Any, xy: Any, scale: Any, parse: bool, ends: Any, loops: Any, points: Any) -> int:
    """The outlines of many cloths: ends[i] is where the loops of cloth i start. -1 where there is no room."""
    p, q = 0, 0
    ends[0], loops[0] = 0, 0
    for i in range(len(scale)):
        a, z = first[i], first[i + 1]
        if z > a:
            n = start[z] - start[a]
            if q + 8 * n > len(points) or p + 4 * n > len(loops) - 1:
                return -1
            new_p, q = trace(start[a : z + 1], xy, scale[i], loops, points, p, q)
            if parse:
                new_p, q = _see(loops, points, p, new_p, scale[i])
            p = new_p
        ends[i + 1] = p
    return p


def outlines(cloths: Pile, parse: bool = True) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
    """The outlines of many cloths: (where each cloth's loops start [N + 1], where each loop starts, points)."""
    most = int(np.diff(cloths.start[cloths.first]).max(initial=1))
    room = 2 * len(cloths.xy) + 8 * most + 8
    ends = np.empty(len(cloths) + 1, np.int64)
    while True:
        loops, points = np.empty(room, np.int64), np.empty((room, 2))
        p = _outlines(cloths.first, cloths.start, cloths.xy, cloths.scale, parse, ends, loops, points)
        if p >= 0:
            return ends, loops[: p + 1], points[: loops[p]]
        room *= 2


def loops_of(cloth: Cloth, parse: bool) -> list[Floats]:
    """The loops [n, 2] of one cloth: outer ones counter-clockwise, holes clockwise, the largest first."""
    _, loops, points = outlines(pile([cloth]), parse)
    found = [points[a:b].copy() for a, b in pairwise(loops)]
    return sorted(found, key=lambda loop: -abs(signed_area(loop)))


def silhouette(cloth: Cloth) -> list[Floats]:
    """The exact outline of the union of the layers, as loops."""
    return loops_of(cloth, False)


def parsed(cloth: Cloth) -> list[Floats]:
    """The outline as it is seen: without corners and holes that are too small."""
    return loops_of(cloth, True)


def silhouette_area(cloth: Cloth) -> float:
    """The area of table that the cloth covers."""
    return sum(signed_area(loop) for loop in silhouette(cloth))
