"""From utilities to a ranking of a graph's states: g [states, members], computed once for each state asked for."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import ArrayLike

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import LearningError
from meip.base.kernels import kernel
from meip.concepts.language import Concept
from meip.concepts.values.columns import values_at
from meip.concepts.values.denotation import Denotation
from meip.concepts.values.program import Program
from meip.model.domain import Domain, FactBlock
from meip.model.graph import StateGraph
from meip.utility.terms import PLAIN, Utility, UtilityTerm

__all__ = ["Ranking", "ScoreRanking", "UtilityRanking"]

ONE, CODE, CURVE = range(3)  # how a term's basis is read: one weight times the value, a code's own, between two knots


class Ranking(ABC):
    """Called with a graph, gives g [states, members]: of all states seen so far, or of some of them.

    Rows of states that nobody asked for are undefined.
    """

    def __init__(self, members: int = 1) -> None:
        self.members = members
        self._known: WeakKeyDictionary[StateGraph, tuple[Floats, int]] = WeakKeyDictionary()  # g, whole up to a state

    def __call__(self, graph: StateGraph, states: Sequence[int] | Ints | None = None) -> Floats:
        size = len(graph)
        g, whole = self._known.get(graph) or (np.empty((0, self.members)), 0)
        if len(g) < size:
            g = _with_room(g, size)
        if states is None:
            fresh = whole + np.flatnonzero(np.isnan(g[whole:size, 0]))
            whole = size
        else:
            asked = np.unique(np.asarray(states, dtype=np.int64))
            fresh = asked[np.isnan(g[asked, 0])]
        if len(fresh):
            g[fresh] = self._rank(graph, fresh)
        self._known[graph] = (g, whole)
        return g[:size]

    def mean(self, graph: StateGraph, states: Sequence[int] | Ints) -> Floats:
        """The members' mean for these states [len(states)]."""
        found = self(graph, states)[np.asarray(states, dtype=np.int64)]
        return np.asarray(found[:, 0] if self.members == 1 else found.mean(axis=1), dtype=np.float64)

    @abstractmethod
    def _rank(self, graph: StateGraph, states: Ints) -> Floats:
        """g of these states [len(states), members]."""


class ScoreRanking(Ranking):
    """A ranking by any score of states: a function of a graph and state numbers."""

    def __init__(self, score: Callable[[StateGraph, Ints], ArrayLike], members: int = 1) -> None:
        super().__init__(members)
        self.score = score

    def _rank(self, graph: StateGraph, states: Ints) -> Floats:
        return np.asarray(self.score(graph, states), dtype=np.float64).reshape(len(states), self.members)


class UtilityRanking(Ranking):
    """The ranking of some utilities, one column each."""

    def __init__(self, utilities: Sequence[Utility]) -> None:
        super().__init__(len(utilities))
        self.utilities = tuple(utilities)
        self.concepts: tuple[Concept, ...] = tuple(dict.fromkeys(c for u in self.utilities for c in u.concepts))
        place = {concept: k for k, concept in enumerate(self.concepts)}
        bases: dict[tuple[object, ...], UtilityTerm] = {}  # members of a committee share most of theirs
        for term in (t for u in self.utilities for t in u.terms):
            bases.setdefault((term.concept, term.kind, term.knots), term)
        terms = list(bases.values())
        start = np.cumsum([0, *(t.size for t in terms)])
        ways = [ONE if t.kind in PLAIN else CODE if t.kind == "table" else CURVE for t in terms]
        self._terms = np.array([[place[t.concept], w] for t, w in zip(terms, ways, strict=True)], np.int64)
        self._start = start.astype(np.int64)
        self._knots = np.array([k for t in terms for k in (t.knots or (0.0,))])
        self._weights = np.zeros((int(start[-1]), len(self.utilities)))
        first = dict(zip(bases, start.tolist(), strict=False))
        for m, utility in enumerate(self.utilities):
            for term in utility.terms:
                at = first[term.concept, term.kind, term.knots]
                self._weights[at : at + term.size, m] = term.weights
        self._programs: dict[Domain, Program] = {}
        self._compiled: Program | None = None  # what was used last
        self._mean: _MeanRanking | None = None

    def mean(self, graph: StateGraph, states: Sequence[int] | Ints) -> Floats:
        """g is linear in the weights: the mean of the members is one utility with their mean weights."""
        if self._mean is None:
            self._mean = _MeanRanking(self)
        found: Floats = self._mean(graph, states)[np.asarray(states, dtype=np.int64), 0]
        return found

    def _rank(self, graph: StateGraph, states: Ints) -> Floats:
        return self.rank_with(graph, states, self._weights)

    def rank_with(self, graph: StateGraph, states: Ints, weights: Floats) -> Floats:
        """The same concepts with other weights [terms, columns]."""
        if not len(self._terms):
            return np.zeros((len(states), weights.shape[1]))
        return self._utilities(*values_at(graph, self._program(graph.domain), states), weights)

    def mean_of(self, domain: Domain, blocks: Sequence[FactBlock]) -> Floats:
        """The members' mean for states that are known by their facts only [S]."""
        values, missing = Denotation(domain, blocks).matrix(self._program(domain))
        return self._utilities(values, missing, self.mean_weights())[:, 0]

    def _program(self, domain: Domain) -> Program:
        if self._compiled is None or self._compiled.domain is not domain:  # equal ones take long to compare
            if domain not in self._programs:
                self._programs[domain] = Program(domain, self.concepts)
            self._compiled = self._programs[domain]
        return self._compiled

    def _utilities(self, values: Floats, missing: Bools, weights: Floats) -> Floats:
        found = np.zeros((len(values), weights.shape[1]))
        if np.isnan(values).any() and np.isnan(values[~missing]).any():
            raise LearningError("a concept is NaN in a state where it is not marked as missing")
        if len(self._terms):
            columns, gaps = np.ascontiguousarray(values.T), np.ascontiguousarray(missing.T)  # as they are in memory
            _utilities(columns, gaps, self._terms, self._start, self._knots, weights, found)
        return found

    def mean_weights(self) -> Floats:
        """[terms, 1]"""
        return np.ascontiguousarray(self._weights.mean(axis=1, keepdims=True))


class _MeanRanking(Ranking):
    """The mean member of a ranking by utilities."""

    def __init__(self, of: UtilityRanking) -> None:
        super().__init__()
        self._of, self._weights = of, of.mean_weights()

    def _rank(self, graph: StateGraph, states: Ints) -> Floats:
        return self._of.rank_with(graph, states, self._weights)


def _with_room(g: Floats, size: int) -> Floats:
    """Grown by doubling, so that all in all little is copied."""
    room = np.full((max(size, 2 * len(g)), g.shape[1]), np.nan)
    room[: len(g)] = g
    return room


@kernel
def _utilities(columns: Any, missing: Any, terms: Any, start: Any, knots: Any, weights: Any, out: Any) -> None:
    """out [S, members] += the terms' curves: `utility.basis` times the weights, without making the basis."""
    for t in range(len(terms)):
        concept, way = terms[t, 0], terms[t, 1]
        low, high = start[t], start[t + 1]
        for s in range(len(out)):
            if missing[concept, s]:
                continue
            value = columns[concept, s]
            if way == ONE:
                for m in range(out.shape[1]):
                    out[s, m] += (value - knots[low]) * weights[low, m]
                continue
            k = low
            while k < high and knots[k] < value:
                k += 1  # the first knot that is not below
            if way == CODE:
                if k < high and knots[k] == value:
                    for m in range(out.shape[1]):
                        out[s, m] += weights[k, m]
                continue
            k = min(k, high - 1)
            if k == low or knots[k] <= value:
                for m in range(out.shape[1]):
                    out[s, m] += weights[k, m]
                continue
            share = (value - knots[k - 1]) / (knots[k] - knots[k - 1])
            for m in range(out.shape[1]):
                out[s, m] += (1.0 - share) * weights[k - 1, m] + share * weights[k, m]
