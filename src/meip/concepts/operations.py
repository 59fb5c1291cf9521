"""The open registry of operations on concept values: P(C', C'', ..) and F(C', C'', ..) of the grammar.

An operation works on float64 columns (one value per state, booleans as 0 and 1). What is missing in an operand is
missing in the result; the evaluation sees to that, so an operation need not.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import ConceptError, did_you_mean

__all__ = [
    "BUILT_IN", "KEYWORDS", "Kind", "Operation", "is_bare_name", "operation", "operations", "register_operation",
]  # fmt: skip

Kind = Literal["boolean", "count", "real", "table"]
Column = NDArray[np.float64]

KEYWORDS = frozenset(
    ("all", "and", "count", "implies", "inverse", "max", "mean", "min", "not", "or", "permute", "same", "some")
) | {"U", "within"}
TABLE_BASE = 2.0**20
TIE = 1e-9
"""Values closer than this are equal, as in Kendall's tau."""

_BARE = re.compile(r"[^\W\d][\w@-]*")
_SYMBOL = re.compile(r"[-+/<>=!&^~%:;?#$]+")


def is_bare_name(name: str) -> bool:
    """Can this name be written in a concept without backticks?"""
    return _BARE.fullmatch(name) is not None and name not in KEYWORDS


@dataclass(frozen=True)
class Operation:
    """An operation that a Composite may name, with how it is checked, evaluated, written and read aloud."""

    name: str
    arity: tuple[int, int | None]
    """Fewest and most operands; None for any number."""
    result: Callable[[tuple[Kind, ...]], Kind]
    """The kind of the result from the kinds of the operands; raises ConceptError where they do not fit."""
    apply: Callable[..., Column]
    """Float64 columns of equal length to one such column."""
    symbol: str | None = None
    """How it is written: before its operand if it takes just one, between them if it may take two."""
    precedence: int = 0
    """The higher the tighter: implies 10, or 20, and 30, comparisons 40, sums 50, not 60."""
    right_associative: bool = False
    english: str = ""
    """Template with {0}, {1} for the operands or {all} for the list of them; by default "the NAME of ..."."""

    def __post_init__(self) -> None:
        if not self.name or self.name != self.name.strip() or "`" in self.name:
            raise ConceptError(f"{self.name!r} cannot name an operation: use a non-empty name without backticks")
        least, most = self.arity
        if least < 0 or (most is not None and most < least):
            raise ConceptError(f"operation {self.name!r}: arity {self.arity} must be (fewest, most or None)")
        if self.symbol is not None and not (self.prefix or (least <= 2 and (most is None or most >= 2))):
            raise ConceptError(f"operation {self.name!r}: a symbol is for one or two operands, not {self.arity}")

    @property
    def prefix(self) -> bool:
        """Is the symbol written before the only operand?"""
        return self.symbol is not None and self.arity == (1, 1)

    def accepts(self, count: int) -> bool:
        """Does it take this many operands?"""
        least, most = self.arity
        return least <= count and (most is None or count <= most)

    def infix(self, count: int) -> bool:
        """Is it written with its symbol between this many operands?"""
        return self.symbol is not None and count == 2 and self.accepts(2)


_OPERATIONS: dict[str, Operation] = {}


def register_operation(new: Operation) -> Operation:
    """Make an operation known to the parser, the checks, the evaluation and the English readings.

    Registering the same name again replaces a user's operation; the built-in ones cannot be replaced.
    """
    if new.name in BUILT_IN:
        raise ConceptError(f"operation {new.name!r} is built in and cannot be replaced; choose another name")
    if new.symbol is not None:
        word = is_bare_name(new.symbol)
        if not word and _SYMBOL.fullmatch(new.symbol) is None:
            raise ConceptError(
                f"operation {new.name!r} cannot be written {new.symbol!r}: use a word, or signs like + < ="
            )
        taken = [o.name for o in _OPERATIONS.values() if o.symbol == new.symbol and o.name != new.name]
        if taken:
            raise ConceptError(f"operation {new.name!r}: the symbol {new.symbol!r} already means {taken[0]!r}")
    _OPERATIONS[new.name] = new
    return new


def operation(name: str) -> Operation:
    """The operation of this name, or an error that suggests one."""
    try:
        return _OPERATIONS[name]
    except KeyError:
        raise ConceptError(f"there is no operation {name!r}; {did_you_mean(name, _OPERATIONS)}") from None


def operations() -> tuple[Operation, ...]:
    """Every operation, built in or registered."""
    return tuple(_OPERATIONS.values())


def _booleans(kinds: tuple[Kind, ...]) -> Kind:
    if any(k != "boolean" for k in kinds):
        raise ConceptError(f"it needs boolean operands, not {', '.join(kinds)}")
    return "boolean"


def _widest(kinds: tuple[Kind, ...]) -> Kind:
    """The least general of boolean, count, real that holds every operand."""
    if "table" in kinds:
        raise ConceptError("it needs numbers; a table's values are codes")
    return "real" if "real" in kinds else "count" if "count" in kinds else "boolean"


def _sum(kinds: tuple[Kind, ...]) -> Kind:
    return "real" if _widest(kinds) == "real" else "count"


def _difference(kinds: tuple[Kind, ...]) -> Kind:
    _widest(kinds)
    return "real"  # a difference of counts may be negative


def _comparison(kinds: tuple[Kind, ...]) -> Kind:
    _widest(kinds)
    return "boolean"


def _joint(kinds: tuple[Kind, ...]) -> Kind:
    if any(k not in ("boolean", "count") for k in kinds):
        raise ConceptError(f"it needs booleans and counts, not {', '.join(kinds)}")
    return "table"


def _same_kind(kinds: tuple[Kind, ...]) -> Kind:
    return kinds[0]


def _as_column(values: Any) -> Column:
    return np.asarray(values, dtype=np.float64)


def _and(*columns: Column) -> Column:
    return _as_column(reduce(np.logical_and, columns))


def _or(*columns: Column) -> Column:
    return _as_column(reduce(np.logical_or, columns))


def _plus(*columns: Column) -> Column:
    return _as_column(reduce(np.add, columns))


def _least(*columns: Column) -> Column:
    return _as_column(reduce(np.minimum, columns))


def _greatest(*columns: Column) -> Column:
    return _as_column(reduce(np.maximum, columns))


def _code(*columns: Column) -> Column:
    """The joint code a + 2^20 b + 2^40 c: exact in float64 for counts below 2^20 (the third below 2^13)."""
    return _as_column(sum(column * TABLE_BASE**i for i, column in enumerate(columns)))


for _built_in in (
    Operation("implies", (2, 2), _booleans, lambda a, b: _as_column((a == 0) | (b != 0)), "implies", 10, True),
    Operation("or", (2, None), _booleans, _or, "or", 20),
    Operation("and", (2, None), _booleans, _and, "and", 30),
    Operation("=", (2, 2), _comparison, lambda a, b: _as_column(np.abs(a - b) <= TIE), "=", 40),
    Operation("<=", (2, 2), _comparison, lambda a, b: _as_column(a <= b + TIE), "<=", 40),
    Operation("+", (2, None), _sum, _plus, "+", 50),
    Operation("-", (2, 2), _difference, lambda a, b: _as_column(a - b), "-", 50),
    Operation("not", (1, 1), _booleans, lambda a: _as_column(a == 0), "not", 60),
    Operation("min", (2, None), _widest, _least, english="the least of {all}"),
    Operation("max", (2, None), _widest, _greatest, english="the greatest of {all}"),
    Operation("table", (1, 3), _joint, _code, english="the combination of {all}"),
    # The value in the initial state of the problem: the evaluation looks it up there, here it is the identity.
    Operation("initial", (1, 1), _same_kind, _as_column, english="{0} at the start"),
):
    _OPERATIONS[_built_in.name] = _built_in
BUILT_IN = frozenset(_OPERATIONS)
