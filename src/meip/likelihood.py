"""The likelihood objective (the paper's Eq. 11-12, without its guessed pair labels).

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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.grouping import group_plans, group_rows
from meip.kernels import kernel
from meip.pool import Pool
from meip.training import Case, Shown, TrainingSet

__all__ = ["Fit", "Likelihood", "LikelihoodOptions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
PLAN, STEP = 0, 1
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
        self, training: TrainingSet, pools: Sequence[Pool] | None, options: LikelihoodOptions | None = None
    ) -> None:
        self.options = options or LikelihoodOptions()
        parts: list[tuple[Ints, Ints, Floats, float, int]] = []
        self._case_group: list[int] = []
        offsets = training.offsets
        for number, case in enumerate(training.cases):
            offset = int(offsets[case.graph])
            if pools is not None and self.options.plans:
                pool = pools[number]
                self._case_group.append(len(parts))
                size = -self.options.plans * len(case.shown)
                parts.append((pool.plans.states + offset, pool.plans.lengths, pool.log_weight, size, PLAN))
                parts += [(*_as_arrays(s, offset), self.options.plans, PLAN) for s in case.shown]
            if self.options.steps:
                parts += _steps(training, case, offset, self.options.steps)
        self._groups = _assemble(parts)
        self._intended = training.demonstrated_rows()

    def fit(self, features: Floats, start: Floats | None = None, *, tolerance: float = 1e-7) -> Fit:
        """Maximise J by L-BFGS, from w = 0 unless told otherwise."""
        from scipy.optimize import minimize

        problem = self.compress(features)
        size = features.shape[1]
        w0 = np.zeros(size) if start is None else np.asarray(start, dtype=np.float64)
        if size == 0:
            value, _, logs = problem.evaluate(w0)
            return Fit(w0, value, self._log_z(logs), True, 0)
        found = minimize(
            problem.negative, w0, jac=True, method="L-BFGS-B",
            options={"maxiter": 500, "ftol": 1e-13, "gtol": tolerance * 10, "maxcor": 20},
        )  # fmt: skip
        value, _, logs = problem.evaluate(found.x)
        return Fit(found.x, value, self._log_z(logs), bool(found.success), int(found.nit))

    def evaluate(self, features: Floats, weights: Floats) -> tuple[float, Floats]:
        """J and its gradient at these weights."""
        value, gradient, _ = self.compress(features).evaluate(np.asarray(weights, dtype=np.float64))
        return value, gradient

    def slopes(self, features: Floats, weights: Floats) -> Floats:
        """dJ/dg of every row at these weights: a new feature f would have the gradient f . slopes at weight 0."""
        problem = _Compressed(features, self._groups, self._intended, self.options, merge=False)
        return problem.slopes(np.asarray(weights, dtype=np.float64))

    def compress(self, features: Floats) -> _Compressed:
        """The same objective on the distinct rows of the features."""
        return _Compressed(features, self._groups, self._intended, self.options)

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
    ) -> None:
        self.options = options
        self.features, self.groups, code = features, groups, np.arange(len(features))
        if merge:
            code, representatives = group_rows(features)
            self.features = np.ascontiguousarray(features[representatives])
            self.groups = _merged(groups, code)
        self.pair_later, self.pair_earlier, self.pair_count = _differing_pairs([code[rows] for rows in intended])

    def evaluate(self, w: Floats) -> tuple[float, Floats, Floats]:
        """J, its gradient, and the log-sum-exp of each group."""
        value, slope, logs = self._by_state(self.features @ w)
        value -= 0.5 * self.options.alpha * float(w @ w)
        return value, self.features.T @ slope - self.options.alpha * w, logs

    def slopes(self, w: Floats) -> Floats:
        return self._by_state(self.features @ w)[1]

    def _by_state(self, g: Floats) -> tuple[float, Floats, Floats]:
        """J without its penalty on w, the derivative by the g of each state, and the log-sum-exps."""
        o, p = self.options, self.groups
        slope = np.zeros_like(g)
        logs = np.zeros(len(p.coefficient))
        direct = bool(len(g)) and float(np.ptp(g)) > SAFE_SPREAD
        scaled = g if direct or not len(g) else np.exp(2.0 * (g - g.max()))
        value = _log_sums(
            p.plans, p.lengths, p.log_weight, p.first, p.coefficient, p.form, scaled, direct, o.strength, slope, logs
        )
        short = np.maximum(0.0, o.margin - (g[self.pair_later] - g[self.pair_earlier]))
        value -= 0.5 * o.hinge * float(self.pair_count @ short**2)
        pull = o.hinge * self.pair_count * short
        slope += np.bincount(self.pair_later, pull, len(g)) - np.bincount(self.pair_earlier, pull, len(g))
        return value, slope, logs

    def negative(self, w: Floats) -> tuple[float, Floats]:
        value, gradient, _ = self.evaluate(w)
        return -value, -gradient


def _as_arrays(shown: Shown, offset: int) -> tuple[Ints, Ints, Floats]:
    width = max(len(p) for p in shown.plans)
    states = np.full((len(shown.plans), width), -1, np.int64)
    for row, plan in zip(states, shown.plans, strict=True):
        row[: len(plan)] = np.array(plan) + offset
    return states, np.array([len(p) for p in shown.plans], np.int64), np.array(shown.log_share)


def _steps(
    training: TrainingSet, case: Case, offset: int, weight: float
) -> list[tuple[Ints, Ints, Floats, float, int]]:
    """For each intended step: + the shown successor, - the log-sum-exp over all successors."""
    graph = training.graphs[case.graph]
    parts: list[tuple[Ints, Ints, Floats, float, int]] = []
    for shown in case.shown:
        states = shown.intended
        for t in range(1, len(states)):
            numbers = graph.action_numbers(states[t - 1])
            mass: dict[int, float] = {}
            for number in numbers:
                for probability, successor in graph.outcomes(number):
                    mass[successor] = mass.get(successor, 0.0) + probability / len(numbers)
            mass.setdefault(states[t], 1.0 / (len(numbers) + 1))  # a move that the world does not list by itself
            history = np.array(states[:t], np.int64) + offset
            ends = np.array(list(mass), np.int64) + offset
            plans = np.column_stack([np.broadcast_to(history, (len(ends), t)), ends])
            log_mass = np.log(np.array(list(mass.values())))
            lengths = np.full(len(ends), t + 1, np.int64)
            chosen = np.flatnonzero(ends == states[t] + offset)
            parts.append((plans[chosen], lengths[chosen], np.zeros(1), weight, STEP))
            parts.append((plans, lengths, log_mass, -weight, STEP))
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
    rows, log_weight, first = group_plans(groups.plans, groups.lengths, groups.log_weight, groups.first, code)
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
def _log_sums(
    plans: Any, lengths: Any, log_weight: Any, first: Any, coefficient: Any, form: Any, scaled: Any, direct: bool,
    strength: float, slope: Any, logs: Any,
) -> float:  # fmt: skip
    """Sum of coefficient * log-sum-exp over groups; adds the derivative by g of each code to `slope`."""
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
