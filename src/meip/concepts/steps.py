"""Concepts about steps: how things were before one, in formulas and in English.

`new-done` and `old-fuel` are copies of fluents that change (`meip.model.steps`); what names one is about a step.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, cast

from meip.concepts.canonical import chain, conjuncts
from meip.concepts.english import english, forbidden
from meip.concepts.language import Aggregated, Composite, Concept, Node, Primitive, Quantified, Term, walk
from meip.model.domain import NEW, OLD, Domain

__all__ = ["before", "first_of", "is_about_steps", "names_in", "not_done"]


def names_in(node: Node) -> set[str]:
    """The fluents that it names."""
    return {one.name for one in walk(node) if isinstance(one, Primitive)}


def is_about_steps(node: Node, domain: Domain) -> bool:
    return not domain.copies.keys().isdisjoint(names_in(node))


def before(concept: Concept, domain: Domain) -> Concept:
    """The same of how things were before a step."""
    return _renamed(concept, lambda name: OLD + name if OLD + name in domain.copies else name)


def not_done(concept: Concept, domain: Domain) -> str:
    """What a rule about steps says after "never": what is done, while something was so."""
    match concept:
        case Composite("and", (Quantified() as deed, occasion)) if _is_before(occasion, domain):
            done = english(deed, domain)
            both = {name.removeprefix(NEW) for name in names_in(deed)} & names_in(now := _now(occasion, domain))
            return f"{done if both else _by_step(done)} while {english(now, domain)}"
    return forbidden(concept, domain) if isinstance(concept, Composite) else _by_step(english(concept, domain))


def first_of(concept: Concept, domain: Domain, smallest: bool) -> str:
    """What "first by a quantity" says of steps: of what is done, to what it is done first."""
    least = "smallest" if smallest else "largest"
    match concept:
        case Aggregated("mean", Primitive(function), Term() as scope):
            parts = [_made(part) for part in conjuncts(scope)]
            what = english(Quantified("some", chain(parts)), domain)
            of = domain.fluent(function.removeprefix(OLD) if function in domain.copies else function)
            quantity = (of.phrase or f"the {of.name} of {{0}}").replace("{0}", "it")
            return f"of the steps by which {_by_step(what)}, the one for which {quantity} is {least}"
    return f"the step for which {english(concept, domain)} is {least}"


def _made(part: Term) -> Term:
    """What a step made new, as a state says it."""
    return Primitive(part.name.removeprefix(NEW)) if isinstance(part, Primitive) else part


def _is_before(concept: Concept, domain: Domain) -> bool:
    """Is it about how things were before a step, and nothing else?"""
    copies = names_in(concept) & domain.copies.keys()
    return bool(copies) and all(name.startswith(OLD) for name in copies)


def _now(concept: Concept, domain: Domain) -> Concept:
    return _renamed(concept, lambda name: name.removeprefix(OLD) if name in domain.copies else name)


def _by_step(text: str) -> str:
    """Said once is enough where all of it is about one step."""
    return text.replace(" by this step", "")


def _renamed(concept: Concept, rename: Callable[[str], str]) -> Concept:
    def copied(node: Node) -> Node:
        if isinstance(node, Primitive):
            return Primitive(rename(node.name))
        changes: dict[str, Any] = {}
        for field in dataclasses.fields(cast(Any, node)):
            value = getattr(node, field.name)
            if isinstance(value, Node):
                changes[field.name] = copied(value)
            elif isinstance(value, tuple) and any(isinstance(part, Node) for part in value):
                changes[field.name] = tuple(copied(part) for part in value)
        return cast(Node, dataclasses.replace(cast(Any, node), **changes))

    return cast(Concept, copied(concept))
