"""From a utility to a ranking function over a graph's states, extended as the graph grows."""

from __future__ import annotations

from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from meip.concepts.columns import GraphColumns
from meip.concepts.language import Concept
from meip.graph import StateGraph
from meip.utility import Utility, features

__all__ = ["UtilityRanking"]


class UtilityRanking:
    """Called with a graph, gives g [states, members] for the states seen so far: one column per utility."""

    def __init__(self, utilities: Sequence[Utility], columns: Sequence[GraphColumns] = ()) -> None:
        self.utilities = tuple(utilities)
        self.concepts: tuple[Concept, ...] = tuple(dict.fromkeys(c for u in self.utilities for c in u.concepts))
        self._columns: WeakKeyDictionary[StateGraph, GraphColumns] = WeakKeyDictionary()
        for known in columns:
            self._columns[known.graph] = known
        self._g: WeakKeyDictionary[StateGraph, NDArray[np.float64]] = WeakKeyDictionary()

    def __call__(self, graph: StateGraph) -> NDArray[np.float64]:
        g = self._g.get(graph)
        known = 0 if g is None else len(g)
        if g is not None and known == len(graph):
            return g
        fresh = self._rank(graph, known)
        self._g[graph] = fresh if g is None else np.concatenate([g, fresh])
        return self._g[graph]

    def _rank(self, graph: StateGraph, known: int) -> NDArray[np.float64]:
        columns = self._columns.setdefault(graph, GraphColumns(graph))
        values, missing = columns.matrix(self.concepts)
        place = {concept: k for k, concept in enumerate(self.concepts)}
        ranked = np.empty((len(graph) - known, len(self.utilities)))
        for m, utility in enumerate(self.utilities):
            chosen = [place[c] for c in utility.concepts]
            found = features(utility.terms, values[known:][:, chosen], missing[known:][:, chosen])
            ranked[:, m] = found @ utility.weights
        return ranked
