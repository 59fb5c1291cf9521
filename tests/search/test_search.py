"""Search against brute-force expectimax on random worlds, and its limits and rules."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from numba import njit

from meip.base.errors import BudgetError, LearningError
from meip.model.graph import StateGraph
from meip.search.search import Limits, Options, search
from meip.search.tree import generator, max_backup, uniform
from meip.worlds.ritual import Ritual
from random_worlds import RandomWorld, expectimax, pair_mean, ranking_of, ranks, world_states, worth

LAW = settings(max_examples=40, deadline=None, derandomize=True)
CHANCES = ("expectation", "posterior", "probability")


class RitualRanking:
    """A number for each state seen: the more is offered, and the later, the higher."""

    def __init__(self) -> None:
        self.values = np.empty((0, 1))

    def __call__(self, graph: StateGraph) -> np.ndarray:
        fresh = graph.states[len(self.values) :]
        more = [[sum((k + 1) * (o[1] + o[0]) / 10 for k, o in enumerate(s) if o is not None)] for s in fresh]
        self.values = np.concatenate([self.values, np.reshape(more, (-1, 1))]) if more else self.values
        return self.values


@LAW
@given(st.integers(0, 10_000), st.sampled_from(CHANCES), st.sampled_from([0.0, 2.0]), st.sampled_from([1, 2]))
def test_exact_search_is_expectimax(seed: int, chance: str, scale: float, members: int) -> None:
    world = RandomWorld(seed)
    g = ranks(seed, world.states, members)
    options = Options(chance=chance, scale=scale, threshold=0.5)  # type: ignore[arg-type]
    found = search(StateGraph(world), ranking_of(g), method="exact", options=options)
    best, values = expectimax(world, (0,), 4, lambda plan: worth(g, plan, chance, scale, 4, 0.5))
    assert found.value == pytest.approx(best, abs=1e-12)
    assert found.root_values == pytest.approx(values, abs=1e-12)
    assert found.actions[0] == found.root_actions[int(np.argmax(values))]


@LAW
@given(st.integers(0, 10_000), st.integers(1, 3))
def test_exact_search_goes_on_from_a_history(seed: int, length: int) -> None:
    world = RandomWorld(seed, horizon=5)
    g = ranks(seed, world.states)
    past = tuple(int(s) for s in np.random.default_rng(seed).integers(0, world.states, length))
    graph = StateGraph(world)
    found = search(graph, ranking_of(g), method="exact", history=[graph.intern(s) for s in past])
    best, _ = expectimax(world, past, 5, lambda plan: worth(g, plan, "expectation", 2.0, 5, 1.0))
    assert found.value == pytest.approx(best, abs=1e-12)
    assert world_states(graph, found.states)[:length] == past


@LAW
@given(st.integers(0, 10_000))
def test_without_chance_the_plan_has_the_value_and_a_wide_beam_finds_it(seed: int) -> None:
    world = RandomWorld(seed, chance=False, horizon=5)
    g = ranks(seed, world.states)
    graph = StateGraph(world)
    exact = search(graph, ranking_of(g), method="exact")
    beam = search(graph, ranking_of(g), method="beam", options=Options(width=10**6))
    greedy = search(graph, ranking_of(g), method="greedy")
    for found in (exact, beam, greedy):
        plan = world_states(graph, found.states)
        assert found.value == pytest.approx(pair_mean(g, plan, 2.0), abs=1e-12)
        assert len(found.actions) == len(found.states) - 1
        for state, action, following in zip(found.states, found.actions, found.states[1:]):
            assert action in graph.action_numbers(state)
            assert graph.outcomes(action)[0][1] == following
    assert beam.value == pytest.approx(exact.value, abs=1e-12)
    assert greedy.value <= exact.value + 1e-12


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("seed", range(4))
def test_tree_search_converges_to_expectimax(seed: int, chance: str) -> None:
    world = RandomWorld(seed)
    g = ranks(seed, world.states)
    options = Options(chance=chance, threshold=0.5, exploration=1.0)  # type: ignore[arg-type]
    exact = search(StateGraph(world), ranking_of(g), method="exact", options=options)
    limits = Limits(iterations=200_000)
    found = search(StateGraph(world), ranking_of(g), method="mcts", options=options, limits=limits, seed=seed)
    scale = max(abs(exact.value), 0.05)
    assert found.value == pytest.approx(exact.value, abs=0.06 * scale)
    assert exact.root_values[found.root_actions.index(found.actions[0])] == pytest.approx(exact.value, abs=0.06 * scale)
    assert found.iterations == sum(found.root_visits) == 200_000


def test_tree_search_finds_the_best_ritual_and_reports_both_plans() -> None:
    graph = StateGraph(Ritual())
    graph.expand_all()
    exact = search(graph, RitualRanking(), method="exact")
    found = search(graph, RitualRanking(), method="mcts", seed=1)
    plan = world_states(graph, found.states)
    assert len(plan) == 4
    assert found.best_value == pytest.approx(exact.value, abs=0.02)
    assert found.stopped_by == "iterations"


def test_the_same_seed_gives_the_same_tree_and_another_seed_another() -> None:
    def visits(seed: int) -> tuple[int, ...]:
        return search(StateGraph(Ritual(objects=3)), RitualRanking(), method="mcts", seed=seed).root_visits

    assert visits(3) == visits(3)
    assert visits(3) != visits(4)


def test_neighbouring_seeds_do_not_share_their_numbers() -> None:
    streams = []
    for seed in (0, 1, 2, -5):
        random = generator(seed)
        streams.append([uniform(random) for _ in range(200)])
    numbers = np.array(streams)
    assert len(np.unique(numbers)) == numbers.size
    assert abs(np.corrcoef(numbers[0, 1:], numbers[1, :-1])[0, 1]) < 0.3
    assert (numbers >= 0).all() and (numbers < 1).all()
    assert abs(numbers.mean() - 0.5) < 0.05


def test_a_lazily_expanded_graph_gives_the_same_search_as_a_complete_one() -> None:
    complete = StateGraph(Ritual(objects=3))
    complete.expand_all()
    lazy = StateGraph(Ritual(objects=3))
    limits = Limits(iterations=500)
    a = search(complete, RitualRanking(), method="mcts", limits=limits)
    b = search(lazy, RitualRanking(), method="mcts", limits=limits)
    assert b.best_value == pytest.approx(a.best_value, abs=0.2)
    assert sum(b.root_visits) == 500
    assert len(lazy) < len(complete)


def test_auto_is_exact_where_histories_can_be_listed() -> None:
    assert search(StateGraph(RandomWorld(1)), ranking_of(ranks(1, 6))).method == "exact"
    large = StateGraph(Ritual(stages=6))
    assert search(large, RitualRanking(), options=Options(width=4)).method == "beam"
    chancy = StateGraph(RandomWorld(1, states=40, horizon=12, choices=4))
    chancy.expand_all()
    found = search(chancy, ranking_of(ranks(1, 40)), limits=Limits(iterations=50))
    assert found.method == "mcts"


def test_time_is_honoured_and_something_is_returned() -> None:
    graph = StateGraph(Ritual(stages=5))
    ranking = RitualRanking()
    search(graph, ranking, method="mcts", limits=Limits(iterations=1))  # compile first
    for method in ("mcts", "beam"):
        begun = time.monotonic()
        limits = Limits(iterations=10**9, seconds=0.2)
        found = search(graph, ranking, method=method, options=Options(width=10**5), limits=limits)  # type: ignore[arg-type]
        assert time.monotonic() - begun < 10
        assert found.stopped_by == "seconds"
        assert len(found.states) >= 2


def test_nodes_are_honoured() -> None:
    limits = Limits(iterations=10**8, nodes=5000)
    found = search(StateGraph(Ritual()), RitualRanking(), method="mcts", limits=limits)
    assert found.stopped_by == "nodes"
    with pytest.raises(BudgetError, match="more than 100 histories"):
        search(StateGraph(Ritual()), RitualRanking(), method="exact", limits=Limits(nodes=100))


def test_progressive_widening_opens_few_actions() -> None:
    graph = StateGraph(Ritual())
    options = Options(widening=(1.0, 0.5))
    found = search(graph, RitualRanking(), method="mcts", options=options, limits=Limits(iterations=100))
    assert 5 <= np.count_nonzero(found.root_visits) <= 12


@njit
def always_the_first(
    visits: Any, means: Any, roots: Any, first: int, count: int, tried: int, root_log: float, spread: float, c: float,
    draw: float,
) -> int:  # fmt: skip
    return 0


@njit
def last_action(graph: Any, g: Any, state: int, count: int, draw: float) -> int:
    return count - 1


def test_selection_rollout_and_backup_may_be_ones_own() -> None:
    graph, ranking = StateGraph(Ritual(objects=1)), RitualRanking()
    rules = (always_the_first, last_action, max_backup)

    def run(iterations: int) -> Any:
        return search(graph, ranking, method="mcts", options=Options(rules=rules), limits=Limits(iterations))

    once, often = run(1), run(60)
    chosen = [graph.actions[a] for a in once.best_actions]
    assert chosen == [(1, "torch", 0), (3, "clay", 1), (2, "clay", 1)]  # the first action, and then the last ones
    assert often.root_visits == (60, *[0] * 11)
    assert often.value == often.best_value  # the best return seen in place of the mean


def test_wrong_names_are_corrected() -> None:
    graph = StateGraph(RandomWorld(1))
    with pytest.raises(LearningError, match="mcts"):
        search(graph, ranking_of(ranks(1, 6)), method="mctss")  # type: ignore[arg-type]
    with pytest.raises(LearningError, match="expectation"):
        Options(chance="expected")  # type: ignore[arg-type]


def test_a_world_that_is_over_has_a_plan_of_one_state() -> None:
    graph = StateGraph(RandomWorld(2, horizon=1))
    for method in ("exact", "mcts", "beam", "greedy"):
        found = search(graph, ranking_of(ranks(2, 6)), method=method, limits=Limits(iterations=5))  # type: ignore[arg-type]
        assert found.states == (0,)
        assert found.actions == ()
        assert found.value == 0.0
