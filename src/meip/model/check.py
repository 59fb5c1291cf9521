"""check_world: walk through a world at random and say in words what is wrong with it.

Whatever a user's class may do, this reports and never raises; each kind of error is named once, where it was first
seen. What works but may not be meant is a hint, and stands apart.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.documents import canonical
from meip.base.errors import MeipError
from meip.base.text import plain
from meip.model.asking import shown
from meip.model.domain import Domain, FactBlock, Facts, Fluent, stack_facts
from meip.model.graph import StateGraph
from meip.model.problems import REQUIRED, missing_members
from meip.model.showing import shown_errors
from meip.model.world import (
    Batches,
    Fast,
    HasGoal,
    StaticFacts,
    counted,
    describe,
    encode,
    half_offered,
    horizon_of,
    offers,
)

__all__ = ["WorldReport", "check_world"]

TOLERANCE = 1e-6  # of the sum of probabilities
ACTIONS_TRIED = 4  # per visited state
STEPS_IN_ALL = 5000  # shared by the walks, so that long horizons do not take minutes
SHORTEST_CUT = 100
BATCH = 200  # states on which facts_batch is compared with facts
SHOWN = 3  # states that are drawn
GRAPHED = 10  # states on which a graph of the world's own is compared with the world


class WorldReport(list[str]):
    """The errors of a world, in words: an empty list for one that is right, whatever the hints.

    `hints` are what works and may not be meant. ``print(report)`` shows both.
    """

    def __init__(self, errors: Iterable[str] = (), hints: Iterable[str] = ()) -> None:
        super().__init__(errors)
        self.hints = list(hints)

    @property
    def errors(self) -> list[str]:
        return list(self)

    def __str__(self) -> str:
        lines = [f"error  {error}" for error in self] + [f"hint   {hint}" for hint in self.hints]
        return "\n".join(lines) or "nothing wrong was found"


def check_world(world: Any, *, seed: int | np.random.Generator = 0, walks: int = 50) -> WorldReport:
    """What is wrong with a world, in words: a list of errors, empty if random walks found none, with `hints` apart."""
    missing = missing_members(world)
    if missing:
        name, needed = type(world).__name__, ", ".join(REQUIRED).replace("horizon", "horizon (or max_steps)")
        return WorldReport(f"{name} has no {member}; a world needs {needed}" for member in missing)
    checker = _Checker(world)
    try:
        if checker.check_header():
            checker.check_walks(np.random.default_rng(seed), walks)
            checker.check_batch()
            checker.check_graph()
            checker.check_shown()
    except Exception as error:  # in the equality, the hash or the words of a state or an action
        checker.note("walk", f"the walk could not go on: {type(error).__name__}: {plain(str(error), 80)}")
    return WorldReport(checker.errors.values(), checker.hints.values())


class _Stop(Exception):
    """The walk cannot go on; the reason has been noted."""


class _Checker:
    def __init__(self, world: Any) -> None:
        self.world = world
        self.errors: dict[Hashable, str] = {}  # kind of error -> its first occurrence
        self.hints: dict[Hashable, str] = {}
        self.static = Facts()
        self.seen: dict[Hashable, Facts] = {}

    # --- the world as a whole ---

    def check_header(self) -> bool:
        """Domain, horizon and static facts; False if walking makes no sense."""
        try:
            domain = self.ask("domain", lambda: self.world.domain)
            if not isinstance(domain, Domain):
                return self.note("domain", f"domain must be a Domain, got {_short(domain)}")
            self.domain, self.horizon = domain, self.ask("asking for the horizon", horizon_of, self.world)
            static = self.ask("static_facts()", self.world.static_facts) if offers(self.world, StaticFacts) else Facts()
        except _Stop:
            return False
        if not isinstance(static, Facts):
            return self.note("static", f"static_facts() must return Facts, got {_short(static)}")
        self.static = static
        for fluent in domain.fluents:
            if fluent.static and fluent.name not in static.tables:
                self.note(
                    ("static", fluent.name),
                    f"fluent {fluent.name!r} is declared static, but static_facts() has no table for it",
                )
        self.check_names(static, "static_facts()")
        for hook, missing in half_offered(self.world):
            self.hint(
                ("hook", hook),
                f"the hook {hook} is half there: {', '.join(missing)} missing; add it, or rename the rest",
            )
        return True

    def check_walks(self, rng: np.random.Generator, walks: int) -> None:
        longest, ended_without_goal = 0, False
        try:
            starts = self.chances(self.ask("initial()", self.world.initial), "initial()")
        except _Stop:
            return
        most = max(SHORTEST_CUT, STEPS_IN_ALL // max(walks, 1))
        for _ in range(walks):
            length, goal = self.walk(starts[rng.integers(len(starts))], rng, most)
            longest = max(longest, self.horizon if length >= most else length)  # cut off by us: no complaint
            ended_without_goal |= not goal
        if not self.errors and longest < self.horizon and ended_without_goal:
            self.hint(
                "reach",
                f"no walk of {walks} reached the horizon of {counted(self.horizon)}, the longest had "
                f"{counted(longest)}: is an action missing, or the horizon too large?",
            )

    def walk(self, state: Hashable, rng: np.random.Generator, most: int) -> tuple[int, bool]:
        """One walk from a state: how many states it had, and whether it ended in a goal."""
        reached = False
        for length in range(1, min(self.horizon, most) + 1):
            try:
                reached = self.check_state(state)
                actions = self.legal_actions(state, reached, first=length == 1)
                if not actions or length == self.horizon:
                    return length, reached
                tried = rng.permutation(len(actions))[:ACTIONS_TRIED]
                nexts = [self.next_states(state, actions[i]) for i in tried][-1]
                state = nexts[rng.integers(len(nexts))]
            except _Stop:
                return length, True
        return length, reached

    # --- one state ---

    def check_state(self, state: Hashable) -> bool:
        where = f"in state {self.named(state)}"
        before = _short(state), hash(state)
        facts = self.ask("facts()", self.world.facts, state, where=where)
        if not isinstance(facts, Facts):
            self.note("facts", f"facts() must return Facts, got {_short(facts)} {where}")
            raise _Stop
        if before != (_short(state), hash(state)):
            self.note("changed", f"facts() changed the state that it was asked about {where}: states stay as they are")
        if state in self.seen:
            if not _same(facts, self.seen[state]):
                self.note("pure", f"facts() differ between two calls {where}: equal states must have equal facts")
        else:
            self.check_facts(facts, where)
            self.seen[state] = facts
            again = self.ask("facts()", self.world.facts, state, where=where)
            if not isinstance(again, Facts) or not _same(facts, again):
                self.note("pure", f"facts() differ between two calls {where}: equal states must have equal facts")
        return offers(self.world, HasGoal) and self.ask(
            "reached()", lambda: bool(self.world.reached(state)), where=where
        )

    def check_facts(self, facts: Facts, where: str) -> None:
        self.check_names(facts, f"facts() {where}")
        for name in facts.tables.keys() & self.static.tables.keys():
            self.note(
                ("both", name), f"fluent {name!r} is in static_facts() and in facts() {where}: state it in one of them"
            )
        counts: dict[str, int] = {}
        for entity_class in self.domain.classes:
            name = entity_class.name
            count = facts.counts.get(name, self.static.counts.get(name))
            if count is None:
                self.note(("count", name), f"facts() give no count of class {name!r} {where}")
            elif not isinstance(count, Integral) or count < 0:
                self.note(("count", name), f"the count of class {name!r} is {_short(count)} {where}")
            else:
                counts[name] = int(count)
        for fluent in self.domain.fluents:
            table = facts.tables.get(fluent.name, self.static.tables.get(fluent.name))
            if table is None:
                self.note(("table", fluent.name), f"facts() have no table for fluent {fluent.name!r} {where}")
            elif all(c in counts for c in fluent.classes):
                self.check_table(fluent, table, tuple(counts[c] for c in fluent.classes), where)

    def check_table(self, fluent: Fluent, table: Any, shape: tuple[int, ...], where: str) -> None:
        kind, dtype = ("function", np.float64) if fluent.real else ("predicate", np.bool_)
        if not isinstance(table, np.ndarray | np.generic) or table.dtype != dtype:
            got = f"dtype {table.dtype}" if isinstance(table, np.ndarray | np.generic) else type(table).__name__
            self.note(
                ("dtype", fluent.name),
                f"the table of {kind} {fluent.name!r} must be a numpy array of {dtype.__name__}, got {got} {where}; "
                "Facts.build makes such tables",
            )
        elif table.shape != shape:
            self.note(
                ("shape", fluent.name),
                f"table {fluent.name!r} must have shape {shape} (an axis per argument), not {table.shape} {where}",
            )
        elif fluent.real and np.isinf(table).any():
            self.note(("inf", fluent.name), f"function {fluent.name!r} is infinite {where}; NaN means undefined")

    def check_names(self, facts: Facts, where: str) -> None:
        fluents, classes = {f.name for f in self.domain.fluents}, {c.name for c in self.domain.classes}
        for name in set(facts.tables) - fluents:
            self.note(("extra", name), f"{where} have a table {name!r}, which is no fluent of the domain")
        for name in set(facts.counts) - classes:
            self.note(("extra", name), f"{where} count {name!r}, which is no class of the domain")

    # --- actions and outcomes ---

    def legal_actions(self, state: Hashable, reached: bool, *, first: bool) -> Sequence[Any]:
        where = f"in state {self.named(state)}"
        found = self.twice("actions()", self.world.actions, (state,), where)
        actions = self.sequence(found, "actions()", where)
        for action in actions:
            if not _hashable(action):
                self.note("hash action", f"action {_short(action)} is not hashable {where}; use tuples, not lists")
                raise _Stop
        if len(set(actions)) < len(actions):
            self.note("twice", f"actions() list an action twice {where}")
        elif len({canonical(encode(a)) for a in actions}) < len(actions):
            self.note("encode", f"two actions look the same in a file {where}: give them different strings")
        if reached and actions:
            self.note("goal", f"the goal is reached, but actions() is not empty {where}: a goal ends the episode")
        if first and not actions and reached:
            self.hint("done", f"the goal is reached before anything is done {where}")
        elif first and not actions and self.horizon > 1:
            self.note("stuck", f"the episode is over before it begins: no actions {where}")
        return actions

    def next_states(self, state: Hashable, action: Any) -> list[Hashable]:
        where = f"for action {_short(action)} in state {self.named(state)}"
        found = self.twice("outcomes()", self.world.outcomes, (state, action), where)
        return self.chances(found, "outcomes()", where)

    def chances(self, found: Any, name: str, where: str = "") -> list[Hashable]:
        """The possible states of a list of (probability, state), after checking it."""
        states, total = [], 0.0
        for item in self.sequence(found, name, where):
            if not isinstance(item, tuple | list) or len(item) != 2 or not isinstance(item[0], Real):
                self.note((name, "pair"), f"{name} must list (probability, state), got {_short(item)} {where}")
                raise _Stop
            probability, state = float(item[0]), item[1]
            if not probability >= 0 or math.isinf(probability):
                self.note((name, "negative"), f"{name} has the probability {probability} {where}")
                raise _Stop
            if not _hashable(state):
                self.note(
                    "hash", f"state {_short(state)} is not hashable; use tuples and frozensets, not lists and sets"
                )
                raise _Stop
            total += probability
            if probability > 0:
                states.append(state)
        if not states:
            self.note((name, "empty"), f"{name} is empty or has no probability {where}")
            raise _Stop
        if abs(total - 1) > TOLERANCE:
            self.note((name, "sum"), f"the probabilities of {name} sum to {total:.9g}, not to 1 {where}")
        return states

    # --- many states at once ---

    def check_batch(self) -> None:
        """`facts_batch`, where a world has its own, must agree with `facts`."""
        if self.errors or not self.seen or not offers(self.world, Batches):
            return
        states = list(self.seen)[:BATCH]
        expected = _rows(stack_facts(self.domain, [self.seen[s] for s in states], self.static), self.domain)
        try:
            found = _rows(self.ask("facts_batch()", self.world.facts_batch, states), self.domain)
        except _Stop:
            return
        except (AttributeError, LookupError, TypeError, ValueError) as error:
            self.note("batch", f"facts_batch() is malformed: {type(error).__name__}: {error}")
            return
        for position, state in enumerate(states):
            for name, table in expected[position].items():
                if position not in found or not _equal(table, found[position][name]):
                    where = f"in state {self.named(state)}"
                    self.note("batch", f"facts_batch() disagrees with facts() about {name!r} {where}")

    def check_graph(self) -> None:
        """A graph of the world's own must have the same actions with the same outcomes."""
        if self.errors or not self.seen or not offers(self.world, Fast):
            return
        try:
            graph = self.ask("state_graph()", self.world.state_graph)
            plain = StateGraph(self.world)
            for state in list(self.seen)[:GRAPHED]:
                if _moves(graph, state) != _moves(plain, state):
                    where = f"in state {self.named(state)}"
                    self.note("graph", f"state_graph() disagrees with actions() and outcomes() {where}")
        except _Stop:
            return
        except Exception as error:
            self.note("graph", f"state_graph() is malformed: {type(error).__name__}: {error}")

    # --- asking and noting ---

    def ask(self, name: str, method: Callable[..., Any], *arguments: Any, where: str = "") -> Any:
        try:
            return method(*arguments)
        except (Exception, SystemExit) as error:
            kind = "" if isinstance(error, MeipError) else f"{type(error).__name__}: "
            self.note((name, type(error)), f"{name} failed {where}: {kind}{error}".replace(" :", ":"))
            raise _Stop from error

    def twice(self, name: str, method: Callable[..., Any], arguments: tuple[Any, ...], where: str) -> Any:
        """The answer of a method, which has to be the same when it is asked again, and to leave the state alone."""
        state = arguments[0]
        before = _short(state), hash(state)
        found = self.ask(name, method, *arguments, where=where)
        if before != (_short(state), hash(state)):
            self.note("changed", f"{name} changed the state that it was asked about {where}: states stay as they are")
            raise _Stop
        again = self.ask(name, method, *arguments, where=where)
        if isinstance(found, list | tuple) and found != again:
            self.note(
                ("twice", name),
                f"{name} differ between two calls {where}: {_short(found)}, then {_short(again)}; a world is asked "
                "once and remembered, so chance belongs into outcomes(), as probabilities",
            )
        return found

    def check_shown(self) -> None:
        """Pictures, scenes and parts of actions, of the states that were seen first."""
        for state in list(self.seen)[:SHOWN]:
            for name, error in shown_errors(self.world, state):
                self.note(("shown", name), f"{error} ({self.named(state)})")

    def note(self, kind: Hashable, error: str) -> bool:
        """Remember the first error of each kind; always False, for `return self.note(..)`."""
        self.errors.setdefault(kind, error.strip())
        return False

    def hint(self, kind: Hashable, hint: str) -> None:
        """The same for what works and may not be meant."""
        self.hints.setdefault(kind, hint)

    def sequence(self, found: Any, name: str, where: str) -> Sequence[Any]:
        if isinstance(found, str) or not isinstance(found, Sequence):
            self.note((name, "list"), f"{name} must return a list or tuple, got {_short(found)} {where}")
            raise _Stop
        return found

    def named(self, state: Hashable) -> str:
        try:
            text = describe(self.world, state)
        except Exception as error:
            self.note("describe", f"describe() failed: {type(error).__name__}: {error}")
            text = _short(state)
        return plain(text, 80) if isinstance(text, str) else _short(state)


def _moves(graph: StateGraph, state: Hashable) -> dict[Any, Any]:
    """What each action of a state may lead to."""
    numbers = graph.action_numbers(graph.intern(state))
    return {graph.action(a): {graph.states[s]: p for p, s in graph.outcomes(a)} for a in numbers}


def _rows(blocks: Sequence[FactBlock], domain: Domain) -> dict[int, dict[str, NDArray[Any]]]:
    """The tables of each state of some blocks, by its position in the batch."""
    return {
        int(position): {f.name: b.tables[f.name][row if len(b.tables[f.name]) > 1 else 0] for f in domain.fluents}
        for b in blocks
        for row, position in enumerate(b.states)
    }


def _equal(a: Any, b: Any) -> bool:
    return bool(np.array_equal(a, b, equal_nan=np.asarray(a).dtype.kind == "f"))


def _same(a: Facts, b: Facts) -> bool:
    return (
        dict(a.counts) == dict(b.counts)
        and set(a.tables) == set(b.tables)
        and all(_equal(a.tables[n], b.tables[n]) for n in a.tables)
    )


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except Exception:
        return False
    return True


def _short(value: Any) -> str:
    return shown(None, value)
