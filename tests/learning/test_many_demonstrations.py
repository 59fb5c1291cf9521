"""Very many demonstrations, and very long ones: what is looked at is bounded, said, and drawn by the seed."""

from __future__ import annotations

import pytest

from meip import learn
from meip.base import documents
from meip.bench._chores import demonstrations
from meip.learning import evidence
from meip.learning.evidence import Evidence, drawn
from meip.model.choices import replay_all


def test_of_very_many_demonstrations_some_are_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(evidence, "STATES", 40)
    monkeypatch.setattr(evidence, "FOLDS", 5)
    shown = demonstrations(20, steps=4, things=4, marks=2)
    some, numbers = drawn(replay_all(shown), 0)
    assert numbers is not None and 5 <= len(numbers) < 20 and numbers == sorted(set(numbers))
    assert sum(len(walk.states) for walk in some.walks) <= 40
    assert numbers != drawn(replay_all(shown), 1)[1]
    task = learn(shown, seed=0)
    said = f"{len(numbers)} of 20 demonstrations were looked at, drawn by the seed: there were very many"
    assert said in task.warnings
    assert task.provenance.evidence["looked_at"] == [number + 1 for number in numbers]
    judges = task.preferences.held_out  # type: ignore[union-attr]
    left_out = sorted(number for one in judges for number in one.without)
    assert len(judges) == 5 and left_out == [number + 1 for number in numbers]


def test_of_very_many_choices_some_are_looked_at_and_the_last_of_each_demonstration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replayed = replay_all(demonstrations(4, steps=20, things=4, marks=2))
    every = Evidence(replayed)
    monkeypatch.setattr(evidence, "CHOICES", 30)
    some = Evidence(replayed)
    assert every.passed_over == 0 and some.count <= 30 < every.count
    assert some.stop[some.chosen].sum() == every.stop[every.chosen].sum() == 4


def test_few_demonstrations_are_all_looked_at() -> None:
    replayed = replay_all(demonstrations(10, steps=5, things=5, marks=2))
    assert drawn(replayed, 0) == (replayed, None)
    assert Evidence(replayed).folds == 10


def test_learning_from_choices_gives_the_same_bytes_with_two_jobs() -> None:
    shown = demonstrations(6, steps=5, things=5, marks=2)
    one, two = (documents.canonical(documents.dump(learn(shown, jobs=jobs))) for jobs in (1, 2))
    assert one == two
