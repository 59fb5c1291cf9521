"""Baselines as agents: they act in other processes as they do in this one."""

from __future__ import annotations

import pickle

import pytest

from meip.baselines.agents import CloneAgent, GoalAgent, MaxEntAgent, RandomAgent
from meip.concepts.parser import parse_concept
from meip.experiments.rites import PAPER, paper_demonstrations
from meip.model.graph import StateGraph
from meip.search.query import Agent, Query
from meip.utility.terms import UtilityTerm


def agents() -> list[Agent]:
    episodes = paper_demonstrations("free")
    terms = [UtilityTerm(parse_concept(text, episodes[0].world.domain), "boolean") for text in PAPER.concepts()]
    return [MaxEntAgent(terms, episodes, "visits"), CloneAgent(episodes), GoalAgent(episodes), RandomAgent()]


@pytest.mark.parametrize("agent", agents(), ids=lambda agent: type(agent).__name__)
def test_an_agent_that_was_sent_elsewhere_does_the_same(agent: Agent) -> None:
    graph = StateGraph(PAPER.world("free", 5))
    start = [int(graph.initial[0])]
    before = agent.act(graph, start, Query(seed=3))
    after = pickle.loads(pickle.dumps(agent)).act(graph, start, Query(seed=3))
    assert (after.states, after.actions) == (before.states, before.actions)


def test_counting_goals_can_be_sent_elsewhere() -> None:
    assert isinstance(pickle.loads(pickle.dumps(GoalAgent())), GoalAgent)


def test_what_all_demonstrations_ended_with_is_the_goal_where_a_world_does_not_tell_one() -> None:
    agent = GoalAgent(paper_demonstrations("free"))
    assert agent.concepts is not None and {"all(torch@1)", "some(bamboo@2)"} <= set(map(str, agent.concepts))
    graph = StateGraph(PAPER.world("free", 6))
    offered = [graph.action(a) for a in agent.act(graph, [int(graph.initial[0])], Query()).actions]
    assert (1, "torch", 6) in offered and {action[:2] for action in offered} >= {(2, "bamboo"), (3, "clay")}
