"""Which folds to consider: near those that people have shown, wherever they would be on this cloth.

A demonstrated fold is remembered in the frame of the cloth's *largest polygon* (its box, along the garment's axes) and,
if it ran beside a seam, relative to that seam: seams tell where a sleeve begins on garments whose sides slant. Samples
are normal around all remembered folds, whatever their step, with a share taken from a uniform grid over the bounding
box. A proposal without exemplars is the grid alone: the baseline of random folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Literal

import numpy as np

from meip.documents import document
from meip.errors import WorldError
from meip.worlds.folding.cloth import SEAM, Cloth, Floats
from meip.worlds.folding.folds import Fold, fold_many, pile
from meip.worlds.folding.kernel import ENDS_INSIDE, FOLDED

__all__ = ["Frame", "Proposal", "box_frame", "grid", "learn_proposal", "propose", "seam_frames"]

Four = tuple[float, float, float, float]

LONGER = (1.3, 1.7)  # a segment that ends inside the cloth is tried again this much longer
BESIDE = 0.35  # a fold whose centre is this near a seam (times the scale) ..
ALONG = np.radians(40.0)  # .. and at less than this angle to it is remembered relative to it as well
UPRIGHT = 0.6  # cosine between a side's seam and the garment's vertical, at least
ROUNDS = 4  # of sampling, while there are too few legal folds
CENTRES, ANGLES, LENGTHS = 15, 12, (0.25, 0.5, 1.0, 2.0)  # of the grid: per side, per half turn, in units of the scale


@dataclass(frozen=True, eq=False)
class Frame:
    """Coordinates on the table: point = origin + axes @ (unit * local)."""

    origin: Floats  # [2]
    axes: Floats  # [2, 2] orthonormal columns (a reflection where the cloth is turned over)
    unit: Floats  # [2]

    def to_local(self, folds: Floats) -> Floats:
        """Segments [n, 4] as centre and half-vector in this frame, [n, 4]."""
        half = folds[:, 2:3] * np.stack([np.cos(folds[:, 3]), np.sin(folds[:, 3])], axis=1)
        return np.hstack([(folds[:, :2] - self.origin) @ self.axes / self.unit, half @ self.axes / self.unit])

    def to_table(self, local: Floats) -> Floats:
        """The inverse of `to_local`, with theta in [0, pi)."""
        centre = self.origin + (local[:, :2] * self.unit) @ self.axes.T
        half = (local[:, 2:] * self.unit) @ self.axes.T
        theta = np.arctan2(half[:, 1], half[:, 0]) % np.pi
        return np.column_stack([centre, np.hypot(half[:, 0], half[:, 1]), theta])


def box_frame(cloth: Cloth, of: str = "polygon") -> Frame:
    """The box of the largest polygon along the garment's axes, or of the whole cloth along the table's (ablation)."""
    if of == "cloth":
        axes, points = np.eye(2), cloth.xy
    else:
        layer = cloth[cloth.largest]
        axes, points = layer.affine[:, :2], layer.polygon
    local = points @ axes
    low, high = local.min(axis=0), local.max(axis=0)
    return Frame((low + high) / 2 @ axes.T, axes, (high - low) / 2)


def seam_frames(cloth: Cloth) -> list[Frame]:
    """A frame per seam up the sides of the largest polygon: first axis along it (upwards), second axis outwards."""
    layer = cloth[cloth.largest]
    seam, n = layer.tags == SEAM, len(layer.tags)
    up = layer.affine[:, 1]
    frames = []
    for i in range(n):
        if not seam[i] or seam[i - 1]:
            continue
        j = i
        while seam[j % n] and j < i + n:
            j += 1
        a, b = layer.polygon[i], layer.polygon[j % n]
        along = (b - a) / max(float(np.hypot(*(b - a))), 1e-12)
        if abs(along @ up) < UPRIGHT:
            continue  # a hood's: folds beside a sleeve say nothing about it
        out = np.array([along[1], -along[0]])  # counter-clockwise: outside is on the right
        along = along if along @ up >= 0 else -along
        frames.append(Frame((a + b) / 2, np.column_stack([along, out]), np.full(2, cloth.scale)))
    return frames


@document("proposal")
@dataclass(frozen=True)
class Proposal:
    """Remembered folds and how far to stray from them. Without any: folds from the uniform grid only."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "allow_inf_nan": False}

    box: tuple[Four, ...] = ()
    """Folds in the frame of the largest polygon: centre and half-vector."""
    seams: tuple[Four, ...] = ()
    """Folds relative to a seam."""
    frame: Literal["polygon", "cloth"] = "polygon"
    uniform: float = 0.05
    """Share of samples from the grid."""
    seam_share: float = 0.3
    """Share of the other samples that are relative to a seam, where there is one."""
    spread: float = 0.03
    """Standard deviation of the centre, times the root of the garment's area."""
    turn: float = 0.05
    """Standard deviation of the angle, in radians."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "box", tuple(tuple(float(v) for v in four) for four in self.box))
        object.__setattr__(self, "seams", tuple(tuple(float(v) for v in four) for four in self.seams))
        if not 0 <= self.uniform <= 1 or not 0 <= self.seam_share <= 1:
            raise WorldError(f"shares lie between 0 and 1, got uniform={self.uniform}, seam_share={self.seam_share}")
        if self.spread < 0 or self.turn < 0:
            raise WorldError(f"standard deviations are not negative, got spread={self.spread}, turn={self.turn}")

    @cached_property
    def _box_rows(self) -> Floats:
        return np.array(self.box)

    @cached_property
    def _seam_rows(self) -> Floats:
        return np.array(self.seams)

    def sample(self, cloth: Cloth, n: int, rng: np.random.Generator) -> Floats:
        """n folding segments [n, 4], legal or not."""
        free = rng.random(n) < self.uniform if self.box else np.ones(n, dtype=np.bool_)
        found = np.empty((n, 4))
        found[free] = _from_grid(cloth, int(free.sum()), rng)
        frames = seam_frames(cloth) if self.seams else []
        by_seam = ~free & (rng.random(n) < self.seam_share) & bool(frames)
        by_box = ~free & ~by_seam
        if by_box.any():
            chosen = self._box_rows[rng.integers(len(self.box), size=int(by_box.sum()))]
            found[by_box] = box_frame(cloth, self.frame).to_table(chosen)
        if by_seam.any():
            count = int(by_seam.sum())
            chosen = self._seam_rows[rng.integers(len(self.seams), size=count)]
            which = rng.integers(len(frames), size=count)
            rows = np.flatnonzero(by_seam)
            for k, frame in enumerate(frames):
                found[rows[which == k]] = frame.to_table(chosen[which == k])
        near = ~free
        count = int(near.sum())
        found[near, :2] += rng.normal(0.0, self.spread * cloth.scale, (count, 2))
        found[near, 2] *= np.exp(rng.normal(0.05, 0.05, count))
        found[near, 3] = (found[near, 3] + rng.normal(0.0, self.turn, count)) % np.pi
        return found


def grid(cloth: Cloth, centres: int = CENTRES, angles: int = ANGLES, lengths: Sequence[float] = LENGTHS) -> Floats:
    """The uniform grid of segments over the bounding box, [n, 4]."""
    x0, y0, x1, y1 = cloth.bounds
    inner = (np.arange(centres) + 0.5) / centres
    axes = [x0 + (x1 - x0) * inner, y0 + (y1 - y0) * inner, np.array(lengths) * cloth.scale,
            np.pi * np.arange(angles) / angles]  # fmt: skip
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)


def _from_grid(cloth: Cloth, n: int, rng: np.random.Generator) -> Floats:
    """Places of the grid at random, without making the grid."""
    x0, y0, x1, y1 = cloth.bounds
    at = (rng.integers(CENTRES, size=(n, 2)) + 0.5) / CENTRES
    r = np.array(LENGTHS)[rng.integers(len(LENGTHS), size=n)] * cloth.scale
    theta = np.pi * rng.integers(ANGLES, size=n) / ANGLES
    return np.column_stack([x0 + (x1 - x0) * at[:, 0], y0 + (y1 - y0) * at[:, 1], r, theta])


def learn_proposal(
    shown: Iterable[tuple[Sequence[Cloth], Sequence[Fold]]], *, frame: Literal["polygon", "cloth"] = "polygon",
    **options: float,
) -> Proposal:  # fmt: skip
    """The proposal that remembers the folds of these plans (states and actions), whatever their step."""
    box: list[Four] = []
    seams: list[Four] = []
    for states, actions in shown:
        for cloth, action in zip(states, actions, strict=False):
            row = np.array([action], dtype=np.float64)
            box.append(tuple(box_frame(cloth, frame).to_local(row)[0].tolist()))
            for one in seam_frames(cloth):
                local = one.to_local(row)[0]
                angle = np.arctan2(abs(local[3]), abs(local[2]))
                if np.hypot(local[0], local[1]) < BESIDE and angle < ALONG:
                    seams.append(tuple(local.tolist()))
    return Proposal(tuple(box), tuple(seams), frame, **options)


def propose(cloth: Cloth, proposal: Proposal, n: int, rng: np.random.Generator) -> list[tuple[Fold, Cloth]]:
    """Up to n legal folds with different results, and what they result in."""
    found: dict[Cloth, Fold] = {}
    for _ in range(ROUNDS):
        for action, after in _legal(cloth, proposal.sample(cloth, n + n // 2, rng)):
            found.setdefault(after, action)
            if len(found) == n:
                return [(action, after) for after, action in found.items()]
    return [(action, after) for after, action in found.items()]


def _legal(cloth: Cloth, actions: Floats) -> Iterator[tuple[Fold, Cloth]]:
    """The folds that can be made, in order; a segment that ends inside the cloth is made longer."""
    source = pile([cloth])
    codes, after = fold_many(source, actions)
    results = {int(k): (after, int(k)) for k in np.flatnonzero(codes == FOLDED)}
    short = np.flatnonzero(codes == ENDS_INSIDE)
    for factor in LONGER:
        if len(short) == 0:
            break
        longer = actions[short] * [1.0, 1.0, factor, 1.0]
        codes, after = fold_many(source, longer)
        for k in np.flatnonzero(codes == FOLDED).tolist():
            actions[short[k]] = longer[k]
            results[int(short[k])] = (after, k)
        short = short[codes == ENDS_INSIDE]
    for row in sorted(results):
        x, y, r, theta = actions[row].tolist()
        cloths, k = results[row]
        yield (x, y, r, theta), cloths[k]
