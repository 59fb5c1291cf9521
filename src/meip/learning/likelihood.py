"""The likelihood objective: the paper's Eq. 10-11, without its guessed pair labels.

The hinge stands for its Eq. 5, which as printed no probabilities fulfil.

::

    u(plan) = strength * lambda(h) * (1/P) * sum_{j<i} tanh(g(s_i) - g(s_j)),   lambda(h) = 2(h - 1)
    J(w)    = sum_demos [ log sum_k share_k exp u(demo_k) - log Z ]             whole plans
            + steps * sum_steps [ d(shown) - log sum_c P0(c) exp d(c) ]         each step among its alternatives
            - alpha/2 |w|^2 - hinge/2 * sum_{demo pairs that differ} max(0, margin - (g(s_i) - g(s_j)))^2

where d(c) = sum_{j<t} tanh(g(c) - g(s_j)) is what a successor adds. Both likelihoods are sums of
coefficient * log-sum-exp over groups of short state sequences, and one kernel does them all.
States that no concept tells apart are merged first, and then the plans that become equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.distinct import distinct_plans, distinct_rows
from meip.base.kernels import kernel
from meip.learning.shown import Case, Shown, ShownPlans
from meip.model.choices import alternatives
from meip.search.pool import Pool

__all__ = ["Fit", "Likelihood", "LikelihoodOptions"]

PLAN, STEP = 0, 1
MOST_ITERATIONS = 1000
SAFE_SPREAD = 150.0  # beyond this spread of g, exp(2 g) is not used for tanh


@dataclass(frozen=True)
class LikelihoodOptions:
    """The constants of the objective. Safe windows: alpha .003-.3, strength .33-2."""

    alpha: float = 0.03
    hinge: float = 2.0
    margin: float = 0.5
    strength: float = 1.0
    plans: float = 1.0
    """Weight of the likelihood of whole plans."""
    steps: float = 0.0
    """Weight of the likelihood of each demonstrated step among its alternatives."""


@dataclass(frozen=True)
class Fit:
    """Weights and how good they are."""

    weights: Floats
    objective: float
    log_z: tuple[float, ...]
    """log Z of each case."""
    converged: bool
    iterations: int


@dataclass(frozen=True)
class _Groups:
    """Sequences of rows in groups; J is the sum of coefficient * log-sum-exp(log_weight + u) over the groups."""

    plans: Ints  # [T, H] padded with -1
    lengths: Ints  # [T]
    log_weight: Floats  # [T]
    first: Ints  # [G + 1] where each group begins
    coefficient: Floats  # [G]
    form: Ints  # [G] PLAN or STEP


class Likelihood:
    """The objective for one training set and its pools; `fit` takes a feature matrix over the training set's rows."""

    def __init__(
        self, training: ShownPlans, pools: Sequence[Pool] | None, options: LikelihoodOptions | None = None
    ) -> None:
        self.options = options or LikelihoodOptions()
        parts: list[tuple[Ints, Ints, Floats, float, int]] = []
        self._case_group: list[int] = []
        for number, case in enumerate(training.cases):  # first every state gets its row, then rows are fixed
            if pools is not None:
                training.track(case.graph, pools[number].plans.states)
            for shown in case.shown:
                training.track(case.graph, np.concatenate([np.array(plan, np.int64) for plan in shown.plans]))
            if self.options.steps:
                _track_steps(training, case)
        for number, case in enumerate(training.cases):
            if pools is not None and self.options.plans:
                pool = pools[number]
                self._case_group.append(len(parts))
                size = -self.options.plans * len(case.shown)
                parts.append(
                    (training.rows(case.graph, pool.plans.states), pool.plans.lengths, pool.log_weight, size, PLAN)
                )
                for shown in case.shown:
                    states, lengths, shares = _as_arrays(shown)
                    parts.append((training.rows(case.graph, states), lengths, shares, self.options.plans, PLAN))
            if self.options.steps:
                parts += _steps(training, case, self.options.steps)
        self._groups = _assemble(parts)
        self._intended = training.demonstrated_rows()

    def fit(
        self, features: Floats, start: Floats | None = None, *, below: Floats | None = None, tolerance: float = 1e-5
    ) -> Fit:
        """Maximise J by BFGS, from w = 0 unless told otherwise; `tolerance` is the largest slope left over.

        `below` [R, M] are features of imagined states that should rank below a state without any: they join the hinge,
        once for each demonstration.
        """
        problem = self.compress(features, below)
        w0 = np.zeros(features.shape[1]) if start is None else np.array(start, dtype=np.float64)
        w, iterations, converged = problem.maximise(w0, tolerance)
        value, _, logs = problem.evaluate(w)
        return Fit(w, value, self._log_z(logs), converged, iterations)

    def evaluate(self, features: Floats, weights: Floats) -> tuple[float, Floats]:
        """J and its gradient at these weights."""
        value, gradient, _ = self.compress(features).evaluate(np.asarray(weights, dtype=np.float64))
        return value, gradient

    def slopes(self, features: Floats, weights: Floats) -> Floats:
        """dJ/dg of every row at these weights: a new feature f would have the gradient f . slopes at weight 0."""
        problem = _Compressed(features, self._groups, self._intended, self.options, merge=False)
        return problem.slopes(np.asarray(weights, dtype=np.float64))

    def compress(self, features: Floats, below: Floats | None = None) -> _Compressed:
        """The same objective on the distinct rows of the features."""
        return _Compressed(features, self._groups, self._intended, self.options, below=below)

    def _log_z(self, logs: Floats) -> tuple[float, ...]:
        return tuple(float(logs[k]) for k in self._case_group)


class _Compressed:
    """The objective on merged states and plans."""

    def __init__(
        self,
        features: Floats,
        groups: _Groups,
        intended: Sequence[Ints],
        options: LikelihoodOptions,
        *,
        merge: bool = True,
        below: Floats | None = None,
    ) -> None:
        self.options = options
        imagined = np.zeros(0, np.int64)
        if below is not None and len(below):
            imagined = np.arange(len(features) + 1, len(features) + 1 + len(below))
            features = np.vstack([features, np.zeros(features.shape[1]), below])
        self.features, self.groups, code = features, groups, np.arange(len(features))
        if merge:
            code, representatives = distinct_rows(features)
            self.features = np.ascontiguousarray(features[representatives])
            self.groups = _merged(groups, code)
        self.pair_later, self.pair_earlier, self.pair_count = _differing_pairs([code[rows] for rows in intended])
        if len(imagined):
            self.pair_later = np.append(self.pair_later, np.full(len(imagined), code[imagined[0] - 1]))
            self.pair_earlier = np.append(self.pair_earlier, code[imagined])
            self.pair_count = np.append(self.pair_count, np.full(len(imagined), float(len(intended))))

    def evaluate(self, w: Floats) -> tuple[float, Floats, Floats]:
        """J, its gradient, and the log-sum-exp of each group."""
        gradient, logs = np.empty_like(w), np.zeros(len(self.groups.coefficient))
        value = _objective(w, self.features, self._arrays(), self._constants(), gradient, self._slope(), logs)
        return value, gradient, logs

    def slopes(self, w: Floats) -> Floats:
        slope = self._slope()
        logs = np.zeros(len(self.groups.coefficient))
        _objective(w, self.features, self._arrays(), self._constants(), np.empty_like(w), slope, logs)
        return slope

    def maximise(self, w0: Floats, tolerance: float) -> tuple[Floats, int, bool]:
        iterations, converged = _bfgs(
            w0, self.features, self._arrays(), self._constants(), tolerance, MOST_ITERATIONS, self._slope()
        )
        return w0, int(iterations), bool(converged)

    def _slope(self) -> Floats:
        return np.empty(len(self.features))

    def _arrays(self) -> _Arrays:
        p = self.groups
        groups = (p.plans, p.lengths, p.log_weight, p.first, p.coefficient, p.form)
        return _Arrays(*groups, self.pair_later, self.pair_earlier, self.pair_count)

    def _constants(self) -> Floats:
        return np.array([self.options.strength, self.options.alpha, self.options.hinge, self.options.margin])


class _Arrays(NamedTuple):
    """What the kernels read."""

    plans: Ints
    lengths: Ints
    log_weight: Floats
    first: Ints
    coefficient: Floats
    form: Ints
    pair_later: Ints
    pair_earlier: Ints
    pair_count: Floats


def _as_arrays(shown: Shown) -> tuple[Ints, Ints, Floats]:
    width = max(len(p) for p in shown.plans)
    states = np.full((len(shown.plans), width), -1, np.int64)
    for row, plan in zip(states, shown.plans, strict=True):
        row[: len(plan)] = plan
    return states, np.array([len(p) for p in shown.plans], np.int64), np.array(shown.log_share)


def _alternatives(training: ShownPlans, case: Case, shown: Shown, t: int) -> tuple[Ints, Floats]:
    """The states that could have followed the t-th, and their P0; the shown one is always among them."""
    mass: dict[int, float] = {}
    for one in alternatives(training.graphs[case.graph], shown.intended[t], shown.actions[t]):
        for probability, successor in () if one.stop else one.outcomes:
            mass[successor] = mass.get(successor, 0.0) + probability * one.mass
    shares = np.array(list(mass.values()))
    return np.array(list(mass), np.int64), shares / shares.sum()


def _track_steps(training: ShownPlans, case: Case) -> None:
    for shown in case.shown:
        for t in range(len(shown.intended) - 1):
            training.track(case.graph, _alternatives(training, case, shown, t)[0])


def _steps(training: ShownPlans, case: Case, weight: float) -> list[tuple[Ints, Ints, Floats, float, int]]:
    """For each intended step: + the shown successor, - the log-sum-exp over all successors."""
    parts: list[tuple[Ints, Ints, Floats, float, int]] = []
    for shown in case.shown:
        states = training.rows(case.graph, np.array(shown.intended, np.int64))
        for t in range(len(states) - 1):
            successors, mass = _alternatives(training, case, shown, t)
            ends = training.rows(case.graph, successors)
            plans = np.column_stack([np.broadcast_to(states[: t + 1], (len(ends), t + 1)), ends])
            lengths = np.full(len(ends), t + 2, np.int64)
            chosen = np.flatnonzero(successors == shown.intended[t + 1])
            parts.append((plans[chosen], lengths[chosen], np.zeros(1), weight, STEP))
            parts.append((plans, lengths, np.log(mass), -weight, STEP))
    return parts


def _assemble(parts: Sequence[tuple[Ints, Ints, Floats, float, int]]) -> _Groups:
    width = max((p[0].shape[1] for p in parts), default=1)
    plans = [np.pad(p[0], ((0, 0), (0, width - p[0].shape[1])), constant_values=-1) for p in parts]
    return _Groups(
        np.concatenate(plans) if plans else np.zeros((0, 1), np.int64),
        np.concatenate([p[1] for p in parts]) if parts else np.zeros(0, np.int64),
        np.concatenate([p[2] for p in parts]) if parts else np.zeros(0),
        np.cumsum([0, *(len(p[1]) for p in parts)]).astype(np.int64),
        np.array([p[3] for p in parts], np.float64),
        np.array([p[4] for p in parts], np.int64),
    )


def _merged(groups: _Groups, code: Ints) -> _Groups:
    """Plans as codes; those of a group that became equal are one, with their weights added."""
    rows, log_weight, first = distinct_plans(groups.plans, groups.lengths, groups.log_weight, groups.first, code)
    plans = groups.plans[rows]
    coded = np.where(plans >= 0, code[plans], -1)
    return _Groups(coded, groups.lengths[rows], log_weight, first, groups.coefficient, groups.form)


def _differing_pairs(plans: Sequence[Ints]) -> tuple[Ints, Ints, Floats]:
    """The pairs of states of demonstrations (later, earlier) that the features tell apart, with multiplicity."""
    counts: dict[tuple[int, int], int] = {}
    for plan in plans:
        for i in range(1, len(plan)):
            for j in range(i):
                if plan[i] != plan[j]:
                    pair = (int(plan[i]), int(plan[j]))
                    counts[pair] = counts.get(pair, 0) + 1
    pairs = np.array(list(counts), np.int64).reshape(-1, 2)
    return pairs[:, 0], pairs[:, 1], np.array(list(counts.values()), np.float64)


@kernel
def _objective(w: Any, features: Any, data: Any, constants: Any, gradient: Any, slope: Any, logs: Any) -> float:
    """J; writes its gradient, dJ/dg of each state without the penalty on w, and the log-sum-exps."""
    strength, alpha, hinge, margin = constants[0], constants[1], constants[2], constants[3]
    g = np.zeros(len(features))
    top, bottom = -np.inf, np.inf
    for s in range(len(features)):
        for k in range(len(w)):
            g[s] += features[s, k] * w[k]
        top, bottom = max(top, g[s]), min(bottom, g[s])
    direct = top - bottom > SAFE_SPREAD
    scaled = g if direct else np.exp(2.0 * (g - top))
    slope[:] = 0.0
    value = _log_sums(data, scaled, direct, strength, slope, logs)
    for p in range(len(data.pair_count)):
        later, earlier = data.pair_later[p], data.pair_earlier[p]
        short = margin - (g[later] - g[earlier])
        if short > 0:
            value -= 0.5 * hinge * data.pair_count[p] * short * short
            slope[later] += hinge * data.pair_count[p] * short
            slope[earlier] -= hinge * data.pair_count[p] * short
    for k in range(len(w)):
        value -= 0.5 * alpha * w[k] * w[k]
        gradient[k] = -alpha * w[k]
    for s in range(len(features)):
        if slope[s] != 0.0:
            for k in range(len(w)):
                gradient[k] += features[s, k] * slope[s]
    return value


@kernel
def _bfgs(w: Any, features: Any, data: Any, constants: Any, tolerance: float, limit: int, slope: Any) -> Any:
    """Climb J from w, in place. Returns iterations, and whether the slope fell below the tolerance.

    Written out because linear algebra libraries start threads for matrices of this size, at ten times the cost.
    """
    n = len(w)
    logs = np.zeros(len(data.coefficient))
    gradient, trial, trial_gradient = np.empty(n), np.empty(n), np.empty(n)
    inverse, direction, step, change = np.eye(n), np.empty(n), np.empty(n), np.empty(n)
    value = _objective(w, features, data, constants, gradient, slope, logs)
    for iteration in range(limit):
        if n == 0 or np.abs(gradient).max() < tolerance:
            return iteration, True
        ascent = 0.0
        for i in range(n):
            direction[i] = 0.0
            for j in range(n):
                direction[i] += inverse[i, j] * gradient[j]
            ascent += direction[i] * gradient[i]
        length = 1.0 if iteration else min(1.0, 1.0 / np.sqrt((gradient * gradient).sum()))
        low, high = 0.0, np.inf
        for _ in range(60):  # bisection for the weak Wolfe conditions
            for i in range(n):
                trial[i] = w[i] + length * direction[i]
            trial_value = _objective(trial, features, data, constants, trial_gradient, slope, logs)
            slant = (trial_gradient * direction).sum()
            if not trial_value >= value + 1e-4 * length * ascent:
                high = length
            elif slant > 0.9 * ascent:
                low = length
            else:
                break
            length = 0.5 * (low + high) if high < np.inf else 2.0 * length
        if not trial_value > value:
            return iteration, np.abs(gradient).max() < 1e3 * tolerance
        step[:] = trial - w
        change[:] = gradient - trial_gradient
        w[:] = trial
        gradient[:] = trial_gradient
        value = trial_value
        _update_inverse(inverse, step, change, iteration == 0)
    return limit, False


@kernel
def _update_inverse(inverse: Any, step: Any, change: Any, first: bool) -> None:
    """The BFGS update of the inverse Hessian (of -J), scaled before the first one."""
    n = len(step)
    curvature = (step * change).sum()
    if curvature <= 1e-12:
        return
    if first:
        scale = curvature / (change * change).sum()
        for i in range(n):
            inverse[i, i] = scale
    moved = np.zeros(n)
    for i in range(n):
        for j in range(n):
            moved[i] += inverse[i, j] * change[j]
    factor = (1.0 + (change * moved).sum() / curvature) / curvature
    for i in range(n):
        for j in range(n):
            inverse[i, j] += factor * step[i] * step[j] - (moved[i] * step[j] + step[i] * moved[j]) / curvature


@kernel
def _log_sums(data: Any, scaled: Any, direct: bool, strength: float, slope: Any, logs: Any) -> float:
    """Sum of coefficient * log-sum-exp over groups; adds the derivative by g of each code to `slope`."""
    plans, lengths, log_weight, first = data.plans, data.lengths, data.log_weight, data.first
    coefficient, form = data.coefficient, data.form
    total = 0.0
    u = np.empty(len(lengths))
    for k in range(len(coefficient)):
        top = -np.inf
        for i in range(first[k], first[k + 1]):
            u[i] = log_weight[i] + _odds(plans[i], lengths[i], form[k], scaled, direct, strength)
            top = max(top, u[i])
        mass = 0.0
        for i in range(first[k], first[k + 1]):
            mass += np.exp(u[i] - top)
        logs[k] = top + np.log(mass)
        total += coefficient[k] * logs[k]
        for i in range(first[k], first[k + 1]):
            share = coefficient[k] * np.exp(u[i] - logs[k])
            if share != 0.0:
                _add_slope(plans[i], lengths[i], form[k], scaled, direct, strength, share, slope)
    return total


@kernel
def _soft_sign(later: float, earlier: float, direct: bool) -> float:
    if direct:
        return np.tanh(later - earlier)  # type: ignore[no-any-return]
    return (later - earlier) / (later + earlier)


@kernel
def _odds(plan: Any, length: int, form: int, scaled: Any, direct: bool, strength: float) -> float:
    total = 0.0
    for i in range(1 if form == PLAN else length - 1, length):
        for j in range(i):
            total += _soft_sign(scaled[plan[i]], scaled[plan[j]], direct)
    return total * strength * (4.0 / length if form == PLAN else 1.0)


@kernel
def _add_slope(
    plan: Any, length: int, form: int, scaled: Any, direct: bool, strength: float, share: float, slope: Any
) -> None:
    factor = share * strength * (4.0 / length if form == PLAN else 1.0)
    for i in range(1 if form == PLAN else length - 1, length):
        for j in range(i):
            t = _soft_sign(scaled[plan[i]], scaled[plan[j]], direct)
            d = factor * (1.0 - t * t)
            slope[plan[i]] += d
            slope[plan[j]] -= d
