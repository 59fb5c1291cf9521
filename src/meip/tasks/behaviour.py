"""Behaviour: what happens when one plans, acts, and plans again after each throw of the dice.

A *planner* says what it would do from a history on. Its behaviour in a world is a distribution over finished plans,
computed exactly: every outcome is followed, with its probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from meip.base.errors import BudgetError
from meip.model.graph import StateGraph
from meip.search.guided import best_first, walk
from meip.search.search import Limits, Method, Options, Ranking, search

__all__ = ["Behaviour", "Planner", "behaviours", "guided_planner", "search_planner"]

Planner = Callable[[StateGraph, Sequence[int], int, int], Sequence[int]]
"""(graph, history, horizon, seed) -> the numbers of the actions to take; planned anew after a throw of the dice, or
when they are used up."""
MOST = 10_000
UNLIKELY = 1e-12


@dataclass(frozen=True)
class Behaviour:
    """One way things may go: state and action numbers of a graph."""

    probability: float
    states: tuple[int, ...]
    actions: tuple[int, ...]


def behaviours(
    graph: StateGraph, planner: Planner, horizon: int | None = None, seed: int = 0, most: int = MOST
) -> list[Behaviour]:
    """Every way things may go, with its probability; they add up to one."""
    length = graph.horizon if horizon is None else horizon
    todo: list[tuple[float, list[int], list[int], list[int]]] = [  # probability, states, actions, still planned
        (float(p), [int(s)], [], []) for p, s in zip(graph.initial_probability, graph.initial, strict=True)
    ]
    found: list[Behaviour] = []
    while todo:
        probability, states, actions, planned = todo.pop()
        if len(states) >= length or not graph.action_numbers(states[-1]):
            found.append(Behaviour(probability, tuple(states), tuple(actions)))
            continue
        planned = planned or list(planner(graph, states, length, seed))
        if not planned:  # the planner prefers to stop
            found.append(Behaviour(probability, tuple(states), tuple(actions)))
            continue
        outcomes = graph.outcomes(planned[0])
        rest = planned[1:] if len(outcomes) == 1 else []
        for p, state in outcomes:
            if probability * p > UNLIKELY:
                todo.append((probability * p, [*states, state], [*actions, planned[0]], rest))
        if len(todo) + len(found) > most:
            raise BudgetError(f"more than {most} ways things may go: chance plays too often to follow them all")
    return found


def search_planner(
    ranking: Ranking, method: Method = "auto", options: Options | None = None, limits: Limits | None = None
) -> Planner:
    """Plans by search for what a ranking prefers."""

    def plan(graph: StateGraph, history: Sequence[int], horizon: int, seed: int) -> Sequence[int]:
        found = search(
            graph,
            ranking,
            method=method,
            history=history,
            horizon=horizon,
            options=options,
            limits=limits,
            seed=seed + 7919 * len(history),
        )
        return found.actions

    return plan


def guided_planner(ranking: Ranking, expansions: int = 2000) -> Planner:
    """Goes to the world's goal by the utility of single states: greedily, or best-first where greed fails."""

    def plan(graph: StateGraph, history: Sequence[int], horizon: int, seed: int) -> Sequence[int]:
        left = horizon - len(history) + 1
        found = walk(graph, ranking, left, start=history[-1])
        if found.stopped_by != "goal" and graph.has_goal:
            found = best_first(graph, ranking, left, expansions, start=history[-1])
        return found.actions

    return plan
