"""Demonstrations: recording and replaying agree; what is illegal is named with what was legal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip import DemonstrationError, Domain, Facts, LearningError, World, predicate
from meip.base.documents import content_hash, dump, parse
from meip.model.choices import replay_all
from meip.model.demonstrations import (
    Demonstration,
    Episode,
    Step,
    append_demonstration,
    episodes_of,
    read_demonstrations,
    record,
    replay,
)
from meip.model.problems import load_problem
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual

PAPER = record(Ritual(), [(1, "torch", 5), (2, "bamboo", 3), (3, "clay", 4)], by="somebody")


def test_replaying_gives_the_states_in_order() -> None:
    plan = replay(Ritual(), PAPER)
    assert len(plan) == 4
    assert plan.states[0] == (None, None, None)
    assert plan.states[-1] == ((0, 5), (1, 3), (2, 4))
    assert plan.actions == ((1, "torch", 5), (2, "bamboo", 3), (3, "clay", 4))
    assert plan.probabilities == (1.0, 1.0, 1.0)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(st.integers(0, 10**6))
def test_any_walk_is_recorded_written_read_and_replayed_as_the_same_plan(seed: int) -> None:
    rng = np.random.default_rng(seed)
    world: Any = Didactic(p=0.5) if seed % 2 else Ritual(stages=2, objects=2)
    state, actions, outcomes, states = world.initial()[0][1], [], [], [world.initial()[0][1]]
    while len(states) < world.horizon and (legal := world.actions(state)):
        action = legal[rng.integers(len(legal))]
        choices = world.outcomes(state, action)
        outcome = int(rng.integers(len(choices)))
        state = choices[outcome][1]
        actions.append(action)
        outcomes.append(outcome)
        states.append(state)
    shown = record(world, actions, outcomes)
    back = parse(dump(shown), "demonstration")
    assert back == shown
    plan = replay(load_problem(back.problem), back)
    assert plan.states == tuple(states) and plan.outcomes == tuple(outcomes)


def test_the_document_says_no_more_than_needed() -> None:
    assert dump(PAPER)["steps"][0] == {"action": [1, "torch", 5]}
    assert dump(record(Didactic(), ["a1"], [1]))["steps"] == [{"action": "a1", "outcome": 1}]
    assert "note" not in dump(PAPER) and dump(PAPER)["by"] == "somebody"


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([Step([1, "torch", 9])], r"step 1: \[1,\"torch\",9\] is not legal; legal: .*\(48 in all\); state: stage 1"),
        ([Step([1, "torch", 5]), Step([1, "clay", 1])], r"step 2: .*not legal; legal: \[2,\"torch\",0\]"),
        ([Step([1, "torch", 5.0])], r"step 1: \[1,\"torch\",5\.0\] is not legal"),
        ([Step([True, "torch", 5])], r"step 1: \[true"),
        ([Step([k, "clay", 1]) for k in (1, 2, 3, 3)], r"step 4: .* after the horizon of 4 states"),
        ([Step([1, "torch", 5], outcome=1)], r"step 1: .*has no outcome 1; its outcomes: 0: stage 1: 5 torch"),
    ],
)
def test_the_first_illegal_step_is_named_with_what_was_legal(steps: list[Step], message: str) -> None:
    with pytest.raises(DemonstrationError, match="here: " + message):
        replay(Ritual(), replace(PAPER, steps=tuple(steps)), where="here")


def test_chance_must_be_told_or_drawn() -> None:
    with pytest.raises(
        DemonstrationError, match=r"needs an outcome; its outcomes: 0: S1 \(p = 0.9\); 1: b1 \(p = 0.1\)"
    ):
        record(Didactic(), ["a1", "a1"])
    drawn = [record(Didactic(p=0.5), ["a1", "a1"], rng=seed).steps[0].outcome for seed in range(20)]
    assert set(drawn) == {0, 1}
    assert drawn == [record(Didactic(p=0.5), ["a1", "a1"], rng=seed).steps[0].outcome for seed in range(20)]


def test_a_chance_failure_is_kept() -> None:
    shown = replace(record(Didactic(), ["a1"], [1]), steps=(Step("a1", 1, chance_failure=True),))
    assert dump(shown)["steps"][0]["chance_failure"] is True
    plan = replay(Didactic(), shown)
    assert plan.chance_failures == (True,) and plan.probabilities == (0.1,)


def test_a_finished_episode_has_no_legal_action() -> None:
    done = record(Didactic(), ["a2", "a2"])
    with pytest.raises(DemonstrationError, match='step 3: "a1", but the episode is over; state: g'):
        replay(Didactic(), replace(done, steps=(*done.steps, Step("a1"))))


def test_an_initial_state_that_is_not_there_is_refused() -> None:
    with pytest.raises(DemonstrationError, match="initial state 3: this world has 1"):
        replay(Ritual(), replace(PAPER, initial=3))
    with pytest.raises(DemonstrationError, match="counted from 0"):
        replace(PAPER, initial=-1)


class Endless(World):
    """Actions too many to list, as in folding: they are decoded, and `outcomes` is the judge."""

    domain = Domain("line", (), (predicate("far"),))
    horizon = 5

    def initial(self) -> list[tuple[float, float]]:
        return [(1.0, 0.0)]

    def actions(self, state: Any) -> list[float]:
        raise AssertionError("must not be asked")

    def decode_action(self, value: Any) -> float | None:
        return value if isinstance(value, float) else None

    def outcomes(self, state: Any, action: Any) -> list[tuple[float, float]]:
        if action < 0:
            raise DemonstrationError("one cannot go back")
        return [(1.0, state + action)]

    def facts(self, state: Any) -> Facts:
        return Facts.build(self.domain, {}, {"far": state > 1})


def test_actions_that_cannot_be_listed_are_decoded() -> None:
    problem = {"format": "meip.problem/1", "world": "line"}
    shown = record(Endless(), [0.5, 0.25], problem=problem)
    assert replay(Endless(), shown).states == (0.0, 0.5, 0.75)
    with pytest.raises(DemonstrationError, match=r"step 1: one cannot go back; state: 0\.0"):
        replay(Endless(), Demonstration(problem, (Step(-1.0),)))
    with pytest.raises(DemonstrationError, match=r"step 1: actions\(\) failed in state 0.0: AssertionError"):
        replay(Endless(), Demonstration(problem, (Step("jump"),)))


def test_demonstrations_are_appended_and_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "demos.jsonl"
    shown = [replace(PAPER, note=f"number {k}, ünïcödé\n") for k in range(5)]
    for one in shown:
        append_demonstration(file, one)
    assert read_demonstrations(file) == shown
    assert len({content_hash(one) for one in shown}) == 5
    assert len(file.read_text().splitlines()) == 5


@pytest.mark.parametrize(
    "action",
    [(np.int64(1), "torch", np.int32(5)), (np.int64(1), np.str_("torch"), np.uint8(5)), [np.int8(1), "torch", 5]],
)
def test_numbers_of_numpy_are_numbers(action: Any) -> None:
    plain = record(Ritual(), [(1, "torch", 5)])
    shown = record(Ritual(), [action])
    assert shown == plain and content_hash(shown) == content_hash(plain)
    by_hand = replace(plain, steps=(Step(action),), initial=np.int64(0))
    assert by_hand == plain and parse(dump(by_hand), "demonstration") == plain
    assert replay(Ritual(), by_hand).actions == ((1, "torch", 5),)


class Numbered(Endless):
    """Legal actions are numpy's own numbers."""

    def actions(self, state: Any) -> list[Any]:
        return list(np.arange(3))

    def decode_action(self, value: Any) -> None:
        return None


def test_a_world_whose_actions_are_numbers_of_numpy_is_recorded_with_plain_ones() -> None:
    shown = record(Numbered(), [1, np.int64(2)], problem=PAPER.problem)
    assert dump(shown)["steps"] == [{"action": 1}, {"action": 2}]
    assert replay(Numbered(), shown).actions == (1, 2)


def test_a_world_that_decodes_gets_plain_values() -> None:
    assert record(Endless(), [np.float32(0.5)], problem=PAPER.problem).actions == (0.5,)


def test_outcomes_may_be_numbers_of_numpy() -> None:
    shown = record(Didactic(), ["a1"], [np.int64(1)])
    assert dump(shown)["steps"] == [{"action": "a1", "outcome": 1}]
    assert type(replay(Didactic(), shown).outcomes[0]) is int


def test_a_demonstration_has_actions_as_plans_do() -> None:
    assert PAPER.actions == ([1, "torch", 5], [2, "bamboo", 3], [3, "clay", 4])
    assert record(Ritual(), PAPER.actions, by="somebody") == PAPER


def test_after_the_horizon_both_ways_of_counting_are_told() -> None:
    with pytest.raises(DemonstrationError, match=r"step 4: .* comes after the horizon of 4 states \(3 actions\)"):
        record(Ritual(), [*PAPER.actions, PAPER.actions[-1]])


# --- episodes ---


@pytest.mark.parametrize("shown", [PAPER, replay(Ritual(), PAPER)])
def test_a_swapped_episode_is_told_so(shown: Any) -> None:
    with pytest.raises(DemonstrationError, match=r"Episode\(world, demonstration\): .*swapped"):
        Episode(shown, Ritual())
    with pytest.raises(DemonstrationError, match=r"demonstration 2: .*swapped"):
        episodes_of([(Ritual(), shown), (shown, Ritual())])


def test_an_episode_needs_a_demonstration() -> None:
    with pytest.raises(DemonstrationError, match="expected a Demonstration or a Plan, got a list; record"):
        Episode(Ritual(), list(PAPER.actions))


def test_pairs_are_episodes() -> None:
    plan = replay(Ritual(), PAPER)
    given = [Episode(Ritual(), PAPER), *((Ritual(), shown) for shown in (PAPER, plan, plan.actions, [*PAPER.actions]))]
    found = episodes_of(given)
    assert [episode.demonstration for episode in found] == [PAPER, PAPER, plan, plan, plan]
    assert found[0] is given[0]
    assert [walk.plan for walk in replay_all(given).walks] == [plan] * 5 and len(replay_all(given).graphs) == 1


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (PAPER, "expected a list of episodes, or of pairs .world, demonstration.; got a Demonstration"),
        (Episode(Ritual(), PAPER), "got an Episode"),
        ([PAPER], "demonstration 1: expected an Episode or a pair .world, demonstration., got a Demonstration"),
        ((Ritual(), PAPER), "demonstration 1: expected an Episode or a pair .world, demonstration., got a Ritual"),
        ([(Ritual(), "up")], "demonstration 1: .*got a str"),
        ([(Ritual(), PAPER), (Ritual(), [(1, "torch", 9)])], "demonstration 2: step 1: .* is not legal"),
        ([(Didactic(), ["a1"])], "demonstration 1: step 1: .*needs an outcome"),
    ],
)
def test_what_is_no_episode_is_named(given: Any, message: str) -> None:
    with pytest.raises(DemonstrationError, match=message):
        replay_all(given)


def test_where_nothing_is_done_there_is_nothing_to_learn() -> None:
    nothing = (Ritual(), record(Ritual(), []))
    with pytest.raises(LearningError, match=r"none of the demonstrations \(2\) has a step; give at least one"):
        replay_all([nothing, nothing])
    assert len(replay_all([nothing, (Ritual(), PAPER)]).walks) == 2
