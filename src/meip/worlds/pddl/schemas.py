"""Actions in normal form: literals to join and test, the rest as a condition, effects as lists of outcomes."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from meip.base.errors import BudgetError
from meip.worlds.pddl.syntax import (
    FALSE,
    TRUE,
    ActionSchema,
    And,
    Assign,
    Atom,
    Chance,
    Condition,
    Effect,
    Equal,
    ForAll,
    Literal,
    Not,
    Or,
    Quantified,
    Together,
    Variable,
    When,
)

__all__ = ["Change", "Conjunct", "Schema", "conjunction", "negation_normal", "normalise"]

MAX_OUTCOMES = 4096


@dataclass(frozen=True)
class Conjunct:
    """A conjunction: atoms that must hold, atoms that must not, (in)equalities, and whatever else."""

    positive: tuple[Atom, ...]
    negative: tuple[Atom, ...]
    equalities: tuple[tuple[str, str, bool], ...]
    rest: tuple[Condition, ...]


@dataclass(frozen=True)
class Change:
    """Literals and assignments that happen under one condition, for all objects that the variables can be."""

    variables: tuple[Variable, ...]
    condition: Condition
    literals: tuple[Literal, ...]
    assignments: tuple[Assign, ...]

    @property
    def is_simple(self) -> bool:
        """Can it be grounded for all bindings at once?"""
        return not self.variables and self.condition == TRUE and not self.assignments


@dataclass(frozen=True)
class Schema:
    """A lifted action, ready to be grounded."""

    name: str
    parameters: tuple[Variable, ...]
    condition: Conjunct
    outcomes: tuple[tuple[float, tuple[Change, ...]], ...]

    @property
    def is_simple(self) -> bool:
        return not self.condition.rest and all(c.is_simple for _, changes in self.outcomes for c in changes)


def negation_normal(condition: Condition, positive: bool = True) -> Condition:
    """The condition (or its negation) with `not` only in front of atoms and comparisons."""
    if isinstance(condition, Not):
        return negation_normal(condition.part, not positive)
    if isinstance(condition, And | Or):
        parts = tuple(negation_normal(p, positive) for p in condition.parts)
        return And(parts) if isinstance(condition, And) == positive else Or(parts)
    if isinstance(condition, Quantified):
        kind = condition.quantifier if positive else ("exists" if condition.quantifier == "forall" else "forall")
        return Quantified(kind, condition.variables, negation_normal(condition.body, positive))
    return condition if positive else Not(condition)


def conjunction(condition: Condition) -> Conjunct:
    """Split a condition into what can be joined and tested by bits, and the rest."""
    positive: dict[Atom, None] = {}
    negative: dict[Atom, None] = {}
    equalities: list[tuple[str, str, bool]] = []
    rest: list[Condition] = []
    todo = [negation_normal(condition)]
    while todo:
        part = todo.pop(0)
        if isinstance(part, And):
            todo = [*part.parts, *todo]
        elif isinstance(part, Atom):
            positive[part] = None
        elif isinstance(part, Not) and isinstance(part.part, Atom):
            negative[part.part] = None
        elif isinstance(part, Equal):
            equalities.append((part.left, part.right, True))
        elif isinstance(part, Not) and isinstance(part.part, Equal):
            equalities.append((part.part.left, part.part.right, False))
        elif isinstance(part, Or) and len(part.parts) == 1:
            todo = [part.parts[0], *todo]
        else:
            rest.append(part)
    return Conjunct(tuple(positive), tuple(negative), tuple(equalities), tuple(rest))


def normalise(action: ActionSchema) -> Schema:
    """An action in normal form. Independent probabilistic effects are multiplied out."""
    outcomes = _outcomes(action.effect, (), TRUE, action.name)
    merged = tuple((p, _merged(changes)) for p, changes in outcomes if p > 0)
    return Schema(action.name, action.parameters, conjunction(action.precondition), merged)


_Outcomes = list[tuple[float, tuple[Change, ...]]]


def _outcomes(effect: Effect, variables: tuple[Variable, ...], condition: Condition, name: str) -> _Outcomes:
    if isinstance(effect, Literal):
        return [(1.0, (Change(variables, condition, (effect,), ()),))]
    if isinstance(effect, Assign):
        return [(1.0, (Change(variables, condition, (), (effect,)),))]
    if isinstance(effect, When):
        both = effect.condition if condition == TRUE else And((condition, effect.condition))
        return _outcomes(effect.effect, variables, both, name)
    if isinstance(effect, ForAll):
        found = _outcomes(effect.effect, (*variables, *effect.variables), condition, name)
        if len(found) > 1:
            raise BudgetError(
                f"action {name!r}: a probabilistic effect inside forall has as many outcomes as there are subsets of "
                "objects, which is not supported; put the probabilistic effect outside of forall, or name the objects"
            )
        return found
    if isinstance(effect, Chance):
        listed: _Outcomes = []
        for p, part in effect.outcomes:
            listed += [(p * q, changes) for q, changes in _outcomes(part, variables, condition, name)]
        left = 1.0 - sum(p for p, _ in effect.outcomes)
        return [*listed, (left, ())] if left > 1e-9 else listed
    parts = effect.parts if isinstance(effect, Together) else ()
    total: _Outcomes = [(1.0, ())]
    for part in parts:
        more = _outcomes(part, variables, condition, name)
        if len(total) * len(more) > MAX_OUTCOMES:
            raise BudgetError(f"action {name!r} has more than {MAX_OUTCOMES} outcomes; write fewer independent chances")
        total = [(p * q, (*one, *other)) for (p, one), (q, other) in product(total, more)]
    return total


def _merged(changes: tuple[Change, ...]) -> tuple[Change, ...]:
    """Changes under the same condition and variables as one."""
    groups: dict[tuple[tuple[Variable, ...], Condition], list[Change]] = {}
    for change in changes:
        if change.condition != FALSE:
            groups.setdefault((change.variables, change.condition), []).append(change)
    return tuple(
        Change(
            variables,
            condition,
            tuple(literal for c in group for literal in c.literals),
            tuple(assign for c in group for assign in c.assignments),
        )
        for (variables, condition), group in groups.items()
    )
