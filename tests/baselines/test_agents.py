"""Baselines as agents: they act by what they learned, in this process and in others."""

from __future__ import annotations

import pickle

from meip.baselines.agents import MaxEntAgent
from meip.concepts.parser import parse_concept
from meip.model.demonstrations import Episode, record
from meip.model.graph import StateGraph
from meip.search.query import Query
from meip.utility.terms import UtilityTerm
from meip.worlds.didactic import DOMAIN, Didactic


def test_maxent_irl_acts_the_same_in_another_process() -> None:
    world = Didactic(0.1)
    terms = [
        UtilityTerm(parse_concept(c, DOMAIN), "boolean", (), (0.0,)) for c in ("some(at and bad)", "some(at and goal)")
    ]
    agent = MaxEntAgent(terms, [Episode(world, record(world, ["a1", "a1"], [0, None]))] * 2)
    chosen = []
    for one in (agent, pickle.loads(pickle.dumps(agent))):  # the second time it has policies of a graph
        graph = StateGraph(world)
        found = one.act(graph, [int(graph.initial[0])], Query())
        chosen.append(graph.action(found.actions[0]))
        pickle.dumps(one)
    assert chosen == ["a1", "a1"]
