"""The small model that is told: a few statements, each worth more than its price, and how much they foresee.

Planning averages many members, which nobody can read. Here statements are taken one after the other, each time the one
that explains most of the shown choices for its price, until none is worth it.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.learning.evidence import Evidence
from meip.learning.sparse import Problem, fit
from meip.learning.worth import price_of, without_the_most_telling

__all__ = ["Small", "small_model"]

LEAST = 0.5
MOST, LOOKED_AT = 8, 12  # statements, and candidates that are fitted for each
RIDGE = 0.02


@dataclass(frozen=True)
class Small:
    """Columns that were taken, with their weights and what each was worth beyond its price, in nats."""

    columns: tuple[int, ...]
    weights: tuple[float, ...]
    worth: tuple[float, ...]
    foreseen: float
    by_chance: float


def small_model(
    evidence: Evidence,
    problem: Problem,
    offset: Floats,
    prices: Floats,
    allowed: Sequence[int],
    tell: Callable[[Sequence[int], Floats, float, float], None] | None = None,
) -> Small:
    """Forward selection among the allowed columns, beside rules that are there already (offset [N]).

    The last column of the problem, to stop, is always in. `tell` hears of the columns taken so far, their weights, the
    loss in nats and how many choices they foresee.
    """
    stop = problem.columns.shape[1] - 1
    cost = price_of(prices)
    taken: list[int] = []
    worth: list[float] = []
    usable = np.zeros(stop + 1, np.bool_)
    usable[list(allowed)] = True
    weights, loss = _fitted(evidence, problem, [stop], offset)
    while len(taken) < MOST:
        used = [*taken, stop]
        p = _probabilities(evidence, problem, used, weights, offset)
        residual = -p
        residual[evidence.chosen] += 1.0
        slope = problem.columns.T @ residual
        spread = _spread(problem.columns, p, evidence.start)
        right = np.where(slope > 0, problem.high > 0, problem.low < 0)
        guess = np.where(usable & right, slope**2 / (2 * np.maximum(spread, 1e-9) + RIDGE) - cost, -np.inf)
        best: tuple[float, int, Floats, Floats] | None = None
        for j in np.argsort(-guess, kind="stable")[:LOOKED_AT]:
            if not np.isfinite(guess[j]):
                break
            tried, new = _fitted(evidence, problem, [*taken, int(j), stop], offset)
            net = float(without_the_most_telling((loss - new)[:, None], evidence)[0] - cost[j])
            if best is None or net > best[0] + 1e-9:
                best = net, int(j), tried, new
        if best is None or best[0] <= LEAST:
            break
        net, j, weights, loss = best
        taken.append(j)
        worth.append(float(net))
        usable[j] = False
        if tell is not None:
            scores = problem.columns[:, [*taken, stop]] @ weights + offset
            tell(taken, weights, float(loss.sum()), _foreseen(evidence, scores))
    scores = problem.columns[:, [*taken, stop]] @ weights + offset
    return Small(
        tuple(taken), tuple(weights[:-1].tolist()), tuple(worth), _foreseen(evidence, scores),
        float((1 / np.diff(evidence.start)).sum()),
    )  # fmt: skip


def _spread(columns: Floats, p: Floats, start: Ints) -> Floats:
    """The variance of each column [F], summed over choices, by the probabilities [N]: choice by choice, since the
    columns are many."""
    found = np.zeros(columns.shape[1])
    for a, b in pairwise(start.tolist()):
        weighted = columns[a:b] * p[a:b, None]
        found += (columns[a:b] * weighted).sum(axis=0) - weighted.sum(axis=0) ** 2
    return found


def _fitted(evidence: Evidence, problem: Problem, used: Sequence[int], offset: Floats) -> tuple[Floats, Floats]:
    """Weights of some columns beside an offset, and the loss of each choice in nats."""
    columns = np.ascontiguousarray(np.column_stack([problem.columns[:, used], offset]))
    low, high = np.append(problem.low[used], 1.0), np.append(problem.high[used], 1.0)
    small = dataclasses.replace(problem, columns=columns, price=np.zeros(len(low)), low=low, high=high)
    share = evidence.weight / evidence.copies
    found = fit(small, 0.0, np.append(np.zeros(len(used)), 1.0), share, RIDGE / evidence.count)
    return found[:-1], np.asarray(small.foreseen(found)[0] * share, np.float64)


def _probabilities(
    evidence: Evidence, problem: Problem, used: Sequence[int], weights: Floats, offset: Floats
) -> Floats:
    u = problem.columns[:, used] @ weights + offset
    top = np.maximum.reduceat(u, evidence.start[:-1])
    e = problem.odds * np.exp(u - top[evidence.group])
    return np.asarray(e / np.add.reduceat(e, evidence.start[:-1])[evidence.group], np.float64)


def _foreseen(evidence: Evidence, scores: Floats) -> float:
    """Choices whose shown alternative scores best; one of several equals counts as a share."""
    top = np.maximum.reduceat(scores, evidence.start[:-1])
    best = scores >= top[evidence.group] - 1e-9
    size = np.add.reduceat(best.astype(np.float64), evidence.start[:-1])
    return float((best[evidence.chosen] / size).sum())
