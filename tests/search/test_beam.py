"""The likeliest plan by its steps, against looking at every plan."""

from __future__ import annotations

from collections.abc import Iterator
from math import exp, log, tanh

import numpy as np
import pytest
from numpy.typing import NDArray

from meip.base.errors import LearningError
from meip.model.graph import StateGraph
from meip.search.beam import step_log_likelihood
from random_worlds import RandomWorld, by_number, search


def every_plan(
    graph: StateGraph, g: NDArray[np.float64], past: list[int], horizon: int
) -> Iterator[tuple[list[int], float]]:
    """All plans with their log likelihood, in plain Python; actions that lead to the same state count once."""
    moves = {graph.outcomes(n)[0][1] for n in graph.action_numbers(past[-1])} if len(past) < horizon else set()
    if not moves:
        yield past, 0.0
        return
    for successor in moves:
        logs = []
        for m in range(g.shape[1]):
            odds = [exp(sum(tanh(g[c, m] - g[j, m]) for j in past)) for c in moves]
            mine = sum(o for o, c in zip(odds, moves, strict=True) if c == successor)
            logs.append(log(mine / sum(odds)))
        for plan, rest in every_plan(graph, g, [*past, successor], horizon):
            yield plan, rest + sum(logs) / len(logs)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
def test_it_is_the_best_of_all_plans_of_full_length(seed: int) -> None:
    graph = StateGraph(RandomWorld(seed, chance=False))
    graph.expand_all()
    g = np.random.default_rng(seed).normal(size=(len(graph), 3))
    start = int(graph.initial[0])
    plans = list(every_plan(graph, g, [start], 4))
    longest = max(len(plan) for plan, _ in plans)
    best, value = max((p for p in plans if len(p[0]) == longest), key=lambda p: p[1])
    found = search(graph, by_number(g), method="likeliest", horizon=4, width=10_000)
    assert found.value == pytest.approx(value)
    assert list(found.states) == best
    assert found.method == "likeliest"
    for (state, action), after in zip(zip(found.states, found.actions, strict=False), found.states[1:], strict=True):
        assert action in graph.action_numbers(state)
        assert graph.outcomes(action)[0][1] == after


def test_the_likelihoods_of_one_step_add_up_to_one_for_one_member() -> None:
    g = np.random.default_rng(0).normal(size=(6, 1))
    logs = step_log_likelihood(g, [0, 1], [2, 3, 4, 5], np.array([0.4, 0.3, 0.2, 0.1]))
    assert np.exp(logs).sum() == pytest.approx(1.0)


def test_time_is_kept() -> None:
    graph = StateGraph(RandomWorld(1, chance=False))
    g = np.zeros((200, 1))
    found = search(graph, by_number(g), method="likeliest", horizon=4, width=5, seconds=0.0)
    assert found.stopped_by == "seconds"


def test_an_unknown_search_is_named() -> None:
    with pytest.raises(LearningError, match="did you mean 'likeliest'"):
        search(StateGraph(RandomWorld(1)), by_number(np.zeros((9, 1))), method="likelyest")
