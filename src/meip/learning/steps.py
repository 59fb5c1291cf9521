"""Rules about steps: what is not done, on some occasion, while there is another way; and to what it is done first.

A state does not say how it came about. What a step makes new (`new-done`), beside how things were before it
(`old-fuel`), does: "refuelled although there was much left"; "on to the one that was nearest". Such rules are about
what else could have been done: where there was no other way, none is broken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.concepts.bank import ConceptBank
from meip.concepts.canonical import chain, negated
from meip.concepts.check import signature
from meip.concepts.grammar import Grammar
from meip.concepts.language import (
    Aggregated,
    AtLeast,
    Composite,
    Concept,
    Constant,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
    Term,
    walk,
)
from meip.concepts.steps import before, names_in
from meip.concepts.values.denotation import Denotation
from meip.learning.evidence import RISK, Evidence
from meip.learning.thresholds import number_between, numbers_between, values_of
from meip.learning.worth import EXCEPTION, HUNCH, LEAST, MANY, price_of, telling
from meip.model.domain import EVENTS, NEW, OLD, Fluent
from meip.model.steps import step_blocks, step_domain
from meip.utility.preferences import outdone

__all__ = ["Deed", "Steps"]

DEEDS = Grammar(quantifiers=("some",), scopes=False, restriction=True, boolean_arity=1, closure=False, max_level=2)
OCCASIONS = dataclasses.replace(DEEDS, quantifiers=("all", "some"), scopes=True)
MOST = 400  # deeds, and occasions, that are put together
Occasions = tuple[Sequence[Concept | None], Floats, Bools]
RULES = 60  # of those that are looked at beside one another
MANIFOLD = 2.0  # nats: that there are so many ways to put deeds and occasions together costs more
NUMBERS = 24  # of a quantity that are tried


@dataclass(frozen=True)
class Deed:
    """Something that steps may do, as a candidate for a rule."""

    concept: Concept
    price: float
    worth: float
    """What speaks for it beyond its price, by itself, in nats."""
    done: Bools
    """[N] the alternatives that risk it where there is another way."""
    broken: int
    """The kind of demonstrations in which it was done nevertheless; -1: none."""


class Steps:
    """What may be said of the steps of some choices. Nothing where things come and go, so that it is not known which is
    which, or where a world knows its goal: what serves a goal is no question of occasions."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence, self.domain = evidence, evidence.domain
        self._start = evidence.start[:-1]

    @cached_property
    def facts(self) -> Denotation | None:
        """Of each outcome of each alternative, as a step."""
        evidence = self.evidence
        if any(evidence.goals) or not self.domain.copies:
            return None
        before = evidence.at[evidence.group][evidence.alternative]
        blocks, steps = step_blocks(self.domain, evidence.blocks, before, evidence.after)
        if len(steps) < len(evidence.after):
            return None
        placed = [dataclasses.replace(block, states=steps[block.states]) for block in blocks]
        return Denotation(step_domain(self.domain), placed)

    # --- what is done ---

    @cached_property
    def _deeds(self) -> tuple[list[Concept], Bools]:
        """What some steps do, and which alternatives risk to do it [N, E]; the simplest of those that are the same."""
        evidence = self.evidence
        bank = ConceptBank(step_domain(self.domain), DEEDS)
        found = [c for level in (1, 2) for c in bank.concepts(level) if self._is_deed(c)]
        found += [*self._by_how_much(), *self._to_what()]
        if self.facts is None or not found:
            return [], np.zeros((len(evidence.rows), 0), np.bool_)
        done = self._done(found)
        kept = [j for j in _simplest(done, [c.complexity for c in found]) if self._open(done[:, [j]]).any()][:MOST]
        return [found[j] for j in kept], done[:, kept]

    def _by_how_much(self) -> list[Concept]:
        """Something is done to what had at least, or less than, so much of a quantity before."""
        found: list[Concept] = []
        copies = self.domain.copies
        for fluent in self.domain.functions:
            if fluent.arity == 1 and OLD + fluent.name in copies:
                numbers = numbers_between(values_of(self.evidence.blocks, fluent))
                events = [f for f in copies.values() if f.name.startswith(EVENTS) and f.classes == fluent.classes]
                for number in numbers:
                    least = AtLeast(Primitive(OLD + fluent.name), number)
                    for event in events:
                        parts = ((Primitive(event.name), term) for term in (least, negated(least)))
                        found += [Quantified("some", chain(pair)) for pair in parts]
        return found

    def _to_what(self) -> list[Concept]:
        """Something is done to what is related to something of a kind: "a lamp of a room in which somebody works"."""
        found: list[Concept] = []
        given = [f for f in self.domain.predicates if f.static]
        for event in (f for f in self.domain.copies.values() if f.name.startswith(EVENTS) and f.arity == 1):
            for role in (f for f in given if f.arity == 2 and f.classes[:1] == event.classes):
                for kind in (f for f in given if f.classes == role.classes[1:]):
                    near = Restriction("some", Primitive(role.name), Primitive(kind.name))
                    parts = ((Primitive(event.name), term) for term in (near, negated(near)))
                    found += [Quantified("some", chain(pair)) for pair in parts]
        return found

    def _done(self, concepts: Sequence[Concept]) -> Bools:
        """Which alternatives risk to do it [N, E]."""
        assert self.facts is not None
        evidence = self.evidence
        true = np.nan_to_num(self.facts.matrix(concepts)[0]) > 0.5
        done = np.logical_or.reduceat(true & (evidence.odds[:, None] > RISK), evidence.first, axis=0)
        return np.asarray(done & ~evidence.stop[:, None], np.bool_)

    def _is_deed(self, concept: Concept) -> bool:
        """Something is made so, or no longer so; how things were before is said of what that happens to only."""
        events = {name for name in self.domain.copies if name.startswith(EVENTS)}
        names = names_in(concept)
        if any(isinstance(node, Negation) and names_in(node) & events for node in walk(concept)):
            return False
        return bool(names & events)

    def _open(self, done: Bools) -> Bools:
        """Where something else than this could be done, other than to stop [C, E]."""
        return np.asarray(np.logical_or.reduceat(~done & ~self.evidence.stop[:, None], self._start, axis=0), np.bool_)

    # --- on what occasion ---

    @cached_property
    def _occasions(self) -> tuple[list[Concept | None], Floats, Bools]:
        """What was so before a choice (the first: anything), its length, and where it was so [C, O]."""
        rows = list(self._listed())
        table = np.array([row for _, _, row in rows]).T
        kept = _simplest(table, [length for _, length, _ in rows])[:MOST]
        return [rows[j][0] for j in kept], np.array([rows[j][1] for j in kept]), table[:, kept]

    def _listed(self) -> Iterator[tuple[Concept | None, float, Bools]]:
        evidence = self.evidence
        yield None, 0.0, np.ones(evidence.count, np.bool_)
        bank = ConceptBank(self.domain, OCCASIONS)
        plain = [c for level in (1, 2) for c in bank.concepts(level) if isinstance(c, Quantified)]
        true = np.nan_to_num(evidence.denotation.matrix(plain)[0][evidence.at]) > 0.5
        for k, concept in enumerate(plain):
            yield concept, concept.complexity, true[:, k]
            yield _no(concept), concept.complexity, ~true[:, k]
        for fluent in self.domain.functions:
            if not fluent.static and fluent.arity < 2:
                for how in ("max", "min") if fluent.classes else ("mean",):
                    yield from self._levels(Aggregated(how, Primitive(fluent.name)))

    def _levels(self, quantity: Concept) -> Iterator[tuple[Concept, float, Bools]]:
        """At least, or less than, numbers between those that were met."""
        column = self.evidence.denotation.matrix([quantity])[0][self.evidence.at, 0]
        met = np.unique(column)
        places = np.unique(np.linspace(0, len(met) - 2, min(NUMBERS, len(met) - 1)).round().astype(np.int64))
        numbers = [number_between(float(met[k]), float(met[k + 1])) for k in places]
        for least in (True, False):
            for number in numbers:
                concept = Composite("<=", (Constant(number), quantity))
                above = column >= number
                yield concept if least else _no(concept), quantity.complexity + 1.0, above if least else ~above

    # --- rules ---

    def rules(self, usual: Floats) -> list[Deed]:
        """What was never done on an occasion while there was another way: the most telling, by how likely each
        alternative [N] would usually have been."""
        if self.facts is None:
            return []
        deeds, done = self._deeds
        lengths = np.array([float(concept.complexity) for concept in deeds])
        always = ([None], np.zeros(1), np.ones((self.evidence.count, 1), np.bool_))
        found = self._telling(usual, deeds, done, lengths, self._occasions) if deeds else []
        alike, lengths, done = self._alike()
        return _distinct([*found, *(self._telling(usual, alike, done, lengths, always) if alike else [])])

    def _telling(
        self, usual: Floats, deeds: Sequence[Concept], done: Bools, lengths: Floats, occasions: Occasions
    ) -> list[Deed]:
        evidence, (names, more, when) = self.evidence, occasions
        odds = usual[:, None]
        risk = np.add.reduceat(done * odds, self._start, axis=0) / np.add.reduceat(odds, self._start, axis=0)
        shown, free = done[evidence.chosen], self._open(done)
        gain = np.where(shown | ~free, 0.0, -np.log(np.maximum(1 - risk, 1e-9))) / evidence.copies[:, None]
        mine = [evidence.demo == kind for kind in range(evidence.kinds)]
        each = np.stack([gain[rows].T @ when[rows] for rows in mine])  # [kinds, E, O]
        wrong = np.stack([(shown & free)[rows].T.astype(np.float64) @ when[rows] > 0.5 for rows in mine])
        once = wrong.sum(axis=0) == 1
        each = np.where(wrong & once, 0.0, each)
        back = np.array([self._looks_back(c) for c in deeds])
        price = price_of(lengths[:, None] + more) + MANIFOLD * (back[:, None] | (more > 0))
        worth = telling(each)
        allowed = ~wrong.any(axis=0) | (once & (evidence.kinds >= MANY))
        possible = np.logical_or.reduceat(done, self._start, axis=0) & free
        told = possible.T.astype(np.float64) @ (1.0 - when) > 0.5  # one that is there whenever it can be done is none
        of_some = np.array([name is None for name in names]) & (lengths[:, None] > 1)
        allowed &= back[:, None] | told | of_some
        net = np.where(allowed & (worth >= LEAST), worth - price - EXCEPTION * once, -np.inf)
        found = []
        for e, o in (divmod(int(k), len(names)) for k in np.argsort(-net, axis=None, kind="stable")[: 5 * RULES]):
            if net[e, o] > -HUNCH:
                occasion = names[o]
                whole = deeds[e] if occasion is None else Composite("and", (deeds[e], before(occasion, self.domain)))
                where = done[:, e] & when[evidence.group, o] & free[evidence.group, e]
                broken = int(wrong[:, e, o].argmax()) if once[e, o] else -1
                found.append(Deed(whole, float(price[e, o]), float(net[e, o]), where, broken))
        return found

    def _looks_back(self, concept: Concept) -> bool:
        """Does it say how things were before? What is merely done rarely, or late, is for wishes to say, unless it is
        done to things of a kind: in other worlds there are other ways."""
        return any(name.startswith(OLD) and name in self.domain.copies for name in names_in(concept))

    def _alike(self) -> tuple[list[Concept], Floats, Bools]:
        """Something is done to what is of a kind just as, or other than, the one thing that was something before: turns
        are taken, or one kind is finished before the next. Also to what it is related to."""
        assert self.facts is not None
        found = [*self._of_its_kind(), *self._related()]
        if not found:
            return [], np.zeros(0), np.zeros((len(self.evidence.rows), 0), np.bool_)
        done = self._done([concept for concept, _ in found])
        kept = [j for j in _simplest(done, [length for _, length in found]) if self._open(done[:, [j]]).any()]
        return [found[j][0] for j in kept], np.array([found[j][1] for j in kept]), done[:, kept]

    def _of_its_kind(self) -> Iterator[tuple[Concept, float]]:
        kinds = [f for f in self.domain.predicates if f.static and f.arity == 1]
        for last in self._changing():
            if self._is_of_one(last.name):
                was, name = Primitive(OLD + last.name), Quantified("some", Primitive(OLD + last.name))
                for new in (n for n in self._changing() if n.classes == last.classes):
                    made = Primitive(NEW + new.name)
                    for kind in (k for k in kinds if k.classes == last.classes):
                        of = Primitive(kind.name)
                        same = Composite(
                            "=", (Quantified("some", chain((made, of))), Quantified("some", chain((was, of))))
                        )
                        for one in (same, _no(same)):
                            yield Composite("and", (Composite("and", (Quantified("some", made), name)), one)), 4.0

    def _related(self) -> Iterator[tuple[Concept, float]]:
        for role in (f for f in self.domain.predicates if f.static and f.arity == 2):
            ways = [Primitive(role.name), Permutation(Primitive(role.name), (1, 0))]
            for way, (one, other) in zip(ways, (role.classes, role.classes[::-1]), strict=True):
                if way is ways[1] and one != other:
                    continue  # only arguments of one class may change places
                for new in (n for n in self._changing() if n.classes == (one,)):
                    for last in (n for n in self._changing() if n.classes == (other,)):
                        near = Restriction("some", way, Primitive(OLD + last.name))
                        for term in (near, negated(near)):
                            yield Quantified("some", chain((Primitive(NEW + new.name), term))), 3.0

    def _changing(self) -> list[Fluent]:
        return [f for f in self.domain.predicates if f.arity == 1 and NEW + f.name in self.domain.copies]

    def _is_of_one(self, name: str) -> bool:
        """Was it never true of more than one thing?"""
        count = self.evidence.denotation.matrix([Quantified("count", Primitive(name))])[0]
        return bool(count.max(initial=0.0) <= 1.0)

    # --- first by a quantity ---

    def quantities(self) -> list[tuple[Concept, bool, Floats]]:
        """Quantities of the things that a step does something to, whether the largest comes first, and which
        alternatives [N] are beaten by another one."""
        evidence = self.evidence
        concepts = [c for fluent in self.domain.functions if len(fluent.classes) == 1 for c in self._of(fluent.name)]
        if self.facts is None or not concepts:
            return []
        values, missing = self.facts.matrix(concepts)
        values = np.where(missing | evidence.stop[evidence.alternative, None], np.nan, values)
        found: list[tuple[Concept, bool, Floats]] = []
        known: set[bytes] = set()
        for k, concept in enumerate(concepts):
            mean = np.add.reduceat(values[:, k] * evidence.odds, evidence.first)
            for largest in (True, False):
                lost = outdone(mean, evidence.start, largest)
                if lost.any() and lost.tobytes() not in known:
                    known.add(lost.tobytes())
                    found.append((concept, largest, lost))
        return found

    def _of(self, name: str) -> Iterator[Concept]:
        """The mean of a function, as it was before, over what is made new; and over that of a kind."""
        fluent, domain = self.domain.fluent(name), step_domain(self.domain)
        value = Primitive(name if fluent.static else OLD + name)
        bank = ConceptBank(domain, dataclasses.replace(DEEDS, max_level=1))
        simple = [t for t in bank.terms(1) if signature(t, domain)[0] == fluent.classes]
        events = [
            t for t in simple if not isinstance(t, Negation) and any(n.startswith(EVENTS) for n in self._copied(t))
        ]
        kinds = [t for t in simple if not self._copied(t) and self._is_static(t)]
        for event in events:
            yield Aggregated("mean", value, event)
        for event in events:
            yield from (Aggregated("mean", value, chain((event, kind))) for kind in kinds)

    def _copied(self, term: Term) -> set[str]:
        return {name for name in names_in(term) if name in self.domain.copies}

    def _is_static(self, term: Term) -> bool:
        return all(self.domain.fluent(name).static for name in names_in(term))


def _distinct(found: Sequence[Deed]) -> list[Deed]:
    """One of those that the same alternatives would do: the cheapest, and of equal ones that in the middle, which names
    a number far from those that were met."""
    groups: dict[bytes, list[Deed]] = {}
    for deed in found:
        groups.setdefault(deed.done.tobytes(), []).append(deed)
    chosen = []
    for deeds in groups.values():
        least = min(deed.price for deed in deeds)
        cheapest = [deed for deed in deeds if deed.price == least]
        chosen.append(cheapest[len(cheapest) // 2])
    return sorted(chosen, key=lambda deed: -deed.worth)[:RULES]


def _no(concept: Concept) -> Concept:
    return Composite("not", (concept,))


def _simplest(columns: Bools, lengths: Sequence[float]) -> list[int]:
    """One of each group of equal columns that are true somewhere: the first of the shortest."""
    groups: dict[bytes, list[int]] = {}
    for j in range(columns.shape[1]):
        if columns[:, j].any():
            groups.setdefault(columns[:, j].tobytes(), []).append(j)
    found = [min(places, key=lambda j: lengths[j]) for places in groups.values()]
    return sorted(found, key=lambda j: (lengths[j], j))
