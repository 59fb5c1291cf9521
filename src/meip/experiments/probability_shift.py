"""The paper's first experiment: the same task, other probabilities.

Learn in the didactic MDP where the short way fails with probability .1, act where it fails more often. What one wants
to see is S0, S1, g; the best anybody can do is 1 - p. Every method stands on every set of concepts: given, with and
without the waypoint, and those that MEIP pursued.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from meip import Episode, Grammar, LearnOptions, StateGraph, Task, UtilityTerm, learn, parse_concept
from meip.base.results import Row, mean_row, share_row
from meip.baselines.agents import MaxEntAgent
from meip.concepts.language import Concept
from meip.concepts.values.columns import GraphColumns
from meip.experiments import Experiment
from meip.experiments.boundary import boundary
from meip.experiments.paper_pictures import draw_shift as draw
from meip.experiments.short_way import (
    CONCEPTS,
    TRAINED,
    asked_of,
    demonstrations,
    surely_takes_the_short_way,
    takes_the_short_way,
)
from meip.experiments.tables import Table, spread, text_table
from meip.search.query import CHANCES, Agent, Query
from meip.worlds.didactic import DOMAIN, Didactic

__all__ = ["NAME", "NOTES", "UNUSED", "agents", "draw", "executed", "run", "summary"]

NAME = "probability-shift"
SETS = {"bad, goal": CONCEPTS[:2], "bad, goal, waypoint": CONCEPTS, "pursued": None}
SHIFTED = 0.3
TREES = ("meip", "paper")  # who search whole plans
EXECUTIONS = 200  # of each seed
DESIRED = ["S0", "S1", "g"]
NOTES = (
    "Executed: the share of executions, outcomes drawn, that go S0, S1, g; nobody can do better than 1 - p.",
    "Exact: its probability, every outcome followed. The paper prints no numbers here: it finds both methods perfect "
    "at p = .1, and only MEIP at .3.",
    "Given and pursued concepts (its grammar to level 3): whole plans, tree search. Defaults: learn() and Task.plan.",
    "paper: its method as printed (LearnOptions.paper): its labels, five plans of a tree per round, the last round.",
    "The paper's bound r < -0.48 for p = .3 should read r > +0.48; no bound exists at p = .2.",
    "Boundary: a1 planned, of those who learned at one p and act at another; figures by --out, every cell in --json.",
)
UNUSED = {"data": "its world needs no outside material"}


def run(experiment: Experiment) -> list[Row]:
    """Learn with each seed, act in both worlds; where each agent changes its mind; training p crossed with test p."""
    seeds = experiment.seeds or (5 if experiment.quick else 20)
    experiment.tell(f"learning and acting with {seeds} seeds")
    found = experiment.map(_one_seed, range(seeds))
    rows = _averaged((row for one in found for row in one), experiment.seed)
    experiment.tell("looking for where each agent changes its mind")
    rows += _break_evens(experiment.seed)
    experiment.tell("crossing training p with test p")
    return [{"experiment": NAME, **row} for row in rows + boundary(experiment)]


def agents(episodes: Sequence[Episode], seed: int) -> dict[tuple[str, str], Agent]:
    """Everybody who learns from these demonstrations: (method, concepts)."""
    found: dict[tuple[str, str], Agent] = {("meip-defaults", "found"): learn(episodes, seed=seed)}
    for name, concepts in SETS.items():
        how: dict[str, Any] = {"grammar": Grammar.paper(3)} if concepts is None else {"concepts": concepts}
        task = found["meip", name] = learn(episodes, objective="plans", seed=seed, **how)
        found["paper", name] = learn(episodes, LearnOptions.paper(seed=seed, **how))
        terms = [UtilityTerm(parse_concept(text, DOMAIN), "boolean") for text in concepts or ()]
        found["maxent-irl", name] = MaxEntAgent(terms or task.members[0].terms, episodes, "visits")
    return found


def executed(graph: StateGraph, agent: Agent, rng: np.random.Generator, count: int = EXECUTIONS, **query: Any) -> int:
    """How many of so many executions go as desired. An agent is asked after every step; the dice are the world's."""
    asked = asked_of(graph, agent, **query)
    chosen: dict[tuple[int, ...], int | None] = {}  # the same history, seed and agent: the same answer
    hits = 0
    for _ in range(count):
        way: tuple[int, ...] = (int(graph.initial[0]),)
        while (action := _answer(graph, agent, way, asked, chosen)) is not None:
            odds, states = zip(*graph.outcomes(action), strict=True)
            way = (*way, int(rng.choice(states, p=odds)))
        hits += [graph.states[s] for s in way] == DESIRED
    return hits


def _answer(
    graph: StateGraph, agent: Agent, way: tuple[int, ...], query: Query, chosen: dict[tuple[int, ...], int | None]
) -> int | None:
    if way not in chosen:
        over = len(way) >= query.length(graph, way[:1]) or not graph.action_numbers(way[-1])
        chosen[way] = None if over else next(iter(agent.act(graph, way, query).actions), None)
    return chosen[way]


def _one_seed(number: int, rng: np.random.Generator) -> list[Row]:
    """Everybody learns from demonstrations with and without failures, and acts at either p."""
    seed = int(rng.integers(2**31))
    worlds = {p: StateGraph(Didactic(p)) for p in (TRAINED, SHIFTED)}
    rows: list[Row] = []
    for luck, episodes in {"clean": demonstrations(5), "failures": demonstrations(10, rng, least=1)}.items():
        for (method, concepts), agent in agents(episodes, seed).items():
            cell: Row = {"method": method, "concepts": concepts, "demonstrations": luck}
            if isinstance(agent, Task) and concepts == "pursued":
                rows.append({**cell, "metric": "concepts_found", "value": _recovered(agent.concepts)})
            every = (method, concepts, luck) == ("meip", "bad, goal, waypoint", "clean")
            for chance in CHANCES if every else CHANCES[:1]:
                how: dict[str, Any] = {"method": "mcts" if method in TREES else "auto", "chance": chance, "seed": seed}
                for p, graph in worlds.items():
                    acted = {**cell, "chance": chance, "p": p}
                    hits = executed(graph, agent, rng, **how)
                    rows.append({**acted, "metric": "executed", "value": float(hits)})
                    short = takes_the_short_way(graph, agent, **how)
                    rows.append({**acted, "metric": "exact", "value": (1 - p) * short})
    return rows


def _break_evens(seed: int) -> list[Row]:
    """Up to which test p the short way is taken, learned at p = .1 from clean demonstrations; exact search."""
    rows: list[Row] = []
    for horizon in (5, 3):
        for (method, concepts), agent in agents(demonstrations(5, horizon=horizon), seed).items():
            for chance in CHANCES if (method, horizon) == ("meip", 5) else CHANCES[:1]:
                how = {"method": "exact" if method in TREES else "auto", "chance": chance, "seed": seed}
                cell = {"method": method, "concepts": concepts, "chance": chance, "horizon": horizon}
                rows.append({**cell, "metric": "break_even", "value": _break_even(agent, horizon, how), "n": 1})
    return rows


def _break_even(agent: Agent, horizon: int, how: dict[str, Any]) -> float:
    low, high = 0.0, 1.0
    while high - low > 1e-3:
        middle = (low + high) / 2
        taken = surely_takes_the_short_way(StateGraph(Didactic(middle, horizon)), agent, **how)
        low, high = (middle, high) if taken else (low, middle)
    return 0.0 if low == 0.0 else 1.0 if high == 1.0 else (low + high) / 2


def _recovered(concepts: Sequence[Concept]) -> float:
    """How many of the paper's three concepts were found, in whatever words (or negated)."""
    columns = GraphColumns(StateGraph(Didactic()))
    columns.graph.expand_all()
    wanted, found = (
        columns.matrix(list(some))[0].T for some in ([parse_concept(c, DOMAIN) for c in CONCEPTS], concepts)
    )
    same = (wanted[:, None] == found[None]).all(axis=2) | (wanted[:, None] == 1 - found[None]).all(axis=2)
    return float(same.any(axis=1).sum())


def _averaged(rows: Iterable[Row], seed: int) -> list[Row]:
    """Over seeds, what was measured under the same conditions: executions are added up, the rest is averaged."""
    cells: dict[tuple[tuple[str, Any], ...], list[float]] = {}
    for row in rows:
        value = row.pop("value")
        cells.setdefault(tuple(row.items()), []).append(value)
    return [
        share_row(sum(values), EXECUTIONS * len(values), **dict(cell))
        if dict(cell)["metric"] == "executed"
        else mean_row(values, seed, **dict(cell))
        for cell, values in cells.items()
    ]


def summary(rows: Sequence[Row]) -> list[Table]:
    """Executions at both p, where minds change, and the boundary in a few lines."""
    ours = [row for row in rows if row["metric"] in ("executed", "exact")]
    cells: dict[tuple[str, ...], dict[tuple[float, str], Row]] = {}
    for row in ours:
        key = (row["method"], row["concepts"], row["demonstrations"], row["chance"])
        cells.setdefault(key, {})[row["p"], row["metric"]] = row
    lines = [
        [*key, *(text for p in (TRAINED, SHIFTED) for text in _told(found, p))] for key, found in sorted(cells.items())
    ]
    n = next(iter(ours))["n"]
    headings = ["method", "concepts", "demonstrations", "chance", "p = .1", "exact", "p = .3", "exact "]
    limits = [row for row in rows if row["metric"] == "break_even"]
    return [
        Table(f"share of {n} executions that go S0, S1, g (95 %)", headings, lines),
        text_table("up to which p the short way is taken, learned at .1", limits, ("concepts", "chance", "horizon")),
        *_boundary_tables(rows),
    ]


def _told(found: dict[tuple[float, str], Row], p: float) -> tuple[str, str]:
    return spread(found[p, "executed"]), f"{found[p, 'exact']['value']:.3f}"


def _boundary_tables(rows: Sequence[Row]) -> list[Table]:
    titles = {
        "planned_right": "share of learners that plan a1 at the p they learned at",
        "utility_right": "share of learners with g(goal) > g(S0) > g(bad)",
    }
    found = []
    for metric, title in titles.items():
        own = [row for row in rows if row["metric"] == metric]
        ps = list(dict.fromkeys(row["trained_p"] for row in own))
        shown = [p for k, p in enumerate(ps) if k % max(len(ps) // 8, 1) == 0 or p in (ps[-1], 0.94)]
        cells: dict[tuple[str, ...], dict[float, Row]] = {}
        for row in own:
            cells.setdefault((row["method"], row["demonstrations"], row["chance"]), {})[row["trained_p"]] = row
        lines = [[*key, *(f"{at[p]['value']:.2f}" for p in shown)] for key, at in cells.items()]
        headings = ["method", "demonstrations", "chance", *(f"p = {p:g}" for p in shown)]
        found.append(Table(f"{title} (n = {max(row['n'] for row in own)} with failures)", headings, lines))
    return found
