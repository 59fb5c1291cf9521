"""Composites of the grammar: P(C', C'') and F(C', C'') of different concepts, by built-in and registered operations.

Built-in logic takes truths, built-in arithmetic takes numbers. An operation of one's own takes whatever its `result`
does not refuse, in either order, and alone where it has one operand.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence

from meip.base.errors import ConceptError
from meip.concepts.check import kind
from meip.concepts.language import Composite, Concept, atoms
from meip.concepts.operations import BUILT_IN, Kind, Operation, operations
from meip.model.domain import Domain

__all__ = ["composites"]

LOGIC = ("and", "or", "implies")
ARITHMETIC = ("=", "<=", "+", "-", "min", "max")
BOTH_WAYS = ("implies", "<=")  # of the built-in ones; a difference the other way round has the opposite weight
Typed = tuple[Concept, Kind]


def composites(level: int, operands: Mapping[int, Sequence[Concept]], domain: Domain) -> Iterator[Composite]:
    """Those of a level, made of the concepts of lower levels (and by operations of one operand of the same level)."""
    typed: dict[int, list[Typed]] = {k: [(c, kind(c, domain)) for c in some] for k, some in operands.items()}
    own = [one for one in operations() if one.name not in BUILT_IN]
    for one in own:
        if one.accepts(1):
            found = (_made(one, (operand,)) for operand in typed.get(level, ()))
            yield from (composite for composite in found if composite is not None)
    known = [one for one in operations() if one.name in LOGIC + ARITHMETIC]
    for one in (one for one in (*known, *own) if one.accepts(2)):
        for left in range(1, level):
            yield from _pairs(one, typed.get(left, ()), typed.get(level - left, ()))


def _pairs(one: Operation, lefts: Sequence[Typed], rights: Sequence[Typed]) -> Iterator[Composite]:
    """All pairs of concepts about different things; symmetric operations take each pair once."""
    for (i, left), (j, right) in itertools.product(enumerate(lefts), enumerate(rights)):
        symmetric = one.name in BUILT_IN and one.name not in BOTH_WAYS
        if symmetric and (_size(left), i) >= (_size(right), j):
            continue
        if not _fits(one, left[1], right[1]) or _parts(left[0]) & _parts(right[0]):
            continue
        made = _made(one, (left, right))
        if made is not None:
            yield made


def _size(typed: Typed) -> int:
    return typed[0].complexity


def _fits(one: Operation, left: Kind, right: Kind) -> bool:
    if one.name not in BUILT_IN:
        return True
    truths = (left == "boolean") + (right == "boolean")
    return truths == (2 if one.name in LOGIC else 0)


def _parts(concept: Concept) -> set[object]:
    """The values that a concept is about, whatever their quantifiers."""
    return {(a.value, a.scope) for a in atoms(concept)}


def _made(one: Operation, operands: Sequence[Typed]) -> Composite | None:
    """The composite, where the operation takes these kinds."""
    try:
        one.result(tuple(sort for _, sort in operands))
    except ConceptError:
        return None
    return Composite(one.name, tuple(concept for concept, _ in operands))
