"""Terms as relations: each rule of P in the grammar, evaluated for all states of a block on rows of bits."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from math import prod
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from meip.concepts import kernels
from meip.concepts.check import kind, signature
from meip.concepts.kernels import Bits
from meip.concepts.language import (
    Agreement,
    Closure,
    Composition,
    Concept,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Restriction,
    Term,
)
from meip.domain import Domain, FactBlock
from meip.errors import ConceptError, DomainError

__all__ = ["Cache", "Function", "Relation", "Terms", "unpack"]

T = TypeVar("T")
Floats = NDArray[np.float64]


class Cache:
    """What was evaluated, within a budget of bytes; what was used least recently goes first."""

    def __init__(self, budget: int) -> None:
        self.budget = budget
        self.bytes = 0
        self._kept: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()

    def get(self, key: Hashable, make: Callable[[], T], size: Callable[[T], int]) -> T:
        """The value kept under this key, else a new one."""
        kept = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            value: T = kept[0]
            return value
        value = make()
        self._kept[key] = value, size(value)
        self.bytes += size(value)
        while self.bytes > self.budget and self._kept:
            _, (_, freed) = self._kept.popitem(last=False)
            self.bytes -= freed
        return value


@dataclass(frozen=True, eq=False)
class Relation:
    """A predicate term in the states of a block."""

    classes: tuple[str, ...]
    bits: Bits  # [S or 1, R, W]


@dataclass(frozen=True, eq=False)
class Function:
    """A real-valued term in the states of a block; NaN where it is undefined."""

    classes: tuple[str, ...]
    values: Floats  # [S or 1, R, n]


def unpack(bits: Bits, shape: tuple[int, ...]) -> NDArray[np.bool_]:
    """Bits [S, R, W] as a table of booleans [S, n1, .., nk]."""
    n = shape[-1] if shape else 1
    spread = (bits[..., None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    dense: NDArray[np.bool_] = spread.reshape(*bits.shape[:2], 64 * bits.shape[2])[..., :n].astype(np.bool_)
    return dense.reshape(len(bits), *shape)


def _words(n: int) -> int:
    return (n + 63) // 64


class Terms:
    """The terms of one block of states, each evaluated when first asked for."""

    def __init__(self, domain: Domain, block: FactBlock, cache: Cache, number: int) -> None:
        self.domain = domain
        self.block = block
        self.cache = cache
        self.number = number

    def shape(self, classes: tuple[str, ...]) -> tuple[int, ...]:
        """The number of entities of each argument."""
        try:
            return tuple(int(self.block.counts[c]) for c in classes)
        except KeyError as error:
            raise DomainError(f"a block of facts gives no count for class {error.args[0]!r}") from None

    def term(self, term: Term) -> Relation | Function:
        """The relation or function that a term denotes."""
        return self.cache.get((self.number, term), lambda: self._evaluate(term), _term_bytes)

    def universe(self, classes: tuple[str, ...]) -> Bits:
        """U: every tuple, as bits [1, R, W]."""
        return self.cache.get((self.number, classes), lambda: self._universe(classes), lambda bits: bits.nbytes)

    def counts(self, owner: Concept, value: Term, scope: Term | None) -> tuple[Floats, Floats | float]:
        """How many tuples of the scope are in value, and how many there are: [S or 1] each. Made in one pass."""

        def make() -> Floats:
            inside = self._relation(owner, value)
            if scope is None:
                return kernels.count(inside.bits)
            return kernels.count_within(inside.bits, self._scope(owner, inside.classes, scope))

        hits = self.cache.get((self.number, "count", value, scope), make, lambda column: column.nbytes)
        if scope is None:
            return hits, float(prod(self.shape(self.term(value).classes)))
        return hits, self.counts(owner, scope, None)[0]

    def aggregates(self, owner: Concept, value: Term, scope: Term | None) -> Floats:
        """max, min and mean of a function over the scope: [3, S or 1], NaN where there is no number."""

        def make() -> Floats:
            found = self.term(value)
            if not isinstance(found, Function):
                raise self._misfit(owner)
            within = self.universe(found.classes) if scope is None else self._scope(owner, found.classes, scope)
            return kernels.aggregate(found.values, within)

        return self.cache.get((self.number, "aggregate", value, scope), make, lambda rows: rows.nbytes)

    def _evaluate(self, term: Term) -> Relation | Function:
        match term:
            case Primitive(name):
                return self._primitive(term, name)
            case Negation(inner):
                a = self._relation(term, inner)
                return Relation(a.classes, kernels.negate(a.bits, self._bits(a.classes)))
            case Conjunction(left, right):
                a, b = self._relation(term, left), self._relation(term, right)
                if a.classes != b.classes:
                    raise self._misfit(term)
                return Relation(a.classes, kernels.conjoin(a.bits, b.bits))
            case Permutation(inner, order):
                return self._permuted(term, self.term(inner), order)
            case Closure(inner):
                a = self._relation(term, inner)
                if len(a.classes) != 2 or a.classes[0] != a.classes[1]:
                    raise self._misfit(term)
                return Relation(a.classes, kernels.close(a.bits))
            case Restriction():
                return self._restricted(term)
            case Composition(left, right):
                return self._composed(term, self._relation(term, left), self._relation(term, right))
            case Agreement(relation, left, right):
                a, b = self._relation(term, left), self._relation(term, right)
                if a.classes != b.classes or not a.classes or relation not in ("same", "within"):
                    raise self._misfit(term)
                left_over = a.classes[:-1]
                return Relation(left_over, kernels.agree(a.bits, b.bits, relation == "same", self._packed(left_over)))
            case _:
                raise ConceptError(f"{term!r} is not a term")

    def _primitive(self, term: Term, name: str) -> Relation | Function:
        classes, real = signature(term, self.domain)
        shape = self.shape(classes)
        try:
            table = self.block.tables[name]
        except KeyError:
            raise DomainError(f"a block of facts has no table for fluent {name!r}") from None
        if table.ndim != len(shape) + 1 or table.shape[1:] != shape or len(table) not in (1, len(self.block.states)):
            raise DomainError(
                f"facts of {name!r}: expected a table of shape {(len(self.block.states), *shape)} "
                f"(or 1 first), got {table.shape}"
            )
        rows, n = prod(shape[:-1]), self._bits(classes)
        if real:
            return Function(classes, np.ascontiguousarray(table, np.float64).reshape(len(table), rows, n))
        dense = np.ascontiguousarray(table, np.bool_).reshape(len(table), rows, n)
        return Relation(classes, kernels.pack(dense.view(np.uint8), _words(n)))

    def _permuted(self, term: Term, a: Relation | Function, order: tuple[int, ...]) -> Relation | Function:
        classes = a.classes
        if sorted(order) != list(range(len(classes))) or tuple(classes[i] for i in order) != classes:
            raise self._misfit(term)
        shape = self.shape(classes)  # arguments of one class change places, so the shape stays
        if isinstance(a, Function):
            moved = a.values.reshape(len(a.values), *shape).transpose(0, *(i + 1 for i in order))
            return Function(classes, np.ascontiguousarray(moved).reshape(a.values.shape))
        if order == tuple(range(len(order))):
            return a
        if len(order) == 2:
            return Relation(classes, kernels.invert(a.bits, shape[1], _words(shape[0])))
        # Argument order[i] of the term is argument i of the result: where each row and each bit goes.
        stride = [prod(shape[order.index(i) + 1 :]) for i in range(len(shape))]
        offset = np.zeros(1, np.int64)
        for size, step in zip(shape[:-1], stride[:-1], strict=True):
            offset = (offset[:, None] + np.arange(size) * step).reshape(-1)
        return Relation(classes, kernels.permute(a.bits, offset, stride[-1], self._packed(classes)))

    def _restricted(self, term: Restriction) -> Relation:
        a = self._relation(term, term.role)
        if not a.classes or term.quantifier not in ("some", "all"):
            raise self._misfit(term)
        if term.filler is None:
            filler = self.universe(a.classes[-1:])
        else:
            filler = self._scope(term, a.classes[-1:], term.filler)
        left_over = a.classes[:-1]
        return Relation(left_over, kernels.restrict(a.bits, filler, term.quantifier == "all", self._packed(left_over)))

    def _composed(self, term: Term, a: Relation, b: Relation) -> Relation:
        if not a.classes or not b.classes or a.classes[-1] != b.classes[0]:
            raise self._misfit(term)
        classes = a.classes[:-1] + b.classes[1:]
        if len(b.classes) > 1:
            inner = prod(self.shape(b.classes[1:-1]))
            return Relation(classes, kernels.compose(a.bits, b.bits, self._bits(a.classes), inner))
        # nothing is left of b's arguments: a role restriction
        return Relation(classes, kernels.restrict(a.bits, b.bits, False, self._packed(classes)))

    def _bits(self, classes: tuple[str, ...]) -> int:
        """The length of a row of bits: entities of the last class, or one bit for a nullary predicate."""
        return self.shape(classes[-1:])[0] if classes else 1

    def _packed(self, classes: tuple[str, ...]) -> tuple[int, int, int]:
        """Rows, words per row and bits per row of a relation."""
        n = self._bits(classes)
        return prod(self.shape(classes)[:-1]), _words(n), n

    def _universe(self, classes: tuple[str, ...]) -> Bits:
        rows, words, n = self._packed(classes)
        none = np.zeros((1, rows, words), np.uint64)
        return kernels.negate(none, n)

    def _relation(self, owner: Term | Concept, term: Term) -> Relation:
        found = self.term(term)
        if not isinstance(found, Relation):
            raise self._misfit(owner)
        return found

    def _scope(self, owner: Term | Concept, classes: tuple[str, ...], scope: Term) -> Bits:
        found = self._relation(owner, scope)
        if found.classes != classes:
            raise self._misfit(owner)
        return found.bits

    def _misfit(self, node: Term | Concept) -> ConceptError:
        """The error of the language's own checks, which say what does not fit."""
        try:
            if isinstance(node, Term):
                signature(node, self.domain)
            else:
                kind(node, self.domain)
        except ConceptError as error:
            return error
        return ConceptError(f"{node} does not fit the domain {self.domain.name!r}")


def _term_bytes(term: Relation | Function) -> int:
    return term.bits.nbytes if isinstance(term, Relation) else term.values.nbytes
