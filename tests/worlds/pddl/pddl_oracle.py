"""Successors computed by name, straight from the tree: slow, and independent of the engine."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator

from meip.worlds.pddl.conditions import Situation
from meip.worlds.pddl.plans import step_text
from meip.worlds.pddl.syntax import Assign, Chance, Effect, ForAll, Literal, Together, When


def outcomes(
    here: Situation, effect: Effect, binding: dict[str, str]
) -> Iterator[tuple[float, list[tuple[object, dict[str, str]]]]]:
    """The possible sets of changes of an effect, with probabilities."""
    if isinstance(effect, Literal | Assign):
        yield 1.0, [(effect, binding)]
    elif isinstance(effect, When):
        if here.holds(effect.condition, binding):
            yield from outcomes(here, effect.effect, binding)
        else:
            yield 1.0, []
    elif isinstance(effect, Chance):
        left = 1.0
        for p, part in effect.outcomes:
            left -= p
            for q, changes in outcomes(here, part, binding):
                yield p * q, changes
        if left > 1e-9:
            yield left, []
    else:
        if isinstance(effect, ForAll):
            parts = [(effect.effect, b) for b in here.bindings(effect.variables, binding)]
        else:
            assert isinstance(effect, Together)
            parts = [(p, binding) for p in effect.parts]
        total: list[tuple[float, list[tuple[object, dict[str, str]]]]] = [(1.0, [])]
        for part, inner in parts:
            total = [(p * q, [*a, *b]) for p, a in total for q, b in outcomes(here, part, inner)]
        yield from total


def successors(here: Situation) -> dict[str, dict[tuple[frozenset[str], frozenset[tuple[str, float]]], float]]:
    """Action -> {(facts, numbers): probability}."""
    found: dict[str, dict[tuple[frozenset[str], frozenset[tuple[str, float]]], float]] = {}
    for action in here.domain.actions.values():
        for binding in here.bindings(action.parameters, {}):
            if here.holds(action.precondition, binding):
                name = step_text((action.name, *(binding[p.name] for p in action.parameters)))
                results: dict[tuple[frozenset[str], frozenset[tuple[str, float]]], float] = defaultdict(float)
                for p, changes in outcomes(here, action.effect, binding):
                    if p > 0:
                        results[_apply(here, changes)] += p
                found[name] = dict(results)
    return found


def by_name(here: Situation) -> tuple[frozenset[str], frozenset[tuple[str, float]]]:
    return frozenset(map(str, here.atoms)), frozenset((str(v), x) for v, x in here.values.items())


def _apply(
    here: Situation, changes: list[tuple[object, dict[str, str]]]
) -> tuple[frozenset[str], frozenset[tuple[str, float]]]:
    atoms = set(map(str, here.atoms))
    values = {str(v): x for v, x in here.values.items()}
    for wanted in (False, True):
        for change, binding in changes:
            if isinstance(change, Literal) and change.positive == wanted:
                text = step_text((change.atom.name, *(binding.get(a, a) for a in change.atom.args)))
                (atoms.add if wanted else atoms.discard)(text)
    for change, binding in changes:
        if isinstance(change, Assign):
            name = step_text((change.target.name, *(binding.get(a, a) for a in change.target.args)))
            amount, old = here.number(change.amount, binding), values.get(name, math.nan)
            values[name] = {
                "assign": amount,
                "increase": old + amount,
                "decrease": old - amount,
                "scale-up": old * amount,
                "scale-down": old / amount if amount else math.nan,
            }[change.operator]
    return frozenset(atoms), frozenset((n, x) for n, x in values.items() if not math.isnan(x))
