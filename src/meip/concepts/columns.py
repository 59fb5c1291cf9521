"""Concept values over the states of a graph, computed once and extended as the graph grows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from meip.concepts.denotation import Denotation
from meip.concepts.language import Concept
from meip.graph import StateGraph

__all__ = ["GraphColumns"]

Values = NDArray[np.float64]
Mask = NDArray[np.bool_]


class GraphColumns:
    """Columns of concepts over a graph's state numbers.

    A concept that looks at the initial state (``initial[C]``) refers to the graph's first initial state.
    """

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self._columns: dict[Concept, tuple[Values, Mask]] = {}
        self._denotation_of: tuple[int, int, Denotation] | None = None  # first state, last, evaluator

    def matrix(self, concepts: Sequence[Concept]) -> tuple[Values, Mask]:
        """Values and missing marks [S, K] for every state seen so far."""
        size = len(self.graph)
        stale: dict[int, list[Concept]] = {}  # how far a concept is known -> concepts
        for concept in dict.fromkeys(concepts):
            known = len(self._columns[concept][0]) if concept in self._columns else 0
            if known < size:
                stale.setdefault(known, []).append(concept)
        for known, group in stale.items():
            self._extend(known, group)
        values, missing = np.empty((size, len(concepts))), np.empty((size, len(concepts)), np.bool_)
        for k, concept in enumerate(concepts):
            values[:, k], missing[:, k] = self._columns[concept]
        return values, missing

    def forget(self) -> None:
        """Let go of all columns, to save memory."""
        self._columns.clear()
        self._denotation_of = None

    def _extend(self, known: int, concepts: Sequence[Concept]) -> None:
        values, missing = self._denotation(known).matrix(concepts)
        for k, concept in enumerate(concepts):
            fresh, mask = values[1:, k].copy(), missing[1:, k].copy()
            if known:
                before = self._columns[concept]
                fresh, mask = np.concatenate([before[0], fresh]), np.concatenate([before[1], mask])
            self._columns[concept] = (fresh, mask)

    def _denotation(self, known: int) -> Denotation:
        """An evaluator for the states from `known` on, with the initial state before them."""
        size = len(self.graph)
        if self._denotation_of is None or self._denotation_of[:2] != (known, size):
            numbers = [int(self.graph.initial[0]), *range(known, size)]
            blocks = self.graph.facts(numbers)
            found = Denotation(self.graph.world.domain, blocks, initial=np.zeros(len(numbers), np.int64))
            self._denotation_of = (known, size, found)
        return self._denotation_of[2]
