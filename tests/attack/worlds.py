"""Worlds of a user that misbehave: a clear error, or none; never a traceback, and never without end."""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from attack import Tally
from meip import Domain, EntityClass, Facts, MeipError, Task, World, function, learn, predicate, record
from meip.base.parallel import within
from meip.model.check import check_world
from meip.model.demonstrations import Episode

__all__ = ["FAULTS", "Lamps", "broken", "checked", "misbehaving"]

DOMAIN = Domain("lamps", (EntityClass("lamp"),), (predicate("on", "lamp"), function("power", "lamp")))


@dataclass(frozen=True)
class Lamps(World):
    """Three lamps that are lit one by one; there is nothing wrong with it."""

    domain = DOMAIN
    horizon = 4

    def initial(self) -> Any:
        return [(1.0, (False,) * 3)]

    def actions(self, state: Any) -> Any:
        return [lamp for lamp in range(3) if not state[lamp]]

    def outcomes(self, state: Any, action: Any) -> Any:
        lit = (*state[:action], True, *state[action + 1 :])
        return [(0.75, lit), (0.25, state)] if action == 2 else [(1.0, lit)]

    def facts(self, state: Any) -> Any:
        return Facts.build(DOMAIN, {"lamp": 3}, {"on": np.array(state), "power": np.array(state, dtype=float)})


SHOWN = [record(Lamps(), [0, 1]), record(Lamps(), [1, 0, 2], [None, None, 0]), record(Lamps(), [1, 0])]


def raises(error: type[BaseException]) -> Any:
    def method(*_: Any) -> Any:
        raise error("bulb")

    return method


def late(member: str, then: Any) -> Any:
    """Well until a lamp is lit."""

    def method(self: Any, state: Any, *rest: Any) -> Any:
        return then(self, state, *rest) if state[0] else getattr(Lamps, member)(self, state, *rest)

    return method


def tables(**changes: Any) -> Any:
    def method(self: Any, state: Any) -> Any:
        given = {"on": np.array(state), "power": np.array(state, dtype=float)} | changes
        return Facts({"lamp": 3}, {k: v for k, v in given.items() if v is not None})

    return method


class Odd:
    """A value whose hash, equality or words fail."""

    def __init__(self, fault: str) -> None:
        self.fault = fault

    def __hash__(self) -> int:
        return 1 // (self.fault != "hash")

    def __eq__(self, other: object) -> bool:
        return 1 // (self.fault != "eq") == 0

    def __repr__(self) -> str:
        return "odd"[1 // (self.fault != "repr") :]


class Changing(list[bool]):
    """A state that is changed by what is done in it."""

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(tuple(self))


def mutating(self: Any, state: Any, action: Any) -> Any:
    state[action] = True
    return [(1.0, state)]


def endless(*_: Any) -> Any:
    return itertools.count()


def deep(self: Any, state: Any) -> Any:
    return deep(self, state)


FAULTS: dict[str, dict[str, Any]] = {
    **{f"{m} raises {e.__name__}": {m: raises(e)} for m in ("initial", "actions", "outcomes", "facts")
       for e in (KeyError, EOFError, SystemExit)},
    **{f"{m} raises late": {m: late(m, raises(ZeroDivisionError))} for m in ("actions", "outcomes", "facts")},
    **{f"{m} returns {v!r}": {m: lambda *_, v=v: v} for m in ("initial", "actions", "outcomes", "facts")
       for v in (None, 3, "ab")},
    "actions unhashable": {"actions": lambda *_: [[0]]},
    "actions endless": {"actions": endless},
    "actions twice": {"actions": lambda *_: [0, 0]},
    "actions random": {"actions": lambda s, state: random.sample(range(3), random.randrange(3))},
    "actions of a dict": {"actions": lambda *_: {0: 1}},
    "actions deep": {"actions": deep},
    "actions odd": {"actions": lambda *_: [Odd("eq"), Odd("eq")], "outcomes": lambda s, state, a: [(1.0, state)]},
    "actions do not print": {"actions": lambda *_: [Odd("repr")], "outcomes": lambda s, state, a: [(0.5, state)]},
    "actions do not hash": {"actions": lambda *_: [Odd("hash")]},
    "outcomes empty": {"outcomes": lambda *_: []},
    "outcomes endless": {"outcomes": endless},
    "outcomes NaN": {"outcomes": lambda s, state, a: [(float("nan"), state)]},
    "outcomes late NaN": {"outcomes": late("outcomes", lambda s, state, a: [(float("nan"), state), (1.0, state)])},
    "outcomes infinite": {"outcomes": lambda s, state, a: [(float("inf"), state)]},
    "outcomes negative": {"outcomes": lambda s, state, a: [(-0.5, state), (1.5, (True,) * 3)]},
    "outcomes too little": {"outcomes": lambda s, state, a: [(0.9, state)]},
    "outcomes in words": {"outcomes": lambda s, state, a: [("often", state)]},
    "outcomes not pairs": {"outcomes": lambda s, state, a: [state]},
    "outcomes unhashable": {"outcomes": lambda s, state, a: [(1.0, [*state])]},
    "outcomes random": {"outcomes": lambda s, state, a: [(1.0, tuple(random.random() < 0.5 for _ in range(3)))]},
    "outcomes odd": {"outcomes": lambda s, state, a: [(1.0, Odd("hash"))]},
    "outcomes of other kinds": {"outcomes": lambda s, state, a: [(1.0, "elsewhere")]},
    "states change": {"initial": lambda s: [(1.0, Changing([False] * 3))], "outcomes": mutating},
    "facts without a table": {"facts": tables(on=None)},
    "facts of a wrong shape": {"facts": tables(on=np.zeros(2, bool))},
    "facts of a wrong type": {"facts": tables(on=np.zeros(3))},
    "facts in words": {"facts": tables(power=np.array(["a", "b", "c"]))},
    "facts of objects": {"facts": tables(power=np.array([None, {}, []], dtype=object))},
    "facts infinite": {"facts": tables(power=np.full(3, np.inf))},
    "facts random": {"facts": lambda s, state: tables(on=np.random.default_rng().random(3) < 0.5)(s, state)},
    "facts uncounted": {"facts": lambda s, state: Facts({}, tables()(s, state).tables)},
    "facts count -1": {"facts": lambda s, state: Facts({"lamp": -1}, tables()(s, state).tables)},
    "initial empty": {"initial": lambda *_: []},
    "initial NaN": {"initial": lambda *_: [(float("nan"), (False,) * 3)]},
    "initial unhashable": {"initial": lambda *_: [(1.0, [False] * 3)]},
    "horizon in words": {"horizon": "long"},
    "horizon raises": {"horizon": property(raises(KeyError))},
    "horizon 0": {"horizon": 0},
    "horizon of 10^12": {"horizon": 10**12},
    "no domain": {"domain": None},
    "domain raises": {"domain": property(raises(KeyError))},
    "reached raises": {"reached": raises(KeyError)},
    "reached in arrays": {"reached": lambda s, state: np.array([True, False])},
    "describe raises": {"describe": raises(KeyError)},
    "describe returns None": {"describe": lambda *_: None},
    "static_facts raises": {"static_facts": raises(KeyError)},
    "static_facts returns None": {"static_facts": lambda *_: None},
    "facts_batch raises": {"facts_batch": raises(KeyError)},
    "facts_batch returns None": {"facts_batch": lambda *_: None},
    "decode_action raises": {"decode_action": raises(KeyError)},
    "state_graph raises": {"state_graph": raises(KeyError)},
    "onward raises": {"reached": lambda s, state: all(state), "onward": raises(KeyError)},
}  # fmt: skip


def broken(name: str) -> Any:
    """The lamps with this fault."""
    return dataclass(frozen=True)(type("Broken", (Lamps,), dict(FAULTS[name])))()


def misbehaving(folder: Path, attempts: int) -> Tally:
    """Learn from demonstrations in each world, plan in it with a good task, and walk through it."""
    tally = Tally("misbehaving worlds: learn, plan, check")
    task = learn([Episode(Lamps(), one) for one in SHOWN])
    for name in list(FAULTS)[:attempts]:
        for verb in ("learn", "plan", "mcts", "exact", "check"):
            with tally.attempt(f"{verb}: {name}", 20.0):
                try:
                    within(15.0, lambda name=name, verb=verb: _do(verb, broken(name), task))
                except MeipError as error:
                    message = str(error)
                    assert len(message) < 1500, message
    return tally


def _do(verb: str, world: Any, task: Task) -> None:
    if verb == "check":
        check_world(world)
    elif verb == "learn":
        learn([Episode(world, one) for one in SHOWN])
    else:
        task.plan(world, method="auto" if verb == "plan" else verb, iterations=200, seconds=5.0)


def checked(names: list[str]) -> dict[str, list[str]]:
    """What `check_world` says about these."""
    return {name: check_world(broken(name)).errors for name in names}
