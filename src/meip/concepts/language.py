"""The concept language: one small class for each rule of the grammar (the paper's section on concepts, completed).

::

    C  -> Ca | P(C', C'', ..) | F(C', C'', ..) | number        Composite, Constant
    Ca -> Q V | A V        V -> F D | P D        D -> ext(P) | U      Quantified, Aggregated (D is called scope)
    Q  -> all | some | count        A -> max | min | mean
    P  -> primitive | not P' | P' and P'' | permuted P' | closure P'*
       |  some R.P' | all R.P' | R . S                                Restriction, Composition
       |  P same P_goal | P within P_goal                             Agreement
       |  F >= number                                                 AtLeast

Terms (P, F) denote relations between the entities of one state; concepts (C) denote one value per state.
`str` writes a node as text that parses back to it, with no more parentheses than it needs.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from meip.base.errors import ConceptError
from meip.concepts.operations import KEYWORDS, Operation, is_bare_name, operations

__all__ = [
    "MAX_DEPTH", "Aggregated", "Aggregator", "Agreement", "AtLeast", "Closure", "Composite", "Composition", "Concept",
    "Conjunction", "Constant", "Negation", "Node", "Permutation", "Primitive", "Quantified", "Quantifier",
    "Restriction", "Term", "atoms", "constants", "exactly", "quote", "walk",
]  # fmt: skip

Quantifier = Literal["all", "some", "count"]
Aggregator = Literal["max", "min", "mean"]

MAX_DEPTH = 100
"""Deeper trees are refused, so that nothing that walks one can exhaust the stack."""

# How tightly the forms of a term bind.
_AND, _COMPOSE, _PREFIX, _POSTFIX = range(1, 5)
_CLOSED = 10**9


class Node:
    """A node of the syntax tree: immutable, with its hash, depth and complexity computed once, when it is made."""

    complexity: int
    """The number of primitive occurrences, and of numbers that a term names."""
    depth: int
    size: int
    """The number of nodes."""

    children: tuple[Node, ...]
    """The terms and concepts this one is directly made of."""

    def __post_init__(self) -> None:
        fields = tuple(self.__dict__.values())  # just the fields, in order
        children = tuple([value for value in fields if isinstance(value, Node)]) or self._operands()
        depth = complexity = 0
        size = 1
        for child in children:
            size += child.size
            complexity += child.complexity
            if child.depth > depth:
                depth = child.depth
        if depth >= MAX_DEPTH:
            raise ConceptError(
                f"nested more than {MAX_DEPTH} deep: combine fewer parts, or name a fluent for some of them"
            )
        self.__dict__.update(
            _fields=fields,
            children=children,
            depth=depth + 1,
            size=size,
            complexity=complexity + isinstance(self, Primitive | AtLeast),
            _hash=hash((type(self).__name__, *fields)),
        )

    def _operands(self) -> tuple[Node, ...]:
        return ()

    def __hash__(self) -> int:
        return int(self.__dict__["_hash"])

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(self) is not type(other) or hash(self) != hash(other):
            return False
        return bool(self.__dict__["_fields"] == other.__dict__["_fields"])

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), self.__dict__["_fields"]  # hashes of strings differ between processes: never pickle them

    def __str__(self) -> str:
        try:
            return str(self.__dict__["_text"])
        except KeyError:
            text = self.__dict__["_text"] = self._write()
            return text

    def _write(self) -> str:
        raise NotImplementedError

    @property
    def _binding(self) -> int:
        return _CLOSED

    def _within(self, binding: int) -> str:
        """This node as an operand of something that binds this tightly."""
        return str(self) if self._binding >= binding else f"({self})"


def quote(name: str) -> str:
    """A name as it is written in a concept: in backticks if it is a keyword or has unusual characters."""
    return name if is_bare_name(name) else f"`{name}`"


class Term(Node):
    """A relation or function over entities: P and F of the grammar."""


@dataclass(frozen=True, eq=False)
class Primitive(Term):
    """A fluent of the domain: ``on``."""

    name: str

    def _write(self) -> str:
        return quote(self.name)


@dataclass(frozen=True, eq=False)
class Negation(Term):
    """``not clear``."""

    term: Term

    @property
    def _binding(self) -> int:
        return _PREFIX

    def _write(self) -> str:
        return f"not {self.term._within(_PREFIX)}"


@dataclass(frozen=True, eq=False)
class Conjunction(Term):
    """``on and on_goal``: same classes on both sides."""

    left: Term
    right: Term

    @property
    def _binding(self) -> int:
        return _AND

    def _write(self) -> str:
        return f"{self.left._within(_AND)} and {self.right._within(_COMPOSE)}"


@dataclass(frozen=True, eq=False)
class Permutation(Term):
    """``inverse(on)``, ``permute(between, 3 1 2)``: argument i of the result is argument order[i] (from 0) of the term.

    Classes move with their arguments.
    """

    term: Term
    order: tuple[int, ...]

    def _write(self) -> str:
        if self.order == (1, 0):
            return f"inverse({self.term})"
        return f"permute({self.term}, {' '.join(str(i + 1) for i in self.order)})"


@dataclass(frozen=True, eq=False)
class Closure(Term):
    """``on*``: the transitive closure of a binary term over one class."""

    term: Term

    @property
    def _binding(self) -> int:
        return _POSTFIX

    def _write(self) -> str:
        return f"{self.term._within(_POSTFIX)}*"


@dataclass(frozen=True, eq=False)
class Restriction(Term):
    """``some on.clear``, ``all on.U``: {(x..) : for some (all) y with R(x.., y), filler(y)}; drops the last argument.

    The filler None is U, every entity.
    """

    quantifier: Literal["some", "all"]
    role: Term
    filler: Term | None

    @property
    def _binding(self) -> int:
        return _PREFIX

    def _write(self) -> str:
        filler = "U" if self.filler is None else self.filler._within(_PREFIX)
        return f"{self.quantifier} {self.role._within(_POSTFIX)}.{filler}"


@dataclass(frozen=True, eq=False)
class Composition(Term):
    """``on . at``: {(x.., z..) : for some y, R(x.., y) and S(y, z..)}."""

    left: Term
    right: Term

    @property
    def _binding(self) -> int:
        return _COMPOSE

    def _write(self) -> str:
        return f"{self.left._within(_COMPOSE)} . {self.right._within(_PREFIX)}"


@dataclass(frozen=True, eq=False)
class Agreement(Term):
    """``same(on, on_goal)``, ``within(on_goal, on)``: {(x..) : the sets {y : left(x.., y)} and right's are equal
    (left's is included in right's)}; drops the last argument."""

    relation: Literal["same", "within"]
    left: Term
    right: Term

    def _write(self) -> str:
        return f"{self.relation}({self.left}, {self.right})"


@dataclass(frozen=True, eq=False)
class AtLeast(Term):
    """``moisture >= 0.5``: the entities of which a function is at least so much."""

    term: Term
    number: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "number", _finite(self.number))
        super().__post_init__()

    @property
    def _binding(self) -> int:
        return _POSTFIX

    def _write(self) -> str:
        return f"{self.term._within(_POSTFIX)} >= {_written(self.number)}"


class Concept(Node):
    """A value for each state: C of the grammar."""


@dataclass(frozen=True, eq=False)
class Quantified(Concept):
    """``all(clear)``, ``some(on | on_goal)``, ``count(holding)``: over the tuples of the scope, how many are in value.

    The scope None is U: all tuples of entities of the value's classes.
    """

    quantifier: Quantifier
    value: Term
    scope: Term | None = None

    def _write(self) -> str:
        return f"{self.quantifier}({_scoped(self.value, self.scope)})"


@dataclass(frozen=True, eq=False)
class Aggregated(Concept):
    """``max(weight)``, ``mean(length | folded)``: over the tuples of the scope; missing where there are none.

    Of a predicate, ``mean`` is the share of tuples that are in it.
    """

    aggregator: Aggregator
    value: Term
    scope: Term | None = None

    def _write(self) -> str:
        return f"{self.aggregator}({_scoped(self.value, self.scope)})"


@dataclass(frozen=True, eq=False)
class Constant(Concept):
    """A number, as in ``count(clay) = 4``."""

    value: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", _finite(self.value))
        super().__post_init__()

    def _write(self) -> str:
        return _written(self.value)


@dataclass(frozen=True, eq=False)
class Composite(Concept):
    """An operation on the values of concepts: ``some(a) and not all(b)``, ``table[count(a), count(b)]``."""

    operation: str
    arguments: tuple[Concept, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", tuple(self.arguments))
        super().__post_init__()

    def _operands(self) -> tuple[Node, ...]:
        return self.arguments

    def __str__(self) -> str:
        return self._write()  # not cached: operations may be registered later

    @property
    def _symbolic(self) -> Operation | None:
        """The operation, if this is written with its symbol rather than with brackets."""
        known = next((o for o in operations() if o.name == self.operation), None)
        count = len(self.arguments)
        return known if known is not None and (known.infix(count) or (known.prefix and count == 1)) else None

    @property
    def _binding(self) -> int:
        symbolic = self._symbolic
        return _CLOSED if symbolic is None else symbolic.precedence

    def _write(self) -> str:
        symbolic = self._symbolic
        if symbolic is None:
            name = self.operation if self.operation in KEYWORDS else quote(self.operation)
            return f"{name}[{', '.join(str(a) for a in self.arguments)}]"
        if symbolic.prefix:
            (only,) = self.arguments
            chained = isinstance(only, Composite) and len(only.arguments) == 1
            return f"{symbolic.symbol} {only._within(symbolic.precedence + (not chained))}"
        left, right = self.arguments
        own, turned = symbolic.precedence, symbolic.right_associative
        other = left._symbolic if isinstance(left, Composite) else None
        tighter = turned or (other is not None and other.right_associative)
        return f"{left._within(own + tighter)} {symbolic.symbol} {right._within(own + (not turned))}"


def _finite(value: float) -> float:
    if not math.isfinite(value):
        raise ConceptError(f"a constant in a concept must be a finite number, not {value}")
    return float(value) + 0.0  # -0 becomes 0


def _written(value: float) -> str:
    return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)


def _scoped(value: Term, scope: Term | None) -> str:
    return str(value) if scope is None else f"{value} | {scope}"


def exactly(concept: Concept, k: int) -> Composite:
    """``concept = k``: the indicator of one value of a count, usually one seen in demonstrations."""
    return Composite("=", (concept, Constant(k)))


def walk(node: Node) -> Iterator[Node]:
    """A node and everything below it, parents first, left to right."""
    stack = [node]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(reversed(node.children))


def atoms(concept: Concept) -> tuple[Quantified | Aggregated, ...]:
    """The atomic concepts that a concept is made of, each once, in order of appearance."""
    found = dict.fromkeys(n for n in walk(concept) if isinstance(n, Quantified | Aggregated))
    return tuple(found)


def constants(concept: Concept) -> tuple[float, ...]:
    """The numbers that a concept names: each has a price of its own, apart from complexity."""
    numbers = [
        n.value if isinstance(n, Constant) else n.number for n in walk(concept) if isinstance(n, Constant | AtLeast)
    ]
    return tuple(numbers)
