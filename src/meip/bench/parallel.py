"""What two processes gain: the same work with one job and with two, and how evenly it is divided.

Seconds by the clock need a machine that does nothing else; workers are started and have compiled before. Beside their
ratio stands that of processor time: all of it, over the longest way through it, which is what only this process can do
and what the busiest worker does. It says how evenly work is divided, and is the same on a busy machine; waiting, as for
Python's lock, is not in it.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from meip import learn
from meip.base.local import Threads
from meip.base.packing import Done
from meip.base.parallel import Workers
from meip.bench._chores import demonstrations
from meip.experiments import Experiment
from meip.experiments.held_out import run as held_out
from meip.experiments.rites import paper_demonstrations

__all__ = ["WORK", "divided", "run"]

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
        shares = divided(do)
        rows += [{**common, "metric": metric, "value": value, "clock": "processor"} for metric, value in shares.items()]
    return rows


def divided(do: Callable[[int], object]) -> dict[str, float]:
    """Seconds of processor time: in this process alone, of all workers, of the busiest; and what that allows."""
    workers, threads = _workers(), dict[int, float]()
    before, own = _busy(workers), _here()
    with _noted(threads):
        do(JOBS)
    busy = [*threads.values(), *(_busy(workers) - before).tolist()]
    alone = max(_here() - own - sum(threads.values()), 0.0)
    longest = max(busy, default=0.0)
    return {
        "seconds in one process": alone,
        "seconds of all workers": float(sum(busy)),
        "seconds of the busiest worker": longest,
        "ratio by processor time": (alone + sum(busy)) / max(alone + longest, 1e-9),
    }


@contextmanager
def _noted(spent: dict[int, float]) -> Iterator[None]:
    """Add up the processor time of each thread that does tasks."""
    run = Threads.run

    def noted(self: Threads, function: Callable[[int, Any], Any], items: Sequence[Any]) -> Iterator[Done]:
        def timed(number: int, item: Any) -> Any:
            begun = time.thread_time()
            try:
                return function(number, item)
            finally:
                place = threading.get_ident()
                spent[place] = spent.get(place, 0.0) + time.thread_time() - begun

        return run(self, timed, items)

    Threads.run = noted  # type: ignore[method-assign]
    try:
        yield
    finally:
        Threads.run = run  # type: ignore[method-assign]


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
