"""English for atomic concepts: sentences about how many, noun phrases for numbers."""

from __future__ import annotations

import re

from meip.base.errors import ConceptError
from meip.concepts.check import signature
from meip.concepts.language import Aggregated, Concept, Negation, Permutation, Primitive, Quantified, Term
from meip.concepts.phrases import GAP, Noun, Phrases
from meip.model.domain import Domain

__all__ = ["Atomic"]

_EXTREMES = {"max": "greatest", "min": "least", "mean": "average"}


class Atomic:
    """Readings of the atomic concepts of one domain."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain
        self.phrases = Phrases(domain)

    def quantified(self, concept: Quantified, how: str) -> str:
        """A sentence; how is all, some, no, not all, "more than 4", "at least 43 % of the" and the like."""
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
        negative, how = how.startswith("not "), how.removeprefix("not ")
        return f"{'not ' if negative else ''}in {how} {self.phrases.group(classes, plural)}{where}, {said}"

    def nullary(self, concept: Quantified, how: str) -> str:
        """A predicate without arguments, in a scope without arguments: true of the one empty tuple or of none."""
        value, scope = concept.value, concept.scope
        said = self.phrases.clause(value, [])
        if scope is None:
            return self.phrases.clause(value, [], negated=how in ("no", "not all"))
        given = self.phrases.clause(scope, [])
        if how in ("all", "not all"):
            return f"{'it is not true that ' if how == 'not all' else ''}if {given} then {said}"
        return f"{'not both ' if how == 'no' else ''}{given} and {said}"

    def counted(self, value: Term, scope: Term | None) -> str:
        """What a count is of."""
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

    def shared(self, value: Term, scope: Term | None) -> str:
        """What a share is of: toys that are in the box which are blue."""
        classes = signature(value, self.domain)[0]
        if len(classes) == 1 and scope is not None:
            group, part = self._scoped(classes, scope), self.phrases.clause(value, [Noun(GAP, True)])
            # Only a verb in the plural tells that "which" is not about the box.
            if part.startswith(f"{GAP} ") and " such that " not in group:
                return group + self.phrases.relative(value, True).replace(" that ", " which ", 1)
        return self.counted(value, scope)

    def is_share(self, concept: Concept) -> bool:
        return isinstance(concept, Aggregated) and concept.aggregator == "mean" and self.is_predicate(concept.value)

    def is_predicate(self, term: Term) -> bool:
        return not signature(term, self.domain)[1]

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
            return f"the share of {self.shared(concept.value, concept.scope)}"
        how = "some" if concept.aggregator == "max" else "all"
        return f"1 if {self.quantified(Quantified('some', concept.value, concept.scope), how)}, else 0"


_OPPOSITE = {"all": "no", "no": "all", "not all": "some"}
"""How many are in p, given how many are in not p."""

_EVERY = {"all": ("every", "every"), "some": ("some", "some"), "no": ("no", "any"), "not all": ("not every", "every")}
