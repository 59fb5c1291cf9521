"""Domain, Fluent, Facts: what can be said about a state (the paper's Definition 1).

A domain names classes of entities and typed fluents over them: predicates (true or false) and functions
(real numbers), of any arity. `Facts` holds one table per fluent for one state; a `FactBlock` holds the same
tables for many states at once, which is what concepts are evaluated on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.documents import Strict, document
from meip.base.errors import DomainError, did_you_mean

__all__ = ["Domain", "EntityClass", "FactBlock", "Facts", "Fluent", "function", "predicate", "stack_facts"]

GOAL_SUFFIX = "_goal"
NEW, GONE, UP, DOWN, OLD = "new-", "gone-", "up-", "down-", "old-"
EVENTS = (NEW, GONE, UP, DOWN)
"""What the copies of a fluent begin with that are true of what a step does."""


@dataclass(frozen=True)
class EntityClass(Strict):
    """A class of entities with its names in English."""

    name: str
    plural: str = ""
    """Plural noun; by default the name with an s."""

    def __post_init__(self) -> None:
        if not self.name:
            raise DomainError("an entity class needs a name")
        if not self.plural:
            object.__setattr__(self, "plural", self.name + "s")


@dataclass(frozen=True)
class Fluent(Strict):
    """A typed predicate or real-valued function. Use `predicate` and `function` to make one."""

    name: str
    classes: tuple[str, ...] = ()
    """The class of each argument; its length is the arity."""
    real: bool = False
    """True for a real-valued function, False for a predicate."""
    static: bool = False
    """True if no action changes it: stated once per world, by `World.static_facts`."""
    goal_of: str | None = None
    """The predicate of which this is the goal copy: what the goal asks for."""
    phrase: str = ""
    """English, singular, with {0}, {1} for the arguments: "{0} is on {1}". Functions: "the weight of {0}"."""

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip() or "`" in self.name:
            raise DomainError(
                f"{self.name!r} cannot name a fluent: it must be non-empty, unpadded and without backticks"
            )
        object.__setattr__(self, "classes", tuple(self.classes))

    @property
    def arity(self) -> int:
        return len(self.classes)

    @property
    def copies(self) -> tuple[Fluent, ...]:
        """Of one that changes: as it was before a step, and what the step makes and unmakes, or raises and lowers."""
        if self.static or self.goal_of is not None:
            return ()
        kinds = {UP: "is raised by this step", DOWN: "is lowered by this step"} if self.real else {}
        kinds = kinds or {NEW: "by this step", GONE: "until this step"}
        said = {OLD: "before this step", **kinds}
        return tuple(
            Fluent(k + self.name, self.classes, self.real and k == OLD, phrase=self.phrase and f"{self.phrase} {words}")
            for k, words in said.items()
        )


def predicate(name: str, *classes: str, static: bool = False, phrase: str = "") -> Fluent:
    """A predicate over entities of these classes, e.g. ``predicate("on", "block", "block")``."""
    return Fluent(name, classes, static=static, phrase=phrase)


def function(name: str, *classes: str, static: bool = False, phrase: str = "") -> Fluent:
    """A real-valued function, e.g. ``function("weight", "object")``."""
    return Fluent(name, classes, real=True, static=static, phrase=phrase)


@document("domain")
@dataclass(frozen=True)
class Domain(Strict):
    """A name, the classes of entities, and the fluents over them."""

    name: str
    classes: tuple[EntityClass, ...] = ()
    fluents: tuple[Fluent, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", tuple(EntityClass(c) if isinstance(c, str) else c for c in self.classes))
        object.__setattr__(self, "fluents", tuple(self.fluents))
        for what, names in (("class", [c.name for c in self.classes]), ("fluent", [f.name for f in self.fluents])):
            twice = {n for n in names if names.count(n) > 1}
            if twice:
                raise DomainError(f"domain {self.name!r}: {what} {sorted(twice)[0]!r} is declared twice")
        known = {c.name for c in self.classes}
        for fluent in self.fluents:
            for name in fluent.classes:
                if name not in known:
                    raise DomainError(
                        f"domain {self.name!r}: fluent {fluent.name!r} is over class {name!r}, which is not declared; "
                        + did_you_mean(name, known)
                    )
            if fluent.goal_of is not None:
                original = self.fluent(fluent.goal_of)
                if original.classes != fluent.classes or original.real or fluent.real:
                    raise DomainError(
                        f"domain {self.name!r}: {fluent.name!r} cannot be the goal copy of {original.name!r}: "
                        "both must be predicates over the same classes"
                    )

    @cached_property
    def _by_name(self) -> dict[str, Fluent]:
        return {f.name: f for f in self.fluents}

    @cached_property
    def copies(self) -> dict[str, Fluent]:
        """What may be said about steps, besides: copies of fluents that change, by name (see `meip.model.steps`)."""
        found = {copy.name: copy for fluent in self.fluents for copy in fluent.copies}
        return {name: copy for name, copy in found.items() if name not in self._by_name}

    def fluent(self, name: str) -> Fluent:
        """The fluent of this name, or a copy of one; or an error that suggests one."""
        try:
            return self._by_name.get(name) or self.copies[name]
        except KeyError:
            raise DomainError(
                f"domain {self.name!r} has no fluent {name!r}; {did_you_mean(name, self._by_name)}"
            ) from None

    def entity_class(self, name: str) -> EntityClass:
        for c in self.classes:
            if c.name == name:
                return c
        raise DomainError(
            f"domain {self.name!r} has no class {name!r}; {did_you_mean(name, [c.name for c in self.classes])}"
        )

    @property
    def predicates(self) -> tuple[Fluent, ...]:
        return tuple(f for f in self.fluents if not f.real)

    @property
    def has_goals(self) -> bool:
        """Does it say what a goal is, by copies of its predicates?"""
        return any(f.goal_of is not None for f in self.fluents)

    @property
    def functions(self) -> tuple[Fluent, ...]:
        return tuple(f for f in self.fluents if f.real)

    def with_goals(self, names: Iterable[str] | None = None) -> Domain:
        """This domain with a goal copy ``p_goal`` of each named predicate (default: every one that can change)."""
        chosen = (
            [f for f in self.predicates if f.goal_of is None and not f.static]
            if names is None
            else [self.fluent(n) for n in names]
        )
        copies = tuple(
            Fluent(f.name + GOAL_SUFFIX, f.classes, static=True, goal_of=f.name)
            for f in chosen
            if f.name + GOAL_SUFFIX not in self._by_name
        )
        return Domain(self.name, self.classes, self.fluents + copies)


@dataclass(frozen=True, eq=False)
class Facts:
    """What is true in one state: entity counts per class and one table per fluent.

    A table of an n-ary predicate is a boolean array with one axis per argument; a function's is float64, with NaN
    where it is undefined. `Facts.build` makes tables from indices, masks and lists.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    tables: Mapping[str, NDArray[Any]] = field(default_factory=dict)

    @classmethod
    def build(cls, domain: Domain, counts: Mapping[str, int], values: Mapping[str, Any]) -> Facts:
        """Tables from whatever is handy for each fluent.

        predicate  the entities it is true of: bare indices for a unary one, tuples of them for others; an integer array
                   is always that, an empty one means none. Or a mask: booleans, one axis per argument, as an array or
                   nested lists. True or False for a nullary one
        function   numbers, one axis per argument, as an array or nested lists (None or NaN: undefined); or a mapping
                   from indices, or tuples of them, to numbers: undefined for all others. A number for a nullary one
        """
        tables: dict[str, NDArray[Any]] = {}
        for name, value in values.items():
            fluent = domain.fluent(name)
            try:
                shape = tuple(counts[c] for c in fluent.classes)
            except KeyError as error:
                raise DomainError(f"facts of {name!r}: no count is given for class {error.args[0]!r}") from None
            tables[name] = _table(fluent, shape, value)
        return cls(dict(counts), tables)

    def holds(self, name: str, *arguments: int) -> bool:
        """Is this predicate true of these entities?"""
        return bool(self.tables[name][arguments])


def _table(fluent: Fluent, shape: tuple[int, ...], value: Any) -> NDArray[Any]:
    """The table of one fluent, from whatever was given for it."""
    if isinstance(value, str | bytes):
        raise _not_a_table(fluent, value)
    if isinstance(value, Mapping):
        return _filled(fluent, shape, value.items())
    if fluent.real:
        return _shaped(fluent, shape, value)
    if isinstance(value, np.ndarray) and value.dtype != np.bool_:
        if value.size and value.dtype.kind not in "iu":
            raise _not_a_table(fluent, value)
        value = value.tolist()
    if isinstance(value, Iterable) and not isinstance(value, np.ndarray):
        value = value if isinstance(value, Set | Sequence) else list(value)
        if isinstance(value, Set) or not _is_mask(value):
            return _filled(fluent, shape, ((key, True) for key in value))
    elif not isinstance(value, np.ndarray | np.bool_ | np.integer | int):
        raise _not_a_table(fluent, value)
    return _shaped(fluent, shape, value)


def _is_mask(value: Sequence[Any]) -> bool:
    """Do these (nested) lists hold booleans? Entities are numbers."""
    first: Any = value
    while isinstance(first, Sequence | np.ndarray) and not isinstance(first, str) and len(first):
        first = first[0]
    return isinstance(first, bool | np.bool_)


def _shaped(fluent: Fluent, shape: tuple[int, ...], value: Any) -> NDArray[Any]:
    """A table that was given as a whole."""
    try:
        table: NDArray[Any] = np.asarray(value, dtype=np.float64 if fluent.real else None)
    except (TypeError, ValueError):  # no numbers, or rows of different lengths
        raise _not_a_table(fluent, value) from None
    if table.size == 0 and 0 in shape:
        table = table.reshape(shape)
    if table.shape != shape:
        raise DomainError(
            f"facts of {fluent.name!r}: expected shape {shape} (one axis per argument), got {table.shape}"
        )
    if not fluent.real and table.ndim and table.dtype != np.bool_:
        raise _not_a_table(fluent, value)
    return table.astype(np.float64 if fluent.real else np.bool_, copy=False)


def _filled(fluent: Fluent, shape: tuple[int, ...], entries: Iterable[tuple[Any, Any]]) -> NDArray[Any]:
    """A table from what is true, or defined, of some entities."""
    table: NDArray[Any] = np.full(shape, np.nan if fluent.real else False, np.float64 if fluent.real else np.bool_)
    for key, entry in entries:
        index = tuple(key) if isinstance(key, tuple | list) else (key,)
        if len(index) != len(shape) or not all(map(_within, index, shape)):
            raise DomainError(f"facts of {fluent.name!r}: {key!r} is not an index into a table of shape {shape}")
        try:
            table[index] = np.nan if entry is None and fluent.real else float(entry)
        except (TypeError, ValueError):
            wanted = "a number" if fluent.real else "True or False"
            raise DomainError(f"facts of {fluent.name!r}: {entry!r} of {key!r} is not {wanted}") from None
    return table


def _within(index: Any, count: int) -> bool:
    return isinstance(index, int | np.integer) and not isinstance(index, bool) and 0 <= int(index) < count


def _not_a_table(fluent: Fluent, value: Any) -> DomainError:
    if fluent.real:
        wanted = "numbers (an array or nested lists, one axis per argument), or a mapping from entities to numbers"
    elif fluent.arity:
        wanted = (
            "the indices of the entities it is true of, or booleans (an array or nested lists, one axis per argument)"
        )
    else:
        wanted = "True or False"
    text = " ".join(repr(value).split())
    kind, short = "function" if fluent.real else "predicate", text if len(text) <= 60 else text[:57] + "..."
    return DomainError(f"facts of {fluent.name!r}: a {kind} takes {wanted}; got {short}")


@dataclass(frozen=True, eq=False)
class FactBlock:
    """The facts of many states that have the same number of entities of each class."""

    states: NDArray[np.int64]  # [S] position of each state in the batch that was asked for
    counts: Mapping[str, int]
    tables: Mapping[str, NDArray[Any]]  # name -> [S, n1, n2, ..]; first axis 1 where all states agree (static facts)


def stack_facts(domain: Domain, facts: Sequence[Facts], static: Facts | None = None) -> list[FactBlock]:
    """Group states by their entity counts and stack their tables. Static facts are kept once per block."""
    static = static or Facts()
    groups: dict[tuple[int, ...], list[int]] = {}
    names = [c.name for c in domain.classes]
    members: list[int] = []
    last: Mapping[str, int] | None = None
    for position, one in enumerate(facts):
        if one.counts != last:  # mostly they are those of the state before
            last = one.counts
            try:
                key = tuple([int(last[n] if n in last else static.counts[n]) for n in names])
            except KeyError as error:
                raise DomainError(f"the facts of state {position} give no count for class {error.args[0]!r}") from None
            members = groups.setdefault(key, [])
        members.append(position)
        if not static.tables.keys().isdisjoint(one.tables):
            name = min(static.tables.keys() & one.tables)
            raise DomainError(
                f"fluent {name!r} is in static_facts() and in facts() (state {position}): state it in one of them"
            )
    blocks = []
    for key, members in groups.items():
        counts = dict(zip(names, key, strict=True))
        own = facts if len(groups) == 1 else [facts[i] for i in members]
        tables = {f.name: _stacked(f, counts, own, members, static) for f in domain.fluents}
        blocks.append(FactBlock(np.array(members, dtype=np.int64), counts, tables))
    return blocks


def _stacked(
    fluent: Fluent, counts: Mapping[str, int], facts: Sequence[Facts], members: Sequence[int], static: Facts
) -> NDArray[Any]:
    """The tables of one fluent in these facts, which are those of the states `members`."""
    name = fluent.name
    shape = tuple([counts[c] for c in fluent.classes])
    own = [static] if name in static.tables else facts
    try:
        table: NDArray[Any] = np.array([one.tables[name] for one in own], dtype=np.float64 if fluent.real else None)
    except (KeyError, TypeError, ValueError):
        for i, one in zip(members, own, strict=False):
            if name not in one.tables:
                raise DomainError(f"the facts of state {i} have no table for fluent {name!r}") from None
        raise DomainError(
            f"the tables of fluent {name!r} differ in shape between states, or are no tables of numbers"
        ) from None
    if table.shape[1:] != shape:
        raise DomainError(f"facts of {name!r}: expected tables of shape {shape}, got {table.shape[1:]}")
    if fluent.real and np.isinf(table).any():
        raise DomainError(f"facts of {name!r}: a number is infinite; NaN means undefined")
    if not fluent.real and fluent.arity and table.size and table.dtype != np.bool_:
        raise DomainError(
            f"facts of {name!r}: the table of a predicate holds booleans, got {table.dtype}; Facts.build makes tables "
            "of indices"
        )
    return table if fluent.real else table.astype(np.bool_, copy=False)
