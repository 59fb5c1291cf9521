"""Samples of a proposal, in numba: row i of a cloth's samples depends on its seed and on i alone.

So the samples of a cloth are a list without end that is drawn from where it was left, for many cloths at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from meip.base.kernels import kernel, uniform

__all__ = ["FRAME", "frames", "sample_rows"]

FRAME = 8  # numbers of a frame: origin (2), axes (2 x 2, by rows), unit (2)
SEAM_TAG = 1
UPRIGHT = 0.6  # cosine between a side's seam and the garment's vertical, at least
LONGER_BY, LONGER_SPREAD = 0.05, 0.05  # of the logarithm of a sample's half-length
STREAM = np.uint64(0xD1342543DE82EF95)


@kernel
def _largest(start: Any, xy: Any, scale: float) -> int:
    """The layer with the largest area; of (nearly) equal ones the lowest."""
    best, most = 0, -1.0
    for layer in range(len(start) - 1):
        low, high = start[layer], start[layer + 1]
        twice = 0.0
        for i in range(low + 1, high - 1):
            ax, ay = xy[i, 0] - xy[low, 0], xy[i, 1] - xy[low, 1]
            twice += ax * (xy[i + 1, 1] - xy[low, 1]) - ay * (xy[i + 1, 0] - xy[low, 0])
        if twice > most + 1e-9 * scale * scale:
            best, most = layer, twice
    return best


@kernel
def _box(xy: Any, low: int, high: int, axes: Any, frame: Any) -> None:
    """The box of these points along the axes, as a frame."""
    u0 = v0 = np.inf
    u1 = v1 = -np.inf
    for i in range(low, high):
        u = xy[i, 0] * axes[0, 0] + xy[i, 1] * axes[1, 0]
        v = xy[i, 0] * axes[0, 1] + xy[i, 1] * axes[1, 1]
        u0, v0, u1, v1 = min(u0, u), min(v0, v), max(u1, u), max(v1, v)
    u, v = 0.5 * (u0 + u1), 0.5 * (v0 + v1)
    frame[0], frame[1] = u * axes[0, 0] + v * axes[0, 1], u * axes[1, 0] + v * axes[1, 1]
    frame[2], frame[3], frame[4], frame[5] = axes[0, 0], axes[0, 1], axes[1, 0], axes[1, 1]
    frame[6], frame[7] = 0.5 * (u1 - u0), 0.5 * (v1 - v0)


@kernel
def frames(start: Any, xy: Any, tag: Any, maps: Any, scale: float, whole: bool, out: Any) -> int:
    """Row 0: the box of the largest polygon along the garment's axes (`whole`: of the cloth along the table's).

    The others, one per seam up the sides of the largest polygon: first axis up the garment, second axis outwards. (A
    seam says where a sleeve begins; folds along it would be as slanted as the seams of raglan sleeves.) Returns the
    number of rows.
    """
    layer = _largest(start, xy, scale)
    low, high = start[layer], start[layer + 1]
    if whole:
        _box(xy, start[0], start[-1], np.eye(2), out[0])
    else:
        _box(xy, low, high, maps[layer], out[0])
    upx, upy = maps[layer, 0, 1], maps[layer, 1, 1]
    count = 1
    for i in range(low, high):
        if tag[i] != SEAM_TAG or tag[i - 1 if i > low else high - 1] == SEAM_TAG:
            continue
        j = i
        while tag[j] == SEAM_TAG:
            j = j + 1 if j + 1 < high else low
        dx, dy = xy[j, 0] - xy[i, 0], xy[j, 1] - xy[i, 1]
        size = max(np.sqrt(dx * dx + dy * dy), 1e-12)
        dx, dy = dx / size, dy / size
        up = dx * upx + dy * upy
        if abs(up) < UPRIGHT or count >= len(out):
            continue  # a hood's: folds beside a sleeve say nothing about it
        row = out[count]
        row[0], row[1] = 0.5 * (xy[i, 0] + xy[j, 0]), 0.5 * (xy[i, 1] + xy[j, 1])
        turn = 1.0 if up >= 0.0 else -1.0  # counter-clockwise: outside is on the right of the seam's direction
        row[2], row[4] = upx, upy
        row[3], row[5] = turn * upy, -turn * upx
        row[6] = row[7] = scale
        count += 1
    return count


@kernel
def _normal(random: Any) -> float:
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(random)))
    return float(radius * np.cos(2.0 * np.pi * uniform(random)))


@kernel
def _place(frame: Any, local: Any, row: Any) -> None:
    """A segment (centre, half-vector) of a frame on the table: (x, y, r, theta)."""
    u, v = local[0] * frame[6], local[1] * frame[7]
    p, q = local[2] * frame[6], local[3] * frame[7]
    row[0], row[1] = frame[0] + frame[2] * u + frame[3] * v, frame[1] + frame[4] * u + frame[5] * v
    hx, hy = frame[2] * p + frame[3] * q, frame[4] * p + frame[5] * q
    row[2], row[3] = np.sqrt(hx * hx + hy * hy), np.arctan2(hy, hx)


@kernel
def _from_grid(bounds: Any, scale: float, sides: Any, lengths: Any, random: Any, row: Any) -> None:
    """A place of the uniform grid: sides = centres per side, angles per half turn."""
    for k in range(2):
        share = (int(uniform(random) * sides[0]) + 0.5) / sides[0]
        row[k] = bounds[k] + (bounds[k + 2] - bounds[k]) * share
    row[2] = lengths[int(uniform(random) * len(lengths))] * scale
    row[3] = np.pi * int(uniform(random) * sides[1]) / sides[1]


@kernel
def sample_rows(
    first: Any, start: Any, xy: Any, tag: Any, maps: Any, scale: Any, seeds: Any, begin: Any, count: Any,
    box: Any, seams: Any, whole: bool, options: Any, sides: Any, lengths: Any, out: Any,
) -> None:  # fmt: skip
    """Rows begin[c] .. begin[c] + count[c] of the samples of each cloth c, one after the other.

    `options` = shares of the grid and of seams, standard deviations of centre and angle.
    """
    found, bounds, random = np.empty((32, FRAME)), np.empty(4), np.empty(1, np.uint64)
    at = 0
    for c in range(len(scale)):
        if count[c] == 0:
            continue
        a, z = first[c], first[c + 1]
        k = frames(start[a : z + 1], xy, tag, maps[a:z], scale[c], whole, found)
        bounds[0] = bounds[1] = np.inf
        bounds[2] = bounds[3] = -np.inf
        for i in range(start[a], start[z]):
            bounds[0], bounds[1] = min(bounds[0], xy[i, 0]), min(bounds[1], xy[i, 1])
            bounds[2], bounds[3] = max(bounds[2], xy[i, 0]), max(bounds[3], xy[i, 1])
        for i in range(begin[c], begin[c] + count[c]):
            random[0] = (seeds[c] ^ (np.uint64(i) * STREAM)) * STREAM
            row = out[at]
            at += 1
            if len(box) == 0 or uniform(random) < options[0]:
                _from_grid(bounds, scale[c], sides, lengths, random, row)
                continue
            if len(seams) > 0 and k > 1 and uniform(random) < options[1]:
                chosen = seams[int(uniform(random) * len(seams))]
                _place(found[1 + int(uniform(random) * (k - 1))], chosen, row)
            else:
                _place(found[0], box[int(uniform(random) * len(box))], row)
            row[0] += options[2] * scale[c] * _normal(random)
            row[1] += options[2] * scale[c] * _normal(random)
            row[2] *= np.exp(LONGER_BY + LONGER_SPREAD * _normal(random))
            row[3] = (row[3] + options[3] * _normal(random)) % np.pi
