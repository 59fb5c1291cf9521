"""Batches: states put together for one run of a program, with room for the most entities that any of them has.

A class has as many tuples as the state with the most entities needs; which of them a state really has is an input of
the program (`Input` without a name), so that ``not``, ``all``, U and shares are right for each state.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import DomainError
from meip.base.kernels import Twins
from meip.concepts.language import Aggregated, Term
from meip.concepts.operations import TIE
from meip.concepts.values import kernels, plain
from meip.concepts.values.kernels import ALL, STATES, TILE, Bits
from meip.concepts.values.program import Bound, Classes, Input, Program
from meip.model.domain import Domain, FactBlock

__all__ = ["Batch", "batches", "dense"]

PACK, RUN = Twins(kernels.pack, plain.pack), Twins(kernels.run, plain.run)


def batches(domain: Domain, blocks: Sequence[FactBlock]) -> list[Batch]:
    """Blocks of states with similar numbers of entities together, the larger first.

    A few states cost as much as 256, so a block joins the one before unless that is full and at least twice as large.
    """
    if len(blocks) == 1:
        return [Batch(domain, blocks)]
    found: list[list[FactBlock]] = []
    states = 0
    size: tuple[int, ...] = ()
    names = [c.name for c in domain.classes]
    for block in sorted(blocks, key=lambda b: _rank(b, names), reverse=True):
        own = tuple([int(block.counts.get(n, 0)).bit_length() for n in names])
        if not found or (states >= STATES and own != size):
            found.append([])
            states, size = 0, own
        found[-1].append(block)
        states += len(block.states)
    return [Batch(domain, group) for group in found]


def _rank(block: FactBlock, names: Sequence[str]) -> tuple[int, tuple[int, ...]]:
    own = tuple([int(block.counts.get(n, 0)) for n in names])
    return sum([n * n for n in own]).bit_length(), tuple([n.bit_length() for n in own])


class Batch:
    """Blocks of facts as the inputs of programs, each packed when it is first asked for."""

    def __init__(self, domain: Domain, blocks: Sequence[FactBlock]) -> None:
        self.domain = domain
        self.blocks = blocks
        self.positions = blocks[0].states if len(blocks) == 1 else np.concatenate([b.states for b in blocks])
        self.states = len(self.positions)
        if len(blocks) == 1:
            self.counts = {c.name: int(blocks[0].counts[c.name]) for c in domain.classes if c.name in blocks[0].counts}
        else:
            names = [c.name for c in domain.classes if all(c.name in b.counts for b in blocks)]
            self.counts = {n: max([int(b.counts[n]) for b in blocks]) for n in names}
        self._packed: dict[Input, tuple[Bits, bool]] = {}
        self._functions: dict[tuple[str, tuple[int, ...]], Floats] = {}
        self._bound: tuple[Program, Bound] | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Without what was made of the facts: it is soon made again where they are sent to."""
        return {**self.__dict__, "_packed": {}, "_functions": {}, "_bound": None}

    def bind(self, program: Program) -> Bound:
        """The program with the sizes of this batch."""
        found = self._bound  # another thread may put its own there meanwhile
        if found is None or found[0] is not program:
            static = tuple([self._input(i, program.static)[1] for i in program.inputs])
            self._bound = found = program, program.bind(self.counts, static)
        return found[1]

    def run(self, program: Program, values: Floats, missing: Bools, prints: Bits) -> Bits:
        """Write the columns [S] of atomic concepts and the fingerprints of terms; returns the arena."""
        bound = self.bind(program)
        tiles = -(-self.states // STATES)
        inputs = np.empty((tiles, bound.inputs, TILE), np.uint64)
        at = 0
        for one in program.inputs:
            bits = self._packed[one][0]
            inputs[:, at : at + bits.shape[1]] = bits
            at += bits.shape[1]
        arena = np.empty((bound.tuples, TILE), np.uint64)
        run = RUN.of(10.0 * tiles * len(bound.code))
        run(bound.code, inputs, bound.pool, arena, self._values(program), values, missing, prints, self.states)
        return arena

    def shape(self, classes: Classes, block: FactBlock | None = None) -> tuple[int, ...]:
        """The number of entities of each argument, in a block or at most."""
        counts = self.counts if block is None else block.counts
        try:
            return tuple([int(counts[c]) for c in classes])
        except KeyError as error:
            raise DomainError(f"a block of facts gives no count for class {error.args[0]!r}") from None

    def _input(self, one: Input, static: dict[Input, tuple[Any, Bits]]) -> tuple[Bits, bool]:
        """Bits [tiles, N, TILE], or [1, N, TILE] and True where all states agree."""
        found = self._packed.get(one)
        if found is None:
            found = self._packed[one] = self._there(one) if one.name is None else self._predicate(one, static)
        return found

    def _there(self, one: Input) -> tuple[Bits, bool]:
        """Which tuples there are in each state."""
        shape = self.shape(one.classes)
        shapes = [self.shape(one.classes, block) for block in self.blocks]
        if all(own == shape for own in shapes):
            return _everything(prod(shape)), True
        return self._pack(shape, [np.ones((1, *own), np.bool_) for own in shapes]), False

    def _predicate(self, one: Input, static: dict[Input, tuple[Any, Bits]]) -> tuple[Bits, bool]:
        name, shape = str(one.name), self.shape(one.classes)
        tables = [self._fluent(name, self.shape(one.classes, block), block) for block in self.blocks]
        if len(tables) == 1 and len(tables[0]) == 1:
            if one not in static or static[one][0] is not tables[0]:  # many batches of one problem share it
                bits = np.repeat(np.where(_truth(one, tables[0]).reshape(1, -1, 1), ALL, np.uint64(0)), TILE, axis=2)
                static[one] = tables[0], bits
            return static[one][1], True
        return self._pack(shape, [_truth(one, table) for table in tables]), False

    def _pack(self, shape: tuple[int, ...], tables: Sequence[NDArray[Any]]) -> Bits:
        """Tables of the blocks [S or 1, n1, ..], no larger than the shape, as bits [tiles, N, TILE]."""
        places = _places(shape)
        out = np.zeros((-(-self.states // STATES), places.size, TILE), np.uint64)
        first = 0
        for block, table in zip(self.blocks, tables, strict=True):
            at = places.reshape(-1)
            if table.shape[1:] != shape:
                at = places[tuple([slice(k) for k in table.shape[1:]])].reshape(-1)
            flat = np.ascontiguousarray(table, np.bool_).reshape(len(table), at.size)
            pack = PACK.of(5.0 + flat.size / 1000)
            pack(flat.view(np.uint8), at, first, len(block.states), out)
            first += len(block.states)
        return out

    def _fluent(self, name: str, shape: tuple[int, ...], block: FactBlock) -> NDArray[Any]:
        try:
            table = block.tables[name]
        except KeyError:
            if name in self.domain.copies:
                raise DomainError(f"{name!r} is about a step, and is neither true nor false of a state alone") from None
            raise DomainError(f"a block of facts has no table for fluent {name!r}") from None
        if table.shape[1:] != shape or len(table) not in (1, len(block.states)):
            raise DomainError(
                f"facts of {name!r}: expected a table of shape {(len(block.states), *shape)} "
                f"(or 1 first), got {table.shape}"
            )
        return table

    def _values(self, program: Program) -> Floats:
        """The functions that a program reads, one after the other: [tuples, S], NaN where there is no such tuple."""
        if not program.functions:
            return np.empty((0, 0))
        found = [self._function(name, order) for name, order in program.functions]
        return found[0] if len(found) == 1 else np.concatenate(found)

    def _function(self, name: str, order: tuple[int, ...]) -> Floats:
        if (name, order) not in self._functions:
            classes = self.domain.fluent(name).classes
            whole = self.shape(classes)
            out = np.full((*[whole[i] for i in order], self.states), np.nan)
            first = 0
            for block in self.blocks:
                shape = self.shape(classes, block)
                table = self._fluent(name, shape, block)
                moved = table.transpose(*(i + 1 for i in order), 0)
                last = first + len(block.states)
                out[(*[slice(shape[i]) for i in order], slice(first, last))] = moved
                first = last
            self._functions[name, order] = out.reshape(-1, self.states)
        return self._functions[name, order]


def _truth(one: Input, table: NDArray[Any]) -> NDArray[Any]:
    """Where a predicate is true, or a function at least so much."""
    return table if one.least is None else table >= one.least - TIE


@lru_cache(maxsize=64)
def _everything(tuples: int) -> Bits:
    """All tuples in all states; only to be read."""
    return np.full((1, tuples, TILE), ALL)


@lru_cache(maxsize=64)
def _places(shape: tuple[int, ...]) -> Ints:
    """The number of each tuple; only to be read."""
    return np.arange(prod(shape)).reshape(shape)


def dense(domain: Domain, block: FactBlock, term: Term) -> NDArray[Any]:
    """A term in one block of states, as a table [S or 1, n1, ..]: booleans, or numbers for a function."""
    whole = Batch(domain, [block])
    function = Program(domain, [Aggregated("max", term)]).functions
    if function:
        ((name, order),) = function
        table = whole._fluent(name, whole.shape(domain.fluent(name).classes), block)
        return table.transpose(0, *[i + 1 for i in order])
    program = Program(domain, terms=[term])
    shape = whole.shape(program.classes(term))
    states = 1 if all(whole._input(i, program.static)[1] for i in program.inputs) else len(block.states)
    found = np.empty((states, prod(shape)), np.bool_)
    for first in range(0, states, STATES):
        part = slice(first, min(first + STATES, states))
        tables = {name: table if len(table) == 1 else table[part] for name, table in block.tables.items()}
        batch = Batch(domain, [FactBlock(block.states[part], block.counts, tables)])
        arena = batch.run(program, *_NO_COLUMNS, np.zeros((1, 4), np.uint64))
        place = int(batch.bind(program).code[-1, 2])  # the last instruction is the fingerprint of the term
        words = arena[place : place + prod(shape)]
        bits = (words[:, :, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
        found[part] = bits.reshape(prod(shape), STATES)[:, : part.stop - first].T
    return found.reshape(states, *shape)


_NO_COLUMNS = np.empty((0, 0)), np.empty((0, 0), np.bool_)
