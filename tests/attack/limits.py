"""Time limits: every search, in worlds that are large, slow, wide or long, answers within a second of its limit."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attack import Tally
from meip import Domain, EntityClass, Facts, MeipError, Task, World, function, learn, predicate, record
from meip.model.demonstrations import Episode
from meip.search.find import SEARCHES

__all__ = ["WORLDS", "late_searches"]

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
