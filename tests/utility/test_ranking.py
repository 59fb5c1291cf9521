"""Ranking a graph's states by utilities, all of them or some."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from meip.concepts.parser import parse_concept
from meip.concepts.values.columns import GraphColumns
from meip.model.graph import StateGraph
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility, UtilityTerm
from meip.worlds.folding.garments import garment
from meip.worlds.folding.world import Folding


def _utilities() -> list[Utility]:
    real = UtilityTerm(parse_concept("max(area)"), "real", (0.2, 0.4, 0.9), (1.0, -2.0, 0.5))
    missing = UtilityTerm(parse_concept("mean(area | some above.U)"), "real", (0.1, 0.5), (3.0, 1.0))
    flag = UtilityTerm(parse_concept("some(above)"), "boolean", (), (0.7,))
    count = UtilityTerm(parse_concept("count(above)"), "linear", (), (0.1,))
    code = UtilityTerm(parse_concept("table[some(above), some(inside)]"), "table", (0.0, 3.0), (0.3, -0.4))
    one = UtilityTerm(parse_concept("mean(angle)"), "real", (90.0,), (2.0,))
    change = UtilityTerm(parse_concept("max(area) - initial[max(area)]"), "real", (-0.5, 0.0), (0.0, 1.0))
    return [Utility((real, flag, code, change)), Utility((missing, one, count)), Utility((real, code))]


def _graph() -> StateGraph:
    graph = StateGraph(Folding(garment("tshirt"), 3, candidates=6))
    graph.expand_all()
    return graph


def test_a_ranking_is_what_each_utility_says_by_itself() -> None:
    graph, utilities = _graph(), _utilities()
    g = UtilityRanking(utilities)(graph)
    for m, utility in enumerate(utilities):
        assert g[:, m] == pytest.approx(utility.rank(*GraphColumns(graph).matrix(utility.concepts)), abs=1e-12)


def test_some_states_rank_as_they_do_among_all_and_the_others_are_undefined() -> None:
    graph, ranking = _graph(), UtilityRanking(_utilities())
    everything, chosen = UtilityRanking(_utilities())(graph), [3, 17, 3, 0]
    found = ranking(graph, chosen)
    np.testing.assert_allclose(found[chosen], everything[chosen], atol=1e-12)
    assert np.isnan(np.delete(found, chosen, axis=0)).all()
    np.testing.assert_allclose(ranking(graph, [5])[[3, 5]], everything[[3, 5]], atol=1e-12)


def test_the_mean_of_the_members_is_one_utility_with_their_mean_weights() -> None:
    graph, ranking = _graph(), UtilityRanking(_utilities())
    np.testing.assert_allclose(ranking.mean(graph, [4, 2, 9]), ranking(graph)[[4, 2, 9]].mean(axis=1), atol=1e-12)


def test_a_graph_that_is_gone_is_forgotten() -> None:
    ranking = UtilityRanking(_utilities())
    ranking(_graph())
    gc.collect()
    assert not len(ranking._known)
