"""Promise 5, a user's own world: whatever it does, the error names the method, the state and the action."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from attack import worlds
from meip import MeipError, Task, append_demonstration, learn
from meip.model.check import check_world
from meip.model.demonstrations import Episode

NAMED = {
    "actions raises KeyError": "actions() failed in state (False, False, False): KeyError: 'bulb'",
    "actions raises late": "actions() failed in state (True, ",
    "actions endless": "actions() lists more than 200,000 in state (False, False, False): is it a list without end?",
    "actions returns None": "actions() must return a list, got None in state (False, False, False)",
    "actions unhashable": "action [0] is not hashable in state (False, False, False); use tuples",
    "outcomes raises SystemExit": "outcomes() failed for action 0 in state (False, False, False): SystemExit: bulb",
    "outcomes late NaN": "nan is not a probability",
    "outcomes not pairs": "outcomes() must list (probability, state), got (False, False, False) for action 0 in state",
    "outcomes in words": "outcomes() must list (probability, state), got ('often', (False, False, False)) for action 0",
    "facts raises late": "facts() failed in state (True, False, False): ZeroDivisionError: bulb",
    "facts of a wrong shape": "facts() in state (False, False, False): facts of 'on': expected tables of shape (3,)",
    "facts returns None": "facts() must return Facts, got None in state (False, False, False)",
    "initial raises KeyError": "initial() failed: KeyError: 'bulb'",
    "domain raises": "the domain failed: KeyError: 'bulb'",
    "reached raises": "reached() failed in state (False, False, False): KeyError: 'bulb'",
}
OWN = """
from dataclasses import dataclass
from attack.worlds import Lamps

@dataclass(frozen=True)
class Broken(Lamps):
    def outcomes(self, state, action):
        return self.lookup[action]

    @property
    def lookup(self): raise LookupError("no such lamp")
"""


@pytest.fixture(scope="module")
def task() -> Task:
    return learn([Episode(worlds.Lamps(), one) for one in worlds.SHOWN])


def test_worlds_that_misbehave_give_a_clear_error_or_none_and_never_a_traceback(tmp_path: Path) -> None:
    assert worlds.misbehaving(tmp_path, len(worlds.FAULTS)).failures == []


@pytest.mark.parametrize("fault", NAMED)
def test_an_error_names_the_method_and_the_state_and_the_action(fault: str, task: Task) -> None:
    with pytest.raises(MeipError) as planned:
        task.plan(worlds.broken(fault))
    assert NAMED[fault] in str(planned.value)


@pytest.mark.parametrize("member", ["actions", "outcomes", "facts"])
def test_check_finds_worlds_that_answer_differently_when_asked_again(member: str) -> None:
    errors = check_world(worlds.broken(f"{member} random")).errors
    assert any(f"{member}() differ between two calls" in error for error in errors), errors


def test_check_finds_worlds_that_change_a_state() -> None:
    errors = check_world(worlds.broken("states change")).errors
    assert any("outcomes() changed the state that it was asked about" in error for error in errors), errors


def test_the_command_line_shows_the_users_own_traceback_when_asked(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    append_demonstration(tmp_path / "demos.jsonl", worlds.SHOWN[0])
    learned = [sys.executable, "-m", "meip", "learn", "demos.jsonl", "-o", "task.json", "--world", "own:Broken"]
    paths = [str(Path(__file__).parents[1]), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": ":".join(paths)}
    for more in ([], ["--debug"]):
        found = subprocess.run([*learned, *more], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert found.returncode == 2
        assert (
            "outcomes() failed for action 0 in state (False, False, False): LookupError: no such lamp" in found.stderr
        )
        assert ("in lookup" in found.stderr) == ("own.py" in found.stderr) == bool(more)
        assert ("with --debug it says where" in found.stderr) != bool(more)
