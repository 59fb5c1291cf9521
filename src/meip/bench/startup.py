"""The first run on a fresh machine: how long commands compile until there is a result.

Each command runs in a process of its own with an empty folder for machine code, and again with what the first run left
there. Compiling is the difference of their processor seconds (user and system); what was compiled is counted as files.
"""

from __future__ import annotations

import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from meip import MeipError, append_demonstration
from meip.experiments.gallery import demonstrate, everyday_task, examples
from meip.model.demonstrations import Demonstration

__all__ = ["COMMANDS", "prepare", "run"]

TARGET = 10.0  # seconds
REPEATS = 3
SHOWN = 5
COMMANDS: dict[str, tuple[str, ...]] = {
    "demo": ("demo", "-o", "ritual.json"),
    "learn, a world of one's own": ("learn", "packing.jsonl", "--world", "packing:Packing", "-o", "packing.json"),
    "learn, three PDDL plans": ("learn", "--domain", "plans/domain.pddl", "--plans", "plans", "-o", "ferry.json"),
    "plan": ("plan", "ritual.json", "ritual"),
    "plan, PDDL": ("plan", "ferry.json", "large.pddl", "--domain", "plans/domain.pddl", "-o", "large.plan"),
}


def run(peers: bool = False, commands: Sequence[str] = tuple(COMMANDS), repeats: int = REPEATS) -> list[dict[str, Any]]:
    """Rows without a peer: seconds of compiling, of a first and of later runs, and the number of kernels compiled."""
    rows: list[dict[str, Any]] = []
    with TemporaryDirectory(prefix="meip-startup-") as name:
        folder = Path(name)
        prepare(folder)
        for command in commands:
            first, later, kernels = [], [], 0
            for number in range(repeats):
                cache = folder / f"cache {command} {number}"
                first.append(_seconds(folder, cache, COMMANDS[command]))
                kernels = sum(1 for _ in cache.rglob("*.nbc"))
                later.append(_seconds(folder, cache, COMMANDS[command]))
                shutil.rmtree(cache, ignore_errors=True)
            compiling = [one - other for one, other in zip(first, later, strict=True)]
            rows.append({**_row(command, "compiling", compiling), "target": TARGET})
            rows += [_row(command, "first run", first), _row(command, "later runs", later)]
            rows.append(_row(command, "kernels compiled", [kernels]))
    return rows


def _row(command: str, metric: str, values: Sequence[float]) -> dict[str, Any]:
    value = statistics.median(values)
    work = f"meip {command}"
    return {"experiment": "bench", "work": work, "method": "meip", "metric": metric, "value": value, "n": len(values)}


def _seconds(folder: Path, cache: Path, command: Sequence[str]) -> float:
    """Processor seconds of a command in a process of its own."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "meip", *command], cwd=folder, env=environment, capture_output=True, text=True
    )
    after = os.times()
    if done.returncode != 0:
        raise MeipError(f"meip {' '.join(command)} failed: {done.stderr.strip()[-300:]}")
    return after.children_user + after.children_system - before.children_user - before.children_system


def prepare(folder: Path) -> None:
    """What the commands read: a user's own world with demonstrations, and PDDL problems with plans."""
    from meip.worlds.pddl.demonstrate import solve
    from meip.worlds.pddl.generators import generate
    from meip.worlds.pddl.plans import write_plan
    from meip.worlds.pddl.world import load_domain, read_problem
    from meip.worlds.pddl.writer import domain_text

    shutil.copy(examples() / "packing.py", folder)
    task, rng = everyday_task("packing"), np.random.default_rng(0)
    for _ in range(SHOWN):
        shown = demonstrate(task, rng).demonstration
        assert isinstance(shown, Demonstration)
        append_demonstration(folder / "packing.jsonl", shown)
    plans = folder / "plans"
    plans.mkdir()
    (plans / "domain.pddl").write_text(domain_text(load_domain("ferry")))
    for seed, cars in enumerate((2, 2, 3), start=1):
        problem = plans / f"p{seed}.pddl"
        problem.write_text(generate("ferry", seed, cars=cars))
        write_plan(problem.with_suffix(".plan"), solve(read_problem(str(problem), str(plans / "domain.pddl")))[0])
    (folder / "large.pddl").write_text(generate("ferry", 9, cars=8))
