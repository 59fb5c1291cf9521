"""One form for terms that obviously mean the same, so that the bank makes each of them once.

Permutations are pushed down to the primitives, negation through restrictions (``not some R.P`` is ``all R.not P``),
conjunctions are sorted chains of different terms, compositions lean to the left.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import permutations

from meip.concepts.language import (
    Agreement,
    Closure,
    Composition,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Restriction,
    Term,
)

__all__ = ["chain", "conjuncts", "negated", "orders", "permuted", "rank"]

Order = tuple[int, ...]


Rank = tuple[int, int, str]


def rank(term: Term | None) -> Rank:
    """The canonical order of terms: simple ones first, then by text; U before all."""
    return (term.complexity, term.size, str(term)) if term is not None else (0, 0, "")


def orders(classes: Sequence[str]) -> list[Order]:
    """Every way to let arguments of the same class change places, except leaving them all."""
    places = range(len(classes))
    return [
        p
        for p in permutations(places)
        if any(p[i] != i for i in places) and all(classes[i] == classes[p[i]] for i in places)
    ]


def conjuncts(term: Term) -> tuple[Term, ...]:
    """The terms that a conjunction joins; a single one for any other term."""
    parts: list[Term] = []
    while isinstance(term, Conjunction):
        parts.append(term.right)
        term = term.left
    return (term, *reversed(parts))


def chain(parts: Iterable[Term]) -> Term:
    """The conjunction of these terms in canonical order, each once."""
    first, *others = sorted(set(parts), key=rank)
    for part in others:
        first = Conjunction(first, part)
    return first


def negated(term: Term) -> Term:
    """The canonical opposite of a canonical term."""
    match term:
        case Negation(inner):
            return inner
        case Restriction(quantifier, role, filler) if filler is not None:
            return Restriction("all" if quantifier == "some" else "some", role, negated(filler))
        case _:
            return Negation(term)


def permuted(term: Term, order: Order) -> Term | None:
    """The canonical form of a canonical term with its arguments permuted; None where no form is simpler than that."""
    match term:
        case Primitive():
            return Permutation(term, order)
        case Permutation(inner, before):
            # Argument i of the result is argument order[i] of the term, which is argument before[order[i]] of inner.
            both = tuple(before[i] for i in order)
            return inner if both == tuple(range(len(both))) else Permutation(inner, both)
        case Negation(inner):
            moved = permuted(inner, order)
            return None if moved is None else Negation(moved)
        case Closure(inner):
            moved = permuted(inner, order)
            return None if moved is None else Closure(moved)
        case Conjunction():
            parts = [permuted(part, order) for part in conjuncts(term)]
            return None if any(p is None for p in parts) else chain(p for p in parts if p is not None)
        case Restriction(quantifier, role, filler):
            moved = permuted(role, (*order, len(order)))
            return None if moved is None else Restriction(quantifier, moved, filler)
        case Agreement(relation, left, right):
            one, other = permuted(left, (*order, len(order))), permuted(right, (*order, len(order)))
            return None if one is None or other is None else Agreement(relation, one, other)
        case Composition() if order == (1, 0):
            return _turned(term)
        case _:
            return None


def _turned(term: Term) -> Term | None:
    """The inverse of a chain of binary compositions: the inverses in the opposite order."""
    parts: list[Term] = []
    while isinstance(term, Composition):
        parts.append(term.right)
        term = term.left
    turned = [permuted(part, (1, 0)) for part in (*parts, term)]
    result = turned[0]
    for part in turned[1:]:
        if result is None or part is None:
            return None
        result = Composition(result, part)
    return result
