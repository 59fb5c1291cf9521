"""A project is a folder of readable documents; one studio at a time has it; what is deleted comes back."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from meip.base.errors import DocumentError
from meip.model.demonstrations import read_demonstrations, read_episodes, replay
from meip.model.problems import load_problem, resolve_world
from meip.studio.lock import Lock, Taken
from meip.studio.project import FOLDERS, Missing, Project
from meip.studio.worlds import Worlds
from meip.worlds.folding.demonstrate import bundled
from opened_studio import Opened


def test_a_folder_that_is_not_there_is_made_with_examples_that_the_library_reads(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "new")
    assert len(project.demonstrations()) >= 5 and len(project.problems()) >= 3 and project.tasks()
    for episode in read_episodes([project.file("demonstrations", name) for name in project.demonstrations()]):
        assert len(replay(episode.world, episode.demonstration)) > 1
    worlds = Worlds(project)
    for problem in worlds.problems():
        assert worlds.load(problem.id).domain.fluents
        if problem.source == "file" and problem.id.endswith(".json"):
            load_problem(project.path / "problems" / problem.id.removeprefix("file:"))
        elif problem.source == "file":
            resolve_world(str(project.path / "problems" / problem.id.removeprefix("file:")))


def test_the_shirts_of_a_new_project_are_the_demonstrations_that_ship(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "new")
    shirts = [name for name in project.demonstrations() if name.startswith("shirt")]
    assert [read_demonstrations(project.file("demonstrations", name))[0] for name in shirts] == bundled()


def test_a_folder_with_something_in_it_gets_no_examples(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine")
    project = Project.open(tmp_path)
    assert project.demonstrations() == [] and project.problems() == []
    assert all((tmp_path / name).is_dir() for name in FOLDERS)


def test_files_are_written_whole_and_listed_by_name(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "p")
    project.write("tasks", "b.json", "{}")
    project.write("tasks", "a.json", "{}")
    (project.path / "tasks" / ".a.json.123.tmp").write_text("half")
    project.write("tasks", "a 10.json", "{}")
    project.write("tasks", "a 9.json", "{}")
    assert project.tasks() == ["a.json", "a 9.json", "a 10.json", "b.json", "ritual.json"], "numbers in their order"
    assert project.read("tasks", "a.json") == "{}"
    with pytest.raises(Missing):
        project.read("tasks", "c.json")
    with pytest.raises(Missing):
        project.file("secrets", "a.json")


def test_a_name_that_is_taken_gets_a_number(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "p")
    project.write("tasks", "Rite.json", "{}")
    assert project.free_name("tasks", "rite", ".json") == "rite 2.json", "also where a disk does not know case"
    with pytest.raises(DocumentError, match="already"):
        project.write("tasks", "other.json", "{}")
        project.rename("tasks", "other.json", "Rite.json")


def test_what_was_deleted_comes_back_under_its_name_or_beside_it(tmp_path: Path) -> None:
    project = Project.open(tmp_path / "p")
    before = project.read("demonstrations", "ritual 1.json")
    token = project.trash("demonstrations", "ritual 1.json")
    assert "ritual 1.json" not in project.demonstrations()
    assert project.restore(token) == ("demonstrations", "ritual 1.json")
    assert project.read("demonstrations", "ritual 1.json") == before
    with pytest.raises(Missing):
        project.restore(token)
    token = project.trash("demonstrations", "ritual 1.json")
    project.write("demonstrations", "ritual 1.json", before)
    assert project.restore(token) == ("demonstrations", "ritual 1 2.json")


def test_only_the_last_deletions_are_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("meip.studio.project.TRASH_KEPT", 3)
    project = Project.open(tmp_path / "p")
    tokens = []
    for k in range(5):
        project.write("plans", f"{k}.json", "{}")
        tokens.append(project.trash("plans", f"{k}.json"))
    with pytest.raises(Missing):
        project.restore(tokens[1])
    assert [project.restore(token)[1] for token in tokens[2:]] == ["2.json", "3.json", "4.json"]


@pytest.mark.parametrize("token", ["..", "../demonstrations", "x", "", "0" * 20 + "-" + "0" * 8])
def test_nothing_else_can_be_brought_back(tmp_path: Path, token: str) -> None:
    with pytest.raises(Missing):
        Project.open(tmp_path / "p").restore(token)


def test_a_second_studio_is_told_who_has_the_folder(tmp_path: Path) -> None:
    first, second = Lock(tmp_path / "lock"), Lock(tmp_path / "lock")
    first.take(address="http://127.0.0.1:1")
    with pytest.raises(Taken, match=rf"process {os.getpid()}, http://127.0.0.1:1, since"):
        second.take()
    first.give_up()
    second.take()
    second.give_up()


HOLD = """
import sys
from pathlib import Path
from meip.studio.lock import Lock
lock = Lock(Path(sys.argv[1]))
lock.take()
print("held", flush=True)
sys.stdin.read()
"""


def test_a_killed_studio_gives_up_its_folder(tmp_path: Path) -> None:
    held = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(tmp_path / "lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    with held:
        assert held.stdout is not None and held.stdout.readline() == "held\n"
        with pytest.raises(Taken, match=f"process {held.pid}"):
            Lock(tmp_path / "lock").take()
        held.send_signal(signal.SIGKILL)
        held.wait()
    lock = Lock(tmp_path / "lock")
    lock.take()
    lock.give_up()


def test_the_second_command_says_who_has_it_and_changes_nothing(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "meip", "studio", str(tmp_path / "p"), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as first:
        assert first.stdout is not None
        try:
            lines = [first.stdout.readline() for _ in range(3)]
            assert "http://127.0.0.1:" in lines[2]
            files = sorted((tmp_path / "p").rglob("*"))
            second = subprocess.run(command, capture_output=True, text=True, timeout=60)
            assert second.returncode == 2 and f"process {first.pid}" in second.stderr
            assert second.stderr.count("\n") == 1 and sorted((tmp_path / "p").rglob("*")) == files
        finally:
            first.send_signal(signal.SIGINT)
    assert first.returncode == 130


def test_the_project_says_what_is_in_it(tmp_path: Path) -> None:
    found = Opened.at(tmp_path / "p").get("/api/project")
    assert found["name"] == "p" and "ritual 1.json" in found["demonstrations"]
    assert {"file", "built-in"} == {problem["source"] for problem in found["problems"]}
    assert not any("domain" in problem["id"] for problem in found["problems"])
    assert len(read_demonstrations(tmp_path / "p" / "demonstrations" / "shirt 1.json")) == 1
