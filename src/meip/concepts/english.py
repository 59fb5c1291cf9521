"""An English reading of every concept: clauses for booleans, noun phrases for numbers."""

from __future__ import annotations

import re

from meip.base.errors import ConceptError
from meip.concepts.atomic import Atomic
from meip.concepts.check import kind, signature
from meip.concepts.comparisons import BY, HOLDS, TURNED, VERBS, Relation, how_many, how_much, number, percentage
from meip.concepts.language import Aggregated, Composite, Concept, Constant, Negation, Quantified
from meip.concepts.operations import operation
from meip.concepts.phrases import listed
from meip.model.domain import Domain

__all__ = ["english", "forbidden"]


def english(concept: Concept, domain: Domain) -> str:
    """What a concept says, e.g. "all torches are picked at stage 1". ConceptError if it does not fit the domain."""
    kind(concept, domain)
    return _Reader(domain).read(concept)


def forbidden(concept: Concept, domain: Domain) -> str:
    """What a concept says after "never", e.g. "the box is closed before all toys that are red are in the box"."""
    kind(concept, domain)
    return _Reader(domain).forbidden(concept)


class _Reader(Atomic):
    def read(self, concept: Concept) -> str:
        match concept:
            case Quantified("count"):
                return f"the number of {self.counted(concept.value, concept.scope)}"
            case Quantified(quantifier):
                return self.quantified(concept, quantifier)
            case Aggregated():
                return self.aggregated(concept)
            case Constant(k):
                return number(k)
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
            case "=", (left, right):
                return self.compared(left, "=", right)
            case "<=", (left, right):
                return self.compared(left, "<=", right)
            case "+", _:
                return " plus ".join(self.value(a) for a in arguments)
            case "-", (now, Composite("initial", (then,))) if now == then:
                return f"the change in {self.value(now)} since the start"
            case "-", (left, right):
                return f"{self.value(left)} minus {self.value(right)}"
            case "max", (Composite("-", (left, right)), Composite("-", turned)) if turned == (right, left):
                return f"the difference between {self.value(left)} and {self.value(right)}"
            case "max", (Composite("-", (left, right)), Constant(0.0)) if "boolean" not in (kind(left), kind(right)):
                return f"how far {self.related(left, '>', right)}"
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
            case Composite("=", (left, right)):
                return self.compared(left, "!=", right)
            case Composite("<=", (left, right)):
                return self.compared(left, ">", right)
            case _:
                return f"it is not true that {self.read(concept)}"

    # --- comparisons ---

    def compared(self, left: Concept, relation: Relation, right: Concept) -> str:
        if isinstance(left, Constant) and not isinstance(right, Constant):
            left, relation, right = right, TURNED[relation], left
        said = None
        if isinstance(right, Constant):
            said = self.compared_with(left, relation, right.value)
        elif kind(left) == kind(right) == "boolean":
            said = self.truths(left, relation, right)
        elif kind(left) == kind(right) == "count":
            said = self.counts(left, relation, right)
        return said or self.related(left, relation, right)

    def related(self, left: Concept, relation: Relation, right: Concept) -> str:
        """The load is above 9.8; a number that a share is compared with is a percentage."""
        if isinstance(left, Constant) and not isinstance(right, Constant):
            left, relation, right = right, TURNED[relation], left
        than = percentage(right.value) if isinstance(right, Constant) and self.is_share(left) else self.value(right)
        return f"{self.value(left)} {VERBS[relation]} {than}"

    def compared_with(self, concept: Concept, relation: Relation, k: float) -> str | None:
        """The short forms for a comparison with a number, where there are any."""
        if (truth := self.truth(concept)) is not None:
            below, above = HOLDS[relation](0, k), HOLDS[relation](1, k)
            return None if below == above else self.read(truth) if above else self.negated(truth)
        match concept:
            case Quantified("count", value, scope) if signature(value, self.domain)[0]:
                how = how_many(relation, k)
                return self.quantified(concept, how) if how else None
            case Aggregated("mean", value, scope) if self.is_share(concept) and signature(value, self.domain)[0]:
                how = how_much(relation, k, scope is not None)
                return self.quantified(Quantified("some", value, scope), how) if how else None
            case Composite("max", (Composite("-", (one, other)), Composite("-", turned))) if turned == (other, one):
                return self.apart(one, other, relation, k)
        return None

    def truth(self, concept: Concept) -> Concept | None:
        """The boolean that is meant by a number which can only be 0 or 1."""
        match concept:
            case Quantified("count", value, scope) if not signature(value, self.domain)[0]:
                return Quantified("some", value, scope)
            case Aggregated(how, value, None) if self.is_predicate(value):
                if how == "mean" and signature(value, self.domain)[0]:
                    return None
                return Quantified("all" if how == "min" else "some", value)
        return concept if kind(concept) == "boolean" else None

    def truths(self, left: Concept, relation: Relation, right: Concept) -> str:
        if relation == "=":
            return f"{self.read(left)} exactly when {self.read(right)}"
        if relation == "!=":
            return f"either {self.inside(left, 'or')} or {self.inside(right, 'or')}, but not both"
        if relation == "<=":
            return f"if {self.read(left)} then {self.read(right)}"
        return self.read(Composite("and", (left, Composite("not", (right,)))))

    def counts(self, left: Concept, relation: Relation, right: Concept) -> str | None:
        """There are more of these than of those."""
        these, those = self.amount(left), self.amount(right)
        if these is None or those is None:
            return None
        if relation == "!=":
            return f"{self.both(left, right)} differ"
        if relation == ">":
            return f"there are more {these[1]} than {those[1]}"
        return f"there are {'' if relation == '=' else 'at most '}as many {these[1]} as {those[1]}"

    def apart(self, one: Concept, other: Concept, relation: Relation, k: float) -> str | None:
        """The short forms for how far two numbers are apart."""
        both = self.both(one, other)
        if (relation, k) in ((">", 0), ("!=", 0)):
            return f"{both} differ"
        if (relation, k) in (("<=", 0), ("=", 0)):
            return f"{both} are equal"
        if k <= 0 or relation == "!=":
            return None
        points = self.is_share(one) and self.is_share(other)
        by = f"{percentage(k)[:-2]} percentage points" if points else number(k)
        return f"{both} differ by {BY[relation]} {by}"

    def both(self, one: Concept, other: Concept) -> str:
        """Two numbers as one subject in the plural."""
        match self.amount(one), self.amount(other):
            case (word, these), (same, those) if word == same:
                return f"the {word}s of {these} and of {those}"
        return f"{self.value(one)} and {self.value(other)}"

    def amount(self, concept: Concept) -> tuple[str, str] | None:
        """Number or share, and what it is of."""
        match concept:
            case Quantified("count", value, scope) if signature(value, self.domain)[0]:
                return "number", self.counted(value, scope)
            case Aggregated("mean", value, scope) if self.is_share(concept):
                return "share", self.shared(value, scope)
        return None

    # --- order ---

    def forbidden(self, concept: Concept) -> str:
        """B before a, for b and not a where a is something that comes true."""
        parts = [(part, self.awaited(part)) for part in self.conjuncts(concept)]
        then = [self.inside(part, "and") for part, wanted in parts if wanted is None]
        awaited = [wanted for _, wanted in parts if wanted is not None]
        if then and len(awaited) == 1 and not (first := self.read(awaited[0])).startswith("in "):
            return f"{listed(then)} before {first}"
        return self.read(concept)

    def conjuncts(self, concept: Concept) -> list[Concept]:
        if isinstance(concept, Composite) and concept.operation == "and":
            return [part for argument in concept.arguments for part in self.conjuncts(argument)]
        return [concept]

    def awaited(self, concept: Concept) -> Concept | None:
        """What is not so yet; None where "before" would not read well: before no toy is on the floor."""
        match concept:
            case Composite("not", (Quantified(_, value) as first,)) if not isinstance(value, Negation):
                return first
            case Composite("not", (Composite("<=", (Constant(), _)) as first,)):
                return first
            case Composite("not", (Composite("=", (_, Constant(k))) as first,)) if k != 0:
                return first
        return None
