"""Relations of objects as integer arrays, joined without Python loops: for grounding and for lifted successors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from meip.base.arrays import Bools, Ints
from meip.base.errors import BudgetError

__all__ = ["Pattern", "Query", "Relation", "join"]

Bindings = dict[str, Ints]  # variable -> [n] object numbers


@dataclass
class Relation:
    """Rows of object numbers, in the order in which they were found; a range of them can be joined."""

    rows: Ints  # [n, arity]
    _sorted: dict[tuple[int, int, tuple[int, ...]], tuple[Ints, Ints]] = field(default_factory=dict)

    def append(self, rows: Ints) -> None:
        self.rows = np.concatenate([self.rows, rows])
        self._sorted.clear()

    def by_key(self, low: int, high: int, columns: tuple[int, ...], base: int) -> tuple[Ints, Ints]:
        """The sorted keys of these columns, and the rows in that order."""
        place = (low, high, columns)
        if place not in self._sorted:
            rows = self.rows[low:high]
            key = _keys([rows[:, c] for c in columns], base, len(rows))
            order = np.argsort(key, kind="stable")
            self._sorted[place] = (key[order], rows[order])
        return self._sorted[place]


@dataclass(frozen=True)
class Pattern:
    """A positive literal: a predicate and its terms, object numbers for constants."""

    name: str
    terms: tuple[str | int, ...]

    @property
    def variables(self) -> frozenset[str]:
        return frozenset(t for t in self.terms if isinstance(t, str))


@dataclass(frozen=True)
class Query:
    """A conjunction to be joined, with the objects each variable may be and the pairs that must (not) be equal."""

    variables: Mapping[str, Bools]  # variable -> [N] mask of objects
    patterns: tuple[Pattern, ...]
    equalities: tuple[tuple[str | int, str | int, bool], ...]  # (left, right, equal?)


def _keys(columns: Sequence[Ints], base: int, length: int) -> Ints:
    key = np.zeros(length, dtype=np.int64)
    for column in columns:
        key = key * base + column
    return key


def join(
    query: Query,
    relations: Mapping[str, Relation],
    ranges: Sequence[tuple[int, int]],
    objects: int,
    limit: int,
    first: int | None = None,
) -> Bindings | None:
    """All bindings of the variables that satisfy the query; None where there are none.

    `ranges` says which rows of each pattern's relation count; `first` is the pattern to begin with. More than `limit`
    rows on the way: `BudgetError`.
    """
    if any(low >= high for low, high in ranges):
        return None
    bound: Bindings = {}
    length = 1
    todo = list(range(len(query.patterns)))
    checked: set[int] = set()
    while todo:
        i = first if first is not None and first in todo else _next(query, bound, ranges, todo)
        todo.remove(i)
        before = set(bound)
        bound, length = _join_one(query.patterns[i], relations, ranges[i], bound, length, objects, limit)
        bound, length = _filter(query, bound, length, before, checked)
        if not length:
            return None
    for name, mask in query.variables.items():
        if name not in bound:
            bound, length = _cross(bound, length, {name: np.flatnonzero(mask)}, limit)
            bound, length = _filter(query, bound, length, set(bound), checked)
            if not length:
                return None
    if not query.variables:
        bound, length = _filter(query, bound, length, set(), checked)
        return bound if length else None
    return bound


def _next(query: Query, bound: Bindings, ranges: Sequence[tuple[int, int]], todo: Sequence[int]) -> int:
    """The pattern with the fewest new variables, then the fewest rows; one that shares nothing comes last."""

    def price(i: int) -> tuple[bool, int, int]:
        variables = query.patterns[i].variables
        shares = bool(variables & bound.keys()) or not variables
        return (bool(bound) and not shares, len(variables - bound.keys()), ranges[i][1] - ranges[i][0])

    return min(todo, key=price)


def _join_one(
    pattern: Pattern, relations: Mapping[str, Relation], span: tuple[int, int], bound: Bindings, length: int,
    objects: int, limit: int,
) -> tuple[Bindings, int]:  # fmt: skip
    relation = relations[pattern.name]
    known = [i for i, t in enumerate(pattern.terms) if isinstance(t, int) or t in bound]
    first_use = {t: pattern.terms.index(t) for t in pattern.variables}
    if not known:
        keys, rows = None, relation.rows[span[0] : span[1]]
        left, right = np.repeat(np.arange(length), len(rows)), np.tile(np.arange(len(rows)), length)
        _check(length * len(rows), limit)
    else:
        keys, rows = relation.by_key(span[0], span[1], tuple(known), objects)
        wanted = _keys(
            [np.full(length, t) if isinstance(t, int) else bound[t] for t in (pattern.terms[i] for i in known)],
            objects,
            length,
        )
        begin, end = np.searchsorted(keys, wanted, "left"), np.searchsorted(keys, wanted, "right")
        counts = end - begin
        total = int(counts.sum())
        _check(total, limit)
        left = np.repeat(np.arange(length), counts)
        right = np.arange(total) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(begin, counts)
    found = {name: column[left] for name, column in bound.items()}
    for name, position in first_use.items():
        if name not in bound:
            found[name] = rows[right, position]
    keep = np.ones(len(left), dtype=bool)
    for position, term in enumerate(pattern.terms):
        if isinstance(term, str) and term not in bound and first_use[term] != position:  # (p ?x ?x)
            keep &= rows[right, position] == found[term]
    if not keep.all():
        found = {name: column[keep] for name, column in found.items()}
    return found, int(keep.sum())


def _filter(query: Query, bound: Bindings, length: int, before: set[str], checked: set[int]) -> tuple[Bindings, int]:
    """Drop rows whose new variables have the wrong type or break an (in)equality."""
    keep = np.ones(length, dtype=bool)
    for name in bound.keys() - before:
        if name in query.variables:
            keep &= query.variables[name][bound[name]]
    for i, (left, right, equal) in enumerate(query.equalities):
        if i in checked or any(isinstance(t, str) and t not in bound for t in (left, right)):
            continue
        checked.add(i)
        one = bound[left] if isinstance(left, str) else np.full(length, left)
        other = bound[right] if isinstance(right, str) else np.full(length, right)
        keep &= (one == other) == equal
    if keep.all():
        return bound, length
    return {name: column[keep] for name, column in bound.items()}, int(keep.sum())


def _cross(bound: Bindings, length: int, more: Bindings, limit: int) -> tuple[Bindings, int]:
    ((name, column),) = more.items()
    _check(length * len(column), limit)
    found = {n: np.repeat(c, len(column)) for n, c in bound.items()}
    found[name] = np.tile(column, length)
    return found, length * len(column)


def _check(rows: int, limit: int) -> None:
    if rows > limit:
        raise BudgetError(f"a join has {rows:,} rows; the limit is {limit:,}")
