"""Which folds to consider: near those that people have shown, wherever they would be on this cloth.

A demonstrated fold is remembered in the frame of the cloth's *largest polygon* (its box, along the garment's axes) and,
if it ran beside a seam, relative to its middle: seams tell where a sleeve begins on garments whose sides slant. Samples
are normal around all remembered folds, whatever their step, with a share taken from a uniform grid over the bounding
box. A proposal without exemplars is the grid alone: the baseline of random folds.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Floats
from meip.base.documents import document
from meip.base.errors import WorldError
from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.folds import Fold, Pile, fold_many, pile
from meip.worlds.folding.kernel import FOLDED
from meip.worlds.folding.sampling import FRAME, frames, sample_rows

__all__ = [
    "Frame", "Proposal", "Proposed", "box_frame", "find_folds", "grid", "learn_proposal", "propose", "seam_frames",
]  # fmt: skip

Four = tuple[float, float, float, float]

LONGER = (1.3, 1.7)  # a segment that ends inside the cloth is tried again this much longer
BESIDE = 0.35  # a fold whose centre is this near a seam (times the scale) ..
ALONG = np.radians(40.0)  # .. and at less than this angle to the garment's vertical is remembered beside it as well
ROUNDS = 6  # samples per fold that is asked for, at most: where few are legal there are fewer folds
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
    return _frames(cloth, of == "cloth")[0]


def seam_frames(cloth: Cloth) -> list[Frame]:
    """A frame per seam up the sides of the largest polygon: first axis up the garment, second axis outwards."""
    return _frames(cloth, False)[1:]


def _frames(cloth: Cloth, whole: bool) -> list[Frame]:
    rows = np.empty((len(cloth.tag) + 1, FRAME))
    count = frames(cloth.start, cloth.xy, cloth.tag, cloth.maps, cloth.scale, whole, rows)
    return [Frame(row[:2], row[2:6].reshape(2, 2), row[6:]) for row in rows[:count]]


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
    def _numbers(self) -> tuple[Any, Any, bool, Any, Any, Any]:
        """In the form that the kernel reads."""
        box, seams = (np.array(four, dtype=np.float64).reshape(-1, 4) for four in (self.box, self.seams))
        shares = np.array([self.uniform, self.seam_share, self.spread, self.turn])
        return box, seams, self.frame == "cloth", shares, np.array([CENTRES, ANGLES]), np.array(LENGTHS)

    def sample(self, cloths: Pile, seeds: ArrayLike, begin: ArrayLike, count: ArrayLike) -> Floats:
        """Folding segments [n, 4], legal or not: rows begin .. begin + count of each cloth's samples, in order."""
        counts = np.asarray(count, dtype=np.int64)
        found = np.empty((int(counts.sum()), 4))
        places = np.asarray(seeds, dtype=np.uint64), np.asarray(begin, dtype=np.int64), counts
        sample_rows(
            cloths.first, cloths.start, cloths.xy, cloths.tag, cloths.maps, cloths.scale, *places, *self._numbers, found
        )
        return found


def grid(cloth: Cloth, centres: int = CENTRES, angles: int = ANGLES, lengths: Sequence[float] = LENGTHS) -> Floats:
    """The uniform grid of segments over the bounding box, [n, 4]."""
    x0, y0, x1, y1 = cloth.bounds
    inner = (np.arange(centres) + 0.5) / centres
    axes = [x0 + (x1 - x0) * inner, y0 + (y1 - y0) * inner, np.array(lengths) * cloth.scale,
            np.pi * np.arange(angles) / angles]  # fmt: skip
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 4)


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


class Proposed:
    """The folds of one cloth with different results, in the order of its samples, found as they are asked for."""

    __slots__ = ("cloth", "folds", "seed", "tried")

    def __init__(self, cloth: Cloth, seed: int) -> None:
        self.cloth = cloth
        self.seed = seed
        self.tried = 0
        self.folds: dict[Cloth, Fold] = {}  # what a fold results in -> the fold

    def list(self, n: int) -> list[tuple[Fold, Cloth]]:
        return [(action, after) for after, action in islice(self.folds.items(), n)]


def find_folds(proposal: Proposal, lists: Sequence[Proposed], counts: Sequence[int], most: int) -> None:
    """Lengthen each list to this many folds, all of them together; `most` is as many as it will ever be asked for.

    A list that is shorter after that has all that there are.
    """
    limit = ROUNDS * most
    while True:
        wanted = [
            (one, min(limit - one.tried, lack + (lack + 1) // 2))
            for one, n in zip(lists, counts, strict=True)
            if (lack := n - len(one.folds)) > 0 and one.tried < limit
        ]
        if not wanted:
            return
        rows = [n for _, n in wanted]
        source = pile([one.cloth for one, _ in wanted])
        actions = proposal.sample(source, [one.seed for one, _ in wanted], [one.tried for one, _ in wanted], rows)
        which = np.repeat(np.arange(len(wanted)), rows)
        codes, after = fold_many(source, actions, which, longer=LONGER)
        legal = np.flatnonzero(codes == FOLDED).tolist()
        owners = [wanted[c][0] for c in which[legal].tolist()]
        for one, action, cloth in zip(owners, actions[legal].tolist(), after.take(legal), strict=True):
            if len(one.folds) < most:
                one.folds.setdefault(cloth, tuple(action))
        for one, n in wanted:
            one.tried += n


def propose(cloth: Cloth, proposal: Proposal, n: int, rng: np.random.Generator) -> list[tuple[Fold, Cloth]]:
    """Up to n legal folds with different results, and what they result in."""
    found = Proposed(cloth, int(rng.integers(2**63)))
    find_folds(proposal, [found], [n], n)
    return found.list(n)
