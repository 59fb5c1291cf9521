"""Sets of plans as integer arrays: listed, rolled out, or drawn from a model.

The base distribution P0 of a plan is the dynamics times a uniform choice among the legal actions, where actions with
the same outcomes count once (`base_policy`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import BudgetError
from meip.base.kernels import kernel
from meip.model.graph import StateGraph
from meip.search.base_policy import action_shares
from meip.search.tree_kernels import TIE, generator, uniform
from meip.utility.ordering import batch_tau
from meip.utility.ranking import Ranking

__all__ = [
    "PlanSet", "check_table", "concatenate", "enumerate_plans", "history_count", "longest_plan", "roll_out",
    "sample_model", "sample_plans",
]  # fmt: skip

MOST_CELLS = 20_000_000  # states in a table of plans, 320 MB
MOST_EXPANSIONS = 50_000
HOPELESS = 16  # give up counting when one more layer like the last would exceed the limit this many times ..
LOST = 1000  # .. or all layers that are left


@dataclass(frozen=True)
class PlanSet:
    """N plans of at most H states."""

    states: NDArray[np.int64]  # [N, H] padded with -1
    actions: NDArray[
        np.int64
    ]  # [N, H] action number that led to the state; -1 at the first, beyond the end, or unknown
    lengths: NDArray[np.int64]  # [N]
    log_base: NDArray[np.float64]  # [N] log P0(plan), given the first state

    def __len__(self) -> int:
        return len(self.lengths)

    def plan(self, i: int) -> tuple[int, ...]:
        """The states of plan i."""
        return tuple(int(s) for s in self.states[i, : self.lengths[i]])

    def take(self, rows: Any) -> PlanSet:
        return PlanSet(self.states[rows], self.actions[rows], self.lengths[rows], self.log_base[rows])


def concatenate(parts: Sequence[PlanSet]) -> PlanSet:
    """Several sets as one."""
    width = max(p.states.shape[1] for p in parts)

    def padded(a: NDArray[np.int64]) -> NDArray[np.int64]:
        return np.pad(a, ((0, 0), (0, width - a.shape[1])), constant_values=-1)

    return PlanSet(
        np.concatenate([padded(p.states) for p in parts]),
        np.concatenate([padded(p.actions) for p in parts]),
        np.concatenate([p.lengths for p in parts]),
        np.concatenate([p.log_base for p in parts]),
    )


def history_count(graph: StateGraph, start: int, length: int, limit: int, stop: float | None = None) -> int:
    """How many plans of at most `length` states begin at `start`; more than `limit` if there are more.

    Expands every state that such a plan can leave, but gives up early where the growth so far leaves no hope, or where
    too many states would have to be expanded. No clock is involved, so that the answer is the same on every machine,
    unless `stop` (in `time.monotonic`) says when to give up.
    """
    expansions = 0
    layer: dict[int, int] = {start: 1}
    finished = 0
    for depth in range(1, length):
        following: dict[int, int] = {}
        for state, ways in layer.items():
            successors = graph.successors(state)
            if not successors:
                finished += ways
            for successor in successors:
                following[successor] = following.get(successor, 0) + ways
            expansions += 1
            late = stop is not None and time.monotonic() > stop
            if late or len(following) > limit or expansions > MOST_EXPANSIONS:
                return limit + 1
        total, before = sum(following.values()), sum(layer.values())
        layer = following
        if not total:
            break
        if finished + total > limit or total * total > HOPELESS * limit * before:
            return limit + 1
        if depth > 1 and (length - 1 - depth) * math.log(total / before) > math.log(LOST * limit / total):
            return limit + 1  # if it went on like that
    return finished + sum(layer.values())


def enumerate_plans(graph: StateGraph, start: int, length: int, limit: int = 1_000_000) -> PlanSet:
    """Every plan of at most `length` states from `start`, with its log P0. BudgetError where there are too many."""
    count = history_count(graph, start, length, limit)
    if count > limit:
        raise BudgetError(f"more than {limit} plans of {length} states: sample them instead, or raise the limit")
    length = longest_plan(graph, start, length)
    check_table(count, length)
    states = np.full((count, length), -1, np.int64)
    actions = np.full((count, length), -1, np.int64)
    lengths = np.zeros(count, np.int64)
    log_base = np.zeros(count)
    arrays = graph.arrays()
    _enumerate(arrays, action_shares(arrays), start, states, actions, lengths, log_base)
    return PlanSet(states, actions, lengths, log_base)


def longest_plan(graph: StateGraph, start: int, length: int) -> int:
    """States of the longest plan from `start`, at most `length`: horizons may be much longer than plans."""
    layer = {start}
    for depth in range(1, length):
        layer = {successor for state in layer for successor in graph.successors(state)}
        if not layer:
            return depth
    return length


def check_table(plans: int, length: int) -> None:
    """Refuse a table of plans that would not fit into memory, before it is made."""
    if plans * length > MOST_CELLS:
        raise BudgetError(
            f"{plans:,} plans of up to {length:,} states each are more than fit into a table of {MOST_CELLS:,} states: "
            "give a shorter horizon"
        )


@kernel
def _enumerate(graph: Any, share: Any, start: int, states: Any, actions: Any, lengths: Any, log_base: Any) -> None:
    """Depth first. `edge[n]` counts through the (action, outcome) pairs of the n-th state of the path."""
    horizon = states.shape[1]
    path, move = np.full(horizon, -1), np.full(horizon, -1)
    offset, outcome = np.zeros(horizon, np.int64), np.zeros(horizon, np.int64)
    logs = np.zeros(horizon)
    path[0] = start
    n = 1
    row = 0
    while n > 0:
        state = path[n - 1]
        count = graph.action_count[state] if n < horizon else 0
        if count > 0 and offset[n - 1] < count:
            action = graph.first_action[state] + offset[n - 1]
            o = graph.first_outcome[action] + outcome[n - 1]
            path[n], move[n] = graph.outcome_state[o], action
            logs[n] = logs[n - 1] + np.log(graph.outcome_probability[o] * share[action])
            outcome[n - 1] += 1
            if outcome[n - 1] == graph.outcome_count[action]:
                outcome[n - 1] = 0
                offset[n - 1] += 1
            offset[n] = 0
            outcome[n] = 0
            n += 1
            continue
        if count == 0:
            states[row, :n] = path[:n]
            actions[row, :n] = move[:n]
            lengths[row] = n
            log_base[row] = logs[n - 1]
            row += 1
        n -= 1


def roll_out(graph: StateGraph, start: int, length: int, count: int, seed: int) -> PlanSet:
    """`count` plans drawn from P0. Only states that are drawn get numbers: nothing is expanded."""
    rng = np.random.default_rng(seed)
    log_base = np.zeros(count)
    known: dict[int, Sequence[Any]] = {}
    plans = [[start] for _ in range(count)]
    for i, plan in enumerate(plans):
        for _ in range(1, length):
            step = graph.drawn(plan[-1], rng, known)
            if step is None:
                break
            plan.append(step[0])
            log_base[i] += np.log(step[1])
            if len(plan) * (i + 1) > MOST_CELLS:
                check_table(count, len(plan))
    lengths = np.array([len(plan) for plan in plans], np.int64)
    states = np.full((count, int(lengths.max(initial=1))), -1, np.int64)
    for i, plan in enumerate(plans):
        states[i, : len(plan)] = plan
    return PlanSet(states, np.full_like(states, -1), lengths, log_base)


def sample_model(
    graph: StateGraph,
    ranking: Ranking | None,
    start: int,
    length: int,
    count: int,
    seed: int,
    *,
    scale: float = 1.0,
    prefix: Sequence[int] = (),
    strength: Callable[[int], float] | None = None,
) -> tuple[PlanSet, float]:
    """Draw plans from exp(u) P0 by sequential Monte Carlo with one-step look-ahead; also an estimate of log Z.

    u = lambda(h) times relaxed tau, the mean over pairs of tanh(scale * difference), or of signs where scale is 0;
    `strength` is lambda, by default 2(h - 1). Without a ranking, or with one of zeros, this is a roll-out of P0. The
    estimate of Z is unbiased. `prefix` are the states before `start`, which count as history but are not drawn.
    """
    random = generator(seed)
    begin = len(prefix) + 1
    states = np.full((count, max(length, begin)), -1, np.int64)
    actions = np.full_like(states, -1)
    states[:, :begin] = [*prefix, start]
    lengths = np.full(count, begin, np.int64)
    log_base, log_weight, sums = np.zeros(count), np.zeros(count), np.zeros(count)
    alive = np.ones(count, np.bool_)
    log_z = 0.0
    coefficient = _per_pair(strength, max(length, 2))
    for n in range(begin, length):
        for state in np.unique(states[alive, n - 1]):
            graph.expand(int(state))
        g = np.zeros((len(graph), 1)) if ranking is None else ranking(graph)
        arrays = graph.arrays()
        _advance(
            arrays,
            action_shares(arrays),
            g,
            states,
            actions,
            lengths,
            log_base,
            log_weight,
            sums,
            alive,
            n,
            coefficient,
            scale,
            random,
        )
        if not alive.any():
            break
        if ranking is not None:
            log_z += _resample_if_poor(states, actions, lengths, log_base, log_weight, sums, alive, random)
    # a plan that ends before the horizon has its own lambda(h) / P(h) instead of that of the horizon
    own = {int(h): _per_pair(strength, int(h)) for h in np.unique(lengths)}
    log_weight += sums * (np.array([own[int(h)] for h in lengths]) - coefficient)
    top = log_weight.max()
    log_z += float(top + np.log(np.mean(np.exp(log_weight - top))))
    plans = PlanSet(states, actions, lengths, log_base)
    if ranking is not None:
        plans = plans.take(_systematic(np.exp(log_weight - top), uniform(random)))
    return plans, log_z


def _per_pair(strength: Callable[[int], float] | None, h: int) -> float:
    """lambda(h) over the number of pairs."""
    return 4.0 / h if strength is None or h < 2 else strength(h) / (0.5 * h * (h - 1))


@kernel
def _advance(
    graph: Any, share: Any, g: Any, states: Any, actions: Any, lengths: Any, log_base: Any, log_weight: Any, sums: Any,
    alive: Any, n: int, coefficient: float, scale: float, random: Any,
) -> None:  # fmt: skip
    """One step of every living particle: successors in proportion to P0 * exp(coefficient * pair sums)."""
    members = g.shape[1]
    for i in range(len(states)):
        if not alive[i]:
            continue
        state = states[i, n - 1]
        count = graph.action_count[state]
        if count == 0:
            alive[i] = False
            continue
        first = graph.first_action[state]
        begin = graph.first_outcome[first]
        end = graph.first_outcome[first + count - 1] + graph.outcome_count[first + count - 1]
        mass = np.empty(end - begin)
        gain = np.empty(end - begin)
        base = np.empty(end - begin)
        move = np.empty(end - begin, np.int64)
        total = 0.0
        for a in range(first, first + count):
            for o in range(graph.first_outcome[a], graph.first_outcome[a] + graph.outcome_count[a]):
                following = graph.outcome_state[o]
                pair_sum = 0.0
                for j in range(n):
                    for m in range(members):
                        difference = g[following, m] - g[states[i, j], m]
                        if scale > 0:
                            pair_sum += np.tanh(scale * difference)
                        elif abs(difference) > TIE:
                            pair_sum += 1.0 if difference > 0 else -1.0
                k = o - begin
                gain[k] = pair_sum / members
                base[k] = graph.outcome_probability[o] * share[a]
                mass[k] = base[k] * np.exp(coefficient * gain[k])
                move[k] = a
                total += mass[k]
        draw = uniform(random) * total
        k = 0
        while k < len(mass) - 1 and draw >= mass[k]:
            draw -= mass[k]
            k += 1
        states[i, n] = graph.outcome_state[begin + k]
        actions[i, n] = move[k]
        lengths[i] = n + 1
        sums[i] += gain[k]
        log_base[i] += np.log(base[k])
        log_weight[i] += np.log(total)


def _resample_if_poor(
    states: Any, actions: Any, lengths: Any, log_base: Any, log_weight: Any, sums: Any, alive: Any, random: Any
) -> float:
    """Systematic resampling when the effective sample size falls below half; returns what moves into log Z."""
    top = log_weight.max()
    weight = np.exp(log_weight - top)
    if weight.sum() ** 2 > 0.5 * len(weight) * (weight**2).sum():
        return 0.0
    rows = _systematic(weight, uniform(random))
    for part in (states, actions, lengths, log_base, sums, alive):
        part[:] = part[rows]
    log_weight[:] = 0.0
    return float(top + np.log(weight.mean()))


def _systematic(weight: NDArray[np.float64], draw: float) -> NDArray[np.int64]:
    positions = (np.arange(len(weight)) + draw) / len(weight)
    cumulative = np.cumsum(weight) / weight.sum()
    return np.minimum(np.searchsorted(cumulative, positions, side="right"), len(weight) - 1)


def sample_plans(
    graph: StateGraph,
    ranking: Ranking,
    count: int,
    strength: Callable[[int], float] | float,
    *,
    start: int | None = None,
    length: int | None = None,
    seed: int = 0,
    limit: int = 200_000,
) -> PlanSet:
    """Draw plans in proportion to exp(lambda * tau) P0, with the sign-tau of the ranking, exactly.

    `strength` is lambda, or a function of the plan's length. BudgetError where the plans cannot be listed: then
    `sample_model` draws from the relaxed model.
    """
    first = int(graph.initial[0]) if start is None else start
    plans = enumerate_plans(graph, first, graph.horizon if length is None else length, limit)
    g = ranking(graph)
    tau = np.mean(
        [batch_tau(plans.states, plans.lengths, np.ascontiguousarray(g[:, m])) for m in range(g.shape[1])], axis=0
    )
    lam = np.array([strength(int(h)) for h in plans.lengths]) if callable(strength) else float(strength)
    log_p = plans.log_base + lam * tau
    probability = np.exp(log_p - log_p.max())
    rng = np.random.default_rng(seed)
    return plans.take(rng.choice(len(plans), size=count, p=probability / probability.sum()))
