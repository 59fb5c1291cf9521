"""How demonstrations are read: what the goal needs, and to stay there; and walks that leave plateaus."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import given, settings, strategies as st

from meip.learning.evidence import Evidence
from meip.learning.readings import accidents, needed, only_needed
from meip.model.choices import replay_all
from meip.model.demonstrations import Episode, record, replay
from meip.model.graph import StateGraph
from meip.search.greedy import PlateauPenalty, without_loops
from meip.tasks.learn import learn
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


def test_learning_says_how_it_read_the_demonstrations_and_what_spoke_for_it() -> None:
    world, actions = detour()
    lessons = [Episode(world, record(world, actions)), *(shown("ferry", k, cars=2, landings=3) for k in (5, 6))]
    whole = replay_all(lessons)
    short = only_needed(whole)
    assert short is not None
    assert sum(len(w.states) for w in whole.walks) == sum(len(w.states) for w in short.walks) + 2
    evidence = learn(lessons).provenance.evidence
    assert evidence["unneeded"] == 2
    assert set(evidence["readings"]) == {f"{a} by {b}" for a in ("shown", "needed") for b in ("shown", "needed")}
    assert evidence["reading"] == ("needed" if accidents(_table(evidence["readings"])) else "shown")
    assert only_needed(replay_all(lessons[1:])) is None
    assert "reading" not in learn(lessons[1:]).provenance.evidence


def _table(losses: dict[str, float]) -> np.ndarray:
    names = ("shown", "needed")
    return np.array([[losses[f"{a} by {b}"] for a in names] for b in names])


def test_unneeded_steps_are_accidents_only_where_the_rest_is_foreseen_well_and_better_without_them() -> None:
    """Losses by the reading learned from (rows) and foreseen (columns), as measured in IPC problems."""
    satellite, blocksworld, spanner = (
        [[0.86, 1.12], [1.16, 0.81]],
        [[0.36, 0.23], [0.44, 0.20]],
        [[0.0, 1.6], [1.0, 0.6]],
    )
    assert [accidents(np.array(x)) for x in (satellite, blocksworld, spanner)] == [True, False, False]


def test_to_stay_at_the_goal_is_a_choice_and_not_a_stop() -> None:
    episode = shown("ferry", 5, cars=2, landings=3)
    found = Evidence(replay_all([episode]))
    assert found.count == len(episode.demonstration.steps) + 1
    assert found.after[found.first[found.chosen[-1]]] == found.at[-1]
    assert found.start[-1] - found.start[-2] > 1
    assert not found.stop.any()


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
