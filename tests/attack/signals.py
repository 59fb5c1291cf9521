"""Ctrl-C and SIGTERM at random moments of real commands: quiet, within a second, and nobody is left behind."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import meip
from attack import Tally

__all__ = ["ctrl_c", "left_of", "sigterm"]

DEMOS = str(Path(meip.__file__).parent / "data" / "ritual.jsonl")
COMMANDS = {
    "learn": ["learn", DEMOS, "-o", "task.json"],
    "members": ["learn", DEMOS, "-o", "task.json", "--objective", "plans", "--committee", "8", "--jobs", "2"],
    "demo": ["demo"],
    "show": ["show", "ritual"],
    "reproduce": ["reproduce", "structural-change", "--held-out", "8", "--jobs", "2"],
}
LONGEST = {"show": 0.6}  # seconds until the signal comes, at most
GRACE = 2.0  # the promise is a second; the machine may be busy


def left_of(session: int) -> list[str]:
    """The processes of a session that are still there."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            if int(fields[3]) == session and fields[0] != "Z":
                found.append((entry / "cmdline").read_text().replace("\0", " ")[:80])
        except (OSError, IndexError, ValueError):
            continue
    return found


def _ended(command: list[str], folder: Path, moment: float, number: int, *, group: bool) -> None:
    """Start a command in a session of its own, send it a signal, and see how it ends."""
    process = subprocess.Popen(
        [sys.executable, "-m", "meip", *command],
        cwd=folder, start_new_session=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        process.wait(moment)
    except subprocess.TimeoutExpired:
        (os.killpg if group else os.kill)(process.pid, number)
    start = time.perf_counter()
    try:
        _, errors = process.communicate(timeout=60)
    except subprocess.TimeoutExpired:
        left = left_of(process.pid)
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        raise AssertionError(f"still there after a minute: {left}") from None
    seconds = time.perf_counter() - start
    assert process.returncode in (0, 128 + number, -number), f"exit code {process.returncode}: {errors[-300:]}"
    assert "Traceback" not in errors and "Exception ignored" not in errors, errors[-600:]
    assert seconds < GRACE, f"it took {seconds:.2f} s to end"
    while (left := left_of(process.pid)) and time.perf_counter() - start < GRACE + 2:
        time.sleep(0.05)
    assert not left, f"left behind: {left}"
    assert not list(folder.glob(".*.tmp")), "a temporary file is left"


def _signals(folder: Path, attempts: int, number: int, names: list[str], longest: float, *, group: bool) -> Tally:
    tally, rng = Tally(signal.Signals(number).name), random.Random(0)
    for attempt in range(attempts):
        name = names[attempt % len(names)]
        moment = 0.12 + rng.random() * LONGEST.get(name, longest)  # the interpreter itself starts before that
        with tally.attempt(f"{name} after {moment:.2f} s"):
            _ended(COMMANDS[name], folder, moment, number, group=group)
    return tally


def ctrl_c(folder: Path, attempts: int, longest: float = 6.0) -> Tally:
    """As a terminal does it: to every process of the group, within so many seconds."""
    return _signals(folder, attempts, signal.SIGINT, list(COMMANDS), longest, group=True)


def sigterm(folder: Path, attempts: int, longest: float = 6.0) -> Tally:
    """As a process manager does it: to the process alone, and its workers have to go as well."""
    return _signals(folder, attempts, signal.SIGTERM, ["members", "reproduce"], longest, group=False)
