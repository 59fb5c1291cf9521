"""English for terms: clauses about named subjects, relative clauses, and nouns with their quantifiers.

Fluents bring their own phrases ("{0} is on {1}") in the singular; verbs are put in the plural and negated here.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from meip.base.errors import ConceptError
from meip.concepts.check import signature
from meip.concepts.comparisons import number
from meip.concepts.language import (
    Agreement,
    AtLeast,
    Closure,
    Composition,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Restriction,
    Term,
)
from meip.model.domain import Domain, Fluent

__all__ = ["GAP", "Noun", "Phrases", "article", "listed", "spaced"]

GAP = "\0"
"""Stands for the subject in a clause from which a predicate is to be cut."""

_MODALS = ("can", "must", "may", "will", "could", "should")
_REPEATED = "directly or indirectly"
_ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth")


@dataclass(frozen=True)
class Noun:
    """A noun phrase, and whether its verb is in the plural."""

    text: str
    plural: bool = False

    @property
    def begin(self) -> str:
        """The pronoun at the beginning of a clause."""
        return "they" if self.plural else "it"

    @property
    def object(self) -> str:
        """The pronoun elsewhere in a clause."""
        return "them" if self.plural else "it"


def listed(parts: Sequence[str], word: str = "and") -> str:
    """a, b and c"""
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def article(noun: str) -> str:
    """The noun with a or an before it."""
    return f"{'an' if noun[:1].lower() in 'aeiou' else 'a'} {noun}"


def spaced(name: str) -> str:
    """A name as words: on_table, on-table -> on table."""
    return re.sub(r"[_\-]+", " ", name.replace("@", " at ")).strip() or name


def _base(verb: str) -> str:
    """The plural (or infinitive) of a verb in the third person singular."""
    if verb.endswith("ies") and len(verb) > 4:
        return verb[:-3] + "y"
    if re.search(r"(ch|sh|ss|x|zz)es$", verb) or verb == "goes":
        return verb[:-2]
    return verb[:-1] if verb.endswith("s") and not verb.endswith("ss") else verb


def _verb(verb: str, plural: bool, negated: bool) -> str:
    if verb in ("is", "was"):
        form = {"is": "are", "was": "were"}[verb] if plural else verb
        return f"{form} not" if negated else form
    if verb in _MODALS:
        return verb if not negated else "cannot" if verb == "can" else f"{verb} not"
    base = {"has": "have", "does": "do"}.get(verb) or _base(verb)
    if negated:
        return f"{'do' if plural else 'does'} not {base}"
    return base if plural else verb


def _denied(phrase: str) -> str:
    """The opposite of a phrase with a subject of its own: the arm does not hold {0}."""
    if re.search(r" (is|are|was|were|must)\b", phrase):
        return re.sub(r" (is|are|was|were|must)\b", r" \1 not", phrase, count=1)
    verb = re.match(r"((?:the|a|an) \w+ )(\w+[^su]s|has)\b(.*)", phrase)
    return f"{verb[1]}{_verb(verb[2], False, True)}{verb[3]}" if verb else f"it is not true that {phrase}"


class Phrases:
    """Clauses and noun phrases about the entities of one domain."""

    def __init__(self, domain: Domain) -> None:
        self.domain = domain

    # --- nouns ---

    def noun(self, name: str, plural: bool = False) -> str:
        """The noun for an entity of a class."""
        entity = self.domain.entity_class(name)
        return spaced(entity.plural if plural else entity.name)

    def group(self, classes: tuple[str, ...], plural: bool = True) -> str:
        """Pairs of blocks; a pair of a block and a table."""
        size = {2: "pair", 3: "triple"}.get(len(classes), f"{len(classes)}-tuple") + ("s" if plural else "")
        if len(set(classes)) == 1:
            return f"{size} of {self.noun(classes[0], True)}"
        return f"{size} of {listed([article(self.noun(c)) for c in classes])}"

    def members(self, classes: tuple[str, ...]) -> list[Noun]:
        """How the entities of a pair or triple are told apart: the first; the table."""
        if len(set(classes)) == len(classes):
            return [Noun(f"the {self.noun(c)}") for c in classes]
        if len(set(classes)) == 1:
            return [Noun(f"the {_ORDINALS[i]}" if i < 8 else f"number {i + 1}") for i in range(len(classes))]
        seen = [classes[: i + 1].count(c) for i, c in enumerate(classes)]
        return [
            Noun(f"the {_ORDINALS[k - 1] + ' ' if classes.count(c) > 1 else ''}{self.noun(c)}")
            for c, k in zip(classes, seen, strict=True)
        ]

    # --- fluents ---

    def phrase(self, fluent: Fluent) -> str:
        """The phrase of a fluent, or a fair one made from its name."""
        if fluent.phrase:
            return fluent.phrase
        if fluent.goal_of is not None:
            return f"{self.phrase(self.domain.fluent(fluent.goal_of))} in the goal"
        words = spaced(fluent.name)
        places = [f"{{{i}}}" for i in range(fluent.arity)]
        if fluent.real:
            return f"the {words} of {listed(places)}" if places else f"the {words}"
        if not places:
            return f"{words} is the case"
        first = words.split()[0]
        verb = first in ("is", "has", "was", *_MODALS) or bool(re.search(r"[^sui]s$", first))
        return " ".join([places[0], words if verb else f"is {words}", *([listed(places[1:])] if places[1:] else [])])

    def stated(self, fluent: Fluent, nouns: Sequence[Noun], negated: bool, how: str = "") -> str:
        """A fluent's phrase about these nouns, with an adverb after the verb."""
        if fluent.goal_of is not None and not fluent.phrase and not how and any(" that " in n.text for n in nouns):
            # Not at the end, where it would seem to belong to the relative clause.
            return self.stated(self.domain.fluent(fluent.goal_of), nouns, negated, "in the goal")
        phrase = self.phrase(fluent)
        if phrase.startswith("{0} "):
            verb, _, rest = phrase[4:].partition(" ")
            phrase = " ".join(filter(None, ["{0}", _verb(verb, nouns[0].plural, negated), how, rest]))
        else:
            phrase = (_denied(phrase) if negated else phrase) + (f" ({how})" if how else "")
        return re.sub(r"\{(\d)\}", lambda m: nouns[int(m[1])].text if int(m[1]) < len(nouns) else m[0], phrase)

    # --- clauses ---

    def clause(self, term: Term, nouns: Sequence[Noun], negated: bool = False) -> str:
        """A sentence that says that a predicate is true (or not) of these nouns."""
        match term:
            case Primitive(name):
                return self.stated(self.domain.fluent(name), nouns, negated)
            case Negation(inner):
                return self.clause(inner, nouns, not negated)
            case Conjunction(left, right):
                if not negated and (short := self._against_goal(left, right, nouns)):
                    return short
                return self._both(self.clause(left, nouns, negated), self.clause(right, nouns, negated), nouns, negated)
            case Permutation(inner, order):
                moved = list(nouns)
                for i, place in enumerate(order):
                    moved[place] = nouns[i]
                return self.clause(inner, moved, negated)
            case Closure(Primitive(name)):
                return self.stated(self.domain.fluent(name), nouns, negated, _REPEATED)
            case Closure(Permutation(Primitive() as inner, (1, 0))):
                return self.clause(Closure(inner), nouns[::-1], negated)
            case Closure(inner):
                return f"{self.clause(inner, nouns, negated)} ({_REPEATED})"
            case Restriction() | Composition():
                return self._linked(term, nouns, negated)
            case Agreement():
                return self._agreement(term, nouns, negated)
            case AtLeast(Primitive(name), least):
                what = self.stated(self.domain.fluent(name), nouns, False)
                return f"{what} is {'below' if negated else 'at least'} {number(least)}"
            case AtLeast(Permutation(inner, order), least):
                return self.clause(Permutation(AtLeast(inner, least), order), nouns, negated)
            case _:
                raise ConceptError(f"{term!r} is not a term")

    def _against_goal(self, left: Term, right: Term, nouns: Sequence[Noun]) -> str | None:
        """p and p_goal; p_goal and not p: short forms for a predicate and its own goal copy."""
        if (own := self._goal_pair(left, right)) is not None:
            return f"{self.clause(own[0], nouns)} as in the goal"
        if isinstance(left, Negation):
            left, right = right, left
        if isinstance(right, Negation) and (own := self._goal_pair(left, right.term)) is not None:
            return f"{self.clause(left, nouns)} but not {'yet' if own[1] else 'in the goal'}"
        return None

    def _both(self, one: str, other: str, nouns: Sequence[Noun], negated: bool) -> str:
        """Two clauses joined by and (or, when both are negated), naming a common subject once."""
        subject = f"{nouns[0].text} " if nouns else ""
        shared = bool(subject) and one.startswith(subject) and other.startswith(subject)
        if not negated:
            return f"{one} and {other[len(subject) :] if shared else other}"
        if shared:
            return f"{subject}either {one[len(subject) :]} or {other[len(subject) :]}"
        return f"either {one} or {other}"

    def _linked(self, term: Restriction | Composition, nouns: Sequence[Noun], negated: bool) -> str:
        """some R.P, all R.P, R . S: there is something (nothing, only something) in between."""
        universal = isinstance(term, Restriction) and term.quantifier == "all"
        role = term.role if isinstance(term, Restriction) else term.left
        classes = signature(role, self.domain)[0]
        before, after = nouns[: len(classes) - 1], list(nouns[len(classes) - 1 :])
        filler = term.filler if isinstance(term, Restriction) else term.right
        single, many = (
            f"{self.noun(classes[-1], plural)}{self.relative(filler, plural, after, universal and not plural)}"
            for plural in (False, True)
        )
        if isinstance(role, Primitive | Closure | Permutation) and self._plain(role):
            choice = {(False, False): f"some {single}", (False, True): f"no {single}", (True, True): f"some {single}"}
            plural = universal and not negated
            return self.clause(role, [*before, Noun(f"only {many}" if plural else choice[universal, negated], plural)])
        that = Noun(f"that {self.noun(classes[-1])}")
        if universal:
            link = self.clause(role, [*before, that])
            return f"for {'some' if negated else 'no'} {single}, {link}"
        return f"for {'no' if negated else 'some'} {single}, {self.clause(role, [*before, that])}"

    def _plain(self, role: Term) -> bool:
        """Does a clause about this role name each argument just once, and say nothing negative?"""
        while isinstance(role, Closure | Permutation):
            role = role.term
        return isinstance(role, Primitive)

    def _agreement(self, term: Agreement, nouns: Sequence[Noun], negated: bool) -> str:
        classes = signature(term.left, self.domain)[0]
        many, single = self.noun(classes[-1], True), self.noun(classes[-1])
        own = self._goal_pair(term.left, term.right)
        if own is not None:
            current, included = own
            asked = f"{many} that the goal asks for"
            which = (
                f"exactly the {asked}" if term.relation == "same" else f"all {asked}" if included else f"only {asked}"
            )
            return self.clause(current, [*nouns, Noun(which, True)], negated)
        given = self.clause(term.left, [*nouns, Noun(article(single))])
        then = self.clause(term.right, [*nouns, Noun(f"that {single}")])
        turned = ", and the other way round" if term.relation == "same" else ""
        return f"{'not ' if negated else ''}whenever {given}, {then}{turned}"

    def _goal_pair(self, left: Term, right: Term) -> tuple[Term, bool] | None:
        """The current predicate of a pair with its own goal copy, and whether the goal copy is on the left."""
        if isinstance(left, Primitive) and isinstance(right, Primitive):
            if self.domain.fluent(right.name).goal_of == left.name:
                return left, False
            if self.domain.fluent(left.name).goal_of == right.name:
                return right, True
        return None

    def relative(self, term: Term | None, plural: bool, others: Sequence[Noun] = (), negated: bool = False) -> str:
        """A relative clause with a space before it: " that are clear"; empty for U."""
        if term is None:
            return ""
        gap = Noun(GAP, plural)
        clause = self.clause(term, [gap, *others], negated)
        if clause.startswith(f"{GAP} "):
            return f" that {_filled(clause[2:], gap)}"
        if clause.endswith(GAP) and clause.count(GAP) == 1:
            return f" that {clause[:-2]}"
        return f" such that {_filled(clause, gap)}"

    def about(self, subject: Noun, term: Term) -> str:
        """A sentence about a quantified subject, which is named once and then by a pronoun."""
        gap = Noun(GAP, subject.plural)
        clause = self.clause(term, [gap])
        if isinstance(term, Primitive) and clause.count(GAP) == 1:
            if clause.endswith(f" {GAP}") and subject.text.startswith("not "):  # the arm does not hold all blocks
                return self.clause(term, [gap], negated=True).replace(GAP, subject.text.removeprefix("not "))
            if clause.endswith(f" {GAP}") or not subject.text.startswith(("no ", "not ")):
                return clause.replace(GAP, subject.text)
        if clause.startswith(f"{GAP} "):
            return f"{subject.text} {_filled(clause[2:], gap)}"
        return f"{subject.text} {'are' if subject.plural else 'is'} such that {_filled(clause, gap)}"


def _filled(clause: str, gap: Noun) -> str:
    """The gaps of a clause filled with pronouns."""
    if clause.startswith(f"{GAP} "):
        clause = gap.begin + clause[1:]
    return re.sub(rf"(\b(?:and|or|either|that|,) ){GAP} ", rf"\1{gap.begin} ", clause).replace(GAP, gap.object)
