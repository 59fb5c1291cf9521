"""MaxEnt-IRL as a planner: fitted to the same demonstrations and concepts as a task, acting in any world that can be
listed."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np

from meip.baselines.maxent_irl import MaxEntIRL
from meip.baselines.tabular import Policy, Statistic, TabularWorld
from meip.concepts.values.columns import GraphColumns
from meip.learning.training import TrainingSet
from meip.model.demonstrations import Episode
from meip.model.graph import StateGraph
from meip.tasks.behaviour import Planner
from meip.utility.terms import UtilityTerm, features

__all__ = ["maxent_planner"]


def maxent_planner(
    terms: Sequence[UtilityTerm], episodes: Sequence[Episode], statistic: Statistic = "visits"
) -> Planner:
    """The paper's baseline: MaxEnt-IRL on the same concepts, fitted to the demonstrations; it acts greedily, and ties
    fall at random. Needs worlds whose states can be listed."""
    training = TrainingSet(episodes)
    shown: list[list[Sequence[int]]] = [[] for _ in training.graphs]
    for case, one in training.shown:
        shown[case.graph].append(one.states)
    model = MaxEntIRL(statistic).fit([_tabular(graph, terms) for graph in training.graphs], shown)
    policies: WeakKeyDictionary[StateGraph, dict[int, Policy]] = WeakKeyDictionary()

    def plan(graph: StateGraph, history: Sequence[int], horizon: int, seed: int) -> Sequence[int]:
        known = policies.setdefault(graph, {})
        if horizon not in known:
            known[horizon] = model.policy(_tabular(graph, terms, horizon))
        numbers = graph.action_numbers(history[-1])
        odds = known[horizon].actions[len(history) - 1, numbers.start : numbers.stop]
        rng = np.random.default_rng([seed, *history])
        return [numbers[int(rng.choice(len(numbers), p=odds / odds.sum()))]]

    return plan


def _tabular(graph: StateGraph, terms: Sequence[UtilityTerm], horizon: int | None = None) -> TabularWorld:
    graph.expand_all(horizon=horizon)
    values, missing = GraphColumns(graph).matrix([term.concept for term in terms])
    return TabularWorld.from_graph(graph, features(terms, values, missing), horizon)
