"""Columns over a graph: extended as it grows, compiled once, and the same as those of each state by itself."""

from __future__ import annotations

import numpy as np

from meip.concepts.language import Composite, Concept, Primitive, Quantified
from meip.concepts.values.columns import GraphColumns, Programs
from meip.concepts.values.denotation import Denotation
from meip.model.graph import StateGraph
from meip.worlds.ritual import Ritual

WORLD = Ritual()
COUNT, SOME = (Quantified(q, Primitive("torch@1")) for q in ("count", "some"))
CHANGE = Composite("-", (COUNT, Composite("initial", (COUNT,))))


def grown(states: int) -> StateGraph:
    graph = StateGraph(WORLD)
    number = 0
    while len(graph) < states:
        graph.expand(number)
        number += 1
    return graph


def expected(graph: StateGraph, concepts: list[Concept]) -> list[list[float]]:
    values, _ = Denotation(WORLD.domain, graph.facts()).matrix(concepts)
    return [column.tolist() for column in values.T]


def test_columns_follow_a_growing_graph() -> None:
    graph = grown(40)
    followed = GraphColumns(graph)
    for _ in range(3):
        values, missing = followed.matrix([COUNT, SOME])
        assert values.T.tolist() == expected(graph, [COUNT, SOME]) and not missing.any()
        graph.expand(next(n for n in range(len(graph)) if not graph.expanded(n)))
    assert len(values) < len(graph)


def test_a_tail_is_the_end_of_the_matrix_with_and_without_the_initial_state() -> None:
    graph = grown(60)
    every = GraphColumns(graph)
    for concepts in ([COUNT, SOME], [CHANGE, COUNT]):
        whole, tail = every.matrix(concepts)[0], every.tail(concepts, 25)[0]
        np.testing.assert_array_equal(whole[25:], tail)


def test_graphs_of_one_domain_share_compiled_concepts() -> None:
    programs = Programs(WORLD.domain, limit=2)
    assert programs([COUNT]) is programs((COUNT,))
    first = programs([COUNT])
    programs([SOME])
    programs([CHANGE])
    assert programs([COUNT]) is not first and programs([CHANGE]).needs_initial
    one, other = (GraphColumns(grown(30), programs=programs) for _ in range(2))
    np.testing.assert_array_equal(one.matrix([SOME])[0], other.matrix([SOME])[0])
