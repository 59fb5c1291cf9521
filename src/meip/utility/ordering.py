"""How well a plan is ordered by a ranking function g: concordance, Kendall tau, relaxed tau, non-Markovian reward.

A plan is its states s_0..s_{h-1}; it has P = h(h-1)/2 pairs. Later states should rank higher:

    tau     = (1/P) sum_{j<i} sgn(g(s_i) - g(s_j))        a difference of at most `tolerance` is a tie and counts 0
    relaxed = (1/P) sum_{j<i} tanh(scale (g(s_i) - g(s_j)))

h is the plan's own length (a fixed normaliser mis-plans stochastic worlds), and the tau of one state is 0.
The batch forms take plans as rows of state ids, padded with -1, and g as a column over state ids.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Floats, Ints
from meip.base.errors import LearningError
from meip.base.kernels import kernel

__all__ = [
    "TOLERANCE", "batch_relaxed", "batch_tau", "concordance", "kendall_tau", "mean_tau", "relaxed_tau", "rewards",
]  # fmt: skip


TOLERANCE = 1e-9
SORT_FROM = 48  # states from which counting by merge sort is faster than the pair loop
EXPONENT_LIMIT = 600.0  # largest spread of 2 * scale * g for which exp(2 * scale * g) neither overflows nor vanishes


def concordance(g: ArrayLike, tolerance: float = TOLERANCE) -> int:
    """Concordant minus discordant pairs of a plan; a pair is concordant if its later state ranks higher."""
    ranks = _ranks(g)
    if ranks.size < SORT_FROM:
        return int(_concordance_pairs(ranks, tolerance))
    return int(_concordance_sorted(ranks, tolerance))


def kendall_tau(g: ArrayLike, tolerance: float = TOLERANCE) -> float:
    """Kendall tau between g and time: 1 if g rises at every step, -1 if it falls, 0 for a plan of one state."""
    ranks = _ranks(g)
    pairs = ranks.size * (ranks.size - 1) // 2
    return concordance(ranks, tolerance) / pairs if pairs else 0.0


def mean_tau(g: Floats) -> float:
    """The members' mean Kendall tau of a plan, g [states, members]."""
    return float(np.mean([kendall_tau(g[:, m]) for m in range(g.shape[1])]))


def relaxed_tau(g: ArrayLike, scale: float = 1.0) -> float:
    """Kendall tau with tanh(scale * difference) in place of the sign: smooth in g, and equal to tau as scale grows."""
    ranks = _ranks(g)
    if ranks.size < 2:
        return 0.0
    plan = np.arange(ranks.size, dtype=np.int64)[None, :]
    return float(batch_relaxed(plan, np.array([ranks.size]), ranks, scale)[0])


def rewards(g: ArrayLike, tolerance: float = TOLERANCE) -> Floats:
    """R(s_i | history) = (1/P) sum_{j<i} sgn(g(s_i) - g(s_j)), one per state; they add up to tau.

    The paper prints the opposite sign in one place; its definition of concordance decides.
    """
    ranks = _ranks(g)
    pairs = max(ranks.size * (ranks.size - 1) // 2, 1)
    return np.asarray(_step_signs(ranks, tolerance) / pairs, dtype=np.float64)


def batch_tau(plans: ArrayLike, lengths: ArrayLike, g: ArrayLike, tolerance: float = TOLERANCE) -> Floats:
    """Kendall tau of each plan. plans [N, H] state ids padded with -1, lengths [N], g [S]; returns [N]."""
    rows, sizes, ranks = _batch(plans, lengths, g)
    values = np.empty(sizes.size)
    _check(_tau_kernel(rows, sizes, ranks, tolerance, values), rows, sizes, ranks)
    return values


def batch_relaxed(plans: ArrayLike, lengths: ArrayLike, g: ArrayLike, scale: float = 1.0) -> Floats:
    """Relaxed tau of each plan. plans [N, H] state ids padded with -1, lengths [N], g [S]; returns [N]."""
    rows, sizes, ranks = _batch(plans, lengths, g)
    values = np.empty(sizes.size)
    weights, direct = _exponentials(ranks, scale)
    _check(_relaxed_kernel(rows, sizes, weights, direct, values), rows, sizes, ranks)
    return values


def _ranks(g: ArrayLike) -> Floats:
    ranks = np.ascontiguousarray(g, dtype=np.float64)
    if ranks.ndim != 1:
        raise LearningError(f"g of a plan is one number per state, got an array of shape {ranks.shape}")
    if not np.isfinite(ranks).all():
        place = int(np.flatnonzero(~np.isfinite(ranks))[0])
        raise LearningError(f"g of state {place} is {ranks[place]}; every state needs a finite rank")
    return ranks


def _batch(plans: ArrayLike, lengths: ArrayLike, g: ArrayLike) -> tuple[Ints, Ints, Floats]:
    rows = np.ascontiguousarray(plans, dtype=np.int64)
    sizes = np.ascontiguousarray(lengths, dtype=np.int64)
    if rows.ndim != 2 or sizes.shape != (rows.shape[0],):
        raise LearningError(f"plans must be [N, H] and lengths [N], got {rows.shape} and {sizes.shape}")
    return rows, sizes, _ranks(g)


def _check(bad: int, plans: Ints, lengths: Ints, g: Floats) -> None:
    if bad >= 0:
        raise LearningError(
            f"plan {bad} is {plans[bad].tolist()} with length {lengths[bad]}: its length must be 0 to {plans.shape[1]} "
            f"and its states ids from 0 to {g.size - 1}"
        )


def _exponentials(g: Floats, scale: float) -> tuple[Floats, bool]:
    """exp(2 scale g), so that tanh(scale (a - b)) = (A - B) / (A + B) costs one division per pair instead of a tanh.

    Where the spread of g is too large for that, scale * g itself, to be compared directly.
    """
    if g.size == 0:
        return g, True
    middle = (g.max() + g.min()) / 2
    scaled = scale * (g - middle)
    if 2 * np.abs(scaled).max() > EXPONENT_LIMIT / 2:
        return scaled, True
    return np.exp(2 * scaled), False


@kernel
def _legal(plan: Ints, length: int, n_states: int) -> bool:
    if length < 0 or length > plan.shape[0]:
        return False
    for i in range(length):  # noqa: SIM110  (compiled: a plain loop)
        if plan[i] < 0 or plan[i] >= n_states:
            return False
    return True


@kernel
def _concordance_pairs(g: Floats, tolerance: float) -> int:
    total = 0
    for i in range(1, g.shape[0]):
        for j in range(i):
            difference = g[i] - g[j]
            if difference > tolerance:
                total += 1
            elif difference < -tolerance:
                total -= 1
    return total


@kernel
def _concordance_sorted(g: Floats, tolerance: float) -> int:
    """The same count in O(h log h): while merging, compare each state of the later half with the sorted earlier half.

    Ties within a tolerance are not transitive; two pointers count strictly-below and strictly-above apart.
    """
    n = g.shape[0]
    source, target = g.copy(), np.empty(n)
    total, width = 0, 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            below, within = start, start
            for i in range(middle, stop):
                while below < middle and source[i] - source[below] > tolerance:
                    below += 1
                while within < middle and source[i] - source[within] >= -tolerance:
                    within += 1
                total += (below - start) - (middle - within)
            a, b = start, middle
            for k in range(start, stop):
                if a < middle and (b >= stop or source[a] <= source[b]):
                    target[k] = source[a]
                    a += 1
                else:
                    target[k] = source[b]
                    b += 1
        source, target = target, source
        width *= 2
    return total


@kernel
def _step_signs(g: Floats, tolerance: float) -> Floats:
    signs = np.zeros(g.shape[0])
    for i in range(1, g.shape[0]):
        for j in range(i):
            difference = g[i] - g[j]
            if difference > tolerance:
                signs[i] += 1.0
            elif difference < -tolerance:
                signs[i] -= 1.0
    return signs


@kernel
def _tau_kernel(plans: Ints, lengths: Ints, g: Floats, tolerance: float, values: Floats) -> int:
    ranks = np.empty(plans.shape[1])
    for n in range(plans.shape[0]):
        h = lengths[n]
        if not _legal(plans[n], h, g.shape[0]):
            return n
        for i in range(h):
            ranks[i] = g[plans[n, i]]
        if h < 2:
            values[n] = 0.0
        elif h < SORT_FROM:
            values[n] = _concordance_pairs(ranks[:h], tolerance) / (h * (h - 1) // 2)
        else:
            values[n] = _concordance_sorted(ranks[:h], tolerance) / (h * (h - 1) // 2)
    return -1


@kernel
def _soft_sign(later: float, earlier: float, direct: bool) -> float:
    if direct:
        return math.tanh(later - earlier)
    return (later - earlier) / (later + earlier)


@kernel
def _relaxed_kernel(plans: Ints, lengths: Ints, weights: Floats, direct: bool, values: Floats) -> int:
    for n in range(plans.shape[0]):
        h = lengths[n]
        if not _legal(plans[n], h, weights.shape[0]):
            return n
        total = 0.0
        for i in range(1, h):
            later = weights[plans[n, i]]
            for j in range(i):
                total += _soft_sign(later, weights[plans[n, j]], direct)
        values[n] = 2.0 * total / (h * (h - 1)) if h > 1 else 0.0
    return -1
