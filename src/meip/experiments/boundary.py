"""How far learning carries: training p crossed with test p in the didactic MDP.

From clean demonstrations, and from ten that fail in proportion p. A cell says how many of the learners plan a1 at the
test p: P(S0, S1, g) as a share of the 1 - p that is possible.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from meip import Episode, StateGraph, Task, UtilityTerm, learn, parse_concept
from meip.base.results import Row, share_row
from meip.baselines.agents import MaxEntAgent
from meip.baselines.tabular import TabularWorld
from meip.experiments import Experiment
from meip.experiments.short_way import CONCEPTS, demonstrations, surely_takes_the_short_way, takes_the_short_way
from meip.search.query import Agent
from meip.worlds.didactic import DOMAIN, Didactic

__all__ = ["boundary"]

SHOWN = 10  # demonstrations of each learner
HOW: dict[tuple[str, str], dict[str, Any]] = {
    ("meip-defaults", "expectation"): {},
    ("meip", "expectation"): {"method": "exact"},
    ("meip", "posterior"): {"method": "exact", "chance": "posterior"},
    ("maxent-irl", "expectation"): {},
}
Key = tuple[str, str, str, float]  # metric, method, chance, test p (0: the training p itself)


def boundary(experiment: Experiment) -> list[Row]:
    """Rows for every training p, test p, method and kind of demonstrations."""
    ps = [0.02, 0.1, 0.3, 0.5, 0.7, 0.85, 0.94] if experiment.quick else np.arange(0.02, 0.99, 0.04).round(2).tolist()
    seeds = experiment.seeds or (2 if experiment.quick else 20)
    rows: list[Row] = []
    for luck, count in {"clean": 1, "failures": seeds}.items():
        items = [(p, luck == "failures", ps) for p in ps for _ in range(count)]
        found = experiment.map(_one_learner, items)
        for k, p in enumerate(ps):
            own = found[k * count : (k + 1) * count]
            for metric, method, chance, at in own[0]:
                cell = {"method": method, "metric": metric, "chance": chance, "demonstrations": luck, "trained_p": p}
                cell |= {"p": at} if metric == "boundary" else {}
                rows.append(share_row(sum(one[metric, method, chance, at] for one in own), count, **cell))
    return rows


def _one_learner(item: tuple[float, bool, Sequence[float]], rng: np.random.Generator) -> dict[Key, float]:
    """Everybody learns from the same demonstrations at one p, and is asked at all of them."""
    trained, fails, ps = item
    seed = int(rng.integers(2**31))
    agents = _learned(demonstrations(SHOWN, rng if fails else None, trained), seed)
    worlds = {p: StateGraph(Didactic(p)) for p in ps}
    found: dict[Key, float] = {}
    for (method, chance), how in HOW.items():
        agent = agents[method]
        for p, graph in worlds.items():
            found["boundary", method, chance, p] = float(takes_the_short_way(graph, agent, seed=seed, **how))
        own = worlds[trained]
        found["planned_right", method, chance, 0.0] = float(surely_takes_the_short_way(own, agent, seed=seed, **how))
        if chance == "expectation" and method != "meip-defaults":  # who compares choices needs no worth of the goal
            found["utility_right", method, chance, 0.0] = float(_utility_right(own, agent))
    return found


def _learned(episodes: Sequence[Episode], seed: int) -> dict[str, Agent]:
    terms = [UtilityTerm(parse_concept(text, DOMAIN), "boolean") for text in CONCEPTS[:2]]
    return {
        "meip-defaults": learn(episodes, seed=seed),
        "meip": learn(episodes, objective="plans", concepts=CONCEPTS, seed=seed),
        "maxent-irl": MaxEntAgent(terms, episodes, "visits"),
    }


def _utility_right(graph: StateGraph, agent: Agent) -> bool:
    """Is the goal worth more than the start, and the start more than a bad place? (Of MaxEnt-IRL: the reward.)"""
    graph.expand_all()
    if isinstance(agent, Task):
        g = agent.ranking(graph)[:, 0]
    elif isinstance(agent, MaxEntAgent):
        g = agent.model.reward(TabularWorld.from_graph(graph, agent.features(graph)))
    goal, start, bad = (float(g[graph.intern(place)]) for place in ("g", "S0", "b1"))
    return goal > start + 1e-6 and start > bad + 1e-6
