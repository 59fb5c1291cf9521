"""Denotation: the value of concepts on many states at once, as columns of numbers.

Concepts are compiled to a `Program`, in which each distinct term is evaluated once for all of them (a bank of 1,000
concepts has few distinct terms); the program runs on `batches` of states. Composites are computed from the columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import ConceptError, DomainError
from meip.concepts.language import Composite, Concept, Constant, Term
from meip.concepts.operations import operation
from meip.concepts.values.batches import batches, dense
from meip.concepts.values.kernels import Bits
from meip.concepts.values.program import Program
from meip.model.domain import Domain, FactBlock

__all__ = ["Column", "Denotation"]

BUDGET = 512 * 2**20


@dataclass(frozen=True, eq=False)
class Column:
    """The value of one concept on each state; 0 where it is missing."""

    values: Floats  # [S]
    missing: Bools | None = None  # [S]; None: nowhere


class Denotation:
    """Evaluates concepts over one batch of states; terms that concepts share are evaluated once.

    `initial[s]` is the position in the batch of the initial state of s's problem, for ``initial[C]``. Programs that
    need more than `budget` bytes of memory are cut into smaller ones.
    """

    def __init__(
        self, domain: Domain, blocks: Sequence[FactBlock], initial: Ints | None = None, *, budget: int = BUDGET
    ) -> None:
        self.domain = domain
        self.budget = budget
        self.blocks = [b for b in blocks if len(b.states)]
        self.states = sum([len(b.states) for b in self.blocks])
        self._in_order = not self.blocks or (
            len(self.blocks) == 1 and bool((self.blocks[0].states == np.arange(self.states)).all())
        )
        if not self._covered():
            raise DomainError(
                f"the blocks of facts must cover the positions 0 to {self.states - 1} once each; make them with "
                "stack_facts, or number their states anew"
            )
        self._batches = batches(domain, self.blocks)
        self._initial = None if initial is None else self._checked(np.asarray(initial))

    def _covered(self) -> bool:
        """Is each position there once?"""
        if self._in_order:
            return True
        positions = np.sort(np.concatenate([b.states for b in self.blocks]))
        return np.array_equal(positions, np.arange(self.states))

    def _checked(self, initial: NDArray[Any]) -> Ints:
        if initial.shape != (self.states,) or initial.dtype.kind not in "iu":
            raise DomainError(
                f"`initial` must give one position for each of {self.states} states, got {initial.dtype} "
                f"of shape {initial.shape}"
            )
        if self.states and not (initial.min() >= 0 and initial.max() < self.states):
            raise DomainError(f"`initial` must hold positions from 0 to {self.states - 1}")
        return initial.astype(np.int64)

    def matrix(self, concepts: Sequence[Concept] | Program) -> tuple[Floats, Bools]:
        """Values [S, K] and what is missing [S, K], one column per concept (each contiguous in memory).

        A program made before saves compiling the concepts again.
        """
        program = concepts if isinstance(concepts, Program) else Program(self.domain, concepts)
        chosen = program.concepts
        if len(chosen) > 1 and self._too_large(program):
            halves = [self.matrix(part) for part in (chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :])]
            values, missing = (np.concatenate([half[i].T for half in halves]) for i in (0, 1))
            return values.T, missing.T
        values, missing = self._atoms(program)
        if len(program.rows) == len(program.places) == len(chosen):
            return values.T, missing.T  # atomic concepts, each once: the columns are in order
        return self._composed(program, values, missing)

    def relation(self, term: Term) -> list[NDArray[Any]]:
        """A term as dense tables, one per block: [S, n1, ..], booleans, or numbers for a function; S may be 1."""
        return [dense(self.domain, block, term) for block in self.blocks]

    def fingerprints(self, terms: Sequence[Term]) -> list[tuple[Any, ...] | None]:
        """A key for each term, the same for terms that are true of the same tuples in every state.

        None for a term that is empty in every state, or true of everything in every state.
        """
        program = Program(self.domain, terms=terms)
        if len(terms) > 1 and self._too_large(program):
            half = len(terms) // 2
            return self.fingerprints(terms[:half]) + self.fingerprints(terms[half:])
        prints = np.zeros((len(terms), 4), np.uint64)
        for batch in self._batches:
            batch.run(program, np.empty((0, 0)), np.empty((0, 0), np.bool_), prints)
        return [
            (program.classes(term), one, two) if some and other else None
            for term, (one, two, some, other) in zip(terms, prints.tolist(), strict=True)
        ]

    def _too_large(self, program: Program) -> bool:
        return any(batch.bind(program).nbytes > self.budget for batch in self._batches)

    def _atoms(self, program: Program) -> tuple[Floats, Bools]:
        """The columns of a program's atomic concepts: values and what is missing, [A, S]."""
        values = np.empty((len(program.rows), self.states))
        missing = np.zeros(values.shape, np.bool_)
        none: Bits = np.empty((0, 4), np.uint64)
        for batch in self._batches:
            if self._in_order:
                batch.run(program, values, missing, none)
                continue
            own, mask = np.empty((len(values), batch.states)), np.zeros((len(values), batch.states), np.bool_)
            batch.run(program, own, mask, none)
            values[:, batch.positions], missing[:, batch.positions] = own, mask
        return values, missing

    def _composed(self, program: Program, atoms: Floats, masks: Bools) -> tuple[Floats, Bools]:
        """The columns of all concepts, from those of the atomic ones."""
        known: dict[Concept, Column] = {}
        values = np.empty((len(program.concepts), self.states))
        missing = np.zeros(values.shape, np.bool_)
        gaps: list[bool] = np.any(masks, axis=1).tolist()

        def column(concept: Concept) -> Column:
            if concept not in known:
                row = program.rows.get(concept)
                if row is not None:
                    known[concept] = Column(atoms[row], masks[row] if gaps[row] else None)
                elif isinstance(concept, Constant):
                    known[concept] = Column(np.full(self.states, concept.value))
                elif isinstance(concept, Composite):
                    known[concept] = self._composite(concept, [column(a) for a in concept.arguments])
            return known[concept]

        for k, row in program.places:
            values[k], missing[k] = atoms[row], masks[row]
        for k in set(range(len(values))).difference([k for k, _ in program.places]):
            found = column(program.concepts[k])
            values[k] = found.values
            if found.missing is not None:
                missing[k] = found.missing
        return values.T, missing.T

    def _composite(self, concept: Composite, operands: Sequence[Column]) -> Column:
        if concept.operation == "initial":
            if self._initial is None:
                raise ConceptError(
                    f"{concept} needs the initial state of each problem: give Denotation the positions `initial`"
                )
            (chosen,) = operands
            mask = None if chosen.missing is None else chosen.missing[self._initial]
            return Column(chosen.values[self._initial], mask)
        found = np.asarray(operation(concept.operation).apply(*[c.values for c in operands]), np.float64)
        if found.shape not in ((), (self.states,)):
            raise ConceptError(
                f"operation {concept.operation!r} must give one value per state, got shape {found.shape}; correct it"
            )
        gaps = [operand.missing for operand in operands if operand.missing is not None]
        finite = np.isfinite(found)
        if not gaps and finite.all():
            return Column(found)
        missing = np.logical_or.reduce(np.broadcast_arrays(~finite, *gaps))
        return Column(np.where(missing, 0.0, found), np.broadcast_to(missing, self.states))
