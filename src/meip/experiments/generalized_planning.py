"""Generalized planning: learn from five small problems of a PDDL domain, plan in larger ones.

Coverage, plan length and expansions against size, beside WL features with the same demonstrations, objective and
searches, goal counting and blind search. With a folder of domains (each with ``domain.pddl`` and ``training/NAME.pddl``
and ``.plan``): five short plans drawn at random, tried on forty others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from meip import DocumentError, Episode, Found, Metric, Query, StateGraph, Task, evaluate, learn
from meip.base.results import Row, share_row
from meip.baselines.agents import GoalAgent
from meip.experiments import Experiment
from meip.experiments.wl_features import WlAgent, available
from meip.search.find import find
from meip.search.query import Agent
from meip.tasks.evaluate import Behaviour
from meip.utility.ranking import ScoreRanking
from meip.worlds.pddl import PddlWorld, read_problem
from meip.worlds.pddl.demonstrate import read_pair, solve, walked

__all__ = ["METRICS", "NAME", "NOTES", "SIZES", "BlindAgent", "Lesson", "drawn", "generated", "run"]

NAME = "generalized-planning"
NOTES = (
    "solved: the share of problems in which the goal was reached within 30 s and 1000 steps (walk) or 2000 "
    "expansions (gbfs); length, relative (to the plan that came with the problem) and expansions (both the median) are "
    "of the solved ones",
    "walk: step by step, by choices that look ahead (meip) or by the best next state (others); gbfs: best first",
    "wl: WL features with the same demonstrations and likelihood; left out where wlplan is not installed",
)
BUDGETS = {"walk": 1000, "gbfs": 2000}  # expansions by each search
SECONDS = 30.0
LESSONS, OTHERS = 5, 40
SHORT, LONG = 3, 20  # steps of the plans that are learned from
TRAINED = (2, 3, 3, 4, 4)
TRIED = (4, 6, 8, 12, 16)
QUICK = ("ferry", "blocksworld")
SIZES: dict[str, Callable[[int], dict[str, int]]] = {
    "ferry": lambda n: {"cars": n, "landings": max(2, n)},
    "miconic": lambda n: {"people": n, "floors": n + 1},
    "spanner": lambda n: {"spanners": n, "nuts": max(1, n // 2), "places": n},
    "gripper": lambda n: {"balls": n},
    "blocksworld": lambda n: {"blocks": n + 1},
    "satellite": lambda n: {"satellites": max(1, n // 2), "modes": 2, "directions": n + 1, "images": n},
    "childsnack": lambda n: {"children": n, "trays": 2, "allergic": n // 2},
}
"""The generator's parameters by a size that means about as much in each domain."""


@dataclass(frozen=True)
class Lesson:
    """What is learned from, and the problems it is then tried on, with the size of each."""

    domain: str
    episodes: tuple[Episode, ...]
    others: tuple[tuple[int, PddlWorld], ...]
    references: tuple[int, ...] = ()
    """The lengths of the plans that came with these, where any did."""


def run(experiment: Experiment) -> list[Row]:
    """Coverage, length and expansions: by size in the shipped domains, or for each draw from a folder of domains."""
    rows: list[Row] = []
    first, quick = experiment.seed, experiment.quick
    seeds = range(first, first + (experiment.seeds or (1 if quick else 3)))
    if experiment.data is not None:
        for folder in _folders(experiment.data):
            for seed in seeds:
                measured = _tried(drawn(folder, seed, 5 if quick else OTHERS), seed, experiment)
                rows += _summed(folder.name, [{**row, "size": "all"} for row in measured], draw=seed)
        return rows
    sizes, each = (TRIED[:2], 2) if quick else (TRIED, 5)
    for domain in QUICK if quick else SIZES:
        lessons = ((generated(domain, seed, sizes, each), seed) for seed in seeds)
        rows += _summed(domain, [row for lesson, seed in lessons for row in _tried(lesson, seed, experiment)])
    return rows


def generated(domain: str, seed: int, sizes: Sequence[int] = TRIED, each: int = 5) -> Lesson:
    """Five small problems of a shipped domain with plans of our own, and larger ones."""

    def world(size: int, number: int) -> PddlWorld:
        return PddlWorld(domain, generate=SIZES[domain](size), seed=1000 * seed + number)

    small = [world(size, number) for number, size in enumerate(TRAINED)]
    others = [(size, world(size, 100 * size + k)) for size in sizes for k in range(each)]
    return Lesson(domain, tuple(Episode(w, walked(w, solve(w)[0])) for w in small), tuple(others))


def drawn(folder: Path, seed: int, others: int = OTHERS) -> Lesson:
    """Five problems with short plans of a folder, drawn at random, and others of it; size is the number of objects."""
    domain, plans = folder / "domain.pddl", sorted((folder / "training").glob("*.plan"))
    if not domain.is_file() or len(plans) < 2:
        raise DocumentError(f"{folder}: expected domain.pddl and training/NAME.pddl with training/NAME.plan beside it")
    rng = np.random.default_rng(seed)
    steps = {plan: sum(line.lstrip().startswith("(") for line in plan.read_text().splitlines()) for plan in plans}
    small = [plan for plan in plans if SHORT <= steps[plan] <= LONG] or plans
    shown = [small[i] for i in sorted(rng.choice(len(small), min(LESSONS, len(small)), replace=False).tolist())]
    rest = [plan for plan in plans if plan not in shown]
    tried = sorted(rng.choice(len(rest), min(others, len(rest)), replace=False).tolist())
    episodes = tuple(read_pair(plan.with_suffix(".pddl"), plan, domain) for plan in shown)
    worlds = [read_problem(rest[i].with_suffix(".pddl"), domain) for i in tried]
    sized = tuple((len(w.problem.objects), w) for w in worlds)
    return Lesson(folder.name, episodes, sized, tuple(steps[rest[i]] for i in tried))


def _folders(data: Path) -> list[Path]:
    found = sorted(p.parent for p in data.glob("*/domain.pddl"))
    if not found:
        raise DocumentError(f"{data}: no folder with a domain.pddl in it")
    return found


class BlindAgent:
    """Best-first search in which every state is as good as any other."""

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        return find(graph, ScoreRanking(lambda _, states: np.zeros(len(states))), history, query)


def _reached(graph: StateGraph, way: Behaviour) -> float:
    return float(bool(graph.goal(way.states[-1])))


def _length(graph: StateGraph, way: Behaviour) -> float | None:
    return float(len(way.actions)) if graph.goal(way.states[-1]) else None


def _expansions(graph: StateGraph, way: Behaviour) -> float | None:
    return float(way.expansions) if graph.goal(way.states[-1]) else None


METRICS = (Metric("solved", _reached, proportion=True), Metric("length", _length), Metric("expansions", _expansions))


AVERAGED: dict[str, Callable[..., Any]] = {"length": np.mean, "relative": np.median, "expansions": np.median}


def _tried(lesson: Lesson, seed: int, experiment: Experiment) -> Iterator[Row]:
    """Learn, and search in every problem by every method: a row for each, with the problem's size."""
    experiment.tell(f"learning {lesson.domain} from {len(lesson.episodes)} plans")
    task = learn(lesson.episodes, seed=seed, run=experiment.run)
    reading = task.provenance.evidence.get("reading", "shown")
    experiment.tell(f"{lesson.domain}, read as {reading}: {_heaviest(task)}")
    peers: dict[str, Agent] = {"goal-count": GoalAgent()}
    if available():
        peers["wl"] = WlAgent(lesson.episodes, reading=reading)
    searched: tuple[tuple[str, str, dict[str, Agent]], ...] = (
        ("walk", "choices", {"meip": task}),
        ("walk", "greedy", peers),
        ("gbfs", "gbfs", {"meip": task, **peers, "blind": BlindAgent()}),
    )
    worlds = {f"{number}": world for number, (_, world) in enumerate(lesson.others)}
    for search, method, agents in searched:
        found = evaluate(
            agents, worlds, METRICS, searches=1, run=experiment.run,
            method=method, iterations=BUDGETS[search], seconds=SECONDS, seed=seed,
        )  # fmt: skip
        for row in found:
            number = int(row["world"])
            row = {**row, "search": search, "size": lesson.others[number][0]}
            yield row
            if row["metric"] == "length" and lesson.references:
                yield {**row, "metric": "relative", "value": row["value"] / max(lesson.references[number], 1)}


def _heaviest(task: Task) -> str:
    """The heaviest concepts of the first member."""
    terms = sorted(task.members[0].terms, key=lambda t: -abs(t.weights[0]))[:4]
    return "; ".join(f"{t.weights[0]:+.2f} {t.concept}" for t in terms)


def _summed(domain: str, measured: Sequence[Row], **conditions: int) -> list[Row]:
    """Over problems: the share that was solved, and of those the mean length and the median of the expansions."""
    rows: list[Row] = []
    for method, search, size in sorted({(row["method"], row["search"], row["size"]) for row in measured}):
        same = [row for row in measured if (row["method"], row["search"], row["size"]) == (method, search, size)]
        values = {name: [row["value"] for row in same if row["metric"] == name] for name in AVERAGED}
        solved = [row["value"] for row in same if row["metric"] == "solved"]
        cell = {"experiment": NAME, "method": method, "domain": domain, "search": search, "size": size, **conditions}
        rows.append(share_row(sum(solved), len(solved), metric="solved", **cell))
        if values["length"]:
            middle = {name: float(AVERAGED[name](found)) for name, found in values.items() if found}
            rows += [{**cell, "metric": m, "value": v, "n": len(values["length"])} for m, v in middle.items()]
    return rows
