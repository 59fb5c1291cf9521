"""Promise 3, files: nothing acknowledged is lost, nothing is torn, and nothing that somebody else wrote is deleted."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from attack import writing
from meip import DocumentError, append_demonstration, read_demonstrations
from meip.base import documents
from meip.base.files import write_text
from meip.cli import main

# Newer Pythons warn about any fork of a process with threads; the children here touch one file and are killed.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


def test_an_append_on_a_full_disk_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    assert writing.full_disk_appends(tmp_path, 40).failures == []


def test_a_write_on_a_full_disk_leaves_the_old_file_and_nothing_beside_it(tmp_path: Path) -> None:
    assert writing.full_disk_writes(tmp_path, 12).failures == []


def test_kill_9_in_an_append_loses_nothing_acknowledged(tmp_path: Path) -> None:
    assert writing.kills_in_appends(tmp_path, 40).failures == []


def test_kill_9_in_any_kind_of_write_tears_nothing(tmp_path: Path) -> None:
    assert writing.kills_in_writes(tmp_path, 15).failures == []


@pytest.mark.parametrize("typed", ['{"format": "meip.demonstration/1", "steps": [}', "my own note", '{"format": "mei'])
def test_a_last_line_that_somebody_else_wrote_is_named_and_never_deleted(
    tmp_path: Path, typed: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "demos.jsonl"
    append_demonstration(file, writing.SHOWN)
    file.write_text(file.read_text() + typed)
    before = file.read_bytes()
    for work in (lambda: append_demonstration(file, writing.SHOWN), lambda: read_demonstrations(file)):
        with pytest.raises(DocumentError, match=r"demos\.jsonl:2: not a whole document.*meip check --repair"):
            work()
    assert file.read_bytes() == before
    with pytest.raises(SystemExit) as ended:
        main(["check", "--repair", str(file)])
    assert ended.value.code == 0 and f"moved    {file}:2 to {file}.removed" in capsys.readouterr().out
    assert Path(f"{file}.removed").read_text() == typed + "\n"
    append_demonstration(file, writing.SHOWN)
    assert read_demonstrations(file) == [writing.SHOWN] * 2


def test_an_append_waits_for_whoever_replaces_the_file_and_goes_to_the_new_one(tmp_path: Path) -> None:
    fcntl = pytest.importorskip("fcntl")
    file = tmp_path / "demos.jsonl"
    append_demonstration(file, writing.SHOWN)
    with open(file, "rb") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        waiting = threading.Thread(target=append_demonstration, args=(file, writing.SHOWN))
        waiting.start()
        waiting.join(0.2)
        assert waiting.is_alive()
        write_text(file, "")
    waiting.join(10)
    assert read_demonstrations(file) == [writing.SHOWN]


def test_a_file_keeps_its_mode_and_a_link_stays_a_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    write_text(real, "old")
    real.chmod(0o640)
    link.symlink_to("real.json")
    write_text(link, "new")
    assert link.is_symlink() and real.read_text() == "new"
    assert stat.S_IMODE(real.stat().st_mode) == 0o640
    dangling = tmp_path / "dangling.json"
    dangling.symlink_to("later.json")
    write_text(dangling, "new")
    assert dangling.is_symlink() and (tmp_path / "later.json").read_text() == "new"


def test_what_is_not_a_file_is_written_to_and_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    heard: list[str] = []
    listener = threading.Thread(target=lambda: heard.append(pipe.read_text()))
    listener.start()
    write_text(pipe, "through the pipe")
    listener.join(10)
    assert heard == ["through the pipe"] and stat.S_ISFIFO(pipe.stat().st_mode)
    write_text("/dev/null", "nowhere")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_standard_output_that_goes_to_a_file_gets_everything_in_order(tmp_path: Path) -> None:
    code = """from meip.base.files import write_text
print("before")
write_text("/dev/stdout", "the file\\n")
print("after")"""
    with open(tmp_path / "out", "w") as out:
        subprocess.run([sys.executable, "-c", code], stdout=out, check=True)
    assert (tmp_path / "out").read_text() == "before\nthe file\nafter\n"


@pytest.mark.parametrize(
    "command",
    [
        ["learn", "no-such.jsonl", "-o", "{}"],
        ["plan", "no-such.json", "ritual", "-o", "{}"],
        ["plan", "no-such.json", "ritual", "--render", "{}"],
        ["explain", "no-such.json", "--html", "{}"],
        ["evaluate", "no-such.json", "ritual", "--json", "{}"],
        ["bench", "--json", "{}"],
        ["demo", "-o", "{}"],
        ["reproduce", "probability-shift", "--json", "{}"],
        ["reproduce", "probability-shift", "--out", "{}"],
        ["learn", "no-such.jsonl", "-o", "task.json", "--checkpoint", "{}"],
        ["generate", "ferry", "-o", "{}"],
        ["demonstrate", "ferry", "no-such.pddl", "-o", "{}"],
        ["fold", "garments", "-o", "{}"],
        ["fold", "garments", "--picture", "{}"],
        ["fold", "parse", "no-such.png", "-o", "{}"],
        ["fold", "demonstrate", "-o", "{}"],
        ["fold", "render", "no-such.json", "-o", "{}"],
        ["fold", "import", "no-such.xml", "-o", "{}"],
        ["fold", "convert", "no-such.json", "{}"],
        ["fold", "problem", "tshirt", "-o", "{}"],
    ],
    ids=" ".join,
)
def test_an_output_that_cannot_be_written_is_noticed_before_the_work_and_no_folder_is_made(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main([part.format(tmp_path / "nowhere" / "out.json") for part in command])
    error = capsys.readouterr().err
    assert ended.value.code == 2
    assert f"cannot be written: there is no folder {tmp_path / 'nowhere'}; make it first: mkdir -p" in error
    assert os.listdir(tmp_path) == []


def test_an_output_that_is_a_folder_or_read_only_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="it is a folder"):
        documents.write_text(tmp_path, "")
    file = tmp_path / "kept.json"
    file.write_text("kept")
    file.chmod(0o444)
    if os.access(file, os.W_OK):
        pytest.skip("this user may write everything")
    with pytest.raises(DocumentError, match="may not be changed"):
        documents.write_text(file, "new")
    assert file.read_text() == "kept"
