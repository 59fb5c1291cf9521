"""The objects of one problem as numbers, and which bit of a state each fact is."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import prod

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.base.errors import BudgetError
from meip.worlds.pddl.syntax import Atom, DomainFile, ProblemFile, Value
from meip.worlds.pddl.vocabulary import Vocabulary, vocabulary

__all__ = ["Instance", "Layout"]

MAX_CODES = 2**28


@dataclass(frozen=True)
class Instance:
    """A problem with its domain: objects numbered, each also within its class."""

    file: DomainFile
    problem: ProblemFile
    words: Vocabulary
    names: tuple[str, ...]  # objects that some fluent can mention
    types: tuple[tuple[str, ...], ...]
    number: Mapping[str, int]
    local: Ints  # [N] number of an object within its class
    counts: Mapping[str, int]  # class -> objects

    @classmethod
    def build(cls, file: DomainFile, problem: ProblemFile) -> Instance:
        words = vocabulary(file)
        objects = {n: t for n, t in problem.all_objects(file).items() if t[0] in words.class_of}
        counts = {c.name: 0 for c in words.domain.classes}
        local = []
        for types in objects.values():
            name = words.class_of[types[0]]
            local.append(counts[name])
            counts[name] += 1
        number = {n: i for i, n in enumerate(objects)}
        return cls(
            file, problem, words, tuple(objects), tuple(objects.values()), number, np.array(local, np.int64), counts
        )

    @cached_property
    def _by_types(self) -> dict[tuple[str, ...], Ints]:
        return {}

    def of_types(self, types: tuple[str, ...]) -> Ints:
        """The numbers of the objects of one of these types."""
        if types not in self._by_types:
            found = [i for i, own in enumerate(self.types) if self.file.is_a(own, types)]
            self._by_types[types] = np.array(found, dtype=np.int64)
        return self._by_types[types]

    def type_mask(self, types: tuple[str, ...]) -> Bools:
        """[N] is each object of one of these types?"""
        mask = np.zeros(len(self.names), dtype=bool)
        mask[self.of_types(types)] = True
        return mask

    def shape(self, name: str) -> tuple[int, ...]:
        """The table of a fluent: one axis for each argument, as long as its class."""
        return tuple(self.counts[c] for c in self.words.domain.fluent(name).classes)

    def size(self, name: str) -> int:
        """How many facts a predicate could have."""
        size = prod(self.shape(name))
        if size > MAX_CODES:
            raise BudgetError(
                f"predicate {name!r} has {size:,} possible facts in problem {self.problem.name!r}; at most "
                f"{MAX_CODES:,} fit. Type its arguments more narrowly, or use fewer objects"
            )
        return size

    def codes(self, name: str, rows: Ints) -> Ints:
        """[n, arity] object numbers -> [n] position of each fact in the flattened table."""
        code = np.zeros(len(rows), dtype=np.int64)
        for axis, size in enumerate(self.shape(name)):
            code = code * size + self.local[rows[:, axis]]
        return code

    def code(self, atom: Atom | Value, binding: Mapping[str, str] | None = None) -> int:
        """The position of one fact."""
        code = 0
        for term, size in zip(atom.args, self.shape(atom.name), strict=True):
            name = binding[term] if binding is not None and term.startswith("?") else term
            code = code * size + int(self.local[self.number[name]])
        return code

    @cached_property
    def by_class(self) -> dict[str, tuple[str, ...]]:
        """The names of the objects of each class, in order."""
        found: dict[str, list[str]] = {c: [] for c in self.counts}
        for name, types in zip(self.names, self.types, strict=True):
            found[self.words.class_of[types[0]]].append(name)
        return {c: tuple(names) for c, names in found.items()}

    def fact_text(self, name: str, code: int) -> str:
        """``(on b1 b2)`` from a position in the table."""
        indices = np.unravel_index(code, self.shape(name)) if self.shape(name) else ()
        classes = self.words.domain.fluent(name).classes
        return str(Atom(name, tuple(self.by_class[c][int(i)] for c, i in zip(classes, indices, strict=True))))


@dataclass(frozen=True)
class Layout:
    """Which bit is which fact, and which word which number.

    A state is a row of uint64 words: first the bits of the changing predicates, then the numeric fluents as the bits
    of their float64, so that equal states are equal rows.
    """

    names: tuple[str, ...]
    codes: Mapping[str, Ints]  # predicate -> [n] sorted codes of its facts that can become true
    sizes: Mapping[str, int]
    starts: Mapping[str, int]  # predicate -> its first bit
    values: Mapping[str, int] = field(default_factory=dict)  # function -> position of its first number
    numbers: int = 0
    _inverse: dict[str, Ints] = field(default_factory=dict, repr=False)

    @classmethod
    def build(cls, instance: Instance, codes: Mapping[str, Ints] | None) -> Layout:
        """The layout of these reachable facts; None: of all facts that fit the classes."""
        names = tuple(n for n in instance.file.predicates if n in instance.words.changing)
        found = {n: np.arange(instance.size(n), dtype=np.int64) if codes is None else codes[n] for n in names}
        starts, bit = {}, 0
        for n in names:
            starts[n] = bit
            bit += len(found[n])
        values, number = {}, 0
        for f in sorted(instance.words.varying):
            values[f] = number
            number += prod(instance.shape(f))
        return cls(names, found, {n: instance.size(n) for n in names}, starts, values, number)

    @cached_property
    def bits(self) -> int:
        return sum(len(c) for c in self.codes.values())

    @cached_property
    def words(self) -> int:
        """Words of bits; at least one."""
        return max(1, -(-self.bits // 64))

    @property
    def width(self) -> int:
        """Words of a whole state."""
        return self.words + self.numbers

    def facts(self, name: str, codes: Ints) -> Ints:
        """Codes -> bits; -1 where a fact can never become true."""
        if len(self.codes[name]) == self.sizes[name]:
            return codes + self.starts[name]
        if name not in self._inverse:
            inverse = np.full(self.sizes[name], -1, dtype=np.int64)
            inverse[self.codes[name]] = np.arange(len(self.codes[name])) + self.starts[name]
            self._inverse[name] = inverse
        return self._inverse[name][codes]

    def fact(self, name: str, code: int) -> int:
        return int(self.facts(name, np.array([code], dtype=np.int64))[0])

    def where(self, bit: int) -> tuple[str, int]:
        """The predicate and code of a bit."""
        for name in reversed(self.names):
            if bit >= self.starts[name] and len(self.codes[name]):
                return name, int(self.codes[name][bit - self.starts[name]])
        raise IndexError(bit)

    def unpack(self, states: Words) -> Bools:
        """[K, width] -> [K, bits]."""
        raw = np.ascontiguousarray(states[:, : self.words]).view(np.uint8)
        return np.unpackbits(raw, axis=1, count=self.bits, bitorder="little").view(np.bool_)

    def pack(self, facts: Sequence[int] | Ints, numbers: Floats) -> Words:
        """One state from its true bits and its numbers."""
        bits = np.zeros(self.words * 64, dtype=np.uint8)
        bits[np.asarray(facts, dtype=np.int64)] = 1
        words = np.packbits(bits, bitorder="little").view(np.uint64)
        return np.concatenate([words, (numbers + 0.0).view(np.uint64)])
