"""Promise 2: a learning run that was killed goes on from its checkpoint, loses at most a round, and ends with the same
bytes, whatever it maximises; checkpoints are numbers and names, and only of the same run."""

from __future__ import annotations

import json
import random
import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from attack import Tally, resume
from meip import DocumentError, Episode, LearningError, learn
from meip.experiments.rites import paper_demonstrations
from meip.learning import checkpoint
from meip.learning.checkpoint import Checkpoint

LONG = ("choices, folding", "svm-literal", "plans, given")  # in `make attack`, and the like of them below


@pytest.mark.parametrize("name", [name for name in resume.CASES if name not in LONG])
def test_killed_at_random_rounds_it_ends_with_the_same_bytes(name: str, tmp_path: Path) -> None:
    tally = Tally(name)
    resume.resumes_of(tmp_path, name, resume.whole_of(tmp_path, name), random.Random(name), tally, kills=1)
    assert tally.failures == []
    assert tally.attempts or name == "plans, chance"  # which has two rounds only


def test_ended_by_a_signal_with_its_workers_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    tally = Tally("workers")
    resume.with_workers(tmp_path, 1.5, tally, signal.SIGTERM)
    assert tally.failures == []


def fits(episodes: Sequence[Episode], folder: Path, monkeypatch: pytest.MonkeyPatch, **options: Any) -> list[str]:
    """The names of the rounds that a run does itself."""
    done: list[str] = []
    keep = checkpoint.KeptRounds.keep

    def counted(self: checkpoint.KeptRounds, name: str, value: Any) -> None:
        done.append(name)
        keep(self, name, value)

    with monkeypatch.context() as patched:
        patched.setattr(checkpoint.KeptRounds, "keep", counted)
        patched.setattr(Checkpoint, "remove", lambda self: None)
        learn(episodes, checkpoint=folder, **options)
    return done


@pytest.mark.parametrize("options", [{}, {"objective": "plans"}, {"objective": "svm"}])
def test_no_round_is_done_twice(options: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    episodes = paper_demonstrations("free")
    first = fits(episodes, tmp_path / "kept", monkeypatch, **options)
    assert len(first) == len(set(first)) > 10
    assert fits(episodes, tmp_path / "kept", monkeypatch, **options) == []


def test_a_finished_run_leaves_no_checkpoint(tmp_path: Path) -> None:
    learn(paper_demonstrations("free"), checkpoint=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()


@pytest.mark.parametrize("changed", [{"seed": 7}, {"tolerance": 0.2}, {"objective": "history"}, "demonstrations"])
def test_a_checkpoint_of_another_run_is_refused(changed: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "kept"
    fits(paper_demonstrations("free"), folder, monkeypatch)
    episodes = paper_demonstrations("enforced" if changed == "demonstrations" else "free")
    with pytest.raises(LearningError, match="checkpoint is of another run"):
        learn(episodes, checkpoint=folder, **({} if changed == "demonstrations" else changed))
    assert list(folder.iterdir())


def test_a_world_that_says_something_else_of_the_same_states_is_another_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from attack.limits import Lamps

    def shown() -> list[Any]:
        return [(Lamps(), [k, (k + 1) % 3]) for k in range(3)]

    fits(shown(), tmp_path / "kept", monkeypatch)
    facts = Lamps.facts

    def others(self: Lamps, state: int) -> Any:
        found = facts(self, state)
        found.tables["power"][:] += 1
        return found

    monkeypatch.setattr(Lamps, "facts", others)
    with pytest.raises(LearningError, match="checkpoint is of another run"):
        learn(shown(), checkpoint=tmp_path / "kept")


def test_a_damaged_checkpoint_is_said_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder, episodes = tmp_path / "kept", paper_demonstrations("free")
    fits(episodes, folder, monkeypatch)
    (file,) = folder.iterdir()
    line = json.loads(file.read_text().splitlines()[0])
    line["rounds"][-1]["value"] = {"size": 3, "at": [7], "values": [1.0]}
    file.write_text(json.dumps(line) + "\n")
    with pytest.raises(LearningError, match=r"round .* is damaged"):
        learn(episodes, checkpoint=folder)
    file.write_text(file.read_text()[:-40] + "\n")
    with pytest.raises(DocumentError, match="not"):
        learn(episodes, checkpoint=folder)


def test_checkpoints_hold_numbers_and_names_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fits(paper_demonstrations("free"), tmp_path / "kept", monkeypatch)
    for line in (tmp_path / "kept" / "member-000.jsonl").read_text().splitlines():
        assert json.loads(line)["format"] == "meip.checkpoint/1"
