"""The concept language: one small class for each rule of the grammar (the paper's section on concepts, completed).

::

    C  -> Ca | P(C', C'', ..) | F(C', C'', ..) | number        Composite, Constant
    Ca -> Q V | A V        V -> F D | P D        D -> ext(P) | U      Quantified, Aggregated (D is called scope)
    Q  -> all | some | count        A -> max | min | mean
    P  -> primitive | not P' | P' and P'' | permuted P' | closure P'*
       |  some R.P' | all R.P' | R . S                                Restriction, Composition
       |  P same P_goal | P within P_goal                             Agreement

Terms (P, F) denote relations between the entities of one state; concepts (C) denote one value per state.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = [
    "Aggregated",
    "Aggregator",
    "Agreement",
    "Closure",
    "Composite",
    "Composition",
    "Concept",
    "Conjunction",
    "Constant",
    "Negation",
    "Permutation",
    "Primitive",
    "Quantified",
    "Quantifier",
    "Restriction",
    "Term",
]

Quantifier = Literal["all", "some", "count"]
Aggregator = Literal["max", "min", "mean"]


class Term:
    """A relation or function over entities: P and F of the grammar."""


@dataclass(frozen=True)
class Primitive(Term):
    """A fluent of the domain: ``on``."""

    name: str


@dataclass(frozen=True)
class Negation(Term):
    """``not clear``."""

    term: Term


@dataclass(frozen=True)
class Conjunction(Term):
    """``on and on_goal``: same classes on both sides."""

    left: Term
    right: Term


@dataclass(frozen=True)
class Permutation(Term):
    """``inverse(on)``, ``permute(between, 3 1 2)``: argument i of the result is argument order[i] (from 0) of the term.

    Only arguments of the same class may change places.
    """

    term: Term
    order: tuple[int, ...]


@dataclass(frozen=True)
class Closure(Term):
    """``on*``: the transitive closure of a binary term over one class."""

    term: Term


@dataclass(frozen=True)
class Restriction(Term):
    """``some on.clear``, ``all on.U``: {(x..) : for some (all) y with R(x.., y), filler(y)}; drops the last argument.

    The filler None is U, every entity.
    """

    quantifier: Literal["some", "all"]
    role: Term
    filler: Term | None


@dataclass(frozen=True)
class Composition(Term):
    """``on . at``: {(x.., z..) : for some y, R(x.., y) and S(y, z..)}."""

    left: Term
    right: Term


@dataclass(frozen=True)
class Agreement(Term):
    """``same(on, on_goal)``, ``within(on_goal, on)``: {(x..) : the sets {y : left(x.., y)} and right's are equal
    (left's is included in right's)}; drops the last argument."""

    relation: Literal["same", "within"]
    left: Term
    right: Term


class Concept:
    """A value for each state: C of the grammar."""


@dataclass(frozen=True)
class Quantified(Concept):
    """``all(clear)``, ``some(on | on_goal)``, ``count(holding)``: over the tuples of the scope, how many are in value.

    The scope None is U: all tuples of entities of the value's classes.
    """

    quantifier: Quantifier
    value: Term
    scope: Term | None = None


@dataclass(frozen=True)
class Aggregated(Concept):
    """``max(weight)``, ``mean(length | folded)``: over the tuples of the scope; missing where there are none.

    Of a predicate, ``mean`` is the share of tuples that are in it.
    """

    aggregator: Aggregator
    value: Term
    scope: Term | None = None


@dataclass(frozen=True)
class Constant(Concept):
    """A number, as in ``count(clay) = 4``."""

    value: float


@dataclass(frozen=True)
class Composite(Concept):
    """An operation on the values of concepts: ``some(a) and not all(b)``, ``table[count(a), count(b)]``."""

    operation: str
    arguments: tuple[Concept, ...]
