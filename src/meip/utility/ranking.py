"""From a utility to a ranking function over a graph's states, extended as the graph grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import LearningError
from meip.base.kernels import kernel
from meip.concepts.language import Concept
from meip.concepts.values.columns import GraphColumns
from meip.model.graph import StateGraph
from meip.utility.terms import PLAIN, Utility, UtilityTerm

__all__ = ["UtilityRanking"]

Floats = NDArray[np.float64]
ONE, CODE, CURVE = range(3)  # how a term's basis is read: one weight times the value, a code's own, between two knots


class UtilityRanking:
    """Called with a graph, gives g [states, members] for the states seen so far: one column per utility."""

    def __init__(self, utilities: Sequence[Utility]) -> None:
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
        self._known: WeakKeyDictionary[StateGraph, tuple[GraphColumns, Floats, int]] = WeakKeyDictionary()
        self._some: WeakKeyDictionary[StateGraph, tuple[GraphColumns, Floats]] = WeakKeyDictionary()

    def __call__(self, graph: StateGraph) -> Floats:
        size = len(graph)
        columns, g, known = self._known.get(graph) or (GraphColumns(graph), np.empty((0, len(self.utilities))), 0)
        if known < size:
            g = _with_room(g, known, size)
            g[known:size] = self._rank(*columns.tail(self.concepts, known))
            self._known[graph] = (columns, g, size)
        return g[:size]

    def some(self, graph: StateGraph, numbers: Sequence[int]) -> Floats:
        """The same where only these states have to be looked at: NaN for those that nobody asked for so far."""
        size = len(graph)
        columns, g = self._some.get(graph) or (GraphColumns(graph), np.empty((0, len(self.utilities))))
        if len(g) < size:
            known = len(g)
            g = _with_room(g, known, size)
            g[known:] = np.nan
        fresh = [n for n in dict.fromkeys(numbers) if g[n, 0] != g[n, 0]]
        if fresh:
            g[fresh] = self._rank(*columns.some(self.concepts, fresh))
        self._some[graph] = (columns, g)
        return g[:size]

    def _rank(self, values: Floats, missing: NDArray[np.bool_]) -> Floats:
        if np.isnan(values).any() and np.isnan(values[~missing]).any():
            raise LearningError("a concept is NaN in a state where it is not marked as missing")
        found = np.zeros((len(values), len(self.utilities)))
        if len(self._terms):
            _utilities(values, missing, self._terms, self._start, self._knots, self._weights, found)
        return found


def _with_room(g: Floats, known: int, size: int) -> Floats:
    """Grown by doubling, so that all in all little is copied."""
    if len(g) >= size:
        return g
    room = np.empty((max(size, 2 * len(g)), g.shape[1]))
    room[:known] = g[:known]
    return room


@kernel
def _utilities(values: Any, missing: Any, terms: Any, start: Any, knots: Any, weights: Any, out: Any) -> None:
    """out [S, members] += the terms' curves: `utility.basis` times the weights, without making the basis."""
    for t in range(len(terms)):
        concept, way = terms[t, 0], terms[t, 1]
        low, high = start[t], start[t + 1]
        for s in range(len(values)):
            if missing[s, concept]:
                continue
            value = values[s, concept]
            if way == ONE:
                for m in range(out.shape[1]):
                    out[s, m] += value * weights[low, m]
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
