"""Candidate concepts: counts of the terms of a grammar, level by level, each different one once.

Two terms that are true of the same tuples in every training state cannot be told apart by the data: only the simplest
is built on, the others are remembered, because a committee may choose among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import LearningError
from meip.concepts.bank import ConceptBank, LevelInfo
from meip.concepts.check import kind
from meip.concepts.grammar import Grammar
from meip.concepts.language import (
    Agreement,
    Concept,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Term,
    walk,
)
from meip.concepts.parser import parse_concept
from meip.concepts.values.denotation import Denotation
from meip.model.domain import Domain

__all__ = ["Candidates", "Pruner", "find_candidates", "given_candidates", "price"]

AGREEMENT = 1.1  # what is taken off for each
STEEP = 1.5  # a concept twice as long has to be worth more than twice as much
TWINS = 8  # indistinguishable terms that are remembered for each


@dataclass
class Candidates:
    """Concepts with different columns over the training states, and what cannot be told apart from each."""

    concepts: list[Concept]
    values: Floats  # [states, K]
    prices: Floats  # [K]
    twins: list[list[tuple[Concept, float]]]
    """For each concept those with the same increments in every training problem, times +1 or -1, that cost no more."""
    levels: list[LevelInfo] = field(default_factory=list)


class Pruner:
    """Keeps one term of each different value over the training states."""

    def __init__(self, denotation: Denotation) -> None:
        self.denotation = denotation
        self.twins: dict[Term, list[Term]] = {}
        self._known: dict[tuple[Any, ...], Term] = {}

    def __call__(self, level: int, terms: tuple[Term, ...]) -> list[Term]:
        kept = []
        for term, key in zip(terms, self.denotation.fingerprints(terms), strict=True):
            if key is None:  # empty, or everything, in all states
                continue
            first = self._known.setdefault(key, term)
            if first is term:
                kept.append(term)
                self.twins[term] = []
            elif len(self.twins[first]) < TWINS:
                self.twins[first].append(term)
        return kept


def find_candidates(denotation: Denotation, problem_of: Sequence[int], grammar: Grammar | None = None) -> Candidates:
    """All candidate concepts of a grammar over the states of a batch."""
    pruner = Pruner(denotation)
    bank = ConceptBank(denotation.domain, grammar or Grammar.planning(), pruner)
    problems = np.asarray(problem_of)
    starts = np.flatnonzero(np.diff(problems, prepend=-1))
    concepts: list[Concept] = []
    columns: list[Floats] = []
    twins: list[list[tuple[Concept, float]]] = []
    known: dict[bytes, int] = {}
    levels = []
    for _, found, info in bank.levels():
        levels.append(info)
        values, missing = denotation.matrix(found)
        for k, concept in enumerate(found):
            if missing[:, k].any():
                continue
            column = np.ascontiguousarray(values[:, k])
            relative = column - column[starts][problems]
            moved = np.flatnonzero(relative)
            if not len(moved):
                continue
            sign = float(np.sign(relative[moved[0]]))
            place = known.setdefault((relative * sign).tobytes(), len(concepts))
            if place == len(concepts):
                concepts.append(concept)
                columns.append(column)
                twins.append([])
            reference = columns[place] - columns[place][starts][problems]
            same = float(np.sign(reference[moved[0]])) * sign
            twins[place] += [(c, same) for c in _variants(concept, pruner)]
    if not concepts:
        raise LearningError("no concept of the grammar tells the demonstrated steps from others: allow more of it")
    return _cheapest(
        Candidates(concepts, np.array(columns).reshape(len(concepts), -1).T, np.zeros(0), twins, levels),
        denotation.domain,
    )


def given_candidates(denotation: Denotation, texts: Sequence[str]) -> Candidates:
    """The user's own concepts as candidates; none has to pay a price."""
    concepts: list[Concept] = [parse_concept(text, denotation.domain) for text in texts]
    for concept in concepts:
        if kind(concept, denotation.domain) == "table":
            raise LearningError(f"{concept}: single choices are compared by sums, so that a table cannot be used")
    values, missing = denotation.matrix(concepts)
    if missing.any():
        name = concepts[int(np.argmax(missing.any(axis=0)))]
        raise LearningError(f"{name}: its value is missing in some of the states that were compared")
    return Candidates(concepts, values, np.zeros(len(concepts)), [[(c, 1.0)] for c in concepts])


def _cheapest(found: Candidates, domain: Domain) -> Candidates:
    """Of concepts with the same increments the cheapest stands for all; its equals are what a member may choose."""
    prices = np.empty(len(found.concepts))
    for k, twins in enumerate(found.twins):
        costs = [price(concept, domain) for concept, _ in twins]
        prices[k] = min(costs)
        best, turned = twins[costs.index(min(costs))]
        found.concepts[k] = best
        found.values[:, k] *= turned
        found.twins[k] = [
            (c, sign * turned) for (c, sign), cost in zip(twins, costs, strict=True) if cost <= prices[k] + 1e-9
        ]
    return replace(found, prices=prices)


def price(concept: Concept, domain: Domain) -> float:
    """Primitive occurrences to a power; a predicate compared with its own goal copy is one idea, and the better bet.

    Small problems often cannot tell "images taken" from "images taken that were asked for"; larger ones can.
    """
    agreements = sum(
        isinstance(node, Conjunction | Agreement) and _with_own_goal(node.left, node.right, domain)
        for node in walk(concept)
    )
    return float((concept.complexity - AGREEMENT * agreements) ** STEEP)


def _with_own_goal(left: Term, right: Term, domain: Domain) -> bool:
    names = []
    for term in (left, right):
        while isinstance(term, Negation | Permutation):
            term = term.term
        if not isinstance(term, Primitive):
            return False
        names.append(term.name)
    return domain.fluent(names[0]).goal_of == names[1] or domain.fluent(names[1]).goal_of == names[0]


def _variants(concept: Concept, pruner: Pruner) -> list[Concept]:
    if not isinstance(concept, Quantified):
        return [concept]
    return [concept, *(replace(concept, value=t) for t in pruner.twins.get(concept.value, ()))]
