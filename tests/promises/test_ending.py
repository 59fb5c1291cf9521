"""Promise 9, cancelling: Ctrl-C and SIGTERM end a command quietly and soon, with all its workers."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from attack import signals

MEIP = [sys.executable, "-m", "meip"]
EOF = """
from dataclasses import dataclass
from meip.worlds.ritual import Ritual

@dataclass(frozen=True)
class Prompting(Ritual):
    def actions(self, state): raise EOFError("nobody answers")
"""

KILLED = """
import os, signal, threading, time
from meip.base.parallel import parallel_map

def slow(item, rng):
    time.sleep(300)

threading.Timer({moment}, os.kill, [os.getpid(), signal.SIGKILL]).start()
parallel_map(slow, range(4), jobs=2)
"""


def test_ctrl_c_is_quiet_and_leaves_nobody_behind(tmp_path: Path) -> None:
    assert signals.ctrl_c(tmp_path, 4, 2.5).failures == []


def test_workers_go_with_a_process_that_is_terminated(tmp_path: Path) -> None:
    assert signals.sigterm(tmp_path, 1, 4.0).failures == []


@pytest.mark.parametrize("moment", [0.1, 0.3, 0.5, 1.5])
def test_workers_go_with_a_process_that_is_gone_even_before_they_had_a_task(moment: float, tmp_path: Path) -> None:
    (tmp_path / "killed.py").write_text(KILLED.format(moment=moment))
    process = subprocess.Popen([sys.executable, "killed.py"], cwd=tmp_path, start_new_session=True)
    process.wait(30)
    late = time.monotonic() + 15  # they look for their parent four times a second, once they have started
    while signals.left_of(process.pid) and time.monotonic() < late:
        time.sleep(0.1)
    assert signals.left_of(process.pid) == []


def test_an_end_of_input_is_not_taken_for_ctrl_c(tmp_path: Path) -> None:
    (tmp_path / "prompting.py").write_text(EOF)
    found = subprocess.run([*MEIP, "show", "prompting:Prompting"], cwd=tmp_path, capture_output=True, text=True)
    assert found.returncode == 2 and "EOFError: nobody answers" in found.stderr and "Traceback" not in found.stderr


@pytest.mark.parametrize(("redirection", "code"), [(">/dev/full", 2), (">&- 2>&-", 0), ("2>/dev/full", 0)])
def test_output_that_is_closed_or_full_gives_no_traceback(redirection: str, code: int) -> None:
    command = " ".join([*MEIP, "schema demonstration", redirection])
    found = subprocess.run(command, shell=True, capture_output=True, text=True)
    assert found.returncode == code and "Traceback" not in found.stderr and "ignored" not in found.stderr
    if code:
        assert found.stderr == "error: the output: No space left on device\n"
