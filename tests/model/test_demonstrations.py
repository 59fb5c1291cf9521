"""Demonstrations: recording and replaying agree; what is illegal is named with what was legal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip import DemonstrationError, Domain, Facts, World, predicate
from meip.base.documents import content_hash, dump, parse
from meip.model.demonstrations import Demonstration, Step, append_demonstration, read_demonstrations, record, replay
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
    with pytest.raises(DemonstrationError, match=r"step 1: the world's actions\(\) failed: AssertionError"):
        replay(Endless(), Demonstration(problem, (Step("jump"),)))


def test_demonstrations_are_appended_and_read_in_order(tmp_path: Path) -> None:
    file = tmp_path / "new" / "demos.jsonl"
    shown = [replace(PAPER, note=f"number {k}, ünïcödé\n") for k in range(5)]
    for one in shown:
        append_demonstration(file, one)
    assert read_demonstrations(file) == shown
    assert len({content_hash(one) for one in shown}) == 5
    assert len(file.read_text().splitlines()) == 5
