"""How demonstrations are read: what the goal needs, stopping, problems side by side; and walks that leave plateaus."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings, strategies as st

from meip.learning.stepwise import StepwiseOptions, learn_stepwise
from meip.learning.stepwise.combined import combine
from meip.learning.stepwise.needed import needed
from meip.learning.stepwise.steps import Steps
from meip.model.demonstrations import Episode, record, replay
from meip.model.graph import StateGraph
from meip.search.greedy import PlateauPenalty, without_loops
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import plan_demonstration, solve
from meip.worlds.ritual import Ritual


def shown(domain: str, seed: int, **sizes: int) -> Episode:
    world = PddlWorld(domain, generate=sizes, seed=seed)
    return Episode(world, plan_demonstration(world, solve(world)[0]))


def detour() -> tuple[PddlWorld, list[str]]:
    """A shortest plan with a car taken aboard and put ashore again before it begins."""
    world = PddlWorld("ferry", generate={"cars": 2, "landings": 3}, seed=4)
    actions = list(replay(world, plan_demonstration(world, solve(world)[0])).actions)
    state = world.initial()[0][1]
    for first in world.actions(state):
        (_, between), *_ = world.outcomes(state, first)
        for back in world.actions(between):
            if world.outcomes(between, back)[0][1] == state:
                return world, [first, back, *actions]
    raise AssertionError("no step can be taken back")


def test_steps_that_the_goal_does_not_need_are_left_out() -> None:
    world, actions = detour()
    graph = StateGraph(world)
    plan = replay(world, record(world, actions))
    short = needed(graph, plan)
    assert short.actions == tuple(actions[2:])
    assert world.reached(short.states[-1])
    assert needed(graph, short) is short  # nothing more to leave out


def test_a_world_without_a_goal_needs_every_step() -> None:
    world = Ritual()
    state, actions = world.initial()[0][1], []
    while world.actions(state):
        actions.append(world.actions(state)[-1])
        state = world.outcomes(state, actions[-1])[0][1]
    plan = replay(world, record(world, actions))
    assert needed(StateGraph(world), plan) is plan


def test_both_readings_are_kept_where_they_differ_and_learning_says_which_it_took() -> None:
    world, actions = detour()
    lessons = [Episode(world, record(world, actions)), *(shown("ferry", k, cars=2, landings=3) for k in (5, 6))]
    steps = Steps(lessons)
    assert steps.left_out == 2
    assert sum(d.steps for d in steps.readings["shown"]) == sum(d.steps for d in steps.readings["needed"]) + 2
    evidence = learn_stepwise(lessons, StepwiseOptions(members=4, tried=2)).evidence
    assert evidence["reading"] in evidence["readings"]
    assert evidence["left_out"] == (2 if evidence["reading"] == "needed" else 0)


def test_to_stop_at_the_goal_is_a_choice() -> None:
    episode = shown("ferry", 5, cars=2, landings=3)
    (read,) = Steps([episode]).readings["shown"]
    last = read.choices[-1]
    assert last.outcomes[last.shown] == [(1.0, last.state)]
    assert len(last.outcomes) > 1
    assert episode.world.onward(episode.world.initial()[0][1]) == ()


def test_problems_side_by_side_have_the_goals_of_both_and_interleaved_plans_reach_them() -> None:
    episodes = [shown("blocksworld", seed, blocks=size) for seed, size in ((1, 3), (2, 4), (3, 4))]
    graphs = [StateGraph(e.world) for e in episodes]
    plans = [replay(e.world, e.demonstration) for e in episodes]
    found = combine(graphs, plans, 3, np.random.default_rng(0))
    assert found
    for pair in found:
        one, other = pair.parts
        assert len(pair.plan.actions) == len(plans[one].actions) + len(plans[other].actions)
        world = pair.graph.world
        again = replay(world, record(world, pair.plan.actions))
        assert again.states == pair.plan.states
        assert world.reached(again.states[-1])
        assert len(world.problem.objects) == sum(len(graphs[k].world.problem.objects) for k in pair.parts)


def test_problems_with_one_ferry_each_are_not_joined() -> None:
    episodes = [shown("ferry", seed, cars=2, landings=3) for seed in (1, 2)]
    graphs = [StateGraph(e.world) for e in episodes]
    plans = [replay(e.world, e.demonstration) for e in episodes]
    assert combine(graphs, plans, 3, np.random.default_rng(0)) == []


def test_what_was_met_before_loses_until_a_step_down_is_better() -> None:
    penalty = PlateauPenalty(rate=0.5)
    values = np.array([1.0, 0.0])
    chosen = []
    for _ in range(8):
        best = int(np.argmax(penalty.reduced(values)))
        penalty.met(values[best])
        chosen.append(best)
    assert chosen[0] == 0
    assert set(chosen) == {0, 1}


@settings(max_examples=50, derandomize=True, deadline=None)
@given(st.lists(st.integers(0, 6), min_size=1, max_size=30))
def test_a_walk_without_loops_keeps_its_ends_and_visits_nothing_twice(states: list[int]) -> None:
    kept = without_loops(states)
    left = [states[i] for i in kept]
    assert len(set(left)) == len(left)
    assert (left[0], left[-1]) == (states[0], states[-1])
    for before, after in pairwise(kept):
        assert states[after - 1] == states[before]  # the step before it began there
