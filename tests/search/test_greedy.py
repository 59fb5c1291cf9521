"""The greedy walk: against a walk written plainly, on plateaus, and for tasks learned from single steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from goal_worlds import GoalWorld, by, check
from hypothesis import given, settings, strategies as st

from meip import Episode, Task, learn
from meip.experiments.rites import paper_demonstrations
from meip.model.graph import StateGraph
from meip.search.greedy import search, without_loops
from meip.search.query import Query
from meip.utility.ranking import ScoreRanking
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import solve, walked
from meip.worlds.ritual import Ritual
from random_worlds import RandomWorld

LAW = settings(max_examples=60, deadline=None, derandomize=True)
SEEDS = st.integers(0, 10_000)


def walk(world: GoalWorld, values: np.ndarray, steps: int) -> list[int]:
    """Always to the best state that is new, else back to the one visited least; values met before are worth less."""
    states, visits, met, spreads = [0], {0: 1}, dict[float, int](), list[float]()
    while not world.reached(states[-1]) and len(states) <= steps:
        following = [world.outcomes(states[-1], a)[0][1] for a in world.actions(states[-1])]
        if not following:
            break
        worth = [np.inf if world.reached(s) else float(values[s]) for s in following]
        finite = [v for v in worth if v < np.inf]
        spreads.append(float(np.std(finite)) if finite else 0.0)
        now = [v - 0.07 * float(np.mean(spreads)) * met.get(round(v, 9), 0) for v in worth]
        order = sorted(range(len(following)), key=lambda k: -now[k])
        new = [k for k in order if following[k] not in visits]
        k = new[0] if new else min(order, key=lambda k: visits[following[k]])
        met[round(worth[k], 9)] = met.get(round(worth[k], 9), 0) + 1
        states.append(following[k])
        visits[following[k]] = visits.get(following[k], 0) + 1
    return [states[i] for i in without_loops(states)]


@LAW
@given(SEEDS)
def test_without_ties_the_walk_is_the_one_written_plainly(seed: int) -> None:
    world = GoalWorld(seed)
    values = np.random.default_rng(seed).normal(size=12)
    graph = StateGraph(world)
    found = search(graph, by(values), [0], Query(seed=seed, iterations=30))
    check(graph, found)
    assert [graph.states[s] for s in found.states] == walk(world, values, 30)


@LAW
@given(SEEDS)
def test_with_the_true_distance_the_walk_is_a_shortest_plan(seed: int) -> None:
    world = GoalWorld(seed)
    distance = world.distances()
    if np.isfinite(distance[0]):
        found = search(StateGraph(world), by(-np.where(np.isfinite(distance), distance, 99)), [0], Query(seed=seed))
        assert found.stopped_by == "goal" and len(found.actions) == distance[0] == found.expansions


@LAW
@given(SEEDS)
def test_a_plan_has_no_loops_also_where_chance_plays_and_nothing_is_known(seed: int) -> None:
    graph = StateGraph(RandomWorld(seed, horizon=20))
    found = search(graph, by(np.zeros(6)), [0], Query(seed=seed))
    assert len(set(found.states)) == len(found.states)
    assert found.stopped_by in ("finished", "horizon")


@dataclass(frozen=True)
class Plateau(RandomWorld):
    """Equal states in an endless row; from each a step down, and from there one to the goal, if there is one."""

    horizon: int = 100_000
    goal: int = -2

    def actions(self, state: int) -> list[str]:
        return ["on", "down"] if state >= 0 else ["on"] if state == -1 else []

    def outcomes(self, state: int, action: str) -> list[tuple[float, int]]:
        return [(1.0, -1 if action == "down" else state + 1 if state >= 0 else -2)]

    def reached(self, state: int) -> bool:
        return state == self.goal


def down(graph: StateGraph, states: np.ndarray) -> np.ndarray:
    return -np.array([graph.states[s] < 0 for s in states], dtype=np.float64)


def test_a_walk_leaves_a_plateau_by_a_step_down() -> None:
    found = search(StateGraph(Plateau(0)), ScoreRanking(down), [0], Query())
    assert found.stopped_by == "goal" and 20 < found.expansions < 40


def test_a_walk_that_meets_no_goal_ends_and_says_why() -> None:
    graph = StateGraph(Plateau(0))
    assert search(graph, ScoreRanking(down), [0], Query(horizon=3)).stopped_by == "horizon"
    assert search(graph, ScoreRanking(down), [0], Query(seconds=0.0)).stopped_by == "seconds"
    assert search(graph, ScoreRanking(down), [0], Query(iterations=5)).expansions == 5
    assert search(StateGraph(Plateau(0, goal=7_000)), ScoreRanking(down), [0], Query()).stopped_by == "dead end"


def ferry(seed: int, cars: int) -> PddlWorld:
    return PddlWorld("ferry", generate={"cars": cars, "landings": 3}, seed=seed)


@pytest.fixture(scope="module")
def task() -> Task:
    worlds = [ferry(seed, 2) for seed in range(4)]
    return learn([Episode(world, walked(world, solve(world, 20.0)[0])) for world in worlds])


def test_a_domain_with_goals_is_learned_from_choices_and_says_why(task: Task) -> None:
    assert task.provenance.objective == "choices"
    assert task.provenance.evidence["objective"]["because"] == "held-out choices"
    assert task.tau_demo > 0.5


@pytest.mark.parametrize("method", ["auto", "greedy", "gbfs"])
def test_it_solves_larger_problems(task: Task, method: str) -> None:
    plan = task.plan(ferry(9, 5), method=method)
    assert plan.goal is True and plan.stopped_by == "goal"
    assert plan.method == ("choices" if method == "auto" else method)
    assert task.plan(ferry(9, 5), method=method, horizon=3).goal is False


def test_single_steps_are_followed_in_worlds_without_a_goal_too() -> None:
    task = learn(paper_demonstrations("enforced"), objective="choices", committee=1)
    plan = task.plan(Ritual(order="enforced"))
    assert plan.method == "choices" and plan.goal is None and len(plan.steps) == 3
    assert task.plan(Ritual(order="enforced"), method="greedy").method == "greedy"
