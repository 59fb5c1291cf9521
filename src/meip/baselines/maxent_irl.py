"""MaxEnt-IRL (Ziebart), the paper's baseline: a reward that is linear in the same concepts, without order.

Two statistics of a plan are in use and both belong in the tables: ``visits``, the features of its states summed up, as
the paper prints it, and ``final``, those of its last state only. The weights maximise

    J(w) = w . f(demonstrations) - V_0(w) - alpha/2 |w|^2,      dJ/dw = f(demonstrations) - E_w[f] - alpha w

with V_0 the soft value of the initial states: the dual of matching f at maximal causal entropy. On a `TabularWorld` it
is exact; where states cannot be listed, a `PlanPool` stands for the plans: P(plan) ~ weight * exp(w . f(plan)).

In the didactic MDP the penalty decides. Demonstrations S0, S1, g never show the bad place, so no finite w matches f; as
the policy saturates at a1, alpha w = f(demonstrations) - E[f | a1]: at p = .1 and horizon 5 (b1 is visited 4 times)
w(bad) : w(goal) = -.4 : .1, whatever alpha is. The greedy, undiscounted policy of that reward in a world with another p
prefers a2 as soon as (1 - p) w(goal) + 4p w(bad) < w(bad) + w(goal), that is p > 4/17 = .235 (the paper's .24). At
horizon 3 the ratio is -.2 : .1 and the break-even .4. Demonstrations that contain failures in proportion p would give
-.6 : -.1 and .261 instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Floats, Ints
from meip.base.errors import LearningError, NotFittedError
from meip.baselines.tabular import (
    Choice,
    Policy,
    Statistic,
    TabularWorld,
    plan_probability,
    plan_statistics,
    solve,
    visits,
)
from meip.learning.estimator import Estimator

__all__ = ["MaxEntIRL", "PlanPool", "TabularWorld"]

Plans = Sequence[Sequence[int]]


@dataclass(frozen=True)
class PlanPool:
    """Plans that stand for all plans of a problem, each with the log of its weight: log P0, less log of the probability
    with which it was drawn (a constant for rollouts of P0)."""

    plans: Ints  # [N, H] state ids padded with -1
    lengths: Ints  # [N]
    log_weights: Floats  # [N]
    features: Floats  # [S, M]

    def __post_init__(self) -> None:
        for name, dtype in (("plans", np.int64), ("lengths", np.int64), ("log_weights", float), ("features", float)):
            object.__setattr__(self, name, np.ascontiguousarray(getattr(self, name), dtype=dtype))
        n = self.lengths.size
        if n == 0 or self.plans.ndim != 2 or self.plans.shape[0] != n or self.log_weights.shape != (n,):
            raise LearningError(f"a pool needs as many plans and log weights as lengths, at least one; got {n} lengths")


@dataclass(eq=False, repr=False)
class MaxEntIRL(Estimator):
    """Maximum-entropy inverse reinforcement learning, with scikit-learn's estimator contract.

    Parameters: `statistic` visits or final; `alpha` the strength of the L2 penalty, per demonstration; `tol` on the
    largest entry of the gradient; `max_iterations` of L-BFGS.
    """

    statistic: Statistic = "visits"
    alpha: float = 0.01
    tol: float = 1e-6
    max_iterations: int = 1000

    def fit(
        self,
        problems: TabularWorld | PlanPool | Sequence[TabularWorld | PlanPool],
        demonstrations: Plans | Sequence[Plans],
    ) -> MaxEntIRL:
        """Learn from the demonstrations (plans of state ids) of one problem, or of several with the same features."""
        from scipy.optimize import minimize

        self._check()
        worlds = [problems] if isinstance(problems, TabularWorld | PlanPool) else list(problems)
        shown: list[Plans] = [demonstrations] if isinstance(problems, TabularWorld | PlanPool) else list(demonstrations)  # type: ignore[list-item, arg-type]
        targets, shares = _targets(worlds, shown, self.statistic)
        alpha = self.alpha

        def loss(w: Floats) -> tuple[float, Floats]:
            value, slope = 0.5 * alpha * float(w @ w), alpha * w
            for world, target, share in zip(worlds, targets, shares, strict=True):
                top, expected = _log_partition(world, w, self.statistic)
                value += share * (top - float(w @ target))
                slope = slope + share * (expected - target)
            return value, slope

        start = np.zeros(worlds[0].features.shape[1])
        found = minimize(
            loss,
            start,
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": self.max_iterations, "gtol": self.tol, "ftol": 0.0},
        )
        self.weights_ = np.asarray(found.x, dtype=np.float64)
        self.objective_ = -float(found.fun)
        self.gradient_ = -np.asarray(found.jac, dtype=np.float64)
        self.n_iter_ = int(found.nit)
        self.evaluations_ = int(found.nfev)
        return self

    def reward(self, world: TabularWorld | PlanPool) -> Floats:
        """The learned reward of each state [S]."""
        return np.asarray(world.features @ self._weights(), dtype=np.float64)

    def policy(self, world: TabularWorld, choice: Choice = "greedy") -> Policy:
        """How the learned reward is pursued in a world, which may differ from the one it was learned in."""
        return solve(world, self.reward(world), statistic=self.statistic, choice=choice)

    def probability(self, world: TabularWorld, plans: Plans, choice: Choice = "greedy") -> Floats:
        """Probability of each plan (as the beginning of an episode) under the policy and the world's dynamics."""
        policy = self.policy(world, choice)
        rows = [_plan(plan, world.initial.size, world.horizon) for plan in plans]
        found = [world.initial[r[0]] * plan_probability(world.arrays, policy.actions, r) for r in rows]
        return np.array(found, dtype=np.float64)

    def visits(self, world: TabularWorld, choice: Choice = "greedy") -> tuple[Floats, Floats]:
        """Probability of each state at each step [H, S], and of ending there [S], under the policy."""
        return visits(world, self.policy(world, choice))

    def sample(self, world: TabularWorld, n: int, seed: int = 0, choice: Choice = "greedy") -> list[tuple[int, ...]]:
        """n plans drawn from the policy and the dynamics."""
        policy, random = self.policy(world, choice), np.random.default_rng(seed)
        return [_draw(world, policy, random) for _ in range(n)]

    def score(self, world: TabularWorld | PlanPool, demonstrations: Plans) -> float:
        """Mean of w . f(demonstration) - log Z: higher is better, 0 at best."""
        targets, _ = _targets([world], [demonstrations], self.statistic)
        top, _ = _log_partition(world, self._weights(), self.statistic)
        return float(self._weights() @ targets[0]) - top

    def _weights(self) -> Floats:
        if not hasattr(self, "weights_"):
            raise NotFittedError("this MaxEntIRL has not learned yet: call fit(world, demonstrations) first")
        return self.weights_

    def _check(self) -> None:
        if self.statistic not in ("visits", "final"):
            raise LearningError(f"unknown statistic {self.statistic!r}; known: final, visits")
        if self.alpha < 0 or self.tol <= 0 or self.max_iterations < 1:
            raise LearningError(
                f"alpha must be at least 0, tol above 0 and max_iterations at least 1; got {self.get_params()}"
            )


def _log_partition(world: TabularWorld | PlanPool, w: Floats, statistic: Statistic) -> tuple[float, Floats]:
    """V_0 (the log of the partition function) and its derivative by w, the expected statistics [M]."""
    if isinstance(world, PlanPool):
        found = plan_statistics(world.features, world.plans, world.lengths, statistic)
        logs = found @ w + world.log_weights
        top, base = float(logs.max()), float(world.log_weights.max())
        weights = np.exp(logs - top)
        total = float(np.log(np.exp(world.log_weights - base).sum()) + base)
        return top + float(np.log(weights.sum())) - total, weights @ found / weights.sum()
    policy = solve(world, world.features @ w, statistic=statistic)
    reached, final = visits(world, policy)
    counted = reached.sum(axis=0) if statistic == "visits" else final
    return float(world.initial @ policy.values[0]), np.asarray(counted @ world.features, dtype=np.float64)


def _targets(
    worlds: Sequence[TabularWorld | PlanPool], demonstrations: Sequence[Plans], statistic: Statistic
) -> tuple[list[Floats], list[float]]:
    """The mean statistics of each problem's demonstrations, and each problem's share of all demonstrations."""
    if not worlds or len(worlds) != len(demonstrations):
        raise LearningError(f"{len(worlds)} problems need as many sets of demonstrations, got {len(demonstrations)}")
    if len({world.features.shape[1] for world in worlds}) != 1:
        raise LearningError("problems must share their features: the numbers of columns differ")
    counts = [len(plans) for plans in demonstrations]
    if not all(counts):
        raise LearningError("every problem needs at least one demonstration")
    targets = []
    for world, plans in zip(worlds, demonstrations, strict=True):
        limit = world.horizon if isinstance(world, TabularWorld) else world.plans.shape[1]
        rows = [_plan(plan, world.features.shape[0], limit) for plan in plans]
        padded = np.full((len(rows), max(row.size for row in rows)), -1, dtype=np.int64)
        for i, row in enumerate(rows):
            padded[i, : row.size] = row
        lengths = np.array([row.size for row in rows], dtype=np.int64)
        targets.append(plan_statistics(world.features, padded, lengths, statistic).mean(axis=0))
    return targets, [count / sum(counts) for count in counts]


def _plan(plan: ArrayLike, n_states: int, horizon: int) -> Ints:
    row = np.ascontiguousarray(plan, dtype=np.int64)
    if row.ndim != 1 or not 1 <= row.size <= horizon or row.min() < 0 or row.max() >= n_states:
        raise LearningError(
            f"plan {row.tolist()}: expected 1 to {horizon} (the horizon) state ids from 0 to {n_states - 1}"
        )
    return row


def _draw(world: TabularWorld, policy: Policy, random: np.random.Generator) -> tuple[int, ...]:
    a = world.arrays
    plan = [int(random.choice(world.initial.size, p=world.initial / world.initial.sum()))]
    while len(plan) < world.horizon and a.action_count[plan[-1]] > 0:
        s = plan[-1]
        chances = policy.actions[len(plan) - 1, a.first_action[s] : a.first_action[s] + a.action_count[s]]
        action = int(a.first_action[s] + random.choice(chances.size, p=chances / chances.sum()))
        first, count = int(a.first_outcome[action]), int(a.outcome_count[action])
        odds = a.outcome_probability[first : first + count]
        plan.append(int(a.outcome_state[first + random.choice(count, p=odds / odds.sum())]))
    return tuple(plan)
