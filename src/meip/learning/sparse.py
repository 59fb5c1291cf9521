"""A sparse softmax over choices: few statements, each worth more than its price.

The loss is the mean of -log P(shown alternative); each weight pays its price (L1) within its bounds, and a small ridge.
Only columns that pay are fitted (an active set); the rest is looked at by its gradient alone.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.distinct import distinct_rows
from meip.base.kernels import kernel
from meip.base.parallel import Shared, Workers
from meip.base.running import digest, look, one_round, packed_floats, unpacked_floats
from meip.learning.evidence import Evidence

__all__ = ["FEW", "GRID", "Problem", "Strength", "fit", "once", "path", "softmax", "strength_of"]

GRID = (0.1, 0.05, 0.025, 0.012, 0.006)
"""Strengths of the price that are tried, from the dearest on. Cheaper ones foresee choices in small worlds a little
better, and mislead in large ones."""
FEW = 0.01  # the strength where too few demonstrations are there to try it on others
WORSE = 1.05  # of the least loss: where it is more than that, no cheaper strength is tried
RIDGE = 1e-3
ROUNDS, ENTER, VIOLATION = 30, 20, 1e-4
DIGITS = 9
PART = 500  # columns that are looked at together, so that there is no second table of all of them


@dataclass(frozen=True)
class Problem:
    """Alternatives as rows, choice after choice."""

    columns: Floats  # [N, F]
    start: Ints  # [C + 1]
    group: Ints  # [N]
    chosen: Ints  # [C]
    price: Floats  # [F]
    low: Floats  # [F]
    high: Floats  # [F]
    odds: Floats  # [N] what an alternative counts for beforehand

    @classmethod
    def of(
        cls, evidence: Evidence, columns: Floats, price: Floats, low: Floats | None = None, high: Floats | None = None
    ) -> Problem:
        """Of choices with these columns; alternatives that none of them tells apart count once."""
        free = np.full(columns.shape[1], np.inf)
        low, high, odds = -free if low is None else low, free if high is None else high, once(columns, evidence.group)
        return cls(columns, evidence.start, evidence.group, evidence.chosen, price, low, high, odds)

    @property
    def parts(self) -> tuple[Any, ...]:
        """All arrays of it."""
        return tuple(getattr(self, field.name) for field in dataclasses.fields(self))

    def only(self, chosen: Bools) -> Problem:
        """With some of the columns."""
        columns = self.columns.take(np.flatnonzero(chosen), axis=1)
        price, low, high = self.price[chosen], self.low[chosen], self.high[chosen]
        return dataclasses.replace(self, columns=columns, price=price, low=low, high=high)

    def foreseen(self, weights: Floats, offset: Floats | None = None) -> tuple[Floats, Floats]:
        """The loss of each choice [C], and the probability of each alternative [N]."""
        used = np.flatnonzero(weights)
        u = self.columns[:, used] @ weights[used]
        return softmax(u if offset is None else u + offset, self.start, self.group, self.chosen, self.odds)


def softmax(
    scores: Floats, start: Ints, group: Ints, chosen: Ints, odds: Floats | None = None
) -> tuple[Floats, Floats]:
    """-log P of what was chosen [C], and the probability of each alternative [N]; `odds`: of each beforehand."""
    top = np.maximum.reduceat(scores, start[:-1])
    e = np.exp(scores - top[group]) * (1.0 if odds is None else odds)
    total = np.add.reduceat(e, start[:-1])
    return np.log(total) + top - scores[chosen], e / total[group]


def once(columns: Floats, group: Ints) -> Floats:
    """The odds [N] by which alternatives of a choice that no column tells apart count as one."""
    code, first = distinct_rows(group[:, None].astype(np.float64))
    for part in range(0, columns.shape[1], PART):
        some = np.round(columns[:, part : part + PART], DIGITS)
        code, first = distinct_rows(np.column_stack([code, some]))
    return np.asarray(1.0 / np.bincount(code, minlength=len(first))[code], np.float64)


def fit(problem: Problem, strength: float, weights: Floats, share: Floats, ridge: float = RIDGE) -> Floats:
    """The weights at one strength of the price, from a first guess; `share` weighs the choices [C]."""
    return one_round(
        lambda: "fit " + digest(strength, ridge, weights, share, *problem.parts),
        lambda: _fit(problem, strength, weights, share, ridge),
        packed_floats,
        unpacked_floats,
    )


def _fit(problem: Problem, strength: float, weights: Floats, share: Floats, ridge: float) -> Floats:
    columns, price = problem.columns, strength * problem.price
    total = max(share.sum(), 1e-12)
    on = (np.abs(weights) > 0) | (problem.price == 0)
    for _ in range(ROUNDS):
        look()
        used = np.flatnonzero(on)
        start, weights = weights[used], np.zeros(len(price))
        weights[used] = _descend(
            columns.take(used, axis=1), problem.start, problem.chosen, price[used], problem.low[used],
            problem.high[used], start, share, ridge, problem.odds, 300, 1e-5,
        )  # fmt: skip
        _, p = problem.foreseen(weights)
        residual = p * share[problem.group]
        residual[problem.chosen] -= share
        gain = -(columns.T @ residual) / total
        wanted = np.where(gain > 0, np.where(problem.high > 0, gain, 0.0), np.where(problem.low < 0, -gain, 0.0))
        excess = wanted - price
        excess[on] = -1.0
        over = np.flatnonzero(excess > VIOLATION)
        if not len(over):
            break
        on = (np.abs(weights) > 0) | (problem.price == 0)
        on[over[np.argsort(-excess[over], kind="stable")[:ENTER]]] = True
    return weights


@dataclass(frozen=True)
class Strength:
    """How dear a statement is, and what spoke for it."""

    value: float
    losses: tuple[float, ...]
    """Of the choices of demonstrations left out, in nats, for each strength tried; none where there were too few."""
    held_out: tuple[Floats, ...]
    """The weights without each demonstration, at the strength that was chosen."""


def strength_of(
    problem: Problem,
    demo: Ints,
    others: Sequence[tuple[Problem, Floats]],
    workers: Workers | None = None,
    grid: Sequence[float] = GRID,
    least: int = 3,
    tell: Callable[[float, float, Sequence[Floats]], None] | None = None,
) -> Strength:
    """The strength under which demonstrations left out are foreseen best; a fixed one where there are fewer than 3.

    `others` has what is fitted instead of each: choices, and how much they count. `tell` hears of each strength, the
    loss and the weights.
    """
    workers, shared = workers or Workers(), Shared(tuple(others))
    if len(others) < least:
        return Strength(FEW, (), tuple(workers.map_compiled(_path_without, range(len(others)), shared)))
    losses: list[float] = []
    found = [[np.zeros(len(problem.price)) for _ in others]]
    for strength in grid:
        items = [(d, strength, w) for d, w in enumerate(found[-1])]
        found.append(workers.map_compiled(_fit_without, items, shared))
        losses.append(sum(float(problem.foreseen(w)[0][demo == d].sum()) for d, w in enumerate(found[-1])))
        if tell is not None:
            tell(strength, losses[-1], found[-1])
        if losses[-1] > WORSE * min(losses):
            break
    best = int(np.argmin(losses))
    return Strength(grid[best], tuple(losses), tuple(found[1 + best]))


def _path_without(d: int, others: Sequence[tuple[Problem, Floats]]) -> Floats:
    return path(others[d][0], FEW, others[d][1])


def _fit_without(item: tuple[int, float, Floats], others: Sequence[tuple[Problem, Floats]]) -> Floats:
    d, strength, weights = item
    return fit(others[d][0], strength, weights, others[d][1])


def path(problem: Problem, strength: float, share: Floats, grid: Sequence[float] = GRID) -> Floats:
    """The weights at a strength, approached from the dearest on."""
    weights = np.zeros(len(problem.price))
    for each in [s for s in grid if s > strength] + [strength]:
        weights = fit(problem, each, weights, share)
    return weights


@kernel
def _loss(
    turned: Any, weights: Any, start: Any, chosen: Any, share: Any, total: float, ridge: float, odds: Any, p: Any
) -> float:  # fmt: skip
    """The mean loss, and the probability of each alternative in p; `turned`: columns one after the other [F, N]."""
    loss = 0.0
    p[:] = 0.0
    for j in range(len(weights)):  # alternative by alternative, each sum would wait for its last term
        weight = weights[j]
        if weight != 0.0:
            for i in range(len(p)):
                p[i] += turned[j, i] * weight
    for g in range(len(chosen)):
        a, b = start[g], start[g + 1]
        top = -np.inf
        for i in range(a, b):
            top = max(top, p[i])
        shown = p[chosen[g]]
        z = 0.0
        for i in range(a, b):
            p[i] = odds[i] * np.exp(p[i] - top)
            z += p[i]
        for i in range(a, b):
            p[i] /= z
        loss += share[g] * (np.log(z) + top - shown)
    square = 0.0
    for j in range(len(weights)):
        square += weights[j] * weights[j]
    return loss / total + ridge / 2 * square


@kernel
def _descend(
    columns: Any, start: Any, chosen: Any, price: Any, low: Any, high: Any, first: Any, share: Any, ridge: float,
    odds: Any, rounds: int, tolerance: float,
) -> Any:  # fmt: skip
    """Accelerated proximal gradient with restarts, steps by backtracking."""
    n, count = columns.shape
    turned = np.ascontiguousarray(columns.T)
    weights = first.copy()
    ahead = weights.copy()
    momentum, steep, total = 1.0, 1.0, share.sum()
    p, p_new = np.empty(n), np.empty(n)
    gradient, new = np.empty(count), np.empty(count)
    for _ in range(rounds):
        value = _loss(turned, ahead, start, chosen, share, total, ridge, odds, p)
        for j in range(count):
            gradient[j] = ridge * ahead[j]
        for k in range(len(chosen)):
            if share[k] == 0:
                continue
            for i in range(start[k], start[k + 1]):
                r = p[i] * share[k] / total
                if i == chosen[k]:
                    r -= share[k] / total
                for j in range(count):
                    gradient[j] += columns[i, j] * r
        while True:
            square = along = 0.0
            for j in range(count):
                to = ahead[j] - gradient[j] / steep
                rest = abs(to) - price[j] / steep
                to = (rest if to > 0 else -rest) if rest > 0 else 0.0
                new[j] = min(max(to, low[j]), high[j])
                d = new[j] - ahead[j]
                square += d * d
                along += gradient[j] * d
            if (
                _loss(turned, new, start, chosen, share, total, ridge, odds, p_new)
                <= value + along + steep / 2 * square + 1e-12
                or steep > 1e12
            ):
                break
            steep *= 2
        following = (1 + np.sqrt(1 + 4 * momentum * momentum)) / 2
        change = back = 0.0
        for j in range(count):
            change = max(change, abs(new[j] - weights[j]))
            back += (ahead[j] - new[j]) * (new[j] - weights[j])
        factor = 0.0 if back > 0 else (momentum - 1) / following
        for j in range(count):
            ahead[j] = new[j] + factor * (new[j] - weights[j])
            weights[j] = new[j]
        momentum = 1.0 if back > 0 else following
        if change < tolerance:
            break
        steep *= 0.9
    return weights
