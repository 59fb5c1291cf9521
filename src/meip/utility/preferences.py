"""Preferences: what a person who chooses step by step goes by, beside the utility of states.

A step is worth what it adds to g, less what the rules say that it would break, or do too early; to stop is worth more
where what every demonstration ended with holds. `ChoiceRanking` computes all of this for states of a graph, once each.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal
from weakref import WeakKeyDictionary

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.documents import Strict
from meip.concepts.language import Composite, Concept
from meip.concepts.values.columns import values_at, values_of_steps
from meip.concepts.values.program import Program
from meip.model.graph import StateGraph
from meip.model.steps import step_domain
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import ConceptText, Utility, UtilityTerm, features

__all__ = [
    "Before", "ChoiceRanking", "First", "HeldOut", "Preferences", "Rule", "Statement", "StatementKind", "View",
    "beaten", "outdone", "standing", "summed", "with_order",
]  # fmt: skip

SAME = 1e-9
FORCED, CHANCE = (
    0.78,
    4.0,
)  # of orders: how sure one is that nobody could break; of k chances to break it k^2 / (k^2 + 4)
OMIT = {"omit_default": True}
TEXT = {"as_text": True}
StatementKind = Literal["wanted", "avoided", "late", "first", "order", "never", "done"]


@dataclass(frozen=True)
class Rule(Strict):
    """Something never to be done."""

    concept: ConceptText = field(metadata=TEXT)
    strength: float
    """What a step that risks it pays, in units of g."""
    evidence: float
    """In nats: how surprising it is that somebody without the rule never broke it."""
    price: float
    """In nats: how long it is."""
    possible: int
    """How often it could have been broken in the demonstrations."""
    broken: int = field(default=0, metadata=OMIT)
    """In how many demonstrations it was broken nevertheless."""
    step: bool = field(default=False, metadata=OMIT)
    """Is it about a step, and not to be done while there is another way? Else about a state."""

    @property
    def hunch(self) -> bool:
        """Is it not worth its price, so that it only tells between what is nearly as good?"""
        return self.evidence < self.price


@dataclass(frozen=True)
class Before(Strict):
    """Something always came before something else."""

    first: ConceptText = field(metadata=TEXT)
    then: ConceptText = field(metadata=TEXT)
    strength: float
    """What a step pays that makes the second true without the first."""
    possible: int
    """How often it could have been done otherwise in the demonstrations; 0: there was no other way."""

    @property
    def sure(self) -> float:
        """How likely every further demonstration keeps it, also where the world forces less: measured on everyday tasks
        (`docs/learning.md`). What could have been otherwise once or twice is as often chance as not."""
        return self.possible**2 / (self.possible**2 + CHANCE) if self.possible else FORCED


@dataclass(frozen=True)
class First(Strict):
    """Of the steps that change a quantity, the one that makes it largest (or smallest) comes first."""

    concept: ConceptText = field(metadata=TEXT)
    largest: bool
    weight: float
    """What another step pays, as a negative number."""
    step: bool = field(default=False, metadata=OMIT)
    """Is it a quantity of steps? Else of the states that they lead to."""


@dataclass(frozen=True)
class HeldOut(Strict):
    """What would have been learned without one demonstration, or with dearer statements."""

    without: tuple[int, ...]
    """Demonstrations by number, from 1; several where they show the same, none where only statements were dearer."""
    loss: float
    """Of the demonstration left out: nats per choice."""
    utility: Utility
    done: Utility
    stop: float
    never: tuple[float, ...] = ()
    """What a step pays for each rule; 0 where nothing would have spoken for it."""
    first: tuple[float, ...] = ()
    """What another step pays, for each quantity that some step comes first by."""


@dataclass(frozen=True)
class Statement(Strict):
    """One sentence of what was learned, with what speaks for it."""

    kind: StatementKind
    concept: ConceptText = field(metadata=TEXT)
    """For an order: "then and not first"."""
    weight: float
    """In the small model of the explanation; for a rule or an order what breaking it costs."""
    evidence: float
    """In nats, after its price."""
    possible: int = field(default=0, metadata=OMIT)
    """Choices at which it could have been otherwise; for an order 0 where there was no other way."""
    leaning: tuple[str, ...] = field(default=(), metadata=OMIT)
    """Concepts of the utility that say nearly the same in the demonstrations: they change with an edit of this one."""
    step: bool = field(default=False, metadata=OMIT)
    """Is its concept about steps?"""


@dataclass(frozen=True)
class Preferences(Strict):
    """How somebody chooses, besides g."""

    never: tuple[Rule, ...] = ()
    order: tuple[Before, ...] = ()
    first: tuple[First, ...] = ()
    done: Utility = field(default_factory=lambda: Utility(()))
    """What to stop is worth, by what holds."""
    stop: float = 0.0
    """.. and in any case."""
    least: float | None = None
    """The least worth of stopping where a demonstration stopped by itself; None where none did."""
    by_itself: bool = field(default=False, metadata=OMIT)
    """Do people stop by themselves? Else it is worth as much that the world ends the episode."""
    pace: float = 0.05
    """What a step has to gain to be taken without looking further."""
    patience: float = 0.0
    """Discount of what is further ahead; 0: look ahead only where no single step gains enough."""
    history: float = field(default=0.0, metadata=OMIT)
    """How soon a rise of g above all that was before levels off (`standing`); 0: a step counts by what it adds to g."""
    held_out: tuple[HeldOut, ...] = ()
    """Without each demonstration; then simpler ones, with dearer statements."""
    statements: tuple[Statement, ...] = ()
    """The same in a few sentences: a small model of its own, to be read."""
    foreseen: float = 0.0
    """How many of the shown choices the statements foresee."""
    by_chance: float = 0.0
    choices: int = 0

    @property
    def judges(self) -> int:
        """How many of the held-out models did not see some demonstration; the rest are simpler ones."""
        return sum(bool(held.without) for held in self.held_out)


class ChoiceRanking(UtilityRanking):
    """g, what to stop is worth, which rules are broken, and the same by those who did not see one demonstration.

    Columns: g; stop; a rule each; g and stop of each held-out model; what an order is about; quantities.
    """

    def __init__(self, utility: Utility, preferences: Preferences) -> None:
        self.preferences = preferences
        self.state_rules, self.step_rules = _apart([rule.step for rule in preferences.never])
        """The places of rules about states, and of those about steps."""
        self.state_firsts, self.step_firsts = _apart([one.step for one in preferences.first])
        self.of_steps: tuple[Concept, ...] = (
            *(preferences.never[k].concept for k in self.step_rules),
            *(preferences.first[k].concept for k in self.step_firsts),
        )
        self._step_program: Program | None = None
        self._steps: WeakKeyDictionary[StateGraph, dict[tuple[int, int], Floats]] = WeakKeyDictionary()
        firsts = [preferences.first[k] for k in self.state_firsts]
        self.rules = len(self.state_rules)
        others = [u for held in preferences.held_out for u in (held.utility, held.done)]
        ends = list(dict.fromkeys(c for pair in preferences.order for c in (pair.first, pair.then)))
        marked = [*(preferences.never[k].concept for k in self.state_rules), *ends]
        marks = [Utility((UtilityTerm(concept, "boolean", (), (1.0,)),)) for concept in marked]
        ranked = [Utility((UtilityTerm(one.concept, "linear"),)) for one in firsts]
        super().__init__([utility, preferences.done, *marks[: self.rules], *others, *marks[self.rules :], *ranked])
        self.wishes = utility
        place = {c: self.members - len(ranked) - len(ends) + k for k, c in enumerate(ends)}
        self.before = np.array([(place[p.first], place[p.then]) for p in preferences.order], np.int64).reshape(-1, 2)
        """The columns of what comes first, and of what then."""
        self.order_strength = np.array([p.strength for p in preferences.order])
        self.ranked = np.arange(self.members - len(ranked), self.members)
        """The columns of quantities, NaN where they are missing."""
        self.largest = np.array([one.largest for one in firsts], np.bool_)
        self._places = np.array([self.concepts.index(one.concept) for one in firsts], np.int64)
        self.constant = np.zeros(self.members)
        self.constant[1] = preferences.stop
        for k, held in enumerate(preferences.held_out):
            self.constant[2 + self.rules + 2 * k + 1] = held.stop

    def _rank(self, graph: StateGraph, states: Ints) -> Floats:
        if not len(self._terms):
            return np.zeros((len(states), self.members)) + self.constant
        values, missing = values_at(graph, self._program(graph.domain), states)
        found = self._utilities(values, missing, self._weights) + self.constant
        if len(self._places):
            found[:, self.ranked] = np.where(missing[:, self._places], np.nan, values[:, self._places])
        return found

    def steps(self, graph: StateGraph, pairs: Sequence[tuple[int, int]]) -> Floats:
        """What rules about steps, and quantities of them, say of steps between states [len(pairs), ..]; NaN where they
        are missing. Each is looked at once."""
        known = self._steps.setdefault(graph, {})
        fresh = [pair for pair in dict.fromkeys(pairs) if pair not in known]
        if fresh:
            known.update(zip(fresh, self._of_steps(graph, fresh), strict=True))
        return np.array([known[pair] for pair in pairs]).reshape(len(pairs), len(self.of_steps))

    def _of_steps(self, graph: StateGraph, pairs: Sequence[tuple[int, int]]) -> Floats:
        domain = step_domain(graph.domain)
        if self._step_program is None or self._step_program.domain != domain:
            self._step_program = Program(domain, self.of_steps)
        values, missing = values_of_steps(graph, self._step_program, pairs)
        return np.where(missing, np.nan, values)

    def parts(self, graph: StateGraph, states: Sequence[int]) -> Floats:
        """What each term adds to g in these states [S, terms]."""
        terms = self.wishes.terms
        if not terms:
            return np.zeros((len(states), 1))
        values, missing = values_at(graph, self._program(graph.domain), states)
        own = [self.concepts.index(term.concept) for term in terms]
        table = features(terms, values[:, own], missing[:, own]) * self.wishes.weights
        return np.add.reduceat(table, np.cumsum([0, *(t.size for t in terms[:-1])]), axis=1)

    def view(self, number: int) -> View:
        """What one model sees: 0 is the learned one, the others each held a demonstration out."""
        how = self.preferences
        if number == 0:
            strength = np.array([rule.strength for rule in how.never])
            return View(0, 1, strength, np.array([one.weight for one in how.first]))
        held, first = how.held_out[number - 1], 2 + self.rules + 2 * (number - 1)
        return View(first, first + 1, np.array(held.never), np.array(held.first))


@dataclass(frozen=True)
class View:
    """One model of a `ChoiceRanking`."""

    g: int
    """Its columns."""
    stop: int
    never: Floats
    """What a step pays for each rule .."""
    first: Floats
    """.. and for each quantity that another step comes first by."""


def _apart(marked: Sequence[bool]) -> tuple[list[int], list[int]]:
    """The places that are not marked, and those that are."""
    return [k for k, on in enumerate(marked) if not on], [k for k, on in enumerate(marked) if on]


def summed(terms: Sequence[UtilityTerm]) -> Utility:
    """A utility in which terms of the same concept are one."""
    found: dict[object, UtilityTerm] = {}
    for term in terms:
        known = found.get(term.concept)
        found[term.concept] = _sum(known, term) if known is not None else term
    return Utility(tuple(t for t in found.values() if np.abs(t.weights).max() > SAME))


def _sum(one: UtilityTerm, other: UtilityTerm) -> UtilityTerm:
    """Two terms of a concept as one; a line beside a curve bends and ends where the curve does."""
    if one.kind == "linear" != other.kind:
        one, other = other, one
    line = one.kind != other.kind
    added = [other.weights[0] * (knot - other.middle) for knot in one.knots] if line else other.weights
    return dataclasses.replace(one, weights=tuple(a + b for a, b in zip(one.weights, added, strict=True)))


def with_order(utility: Utility, preferences: Preferences) -> Utility:
    """The utility in which what comes too early counts against a state: for rankings of states alone."""
    pairs = [
        UtilityTerm(Composite("and", (pair.then, Composite("not", (pair.first,)))), "boolean", (), (-pair.strength,))
        for pair in preferences.order
    ]
    return summed([*utility.terms, *pairs])


def standing(g: Floats, past: Floats, sharpness: float) -> Floats:
    """How high values of g [V] stand above those of the past: the mean of tanh(sharpness * (g - g before)), in units of
    g; for a sharpness of 0 their mean difference."""
    difference = g[:, None] - past
    bent = np.tanh(sharpness * difference) / sharpness if sharpness else difference
    return np.asarray(bent.mean(axis=1), np.float64)


def beaten(before: Floats, after: Floats, start: Ints, largest: bool = True) -> Floats:
    """Which alternatives [N] change a quantity although another one of the same choice would make it better.

    `after` is the quantity after each alternative, the better the larger; choices begin at `start` [C + 1].
    """
    own = before if largest else -before
    with np.errstate(invalid="ignore"):
        changed = np.isfinite(after) & ~(np.abs(after - own) <= SAME)
    worth = np.where(changed, after, -np.inf)
    best = np.repeat(np.maximum.reduceat(worth, start[:-1]), np.diff(start))
    return np.asarray(changed & (worth < best - SAME), np.float64)


def outdone(values: Floats, start: Ints, largest: bool = True) -> Floats:
    """Which alternatives [N] have a value (NaN: none) although another one of the same choice has a better one."""
    return beaten(np.full(len(values), np.nan), values if largest else -values, start, largest)
