"""From a utility to a ranking function over a graph's states, extended as the graph grows."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from meip.concepts.columns import GraphColumns
from meip.concepts.language import Concept
from meip.graph import StateGraph
from meip.utility import Utility, UtilityTerm, features

__all__ = ["UtilityRanking"]

Floats = NDArray[np.float64]


class UtilityRanking:
    """Called with a graph, gives g [states, members] for the states seen so far: one column per utility."""

    def __init__(self, utilities: Sequence[Utility]) -> None:
        self.utilities = tuple(utilities)
        self.concepts: tuple[Concept, ...] = tuple(dict.fromkeys(c for u in self.utilities for c in u.concepts))
        place = {concept: k for k, concept in enumerate(self.concepts)}
        bases: dict[tuple[object, ...], UtilityTerm] = {}  # members of a committee share most of theirs
        for term in (t for u in self.utilities for t in u.terms):
            bases.setdefault((term.concept, term.kind, term.knots), term)
        self._terms = list(bases.values())
        self._chosen = [place[term.concept] for term in self._terms]
        start = dict(zip(bases, np.cumsum([0, *(t.size for t in self._terms)]).tolist(), strict=False))
        self._places = [
            np.array([start[t.concept, t.kind, t.knots] + i for t in u.terms for i in range(t.size)], np.int64)
            for u in self.utilities
        ]
        self._known: WeakKeyDictionary[StateGraph, tuple[GraphColumns, Floats, int]] = WeakKeyDictionary()

    def __call__(self, graph: StateGraph) -> Floats:
        size = len(graph)
        columns, g, known = self._known.get(graph) or (GraphColumns(graph), np.empty((0, len(self.utilities))), 0)
        if known < size:
            if len(g) < size:  # grow by doubling
                room = np.empty((max(size, 2 * len(g)), len(self.utilities)))
                room[:known] = g[:known]
                g = room
            g[known:size] = self._rank(columns, known)
            self._known[graph] = (columns, g, size)
        return g[:size]

    def _rank(self, columns: GraphColumns, known: int) -> Floats:
        values, missing = columns.tail(self.concepts, known)
        shared = features(self._terms, values[:, self._chosen], missing[:, self._chosen])
        ranked = np.empty((len(values), len(self.utilities)))
        for m, (utility, places) in enumerate(zip(self.utilities, self._places, strict=True)):
            ranked[:, m] = np.ascontiguousarray(shared[:, places]) @ utility.weights
        return ranked
