"""Concept values over the states of a graph, computed once and extended as the graph grows."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache, partial

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.concepts.language import Concept
from meip.concepts.values.denotation import Denotation
from meip.concepts.values.program import Program
from meip.model.domain import Domain
from meip.model.graph import StateGraph
from meip.model.steps import step_blocks, step_domain

__all__ = ["GraphColumns", "Programs", "values_at", "values_of_steps"]


class GraphColumns:
    """Columns of concepts over states of a graph: all that it has seen, or only those that are tracked.

    A concept that looks at the initial state (``initial[C]``) refers to the graph's first initial state. Graphs of one
    domain may share `programs`.
    """

    def __init__(self, graph: StateGraph, *, everything: bool = True, programs: Programs | None = None) -> None:
        self.graph = graph
        self._tracked: list[int] | None = None if everything else []
        self._row = np.zeros(0, np.int64)  # state number -> row; -1: not tracked
        self._columns: dict[Concept, tuple[Floats, Bools]] = {}  # with room to grow
        self._known: dict[Concept, int] = {}  # how many rows of a column are filled
        self._denotation_of: tuple[tuple[int, int, bool], Denotation] | None = None  # (first row, last, ..), evaluator
        self._programs = programs or Programs(graph.domain)

    def __len__(self) -> int:
        return len(self.graph) if self._tracked is None else len(self._tracked)

    def rows(self, states: Ints) -> Ints:
        """The rows of these states, tracked from now on; -1 (padding) stays -1."""
        if self._tracked is None:
            return states
        if len(self._row) < len(self.graph):
            self._row = np.concatenate([self._row, np.full(len(self.graph) - len(self._row), -1, np.int64)])
        wanted = np.unique(states[states >= 0])
        fresh = wanted[self._row[wanted] < 0]
        self._row[fresh] = np.arange(len(self._tracked), len(self._tracked) + len(fresh))
        self._tracked += fresh.tolist()
        return np.where(states >= 0, self._row[states], -1)

    def matrix(self, concepts: Sequence[Concept]) -> tuple[Floats, Bools]:
        """Values and missing marks [rows, K]."""
        size = len(self)
        stale: dict[int, list[Concept]] = {}  # how far a concept is known -> concepts
        for concept in dict.fromkeys(concepts):
            known = self._known.get(concept, 0)
            if known < size or concept not in self._columns:
                stale.setdefault(known, []).append(concept)
        for known, group in stale.items():
            self._extend(known, group)
        values, missing = np.empty((size, len(concepts))), np.empty((size, len(concepts)), np.bool_)
        for k, concept in enumerate(concepts):
            column, mask = self._columns[concept]
            values[:, k], missing[:, k] = column[:size], mask[:size]
        return values, missing

    def tail(self, concepts: Sequence[Concept], known: int) -> tuple[Floats, Bools]:
        """The same for the rows from `known` on, without keeping them."""
        program = self._programs(concepts)
        values, missing = self._denotation(known, program.needs_initial).matrix(program)
        return (values[1:], missing[1:]) if program.needs_initial else (values, missing)

    def _extend(self, known: int, concepts: Sequence[Concept]) -> None:
        values, missing = self.tail(concepts, known)
        size = known + len(values)
        for k, concept in enumerate(concepts):
            column, mask = self._columns.get(concept, (np.empty(0), np.empty(0, np.bool_)))
            if len(column) < size:
                room = max(size, 2 * len(column)) if known else size
                column, mask = np.resize(column, room), np.resize(mask, room)
            column[known:size], mask[known:size] = values[:, k], missing[:, k]
            self._columns[concept], self._known[concept] = (column, mask), size

    def _denotation(self, known: int, with_initial: bool) -> Denotation:
        """An evaluator for the rows from `known` on, where needed with the initial state before them."""
        key = known, len(self), with_initial
        if self._denotation_of is None or self._denotation_of[0] != key:
            numbers = list(range(known, len(self))) if self._tracked is None else self._tracked[known:]
            if with_initial:
                numbers = [int(self.graph.initial[0]), *numbers]
            initial = np.zeros(len(numbers), np.int64) if with_initial else None
            found = Denotation(self.graph.domain, self.graph.facts(numbers), initial)
            self._denotation_of = key, found
        return self._denotation_of[1]


def values_at(graph: StateGraph, program: Program, states: Sequence[int] | Ints) -> tuple[Floats, Bools]:
    """The values of a program's concepts in these states of a graph, and what is missing [len(states), K]."""
    if not program.needs_initial:
        return Denotation(graph.domain, graph.facts(states)).matrix(program)
    chosen = [int(graph.initial[0]), *(int(n) for n in states)]
    values, missing = Denotation(graph.domain, graph.facts(chosen), np.zeros(len(chosen), np.int64)).matrix(program)
    return values[1:], missing[1:]


def values_of_steps(graph: StateGraph, program: Program, pairs: Sequence[tuple[int, int]]) -> tuple[Floats, Bools]:
    """The same of concepts about steps, for steps between states of a graph [len(pairs), K]; missing where things come
    or go. The program is of the domain's `step_domain`."""
    values = np.zeros((len(pairs), len(program.concepts)))
    missing = np.ones(values.shape, np.bool_)
    numbers = list(dict.fromkeys(number for pair in pairs for number in pair))
    place = {number: k for k, number in enumerate(numbers)}
    before, after = (np.array([place[pair[k]] for pair in pairs], np.int64) for k in (0, 1))
    blocks, steps = step_blocks(graph.domain, graph.facts(numbers), before, after)
    if len(steps):
        values[steps], missing[steps] = Denotation(step_domain(graph.domain), blocks).matrix(program)
    return values, missing


class Programs:
    """Concepts of a domain compiled once: the programs that were asked for last."""

    def __init__(self, domain: Domain, limit: int = 16) -> None:
        self._compiled = lru_cache(limit)(partial(Program, domain))

    def __call__(self, concepts: Sequence[Concept]) -> Program:
        return self._compiled(tuple(concepts))
