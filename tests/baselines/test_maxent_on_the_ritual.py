"""What MaxEnt-IRL makes of the ritual: it has no notion of order, and each statistic shows it in its own way."""

from __future__ import annotations

import numpy as np
import pytest

from meip.baselines.maxent_irl import MaxEntIRL, TabularWorld
from meip.model.graph import StateGraph
from meip.utility.ordering import kendall_tau
from meip.worlds.ritual import Ritual, RitualState

TORCH, BAMBOO, CLAY = 0, 1, 2
PAPER5 = [[(TORCH, 5), (BAMBOO, n), (CLAY, 4)] for n in (1, 3, 1, 3, 1)]


def concepts(state: RitualState) -> list[float]:
    """All torches at stage 1, some bamboo at stage 2, exactly four clay at stage 3."""
    first, second, third = state
    return [
        float(first == (TORCH, 5)),
        float(second is not None and second[0] == BAMBOO and second[1] > 0),
        float(third == (CLAY, 4)),
    ]


def ritual(order: str) -> tuple[StateGraph, TabularWorld]:
    graph = StateGraph(Ritual(order=order))  # type: ignore[arg-type]
    graph.expand_all()
    return graph, TabularWorld.from_graph(graph, np.array([concepts(state) for state in graph.states]))


def demonstrations(graph: StateGraph) -> list[list[int]]:
    found = []
    for offers in PAPER5:
        states = [tuple(offers[:k]) + (None,) * (3 - k) for k in range(4)]
        found.append([graph.intern(state) for state in states])
    return found


def order_tau(graph: StateGraph, plan: tuple[int, ...]) -> float:
    """Kendall tau of the order in which a plan visits the stages."""
    visited = [graph.states[s] for s in plan]
    times = [next(t for t, state in enumerate(visited) if state[k] is not None) for k in range(3)]
    return kendall_tau(times)


@pytest.mark.parametrize("order", ["enforced", "free"])
def test_final_states_say_nothing_about_order(order: str) -> None:
    graph, world = ritual(order)
    model = MaxEntIRL("final").fit(world, demonstrations(graph))
    free_graph, free = ritual("free")
    plans = model.sample(free, 300, seed=0)
    assert np.mean([concepts(free_graph.states[plan[-1]]) for plan in plans]) == 1.0
    assert abs(np.mean([order_tau(free_graph, plan) for plan in plans])) < 0.1


@pytest.mark.parametrize(("order", "tau"), [("free", 1.0), ("enforced", -1.0)])
def test_sums_over_visits_mistake_frequency_for_order(order: str, tau: float) -> None:
    graph, world = ritual(order)
    model = MaxEntIRL("visits").fit(world, demonstrations(graph))
    free_graph, free = ritual("free")
    plans = model.sample(free, 20, seed=0)
    assert np.mean([order_tau(free_graph, plan) for plan in plans]) == pytest.approx(tau)
