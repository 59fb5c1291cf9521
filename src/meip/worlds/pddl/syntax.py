"""What a PDDL file says, as a small tree: one frozen class for each rule of the language.

::

    condition  Atom | Equal | Compare | Not | And | Or | Quantified      (imply is read as Or(Not, ..))
    number     Number | Value | Arithmetic
    effect     Literal | Assign | When | ForAll | Together | Chance

`str` of a node is its PDDL text. Terms are plain words; those that start with ``?`` are variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal as Choice

__all__ = [
    "FALSE", "TRUE", "ActionSchema", "And", "Arithmetic", "Assign", "Atom", "Chance", "Compare", "Condition",
    "DomainFile", "Effect", "Equal", "ForAll", "Literal", "Not", "Number", "Numeric", "Or", "ProblemFile",
    "Quantified", "Symbol", "Together", "Value", "Variable", "When", "effect_leaves",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Variable:
    """A typed variable or argument; more than one type is ``(either ..)``."""

    name: str
    types: tuple[str, ...] = ("object",)

    def __str__(self) -> str:
        kind = self.types[0] if len(self.types) == 1 else f"(either {' '.join(self.types)})"
        return f"{self.name} - {kind}"


class Condition:
    """True or false in a state."""

    __slots__ = ()


class Numeric:
    """A number in a state."""

    __slots__ = ()


class Effect:
    """A change of the state."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Atom(Condition):
    name: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


@dataclass(frozen=True, slots=True)
class Equal(Condition):
    """The same object."""

    left: str
    right: str

    def __str__(self) -> str:
        return f"(= {self.left} {self.right})"


@dataclass(frozen=True, slots=True)
class Compare(Condition):
    """A comparison of numbers; false where either is undefined."""

    operator: str  # < <= = >= >
    left: Numeric
    right: Numeric

    def __str__(self) -> str:
        return f"({self.operator} {self.left} {self.right})"


@dataclass(frozen=True, slots=True)
class Not(Condition):
    part: Condition

    def __str__(self) -> str:
        return f"(not {self.part})"


@dataclass(frozen=True, slots=True)
class And(Condition):
    parts: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return f"(and{''.join(f' {p}' for p in self.parts)})"


@dataclass(frozen=True, slots=True)
class Or(Condition):
    parts: tuple[Condition, ...] = ()

    def __str__(self) -> str:
        return f"(or{''.join(f' {p}' for p in self.parts)})"


@dataclass(frozen=True, slots=True)
class Quantified(Condition):
    quantifier: Choice["forall", "exists"]
    variables: tuple[Variable, ...]
    body: Condition

    def __str__(self) -> str:
        return f"({self.quantifier} ({' '.join(map(str, self.variables))}) {self.body})"


TRUE = And(())
FALSE = Or(())


@dataclass(frozen=True, slots=True)
class Number(Numeric):
    value: float

    def __str__(self) -> str:
        return f"{self.value:g}"


@dataclass(frozen=True, slots=True)
class Value(Numeric):
    """The value of a numeric fluent."""

    name: str
    args: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"({' '.join((self.name, *self.args))})"


@dataclass(frozen=True, slots=True)
class Arithmetic(Numeric):
    operator: str  # + - * /
    parts: tuple[Numeric, ...]  # one part: minus it

    def __str__(self) -> str:
        return f"({self.operator}{''.join(f' {p}' for p in self.parts)})"


@dataclass(frozen=True, slots=True)
class Literal(Effect):
    """An atom becomes true (or false)."""

    atom: Atom
    positive: bool = True

    def __str__(self) -> str:
        return str(self.atom) if self.positive else f"(not {self.atom})"


@dataclass(frozen=True, slots=True)
class Assign(Effect):
    operator: str  # assign increase decrease scale-up scale-down
    target: Value
    amount: Numeric

    def __str__(self) -> str:
        return f"({self.operator} {self.target} {self.amount})"


@dataclass(frozen=True, slots=True)
class When(Effect):
    condition: Condition
    effect: Effect

    def __str__(self) -> str:
        return f"(when {self.condition} {self.effect})"


@dataclass(frozen=True, slots=True)
class ForAll(Effect):
    variables: tuple[Variable, ...]
    effect: Effect

    def __str__(self) -> str:
        return f"(forall ({' '.join(map(str, self.variables))}) {self.effect})"


@dataclass(frozen=True, slots=True)
class Together(Effect):
    """``(and e1 e2 ..)``."""

    parts: tuple[Effect, ...] = ()

    def __str__(self) -> str:
        return f"(and{''.join(f' {p}' for p in self.parts)})"


@dataclass(frozen=True, slots=True)
class Chance(Effect):
    """``(probabilistic p1 e1 ..)``; what is left of 1 changes nothing."""

    outcomes: tuple[tuple[float, Effect], ...]

    def __str__(self) -> str:
        return f"(probabilistic{''.join(f' {p:.17g} {e}' for p, e in self.outcomes)})"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A declared predicate or numeric function."""

    name: str
    arguments: tuple[Variable, ...] = ()

    @property
    def arity(self) -> int:
        return len(self.arguments)


@dataclass(frozen=True, slots=True)
class ActionSchema:
    name: str
    parameters: tuple[Variable, ...]
    precondition: Condition
    effect: Effect


@dataclass(frozen=True)
class DomainFile:
    """A PDDL domain. `types` maps each type to its parents; ``object`` is the root."""

    name: str
    types: Mapping[str, tuple[str, ...]]
    constants: Mapping[str, tuple[str, ...]]
    predicates: Mapping[str, Symbol]
    functions: Mapping[str, Symbol]
    actions: Mapping[str, ActionSchema]
    requirements: tuple[str, ...] = ()
    source: str = ""

    def ancestors(self, name: str) -> frozenset[str]:
        """A type and every type above it."""
        found, todo = set[str](), [name]
        while todo:
            one = todo.pop()
            if one not in found:
                found.add(one)
                todo.extend(self.types.get(one, ()))
        return frozenset(found | {"object"})

    def is_a(self, types: tuple[str, ...], wanted: tuple[str, ...]) -> bool:
        """Is an object of one of these types always of a wanted one?"""
        return all(self.ancestors(t) & set(wanted) for t in types)

    def overlap(self, one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        """May an object be of a type of both sides?"""
        for name in self.types:
            above = self.ancestors(name)
            if above & set(one) and above & set(other):
                return True
        return "object" in one or "object" in other


@dataclass(frozen=True)
class ProblemFile:
    """A PDDL problem: objects (without the domain's constants), what is true at first, the goal."""

    name: str
    domain: str
    objects: Mapping[str, tuple[str, ...]]
    atoms: tuple[Atom, ...]
    values: Mapping[Value, float]
    goal: Condition
    metric: tuple[str, Numeric] | None = None  # ("minimize", expression)
    source: str = ""

    def all_objects(self, domain: DomainFile) -> dict[str, tuple[str, ...]]:
        """Constants first, then the problem's own objects."""
        return {**domain.constants, **self.objects}


def effect_leaves(effect: Effect) -> Iterator[Literal | Assign]:
    """Every change that an effect may make."""
    if isinstance(effect, Literal | Assign):
        yield effect
    elif isinstance(effect, When | ForAll):
        yield from effect_leaves(effect.effect)
    elif isinstance(effect, Together):
        for part in effect.parts:
            yield from effect_leaves(part)
    elif isinstance(effect, Chance):
        for _, part in effect.outcomes:
            yield from effect_leaves(part)
