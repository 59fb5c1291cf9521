"""Folding one cloth, and many at once.

A folding segment is (x, y, r, theta): centre, half-length and angle. It creases exactly the chords of the silhouette
that it contains and may not end inside the cloth; only what hangs on those chords moves. The side with the smaller
summed area goes to the back, in reverse order. Nothing is ever unfolded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from meip.base.errors import WorldError
from meip.base.kernels import kernel
from meip.worlds.folding.cloth import ROUNDING, Cloth
from meip.worlds.folding.kernel import ENDS_INSIDE, FOLDED, MISSES, TEARS, UNSTABLE, cut, workspace
from meip.worlds.folding.spread import smaller_side, spread_sides, turn_over

__all__ = ["Fold", "Pile", "fold", "fold_many", "pile"]

Fold = tuple[float, float, float, float]


@dataclass(frozen=True, eq=False)
class Pile:
    """Many cloths as one struct of arrays: what folds, outlines and fluents work on in batches."""

    first: NDArray[np.int64]  # [N + 1] where each cloth's layers start
    start: NDArray[np.int32]  # [L + 1] where each layer's vertices start
    xy: NDArray[np.float64]  # [V, 2]
    tag: NDArray[np.uint8]  # [V]
    label: NDArray[np.int32]  # [L, 2] part, face
    maps: NDArray[np.float64]  # [L, 2, 3]
    scale: NDArray[np.float64]  # [N]
    parts: tuple[tuple[str, ...], ...]  # [N]

    def __post_init__(self) -> None:
        for array in (self.first, self.start, self.xy, self.tag, self.label, self.maps, self.scale):
            array.flags.writeable = False

    def __len__(self) -> int:
        return len(self.scale)

    def __getitem__(self, i: int) -> Cloth:
        a, b = self.first[i], self.first[i + 1]
        v, w = self.start[a], self.start[b]
        return Cloth(
            self.start[a : b + 1] - v, self.xy[v:w], self.tag[v:w], self.label[a:b], self.maps[a:b],
            self.parts[i], float(self.scale[i]),
        )  # fmt: skip

    def take(self, rows: Sequence[int]) -> Iterator[Cloth]:
        """These cloths one by one, with their keys made together."""
        first, start = self.first.tolist(), self.start.tolist()
        unit = np.repeat(1.0 / (ROUNDING * self.scale), np.diff(self.start[self.first]))
        rounded = np.round(self.xy * unit[:, None]).astype(np.int64)
        for i in rows:
            a, b = first[i], first[i + 1]
            v, w = start[a], start[b]
            own, tag, label = self.start[a : b + 1] - v, self.tag[v:w], self.label[a:b]
            cloth = Cloth(own, self.xy[v:w], tag, label, self.maps[a:b], self.parts[i], float(self.scale[i]))
            cloth.know_key(rounded[v:w])
            yield cloth


def pile(cloths: Sequence[Cloth]) -> Pile:
    """Put cloths side by side."""
    sizes = np.array([0] + [len(c.xy) for c in cloths], dtype=np.int32).cumsum(dtype=np.int32)
    return Pile(
        np.array([0] + [len(c.label) for c in cloths], dtype=np.int64).cumsum(),
        np.concatenate([c.start[:-1] + v for c, v in zip(cloths, sizes, strict=False)] + [sizes[-1:]]),
        np.concatenate([c.xy for c in cloths]),
        np.concatenate([c.tag for c in cloths]),
        np.concatenate([c.label for c in cloths]),
        np.concatenate([c.maps for c in cloths]),
        np.array([c.scale for c in cloths]),
        tuple(c.parts for c in cloths),
    )


@kernel
def _fold_one(start: Any, xy: Any, tag: Any, maps: Any, line: Any, r: float, scale: float, work: Any) -> Any:
    """Cut and decide: (code, pieces, side that moves). Where rounding spoils the order of ends, snap more."""
    code, p, n, picked = UNSTABLE, 0, 0, 0
    for snap in (1e-9, 1e-7, 1e-5):
        code, p, n, picked = cut(xy, tag, start, line, r, scale, snap, work)
        if code != UNSTABLE:
            break
    if code == FOLDED and picked < n:
        code = spread_sides(work[3], p, line, maps, work[2], n, scale)
    side = 0
    if code == FOLDED:
        code, side = smaller_side(work[3], p)
    return code, p, side


@kernel
def _fold_many(
    first: Any, start: Any, xy: Any, tag: Any, label: Any, maps: Any, scale: Any, which: Any, actions: Any, longer: Any,
    lengths: Any, codes: Any, ends: Any, new_start: Any, new_xy: Any, new_tag: Any, new_label: Any, new_maps: Any,
) -> int:  # fmt: skip
    """Fold cloth which[b] along actions[b], for all b, into the new arrays (no layers where not folded).

    A segment that ends inside the cloth is tried again this much `longer`, and its action changed if that helps.
    Returns the number of new layers, or -1 where they do not fit.
    """
    most_v = most_l = 1
    for b in range(len(which)):
        a, z = first[which[b]], first[which[b] + 1]
        most_v, most_l = max(most_v, start[z] - start[a]), max(most_l, z - a)
    work = workspace(most_v, most_l)
    out = (new_start, new_xy, new_tag, new_label, new_maps)
    at, v = 0, 0
    new_start[0], ends[0] = 0, 0
    for b in range(len(which)):
        a, z = first[which[b]], first[which[b] + 1]
        line = (actions[b, 0], actions[b, 1], np.cos(actions[b, 3]), np.sin(actions[b, 3]))
        layers, isometries, r = start[a : z + 1], maps[a:z], actions[b, 2]
        code, p, side = _fold_one(layers, xy, tag, isometries, line, r, scale[which[b]], work)
        for factor in longer:
            if code == ENDS_INSIDE:
                r = factor * actions[b, 2]
                code, p, side = _fold_one(layers, xy, tag, isometries, line, r, scale[which[b]], work)
        codes[b] = code
        if code == FOLDED:
            lengths[b] = r
            if at + p > len(new_label) or v + work[3].start[p] > len(new_tag):
                return -1
            at = turn_over(work[3], p, side, line, label[a:z], maps[a:z], out, at, v)
            v = new_start[at]
        ends[b + 1] = at
    return at


def _run(
    first: Any, start: Any, xy: Any, tag: Any, label: Any, maps: Any, scale: Any, which: Any, actions: Any, longer: Any
) -> Any:
    """`_fold_many` with room for its results: twice what went in, then more where that is not enough."""
    count = len(which)
    layers = int(2 * (first[1:] - first[:-1])[which].sum()) + 8
    vertices = int(2 * (start[first[1:]] - start[first[:-1]])[which].sum()) + 8
    codes, ends, lengths = np.empty(count, np.int64), np.empty(count + 1, np.int64), actions[:, 2].copy()
    while True:
        new_start, new_label, new_maps = (
            np.empty(layers + 1, np.int32), np.empty((layers, 2), np.int32), np.empty((layers, 2, 3)),
        )  # fmt: skip
        new_xy, new_tag = np.empty((vertices, 2)), np.empty(vertices, np.uint8)
        at = _fold_many(
            first, start, xy, tag, label, maps, scale, which, actions, longer, lengths, codes, ends, new_start,
            new_xy, new_tag, new_label, new_maps,
        )  # fmt: skip
        if at >= 0:
            v = new_start[at]
            if len(longer):
                actions[:, 2] = lengths
            return codes, ends, new_start[: at + 1], new_xy[:v], new_tag[:v], new_label[:at], new_maps[:at]
        layers, vertices = 2 * layers, 2 * vertices


@kernel
def _fold_single(
    start: Any, xy: Any, tag: Any, label: Any, maps: Any, scale: float, x: float, y: float, r: float, theta: float
) -> Any:
    """One fold with as few arrays in and out as possible: their crossing into compiled code is what costs."""
    work = workspace(len(tag), len(label))
    line = (x, y, np.cos(theta), np.sin(theta))
    code, p, side = _fold_one(start, xy, tag, maps, line, r, scale, work)
    layers, vertices = (p, work[3].start[p]) if code == FOLDED else (0, 0)
    new_start, new_label, new_maps = (
        np.empty(layers + 1, np.int32), np.empty((layers, 2), np.int32), np.empty((layers, 2, 3)),
    )  # fmt: skip
    new_xy, new_tag = np.empty((vertices, 2)), np.empty(vertices, np.uint8)
    if code == FOLDED:
        turn_over(work[3], p, side, line, label, maps, (new_start, new_xy, new_tag, new_label, new_maps), 0, 0)
    return code, new_start, new_xy, new_tag, new_label, new_maps


def fold(cloth: Cloth, action: Sequence[float]) -> Cloth:
    """The cloth after one fold; `WorldError` in words where the segment misses the cloth or ends inside it."""
    try:
        x, y, r, theta = map(float, action)
    except (TypeError, ValueError):
        x = y = r = theta = nan
    if not (isfinite(x) and isfinite(y) and isfinite(theta) and 0 < r < inf):
        raise WorldError(f"{action!r} is not a folding segment: expected four finite numbers (x, y, r, theta), r > 0")
    code, start, xy, tag, label, maps = _fold_single(
        cloth.start, cloth.xy, cloth.tag, cloth.label, cloth.maps, cloth.scale, x, y, r, theta
    )
    if code != FOLDED:
        raise WorldError(_words(code, (x, y, r, theta)))
    return Cloth(start, xy, tag, label, maps, cloth.parts, cloth.scale)


def fold_many(
    cloths: Cloth | Pile, actions: ArrayLike, which: ArrayLike | None = None, *, longer: Sequence[float] = ()
) -> tuple[NDArray[np.int64], Pile]:
    """Fold in a batch: (codes [B], cloths [B]); a cloth has no layers where its code is not `kernel.FOLDED`.

    Actions [B, 4] on one cloth, or on the cloths of a pile, of which `which` [B] says which (default: one each).
    A segment that ends inside the cloth is tried again by each factor `longer`; an array of actions then has its new r.
    """
    source = pile([cloths]) if isinstance(cloths, Cloth) else cloths
    rows = np.ascontiguousarray(np.asarray(actions, dtype=np.float64).reshape(-1, 4))
    if which is None:
        index = np.zeros(len(rows), dtype=np.int64) if len(source) == 1 else np.arange(len(source))
    else:
        index = np.asarray(which, dtype=np.int64)
    if len(index) != len(rows):
        raise WorldError(
            f"{len(rows)} folds for {len(index)} cloths; give one fold per cloth, or say which with `which`"
        )
    codes, ends, start, xy, tag, label, maps = _run(
        source.first,
        source.start,
        source.xy,
        source.tag,
        source.label,
        source.maps,
        source.scale,
        index,
        rows,
        np.array(longer, dtype=np.float64),
    )
    parts = tuple(source.parts[i] for i in index)
    return codes, Pile(ends, start, xy, tag, label, maps, source.scale[index], parts)


def _words(code: int, action: Fold) -> str:
    x, y, r, theta = action
    name = f"the folding segment (x={x:.6g}, y={y:.6g}, r={r:.6g}, theta={theta:.6g})"
    return {
        MISSES: f"{name} misses the cloth: it contains no chord of it; move or lengthen it",
        ENDS_INSIDE: f"{name} ends inside the cloth; lengthen it to reach over the outline",
        TEARS: f"{name} would tear the cloth: both of its sides hang together elsewhere; fold along another line",
        UNSTABLE: f"{name} runs along edges that nearly coincide with it; move it a little",
    }[code]
