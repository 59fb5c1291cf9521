"""Time limits: every search, in worlds that are large, slow, wide or long, answers within a second of its limit."""

from __future__ import annotations

import multiprocessing
import os
import resource
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attack import Tally
from meip import (
    BudgetError,
    Cancelled,
    Domain,
    EntityClass,
    Facts,
    MeipError,
    Task,
    World,
    function,
    learn,
    predicate,
    record,
)
from meip.base.running import MEMORY_FACTOR, resident
from meip.model.demonstrations import Episode
from meip.search.find import SEARCHES

__all__ = ["WORLDS", "greedy_runs", "late_learners", "late_searches"]

LIMIT, GRACE = 0.5, 1.0
DOMAIN = Domain("lamps", (EntityClass("lamp"),), (predicate("on", "lamp"), function("power", "lamp")))


@dataclass(frozen=True)
class Lamps(World):
    """Lamps that are switched on and off, by somebody who takes his time."""

    lamps: int = 3
    horizon: int = 4
    seconds: float = 0.0
    chance: float = 0.0

    @property
    def domain(self) -> Domain:
        return DOMAIN

    def initial(self) -> Any:
        return [(1.0, 0)]

    def actions(self, state: int) -> Any:
        time.sleep(self.seconds)
        return list(range(self.lamps))

    def outcomes(self, state: int, action: int) -> Any:
        after = state ^ (1 << action)
        return [(1 - self.chance, after), (self.chance, state)] if self.chance else [(1.0, after)]

    def facts(self, state: int) -> Any:
        on = np.array([bool(state >> lamp & 1) for lamp in range(self.lamps)])
        return Facts({"lamp": self.lamps}, {"on": on, "power": np.cumsum(on).astype(float)})


@dataclass(frozen=True)
class Chain(Lamps):
    """A long way that forks in the beginning: few plans, and each is long."""

    def actions(self, state: int) -> Any:
        return [0, 1] if state < 2**5 else [0]

    def outcomes(self, state: int, action: int) -> Any:
        return [(1.0, 2 * state + action + 1 if state < 2**5 else state + 64)]


WORLDS: dict[str, World] = {
    "large": Lamps(12, 14),
    "chancy": Lamps(12, 14, chance=0.25),
    "slow": Lamps(8, 10, seconds=0.02),
    "wide": Lamps(400, 6),
    "long": Lamps(4, 3000),
    "forked": Chain(4, 1500),
    "far": Chain(4, 6000),
    "long and chancy": Lamps(4, 3000, chance=0.25),
}


def taught() -> Task:
    return learn([Episode(Lamps(), record(Lamps(), [k, (k + 1) % 3])) for k in range(3)], grammar=None)


def late_searches(folder: Path, attempts: int, worlds: dict[str, World] | None = None) -> Tally:
    """Every search in every world, by a limit of half a second, from a graph that is new; compiled beforehand."""
    tally, task = Tally(f"searches with a limit of {LIMIT:g} s"), taught()
    cases = [(name, method) for name in worlds or WORLDS for method in SEARCHES]
    for method in SEARCHES:
        for warm in (Lamps(), Lamps(chance=0.25)):
            _plan(task, warm, method)()
    for name, method in cases[:attempts]:
        with tally.attempt(f"{method} in the {name} world", LIMIT + GRACE):
            _plan(task, (worlds or WORLDS)[name], method)()
    return tally


def _plan(task: Task, world: World, method: str) -> Callable[[], None]:
    def plan() -> None:
        with suppress(MeipError):
            task.plan(world, method=method, seconds=LIMIT, horizon=world.horizon, iterations=10**9)

    return plan


OBJECTIVES: dict[str, dict[str, Any]] = {
    "choices": {},
    "history": {"objective": "history"},
    "plans": {"objective": "plans"},
    "plans of three": {"objective": "plans", "committee": 3},
    "literal": {"objective": "plans", "pursuit": "literal"},
    "svm": {"objective": "svm"},
    "svm-literal": {"objective": "svm-literal"},
    "given": {"objective": "plans", "concepts": ("some(on)", "all(on)")},
}
LESSONS = ("large", "chancy", "slow", "wide", "long")


def shown_in(world: World) -> list[Episode]:
    return [Episode(world, record(world, [k, (k + 1) % 3, (k + 2) % 3], [0, 0, 0])) for k in range(3)]


def late_learners(folder: Path, attempts: int, lessons: Sequence[str] = LESSONS) -> Tally:
    """Every learner by a limit of half a second, and called off after that, in the main thread and in another one.

    It ends within a second of that, or of as many as there are others at work for each core of the machine.
    """
    tally = Tally(f"learners cut or called off after {LIMIT:g} s")
    for options in OBJECTIVES.values():
        learn(shown_in(Lamps()), **options)  # compiles
    ways = [(cut, thread) for cut in ("time", "cancel") for thread in (False, True)]
    cases = [(name, lesson, *way) for lesson in lessons for name in OBJECTIVES for way in ways]
    for name, lesson, cut, thread in cases[:attempts]:
        crowd = max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1))
        episodes = shown_in(WORLDS[lesson])
        with tally.attempt(f"{name} in the {lesson} world, by {cut}{' in a thread' * thread}", LIMIT + GRACE * crowd):
            _ended(episodes, OBJECTIVES[name], cut, thread)
    return tally


def _ended(episodes: list[Episode], options: dict[str, Any], cut: str, thread: bool) -> None:
    """Learn until it is cut, and look at how it ends."""
    called_off, wrong = threading.Event(), []
    timer = threading.Timer(LIMIT, called_off.set)
    limit: dict[str, Any] = {"seconds": LIMIT} if cut == "time" else {"cancelled": called_off.is_set}

    def work() -> None:
        try:
            task = learn(episodes, **options, **limit)
            if "cut" in task.provenance.evidence:
                assert cut == "time" and "learning was cut" in task.warnings[0]
        except BaseException as error:
            if not isinstance(error, BudgetError if cut == "time" else Cancelled):
                wrong.append(error)

    timer.start()
    if thread:
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    else:
        work()
    timer.cancel()
    for error in wrong:
        raise error


def greedy_runs(folder: Path, attempts: int, more: float = 40.0) -> Tally:
    """Learners and searches that would need more memory than they may have, each in a process of its own: a result
    that says so, or an error, within the factor."""
    tally = Tally(f"runs with {more:g} MB more than they begin with")
    cases = [("learn", name) for name in OBJECTIVES] + [("plan", method) for method in SEARCHES]
    task = taught()
    for method in SEARCHES:
        _plan(task, Lamps(), method)()
    for verb, name in cases[:attempts]:
        with tally.attempt(f"{verb} {name}", 120):
            process = multiprocessing.get_context("fork").Process(target=_greedy, args=(verb, name, task, more))
            process.start()
            process.join()
            assert process.exitcode == 0, f"exit code {process.exitcode}"
    return tally


def _greedy(verb: str, name: str, task: Task, more: float) -> None:
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak so far is that of the process that forked
    most = resident() + more
    if verb == "plan":
        with suppress(BudgetError):
            task.plan(Lamps(40, 60), method=name, memory=most, seconds=20, horizon=60, iterations=10**9)
    else:
        with suppress(BudgetError):
            found = learn(shown_in(Lamps(1500, 6)), memory=most, seconds=20, **OBJECTIVES[name])
            assert "cut" not in found.provenance.evidence or "learning was cut" in found.warnings[0]
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    assert peak <= MEMORY_FACTOR * most, f"{peak:.0f} MB, where {most:.0f} were allowed"
