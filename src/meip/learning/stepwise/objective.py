"""The per-step likelihood with linear increments, and its fit under an L1 price.

::

    J(w) = mean over steps of [ log sum_{right c} exp d(c) - log sum_c exp d(c) ],   d(c) = w . (f(c) - f(s))
         - 1/2 mean over demonstrated pairs that differ of max(0, margin - (g(later) - g(earlier)))^2
         - strength * sum_k complexity_k |w_k|

With one right successor per step -J is convex. Successors that no concept tells apart count once. It is minimised by
proximal Newton steps on a growing set of active concepts: of a thousand candidates some ten end up with a weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.distinct import distinct_rows
from meip.base.kernels import kernel
from meip.learning.stepwise.steps import Demonstrated

__all__ = ["Problem", "build_problem", "fit", "log_likelihood"]

TOLERANCE = 1e-6
ENTER = 10  # concepts that become active in one round
ROUNDS = 40
NEWTON = 30


@dataclass(frozen=True)
class Problem:
    """The choices of some demonstrations as arrays, for some concepts."""

    rises: Floats  # [K, N] how much each alternative adds to each concept
    first: Ints  # [G + 1] where each step's alternatives begin
    right: Bools  # [N]
    states: Floats  # [K, H] the concepts in the demonstrated states
    later: Ints  # [P] pairs of them
    earlier: Ints  # [P]


def build_problem(values: Floats, demonstrations: Sequence[Demonstrated], also: bool) -> Problem:
    """The objective's arrays from the concepts' values [S, K]; `also`: de-ordered successors are right as well."""
    rises, right, sizes = [], [], []
    for shown in demonstrations:
        for choice in shown.choices:
            table = _mean_outcomes(values, choice.outcomes) - values[choice.state]
            good = np.zeros(len(table), np.bool_)
            good[choice.shown] = True
            if also or choice.free:
                good[choice.also] = True
            code, representatives = distinct_rows(table)
            merged = np.zeros(len(representatives), np.bool_)
            merged[code[good]] = True
            if len(merged) > 1 and not merged.all():
                rises.append(table[representatives])
                right.append(merged)
                sizes.append(len(merged))
    states, later, earlier = _pairs(values, demonstrations)
    none = np.zeros((0, values.shape[1]))
    return Problem(
        np.ascontiguousarray(np.concatenate(rises or [none]).T),
        np.cumsum([0, *sizes]).astype(np.int64),
        np.concatenate(right or [np.zeros(0, np.bool_)]),
        np.ascontiguousarray(values[states].T),
        later,
        earlier,
    )


def _mean_outcomes(values: Floats, outcomes: Sequence[Sequence[tuple[float, int]]]) -> Floats:
    if all(len(o) == 1 for o in outcomes):
        return values[[o[0][1] for o in outcomes]]
    return np.array([sum(p * values[s] for p, s in o) for o in outcomes])


def _pairs(values: Floats, demonstrations: Sequence[Demonstrated]) -> tuple[Ints, Ints, Ints]:
    """Demonstrated states, and the pairs (later, earlier) of them that the concepts tell apart."""
    states = np.array([s for d in demonstrations for s in d.states], np.int64)
    code, _ = distinct_rows(np.ascontiguousarray(values[states]))
    later, earlier = [], []
    offset = 0
    for shown in demonstrations:
        n = len(shown.states)
        i, j = np.tril_indices(n, -1)
        differ = code[offset + i] != code[offset + j]
        later.append(offset + i[differ])
        earlier.append(offset + j[differ])
        offset += n
    return states, np.concatenate(later).astype(np.int64), np.concatenate(earlier).astype(np.int64)


def fit(problem: Problem, prices: Floats, start: Floats | None = None, margin: float = 0.5) -> Floats:
    """The weights [K] that minimise -J; prices [K] are strength times complexity."""
    count = len(prices)
    w = np.zeros(count) if start is None else start.copy()
    active = np.flatnonzero(w)
    for _ in range(ROUNDS):
        if len(active):
            rises, states = problem.rises[active], problem.states[active]
            weights = w[active]
            _newton(
                weights,
                rises,
                states,
                problem.first,
                problem.right,
                problem.later,
                problem.earlier,
                prices[active],
                margin,
            )
            w[active] = weights
            active = active[weights != 0.0]
        slope = _slope(w, active, problem, margin)
        excess = np.abs(slope) - prices
        excess[active] = -np.inf
        worst = np.argsort(-excess, kind="stable")[:ENTER]
        entering = worst[excess[worst] > 1e-5]
        if not len(entering):
            break
        active = np.sort(np.concatenate([active, entering]))
    return w


def _slope(w: Floats, active: Ints, problem: Problem, margin: float) -> Floats:
    residual = np.zeros(problem.rises.shape[1])
    pull = np.zeros(problem.states.shape[1])
    _residuals(
        w[active],
        problem.rises[active],
        problem.states[active],
        problem.first,
        problem.right,
        problem.later,
        problem.earlier,
        margin,
        residual,
        pull,
    )
    found: Floats = _project(problem.rises, residual) + _project(problem.states, pull)
    return found


def log_likelihood(problem: Problem, w: Floats) -> float:
    """Mean log-likelihood of the demonstrated steps."""
    if len(problem.first) < 2:
        return 0.0
    active = np.flatnonzero(w)
    u = w[active] @ problem.rises[active] if len(active) else np.zeros(problem.rises.shape[1])
    return float(_steps_value(u, problem.first, problem.right, np.zeros(len(u))))


@kernel
def _project(table: Any, vector: Any) -> Any:
    out = np.zeros(table.shape[0])
    for k in range(table.shape[0]):
        total = 0.0
        for i in range(table.shape[1]):
            total += table[k, i] * vector[i]
        out[k] = total
    return out


@kernel
def _combine(w: Any, table: Any) -> Any:
    out = np.zeros(table.shape[1])
    for k in range(table.shape[0]):
        for i in range(table.shape[1]):
            out[i] += w[k] * table[k, i]
    return out


@kernel
def _steps_value(u: Any, first: Any, right: Any, share: Any) -> float:
    """Mean log-likelihood of the steps; writes the probability of each alternative."""
    total = 0.0
    steps = len(first) - 1
    for t in range(steps):
        top = -np.inf
        for i in range(first[t], first[t + 1]):
            top = max(top, u[i])
        mass, good = 0.0, 0.0
        for i in range(first[t], first[t + 1]):
            share[i] = np.exp(u[i] - top)
            mass += share[i]
            if right[i]:
                good += share[i]
        for i in range(first[t], first[t + 1]):
            share[i] /= mass
        total += np.log(max(good, 1e-300) / mass)
    return total / max(steps, 1)


@kernel
def _residuals(
    w: Any, rises: Any, states: Any, first: Any, right: Any, later: Any, earlier: Any, margin: float, residual: Any,
    pull: Any,
) -> float:  # fmt: skip
    """-J without the price; writes its derivative by d of each alternative and by g of each demonstrated state."""
    u, g = _combine(w, rises), _combine(w, states)
    share = residual
    value = -_steps_value(u, first, right, share)
    steps = max(len(first) - 1, 1)
    for t in range(len(first) - 1):
        good = 1e-300
        for i in range(first[t], first[t + 1]):
            if right[i]:
                good += share[i]
        for i in range(first[t], first[t + 1]):
            residual[i] = (share[i] - (share[i] / good if right[i] else 0.0)) / steps
    pull[:] = 0.0
    pairs = max(len(later), 1)
    for p in range(len(later)):
        short = margin - (g[later[p]] - g[earlier[p]])
        if short > 0:
            value += 0.5 * short * short / pairs
            pull[later[p]] -= short / pairs
            pull[earlier[p]] += short / pairs
    return value


@kernel
def _hessian(
    w: Any, rises: Any, states: Any, first: Any, right: Any, later: Any, earlier: Any, margin: float, out: Any
) -> None:
    """The curvature of -J (of its convex majorant where several successors are right)."""
    u, g = _combine(w, rises), _combine(w, states)
    n = len(w)
    share = np.zeros(len(u))
    _steps_value(u, first, right, share)
    out[:] = 0.0
    steps = max(len(first) - 1, 1)
    mean = np.zeros(n)
    for t in range(len(first) - 1):
        for a in range(n):
            mean[a] = 0.0
            for i in range(first[t], first[t + 1]):
                mean[a] += share[i] * rises[a, i]
        for i in range(first[t], first[t + 1]):
            if share[i] > 1e-12:
                for a in range(n):
                    left = share[i] * (rises[a, i] - mean[a]) / steps
                    if left != 0.0:
                        for b in range(a + 1):
                            out[a, b] += left * (rises[b, i] - mean[b])
    pairs = max(len(later), 1)
    for p in range(len(later)):
        i, j = later[p], earlier[p]
        if margin - (g[i] - g[j]) > 0:
            for a in range(n):
                left = (states[a, i] - states[a, j]) / pairs
                if left != 0.0:
                    for b in range(a + 1):
                        out[a, b] += left * (states[b, i] - states[b, j])
    for a in range(n):
        for b in range(a):
            out[b, a] = out[a, b]
        out[a, a] += 1e-7


@kernel
def _newton(
    w: Any, rises: Any, states: Any, first: Any, right: Any, later: Any, earlier: Any, prices: Any, margin: float
) -> int:
    """Proximal Newton steps on the active concepts, in place."""
    n = len(w)
    residual, pull = np.zeros(rises.shape[1]), np.zeros(states.shape[1])
    curvature = np.zeros((n, n))
    trial = np.zeros(n)
    value = _residuals(w, rises, states, first, right, later, earlier, margin, residual, pull)
    value += (prices * np.abs(w)).sum()
    for iteration in range(NEWTON):
        slope = _project(rises, residual) + _project(states, pull)
        _hessian(w, rises, states, first, right, later, earlier, margin, curvature)
        goal = _quadratic(w, slope, curvature, prices)
        change = goal - w
        decrease = (slope * change).sum() + (prices * (np.abs(goal) - np.abs(w))).sum()
        if decrease > -1e-9:
            return iteration
        length = 1.0
        better = False
        for _ in range(30):
            for a in range(n):
                trial[a] = goal[a] if length == 1.0 else w[a] + length * change[a]
            reached = _residuals(trial, rises, states, first, right, later, earlier, margin, residual, pull)
            reached += (prices * np.abs(trial)).sum()
            if reached <= value + 1e-4 * length * decrease:
                better = True
                break
            length *= 0.5
        if not better:
            return iteration
        gain = value - reached
        value = reached
        w[:] = trial
        if gain < 1e-8:
            return iteration
    return NEWTON


@kernel
def _quadratic(w: Any, slope: Any, curvature: Any, prices: Any) -> Any:
    """Minimise the quadratic model plus the price by coordinate descent."""
    n = len(w)
    at = w.copy()
    left = slope.copy()  # slope of the model at `at`
    for _ in range(200):
        largest = 0.0
        for a in range(n):
            h = curvature[a, a]
            aim = at[a] - left[a] / h
            shrink = prices[a] / h
            new = max(abs(aim) - shrink, 0.0) * np.sign(aim)
            step = new - at[a]
            if step != 0.0:
                at[a] = new
                for b in range(n):
                    left[b] += step * curvature[b, a]
                largest = max(largest, abs(step))
        if largest < 1e-7:
            break
    return at
