"""The paper's first experiment: the same task, other probabilities.

Learn in the didactic MDP where the short way fails with probability .1, test where it fails more often. What one wants
to see is S0, S1, g; the best anybody can do is 1 - p.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from meip.base.results import Progress, Row, no_progress, share_row
from meip.baselines.maxent_irl import MaxEntIRL
from meip.baselines.tabular import TabularWorld
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.concepts.values.columns import GraphColumns
from meip.learning.learner import Learner
from meip.learning.pursuit import Pursuit
from meip.model.demonstrations import Episode, record
from meip.model.graph import StateGraph
from meip.search.search import Chance, Limits, Options, search
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility
from meip.worlds.didactic import Didactic

__all__ = ["CONCEPTS", "PAPER", "demonstrations", "desired_probability", "first_action", "run"]

NAME = "probability-shift"
CONCEPTS = ("some(at and bad)", "some(at and goal)", "some(at and waypoint)")
CHANCES: tuple[Chance, ...] = ("expectation", "posterior", "probability")
PAPER = {("meip", 0.1): 0.898, ("meip", 0.3): 0.696, ("maxent-irl", 0.1): 0.898, ("maxent-irl", 0.3): 0.0}
TRAINED = 0.1
EPISODES = 200  # executed per seed
DESIRED = ("S0", "S1", "g")


def demonstrations(count: int, rng: np.random.Generator, p: float = TRAINED, failures: bool = False) -> list[Episode]:
    """The demonstrator always takes a1; with `failures`, the dice fall as they may."""
    world = Didactic(p)
    episodes = []
    for _ in range(count):
        failed = failures and rng.random() < p
        actions, outcomes = (["a1"] * 4, [1, None, None, None]) if failed else (["a1", "a1"], [0, None])
        episodes.append(Episode(world, record(world, actions, outcomes)))
    return episodes


def first_action(
    utilities: Sequence[Utility], p: float, chance: Chance, seed: int | None, horizon: int = 5, threshold: float = 1.0
) -> str:
    """What is done first: by tree search with a seed, or by exact search."""
    graph = StateGraph(Didactic(p, horizon))
    found = search(
        graph,
        UtilityRanking(utilities),
        method="exact" if seed is None else "mcts",
        options=Options(chance=chance, threshold=threshold),
        limits=Limits(iterations=3000),
        seed=seed or 0,
    )
    return str(graph.actions[found.actions[0]])


def desired_probability(action: str, p: float) -> float:
    """How often S0, S1, g happens when this is done first."""
    return 1.0 - p if action == "a1" else 0.0


def run(seeds: int = 20, seed: int = 0, quick: bool = False, progress: Progress = no_progress) -> list[Row]:
    """Learn with each seed, execute in both worlds, sweep p; MaxEnt-IRL beside it."""
    rows: list[Row] = []
    learned = Learner(CONCEPTS).fit(demonstrations(5, np.random.default_rng(seed))).utility_
    progress("learning the concepts too")
    pursued = Pursuit().fit(demonstrations(5, np.random.default_rng(seed)))
    rows.append({**_meip("concepts_found", concepts="pursued"), "value": _recovered(pursued.concepts_), "n": 1})
    unlucky = [_learn_with_failures(seed, k) for k in range(seeds)]
    for p in (TRAINED, 0.3):
        progress(f"executing at p = {p}")
        for chance in CHANCES:
            rows.append(_executed([learned] * seeds, p, chance, seed, concepts="given", demonstrations="clean"))
        rows.append(
            _executed([pursued.utility_] * seeds, p, "expectation", seed, concepts="pursued", demonstrations="clean")
        )
        rows.append(_executed(unlucky, p, "expectation", seed, concepts="given", demonstrations="failures"))
    progress("sweeping p")
    rows += _sweep(learned, 0.1 if quick else 0.02)
    for horizon in (5, 3):
        rows += _baseline(horizon, seed)
    rows += _baseline_sweep(0.1 if quick else 0.02)
    for row in rows:
        paper = PAPER.get((row["method"], row.get("p", -1.0))) if row["metric"] == "desired" else None
        if paper is not None and row.get("horizon") == 5:
            row["paper"] = paper
    return rows


def _meip(metric: str, **conditions: Any) -> Row:
    return {"experiment": NAME, "method": "meip", "metric": metric, "horizon": 5, **conditions}


def _recovered(concepts: Sequence[Concept]) -> float:
    """How many of the paper's three concepts the pursuit found by itself, in whatever words (or negated)."""
    graph = StateGraph(Didactic())
    graph.expand_all()
    wanted, _ = GraphColumns(graph).matrix([parse_concept(c, graph.world.domain) for c in CONCEPTS])
    found, _ = GraphColumns(graph).matrix(list(concepts))
    same = (wanted.T[:, None] == found.T[None]).all(axis=2) | (wanted.T[:, None] == 1 - found.T[None]).all(axis=2)
    return float(same.any(axis=1).sum())


def _learn_with_failures(seed: int, k: int) -> Utility:
    """Ten demonstrations, chance failures among them in proportion p (at least one, so that it is a test)."""
    rng = np.random.default_rng([seed, k])
    episodes = demonstrations(10, rng, failures=True)
    while all(len(e.demonstration.steps) == 2 for e in episodes):  # type: ignore[union-attr]
        episodes = demonstrations(10, rng, failures=True)
    return Learner(CONCEPTS).fit(episodes).utility_


def _executed(utilities: Sequence[Utility], p: float, chance: Chance, seed: int, **conditions: Any) -> Row:
    """Plan with each seed's own search, then let the dice fall."""
    hits = 0
    for k, utility in enumerate(utilities):
        action = first_action([utility], p, chance, seed=1000 * seed + k)
        dice = np.random.default_rng([seed, k, CHANCES.index(chance), len(str(conditions)), int(1000 * p)])
        hits += int(dice.binomial(EPISODES, desired_probability(action, p)))
    return share_row(hits, EPISODES * len(utilities), **_meip("desired", p=p, chance=chance, **conditions))


def _sweep(utility: Utility, step: float) -> list[Row]:
    """The exact optimum at every p, and where a1 stops being chosen."""
    rows = []
    for chance in CHANCES:
        for p in np.round(np.arange(0.02, 0.981, step), 6):
            value = desired_probability(first_action([utility], float(p), chance, None), float(p))
            rows.append({**_meip("desired_exact", p=float(p), chance=chance, concepts="given"), "value": value, "n": 1})
        rows.append(
            {**_meip("break_even", chance=chance, concepts="given"), "value": _break_even(utility, chance), "n": 1}
        )
    return rows


def _break_even(utility: Utility, chance: Chance) -> float:
    low, high = 0.0, 1.0
    if first_action([utility], 1.0 - 1e-9, chance, None) == "a1":
        return 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        low, high = (middle, high) if first_action([utility], middle, chance, None) == "a1" else (low, middle)
    return (low + high) / 2


def _baseline(horizon: int, seed: int) -> list[Row]:
    """MaxEnt-IRL on (bad, goal): fitted at p = .1, its policy computed anew in the changed world."""
    fitted = _fit_baseline(horizon)
    rows = []
    for p in (TRAINED, 0.3):
        world, graph = _tabular(p, horizon)
        plan = [graph.intern(s) for s in DESIRED]
        value = float(fitted.probability(world, [plan])[0])
        hits = int(np.random.default_rng([seed, horizon]).binomial(EPISODES * 20, value))
        rows.append(share_row(hits, EPISODES * 20, **_irl("desired", horizon, p=p)))
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        world, graph = _tabular(middle, horizon)
        chosen = float(fitted.probability(world, [[graph.intern(s) for s in DESIRED]])[0]) > 0
        low, high = (middle, high) if chosen else (low, middle)
    return [*rows, {**_irl("break_even", horizon), "value": (low + high) / 2, "n": 1}]


def _baseline_sweep(step: float) -> list[Row]:
    fitted = _fit_baseline(5)
    rows = []
    for p in np.round(np.arange(0.02, 0.981, step), 6):
        world, graph = _tabular(float(p), 5)
        value = float(fitted.probability(world, [[graph.intern(s) for s in DESIRED]])[0])
        rows.append({**_irl("desired_exact", 5, p=float(p)), "value": value, "n": 1})
    return rows


def _irl(metric: str, horizon: int, **conditions: Any) -> Row:
    return {
        "experiment": NAME,
        "method": "maxent-irl",
        "metric": metric,
        "horizon": horizon,
        "concepts": "bad, goal",
        **conditions,
    }


def _fit_baseline(horizon: int) -> MaxEntIRL:
    world, graph = _tabular(TRAINED, horizon)
    plan = [graph.intern(s) for s in DESIRED]
    return MaxEntIRL(statistic="visits").fit(world, [plan] * 5)


def _tabular(p: float, horizon: int) -> tuple[TabularWorld, StateGraph]:
    graph = StateGraph(Didactic(p, horizon))
    graph.expand_all()
    values, _ = GraphColumns(graph).matrix([parse_concept(c, graph.world.domain) for c in CONCEPTS[:2]])
    return TabularWorld.from_graph(graph, values), graph
