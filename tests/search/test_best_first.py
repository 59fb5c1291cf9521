"""Best-first search: A* against breadth-first distances, and greedy best-first search with its ties and limits."""

from __future__ import annotations

import numpy as np
import pytest
from goal_worlds import GoalWorld, by, check
from hypothesis import given, settings, strategies as st

from meip.model.domain import Facts
from meip.model.graph import StateGraph, state_graph
from meip.search.best_first import best_first, search
from meip.search.query import Query
from meip.utility.ranking import ScoreRanking
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.heuristics import RelaxedDistance, blind, score_of
from random_worlds import DOMAIN

LAW = settings(max_examples=60, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10_000)


@LAW
@given(SEEDS)
def test_a_star_finds_shortest_plans_with_any_estimate_that_is_never_too_high(seed: int) -> None:
    world = GoalWorld(seed)
    distance = world.distances()
    estimate = np.floor(np.where(np.isfinite(distance), distance, 99) * np.random.default_rng(seed).random(12))
    graph = StateGraph(world)
    for values in (np.zeros(12), -estimate, -distance):
        found = best_first(graph, by(values), [0], Query(seed=seed), path=1.0)
        assert (found.stopped_by == "goal") == np.isfinite(distance[0])
        if found.stopped_by == "goal":
            check(graph, found)
            assert len(found.actions) == distance[0] and found.method == "astar"


@LAW
@given(SEEDS)
def test_with_the_true_distance_a_star_expands_only_what_it_walks_through(seed: int) -> None:
    world = GoalWorld(seed)
    distance = world.distances()
    if np.isfinite(distance[0]):
        found = best_first(StateGraph(world), by(-distance), [0], Query(seed=seed), path=1.0)
        assert found.expansions == distance[0]


@LAW
@given(SEEDS)
def test_best_first_search_that_keeps_all_ties_finds_every_goal_that_is_in_reach(seed: int) -> None:
    world = GoalWorld(seed)
    values = np.random.default_rng(seed).normal(size=12)
    graph = StateGraph(world)
    found = best_first(graph, by(values), [0], Query(seed=seed), ties=0)
    check(graph, found)
    assert (found.stopped_by == "goal") == np.isfinite(world.distances()[0])


class Star:
    """One state with five others around it, from which nothing leads on."""

    domain, horizon = DOMAIN, 10

    def initial(self) -> list[tuple[float, int]]:
        return [(1.0, 0)]

    def actions(self, state: int) -> list[int]:
        return [1, 2, 3, 4, 5] if state == 0 else []

    def outcomes(self, state: int, action: int) -> list[tuple[float, int]]:
        return [(1.0, action)]

    def facts(self, state: int) -> Facts:
        return Facts.build(DOMAIN, {"thing": 1}, {f"p{k}": [False] for k in range(4)})


class GoalStar(Star):
    """The same with a goal that is out of reach."""

    def reached(self, state: int) -> bool:
        return state == 9


def test_of_equal_successors_two_are_opened_and_dead_ends_never() -> None:
    graph = StateGraph(GoalStar())
    assert best_first(graph, by(np.zeros(6)), [0], Query()).expansions == 1 + 2
    assert best_first(graph, by(np.zeros(6)), [0], Query(), ties=0).expansions == 1 + 5
    assert best_first(graph, by([0, 0, 1, 1, 1, 2]), [0], Query()).expansions == 1 + 1 + 2 + 1
    assert best_first(graph, by([0, -np.inf, -np.inf, -np.inf, 1, 2]), [0], Query()).expansions == 1 + 2
    opened = {best_first(graph, by([0, 1, 1, 1, 1, 1]), [0], Query(seed=s)).states[-1] for s in range(20)}
    assert len(opened) > 2, "equal ones fall at random"


def test_limits_are_kept_and_named() -> None:
    graph = StateGraph(GoalWorld(5, states=40, choices=2))
    ranking = by(np.zeros(40))
    assert best_first(graph, ranking, [0], Query(iterations=2)).stopped_by == "iterations"
    assert search(graph, ranking, [0], Query(iterations=4)).expansions <= 4
    assert search(graph, ranking, [0], Query(seconds=0.0)).stopped_by == "seconds"
    assert len(best_first(graph, ranking, [0], Query(horizon=3)).states) <= 3


def test_in_a_world_without_a_goal_the_best_state_seen_is_the_end() -> None:
    found = search(StateGraph(Star()), by([0, 1, 5, 2, 3, 4]), [0], Query())
    assert found.stopped_by == "finished" and found.states == (0, 2) and found.value == 5.0


@pytest.mark.parametrize("seed", range(4))
def test_h_max_finds_as_short_plans_as_blind_search_and_expands_less(seed: int) -> None:
    graph = state_graph(PddlWorld("blocksworld", generate={"blocks": 4}, seed=seed))
    estimate = RelaxedDistance(graph.engine, "max")  # type: ignore[attr-defined]
    start, query = [int(graph.initial[0])], Query(iterations=10_000)
    shortest = best_first(graph, score_of(blind), start, query, path=1.0)
    informed = best_first(graph, score_of(lambda rows: -estimate(rows)), start, query, path=1.0)
    check(graph, informed)
    assert len(shortest.actions) == len(informed.actions)
    assert informed.expansions <= shortest.expansions


def test_h_max_never_exceeds_the_true_distance_nor_h_add() -> None:
    graph = state_graph(PddlWorld("gripper", generate={"balls": 2}, seed=1))
    found = best_first(graph, score_of(blind), [0], Query(iterations=10_000), path=1.0)
    rows = graph.rows(found.states)  # type: ignore[attr-defined]
    least, summed = (RelaxedDistance(graph.engine, how)(rows) for how in ("max", "add"))  # type: ignore[attr-defined]
    left = np.arange(len(found.actions), -1, -1)
    assert (least <= left).all() and (least <= summed).all() and least[-1] == summed[-1] == 0


def test_the_same_seed_gives_the_same_plan_on_packed_states_and_on_any_graph() -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 6}, seed=3)
    plain, packed = StateGraph(world), state_graph(world)

    def score(graph: StateGraph, states: np.ndarray) -> np.ndarray:
        return -world.engine.unmet(world.pack([graph.states[s] for s in states])).astype(np.float64)

    one, two = (search(graph, ScoreRanking(score), [0], Query(seed=2)) for graph in (plain, packed))
    assert one.stopped_by == "goal" and one.expansions == two.expansions
    assert [plain.action(a) for a in one.actions] == [packed.action(a) for a in two.actions]
