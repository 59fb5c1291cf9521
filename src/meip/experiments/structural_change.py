"""The paper's second experiment: the same ritual where the order of the stages is free, and with more objects.

Learn from five demonstrations in a world that enforces the order of the stages, or in one that leaves it free (the
controlled setting); plan where it is free, with 5 and 6 objects. Are the right things offered, and in the right order?
Every seed lists the stages in an order of its own, so that nobody is right by taking what is listed first.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, cast

import numpy as np

from meip import Episode, LearnOptions, StateGraph, Task, UtilityTerm, learn, parse_concept
from meip.base.results import Row, mean_row
from meip.baselines.agents import MaxEntAgent
from meip.experiments import Experiment
from meip.experiments.paper_pictures import draw_change
from meip.experiments.rites import PAPER, Order, Rite, grade, paper_demonstrations
from meip.experiments.statistics import Grades, of_branches, of_defaults, of_policy, of_tree
from meip.experiments.tables import Table, spread
from meip.worlds.ritual import Ritual

__all__ = ["LAMBDAS", "METHODS", "NAME", "NOTES", "PAPER_TAU", "UNUSED", "Method", "crossing", "draw", "run", "summary"]

NAME = "structural-change"
PAPER_TAU = 0.9603
TRAINED: tuple[Order, ...] = ("enforced", "free")
WORLDS: dict[str, tuple[Order, int]] = {"enforced-5": ("enforced", 5), "free-5": ("free", 5), "free-6": ("free", 6)}
LAMBDAS = (0, 2, 4, 6, 10, 15, 20, 30, 40, 60, 80, 120)
DRAWN = 400  # plans for each point of the curve
METRICS = ("order_tau", "match")


@dataclass(frozen=True)
class Method:
    """A row of the table: how it learns, whether on the concepts that MEIP pursued, and how it searches."""

    options: Callable[..., LearnOptions]
    given: bool = False
    papers: bool = False
    """Does the paper's figure stand beside its samples?"""
    as_printed: bool = False
    """Are its plans drawn by the values of branches?"""
    search: dict[str, Any] = field(default_factory=dict)


PAPERS_SEARCH = {"iterations": 3000, "exploration": 1.0}
METHODS = {
    "meip": Method(partial(LearnOptions, objective="plans"), papers=True),
    "meip, paper's search": Method(partial(LearnOptions, objective="plans"), papers=True, search=PAPERS_SEARCH),
    "meip-svm": Method(partial(LearnOptions, objective="svm"), given=True),
    "meip-svm-literal": Method(partial(LearnOptions, objective="svm-literal"), given=True),
    "paper": Method(LearnOptions.paper, papers=True, as_printed=True),
    "paper, concepts given": Method(LearnOptions.paper, given=True, papers=True, as_printed=True),
    "meip-defaults": Method(LearnOptions),
}
NOTES = (
    "Argmax: the action of the best value at the root of a tree search, searched again after each; best seen: the best "
    "plan of one search; samples: the mean of 5 plans of each converged search, drawn by exp(lambda Q), lambda = 6.",
    "The paper's .9603 is a mean of samples from 20 convergences in the free world; it does not say with which lambda.",
    "paper: its method as printed (LearnOptions.paper): the three families of labels, linear hinge, five plans of a "
    "tree per round, the last round, concepts pursued or given; samples by the values of branches, lambda = 1.",
    "meip: the likelihood of whole plans; given are the concepts that it pursued, those about order included; "
    "meip-svm-literal: the paper's labels, 50 plans of the model per round, all kept.",
    "meip-defaults: learn() and Task.plan (no tree), samples by exp(6 tau), though its g is not learned for tau; "
    "MaxEnt-IRL: its optimal policy, samples by its soft one.",
    "The paper's search: 3000 simulations, UCB coefficient 1, 5 samples; ours has .3 and is otherwise the same.",
)
UNUSED = {"data": "its worlds need no outside material"}


def run(experiment: Experiment) -> list[Row]:
    """Everybody learns in either world with each seed, and plans in all three; and the curve over lambda."""
    seeds = experiment.seeds or (5 if experiment.quick else 20)
    experiment.tell(f"learning and planning with {seeds} seeds")
    found = experiment.map(_one_seed, range(seeds))
    cells: dict[tuple[str, ...], list[float]] = {}
    for one in found:
        for cell, value in one.items():
            cells.setdefault(cell, []).append(value)
    names = ("method", "trained", "world", "statistic", "metric")
    rows = [mean_row(values, experiment.seed, **dict(zip(names, cell, strict=True))) for cell, values in cells.items()]
    for row in rows:
        if row["world"] == "free-5" and _beside_the_paper(row["method"], row["statistic"], row["metric"]):
            row["paper"] = PAPER_TAU
    experiment.tell("drawing plans by exp(lambda tau)")
    return [{"experiment": NAME, **row} for row in rows + _curve(experiment)]


def _beside_the_paper(method: str, statistic: str, metric: str) -> bool:
    return method in METHODS and METHODS[method].papers and (statistic, metric) == ("samples", "order_tau")


def _one_seed(number: int, rng: np.random.Generator) -> dict[tuple[str, ...], float]:
    """(method, trained, world, statistic, metric) -> what came out with this seed."""
    rite, seed = PAPER.shuffled(rng), int(rng.integers(2**31))
    graphs = {name: StateGraph(rite.world(*how)) for name, how in WORLDS.items()}
    found: dict[tuple[str, ...], float] = {}
    for trained in TRAINED:
        episodes = paper_demonstrations(trained, rite=rite)
        agents = _learned(episodes, rite, seed)
        for name in ("meip", "paper"):
            found[name, trained, trained, "found", "concepts_found"] = _concepts_found(agents[name], rite)
        for name, agent in agents.items():
            for world, graph in graphs.items():
                for statistic, plans in _statistics(name, agent, graph, seed).items():
                    means = np.mean([grade(rite, cast(Ritual, graph.world), plan) for plan in plans], axis=0)
                    for metric, value in zip(METRICS, means.tolist(), strict=True):
                        found[name, trained, world, statistic, metric] = value
    return found


def _learned(episodes: Sequence[Episode], rite: Rite, seed: int) -> dict[str, Any]:
    agents: dict[str, Any] = {}
    for name, method in METHODS.items():
        given: dict[str, Any] = {"concepts": [str(c) for c in agents["meip"].concepts]} if method.given else {}
        agents[name] = learn(episodes, method.options(**given, seed=seed))
    terms = [UtilityTerm(parse_concept(text, agents["meip"].domain), "boolean") for text in rite.concepts()]
    agents["maxent-irl, final"] = MaxEntAgent(terms, episodes, "final")
    agents["maxent-irl, visits"] = MaxEntAgent(terms, episodes, "visits")
    return agents


def _statistics(name: str, agent: Any, graph: StateGraph, seed: int) -> Grades:
    if isinstance(agent, MaxEntAgent):
        return of_policy(agent, graph, seed)
    if agent.preferences is not None:
        return of_defaults(agent, graph, seed)
    if METHODS[name].as_printed:
        return of_branches(agent, graph, seed)
    return of_tree(agent, graph, seed, **METHODS[name].search)


def _concepts_found(task: Task, rite: Rite) -> float:
    """How many of the three concepts of the demonstrator were found, without being told."""
    found = [str(concept) for concept in task.concepts]
    return float(sum(concept in found for concept in rite.concepts()))


def _curve(experiment: Experiment) -> list[Row]:
    """Plans of the paper's distribution against lambda: their order, and what they offer."""
    rng = np.random.default_rng([experiment.seed, 2])
    rows: list[Row] = []
    for trained in TRAINED:
        rite = PAPER.shuffled(rng)
        task = learn(paper_demonstrations(trained, rite=rite), objective="plans", seed=experiment.seed)
        for world in ("free-5", "free-6"):
            there = rite.world(*WORLDS[world])
            for strength in LAMBDAS[:: 3 if experiment.quick else 1]:
                drawn = task.sample(there, DRAWN, float(strength), seed=experiment.seed)
                graded = np.array([grade(rite, there, plan.actions) for plan in drawn])
                for metric, values in zip(METRICS, graded.T, strict=True):
                    cell = {"method": "meip", "trained": trained, "world": world, "statistic": "exp(lambda tau)"}
                    rows.append(mean_row(values, experiment.seed, **cell, metric=metric, **{"lambda": strength}))
    return rows


def summary(rows: Sequence[Row]) -> list[Table]:
    """Order and offers by method and statistic, free-5 and free-6, learned in either world; and the curve."""
    cells: dict[tuple[str, str, str], dict[tuple[str, str], Row]] = {}
    for row in rows:
        if row["metric"] in METRICS and "lambda" not in row:
            key = (row["metric"], row["method"], row["statistic"])
            cells.setdefault(key, {})[row["trained"], row["world"]] = row
    n = max(row["n"] for found in cells.values() for row in found.values())
    headings = ["method", "statistic", *(f"{t}, {w}" for t in TRAINED for w in ("free-5", "free-6")), "paper"]
    tables = []
    for metric, title in (("order_tau", "Kendall tau of the order of the stages"), ("match", "share of offers right")):
        lines = []
        for (which, method, statistic), found in cells.items():
            if which == metric:
                values = [spread(found[t, w]) for t in TRAINED for w in ("free-5", "free-6")]
                paper = str(PAPER_TAU) if _beside_the_paper(method, statistic, metric) else ""
                lines.append([method, statistic, *values, paper])
        tables.append(Table(f"{title} ({n} seeds, 95 %), learned in a world, planned in another", headings, lines))
    return [*tables, _curve_table([row for row in rows if "lambda" in row])]


def _curve_table(rows: Sequence[Row]) -> Table:
    lines = []
    for metric in METRICS:
        for trained in TRAINED:
            for world in ("free-5", "free-6"):
                own = [r for r in rows if (r["metric"], r["trained"], r["world"]) == (metric, trained, world)]
                points = [(r["lambda"], r["value"]) for r in own]
                reached = crossing(points, PAPER_TAU) if metric == "order_tau" else None
                told = "" if reached is None else f"{reached:.0f}"
                lines.append([metric, trained, world, *(f"{value:.3f}" for _, value in points), told])
    strengths = dict.fromkeys(row["lambda"] for row in rows)
    headings = ["metric", "trained", "world", *(f"lambda {k}" for k in strengths), f"lambda for {PAPER_TAU}"]
    return Table(f"plans drawn by exp(lambda tau), {DRAWN} for each point", headings, lines)


def crossing(points: Sequence[tuple[float, float]], level: float) -> float | None:
    """Where a curve first reaches a level, between its points by a straight line; None: nowhere."""
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        if y0 < level <= y1:
            return x0 + (level - y0) / (y1 - y0) * (x1 - x0)
    return None


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Both panels of the paper's figure, and samples against lambda."""
    return draw_change(rows, folder, PAPER_TAU)
