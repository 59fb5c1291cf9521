"""What two processes gain: the same work with one job and with two, and how evenly it is divided.

Seconds by the clock, so that it needs a machine that does nothing else; workers are started and have compiled before.
Beside it stands the ratio that would be possible: all processor time, over that of the busier half and of what only
one process can do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from meip import learn
from meip.base.parallel import Workers
from meip.bench._chores import demonstrations
from meip.experiments import Experiment
from meip.experiments.held_out import run as held_out
from meip.experiments.rites import paper_demonstrations

__all__ = ["WORK", "run"]

TARGET = 1.8
JOBS = 2
RITUALS = 40
WORK: dict[str, tuple[Callable[[int], object], float | None]] = {
    "learning with members (plans, 48)": (
        lambda jobs: learn(paper_demonstrations("free"), objective="plans", committee=48, jobs=jobs),
        TARGET,
    ),
    f"held-out rituals ({RITUALS})": (lambda jobs: held_out(Experiment(seeds=RITUALS, seed=7, jobs=jobs)), TARGET),
    "learning from choices (60 demonstrations)": (
        lambda jobs: learn(demonstrations(60, steps=8, things=8, marks=3), jobs=jobs),
        None,
    ),
}
"""Each by the number of jobs, and what it should gain; from choices, what is fitted is a part of the work only."""


def run(peers: bool = False, repeats: int = 3) -> list[dict[str, Any]]:
    """Seconds with one job and with two, their ratio, and how busy the workers were."""
    rows: list[dict[str, Any]] = []
    for work, (do, target) in WORK.items():
        do(JOBS)  # starts the workers, and has them load what is compiled
        seconds: dict[int, list[float]] = {1: [], JOBS: []}
        for _ in range(repeats):
            for jobs, found in seconds.items():
                begun = time.perf_counter()
                do(jobs)
                found.append(time.perf_counter() - begun)
        alone, together = (float(np.median(found)) for found in seconds.values())
        common = {"experiment": "bench", "work": work, "method": "meip", "n": repeats, "clock": "wall"}
        rows += [
            {**common, "metric": "seconds, 1 job", "value": alone},
            {**common, "metric": f"seconds, {JOBS} jobs", "value": together},
            {**common, "metric": "ratio", "value": alone / together, "target": target},
        ]
        if (possible := _possible(do)) is not None:
            rows.append({**common, "metric": "ratio that is possible", "value": possible, "clock": "processor"})
    return rows


def _possible(do: Callable[[int], object]) -> float | None:
    """All processor time over that of the longest way through it: this process, and the busiest worker."""
    workers = _workers()
    before, own = _busy(workers), _here()
    do(JOBS)
    here, spent = _here() - own, _busy(workers) - before
    if not workers or spent.sum() < here:  # threads: what they do and what one does alone cannot be told apart
        return None
    return float((here + spent.sum()) / (here + spent.max()))


def _here() -> float:
    return time.process_time()


def _workers() -> list[int]:
    """The processes that are kept for the next call."""
    with Workers(JOBS) as workers:
        return sorted(set(workers.map(_pid, range(8 * JOBS))))


def _pid(item: int, rng: np.random.Generator) -> int:
    time.sleep(0.05)  # so that every worker gets some
    return os.getpid()


def _busy(workers: list[int]) -> Any:
    """Seconds of processor time of each, where the system tells."""
    found = []
    for pid in workers:
        try:
            with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
                user, system = file.read().rsplit(")", 1)[1].split()[11:13]
            found.append((int(user) + int(system)) / os.sysconf("SC_CLK_TCK"))
        except OSError:
            found.append(0.0)
    return np.array(found)
