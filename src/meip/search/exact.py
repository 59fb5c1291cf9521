"""Exact search: backward induction over the tree of histories, for worlds small enough to look at every plan."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Floats, Ints, Words
from meip.base.errors import BudgetError
from meip.base.kernels import kernel, uniform
from meip.model.graph import StateGraph
from meip.search.plans import history_count, longest_plan
from meip.search.query import Clock, Found, Query, RootMove, pair_sums
from meip.search.tree_kernels import TIE, generator, increment, worth
from meip.utility.ranking import Ranking

__all__ = ["search"]

LONGEST = 2000  # states of a plan: four tables of its square
BATCH = 1000  # steps of the kernel until the first look at the clock
DEPTH, LEAVES, DONE = range(3)


class _Stack(NamedTuple):
    """Where the induction is. H states of a plan at most; entry n is about the history of length n."""

    path: Ints  # [H + 1]
    soft: Floats  # [H + 1] pair sums of the history
    sign: Floats  # [H + 1]
    offset: Ints  # [H + 1] the action that is being looked at
    outcome: Ints  # [H + 1] .. and its outcome
    mean: Floats  # [H + 1] of that action so far
    top: Floats  # [H + 1] of the best action
    ties: Ints  # [H + 1] how many actions are as good as the best one
    likely: Floats  # [H + 1] probability of the outcome whose continuation is kept for the current action
    plan: Ints  # [H + 1, H + 1] best continuation: states,
    moves: Ints  # [H + 1, H + 1] actions,
    plan_length: Ints  # [H + 1] and its length
    tail: Ints  # [H + 1, H + 1] the same for the current action
    tail_moves: Ints  # [H + 1, H + 1]
    tail_length: Ints  # [H + 1]
    values: Floats  # [A] of each first action
    counts: Ints  # [3] depth, plans looked at, done
    random: Words  # [1]


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """The optimum. `BudgetError` where there are more plans than `Query.nodes`; out of time, the best plan so far."""
    horizon, clock = query.length(graph, history), Clock(query, graph)
    stop = None if query.seconds is None else clock.begun + query.seconds
    if history_count(graph, history[-1], horizon - len(history) + 1, query.nodes, stop) > query.nodes:
        if clock.late:
            return _unfinished(graph, ranking, history, horizon, query, clock)
        raise BudgetError(
            f"exact search: more than {query.nodes} plans to look at; use method='mcts', or a smaller horizon"
        )
    g = ranking(graph)
    stack = _started(graph, g, history, horizon, query)
    settings, reason = query.numbers(horizon), ""
    batch = BATCH
    while not stack.counts[DONE] and not reason:
        _induce(graph.arrays(), g, stack, settings, len(history), batch)
        batch = clock.pace(batch)
        clock.expansions = int(stack.counts[LEAVES])
        reason = "" if stack.counts[DONE] else clock.reason()
    start = len(history)
    if not np.isfinite(stack.top[start]):
        return _unfinished(graph, ranking, history, horizon, query, clock)
    length = int(stack.plan_length[start])
    states = (*(int(s) for s in history), *(int(s) for s in stack.plan[start, start:length]))
    actions = tuple(int(a) for a in stack.moves[start, start:length])
    numbers = graph.action_numbers(history[-1]) if start < horizon else range(0)
    root = tuple(RootMove(n, float(v)) for n, v in zip(numbers, stack.values, strict=True))
    value = float(stack.top[start])
    return Found(states, actions, value, reason or "finished", clock.expansions, clock.seconds, "exact", root)


def _unfinished(
    graph: StateGraph, ranking: Ranking, history: Sequence[int], horizon: int, query: Query, clock: Clock
) -> Found:
    """No plan was finished in time: stay where one is."""
    past = tuple(int(s) for s in history)
    soft, sign = pair_sums(ranking(graph, past), past, query.scale)
    value = query.worth(soft, sign, len(past), horizon)
    return Found(past, (), value, clock.reason() or "seconds", clock.expansions, clock.seconds, "exact")


def _started(graph: StateGraph, g: Floats, history: Sequence[int], horizon: int, query: Query) -> _Stack:
    start = len(history)
    longest = longest_plan(graph, history[-1], horizon - start + 1)
    if longest > LONGEST:
        raise BudgetError(f"exact search: plans of {longest:,} states, at most {LONGEST:,} fit; use method='beam'")
    size = start + longest
    actions = len(graph.action_numbers(history[-1])) if start < horizon else 0
    lines = np.zeros((6, size), np.int64)
    squares = np.zeros((4, size, size), np.int64)
    stack = _Stack(
        lines[0], np.zeros(size), np.zeros(size), lines[1], lines[2], np.zeros(size), np.full(size, -np.inf), lines[3],
        np.full(size, -1.0), squares[0], squares[1], lines[4], squares[2], squares[3], lines[5],
        np.full(actions, -np.inf), np.array([start, 0, 0]), generator(query.seed),
    )  # fmt: skip
    stack.path[:start] = history
    stack.soft[start], stack.sign[start] = pair_sums(g, history, query.scale)
    return stack


@kernel
def _induce(graph: Any, g: Any, stack: Any, options: Any, start: int, budget: int) -> None:
    """Go on for `budget` steps. Every state on the way must be expanded."""
    horizon, scale, rule = int(options[0]), options[1], int(options[3])
    path, soft, sign, offset, outcome = stack.path, stack.soft, stack.sign, stack.offset, stack.outcome
    mean, top, likely, counts = stack.mean, stack.top, stack.likely, stack.counts
    n = counts[DEPTH]
    for _ in range(budget):
        state = path[n - 1]
        count = graph.action_count[state]
        if n >= horizon or count == 0:
            counts[LEAVES] += 1
            top[n] = worth(soft[n], sign[n], n, rule, options[4], options[5], horizon)
            stack.plan_length[n] = n
        elif offset[n] < count:
            action = graph.first_action[state] + offset[n]
            following = graph.outcome_state[graph.first_outcome[action] + outcome[n]]
            more_soft, more_sign = increment(g, path, n, following, scale)
            path[n] = following
            soft[n + 1], sign[n + 1] = soft[n] + more_soft, sign[n] + more_sign
            n += 1
            offset[n], outcome[n], mean[n], top[n], likely[n], stack.ties[n] = 0, 0, 0.0, -np.inf, -1.0, 0
            continue
        if n == start:
            counts[DONE] = 1
            break
        n -= 1
        _give(graph, stack, n, start)
    counts[DEPTH] = n


@kernel
def _give(graph: Any, stack: Any, above: int, start: int) -> None:
    """The histories below path[: above + 1] are done: give their value to the action above; ties fall at random."""
    n = above + 1
    mean, top, plan, moves, tail = stack.mean, stack.top, stack.plan, stack.moves, stack.tail
    tail_moves = stack.tail_moves
    action = graph.first_action[stack.path[above - 1]] + stack.offset[above]
    chance = graph.outcome_probability[graph.first_outcome[action] + stack.outcome[above]]
    mean[above] += chance * top[n]
    if chance > stack.likely[above]:
        stack.likely[above] = chance
        length = stack.plan_length[n]
        stack.tail_length[above] = length
        tail[above, n:length] = plan[n, n:length]
        tail_moves[above, n:length] = moves[n, n:length]
        tail[above, above] = stack.path[above]
    stack.outcome[above] += 1
    if stack.outcome[above] < graph.outcome_count[action]:
        return
    if above == start:
        stack.values[stack.offset[above]] = mean[above]
    better = mean[above] > top[above] + TIE
    if better:
        stack.ties[above] = 1
    elif mean[above] >= top[above] - TIE:
        stack.ties[above] += 1
        better = uniform(stack.random) * stack.ties[above] < 1.0
    if better:
        length = stack.tail_length[above]
        top[above] = max(mean[above], top[above])
        stack.plan_length[above] = length
        plan[above, above:length] = tail[above, above:length]
        moves[above, above:length] = tail_moves[above, above:length]
        moves[above, above] = action
    stack.offset[above] += 1
    stack.outcome[above], mean[above], stack.likely[above] = 0, 0.0, -1.0
