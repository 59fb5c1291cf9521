"""The paper's max-margin objective: rank the states of a plan so that each outranks the ones before it by a margin.

    min_w  1/2 |w|^2 + C sum_p weight_p loss(margin - d_p . w),    d_p = f(later) - f(earlier) in a chain,
    loss(z) = max(0, z)^2 (squared hinge) or max(0, z) (hinge)

With few weights and many pairs, Newton's method on the squared hinge ends in a handful of steps, each O(n log n) in the
states of the chains. The hinge is reached through its Huber smoothing, which is a difference of two squared hinges:

    huber(z) = (max(0, z)^2 - max(0, z - delta)^2) / (2 delta)

A fit carries a certificate: the distance to a feasible point of the dual problem bounds how far it is from the optimum.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Floats
from meip.base.errors import LearningError
from meip.learning.pairs import (
    RankedPairs,
    active_partners,
    active_sums,
    combination,
    combine,
    demonstration_pairs,
    first_deviation_pairs,
    gram,
    literal_pairs,
)

__all__ = [
    "RankedPairs", "RankingFit", "combine", "demonstration_pairs", "first_deviation_pairs", "fit_ranking",
    "literal_pairs", "ranking_objective",
]  # fmt: skip

Loss = Literal["squared_hinge", "hinge"]

SMALLEST_DELTA = 1e-7


@dataclass(frozen=True)
class RankingFit:
    """The weights, what they cost, and by how much at most that exceeds the optimum."""

    w: Floats  # [M]
    objective: float
    gap: float  # objective - optimum <= gap
    iterations: int
    converged: bool


def fit_ranking(
    features: ArrayLike,
    chains: RankedPairs,
    *,
    loss: Loss = "squared_hinge",
    C: float = 1.0,
    margin: float = 1.0,
    tol: float = 1e-6,
    max_iterations: int = 200,
) -> RankingFit:
    """Fit the weights of a ranking. features [S, M]; ends when the duality gap is at most tol times the objective."""
    if loss not in ("squared_hinge", "hinge"):
        raise LearningError(f"unknown loss {loss!r}; known: hinge, squared_hinge")
    problem = _Problem(_features(features, chains), chains, C, margin)
    start = np.zeros(problem.features.shape[1])
    if loss == "squared_hinge":
        return _newton(problem, None, start, tol, max_iterations)
    delta, used = 2 * margin, 0
    fit = RankingFit(start, np.inf, np.inf, 0, False)
    while not fit.converged and used < max_iterations and delta >= SMALLEST_DELTA * margin:
        fit = _newton(problem, delta, fit.w, tol, max_iterations - used)
        used += fit.iterations
        # With many pairs the gap is due to those within delta of the margin and shrinks with its square.
        delta *= float(np.clip(np.sqrt(tol * fit.objective / (2 * max(fit.gap, 1e-300))), 0.001, 0.5))
    return replace(fit, iterations=used)


def ranking_objective(
    features: ArrayLike,
    chains: RankedPairs,
    w: ArrayLike,
    *,
    loss: Loss = "squared_hinge",
    C: float = 1.0,
    margin: float = 1.0,
) -> float:
    """The value of the objective at w."""
    problem = _Problem(_features(features, chains), chains, C, margin)
    weights = np.ascontiguousarray(w, dtype=np.float64)
    hinge, squared, _ = problem.sums(combination(problem.columns, weights), margin)
    return float(0.5 * weights @ weights + C * (squared if loss == "squared_hinge" else hinge))


@dataclass(frozen=True)
class _Problem:
    features: Floats  # [S, M]
    chains: RankedPairs
    C: float
    margin: float
    columns: Floats = field(init=False)  # [M, S]

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", np.ascontiguousarray(self.features.T))
        if not (self.C > 0 and self.margin > 0):
            raise LearningError(f"C and margin must be above 0, got {self.C} and {self.margin}")

    def sums(self, scores: Floats, margin: float) -> tuple[float, float, Floats]:
        """sum z, sum z^2 over pairs with z > 0, and the derivative of 1/2 sum z^2 by the scores [S]."""
        slope = np.zeros(scores.size)
        c = self.chains
        hinge, squared = active_sums(c.items, c.starts, c.weights, scores, margin, slope)
        return hinge, squared, slope


@dataclass(frozen=True)
class _Point:
    """Value and derivative of the smooth objective at w, and the true objective with its certificate."""

    scores: Floats
    smooth: float
    gradient: Floats
    objective: float
    gap: float


def _evaluate(problem: _Problem, delta: float | None, w: Floats) -> _Point:
    scores = combination(problem.columns, w)
    hinge, squared, slope = problem.sums(scores, problem.margin)
    norm, C = 0.5 * float(w @ w), problem.C
    if delta is None:  # alpha_p = 2 C weight_p z_p is feasible for the dual of the squared hinge
        pull = 2 * C * combination(problem.features, slope)
        smooth = norm + C * squared
        dual = 2 * C * problem.margin * hinge - 0.5 * float(pull @ pull) - C * squared
        return _Point(scores, smooth, w + pull, smooth, smooth - dual)
    inner_hinge, inner_squared, inner_slope = problem.sums(scores, problem.margin - delta)
    # alpha_p = C weight_p min(z_p / delta, 1) is feasible for the dual of the hinge
    pull = (C / delta) * combination(problem.features, slope - inner_slope)
    dual = problem.margin * C * (hinge - inner_hinge) / delta - 0.5 * float(pull @ pull)
    smooth = norm + C * (squared - inner_squared) / (2 * delta)
    objective = norm + C * hinge
    return _Point(scores, smooth, w + pull, objective, objective - dual)


def _newton(problem: _Problem, delta: float | None, start: Floats, tol: float, limit: int) -> RankingFit:
    """Newton's method with backtracking on the squared hinge (delta None) or on the smoothed hinge.

    The gap is half the squared gradient plus what smoothing costs; a smoothed problem is left when the latter
    prevails.
    """
    w, point = start, _evaluate(problem, delta, start)
    best_w, best = w, point
    done = 0
    while done < limit and best.gap > tol * best.objective:
        slack = 0.5 * float(point.gradient @ point.gradient)
        if delta is not None and slack < 0.1 * (point.gap - slack):
            break
        step = np.asarray(np.linalg.solve(_hessian(problem, delta, point.scores), -point.gradient), dtype=np.float64)
        done += 1
        length, trial = _backtrack(problem, delta, w, point, step)
        if trial is None:
            break
        w, point = w + length * step, trial
        if point.gap <= best.gap:
            best_w, best = w, point
    return RankingFit(best_w, best.objective, max(best.gap, 0.0), done, best.gap <= tol * best.objective)


def _backtrack(
    problem: _Problem, delta: float | None, w: Floats, point: _Point, step: Floats
) -> tuple[float, _Point | None]:
    """The first of 1, 1/2, 1/4, .. that lowers the smooth objective enough (or the gap, at its rounding error)."""
    decrease, noise = -float(point.gradient @ step), 1e-14 * abs(point.smooth)
    length = 1.0
    while length > 1e-8:
        trial = _evaluate(problem, delta, w + length * step)
        if trial.smooth <= point.smooth - 1e-4 * length * decrease or (
            trial.smooth <= point.smooth + noise and trial.gap < point.gap
        ):
            return length, trial
        length *= 0.5
    return 0.0, None


def _hessian(problem: _Problem, delta: float | None, scores: Floats) -> Floats:
    """1 + factor * sum d d^T over the pairs where the loss bends: all active ones, or those within delta."""
    features, c = problem.features, problem.chains
    factor, width = (2 * problem.C, np.inf) if delta is None else (problem.C / delta, delta)
    degree, partners = np.zeros(scores.size), np.zeros(features.shape)
    active_partners(c.items, c.starts, c.weights, scores, problem.margin, width, features, degree, partners)
    total = np.zeros((features.shape[1], features.shape[1]))
    gram(features, degree, partners, total)
    return np.asarray(np.eye(total.shape[0]) + factor * (total + total.T) / 2, dtype=np.float64)


def _features(features: ArrayLike, chains: RankedPairs) -> Floats:
    table = np.ascontiguousarray(features, dtype=np.float64)
    if table.ndim != 2 or not np.isfinite(table).all():
        raise LearningError(f"features must be finite numbers [S, M], got an array of shape {table.shape}")
    if chains.items.size and (chains.items.min() < 0 or chains.items.max() >= table.shape[0]):
        raise LearningError(
            f"chains name states {chains.items.min()} to {chains.items.max()}, features have {table.shape[0]}"
        )
    return table
