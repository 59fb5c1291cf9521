"""Orders to be learned, as chains of states, and sums over their pairs without listing the pairs.

In a chain every later state should outrank every earlier one; a chain of n states stands for n(n-1)/2 pairs. Which of
them are active (not yet apart by a margin) depends on the scores; sums over the active ones are counted while
merge-sorting the chain by score, in O(n log n). A single pair is a chain of two, a plan to avoid is a chain in reverse.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Floats, Ints
from meip.base.errors import LearningError
from meip.base.kernels import kernel

__all__ = [
    "RankedPairs", "active_partners", "active_sums", "combination", "combine", "demonstration_pairs",
    "first_deviation_pairs", "gram", "literal_pairs", "same_step_pairs",
]  # fmt: skip


BLOCK = 8  # states that are compared pair by pair before merging starts
DEMONSTRATION_WEIGHT = 100.0


@dataclass(frozen=True)
class RankedPairs:
    """Orders to be learned: within chain c, items[starts[c]:starts[c+1]], later states should outrank earlier ones."""

    items: Ints  # [T] state ids (rows of the features)
    starts: Ints  # [N + 1]
    weights: Floats  # [N] of every pair of the chain

    def __post_init__(self) -> None:
        for name, dtype in (("items", np.int64), ("starts", np.int64), ("weights", np.float64)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        starts, steps = self.starts, np.diff(self.starts)
        if starts.size == 0 or starts[0] != 0 or starts[-1] != self.items.size or (steps < 0).any():
            raise LearningError(f"starts of chains must rise from 0 to the number of items, {self.items.size}")
        if self.weights.shape != steps.shape or not np.isfinite(self.weights).all() or (self.weights < 0).any():
            raise LearningError(f"{steps.size} chains need as many weights, finite and at least 0")

    @property
    def pairs(self) -> int:
        """How many pairs the chains stand for."""
        sizes = np.diff(self.starts)
        return int((sizes * (sizes - 1) // 2).sum())


def demonstration_pairs(plans: ArrayLike, lengths: ArrayLike, weight: float = DEMONSTRATION_WEIGHT) -> RankedPairs:
    """Each state of a demonstration outranks the ones before it. plans [N, H] state ids padded with -1, lengths [N]."""
    rows, sizes = _plans(plans, lengths)
    return _chains([row[:h] for row, h in zip(rows, sizes, strict=True)], weight)


def first_deviation_pairs(
    demonstrations: ArrayLike,
    demonstration_lengths: ArrayLike,
    generated: ArrayLike,
    generated_lengths: ArrayLike,
    weight: float = 1.0,
) -> RankedPairs:
    """For each generated plan, its first state that was never demonstrated ranks below all states on the way to it.

    Pairs later in the plan say nothing: once off the path, a plan may well do the right thing. Equal pairs are merged,
    their weights added. Ids may stand for states or for classes of states that the concepts cannot tell apart.
    """
    demos, demo_sizes = _plans(demonstrations, demonstration_lengths)
    shown = {int(s) for row, h in zip(demos, demo_sizes, strict=True) for s in row[:h]}
    found: list[tuple[int, int]] = []
    for row, h in zip(*_plans(generated, generated_lengths), strict=True):
        plan = row[:h].tolist()
        place = next((i for i, state in enumerate(plan) if state not in shown), 0)
        found.extend((plan[place], earlier) for earlier in plan[:place])
    return _merged(np.array(found, dtype=np.int64), weight)


def literal_pairs(
    demonstrations: ArrayLike, demonstration_lengths: ArrayLike, generated: ArrayLike, generated_lengths: ArrayLike
) -> RankedPairs:
    """The three families of labels as the paper prints them, all of one weight: demonstrations rise, generated plans
    fall, and a demonstrated state outranks a generated one of the same step.

    A generated plan that equals a demonstration cancels it.
    """
    shown, made = _plans(demonstrations, demonstration_lengths), _plans(generated, generated_lengths)
    backward = _chains([row[:h][::-1] for row, h in zip(*made, strict=True)], 1.0)
    return combine(demonstration_pairs(*shown, 1.0), backward, same_step_pairs(*shown, *made))


def same_step_pairs(
    demonstrations: ArrayLike, demonstration_lengths: ArrayLike, generated: ArrayLike, generated_lengths: ArrayLike
) -> RankedPairs:
    """A demonstrated state outranks each generated one of the same step; equal pairs are merged, their weights added.

    A state is not compared with itself: whatever its rank, that pair would cost the same.
    """
    shown, shown_sizes = _plans(demonstrations, demonstration_lengths)
    made, made_sizes = _plans(generated, generated_lengths)
    found = []
    for step in range(min(shown.shape[1], made.shape[1])):
        above, below = shown[shown_sizes > step, step], made[made_sizes > step, step]
        low, high = np.meshgrid(below, above)
        found.append(np.stack([low.ravel(), high.ravel()], axis=1)[low.ravel() != high.ravel()])
    return _merged(np.concatenate(found) if found else np.zeros((0, 2), np.int64), 1.0)


def _merged(pairs: Ints, weight: float) -> RankedPairs:
    """Chains of two (earlier, later), equal ones as one with the sum of their weights."""
    if not len(pairs):
        return _chains([], weight)
    distinct, counts = np.unique(pairs, axis=0, return_counts=True)
    return RankedPairs(distinct.ravel(), np.arange(0, distinct.size + 1, 2), weight * counts.astype(np.float64))


def combine(*parts: RankedPairs) -> RankedPairs:
    """All chains of several sets."""
    items = np.concatenate([part.items for part in parts])
    sizes = np.concatenate([np.diff(part.starts) for part in parts])
    weights = np.concatenate([part.weights for part in parts])
    return RankedPairs(items, np.concatenate(([0], np.cumsum(sizes))), weights)


def _plans(plans: ArrayLike, lengths: ArrayLike) -> tuple[Ints, Ints]:
    rows, sizes = np.asarray(plans, dtype=np.int64), np.asarray(lengths, dtype=np.int64)
    if rows.ndim != 2 or sizes.shape != (rows.shape[0],) or (sizes < 0).any() or (sizes > rows.shape[1]).any():
        raise LearningError(f"plans must be [N, H] and lengths [N] up to H, got {rows.shape} and {sizes.shape}")
    return rows, sizes


def _chains(rows: list[Ints], weight: float) -> RankedPairs:
    sizes = np.array([row.size for row in rows], dtype=np.int64)
    items = np.concatenate(rows) if rows else np.zeros(0, dtype=np.int64)
    return RankedPairs(items, np.concatenate(([0], np.cumsum(sizes))), np.full(sizes.size, weight))


@kernel
def active_sums(
    items: Ints, starts: Ints, weights: Floats, scores: Floats, margin: float, slope: Floats
) -> tuple[float, float]:
    """Over all pairs of the chains with z = margin - (score of the later - score of the earlier) > 0: the weighted sums
    of z and z^2; the derivative of 1/2 sum z^2 by the scores is added to slope [S]."""
    hinge, squared = 0.0, 0.0
    for c in range(weights.shape[0]):
        names = items[starts[c] : starts[c + 1]]
        values, places, spare_values, spare_places = _unsorted(names, scores)
        own = np.zeros(names.shape[0])
        one, two = 0.0, 0.0
        for low in range(0, names.shape[0], BLOCK):
            high = min(low + BLOCK, names.shape[0])
            for i in range(low + 1, high):
                for j in range(low, i):
                    z = max(margin - values[i] + values[j], 0.0)
                    one += z
                    two += z * z
                    own[i] -= z
                    own[j] += z
            _sort_block(values, places, low, high)
        size = BLOCK
        while size < names.shape[0]:
            for low in range(0, names.shape[0], 2 * size):
                middle, high = min(low + size, names.shape[0]), min(low + 2 * size, names.shape[0])
                more_one, more_two = _cross_sums(values, places, low, middle, high, margin, own)
                one += more_one
                two += more_two
                _merge(values, places, spare_values, spare_places, low, middle, high)
            values, spare_values = spare_values, values
            places, spare_places = spare_places, places
            size *= 2
        hinge += weights[c] * one
        squared += weights[c] * two
        for i in range(names.shape[0]):
            slope[names[i]] += weights[c] * own[i]
    return hinge, squared


@kernel
def _unsorted(names: Ints, scores: Floats) -> tuple[Floats, Ints, Floats, Ints]:
    """Scores (from the first one's) and places of a chain's states, and room to merge them into."""
    n = names.shape[0]
    values = np.empty(n)
    for i in range(n):
        values[i] = scores[names[i]] - scores[names[0]]
    return values, np.arange(n), np.empty(n), np.empty(n, np.int64)


@kernel
def _cross_sums(
    values: Floats, places: Ints, low: int, middle: int, high: int, margin: float, slope: Floats
) -> tuple[float, float]:
    """The pairs of an earlier state in low:middle and a later one in middle:high, both sorted by value.

    Later states from the highest down see a growing number of earlier ones, and the other way round: sums only grow.
    """
    hinge, squared = 0.0, 0.0
    j, count, total, squares = middle, 0, 0.0, 0.0
    for i in range(high - 1, middle - 1, -1):
        room = margin - values[i]
        while j > low and room + values[j - 1] > 0.0:
            j -= 1
            count += 1
            total += values[j]
            squares += values[j] * values[j]
        part = count * room + total
        hinge += part
        squared += room * (part + total) + squares
        slope[places[i]] -= part
    i, count, total = middle, 0, 0.0
    for j in range(low, middle):
        while i < high and margin - values[i] + values[j] > 0.0:
            count += 1
            total += values[i]
            i += 1
        slope[places[j]] += count * (margin + values[j]) - total
    return hinge, squared


@kernel
def active_partners(
    items: Ints, starts: Ints, weights: Floats, scores: Floats, margin: float, width: float, columns: Floats,
    degree: Floats, partners: Floats,
) -> None:  # fmt: skip
    """The graph of the pairs with 0 < z < width: adds to degree [S] the weight of each state's pairs, and to
    partners [S, K] the weighted columns of the earlier states it is paired with.

    The difference comes first in z, so that equal scores give exactly the margin, which may be the width."""
    for c in range(weights.shape[0]):
        names = items[starts[c] : starts[c + 1]]
        values, places, spare_values, spare_places = _unsorted(names, scores)
        rows = columns[names]  # copied, so that a chain's rows lie together in the cache
        degrees, sums = np.zeros(names.shape[0]), np.zeros(rows.shape)
        for low in range(0, names.shape[0], BLOCK):
            high = min(low + BLOCK, names.shape[0])
            for i in range(low + 1, high):
                for j in range(low, i):
                    if 0.0 < margin - (values[i] - values[j]) < width:
                        degrees[i] += 1.0
                        degrees[j] += 1.0
                        _add_row(sums[i], rows[j], 1.0)
            _sort_block(values, places, low, high)
        size = BLOCK
        while size < names.shape[0]:
            for low in range(0, names.shape[0], 2 * size):
                middle, high = min(low + size, names.shape[0]), min(low + 2 * size, names.shape[0])
                _cross_partners(values, places, low, middle, high, margin, width, rows, degrees, sums)
                _merge(values, places, spare_values, spare_places, low, middle, high)
            values, spare_values = spare_values, values
            places, spare_places = spare_places, places
            size *= 2
        for i in range(names.shape[0]):
            degree[names[i]] += weights[c] * degrees[i]
            _add_row(partners[names[i]], sums[i], weights[c])


@kernel
def _cross_partners(
    values: Floats, places: Ints, low: int, middle: int, high: int, margin: float, width: float, rows: Floats,
    degrees: Floats, sums: Floats,
) -> None:  # fmt: skip
    running = np.zeros(rows.shape[1])
    enters, leaves = middle, middle  # the earlier states within reach of a later one: enters..leaves
    for i in range(high - 1, middle - 1, -1):
        while enters > low and margin - (values[i] - values[enters - 1]) > 0.0:
            enters -= 1
            _add_row(running, rows[places[enters]], 1.0)
            degrees[places[enters]] -= high - 1 - i  # the later states that came before saw nothing of it
        while leaves > enters and margin - (values[i] - values[leaves - 1]) >= width:
            leaves -= 1
            _add_row(running, rows[places[leaves]], -1.0)
            degrees[places[leaves]] += high - 1 - i
        if leaves > enters:
            degrees[places[i]] += leaves - enters
            _add_row(sums[places[i]], running, 1.0)
    for j in range(enters, leaves):
        degrees[places[j]] += high - middle


@kernel
def _add_row(to: Floats, row: Floats, factor: float) -> None:
    for k in range(row.shape[0]):
        to[k] += factor * row[k]


@kernel
def _sort_block(values: Floats, ids: Ints, low: int, high: int) -> None:
    for i in range(low + 1, high):
        value, name, j = values[i], ids[i], i
        while j > low and values[j - 1] > value:
            values[j], ids[j] = values[j - 1], ids[j - 1]
            j -= 1
        values[j], ids[j] = value, name


@kernel
def _merge(values: Floats, ids: Ints, to_values: Floats, to_ids: Ints, low: int, middle: int, high: int) -> None:
    a, b = low, middle
    for k in range(low, high):
        if a < middle and (b >= high or values[a] <= values[b]):
            to_values[k], to_ids[k] = values[a], ids[a]
            a += 1
        else:
            to_values[k], to_ids[k] = values[b], ids[b]
            b += 1


@kernel
def combination(rows: Floats, factors: Floats) -> Floats:
    """The sum of the rows, each times its factor; on one core, see `gram`."""
    total = np.zeros(rows.shape[1])
    for i in range(rows.shape[0]):
        if factors[i] != 0.0:
            _add_row(total, rows[i], factors[i])
    return total


@kernel
def gram(left: Floats, degree: Floats, right: Floats, out: Floats) -> None:
    """Adds left^T (degree left - 2 right) to out [K, K]; on one core, as BLAS would wait for cores that others use."""
    row = np.empty(left.shape[1])
    for s in range(left.shape[0]):
        if degree[s] != 0.0:
            for b in range(left.shape[1]):
                row[b] = degree[s] * left[s, b] - 2.0 * right[s, b]
            for a in range(left.shape[1]):
                factor = left[s, a]
                for b in range(left.shape[1]):
                    out[a, b] += factor * row[b]
