"""The paper's first experiment: the same task, other probabilities.

Learn in the didactic MDP where the short way fails with probability .1, act where it fails more often. What one wants
to see is S0, S1, g; the best anybody can do is 1 - p.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from meip import Episode, Grammar, Metric, StateGraph, UtilityTerm, evaluate, learn, parse_concept, record
from meip.base.parallel import parallel_map
from meip.base.results import Row, mean_row
from meip.baselines.agents import MaxEntAgent
from meip.concepts.language import Concept
from meip.concepts.values.columns import GraphColumns
from meip.experiments import Experiment
from meip.search.query import CHANCES, Agent
from meip.tasks.evaluate import Behaviour
from meip.worlds.didactic import DOMAIN, Didactic

__all__ = ["CONCEPTS", "FIGURES", "NAME", "NOTES", "PAPER", "UNUSED", "demonstrations", "run"]

NAME = "probability-shift"
CONCEPTS = ("some(at and bad)", "some(at and goal)", "some(at and waypoint)")
LEARNED: dict[str, dict[str, Any]] = {
    "given": {"objective": "plans", "concepts": CONCEPTS},
    "pursued": {"objective": "plans", "grammar": Grammar.paper(3)},
    "default": {},
}
TRAINED, SHIFTED = 0.1, 0.3
PAPER = {("meip", 0.1): 0.898, ("meip", 0.3): 0.696, ("maxent-irl", 0.1): 0.898, ("maxent-irl", 0.3): 0.0}
NOTES = (
    "Desired: the probability of S0, S1, g, chance followed exactly; nobody can do better than 1 - p.",
    "Concepts: given as in the paper, or pursued in its grammar to level 3 (whole plans, tree search), or all left to "
    "the defaults of learn() and Task.plan.",
    "With horizon 3 MaxEnt-IRL does not fail: the bad loop is then too short to matter.",
    "The paper's bound r < -0.48 for p = .3 should read r > +0.48; no bound exists at p = .2.",
    "Its limit of .85 appears under posterior semantics; with chance='probability' there is none below 1.",
)
FIGURES = ("desired_exact",)
UNUSED = {"data": "its world needs no outside material"}


def run(experiment: Experiment) -> list[Row]:
    """Learn with each seed and act in both worlds; sweep p with exact search; MaxEnt-IRL beside it."""
    seeds = experiment.seeds or (5 if experiment.quick else 20)
    experiment.tell(f"learning and acting with {seeds} seeds")
    found = parallel_map(_one_seed, range(seeds), seed=experiment.seed, jobs=experiment.jobs)
    rows = _averaged((row for one in found for row in one), experiment.seed)
    for row in rows:
        if row["metric"] == "desired" and row["horizon"] == 5:
            row["paper"] = PAPER[row["method"], row["p"]]
    experiment.tell("sweeping p")
    return rows + _sweeps(experiment)


def demonstrations(count: int, rng: np.random.Generator | None = None, horizon: int = 5) -> list[Episode]:
    """The demonstrator always takes a1. With `rng` the dice fall as they may, and at least once badly."""
    world = Didactic(TRAINED, horizon)
    failed = np.zeros(count, dtype=bool)
    while rng is not None and not failed.any():
        failed = rng.random(count) < TRAINED
    shown = [(["a1"] * (horizon - 1), [1] + [None] * (horizon - 2)) if f else (["a1"] * 2, [0, None]) for f in failed]
    return [Episode(world, record(world, actions, outcomes)) for actions, outcomes in shown]


def _one_seed(number: int, rng: np.random.Generator) -> list[Row]:
    """Everybody learns from demonstrations with and without failures, and acts once at either p."""
    seed = int(rng.integers(2**31))
    rows: list[Row] = []
    for luck, episodes in {"clean": demonstrations(5), "failures": demonstrations(10, rng)}.items():
        for concepts, options in LEARNED.items():
            task = learn(episodes, **options, seed=seed)
            conditions = {"concepts": concepts, "demonstrations": luck}
            if concepts != "given":
                rows.append({**_cell("meip", "concepts_found", 5), **conditions, "value": _recovered(task.concepts)})
            for chance in CHANCES if (concepts, luck) == ("given", "clean") else CHANCES[:1]:
                method = "auto" if concepts == "default" else "mcts"
                acted = _desired("meip", task, (TRAINED, SHIFTED), method=method, chance=chance, seed=seed)
                rows += [{**row, "chance": chance, **conditions} for row in acted]
    for horizon in (5, 3):
        acted = _desired("maxent-irl", _maxent(horizon), (TRAINED, SHIFTED), horizon, seed=seed)
        rows += [{**row, "concepts": "bad, goal", "demonstrations": "clean"} for row in acted]
    return rows


def _desired(name: str, agent: Agent, ps: Sequence[float], horizon: int = 5, **how: Any) -> list[Row]:
    """How probable S0, S1, g is when an agent acts where the short way fails with probability p."""
    worlds = {str(p): Didactic(p, horizon) for p in ps}
    found = evaluate({name: agent}, worlds, [Metric("desired", _is_desired)], searches=1, **how)
    return [{**_cell(name, "desired", horizon), "p": float(row["world"]), "value": row["value"]} for row in found]


def _is_desired(graph: StateGraph, way: Behaviour) -> float:
    return float([graph.states[s] for s in way.states] == ["S0", "S1", "g"])


def _sweeps(experiment: Experiment) -> list[Row]:
    """The optimum of each agent at every p, and where it stops taking the short way."""
    task = learn(demonstrations(5), objective="plans", concepts=CONCEPTS, seed=experiment.seed)
    ps = np.round(np.arange(0.02, 0.981, 0.1 if experiment.quick else 0.02), 6).tolist()
    agents: list[tuple[str, Agent, int, dict[str, Any]]] = [
        *(("meip", task, 5, {"chance": chance, "concepts": "given"}) for chance in CHANCES),
        *(("maxent-irl", _maxent(horizon), horizon, {"concepts": "bad, goal"}) for horizon in (5, 3)),
    ]
    rows: list[Row] = []
    for name, agent, horizon, conditions in agents:
        how = {"method": "exact", "chance": conditions.get("chance", "expectation"), "seed": experiment.seed}
        swept = _desired(name, agent, ps, horizon, run=experiment.run, **how) if horizon == 5 else []
        rows += [{**row, **conditions, "metric": "desired_exact", "n": 1} for row in swept]
        limit = _break_even(name, agent, horizon, how)
        rows.append({**_cell(name, "break_even", horizon), **conditions, "value": limit, "n": 1})
    return rows


def _break_even(name: str, agent: Agent, horizon: int, how: dict[str, Any]) -> float:
    low, high = 0.0, 1.0
    while high - low > 1e-4:
        middle = (low + high) / 2
        taken = _desired(name, agent, [middle], horizon, **how)[0]["value"] > 0
        low, high = (middle, high) if taken else (low, middle)
    return (low + high) / 2


def _maxent(horizon: int) -> MaxEntAgent:
    """MaxEnt-IRL on (bad, goal), as in the paper."""
    terms = [UtilityTerm(parse_concept(concept, DOMAIN), "boolean") for concept in CONCEPTS[:2]]
    return MaxEntAgent(terms, demonstrations(5, horizon=horizon), "visits")


def _recovered(concepts: Sequence[Concept]) -> float:
    """How many of the paper's three concepts were found, in whatever words (or negated)."""
    columns = GraphColumns(StateGraph(Didactic()))
    columns.graph.expand_all()
    wanted, found = (
        columns.matrix(list(some))[0].T for some in ([parse_concept(c, DOMAIN) for c in CONCEPTS], concepts)
    )
    same = (wanted[:, None] == found[None]).all(axis=2) | (wanted[:, None] == 1 - found[None]).all(axis=2)
    return float(same.any(axis=1).sum())


def _cell(method: str, metric: str, horizon: int) -> Row:
    return {"experiment": NAME, "method": method, "metric": metric, "horizon": horizon}


def _averaged(rows: Iterable[Row], seed: int) -> list[Row]:
    """The mean over seeds of what was measured under the same conditions."""
    cells: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for row in rows:
        value = row.pop("value")
        cells.setdefault(tuple(row.items()), []).append(value)
    return [mean_row(values, seed, **dict(cell)) for cell, values in cells.items()]
