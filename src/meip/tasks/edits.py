"""Edits by hand that act: a statement changes along with everything that plans go by in its place.

What is told is a small model; plans weigh many concepts, of which several say nearly what one statement says. So an
edit of the statement scales all of them, and a statement that is struck takes its rules and orders with it.
"""

from __future__ import annotations

import dataclasses

from meip.base.errors import LearningError, did_you_mean
from meip.concepts.language import Concept
from meip.learning.selection import precedence
from meip.utility.preferences import Before, Preferences, Statement
from meip.utility.terms import Edit, Utility, UtilityTerm, edit

__all__ = ["bent", "edited"]


def edited(utility: Utility, how: Preferences, name: str, weight: float, note: str) -> tuple[Utility, Preferences]:
    """The utility and the preferences with one statement's weight set to this; the edit is recorded."""
    told = next((s for s in how.statements if str(s.concept) == name), None)
    before = _weight(utility, how, name, told)
    if before is None:
        known = [*(str(s.concept) for s in how.statements), *map(str, utility.concepts)]
        raise LearningError(f"the task has no statement about {name!r}; {did_you_mean(name, known)}")
    factor = weight / before if before else 0.0
    along = {name, *(told.leaning if told is not None else ())}
    changed = _scaled(utility, along, factor)
    record = Edit(name, (before,), (weight,), note)
    held = tuple(
        dataclasses.replace(h, utility=_scaled(h.utility, along, factor), done=_scaled(h.done, {name}, factor))
        for h in how.held_out
    )
    found = dataclasses.replace(how, done=_scaled(how.done, {name}, factor), held_out=held)
    found = _rules(found, name, factor)
    statements = tuple(
        dataclasses.replace(s, weight=weight) if s is told else s for s in how.statements if weight or s is not told
    )
    if not weight:
        found, statements = _without_order(found, along), tuple(s for s in statements if not _orders(s, along))
    found = dataclasses.replace(found, statements=statements)
    return dataclasses.replace(changed, edits=(*utility.edits, record)), found


def bent(
    utility: Utility, how: Preferences, name: str, weights: tuple[float, ...], note: str
) -> tuple[Utility, Preferences]:
    """The same with one curve bent by hand; the models that held a demonstration out are bent by as much."""
    before = next(term for term in utility.terms if str(term.concept) == name)
    changed = edit(utility, name, weights=weights, note=note)
    added = [after - old for after, old in zip(weights, before.weights, strict=True)]
    held = tuple(dataclasses.replace(h, utility=_moved(h.utility, before, added)) for h in how.held_out)
    return changed, dataclasses.replace(how, held_out=held)


def _moved(utility: Utility, curve: UtilityTerm, added: list[float]) -> Utility:
    terms = tuple(
        dataclasses.replace(t, weights=tuple(w + d for w, d in zip(t.weights, added, strict=True)))
        if t.concept == curve.concept and t.knots == curve.knots
        else t
        for t in utility.terms
    )
    return dataclasses.replace(utility, terms=terms)


def _weight(utility: Utility, how: Preferences, name: str, told: Statement | None) -> float | None:
    """What it weighs now; None where nothing is said about it."""
    if told is not None:
        return told.weight
    terms = [*utility.terms, *how.done.terms]
    return next((t.weights[0] for t in terms if str(t.concept) == name), None)


def _scaled(utility: Utility, along: set[str], factor: float) -> Utility:
    terms = tuple(
        dataclasses.replace(t, weights=tuple(w * factor for w in t.weights)) if str(t.concept) in along else t
        for t in utility.terms
        if factor or str(t.concept) not in along
    )
    return dataclasses.replace(utility, terms=terms)


def _rules(how: Preferences, name: str, factor: float) -> Preferences:
    """Never-rules and quantities of this name, with those of the held-out models."""
    never = [(k, rule) for k, rule in enumerate(how.never) if factor or str(rule.concept) != name]
    first = [(k, one) for k, one in enumerate(how.first) if factor or str(one.concept) != name]
    held = tuple(
        dataclasses.replace(
            h,
            never=tuple(h.never[k] * (factor if str(rule.concept) == name else 1.0) for k, rule in never),
            first=tuple(h.first[k] * (factor if str(one.concept) == name else 1.0) for k, one in first),
        )
        for h in how.held_out
    )
    return dataclasses.replace(
        how,
        never=tuple(
            dataclasses.replace(rule, strength=rule.strength * factor) if str(rule.concept) == name else rule
            for _, rule in never
        ),
        first=tuple(
            dataclasses.replace(one, weight=one.weight * factor) if str(one.concept) == name else one
            for _, one in first
        ),
        order=tuple(_pair_scaled(pair, name, factor) for pair in how.order),
        held_out=held,
    )


def _pair_scaled(pair: Before, name: str, factor: float) -> Before:
    same = f"{pair.then} and not {pair.first}" == name
    return dataclasses.replace(pair, strength=pair.strength * factor) if same else pair


def _without_order(how: Preferences, along: set[str]) -> Preferences:
    kept = tuple(
        pair for pair in how.order if not {str(pair.first), str(pair.then), f"{pair.then} and not {pair.first}"} & along
    )
    never = [k for k, rule in enumerate(how.never) if not _names(rule.concept) & along]
    held = tuple(dataclasses.replace(h, never=tuple(h.never[k] for k in never)) for h in how.held_out)
    return dataclasses.replace(how, order=kept, never=tuple(how.never[k] for k in never), held_out=held)


def _names(concept: Concept) -> set[str]:
    pair = precedence(concept)
    return {str(concept)} if pair is None else {str(concept), *map(str, pair)}


def _orders(statement: Statement, along: set[str]) -> bool:
    return statement.kind in ("order", "never") and bool(_names(statement.concept) & along)
