"""Conditions evaluated on named facts, one state at a time: slow and plain, for explanations and as an oracle."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from meip.base.errors import BudgetError
from meip.worlds.pddl.syntax import (
    And,
    Arithmetic,
    Atom,
    Compare,
    Condition,
    DomainFile,
    Equal,
    Not,
    Number,
    Numeric,
    Or,
    Quantified,
    Value,
    Variable,
)

__all__ = ["Situation", "check_choices", "substitute", "unmet"]

MAX_CHOICES = 1_000_000

Binding = Mapping[str, str]


def check_choices(counts: Sequence[int], variables: Sequence[Variable]) -> None:
    """Refuse variables for which there are more choices of objects than can be gone through."""
    if math.prod(counts) > MAX_CHOICES:
        raise BudgetError(
            f"forall or exists over {', '.join(v.name for v in variables)}: {math.prod(counts):,} choices of objects, "
            f"{MAX_CHOICES:,} at most; type the variables more narrowly, or use fewer of them or fewer objects"
        )


@dataclass(frozen=True)
class Situation:
    """A state by name: its true atoms, its numbers, and the objects with their types."""

    domain: DomainFile
    objects: Mapping[str, tuple[str, ...]]
    atoms: frozenset[Atom]
    values: Mapping[Value, float]

    def bindings(self, variables: tuple[Variable, ...], binding: Binding) -> Iterator[dict[str, str]]:
        """The binding extended by each choice of objects."""
        choices = [[o for o, t in self.objects.items() if self.domain.is_a(t, v.types)] for v in variables]
        check_choices([len(objects) for objects in choices], variables)
        for pick in product(*choices):
            yield {**binding, **dict(zip((v.name for v in variables), pick, strict=True))}

    def holds(self, condition: Condition, binding: Binding) -> bool:
        """Is the condition true here?"""
        if isinstance(condition, Atom):
            return Atom(condition.name, _terms(condition.args, binding)) in self.atoms
        if isinstance(condition, Equal):
            left, right = _terms((condition.left, condition.right), binding)
            return left == right
        if isinstance(condition, Not):
            return not self.holds(condition.part, binding)
        if isinstance(condition, And):
            return all(self.holds(p, binding) for p in condition.parts)
        if isinstance(condition, Or):
            return any(self.holds(p, binding) for p in condition.parts)
        if isinstance(condition, Quantified):
            each = (self.holds(condition.body, b) for b in self.bindings(condition.variables, binding))
            return all(each) if condition.quantifier == "forall" else any(each)
        if isinstance(condition, Compare):
            one, other = self.number(condition.left, binding), self.number(condition.right, binding)
            results = {"<": one < other, "<=": one <= other, "=": one == other, ">=": one >= other, ">": one > other}
            return results[condition.operator]
        raise TypeError(condition)

    def number(self, number: Numeric, binding: Binding) -> float:
        """The value of an expression; NaN where something in it is undefined."""
        if isinstance(number, Number):
            return number.value
        if isinstance(number, Value):
            return self.values.get(Value(number.name, _terms(number.args, binding)), math.nan)
        if not isinstance(number, Arithmetic):
            raise TypeError(number)
        parts = [self.number(p, binding) for p in number.parts]
        if len(parts) == 1:
            return -parts[0]
        total = parts[0]
        for part in parts[1:]:
            total = _apply(number.operator, total, part)
        return total


def _apply(operator: str, one: float, other: float) -> float:
    if operator == "/":
        return one / other if other else math.nan
    return {"+": one + other, "-": one - other, "*": one * other}[operator]


def _terms(terms: tuple[str, ...], binding: Binding) -> tuple[str, ...]:
    return tuple(binding.get(t, t) for t in terms)


def unmet(situation: Situation, condition: Condition, binding: Binding) -> Condition | None:
    """The first conjunct that is false here, with the objects in place of the variables; None where all hold."""
    if isinstance(condition, And):
        for part in condition.parts:
            found = unmet(situation, part, binding)
            if found is not None:
                return found
        return None
    return None if situation.holds(condition, binding) else substitute(condition, binding)


def substitute(condition: Condition, binding: Binding) -> Condition:
    """The condition with objects in place of its free variables."""
    if isinstance(condition, Atom):
        return Atom(condition.name, _terms(condition.args, binding))
    if isinstance(condition, Equal):
        return Equal(*_terms((condition.left, condition.right), binding))
    if isinstance(condition, Not):
        return Not(substitute(condition.part, binding))
    if isinstance(condition, And):
        return And(tuple(substitute(p, binding) for p in condition.parts))
    if isinstance(condition, Or):
        return Or(tuple(substitute(p, binding) for p in condition.parts))
    if isinstance(condition, Quantified):
        return Quantified(condition.quantifier, condition.variables, substitute(condition.body, binding))
    if isinstance(condition, Compare):
        return Compare(condition.operator, _number(condition.left, binding), _number(condition.right, binding))
    return condition


def _number(number: Numeric, binding: Binding) -> Numeric:
    if isinstance(number, Value):
        return Value(number.name, _terms(number.args, binding))
    if isinstance(number, Arithmetic):
        return Arithmetic(number.operator, tuple(_number(p, binding) for p in number.parts))
    return number
