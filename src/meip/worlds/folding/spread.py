"""Which pieces move, and how: spreading sides through the seams and creases, turning the smaller side over."""

from __future__ import annotations

from typing import Any

import numpy as np

from meip.base.kernels import bare_kernel, kernel
from meip.worlds.folding.kernel import CREASE_TAG, FOLDED, FRESH, JOIN, MISSES, SEAM_TAG, TEARS, on_chosen

__all__ = ["smaller_side", "spread_sides", "turn_over"]


@kernel
def _joints(pieces: Any, p: int, line: Any, maps: Any, chords: Any, n: int, tol: float) -> Any:
    """Edges at which pieces hang together, in garment coordinates, [E, 5]: x, y, x, y, piece.

    A seam that lies in a folded chord is itself the crease: it gives its piece a side and joins nothing.
    """
    cx, cy, ux, uy = line
    joints = np.empty((pieces.start[p], 5))
    count = 0
    for k in range(p):
        begin, end = pieces.start[k], pieces.start[k + 1]
        m = maps[pieces.layer[k]]
        for i in range(begin, end):
            if pieces.tag[i] != SEAM_TAG and pieces.tag[i] != CREASE_TAG:
                continue
            j = i + 1 if i + 1 < end else begin
            ax, ay, bx, by = pieces.x[i] - cx, pieces.y[i] - cy, pieces.x[j] - cx, pieces.y[j] - cy
            if abs(ux * ay - uy * ax) < tol and abs(ux * by - uy * bx) < tol:
                t = 0.5 * (ux * (ax + bx) + uy * (ay + by))
                if on_chosen(t, chords, n, tol):
                    pieces.side[k] = 1 if ux * (bx - ax) + uy * (by - ay) > 0 else -1
                    continue
            for e, v in ((0, i), (2, j)):  # the maps are isometries: the inverse is the transpose
                dx, dy = pieces.x[v] - m[0, 2], pieces.y[v] - m[1, 2]
                joints[count, e] = m[0, 0] * dx + m[1, 0] * dy
                joints[count, e + 1] = m[0, 1] * dx + m[1, 1] * dy
            joints[count, 4] = k
            count += 1
    return joints[:count]


@bare_kernel
def _overlap(a: Any, b: Any, tol: float) -> bool:
    """Do two garment edges share more than a point?"""
    dx, dy = a[2] - a[0], a[3] - a[1]
    length = np.sqrt(dx * dx + dy * dy)
    if length < tol:
        return False
    dx, dy = dx / length, dy / length
    px, py, qx, qy = b[0] - a[0], b[1] - a[1], b[2] - a[0], b[3] - a[1]
    if abs(dx * py - dy * px) > tol or abs(dx * qy - dy * qx) > tol:
        return False
    s, t = dx * px + dy * py, dx * qx + dy * qy
    return bool(min(max(s, t), length) - max(min(s, t), 0.0) > 2.0 * tol)


@kernel
def spread_sides(pieces: Any, p: int, line: Any, maps: Any, chords: Any, n: int, scale: float) -> int:
    """Give every piece that hangs on a piece with a side the same side, in place. TEARS if one would get both."""
    tol = JOIN * scale
    joints = _joints(pieces, p, line, maps, chords, n, tol)
    group = np.arange(p)
    for a in range(len(joints)):
        for b in range(a):
            ka, kb = group[int(joints[a, 4])], group[int(joints[b, 4])]
            if ka != kb and _overlap(joints[a], joints[b], tol):
                for k in range(p):
                    if group[k] == ka:
                        group[k] = kb
    side = np.zeros(p, np.int64)
    for k in range(p):
        s = pieces.side[k]
        if s != 0:
            if side[group[k]] == -s:
                return TEARS
            side[group[k]] = s
    for k in range(p):
        pieces.side[k] = side[group[k]]
    return FOLDED


@bare_kernel
def smaller_side(pieces: Any, p: int) -> tuple[int, int]:
    """(code, the side that moves): the one with the smaller summed area; of equal ones, the minus side."""
    plus = minus = 0.0
    for k in range(p):
        if pieces.side[k] > 0:
            plus += pieces.area[k]
        elif pieces.side[k] < 0:
            minus += pieces.area[k]
    if plus == 0.0 or minus == 0.0:
        return MISSES, 0
    return FOLDED, (1 if plus < minus - 1e-9 * (plus + minus) else -1)


@bare_kernel
def turn_over(pieces: Any, p: int, side: int, line: Any, label: Any, maps: Any, out: Any, at: int, v: int) -> int:
    """Write the folded cloth from layer `at` and vertex `v` on: moved pieces below, in reverse order. The new end."""
    start, xy, tag, labels, affines = out
    cx, cy, ux, uy = line
    for step in range(2 * p):
        k = p - 1 - step if step < p else step - p
        moved = pieces.side[k] == side
        if moved != (step < p):
            continue
        layer, begin, end = pieces.layer[k], pieces.start[k], pieces.start[k + 1]
        start[at] = v
        labels[at, 0] = label[layer, 0]
        labels[at, 1] = -label[layer, 1] if moved else label[layer, 1]
        for i in range(begin, end):
            # reflected, a ring runs clockwise: write it backwards; the edge from j then is the one that led to j
            j = end - 1 - (i - begin) if moved else i
            e = j if not moved else (j - 1 if j > begin else end - 1)
            d = 0.0
            if moved:
                d = 2.0 * (ux * (pieces.y[j] - cy) - uy * (pieces.x[j] - cx))
            xy[v, 0], xy[v, 1] = pieces.x[j] + d * uy, pieces.y[j] - d * ux
            tag[v] = CREASE_TAG if pieces.tag[e] == FRESH else pieces.tag[e]
            v += 1
        for col in range(3):
            mx, my = maps[layer, 0, col], maps[layer, 1, col]
            d = 0.0
            if moved:
                d = 2.0 * (ux * (my - cy) - uy * (mx - cx)) if col == 2 else 2.0 * (ux * my - uy * mx)
            affines[at, 0, col], affines[at, 1, col] = mx + d * uy, my - d * ux
        at += 1
    start[at] = v
    return at
