"""From a PDDL domain to our Domain: disjoint classes of entities, static type predicates, goal copies.

Types that can stand in the same argument belong to one class; what tells them apart becomes a static unary predicate,
and so does every constant of the domain (the concept language names no objects). The result depends on the domain
file only, so that concepts mean the same in all of its problems.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from meip.model.domain import Domain, EntityClass, Fluent
from meip.worlds.pddl.syntax import (
    And,
    Arithmetic,
    Assign,
    Chance,
    Compare,
    Condition,
    DomainFile,
    Effect,
    ForAll,
    Literal,
    Not,
    Numeric,
    Or,
    Quantified,
    Together,
    Value,
    Variable,
    When,
    effect_leaves,
)

__all__ = ["COST", "Vocabulary", "vocabulary"]

COST = "total-cost"


@dataclass(frozen=True)
class Vocabulary:
    """Our Domain of a PDDL domain, and how its types, constants and fluents are found in it."""

    domain: Domain
    class_of: Mapping[str, str]  # type -> class; types whose objects no fluent can mention are left out
    type_predicates: Mapping[str, str]  # type -> static unary predicate
    constant_predicates: Mapping[str, str]  # constant -> static unary predicate
    changing: frozenset[str]  # predicates that some action changes
    varying: frozenset[str]  # numeric functions that are part of a state
    has_cost: bool  # total-cost is only ever added to: a property of actions, not of states


def vocabulary(file: DomainFile) -> Vocabulary:
    """Our Domain of a PDDL domain."""
    leaves = [leaf for action in file.actions.values() for leaf in effect_leaves(action.effect)]
    changing = frozenset(leaf.atom.name for leaf in leaves if isinstance(leaf, Literal))
    assigned = frozenset(leaf.target.name for leaf in leaves if isinstance(leaf, Assign))
    has_cost = COST in assigned and _is_only_added(file, assigned)
    varying = assigned - ({COST} if has_cost else set())
    class_of = _classes(file)
    names = list(dict.fromkeys(class_of.values()))
    taken = set(file.predicates) | set(file.functions)
    members: dict[str, list[str]] = {name: [t for t in class_of if class_of[t] == name] for name in names}
    type_predicates = {
        t: _fresh(t, taken, "-type") for name in names for t in members[name] if t != name and len(members[name]) > 1
    }
    constants = {
        c: _fresh(c, taken, "-constant") for c, types in file.constants.items() if class_of.get(types[0]) is not None
    }
    fluents = [
        Fluent(p.name, _signature(class_of, p.arguments), static=p.name not in changing)
        for p in file.predicates.values()
    ]
    fluents += [Fluent(name, (class_of[t],), static=True) for t, name in type_predicates.items()]
    fluents += [Fluent(name, (class_of[file.constants[c][0]],), static=True) for c, name in constants.items()]
    fluents += [
        Fluent(f.name, _signature(class_of, f.arguments), real=True, static=f.name not in varying)
        for f in file.functions.values()
        if not (has_cost and f.name == COST)
    ]
    domain = Domain(file.name, tuple(EntityClass(n) for n in names), tuple(fluents)).with_goals(
        sorted(changing, key=list(file.predicates).index)
    )
    return Vocabulary(domain, class_of, type_predicates, constants, changing, varying, has_cost)


def _fresh(name: str, taken: set[str], suffix: str) -> str:
    while name in taken or name + "_goal" in taken:
        name += suffix
    taken.add(name)
    return name


def _signature(class_of: Mapping[str, str], arguments: Iterable[Variable]) -> tuple[str, ...]:
    return tuple(class_of[a.types[0]] for a in arguments)


def _classes(file: DomainFile) -> dict[str, str]:
    """Types joined wherever one argument, parameter or variable may be of either; named by the topmost."""
    used = list(_variables(file))
    leader = {t: t for t in file.types}

    def find(t: str) -> str:
        while leader[t] != t:
            t = leader[t]
        return t

    relevant: set[str] = set()
    below: dict[str, list[str]] = {t: [] for t in file.types}
    for t in file.types:
        for above in file.ancestors(t):
            below[above].append(t)
    for variable in used:
        together = [t for wanted in variable.types for t in below[wanted]]
        relevant.update(together)
        for t in together[1:]:
            leader[find(t)] = find(together[0])
    groups: dict[str, list[str]] = {}
    for t in file.types:
        if t in relevant:
            groups.setdefault(find(t), []).append(t)
    class_of: dict[str, str] = {}
    for group in groups.values():
        tops = [t for t in group if not any(a in group and a != t for a in file.ancestors(t))]
        class_of.update(dict.fromkeys(group, "-or-".join(tops)))
    return class_of


def _variables(file: DomainFile) -> Iterator[Variable]:
    for symbol in (*file.predicates.values(), *file.functions.values()):
        yield from symbol.arguments
    for action in file.actions.values():
        yield from action.parameters
        yield from _condition_variables(action.precondition)
        yield from _effect_variables(action.effect)


def _condition_variables(condition: Condition) -> Iterator[Variable]:
    if isinstance(condition, And | Or):
        for part in condition.parts:
            yield from _condition_variables(part)
    elif isinstance(condition, Not):
        yield from _condition_variables(condition.part)
    elif isinstance(condition, Quantified):
        yield from condition.variables
        yield from _condition_variables(condition.body)


def _effect_variables(effect: Effect) -> Iterator[Variable]:
    if isinstance(effect, ForAll):
        yield from effect.variables
        yield from _effect_variables(effect.effect)
    elif isinstance(effect, When):
        yield from _condition_variables(effect.condition)
        yield from _effect_variables(effect.effect)
    elif isinstance(effect, Together):
        for part in effect.parts:
            yield from _effect_variables(part)
    elif isinstance(effect, Chance):
        for _, part in effect.outcomes:
            yield from _effect_variables(part)


def _is_only_added(file: DomainFile, assigned: frozenset[str]) -> bool:
    """Is total-cost only increased, by amounts that no action changes, and never read?"""
    for action in file.actions.values():
        conditions = [action.precondition, *_effect_conditions(action.effect)]
        if any(COST in _values_of(c) for c in conditions):
            return False
        for leaf in effect_leaves(action.effect):
            if isinstance(leaf, Assign):
                read = set(_numeric_values(leaf.amount))
                if COST in read or (leaf.target.name == COST and (leaf.operator != "increase" or read & assigned)):
                    return False
    return not file.functions[COST].arguments


def _effect_conditions(effect: Effect) -> Iterator[Condition]:
    if isinstance(effect, When):
        yield effect.condition
        yield from _effect_conditions(effect.effect)
    elif isinstance(effect, ForAll):
        yield from _effect_conditions(effect.effect)
    elif isinstance(effect, Together):
        for part in effect.parts:
            yield from _effect_conditions(part)
    elif isinstance(effect, Chance):
        for _, part in effect.outcomes:
            yield from _effect_conditions(part)


def _values_of(condition: Condition) -> set[str]:
    if isinstance(condition, Compare):
        return {*_numeric_values(condition.left), *_numeric_values(condition.right)}
    if isinstance(condition, And | Or):
        return {name for part in condition.parts for name in _values_of(part)}
    if isinstance(condition, Not):
        return _values_of(condition.part)
    if isinstance(condition, Quantified):
        return _values_of(condition.body)
    return set()


def _numeric_values(number: Numeric) -> Iterator[str]:
    if isinstance(number, Value):
        yield number.name
    elif isinstance(number, Arithmetic):
        for part in number.parts:
            yield from _numeric_values(part)
