"""From learned utilities to a score of states, and a greedy walk with it through any world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meip.concepts.language import Concept
from meip.concepts.values.denotation import Denotation
from meip.concepts.values.program import Program
from meip.model.domain import Domain, FactBlock
from meip.model.graph import StateGraph
from meip.search.weariness import Weariness
from meip.utility.terms import PLAIN, Utility

__all__ = ["UtilityScore", "Walk", "greedy_walk"]

Floats = NDArray[np.float64]


class UtilityScore:
    """The mean of some utilities over states; where all their terms are linear it is one sum over their concepts."""

    def __init__(self, domain: Domain, utilities: Sequence[Utility]) -> None:
        self.domain = domain
        self.utilities = tuple(utilities)
        self.concepts: tuple[Concept, ...] = tuple(dict.fromkeys(c for u in self.utilities for c in u.concepts))
        self._program = Program(domain, self.concepts)
        self._place = {concept: k for k, concept in enumerate(self.concepts)}
        self._weights: Floats | None = None
        if all(term.kind in PLAIN for u in self.utilities for term in u.terms):
            self._weights = np.zeros(len(self.concepts))
            for utility in self.utilities:
                for term in utility.terms:
                    self._weights[self._place[term.concept]] += term.weights[0] / len(self.utilities)

    def __call__(self, blocks: Sequence[FactBlock]) -> Floats:
        """The score [S] of the states of a batch of facts."""
        denotation = Denotation(self.domain, blocks)
        if not self.concepts:
            return np.zeros(denotation.states)
        values, missing = denotation.matrix(self._program)
        if self._weights is not None:
            total = np.zeros(denotation.states)
            for k, weight in enumerate(self._weights):
                total += weight * values[:, k]  # missing values are 0
            return total
        parts = []
        for utility in self.utilities:
            chosen = [self._place[c] for c in utility.concepts]
            parts.append(utility.rank(values[:, chosen], missing[:, chosen]))
        return np.asarray(np.mean(parts, axis=0), dtype=np.float64)


@dataclass(frozen=True)
class Walk:
    """Where greed led."""

    solved: bool
    steps: int


def greedy_walk(graph: StateGraph, score: UtilityScore, limit: int, start: int | None = None) -> Walk:
    """Always to the best successor not visited yet, until the goal, a dead end, or the limit of steps.

    Values met before wear out, as when planning.

    Where chance has a say: by the action that is best on average, to its likeliest outcome.
    """
    state = int(graph.initial[0]) if start is None else start
    weariness = Weariness()
    weariness.at(state)
    for step in range(limit + 1):
        if graph.goal(state):
            return Walk(True, step)
        outcomes = [graph.outcomes(a) for a in graph.action_numbers(state)]
        move = weariness.step(_means(graph, score, outcomes), outcomes)
        if move is None:
            return Walk(False, step)
        state = outcomes[move[0]][move[1]][1]
    return Walk(False, limit)


def _means(graph: StateGraph, score: UtilityScore, outcomes: Sequence[Sequence[tuple[float, int]]]) -> Floats:
    """The mean score of each action over its outcomes."""
    successors = list(dict.fromkeys(s for choices in outcomes for _, s in choices))
    if not successors:
        return np.zeros(0)
    value = dict(zip(successors, score(graph.facts(successors)).tolist(), strict=True))
    return np.array([sum(p * value[s] for p, s in choices) for choices in outcomes])
