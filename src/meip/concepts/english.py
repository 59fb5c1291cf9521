"""An English reading of every concept: clauses for booleans, noun phrases for numbers."""

from __future__ import annotations

import re

from meip.base.errors import ConceptError
from meip.concepts.atomic import Atomic
from meip.concepts.check import kind
from meip.concepts.language import Aggregated, Composite, Concept, Constant, Quantified
from meip.concepts.operations import operation
from meip.concepts.phrases import listed
from meip.model.domain import Domain

__all__ = ["english"]


def english(concept: Concept, domain: Domain) -> str:
    """What a concept says, e.g. "all torches are picked at stage 1". ConceptError if it does not fit the domain."""
    kind(concept, domain)
    return _Reader(domain).read(concept)


class _Reader(Atomic):
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
