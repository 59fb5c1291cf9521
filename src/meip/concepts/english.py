"""An English reading of every concept: clauses for booleans, noun phrases for numbers."""

from __future__ import annotations

import re

from meip.base.errors import ConceptError
from meip.concepts.check import kind, signature
from meip.concepts.language import (
    Aggregated,
    Composite,
    Concept,
    Constant,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Term,
)
from meip.concepts.operations import operation
from meip.concepts.phrases import Noun, Phrases, listed
from meip.model.domain import Domain

__all__ = ["english", "forbidden"]

_EXTREMES = {"max": "greatest", "min": "least", "mean": "average"}


def english(concept: Concept, domain: Domain) -> str:
    """What a concept says, e.g. "all torches are picked at stage 1". ConceptError if it does not fit the domain."""
    kind(concept, domain)
    return _Reader(domain).read(concept)


def forbidden(concept: Concept, domain: Domain) -> str:
    """What comes after "never": for "b and not a", that b comes before a."""
    match concept:
        case Composite("and", (then, Composite("not", (first,)))):
            return f"{english(then, domain)} before {english(first, domain)}"
    return english(concept, domain)


class _Reader:
    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.phrases = Phrases(domain)

    def read(self, concept: Concept) -> str:
        match concept:
            case Quantified("count"):
                return self.number_of(concept)
            case Quantified(quantifier):
                return self.quantified(concept, quantifier)
            case Aggregated():
                return self.aggregated(concept)
            case Constant():
                return str(concept)
            case Composite():
                return self.composite(concept)
            case _:
                raise ConceptError(f"{concept!r} is not a concept")

    # --- atomic concepts ---

    def quantified(self, concept: Quantified, how: str) -> str:
        """A sentence; how is all, some, no, not all, or "exactly 4", "at most 4", "at least 4"."""
        classes = signature(concept.value, self.domain)[0]
        if not classes:
            return self.nullary(concept, how)
        plural = how not in ("some", "no") and not how.endswith(" 1")
        if len(classes) == 1:
            if isinstance(concept.value, Negation) and how in _OPPOSITE:
                return self.quantified(Quantified("all", concept.value.term, concept.scope), _OPPOSITE[how])
            noun = self.phrases.noun(classes[0], plural) + self.phrases.relative(concept.scope, plural)
            return self.phrases.about(Noun(f"{how} {noun}", plural), concept.value)
        members = self.phrases.members(classes)
        if isinstance(concept.value, Primitive) and concept.scope is None and how in _EVERY:
            first, other = _EVERY[how]
            nouns = [Noun(f"{first if i == 0 else other} {self.phrases.noun(c)}") for i, c in enumerate(classes)]
            return self.phrases.clause(concept.value, nouns)
        where = self.where(concept.scope, members, classes)
        said = self.phrases.clause(concept.value, members)
        negative, how = (True, "all") if how == "not all" else (False, how)
        return f"{'not ' if negative else ''}in {how} {self.phrases.group(classes, plural)}{where}, {said}"

    def nullary(self, concept: Quantified, how: str) -> str:
        """A predicate without arguments, in a scope without arguments: true of the one empty tuple or of none."""
        value, scope = concept.value, concept.scope
        said = self.phrases.clause(value, [])
        if how == "exactly 1":
            how = "some"
        if how.startswith(("exactly", "at ")):
            return f"{self.number_of(concept)} is {how}"
        if scope is None:
            return self.phrases.clause(value, [], negated=how in ("no", "not all"))
        given = self.phrases.clause(scope, [])
        if how in ("all", "not all"):
            return f"{'it is not true that ' if how == 'not all' else ''}if {given} then {said}"
        return f"{'not both ' if how == 'no' else ''}{given} and {said}"

    def number_of(self, concept: Quantified) -> str:
        return f"the number of {self.counted(concept.value, concept.scope)}"

    def counted(self, value: Term, scope: Term | None) -> str:
        """What a count or a share is of."""
        classes = signature(value, self.domain)[0]
        if not classes:
            given = f" while {self.phrases.clause(scope, [])}" if scope is not None else ""
            return f"times (0 or 1) that {self.phrases.clause(value, [])}{given}"
        if len(classes) == 1:
            among = "" if scope is None else f" among the {self._scoped(classes, scope)}"
            return self.phrases.noun(classes[0], True) + self.phrases.relative(value, True) + among
        members = self.phrases.members(classes)
        given = "" if scope is None else f", among those where {self.phrases.clause(scope, members)}"
        return f"{self.phrases.group(classes)} where {self.phrases.clause(value, members)}{given}"

    def _scoped(self, classes: tuple[str, ...], scope: Term | None) -> str:
        return self.phrases.noun(classes[0], True) + self.phrases.relative(scope, True)

    def where(self, scope: Term | None, members: list[Noun], classes: tuple[str, ...]) -> str:
        return "" if scope is None else f" where {self.phrases.clause(scope, members)}"

    def aggregated(self, concept: Aggregated) -> str:
        classes, real = signature(concept.value, self.domain)
        if not real:
            return self.of_predicate(concept)
        how = _EXTREMES[concept.aggregator]
        function, order = concept.value, tuple(range(len(classes)))
        while isinstance(function, Permutation):  # argument i of the result is argument order[i] of the function
            order = tuple([function.order[i] for i in order])
            function = function.term
        if not isinstance(function, Primitive):
            raise ConceptError(f"{function} is not a function of the domain")
        phrase = self.phrases.phrase(self.domain.fluent(function.name))
        phrase = re.sub(r"\{(\d)\}", lambda m: f"{{{order.index(int(m[1]))}}}" if int(m[1]) in order else m[0], phrase)
        if not classes:
            given = f" while {self.phrases.clause(concept.scope, [])}" if concept.scope is not None else ""
            return phrase + given
        phrase = phrase.replace("the ", f"the {how} ", 1) if phrase.startswith("the ") else f"the {how} of {phrase}"
        members, after = self.phrases.members(classes), ""
        if len(classes) == 1 or concept.scope is None:
            plural = concept.aggregator == "mean"
            word = "all" if plural else "any"
            relative = self.phrases.relative(concept.scope, plural)
            members = [Noun(f"{word} {self.phrases.noun(c, plural)}{relative}") for c in classes]
        else:
            after = f", among {self.phrases.group(classes)}{self.where(concept.scope, members, classes)}"
        return (
            re.sub(r"\{(\d)\}", lambda m: members[int(m[1])].text if int(m[1]) < len(members) else m[0], phrase) + after
        )

    def of_predicate(self, concept: Aggregated) -> str:
        """A predicate as numbers: mean is a share, max and min are 1 or 0, and missing where there is nothing."""
        if concept.aggregator == "mean":
            return f"the share of {self.counted(concept.value, concept.scope)}"
        how = "some" if concept.aggregator == "max" else "all"
        return f"1 if {self.quantified(Quantified('some', concept.value, concept.scope), how)}, else 0"

    # --- composites ---

    def composite(self, concept: Composite) -> str:
        name, arguments = concept.operation, concept.arguments
        match name, arguments:
            case "and" | "or", _:
                parts = [self.inside(a, name) for a in arguments]
                return f", {name} ".join(parts) if self.mixed(concept) else listed(parts, name)
            case "not", (only,):
                return self.negated(only)
            case "implies", (given, then):
                return f"if {self.read(given)} then {self.read(then)}"
            case "=" | "<=", (left, right):
                return self.compared(name, left, right)
            case "+", _:
                return " plus ".join(self.value(a) for a in arguments)
            case "-", (now, Composite("initial", (then,))) if now == then:
                return f"the change in {self.value(now)} since the start"
            case "-", (left, right):
                return f"{self.value(left)} minus {self.value(right)}"
            case "initial", (only,) if kind(only) == "boolean":
                return f"at the start {self.read(only)}"
        template = operation(name).english or f"the {name} of {{all}}"
        parts = [self.value(a) for a in arguments]
        filled = re.sub(r"\{(\d+)\}", lambda m: parts[int(m[1])] if int(m[1]) < len(parts) else m[0], template)
        return filled.replace("{all}", listed(parts) if parts else "nothing")

    def mixed(self, concept: Composite) -> bool:
        """Is this an and with an or directly inside it, or an or with an and?"""
        inner = {a.operation for a in concept.arguments if isinstance(a, Composite)}
        return bool(inner & ({"and", "or"} - {concept.operation}))

    def inside(self, concept: Concept, outer: str) -> str:
        """An operand of and, or: both .. and .., either .. or .. where it would be ambiguous."""
        text = self.read(concept)
        if isinstance(concept, Composite) and concept.operation in ("and", "or") and concept.operation != outer:
            return f"{'both' if concept.operation == 'and' else 'either'} {text}"
        return text

    def value(self, concept: Concept) -> str:
        """A concept as a number: "whether .." for a boolean."""
        return f"whether {self.read(concept)}" if kind(concept) == "boolean" else self.read(concept)

    def negated(self, concept: Concept) -> str:
        match concept:
            case Quantified("all" | "some" as quantifier):
                return self.quantified(concept, "not all" if quantifier == "all" else "no")
            case Composite("not", (inner,)):
                return f"it is not true that {self.negated(inner)}"
            case Composite("and", (left, right)):
                return f"not both {self.inside(left, 'and')} and {self.inside(right, 'and')}"
            case Composite("or", (left, right)):
                return f"neither {self.inside(left, 'or')} nor {self.inside(right, 'or')}"
            case Composite("=", (Quantified("count"), Constant())) if not self.read(concept).startswith("no "):
                return f"not {self.read(concept)}"
            case _:
                return f"it is not true that {self.read(concept)}"

    def compared(self, name: str, left: Concept, right: Concept) -> str:
        match name, left, right:
            case "=", Quantified("count"), Constant(k) if k.is_integer() and k >= 0:
                return self.quantified(left, "no" if k == 0 else f"exactly {k:.0f}")
            case "<=", Quantified("count"), Constant(k) if k.is_integer() and k >= 0:
                return self.quantified(left, "no" if k == 0 else f"at most {k:.0f}")
            case "<=", Constant(k), Quantified("count") if k.is_integer() and k >= 1:
                return self.quantified(right, f"at least {k:.0f}")
        if name == "=" and kind(left) == kind(right) == "boolean":
            return f"{self.read(left)} exactly when {self.read(right)}"
        return f"{self.value(left)} {'equals' if name == '=' else 'is at most'} {self.value(right)}"


_OPPOSITE = {"all": "no", "no": "all", "not all": "some"}
"""How many are in p, given how many are in not p."""

_EVERY = {"all": ("every", "every"), "some": ("some", "some"), "no": ("no", "any"), "not all": ("not every", "every")}
