"""The demonstrator of the didactic MDP, and whether somebody takes the short way as well."""

from __future__ import annotations

from typing import Any

import numpy as np

from meip import Episode, StateGraph, Task, record
from meip.search.query import Agent, Query
from meip.tasks.plan import task_query
from meip.worlds.didactic import Didactic

__all__ = ["CONCEPTS", "TRAINED", "asked_of", "demonstrations", "surely_takes_the_short_way", "takes_the_short_way"]

CONCEPTS = ("some(at and bad)", "some(at and goal)", "some(at and waypoint)")
TRAINED = 0.1
ASKED = 4  # times with other seeds


def demonstrations(
    count: int, rng: np.random.Generator | None = None, p: float = TRAINED, horizon: int = 5, least: int = 0
) -> list[Episode]:
    """The demonstrator always takes a1. With `rng` the dice fall as they may, and at least so often badly."""
    world = Didactic(p, horizon)
    failed = np.zeros(count, dtype=bool)
    if rng is not None:
        failed = rng.random(count) < p
        while failed.sum() < least:
            failed = rng.random(count) < p
    shown = [(["a1"] * (horizon - 1), [1] + [None] * (horizon - 2)) if f else (["a1"] * 2, [0, None]) for f in failed]
    return [Episode(world, record(world, actions, outcomes)) for actions, outcomes in shown]


def asked_of(graph: StateGraph, agent: Agent, **query: Any) -> Query:
    """What an agent is asked there; the length is that of its task."""
    asked = Query().changed(**query)
    return asked.changed(horizon=task_query(agent, graph, asked).horizon) if isinstance(agent, Task) else asked


def takes_the_short_way(graph: StateGraph, agent: Agent, **how: Any) -> bool:
    """Does an agent begin with a1? Then S0, S1, g has probability 1 - p, else 0."""
    found = agent.act(graph, (int(graph.initial[0]),), asked_of(graph, agent, **how))
    return bool(found.actions) and graph.action(found.actions[0]) == "a1"


def surely_takes_the_short_way(graph: StateGraph, agent: Agent, *, seed: int, **how: Any) -> bool:
    """The same with several seeds: what is a tie is not right by luck."""
    return all(takes_the_short_way(graph, agent, seed=seed + k, **how) for k in range(ASKED))
