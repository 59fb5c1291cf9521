"""A finite-horizon world as arrays, with the passes that maximum-entropy methods need over it.

An episode ends at a state without actions, or when it has as many states as the horizon; ended plans are never padded.
Soft values carry *causal* entropy: the agent chooses its actions, not the outcomes of chance (Ziebart 2010),

    V_t(s) = r(s) + log sum_a exp(sum_o P(o) V_{t+1}(s_o)),      greedy: max_a in place of log sum_a exp
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Floats, Ints
from meip.base.errors import LearningError
from meip.base.kernels import kernel
from meip.model.graph import GraphArrays, StateGraph

__all__ = ["Choice", "Policy", "Statistic", "TabularWorld", "plan_probability", "plan_statistics", "solve", "visits"]

Choice = Literal["soft", "greedy"]
Statistic = Literal["visits", "final"]

TIE = 1e-9  # actions whose greedy values differ by no more than this are chosen with equal probability


@dataclass(frozen=True)
class TabularWorld:
    """States, actions and outcomes of a fully expanded world, with the features of each state."""

    arrays: GraphArrays
    initial: Floats  # [S] probability that a plan starts there
    horizon: int  # in states
    features: Floats  # [S, M]
    depth: Ints = field(init=False, repr=False)  # [S] fewest steps in which the state is reached; the horizon if never

    def __post_init__(self) -> None:
        states = self.arrays.action_count.size
        object.__setattr__(self, "features", np.ascontiguousarray(self.features, dtype=np.float64))
        object.__setattr__(self, "initial", np.ascontiguousarray(self.initial, dtype=np.float64))
        if self.features.ndim != 2 or self.features.shape[0] != states or not np.isfinite(self.features).all():
            raise LearningError(f"{states} states need finite features [{states}, M], got {self.features.shape}")
        if self.initial.shape != (states,) or abs(self.initial.sum() - 1) > 1e-6 or (self.initial < 0).any():
            raise LearningError(f"initial must be a probability for each of the {states} states")
        if self.horizon < 1:
            raise LearningError(f"a horizon counts states and is at least 1, got {self.horizon}")
        depth = _depths(self.arrays, self.initial, self.horizon)
        object.__setattr__(self, "depth", depth)
        unknown = np.flatnonzero((self.arrays.action_count < 0) & (depth < self.horizon - 1))
        if unknown.size:
            raise LearningError(
                f"state {unknown[0]} is reached before the horizon of {self.horizon} states but never expanded: call "
                "expand_all on the graph, or learn from a pool of plans"
            )

    @classmethod
    def from_graph(cls, graph: StateGraph, features: ArrayLike, horizon: int | None = None) -> TabularWorld:
        """The whole of a world whose states can be listed; features [S, M] over the graph's state numbers."""
        graph.expand_all(horizon=horizon)
        initial = np.zeros(len(graph))
        np.add.at(initial, graph.initial, graph.initial_probability)
        return cls(graph.arrays(), initial, graph.horizon if horizon is None else horizon, np.asarray(features))


@dataclass(frozen=True)
class Policy:
    """Probabilities of the actions of each state at each step, and the value of each state."""

    actions: Floats  # [H, A]
    values: Floats  # [H, S]; 0 for states that cannot be reached by that step


def solve(
    world: TabularWorld,
    reward: ArrayLike,
    *,
    statistic: Statistic = "visits",
    choice: Choice = "soft",
    discount: float = 1.0,
) -> Policy:
    """The soft or greedy policy for a reward per state, earned at each visit or in the final state only."""
    earned = np.ascontiguousarray(reward, dtype=np.float64)
    a, states = world.arrays, world.arrays.action_count.size
    if earned.shape != (states,) or not np.isfinite(earned).all():
        raise LearningError(f"the reward must be a finite number for each of the {states} states, got {earned.shape}")
    if statistic not in ("visits", "final") or choice not in ("soft", "greedy"):
        raise LearningError(f"statistic is visits or final, choice soft or greedy; got {statistic!r} and {choice!r}")
    values = np.zeros((world.horizon, states))
    actions = np.zeros((world.horizon, a.first_outcome.size))
    _backward(a, world.depth, earned, statistic == "visits", choice == "soft", discount, values, actions)
    return Policy(actions, values)


def visits(world: TabularWorld, policy: Policy) -> tuple[Floats, Floats]:
    """Probability of being in each state at each step [H, S], and of ending in it [S]."""
    reached, final = np.zeros(policy.values.shape), np.zeros(world.initial.size)
    reached[0] = world.initial
    _forward(world.arrays, policy.actions, reached, final)
    return reached, final


def plan_statistics(features: Floats, plans: Ints, lengths: Ints, statistic: Statistic) -> Floats:
    """What a plan is judged by: the features of its states summed up, or those of its last state. [N, M]"""
    if (lengths < 1).any():
        raise LearningError("a plan has at least one state")
    if statistic == "final":
        return np.asarray(features[plans[np.arange(lengths.size), lengths - 1]], dtype=np.float64)
    total = np.zeros((lengths.size, features.shape[1]))
    for step in range(plans.shape[1]):
        rows = np.flatnonzero(step < lengths)
        total[rows] += features[plans[rows, step]]
    return total


@kernel
def _depths(graph: Any, initial: Floats, horizon: int) -> Ints:
    """Fewest steps in which each state can be reached; the horizon where it cannot."""
    first_action, action_count, first_outcome, outcome_count, outcome_state, outcome_probability = graph
    depth = np.full(initial.size, horizon)
    queue, head, tail = np.empty(initial.size, np.int64), 0, 0
    for s in range(initial.size):
        if initial[s] > 0.0:
            depth[s] = 0
            queue[tail] = s
            tail += 1
    while head < tail:
        s = queue[head]
        head += 1
        if depth[s] < horizon - 1:
            for a in range(first_action[s], first_action[s] + action_count[s]):
                for o in range(first_outcome[a], first_outcome[a] + outcome_count[a]):
                    following = outcome_state[o]
                    if depth[following] == horizon and outcome_probability[o] > 0.0:
                        depth[following] = depth[s] + 1
                        queue[tail] = following
                        tail += 1
    return depth


@kernel
def _backward(
    graph: Any, depth: Ints, reward: Floats, every_visit: bool, soft: bool, discount: float, values: Floats,
    actions: Floats,
) -> None:  # fmt: skip
    first_action, action_count, first_outcome, outcome_count, outcome_state, outcome_probability = graph
    last = values.shape[0] - 1
    values[last] = reward
    for t in range(last - 1, -1, -1):
        following, policy = values[t + 1], actions[t]
        for s in range(values.shape[1]):
            if depth[s] > t:
                continue
            if action_count[s] <= 0:  # the end; or a state that is only reached in the last step
                values[t, s] = reward[s]
                continue
            start, stop = first_action[s], first_action[s] + action_count[s]
            best = -np.inf
            for a in range(start, stop):
                value = 0.0
                for o in range(first_outcome[a], first_outcome[a] + outcome_count[a]):
                    value += outcome_probability[o] * following[outcome_state[o]]
                policy[a] = value
                best = max(best, value)
            total = 0.0
            for a in range(start, stop):
                behind = policy[a] - best
                if behind == 0.0 or (not soft and behind >= -TIE):
                    policy[a] = 1.0
                else:
                    policy[a] = math.exp(behind) if soft else 0.0
                total += policy[a]
            for a in range(start, stop):
                policy[a] /= total
            onward = best + math.log(total) if soft else best
            values[t, s] = discount * onward + (reward[s] if every_visit else 0.0)


@kernel
def _forward(graph: Any, actions: Floats, reached: Floats, final: Floats) -> None:
    first_action, action_count, first_outcome, outcome_count, outcome_state, outcome_probability = graph
    last = reached.shape[0] - 1
    for t in range(last + 1):
        for s in range(reached.shape[1]):
            mass = reached[t, s]
            if mass == 0.0:
                continue
            if t == last or action_count[s] <= 0:
                final[s] += mass
                continue
            for a in range(first_action[s], first_action[s] + action_count[s]):
                share = mass * actions[t, a]
                if share > 0.0:
                    for o in range(first_outcome[a], first_outcome[a] + outcome_count[a]):
                        reached[t + 1, outcome_state[o]] += share * outcome_probability[o]


@kernel
def plan_probability(graph: Any, actions: Floats, plan: Ints) -> float:
    """Probability of a plan's states given its first one, whatever actions lead through them."""
    first_action, action_count, first_outcome, outcome_count, outcome_state, outcome_probability = graph
    product = 1.0
    for t in range(plan.shape[0] - 1):
        s, step = plan[t], 0.0
        for a in range(first_action[s], first_action[s] + action_count[s]):
            for o in range(first_outcome[a], first_outcome[a] + outcome_count[a]):
                if outcome_state[o] == plan[t + 1]:
                    step += actions[t, a] * outcome_probability[o]
        product *= step
    return product
