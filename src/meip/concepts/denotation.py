"""Denotation: the value of concepts on many states at once, as columns of numbers.

States with the same entity counts form a block; in a block each term is evaluated once for all states, on rows of bits
(see `kernels`), and remembered. A bank of 1,000 concepts has few distinct terms, and the quantifiers over one
(value, scope) differ only in how they read the same two counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.concepts.check import kind
from meip.concepts.language import Aggregated, Composite, Concept, Constant, Quantified, Term
from meip.concepts.operations import operation
from meip.concepts.relations import Cache, Function, Terms, unpack
from meip.domain import Domain, FactBlock
from meip.errors import ConceptError, DomainError
from meip.world import State, World, adapt

__all__ = ["Column", "Denotation", "columns"]

BUDGET = 512 * 2**20
Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Column:
    """The value of one concept on each state; 0 where it is missing."""

    values: Floats  # [S]
    missing: Mask | None = None  # [S]; None: nowhere


class Denotation:
    """Evaluates concepts over one batch of states; terms that concepts share are evaluated once.

    `initial[s]` is the position in the batch of the initial state of s's problem, for ``initial[C]``. At most `budget`
    bytes of terms and columns are remembered; what was used least recently is forgotten and evaluated again if needed.
    """

    def __init__(
        self,
        domain: Domain,
        blocks: Sequence[FactBlock],
        initial: NDArray[np.int64] | None = None,
        *,
        budget: int = BUDGET,
    ) -> None:
        self.domain = domain
        self.cache = Cache(budget)
        used = [b for b in blocks if len(b.states)]
        self.states = sum(len(b.states) for b in used)
        positions = np.sort(np.concatenate([b.states for b in used])) if used else np.empty(0, np.int64)
        if not np.array_equal(positions, np.arange(self.states)):
            raise DomainError(
                f"the blocks of facts must cover the positions 0 to {self.states - 1} once each; make them with "
                "stack_facts, or number their states anew"
            )
        self._blocks = [(_where(b.states), Terms(domain, b, self.cache, i)) for i, b in enumerate(used)]
        self._initial = None if initial is None else self._checked(np.asarray(initial))

    def _checked(self, initial: NDArray[Any]) -> NDArray[np.int64]:
        if initial.shape != (self.states,) or initial.dtype.kind not in "iu":
            raise DomainError(
                f"`initial` must give one position for each of {self.states} states, got {initial.dtype} "
                f"of shape {initial.shape}"
            )
        if self.states and not (initial.min() >= 0 and initial.max() < self.states):
            raise DomainError(f"`initial` must hold positions from 0 to {self.states - 1}")
        return initial.astype(np.int64)

    def column(self, concept: Concept) -> Column:
        """The value of a concept on each state."""
        return self.cache.get(concept, lambda: self._column(concept), _column_bytes)

    def matrix(self, concepts: Sequence[Concept]) -> tuple[Floats, Mask]:
        """Values [S, K] and what is missing [S, K], one column per concept (each contiguous in memory)."""
        values = np.empty((len(concepts), self.states))
        missing = np.zeros((len(concepts), self.states), np.bool_)
        for concept, out, mask in zip(concepts, values, missing, strict=True):
            self._write(concept, out, mask)
        return values.T, missing.T

    def relation(self, term: Term) -> list[NDArray[Any]]:
        """A term as dense tables, one per block: [S, n1, ..], booleans, or numbers for a function; S may be 1."""
        tables: list[NDArray[Any]] = []
        for _, terms in self._blocks:
            found = terms.term(term)
            shape = terms.shape(found.classes)
            if isinstance(found, Function):
                tables.append(found.values.reshape(len(found.values), *shape))
            else:
                tables.append(unpack(found.bits, shape))
        return tables

    def _column(self, concept: Concept) -> Column:
        values, mask = np.empty(self.states), np.zeros(self.states, np.bool_)
        self._write(concept, values, mask)
        return Column(values, mask if mask.any() else None)

    def _write(self, concept: Concept, out: Floats, mask: Mask) -> None:
        match concept:
            case Quantified():
                for where, terms in self._blocks:
                    out[where] = _quantified(terms, concept)
            case Aggregated():
                for where, terms in self._blocks:
                    found = _aggregated(terms, concept)
                    none = np.isnan(found)
                    out[where] = np.where(none, 0.0, found)
                    mask[where] = none
            case Constant(number):
                out[:] = number
            case Composite():
                self._composite(concept, out, mask)
            case _:
                raise ConceptError(f"{concept!r} is not a concept")

    def _composite(self, concept: Composite, out: Floats, mask: Mask) -> None:
        kind(concept)  # says what is wrong with unknown operations and operands that do not fit
        operands = [self.column(a) for a in concept.arguments]
        if concept.operation == "initial":
            if self._initial is None:
                raise ConceptError(
                    f"{concept} needs the initial state of each problem: give Denotation the positions `initial`"
                )
            chosen = operands[0]
            out[:] = chosen.values[self._initial]
            if chosen.missing is not None:
                mask[:] = chosen.missing[self._initial]
            return
        found = np.asarray(operation(concept.operation).apply(*[c.values for c in operands]), np.float64)
        if found.shape not in ((), (self.states,)):
            raise ConceptError(
                f"operation {concept.operation!r} must give one value per state, got shape {found.shape}; correct it"
            )
        out[:] = found
        for operand in operands:
            if operand.missing is not None:
                mask |= operand.missing
        mask |= ~np.isfinite(out)
        out[mask] = 0.0


def columns(world: World, states: Sequence[State], concepts: Iterable[Concept]) -> list[Column]:
    """The columns of concepts over these states of a world."""
    full = adapt(world)
    denotation = Denotation(full.domain, full.facts_batch(states))
    return [denotation.column(c) for c in concepts]


def _where(states: NDArray[np.int64]) -> slice | NDArray[np.int64]:
    """The positions of a block in the batch, as a slice where they are consecutive."""
    first, n = int(states[0]), len(states)
    return slice(first, first + n) if np.array_equal(states, np.arange(first, first + n)) else states


def _column_bytes(column: Column) -> int:
    return column.values.nbytes + (0 if column.missing is None else column.missing.nbytes)


def _quantified(terms: Terms, concept: Quantified) -> Floats | Mask:
    hits, total = terms.counts(concept, concept.value, concept.scope)
    match concept.quantifier:
        case "count":
            return hits
        case "some":
            return np.greater(hits, 0)
        case "all":
            return np.equal(hits, total)
        case _:
            kind(concept)
            raise ConceptError(f"{concept.quantifier!r} is not a quantifier")


def _aggregated(terms: Terms, concept: Aggregated) -> Floats:
    """The aggregate in each state of a block, NaN where it is missing."""
    rows = ("max", "min", "mean")
    if concept.aggregator not in rows:
        kind(concept)
    if isinstance(terms.term(concept.value), Function):
        found: Floats = terms.aggregates(concept, concept.value, concept.scope)[rows.index(concept.aggregator)]
        return found
    hits, total = terms.counts(concept, concept.value, concept.scope)
    of_booleans = {"max": hits > 0, "min": hits == total, "mean": hits / np.maximum(total, 1)}
    return np.where(np.asarray(total) > 0, of_booleans[concept.aggregator], np.nan)
