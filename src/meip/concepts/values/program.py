"""Concepts compiled once for a domain: a program of `kernels` instructions that runs on any batch of states.

Each distinct term is one register and one instruction, however many concepts share it. Registers know only the classes
of their arguments; sizes and places follow from the entity counts of a batch when the program meets one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple, NoReturn

import numpy as np

from meip.base.errors import ConceptError
from meip.concepts.check import kind, signature
from meip.concepts.language import (
    Aggregated,
    Agreement,
    AtLeast,
    Closure,
    Composite,
    Composition,
    Concept,
    Conjunction,
    Constant,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
    Term,
)
from meip.concepts.values.kernels import TILE, Code, Op
from meip.model.domain import Domain

__all__ = ["Bound", "Classes", "Digits", "Input", "Order", "Program", "Size", "Start"]

BOUND = 4  # sizes that a program remembers: a search goes to and fro between one state and many
Classes = tuple[str, ...]
Order = tuple[int, ...]


class Input(NamedTuple):
    """What a program reads: the table of a predicate, of what a function is at least so much, or (without a name) which
    entities of a class there are."""

    name: str | None
    classes: Classes
    least: float | None = None


@dataclass(frozen=True)
class Digits:
    """A size: how many binary digits the number of tuples over these classes has."""

    classes: Classes


@dataclass(frozen=True)
class Start:
    """A size: how many tuples the functions before this one have."""

    function: int


Size = Classes | Digits | Start
"""A size that instructions speak of; classes stand for the number of tuples over them."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A program with the sizes of one batch filled in."""

    code: Code  # [I, 11]
    pool: Code
    inputs: int  # tuples of the inputs, the first in the arena
    tuples: int  # of the whole arena

    @property
    def nbytes(self) -> int:
        return self.tuples * TILE * 8


class Program:
    """Instructions for concepts (and terms) of a domain. ConceptError where one does not fit it.

    `rows` maps each atomic concept to its column of results; `places` are (number of the concept, row) of the concepts
    that are atomic. Composites are computed from those.
    """

    def __init__(self, domain: Domain, concepts: Sequence[Concept] = (), terms: Sequence[Term] = ()) -> None:
        self.domain = domain
        self.concepts = tuple(concepts)
        self.inputs: list[Input] = []
        self.functions: list[tuple[str, Order]] = []
        self.rows: dict[Concept, int] = {}
        self.needs_initial = False
        self._sizes: dict[Size, int] = {}  # what instructions speak of, each with a number
        self._registers: list[Classes] = []
        self._register_size: list[int] = []
        self._reads: list[int] = []  # the inputs that a register depends on, as a bit set
        self._known: dict[Any, int] = {}  # what a register holds -> its number
        self._universes: dict[Classes, int] = {}
        self._moves: list[tuple[Classes, Order]] = []
        self._input_registers: list[int] = []
        self._aggregates = 0
        self._code: list[tuple[int, ...]] = []
        for concept in self.concepts:
            self._concept(concept)
        for row, term in enumerate(terms):
            classes, register = self._relation(term)
            self._emit(Op.PRINT, a=register, c=self._universe(classes), x=classes, extra=row)
        self.places = [(k, self.rows[c]) for k, c in enumerate(self.concepts) if c in self.rows]
        self._table = np.array(self._code, np.int64).reshape(-1, 10)
        self._depends = np.array(
            [[reads >> i & 1 for i in range(len(self.inputs))] for reads in self._reads], np.bool_
        ).reshape(len(self._reads), len(self.inputs))
        self._bound: dict[Any, Bound] = {}
        self.static: dict[Input, tuple[Any, Any]] = {}  # the last table on which all states agree, and its bits

    def classes(self, term: Term) -> Classes:
        """The classes of a term that was compiled."""
        return self._registers[self._known[term]]

    def bind(self, counts: Mapping[str, int], static: tuple[bool, ...]) -> Bound:
        """The program for batches of these entity counts; static: the inputs on which all states agree."""
        key = tuple(counts.values()), static
        found = self._bound.get(key)
        if found is None:
            if len(self._bound) >= BOUND:
                self._bound.clear()
            found = self._bound[key] = self._bind(counts, static)
        return found

    def _bind(self, counts: Mapping[str, int], static: tuple[bool, ...]) -> Bound:
        functions = [prod([counts[c] for c in self.domain.fluent(name).classes]) for name, _ in self.functions]
        sizes = np.array([_measure(s, counts, functions) for s in self._sizes], np.int64)
        room = sizes[np.array(self._register_size, np.int64)]
        order = np.ones(len(room), np.bool_)
        order[self._input_registers] = False
        placed = np.concatenate([np.array(self._input_registers, np.int64), np.flatnonzero(order)])
        place = np.zeros(len(room) + 1, np.int64)
        place[placed[1:]] = np.cumsum(room[placed[:-1]])
        code = np.zeros((len(self._table), 11), np.int64)
        code[:, 0], code[:, 8:10] = self._table[:, 0], self._table[:, 8:]
        code[:, 1:5], code[:, 5:8] = place[self._table[:, 1:5]], sizes[self._table[:, 5:8]]
        changing = self._depends[:, ~np.array(static, np.bool_)].any(1)
        code[:, 10] = ~np.append(changing, True)[self._table[:, 1]]
        pool, starts = self._pool(counts)
        moves = code[:, 0] == Op.MOVE
        code[moves, 8] = starts[code[moves, 8]]
        return Bound(code, pool, int(room[self._input_registers].sum()), int(room.sum()))

    def _pool(self, counts: Mapping[str, int]) -> tuple[Code, Code]:
        """For each permutation where the tuples come from, one after the other, and where each permutation starts."""
        shapes = [[counts[c] for c in classes] for classes, _ in self._moves]
        parts = [
            np.arange(prod(shape)).reshape(shape).transpose(order).reshape(-1)
            for shape, (_, order) in zip(shapes, self._moves, strict=True)
        ]
        starts = np.cumsum([0, *(len(p) for p in parts)])
        return np.concatenate([np.zeros(0, np.int64), *parts]), starts

    # --- from concepts to instructions ---

    def _concept(self, concept: Concept) -> None:
        match concept:
            case Quantified():
                if concept not in self.rows:
                    self._quantified(concept, self.rows.setdefault(concept, len(self.rows)))
            case Aggregated():
                if concept not in self.rows:
                    self._aggregated(concept, self.rows.setdefault(concept, len(self.rows)))
            case Composite(name, arguments):
                kind(concept)  # says what is wrong with unknown operations and operands that do not fit
                self.needs_initial |= name == "initial"
                for argument in arguments:
                    self._concept(argument)
            case Constant():
                pass
            case _:
                raise ConceptError(f"{concept!r} is not a concept")

    def _quantified(self, concept: Quantified, row: int) -> None:
        classes, value = self._relation(concept.value)
        anywhere = concept.scope is None and concept.quantifier != "all"  # nothing is outside of U
        scope = value if anywhere else self._scope(concept, classes, concept.scope)
        match concept.quantifier:
            case "count":
                self._emit(Op.NUMBER, a=self._count(classes, value, scope), x=Digits(classes), extra=row)
            case "some":
                self._emit(Op.BIT, a=self._any(classes, value, scope), extra=row)
            case "all":
                self._emit(Op.BIT, a=self._all(classes, value, scope), extra=row)
            case _:
                self._misfit(concept)

    def _aggregated(self, concept: Aggregated, row: int) -> None:
        if concept.aggregator not in ("max", "min", "mean"):
            self._misfit(concept)
        function = self._function(concept.value)
        if function is not None:
            classes, number = function
            scope = self._scope(concept, classes, concept.scope)
            aggregate = self._aggregate(number, classes, scope)
            which = ("max", "min", "mean").index(concept.aggregator)
            self._emit(Op.REAL, extra=row, more=3 * aggregate + which)
            return
        classes, value = self._relation(concept.value)
        scope = self._scope(concept, classes, concept.scope)
        if concept.aggregator == "mean":
            hits, total = self._count(classes, value, scope), self._count(classes, scope, scope)
            self._emit(Op.SHARE, a=hits, b=total, x=Digits(classes), extra=row)
            return
        found = (self._any if concept.aggregator == "max" else self._all)(classes, value, scope)
        self._emit(Op.BIT_WITHIN, a=found, b=self._any(classes, scope, scope), extra=row)

    def _count(self, classes: Classes, a: int, b: int) -> int:
        return self._made(("count", a, b), classes, Op.COUNT, a, b, x=classes, y=Digits(classes), digits=True)

    def _any(self, classes: Classes, a: int, b: int) -> int:
        number = self._known.get(("count", a, b))
        if number is not None:  # the fewer digits of the count tell it, too
            return self._made(("any", a, b), (), Op.SOME, number, number, x=(), y=Digits(classes), z=())
        return self._made(("any", a, b), (), Op.SOME, a, b, x=(), y=classes, z=())

    def _all(self, classes: Classes, value: int, scope: int) -> int:
        return self._made(("all", value, scope), (), Op.EVERY, scope, value, self._universe(()), x=(), y=classes)

    def _aggregate(self, function: int, classes: Classes, scope: int) -> int:
        key = ("aggregate", function, scope)
        if key not in self._known:
            self._known[key] = self._aggregates
            self._aggregates += 1
            self._emit(Op.AGGREGATE, a=scope, x=classes, y=Start(function), extra=self._known[key])
        return self._known[key]

    def _function(self, term: Term) -> tuple[Classes, int] | None:
        """The classes of a real-valued term and its number among the functions; None for a predicate."""
        order: Order | None = None
        inner = term
        while isinstance(inner, Permutation):
            order = inner.order if order is None else tuple([inner.order[i] for i in order])
            inner = inner.term
        if not isinstance(inner, Primitive) or not signature(inner, self.domain)[1]:
            return None
        classes = signature(term, self.domain)[0]
        found = inner.name, order or tuple(range(len(classes)))
        if found not in self.functions:
            self.functions.append(found)
        return classes, self.functions.index(found)

    def _relation(self, term: Term) -> tuple[Classes, int]:
        register = self._term(term)
        return self._registers[register], register

    def _scope(self, owner: Term | Concept, classes: Classes, scope: Term | None) -> int:
        if scope is None:
            return self._universe(classes)
        register = self._term(scope)
        if self._registers[register] != classes:
            self._misfit(owner)
        return register

    def _term(self, term: Term) -> int:
        register = self._known.get(term)
        if register is None:
            register = self._known[term] = self._compiled(term)
        return register

    def _compiled(self, term: Term) -> int:
        match term:
            case Primitive(name):
                classes, real = signature(term, self.domain)
                if real:
                    raise ConceptError(f"{term} is a real-valued function, but a predicate is needed here")
                return self._input(Input(name, classes))
            case Negation(inner):
                classes, a = self._relation(inner)
                return self._make(classes, Op.NOT, a, c=self._universe(classes), x=classes)
            case Conjunction(left, right):
                classes, a = self._relation(left)
                return self._make(classes, Op.AND, a, self._scope(term, classes, right), x=classes)
            case Permutation(inner, order):
                return self._permuted(term, *self._relation(inner), order)
            case Closure(inner):
                classes, a = self._relation(inner)
                if len(classes) != 2 or classes[0] != classes[1]:
                    self._misfit(term)
                return self._make(classes, Op.CLOSE, a, x=classes[:1])
            case Restriction():
                return self._restricted(term)
            case Composition(left, right):
                (classes, a), (others, b) = self._relation(left), self._relation(right)
                if not classes or not others or classes[-1] != others[0]:
                    self._misfit(term)
                x, z = classes[:-1], others[1:]
                return self._make(x + z, Op.SOME, a, b, x=x, y=classes[-1:], z=z)
            case Agreement(relation, left, right):
                classes, a = self._relation(left)
                b = self._scope(term, classes, right)
                if not classes or relation not in ("same", "within"):
                    self._misfit(term)
                op, x, y = Op.SAME if relation == "same" else Op.EVERY, classes[:-1], classes[-1:]
                return self._make(x, op, a, b, self._universe(x), x=x, y=y, extra=1)
            case AtLeast(Permutation(inner, order) as turned, least):
                return self._permuted(turned, *self._relation(AtLeast(inner, least)), order)
            case AtLeast(Primitive(name), least):
                return self._input(Input(name, signature(term, self.domain)[0], least))
            case _:
                raise ConceptError(f"{term!r} is not a term")

    def _permuted(self, term: Permutation, classes: Classes, a: int, order: Order) -> int:
        if sorted(order) != list(range(len(classes))):
            self._misfit(term)
        if order == tuple(range(len(order))):
            return a
        if (classes, order) not in self._moves:
            self._moves.append((classes, order))
        move = self._moves.index((classes, order))
        return self._make(tuple([classes[i] for i in order]), Op.MOVE, a, x=classes, extra=move)

    def _restricted(self, term: Restriction) -> int:
        classes, a = self._relation(term.role)
        if not classes or term.quantifier not in ("some", "all"):
            self._misfit(term)
        x, y = classes[:-1], classes[-1:]
        b = self._scope(term, y, term.filler)
        if term.quantifier == "some":
            return self._make(x, Op.SOME, a, b, x=x, y=y, z=())
        return self._make(x, Op.EVERY, a, b, self._universe(x), x=x, y=y)

    def _universe(self, classes: Classes) -> int:
        """U: the tuples of entities that there are in each state."""
        found = self._universes.get(classes)
        if found is None:
            if len(classes) <= 1:
                found = self._input(Input(None, classes))
            else:
                first, rest = self._universe(classes[:-1]), self._universe(classes[-1:])
                found = self._make(classes, Op.OUTER, first, rest, x=classes[:-1], y=classes[-1:])
            self._universes[classes] = found
        return found

    def _input(self, one: Input) -> int:
        """A new input; terms and universes remember theirs."""
        register = self._register(one.classes, 1 << len(self.inputs))
        self.inputs.append(one)
        self._input_registers.append(register)
        return register

    def _register(self, classes: Classes, reads: int, digits: bool = False) -> int:
        self._registers.append(classes)
        self._register_size.append(self._size(Digits(classes) if digits else classes))
        self._reads.append(reads)
        return len(self._registers) - 1

    def _made(self, key: Any, classes: Classes, op: int, a: int, b: int, c: int = -1, **options: Any) -> int:
        """A register that is not a term of its own, made once."""
        if key not in self._known:
            self._known[key] = self._make(classes, op, a, b, c, **options)
        return self._known[key]

    def _make(
        self, classes: Classes, op: int, a: int, b: int = -1, c: int = -1, *, digits: bool = False, **options: Any
    ) -> int:
        reads = self._reads[a]
        for operand in (b, c):
            if operand >= 0:
                reads |= self._reads[operand]
        to = self._register(classes, reads, digits)
        self._emit(op, to, a, b, c, **options)
        return to

    def _emit(
        self, op: int, to: int = -1, a: int = -1, b: int = -1, c: int = -1, *, x: Size = (), y: Size = (), z:
        Size = (), extra: int = 0, more: int = 0,
    ) -> None:  # fmt: skip
        self._code.append((op, to, a, b, c, self._size(x), self._size(y), self._size(z), extra, more))

    def _size(self, of: Size) -> int:
        return self._sizes.setdefault(of, len(self._sizes))

    def _misfit(self, node: Term | Concept) -> NoReturn:
        """The error of the language's own checks, which say what does not fit."""
        if isinstance(node, Term):
            signature(node, self.domain)
        else:
            kind(node, self.domain)
        raise ConceptError(f"{node} does not fit the domain {self.domain.name!r}")


def _measure(size: Size, counts: Mapping[str, int], functions: Sequence[int]) -> int:
    """The number that a size stands for; functions: the tuples of each."""
    if isinstance(size, Start):
        return sum(functions[: size.function])
    if isinstance(size, Digits):
        return prod([counts[c] for c in size.classes]).bit_length()
    return prod([counts[c] for c in size])
