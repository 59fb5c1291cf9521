"""Corrections: one step of a plan was wrong. They say that much and no more, and what they say is followed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meip import (
    Correction,
    Demonstration,
    DemonstrationError,
    Episode,
    LearningError,
    Step,
    Task,
    append_demonstration,
    learn,
    read_episodes,
)
from meip.base import documents
from meip.experiments.gallery import demonstrate, everyday_task
from meip.experiments.rites import paper_demonstrations
from meip.learning.corrections import WEIGHTS
from meip.learning.evidence import Evidence
from meip.model.choices import replay_all
from meip.model.graph import state_graph
from meip.model.problems import problem_document
from meip.search.query import Query
from meip.tasks.plan import act, task_query
from meip.worlds.ritual import Ritual

RITE = Ritual(order="enforced")
BEGUN = ((1, "torch", 5),)


def correction(right: Any, rejected: Any, begun: Any = BEGUN, world: Any = RITE) -> Episode:
    steps = tuple(Step(action) for action in (*begun, *([] if right is None else [right])))
    said = Correction(rejected, stop=right is None)
    return Episode(world, Demonstration(problem_document(world), steps, corrects=said))


def then(task: Task, world: Any, begun: Any) -> Any:
    """What a task does after these actions."""
    graph = state_graph(task.prepared(world))
    states = [int(graph.initial[0])]
    for action in begun:
        states.append(graph.outcomes_of(states[-1], action)[0][1])
    found = act(task, graph, states, task_query(task, graph, Query()))
    return graph.action(found.actions[0]) if found.actions else None


@pytest.fixture(scope="module")
def shown() -> list[Episode]:
    return paper_demonstrations("enforced")


def test_a_corrected_step_is_followed_although_every_demonstration_did_something_else(shown: list[Episode]) -> None:
    plain = learn(shown)
    done = then(plain, RITE, BEGUN)
    right = (2, "bamboo", 5)
    task = learn([*shown, correction(right, done)])
    assert then(task, RITE, BEGUN) == right
    (weight,) = task.provenance.evidence["corrections"]["weights"]
    assert weight in WEIGHTS and task.provenance.evidence["corrections"]["not_followed"] == []
    assert then(task, RITE, ()) == then(plain, RITE, ()), "what was not corrected is done as before"


def test_a_correction_is_two_choices_and_no_example_of_how_it_ends(shown: list[Episode]) -> None:
    evidence = Evidence(replay_all([*shown, correction((2, "clay", 1), (2, "bamboo", 1))]))
    plain = Evidence(replay_all(shown))
    assert evidence.count == plain.count + 2
    assert evidence.corrected.tolist() == [False] * plain.count + [True, True]
    assert evidence.instead.tolist() == [False] * plain.count + [False, True]
    assert evidence.kinds == plain.kinds and len(evidence.paths) == len(shown)
    assert evidence.stopped.tolist() == plain.stopped.tolist()
    assert evidence.fold.tolist() == [*plain.fold.tolist(), -1, -1], "every model sees it"
    pair = np.arange(*evidence.start[-2:])
    assert len(pair) == 2 and evidence.rejected[pair].sum() == evidence.rejected.sum() == 1
    assert evidence.chosen[-1] in pair and not evidence.rejected[evidence.chosen[-1]]
    assert len(evidence.rows) - len(plain.rows) > 10, "the other choice is among all that could have been done"


def test_to_stop_can_be_the_right_step_and_the_wrong_one() -> None:
    task = everyday_task("packing")
    rng = np.random.default_rng(3)
    given = [demonstrate(task, rng) for _ in range(3)]
    world = task.make("train", rng)
    first = task.show(world, world.initial()[0][1], rng)
    again = learn([*given, correction(None, first, (), world)])
    assert again.provenance.evidence["corrections"]["not_followed"] or then(again, world, ()) is None
    evidence = Evidence(replay_all([*given, correction(first, None, (), world)]))
    assert evidence.stop[evidence.rejected].all() and evidence.rejected.sum() == 1


def test_what_cannot_be_followed_is_said(shown: list[Episode]) -> None:
    both = [correction((2, "clay", 1), (2, "bamboo", 1)), correction((2, "bamboo", 1), (2, "clay", 1))]
    task = learn([*shown, *both])
    assert task.provenance.evidence["corrections"]["not_followed"]
    assert any("is not followed" in warning for warning in task.warnings)


def test_a_file_with_a_correction_has_the_same_effect(shown: list[Episode], tmp_path: Path) -> None:
    one = correction((2, "clay", 1), (2, "bamboo", 1))
    file = tmp_path / "shown.jsonl"
    for episode in [*shown, one]:
        append_demonstration(file, episode.demonstration)
    read = read_episodes([file])
    assert read[-1].demonstration.corrects == Correction([2, "bamboo", 1])
    assert documents.dump(learn(read)) == documents.dump(learn([*shown, one]))
    assert "corrects" not in documents.dump(shown[0].demonstration)


def test_a_correction_needs_demonstrations_beside_it_and_choices_to_count(shown: list[Episode]) -> None:
    one = correction((2, "clay", 1), (2, "bamboo", 1))
    with pytest.raises(LearningError, match="only corrections"):
        learn([one])
    with pytest.raises(LearningError, match="corrections"):
        learn([*shown, one], objective="plans")


def test_a_correction_that_says_nothing_is_refused(shown: list[Episode]) -> None:
    with pytest.raises(DemonstrationError, match="the one that was wrong"):
        correction((2, "clay", 1), (2, "clay", 1))
    with pytest.raises(DemonstrationError, match="stop"):
        correction(None, None)
    with pytest.raises(DemonstrationError, match="without a step"):
        correction(None, (2, "clay", 1), ()) and Demonstration(problem_document(RITE), (), corrects=Correction(None))
    with pytest.raises(DemonstrationError, match="not possible"):
        replay_all([*shown, correction((2, "clay", 1), (2, "clay", 99))])
