"""Candidates without an explosion: where relations make the bank large, it is grown where the evidence is.

Terms that are true of the same in every state are one. Of a level with too many of them, those are built on that
promise most: by the slope of the likelihood along them, beside all that simpler concepts explain. So it is with
concepts. The budget is in columns, so that the same demonstrations give the same candidates on any machine.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.distinct import column_prints
from meip.base.parallel import Shared, Workers
from meip.base.running import look
from meip.concepts.bank import ConceptBank
from meip.concepts.check import signature
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept, Quantified, Term
from meip.concepts.parser import parse_concept
from meip.concepts.values.denotation import Denotation
from meip.learning.evidence import Effects, Evidence
from meip.learning.offers import offered
from meip.learning.selection import Pruner
from meip.learning.sparse import FEW, Problem, path
from meip.learning.thresholds import thresholds
from meip.model.domain import Domain

__all__ = ["BUDGET", "TERMS", "Grown", "Growth"]

BUDGET = 6000  # concepts that become candidates
BESIDE = 500  # those that come after the last level, however many there are already
TERMS = 3000  # of a level that are built on
TOGETHER = 1000  # columns that are looked at together
DIGITS = 9
IMPRESSIONS, TOLD = 400, 6  # concepts of a level that are looked at for a first impression, and those that are told


@dataclass(frozen=True)
class Grown:
    """Concepts to choose from, and what became of the levels of the bank."""

    concepts: list[Concept]
    levels: list[dict[str, Any]]
    cuts: list[str]
    thresholds: tuple[tuple[str, float], ...]

    def packed(self) -> dict[str, Any]:
        """As texts and numbers."""
        texts = [str(concept) for concept in self.concepts]
        return {"concepts": texts, "levels": self.levels, "cuts": self.cuts, "thresholds": list(self.thresholds)}

    @classmethod
    def unpacked(cls, value: dict[str, Any], domain: Domain) -> Grown:
        """The same again."""
        concepts = [parse_concept(text, domain) for text in value["concepts"]]
        thresholds = tuple((str(text), float(number)) for text, number in value["thresholds"])
        return cls(concepts, value["levels"], value["cuts"], thresholds)


class Growth(Pruner):
    """The concepts of a grammar for some evidence, level by level, within a budget."""

    def __init__(
        self,
        evidence: Evidence,
        grammar: Grammar,
        budget: int | None = None,
        terms: int = TERMS,
        workers: Workers | None = None,
        say: Callable[..., None] | None = None,
    ) -> None:
        super().__init__(evidence.denotation)
        self.evidence, self.terms, self.workers, self.say = evidence, terms, workers or Workers(), say
        self._common = Shared(evidence.denotation)
        self.budget = (grammar.max_concepts or BUDGET) if budget is None else budget
        self.thresholds = thresholds(evidence) if grammar.numbers else ()
        named = dataclasses.replace(grammar, max_concepts=None, thresholds=(*grammar.thresholds, *self.thresholds))
        self.bank = ConceptBank(evidence.domain, named, self)
        self.found: list[Concept] = []
        self.levels: list[dict[str, Any]] = []
        """What was looked at on each level, what was kept, and why the bank ends."""
        self._built_on: dict[int, tuple[int, int]] = {}
        self._slope: tuple[int, Floats] | None = None

    def grown(self) -> Grown:
        """All that is to be known of it afterwards."""
        return Grown(self.grow(), self.levels, self.cuts, self.thresholds)

    def grow(self) -> list[Concept]:
        """The concepts to choose from."""
        for level, concepts, info in self.bank.levels():
            room = self.budget - len(self.found)
            if level > self.bank.rules.max_level:
                room = max(room, BESIDE)
            kept = [concepts[i] for i in self._best(concepts, room)]
            self.found += kept
            told = {"level": level, "concepts": len(concepts), "kept": len(kept), "stopped": info.stopped}
            built = self._built_on.get(level)
            self.levels.append({**told, **({"terms": built[0], "terms_kept": built[1]} if built else {})})
            self._tell(level, concepts[:IMPRESSIONS])
            if not room and level < self.bank.rules.max_level:
                break
        return self.found

    def _tell(self, level: int, concepts: Sequence[Concept]) -> None:
        """Tell of a level, and what the shown steps bring about (or not) most beyond chance: a first impression, in
        units of what chance alone would give it."""
        if self.say is None or not concepts:
            return
        evidence = self.evidence
        values, missing = evidence.denotation.matrix(concepts)
        changes = evidence.change(np.where(missing, 0.0, values))
        slope = -1.0 / np.diff(evidence.start)[evidence.group]
        slope[evidence.chosen] += 1.0
        telling = slope @ changes / np.maximum(np.sqrt((changes**2).sum(axis=0)), 1e-12)
        first: dict[float, int] = {}  # one of those that are alike
        for k in np.argsort(-np.abs(telling), kind="stable").tolist():
            first.setdefault(round(abs(float(telling[k])), DIGITS), k)
        chosen = [k for k in first.values() if abs(telling[k]) > 1e-9][:TOLD]
        wanted = [(str(concepts[k]), float(telling[k])) for k in chosen]
        self.say(stage="bank", level=level, found=len(self.found), impressions=wanted)

    @property
    def cuts(self) -> list[str]:
        """What was not looked at, in words."""
        found = [level["stopped"] for level in self.levels if level["stopped"]]
        for level in self.levels:
            if "terms" in level:
                found.append(f"level {level['level']}: {level['terms_kept']} of {level['terms']} terms were built on")
            if level["kept"] < level["concepts"]:
                found.append(f"level {level['level']}: {level['kept']} of {level['concepts']} concepts were kept")
        return found

    def __call__(self, level: int, terms: tuple[Term, ...]) -> list[Term]:
        """Of each different term the first; of too many to build on the most promising, by how many there are."""
        if self.say is not None:
            self.say(stage="bank", level=level, terms=len(terms), found=len(self.found))
        kept = super().__call__(level, terms)
        if level == 1 or level >= self.bank.rules.max_level or len(kept) <= self.terms:
            return kept
        domain = self.evidence.domain
        best = self._best([Quantified("count" if signature(t, domain)[0] else "some", t) for t in kept], self.terms)
        self._built_on[level] = len(kept), len(best)
        return [kept[i] for i in best]

    def _best(self, concepts: Sequence[Concept], room: int) -> list[int]:
        """The places of those along which the likelihood rises most, in their order; of equal columns the first."""
        count = len(concepts)
        if count <= room:
            return list(range(count))
        if not room:
            return []
        parts = [concepts[first : first + TOGETHER] for first in range(0, count, TOGETHER)]
        screen = Shared(_Screen(self.evidence.denotation, self.evidence.effects, self._residual()))
        steep, known = np.zeros(count), set[bytes]()
        place = 0
        for slopes, keys in self.workers.map_compiled(_screened, parts, screen):
            for slope, key in zip(slopes.tolist(), keys, strict=True):
                steep[place] = slope if key and key not in known else -1.0
                known.add(key)
                place += 1
        best: Ints = np.argsort(-steep, kind="stable")[:room]
        return sorted(best[steep[best] >= 0].tolist())

    def _fingerprints(self, terms: Sequence[Term]) -> list[tuple[Any, ...] | None]:
        """By all workers, some each."""
        size = len(terms) if self.workers.alone else max(TOGETHER, -(-len(terms) // 16))
        parts = [terms[first : first + size] for first in range(0, len(terms), max(size, 1))]
        return [key for part in self.workers.map_compiled(_fingerprints_of, parts, self._common) for key in part]

    def _residual(self) -> Floats:
        """Shown less foreseen [N], by the concepts so far."""
        if self._slope is None or self._slope[0] != len(self.found):
            self._slope = len(self.found), self._residual_of(self.found)
        return self._slope[1]

    def _residual_of(self, concepts: Sequence[Concept]) -> Floats:
        """Shown less foreseen [N], by lines and truths of some concepts."""
        evidence = self.evidence
        values, missing = evidence.denotation.matrix(concepts)
        offers = offered(evidence, concepts, np.where(missing, np.nan, values), simple=True)
        columns = np.column_stack([offers.changes, evidence.stop.astype(np.float64)])
        problem = Problem.of(evidence, columns, np.append(offers.prices, 0.0))
        foreseen = problem.foreseen(path(problem, FEW, np.ones(evidence.count)))[1]
        shown = np.zeros(len(foreseen))
        shown[evidence.chosen] = 1.0
        return np.asarray(shown - foreseen, np.float64)


class _Screen(NamedTuple):
    """What concepts are screened by. It can be sent to other processes, worlds need not."""

    denotation: Denotation
    effects: Effects
    slope: Floats  # [N]


def _screened(concepts: Sequence[Concept], screen: _Screen) -> tuple[Floats, list[bytes]]:
    """How steeply the likelihood rises along each of these, and a print of what alternatives change of it."""
    look()
    values, missing = screen.denotation.matrix(concepts)
    changes = screen.effects.change(np.where(missing, 0.0, values))
    size = np.sqrt((changes**2).sum(axis=0))
    return np.abs(screen.slope @ changes) / np.maximum(size, 1e-12), column_prints(changes, DIGITS)


def _fingerprints_of(terms: Sequence[Term], denotation: Denotation) -> list[tuple[Any, ...] | None]:
    return denotation.fingerprints(tuple(terms))
