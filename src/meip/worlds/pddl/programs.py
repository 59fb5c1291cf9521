"""Ground conditions and numbers: simplified by what never changes, then bits to test and small postfix programs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

import numpy as np
from numpy.typing import NDArray

from meip.worlds.pddl.conditions import check_choices
from meip.worlds.pddl.objects import Instance, Layout
from meip.worlds.pddl.schemas import negation_normal
from meip.worlds.pddl.syntax import (
    And,
    Arithmetic,
    Atom,
    Compare,
    Condition,
    Equal,
    Not,
    Number,
    Numeric,
    Or,
    Quantified,
    Value,
    Variable,
)

__all__ = ["Computed", "Fact", "Ground", "Grounder", "Joined", "Programs", "join", "static_tables"]

CONST, FACT, NOT_FACT, VALUE, ADD, SUB, MUL, DIV, NEG, LT, LE, EQ, GE, GT, AND, OR, NOT = range(17)
_OPERATORS = {"+": ADD, "-": SUB, "*": MUL, "/": DIV, "<": LT, "<=": LE, "=": EQ, ">=": GE, ">": GT}
Binding = Mapping[str, str]
Code = tuple[tuple[int, int, float], ...]  # (operation, integer, real)


@dataclass(frozen=True, slots=True)
class Fact:
    """A bit that must be set (or not)."""

    bit: int
    positive: bool


@dataclass(frozen=True, slots=True)
class Joined:
    """All, or any, of several ground conditions."""

    all: bool
    parts: tuple[Ground, ...]


@dataclass(frozen=True, slots=True)
class Computed:
    """A comparison of numbers, as a program."""

    code: Code


Ground = bool | Fact | Joined | Computed


def static_tables(instance: Instance) -> dict[str, NDArray[np.bool_]]:
    """Flat tables of the predicates that never change."""
    static = instance.file.predicates.keys() - instance.words.changing
    tables = {name: np.zeros(instance.size(name), dtype=bool) for name in static}
    for atom in instance.problem.atoms:
        if atom.name in static:
            tables[atom.name][instance.code(atom)] = True
    return tables


class Grounder:
    """Grounds conditions and numbers of one problem in one layout."""

    def __init__(self, instance: Instance, layout: Layout) -> None:
        self.instance, self.layout = instance, layout
        self.static = static_tables(instance)
        self.constants = {(v.name, v.args): x for v, x in instance.problem.values.items()}

    def objects(self, variables: tuple[Variable, ...], binding: Binding) -> list[dict[str, str]]:
        """The binding extended by every choice of objects for the variables."""
        names = self.instance.names
        choices = [[names[i] for i in self.instance.of_types(v.types)] for v in variables]
        check_choices([len(objects) for objects in choices], variables)
        return [{**binding, **dict(zip((v.name for v in variables), pick))} for pick in product(*choices)]

    def bit(self, atom: Atom, binding: Binding) -> int:
        """The bit of a changing fact; -1 where it can never become true."""
        return self.layout.fact(atom.name, self.instance.code(atom, binding))

    def condition(self, condition: Condition, binding: Binding) -> Ground:
        """Ground a condition that is in negation normal form."""
        if isinstance(condition, Atom):
            return self._atom(condition, binding, True)
        if isinstance(condition, Equal):
            return _object(condition.left, binding) == _object(condition.right, binding)
        if isinstance(condition, Compare):
            return self._compare(condition, binding)
        if isinstance(condition, Not):
            inner = condition.part
            if isinstance(inner, Atom):
                return self._atom(inner, binding, False)
            return _negated(self.condition(inner, binding))
        if isinstance(condition, And | Or):
            return join(isinstance(condition, And), [self.condition(p, binding) for p in condition.parts])
        if isinstance(condition, Quantified):
            each = [self.condition(condition.body, b) for b in self.objects(condition.variables, binding)]
            return join(condition.quantifier == "forall", each)
        raise TypeError(condition)

    def ground(self, condition: Condition, binding: Binding) -> Ground:
        """Ground any condition."""
        return self.condition(negation_normal(condition), binding)

    def _atom(self, atom: Atom, binding: Binding, positive: bool) -> Ground:
        if atom.name in self.static:
            return bool(self.static[atom.name][self.instance.code(atom, binding)]) == positive
        bit = self.bit(atom, binding)
        return Fact(bit, positive) if bit >= 0 else not positive

    def _compare(self, condition: Compare, binding: Binding) -> Ground:
        left, right = self.number(condition.left, binding), self.number(condition.right, binding)
        operation = _OPERATORS[condition.operator]
        if len(left) == 1 == len(right) and left[0][0] == CONST == right[0][0]:
            one, other = left[0][2], right[0][2]
            results = {LT: one < other, LE: one <= other, EQ: one == other, GE: one >= other, GT: one > other}
            return results[operation]
        return Computed((*left, *right, (operation, 0, 0.0)))

    def number(self, number: Numeric, binding: Binding) -> Code:
        """The program of a number; one constant where nothing in it can change."""
        if isinstance(number, Number):
            return ((CONST, 0, number.value),)
        if isinstance(number, Value):
            if number.name in self.layout.values:
                return ((VALUE, self.target(number, binding), 0.0),)
            args = tuple(_object(a, binding) for a in number.args)
            return ((CONST, 0, self.constants.get((number.name, args), np.nan)),)
        if not isinstance(number, Arithmetic):
            raise TypeError(number)
        parts = [self.number(p, binding) for p in number.parts]
        if len(parts) == 1:
            return _folded((*parts[0], (NEG, 0, 0.0)))
        code = parts[0]
        for part in parts[1:]:
            code = _folded((*code, *part, (_OPERATORS[number.operator], 0, 0.0)))
        return code

    def target(self, value: Value, binding: Binding) -> int:
        """The position of a numeric fluent in the state's numbers."""
        return self.layout.values[value.name] + self.instance.code(value, binding)


def _object(term: str, binding: Binding) -> str:
    return binding[term] if term.startswith("?") else term


def _folded(code: Code) -> Code:
    """Constants computed at once."""
    if len(code) == 2 and code[0][0] == CONST:
        return ((CONST, 0, -code[0][2]),)
    if len(code) == 3 and code[0][0] == CONST == code[1][0]:
        one, other = code[0][2], code[1][2]
        division = one / other if other else np.nan
        results = {ADD: one + other, SUB: one - other, MUL: one * other, DIV: division}
        return ((CONST, 0, results[code[2][0]]),)
    return code


def _negated(ground: Ground) -> Ground:
    if isinstance(ground, bool):
        return not ground
    if isinstance(ground, Fact):
        return Fact(ground.bit, not ground.positive)
    if isinstance(ground, Computed):
        return Computed((*ground.code, (NOT, 0, 0.0)))
    return join(not ground.all, [_negated(p) for p in ground.parts])


def join(every: bool, parts: Sequence[Ground]) -> Ground:
    """All (or any) of the parts, simplified."""
    kept: dict[Ground, None] = {}
    for part in parts:
        if isinstance(part, bool):
            if part != every:
                return part
        elif isinstance(part, Joined) and part.all == every:
            kept.update(dict.fromkeys(part.parts))
        else:
            kept[part] = None
    if len(kept) == 1:
        return next(iter(kept))
    return Joined(every, tuple(kept)) if kept else every


@dataclass
class Programs:
    """Programs, each stored once; arrays for the kernels."""

    number: dict[Code, int] = field(default_factory=dict)

    def add(self, code: Code) -> int:
        return self.number.setdefault(code, len(self.number))

    def condition(self, ground: Ground) -> int:
        """The number of a ground condition's program."""
        return self.add(_emit(ground))

    def arrays(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.float64]]:
        """Where each program starts, and its operations with their integers and reals."""
        starts = np.cumsum([0, *(len(code) for code in self.number)])
        flat = [step for code in self.number for step in code]
        return (
            starts.astype(np.int64),
            np.array([s[0] for s in flat], dtype=np.int64),
            np.array([s[1] for s in flat], dtype=np.int64),
            np.array([s[2] for s in flat], dtype=np.float64),
        )


def _emit(ground: Ground) -> Code:
    if isinstance(ground, bool):
        return ((CONST, 0, float(ground)),)
    if isinstance(ground, Fact):
        return ((FACT if ground.positive else NOT_FACT, ground.bit, 0.0),)
    if isinstance(ground, Computed):
        return ground.code
    code = tuple(step for part in ground.parts for step in _emit(part))
    return (*code, (AND if ground.all else OR, len(ground.parts), 0.0))
