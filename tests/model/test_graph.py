"""StateGraph: budgets, partial graphs, merged outcomes, and the size of the ritual."""

from __future__ import annotations

import numpy as np
import pytest

from meip.base.errors import BudgetError, WorldError
from meip.model.graph import StateGraph
from meip.worlds.ritual import Ritual
from random_worlds import RandomWorld, branches


def test_the_free_ritual_has_4913_states() -> None:
    graph = StateGraph(Ritual())
    assert graph.expand_all()
    assert graph.complete
    assert len(graph) == 17**3
    assert len(graph.actions) == sum(16 * sum(offer is None for offer in state) for state in graph.states)
    assert graph.nbytes() / len(graph) < 200


def test_a_budget_raises_or_leaves_a_partial_graph() -> None:
    with pytest.raises(BudgetError, match="more than 100 states"):
        StateGraph(Ritual()).expand_all(max_states=100)
    partial = StateGraph(Ritual())
    assert not partial.expand_all(max_states=100, partial=True)
    assert not partial.complete
    assert 100 < len(partial) < 4913
    arrays = partial.arrays()
    assert (arrays.action_count == -1).any()
    assert partial.expand_all()  # goes on from there
    assert len(partial) == 4913
    assert not StateGraph(Ritual()).expand_all(max_seconds=0.0, partial=True)


@pytest.mark.parametrize("seed", range(6))
def test_arrays_say_what_the_world_says(seed: int) -> None:
    world = RandomWorld(seed)
    graph = StateGraph(world)
    graph.expand_all(horizon=30)
    arrays = graph.arrays()
    for number, state in enumerate(graph.states):
        moves = branches(world, state)
        assert arrays.action_count[number] == len(moves)
        for action, outcomes in zip(graph.action_numbers(number), moves, strict=True):
            found = {graph.states[s]: p for p, s in graph.outcomes(action)}
            assert found == pytest.approx({s: p for p, s in outcomes})
            first = arrays.first_outcome[action]
            assert arrays.outcome_probability[first : first + len(found)].sum() == pytest.approx(1.0)
        assert graph.successors(number) == [s for a in graph.action_numbers(number) for _, s in graph.outcomes(a)]


def test_the_horizon_bounds_what_is_expanded() -> None:
    graph = StateGraph(Ritual())
    graph.expand_all(horizon=2)
    assert len(graph) == 1 + 48
    assert not graph.expanded(1)


def test_whether_an_episode_is_over_is_known_without_where_it_may_go_on() -> None:
    graph = StateGraph(Ritual())
    start = int(graph.initial[0])
    assert not graph.over(start) and len(graph) == 1
    graph.expand_all()
    whole = [graph.over(state) for state in range(len(graph))]
    fresh = StateGraph(Ritual())
    assert [fresh.over(fresh.intern(state)) for state in graph.states] == whole
    assert len(fresh) == len(graph) and not any(fresh.expanded(state) for state in range(len(fresh)))


def test_several_initial_states_keep_their_probabilities() -> None:
    graph = StateGraph(RandomWorld(1, starts=3))
    assert [graph.states[i] for i in graph.initial] == [0, 1, 2]
    assert graph.initial_probability == pytest.approx(np.full(3, 1 / 3))


class Wrong(RandomWorld):
    def outcomes(self, state: int, action: str) -> list[tuple[float, int]]:
        return [(0.5, 1), (0.4, 2)]


class Unhashable(RandomWorld):
    def outcomes(self, state: int, action: str) -> list[tuple[float, int]]:
        return [(1.0, [1])]  # type: ignore[list-item]


def test_a_world_that_is_wrong_is_told_so() -> None:
    with pytest.raises(WorldError, match=r"add up to 0\.9"):
        StateGraph(Wrong(1)).expand(0)
    with pytest.raises(WorldError, match="hashable"):
        StateGraph(Unhashable(1)).expand(0)
