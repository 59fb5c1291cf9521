"""Planning in long problems: walk greedily, or search best-first, by the utility of single states.

Histories are too many to search there, and what the stepwise regime learns is about steps. The goal of the world ends
the search. Ties go to what comes first, so that the same problem and ranking give the same plan.
"""

from __future__ import annotations

import heapq
import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meip.model.graph import StateGraph
from meip.search.search import Ranking
from meip.search.weariness import Weariness, without_loops

__all__ = ["GuidedPlan", "best_first", "walk"]

TIES = 2  # successors of one state with equal utility that are kept; more only widen plateaus
ROUND = 9


@dataclass(frozen=True)
class GuidedPlan:
    """State and action numbers of a graph, and why the search ended."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    stopped_by: str
    """goal, dead end, horizon, expansions or seconds."""


def walk(
    graph: StateGraph, ranking: Ranking, horizon: int, seconds: float | None = None, start: int | None = None
) -> GuidedPlan:
    """Always by the action that is best on average, to its likeliest outcome that was not visited yet.

    Values met before wear out, so that the walk leaves a plateau; where all was visited it goes back, and the plan is
    without such loops.
    """
    stop = None if seconds is None else time.monotonic() + seconds
    states, actions = [int(graph.initial[0]) if start is None else start], list[int]()
    weariness = Weariness()
    weariness.at(states[0])
    while not graph.goal(states[-1]):
        reason = "horizon" if len(states) >= horizon else _late(stop)
        numbers = graph.action_numbers(states[-1])
        outcomes = [graph.outcomes(n) for n in numbers]
        g = _mean(graph, ranking)
        means = np.array([sum(p * float(g[s]) for p, s in choices) for choices in outcomes])
        move = None if reason else weariness.step(means, outcomes)
        if move is None:
            return _looped(states, actions, reason or "dead end")
        actions.append(numbers[move[0]])
        states.append(outcomes[move[0]][move[1]][1])
    return _looped(states, actions, "goal")


def _looped(states: list[int], actions: list[int], reason: str) -> GuidedPlan:
    """The plan of a walk, without its loops."""
    kept = without_loops(states)
    return GuidedPlan(tuple(states[i] for i in kept), tuple(actions[i - 1] for i in kept[1:]), reason)


def best_first(
    graph: StateGraph,
    ranking: Ranking,
    horizon: int,
    expansions: int = 2000,
    seconds: float | None = None,
    start: int | None = None,
) -> GuidedPlan:
    """Greedy best-first search over states, each action with its likeliest outcome; else the best state seen."""
    stop = None if seconds is None else time.monotonic() + seconds
    start = int(graph.initial[0]) if start is None else start
    came: dict[int, tuple[int, int, int]] = {start: (-1, -1, 1)}  # parent, action, length in states
    heap = [(-round(float(_mean(graph, ranking)[start]), ROUND), 0, start)]
    best, reason = heap[0], "dead end"
    for count in range(1, expansions + 1):
        if not heap:
            break
        entry = heapq.heappop(heap)
        state = entry[2]
        best = min(best, entry)
        if graph.goal(state):
            return _chain(came, state, "goal")
        if came[state][2] < horizon:
            for value, successor in _opened(graph, ranking, state, came):
                heapq.heappush(heap, (value, len(came), successor))
                if graph.goal(successor):
                    return _chain(came, successor, "goal")
        reason = _late(stop) or ("expansions" if count == expansions else "dead end")
        if reason == "seconds":
            break
    return _chain(came, best[2], reason)


def _opened(
    graph: StateGraph, ranking: Ranking, state: int, came: dict[int, tuple[int, int, int]]
) -> list[tuple[float, int]]:
    """New successors with their negated utility, the best first, at most `TIES` of equal ones."""
    fresh: dict[int, int] = {}
    for number in graph.action_numbers(state):
        successor = max(graph.outcomes(number), key=lambda outcome: outcome[0])[1]
        if successor not in came:
            fresh.setdefault(successor, number)
    g = _mean(graph, ranking)
    ranked = sorted((-round(float(g[s]), ROUND), order, s) for order, s in enumerate(fresh))
    kept: list[tuple[float, int]] = []
    for value, _, successor in ranked:
        came[successor] = (state, fresh[successor], came[state][2] + 1)
        if sum(v == value for v, _ in kept[-TIES:]) < TIES or graph.goal(successor):
            kept.append((value, successor))
    return kept


def _chain(came: dict[int, tuple[int, int, int]], state: int, reason: str) -> GuidedPlan:
    states, actions = [state], list[int]()
    while came[states[-1]][0] >= 0:
        parent, action, _ = came[states[-1]]
        states.append(parent)
        actions.append(action)
    return GuidedPlan(tuple(reversed(states)), tuple(reversed(actions)), reason)


def _mean(graph: StateGraph, ranking: Ranking) -> NDArray[np.float64]:
    """The members' mean utility of every state seen so far."""
    return np.asarray(ranking(graph).mean(axis=1), dtype=np.float64)


def _late(stop: float | None) -> str:
    return "seconds" if stop is not None and time.monotonic() > stop else ""
