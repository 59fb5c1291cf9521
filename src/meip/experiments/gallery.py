"""The everyday tasks of the examples folder: where they are, and demonstrations of them, right or with a slip.

A wheel carries the folder as package data; in a clone it stands beside `src`.
"""

from __future__ import annotations

import sys
from functools import cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any, Protocol, cast

import numpy as np

import meip
from meip import Episode, MeipError, record

__all__ = ["TASKS", "EverydayTask", "demonstrate", "everyday_task", "examples"]

TASKS = ("packing", "painting", "laundry", "oven", "vacuum", "clinic", "seating", "post", "candles", "orchard")
SLIPS = 1000  # how often a slip is tried, until one breaks a rule


class EverydayTask(Protocol):
    """What a file of the gallery offers beside its world."""

    RULES: tuple[str, ...]

    def make(self, split: str, rng: np.random.Generator) -> Any:
        """A world: train, same, larger or changed."""
        ...

    def show(self, world: Any, state: Any, rng: np.random.Generator) -> Any:
        """What somebody who knows the rules does here; None: stop."""
        ...

    def kept(self, world: Any, states: tuple[Any, ...], actions: tuple[Any, ...]) -> dict[str, bool]:
        """Was each rule kept?"""
        ...


def examples() -> Path:
    """The folder of the examples."""
    package = Path(meip.__file__).parent
    for folder in (package / "data" / "examples", package.parents[1] / "examples"):
        if (folder / f"{TASKS[0]}.py").is_file():
            return folder
    raise MeipError(
        f"the examples are missing: neither in {package / 'data'} nor beside the sources; install meip again"
    )


@cache
def everyday_task(name: str) -> EverydayTask:
    """One of the gallery, by the name of its file."""
    spec = spec_from_file_location(f"examples.{name}", examples() / f"{name}.py")
    if spec is None or spec.loader is None:
        raise MeipError(f"the example {name!r} cannot be loaded")
    module = module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look there
    spec.loader.exec_module(module)
    return cast(EverydayTask, module)


def demonstrate(task: EverydayTask, rng: np.random.Generator, *, wrong: bool = False) -> Episode:
    """Somebody who knows the rules; `wrong`: who once does something else, breaks a rule by it, and goes on."""
    for _ in range(SLIPS):
        world = task.make("train", rng)
        slip = int(rng.integers(len(_walk(task, world, rng, None)[1]))) if wrong else None
        states, actions, outcomes = _walk(task, world, rng, slip)
        if all(task.kept(world, tuple(states), tuple(actions)).values()) != wrong:
            return Episode(world, record(world, actions, outcomes))
    raise MeipError(f"of {SLIPS} demonstrations {'none breaks a rule by a slip' if wrong else 'all break a rule'}")


def _walk(
    task: EverydayTask, world: Any, rng: np.random.Generator, slip: int | None
) -> tuple[list[Any], list[Any], list[int]]:
    """States, actions and outcomes; at the step `slip` any other action."""
    states, actions, outcomes = [world.initial()[0][1]], list[Any](), list[int]()
    while len(states) < world.horizon and (legal := world.actions(states[-1])):
        action = task.show(world, states[-1], rng)
        others = [other for other in legal if other != action]
        if len(actions) == slip and others:
            action = others[int(rng.integers(len(others)))]
        if action is None:
            break
        odds, after = zip(*world.outcomes(states[-1], action), strict=True)
        outcomes.append(int(rng.choice(len(odds), p=odds)))
        states.append(after[outcomes[-1]])
        actions.append(action)
    return states, actions, outcomes
