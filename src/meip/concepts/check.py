"""Does a concept fit a domain? Signatures of terms, kinds of concepts, free parameters, slots."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, get_args

from meip.base.errors import ConceptError, DomainError
from meip.concepts.language import (
    Aggregated,
    Aggregator,
    Agreement,
    AtLeast,
    Closure,
    Composite,
    Composition,
    Concept,
    Conjunction,
    Constant,
    Negation,
    Node,
    Permutation,
    Primitive,
    Quantified,
    Quantifier,
    Restriction,
    Term,
    atoms,
)
from meip.concepts.operations import Kind, operation
from meip.model.domain import Domain

__all__ = ["Misfit", "Signature", "kind", "signature", "slot"]

Signature = tuple[tuple[str, ...], bool]
"""The classes of the arguments, and whether the term is a real-valued function."""


class Misfit(ConceptError):
    """A concept that does not fit the domain; it remembers which part of it, for the parser to point at."""

    def __init__(self, node: Node, message: str) -> None:
        super().__init__(message)
        self.node = node

    def __reduce__(self) -> tuple[Any, ...]:
        return Misfit, (self.node, str(self))


def signature(term: Term, domain: Domain) -> Signature:
    """The classes of a term's arguments, and whether it is real-valued; ConceptError if it does not fit the domain."""
    match term:
        case Primitive(name):
            try:
                fluent = domain.fluent(name)
            except DomainError as error:
                raise Misfit(term, str(error)) from None
            return fluent.classes, fluent.real
        case Negation(inner):
            return _relation(inner, domain), False
        case Conjunction(left, right):
            classes, others = _relation(left, domain), _relation(right, domain)
            if classes != others:
                raise Misfit(right, f"{_over(right, others)}, but {_over(left, classes)}: `and` needs the same classes")
            return classes, False
        case Permutation(inner, order):
            classes, real = signature(inner, domain)  # of a predicate or of a function
            return _permuted(term, classes, order), real
        case Closure(inner):
            classes = _relation(inner, domain)
            if len(classes) != 2 or classes[0] != classes[1]:
                raise Misfit(inner, f"{_over(inner, classes)}, but * needs two arguments of one class")
            return classes, False
        case Restriction():
            return _restricted(term, domain), False
        case Composition(left, right):
            classes, others = _relation(left, domain), _relation(right, domain)
            if not classes or not others or classes[-1] != others[0]:
                raise Misfit(
                    right,
                    f"{_over(right, others)}, but {_over(left, classes)}: `.` needs the last class of its left side "
                    "to be the first of its right side",
                )
            return classes[:-1] + others[1:], False
        case Agreement(relation, left, right):
            _known(term, relation, ("same", "within"))
            classes, others = _relation(left, domain), _relation(right, domain)
            if classes != others or not classes:
                raise Misfit(
                    right, f"{_over(right, others)}, but {_over(left, classes)}: {relation} needs the same classes"
                )
            return classes[:-1], False
        case AtLeast(inner):
            classes, real = signature(inner, domain)
            if not real:
                raise Misfit(inner, f"{inner} is a predicate, but >= needs a real-valued function")
            return classes, False
        case _:
            raise ConceptError(f"{term!r} is not a term")


def _permuted(term: Permutation, classes: tuple[str, ...], order: tuple[int, ...]) -> tuple[str, ...]:
    if sorted(order) != list(range(len(classes))):
        wanted = " ".join(str(i + 1) for i in range(len(classes)))
        raise Misfit(
            term, f"{_over(term.term, classes)}: an order must name each argument once ({wanted} in some order)"
        )
    return tuple(classes[i] for i in order)


def _restricted(term: Restriction, domain: Domain) -> tuple[str, ...]:
    _known(term, term.quantifier, ("some", "all"))
    classes = _relation(term.role, domain)
    if not classes:
        raise Misfit(term.role, f"{term.role} has no arguments: it cannot be restricted")
    if term.filler is not None:
        others = _relation(term.filler, domain)
        if others != classes[-1:]:
            raise Misfit(
                term.filler,
                f"{_over(term.filler, others)}, but the last argument of {term.role} is of class {classes[-1]}",
            )
    return classes[:-1]


def _relation(term: Term, domain: Domain) -> tuple[str, ...]:
    """The classes of a term that must be a predicate."""
    classes, real = signature(term, domain)
    if real:
        raise Misfit(term, f"{term} is a real-valued function, but a predicate is needed here")
    return classes


def _over(term: Term, classes: tuple[str, ...]) -> str:
    return f"{term} is over ({', '.join(classes)})" if classes else f"{term} has no arguments"


def kind(concept: Concept, domain: Domain | None = None) -> Kind:
    """What values a concept takes. With a domain, also check that it fits (else a ConceptError says why)."""
    match concept:
        case Quantified(quantifier, value, scope):
            _known(concept, quantifier, get_args(Quantifier))
            if domain is not None:
                _fits(value, _relation(value, domain), scope, domain)
            return "count" if quantifier == "count" else "boolean"
        case Aggregated(aggregator, value, scope):
            _known(concept, aggregator, get_args(Aggregator))
            if domain is not None:
                _fits(value, signature(value, domain)[0], scope, domain)
            return "real"
        case Constant(number):
            return "count" if number >= 0 and number.is_integer() else "real"
        case Composite():
            return _composite_kind(concept, domain)
        case _:
            raise ConceptError(f"{concept!r} is not a concept")


def _known(node: Node, word: str, words: tuple[str, ...]) -> None:
    if word not in words:
        raise Misfit(node, f"{word!r} is none of {', '.join(words)}")


def _fits(value: Term, classes: tuple[str, ...], scope: Term | None, domain: Domain) -> None:
    if scope is not None:
        others = _relation(scope, domain)
        if others != classes:
            raise Misfit(scope, f"{_over(scope, others)}, but {_over(value, classes)}: a scope needs the same classes")


def _composite_kind(concept: Composite, domain: Domain | None) -> Kind:
    kinds = tuple(kind(argument, domain) for argument in concept.arguments)
    try:
        known = operation(concept.operation)
    except ConceptError as error:
        raise Misfit(concept, str(error)) from None
    if not known.accepts(len(kinds)):
        least, most = known.arity
        wanted = f"{least} or more" if most is None else str(least) if least == most else f"{least} to {most}"
        raise Misfit(concept, f"{concept.operation!r} takes {wanted} operands, got {len(kinds)}")
    try:
        return known.result(kinds)
    except Misfit:
        raise
    except ConceptError as error:
        raise Misfit(concept, f"{concept.operation!r} does not fit its operands: {error}") from None


def slot(concept: Concept) -> Hashable:
    """A key shared by concepts that differ only in their quantifier or aggregator; such concepts exclude each other.

    A composite about one atomic concept (``count(p) = 4``, ``not some(p)``) shares the slot of that concept.
    """
    if isinstance(concept, Quantified | Aggregated):
        return concept.value, concept.scope
    keys = {(a.value, a.scope) for a in atoms(concept)}
    return keys.pop() if len(keys) == 1 else _skeleton(concept)


def _skeleton(concept: Concept) -> Hashable:
    """A composite without its quantifiers and aggregators."""
    match concept:
        case Quantified(_, value, scope) | Aggregated(_, value, scope):
            return value, scope
        case Composite(name, arguments):
            return name, *(_skeleton(a) for a in arguments)
        case _:
            return concept
