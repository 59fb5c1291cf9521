"""Explanations: what a task is about, in English, with formulas, curves, shares and the learned order.

Everything here is plain data; `meip.report` shows it on a terminal and as a page.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from meip.concepts.check import kind
from meip.concepts.english import english, forbidden
from meip.concepts.language import Concept
from meip.concepts.steps import first_of, not_done
from meip.learning.checkpoint import Decision
from meip.learning.selection import precedence
from meip.model.domain import Domain
from meip.tasks.task import Precedence, Provenance, Task
from meip.utility.preferences import Preferences, Statement
from meip.utility.terms import curve

__all__ = ["MAJORITY", "Explanation", "Reading", "Said", "explain", "layers", "reduced"]

MAJORITY = 0.5
FIRM = {"wanted": 2.0, "avoided": 2.0, "late": 2.0, "first": 2.0, "never": 0.5}  # nats beyond the price; less: a guess
NEVER = "never, although it was possible"
PLAIN = ("first", "in the end", "it is done when")  # beginnings that need no colon
FORCED = " (always so far; there was no other way)"
MOST_TOLD = 4  # wishes without an order in the sentence
Curve = tuple[tuple[float, float], ...]  # (value of the concept, what it adds to g)


@dataclass(frozen=True)
class Reading:
    """One concept of a task."""

    text: str
    english: str
    kind: str
    curves: tuple[Curve, ...]
    """One per member that uses it."""
    share: float
    """Of the utility: how much g can differ through this concept, relative to all (the members' mean)."""
    confidence: float
    """Share of the members that use it and agree on its direction."""
    direction: str
    """wanted, avoided, or shaped (neither rising nor falling throughout)."""
    first: str = ""
    """For an order concept: what has to come first .."""
    then: str = ""
    """.. and what only then."""

    @property
    def is_order(self) -> bool:
        return bool(self.first)


@dataclass(frozen=True)
class Said:
    """One statement: what kind it is, in English, as a formula, and what speaks for it."""

    kind: str
    english: str
    text: str
    weight: float
    evidence: float
    """In nats, after its price."""
    possible: int
    """Choices at which it could have been otherwise."""


@dataclass(frozen=True)
class Explanation:
    """A task in words and numbers."""

    domain: str
    sentence: str
    readings: tuple[Reading, ...]
    order: tuple[Precedence, ...]
    english: dict[str, str]
    """The English of each concept by its text."""
    tau_demo: float
    members: int
    decisions: tuple[Decision, ...]
    provenance: Provenance
    notes: tuple[str, ...]
    statements: tuple[Said, ...] = ()
    """What is told where single choices were learned from: a small model of its own."""
    foreseen: str = ""
    """How many shown choices it foresees."""

    @property
    def wishes(self) -> tuple[Reading, ...]:
        """What is cared about, without the order between them: first what comes first, the rest by its share."""
        rank = {str(c): n for n, layer in enumerate(layers(self.order)) for c in layer}
        chosen = [r for r in self.readings if not r.is_order]
        return tuple(sorted(chosen, key=lambda r: (rank.get(r.text, len(rank)), -r.share)))

    def order_share(self, edge: Precedence) -> float:
        """How much of the utility is about this piece of order."""
        found = [r.share for r in self.readings if (r.first, r.then) == (str(edge.first), str(edge.then))]
        return sum(found)

    def to_json(self) -> dict[str, Any]:
        """For programs."""
        return {
            "domain": self.domain,
            "sentence": self.sentence,
            "concepts": [dataclasses.asdict(reading) for reading in self.readings],
            "order": [
                {"first": str(e.first), "then": str(e.then), "strength": e.strength, "confidence": e.confidence}
                for e in self.order
            ],
            "tau_demo": self.tau_demo,
            "members": self.members,
            "decisions": [dataclasses.asdict(decision) for decision in self.decisions],
            "provenance": dataclasses.asdict(self.provenance),
            "notes": list(self.notes),
            "statements": [dataclasses.asdict(said) for said in self.statements],
            "foreseen": self.foreseen,
        }


def explain(task: Task) -> Explanation:
    """Read a task aloud."""
    shares = _shares(task)
    readings = sorted((_reading(task, c, shares[c]) for c in shares), key=lambda r: -r.share)
    names = {str(c): english(c, task.domain) for c in task.concepts}
    for edge in task.order:
        names |= {str(c): english(c, task.domain) for c in (edge.first, edge.then)}
    return Explanation(
        task.domain.name,
        _sentence(task, readings, names) if task.preferences is None else _told(task.preferences, task.domain),
        tuple(readings),
        task.order,
        names,
        task.tau_demo,
        len(task.members),
        task.decisions,
        task.provenance,
        (*task.warnings, *task.notes, *_edits(task)),
        () if task.preferences is None else _statements(task.preferences, task.domain),
        "" if task.preferences is None else _foreseen(task.preferences),
    )


def _statements(how: Preferences, domain: Domain) -> tuple[Said, ...]:
    return tuple(_said(statement, domain, how.least is not None) for statement in how.statements)


def _said(statement: Statement, domain: Domain, stops: bool) -> Said:
    """A statement in the words of its kind; `stops`: did people stop by themselves?"""
    lead, text = _words(statement, domain, stops)
    told = f"{lead}{'' if lead in PLAIN else ':'} {text}" if lead not in ("", "wanted") else text
    told = f"perhaps: {told}" if _is_guess(statement) else told
    return Said(
        statement.kind, told, str(statement.concept), statement.weight, statement.evidence, statement.possible
    )  # fmt: skip


def _is_guess(statement: Statement) -> bool:
    return statement.evidence < FIRM.get(statement.kind, statement.evidence)


def _words(statement: Statement, domain: Domain, stops: bool) -> tuple[str, str]:
    """How a statement begins, which is common to its kind, and what it says."""
    concept, up, times = statement.concept, statement.weight > 0, statement.possible
    plain = english(concept, domain)
    truth = kind(concept, domain) == "boolean"
    match statement.kind:
        case "wanted":
            return "wanted" if truth else "rather more than less", plain
        case "avoided":
            return "rather not" if truth else "rather less than more", plain
        case "late":
            return "as long as possible" if up and truth else "up as long as possible" if up else "rather late", plain
        case "first":
            if statement.step:
                return "first", first_of(concept, domain, up)
            return "first", f"the step after which {plain} is {'smallest' if up else 'largest'}"
        case "done":
            return "it is done when" if stops and statement.weight else "in the end", plain
        case "never":
            lead = f"never, although it was possible {_times(times)}" if times else f"never{FORCED}"
            if statement.step:
                return lead, f"{not_done(concept, domain)}, if there is another way"
            return lead, forbidden(concept, domain)
        case "order":
            first, then = cast(tuple[Concept, Concept], precedence(concept))
            free = f" (it could have been otherwise {_times(times)})" if times else FORCED
            return "", f"{english(first, domain)} before {english(then, domain)}{free}"


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def _foreseen(how: Preferences) -> str:
    chance = f"{how.by_chance:.0f}" if how.by_chance >= 0.5 else "fewer than 1"
    return f"foresees {how.foreseen:.0f} of {how.choices} shown choices; by chance {chance}"


def _told(how: Preferences, domain: Domain) -> str:
    """Statements as a sentence: order, end, what is never done, what is wanted, guesses, and how much it foresees."""
    stops = how.least is not None
    parts: dict[str, list[str]] = {"in the end": [], "it is done when": [], NEVER: []}
    guesses = []
    order, happens = _chain(how.statements, domain)
    for statement in how.statements:
        lead, text = _words(statement, domain, stops)
        if _is_guess(statement):
            guesses.append(_said(statement, domain, stops).english.removeprefix("perhaps: "))
        elif statement.kind == "never" and statement.possible:
            parts[NEVER].append(f"{text} ({_times(statement.possible)})")
        elif statement.kind != "order" and not (lead == "in the end" and statement.concept in happens):
            parts.setdefault(lead, []).append(text)
    ends = parts.pop("it is done when")
    told = [order, f"it is done when {', and '.join(ends)}" if ends else ""]
    told += [f"{lead}: {'; '.join(each)}" for lead, each in parts.items() if each]
    told.append(f"perhaps: {'; '.join(guesses)}" if guesses else "")
    sentence = ". ".join(part[0].upper() + part[1:] for part in told if part)
    return (
        f"{sentence}. This {_foreseen(how)}." if sentence else "Nothing was found that tells shown steps from others."
    )


def _chain(statements: Sequence[Statement], domain: Domain) -> tuple[str, set[Concept]]:
    """The order as "first .., then ..", where that is all it says, else as pairs; and what it says to happen."""
    pairs = [(s, *cast(tuple[Concept, Concept], precedence(s.concept))) for s in statements if s.kind == "order"]
    if not pairs:
        return "", set()
    edges = reduced([Precedence(first, then, -s.weight, 1.0) for s, first, then in pairs])
    kept = {(str(e.first), str(e.then)) for e in edges}
    forced = [s for s, first, then in pairs if (str(first), str(then)) in kept and not s.possible]
    why = FORCED if len(forced) == len(kept) else ""
    chain = layers(edges)
    said = {(str(a), str(b)) for one, other in itertools.pairwise(chain) for a in one for b in other}
    if said == kept:
        told = ", then ".join(" and ".join(english(c, domain) for c in layer) for layer in chain)
        return f"first {told}{why}", {c for layer in chain for c in layer}
    firsts: dict[str, list[str]] = {}
    for edge in edges:
        firsts.setdefault(english(edge.then, domain), []).append(english(edge.first, domain))
    return "; ".join(f"{' and '.join(first)} before {then}" for then, first in firsts.items()) + why, set()


def _edits(task: Task) -> list[str]:
    return [
        f"edited by hand: {edit.concept} from {list(edit.before)} to {list(edit.after)}"
        + (f" ({edit.note})" if edit.note else "")
        for edit in dict.fromkeys(edit for member in task.members for edit in member.edits)
    ]


def _shares(task: Task) -> dict[Concept, float]:
    """How much of g's range is due to each concept: influence over the sum of influences, averaged over members."""
    total = dict.fromkeys((c for member in task.members for c in member.concepts), 0.0)
    for member in task.members:
        whole = sum(term.influence for term in member.terms)
        for term in member.terms:
            total[term.concept] += term.influence / whole / len(task.members) if whole > 0 else 0.0
    return total


def _reading(task: Task, concept: Concept, share: float) -> Reading:
    terms = [term for member in task.members for term in member.terms if term.concept == concept]
    curves = [curve(term) for term in terms]
    directions = [_direction(heights) for _, heights in curves]
    usual = max(sorted(set(directions)), key=directions.count)
    pair = precedence(concept)
    is_order = pair is not None and usual == "avoided"
    return Reading(
        str(concept),
        english(concept, task.domain),
        terms[0].kind,
        tuple(tuple(zip(values.tolist(), heights.tolist(), strict=True)) for values, heights in curves),
        share,
        directions.count(usual) / len(task.members),
        usual,
        str(pair[0]) if pair is not None and is_order else "",
        str(pair[1]) if pair is not None and is_order else "",
    )


def _direction(heights: np.ndarray[tuple[int], np.dtype[np.float64]]) -> str:
    steps = np.diff(heights)
    if (steps >= -1e-12).all():
        return "wanted"
    return "avoided" if (steps <= 1e-12).all() else "shaped"


def reduced(order: Sequence[Precedence]) -> list[Precedence]:
    """The order without what follows from the rest: a before c is left out where a is before b and b before c."""
    after: dict[Concept, set[Concept]] = {}
    for edge in order:
        after.setdefault(edge.first, set()).add(edge.then)
    return [edge for edge in order if not _reaches(after, after[edge.first] - {edge.then}, edge)]


def _reaches(after: dict[Concept, set[Concept]], start: set[Concept], edge: Precedence) -> bool:
    todo, seen = list(start), {edge.first}
    while todo:
        concept = todo.pop()
        if concept == edge.then:
            return True
        if concept not in seen:
            seen.add(concept)
            todo += after.get(concept, ())
    return False


def layers(order: Sequence[Precedence]) -> list[list[Concept]]:
    """The ordered concepts in layers: each after everything that must come before it. Cycles end up in one layer."""
    concepts = list(dict.fromkeys(c for edge in order for c in (edge.first, edge.then)))
    before = {c: {e.first for e in order if e.then == c} for c in concepts}
    found: list[list[Concept]] = []
    left = concepts
    while left:
        ready = [c for c in left if not before[c] & set(left) - {c}] or left
        found.append(ready)
        left = [c for c in left if c not in ready]
    return found


def _sentence(task: Task, readings: Sequence[Reading], names: dict[str, str]) -> str:
    """The task in one sentence: what comes first, what then, what else is wanted; by the majority of the members."""
    avoided = {r.text for r in readings if r.direction == "avoided"}
    firm = [e for e in task.order if e.confidence >= MAJORITY and not {str(e.first), str(e.then)} & avoided]
    ordered = layers(firm)
    parts = []
    for number, layer in enumerate(ordered):
        word = "First " if number == 0 else "then "
        parts.append(word + " and ".join(names[str(c)] for c in layer))
    told = {str(c) for layer in ordered for c in layer}
    others = [r for r in readings if not r.is_order and r.text not in told]
    extra = [_wish(r) for r in others if r.share > 0 and r.confidence >= MAJORITY]
    sentence = ", ".join(parts)
    if extra:
        more = f"; and {len(extra) - MOST_TOLD} more" if len(extra) > MOST_TOLD else ""
        listed = "; ".join(extra[:MOST_TOLD]) + more
        sentence = f"{sentence}. Besides: {listed}" if sentence else f"Wanted: {listed}"
    if sentence:
        return f"{sentence}."
    heaviest = [r.english for r in others if r.share > 0][:MOST_TOLD]
    if heaviest:
        return (
            f"No concept is shared by most of the {len(task.members)} members; what weighs most: {'; '.join(heaviest)}."
        )
    return "Nothing was found that all demonstrations strive for."


def _wish(reading: Reading) -> str:
    if reading.kind == "boolean":
        return reading.english if reading.direction == "wanted" else f"not: {reading.english}"
    how = {"wanted": "rather more than less", "avoided": "rather less than more", "shaped": _right_size(reading)}
    return f"{reading.english}, {how[reading.direction]}"


def _right_size(reading: Reading) -> str:
    """Where the members' curves are highest, on average."""
    best = float(np.mean([max(points, key=lambda point: point[1])[0] for points in reading.curves]))
    return f"about {best:.3g} at best"
