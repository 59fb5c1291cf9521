"""Who folds what, and what the referee says about it.

Every garment is folded by those who learned as a user would do it (`EVERYWHERE`, by `Task.act` in a world with its
defaults). A few are folded by everybody else as well, on one tree of proposed folds for all who have the same proposal,
so that all choose among the same plans, which have as many folds as the demonstrator would make.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from meip import (
    Demonstration,
    Found,
    Metric,
    Query,
    StateGraph,
    Task,
    TaskPlan,
    WorldError,
    evaluate,
    record,
    replay,
)  # fmt: skip
from meip.base.results import Row
from meip.baselines.agents import MaxEntAgent, RandomAgent
from meip.experiments import Experiment
from meip.experiments.folding_figures import log_likelihood
from meip.experiments.folding_lessons import (
    EVERYWHERE,
    GARMENTS,
    METHODS,
    PHOTOGRAPHED,
    PHOTOGRAPHS,
    Method,
    Scale,
    photographs,
)  # fmt: skip
from meip.experiments.folding_report import Planned
from meip.search.query import Agent
from meip.tasks.evaluate import Behaviour
from meip.worlds.folding.cloth import Garment
from meip.worlds.folding.demonstrate import random_kind, script, script_orders, scripted_folds
from meip.worlds.folding.garments import TEMPLATES, garment
from meip.worlds.folding.referee import Referee, Verdict
from meip.worlds.folding.world import Folding

__all__ = ["NAME", "folded", "problems", "row"]

NAME = "folding"
DRAWN = 10  # random plans per garment
SCRIPT_ATTEMPTS = 5


class _Problem(NamedTuple):
    """A garment to fold, and what was learned; the plans of the first task are drawn."""

    kind: str
    number: int
    seed: int
    garment: Garment
    tasks: Mapping[Method, Task]
    reward: MaxEntAgent | None
    """Where others are compared with."""
    scale: Scale
    draw: bool

    @property
    def tree_seed(self) -> int:
        kinds = (*GARMENTS, PHOTOGRAPHS)
        return (self.seed * len(kinds) + kinds.index(self.kind)) * 1000 + self.number

    def world(self, kind: type[Folding] = Folding) -> Folding:
        """As a user has it."""
        return kind(self.garment, seed=self.tree_seed)

    def tree(self, kind: type[Folding] = Folding) -> Folding:
        """The same tree of folds for all who have the same proposal, with about as many plans for every garment."""
        folds = len(script(self.garment, np.random.default_rng(0)))
        candidates = max(2, round(self.scale.candidates ** (3 / folds)))
        return kind(self.garment, folds + 1, candidates=candidates, seed=self.tree_seed)


def problems(
    seed: int, tasks: Mapping[Method, Task], reward: MaxEntAgent | None, scale: Scale, experiment: Experiment
) -> list[_Problem]:
    """The templates again and again (their trees of folds differ), fresh garments, and photographed ones."""
    found, last = list[_Problem](), (reward, scale, experiment.out is not None)
    for place, kind in enumerate(GARMENTS):
        template = kind.removeprefix("fresh ")
        for k in range(scale.problems if kind in scale.kinds else 0):
            rng = np.random.default_rng([seed, 4, place, k])
            again = kind in TEMPLATES
            one = garment(kind) if again else random_kind(template, rng, f"{kind} {k + 1}")
            own = {m: task for m, task in tasks.items() if m in EVERYWHERE or k < scale.few}
            own.pop(PHOTOGRAPHED[0], None)
            found.append(_Problem(kind, k, seed, one, own, *last))
    if experiment.data is not None:
        own = {m: task for m, task in tasks.items() if m in EVERYWHERE}
        shirts = photographs(experiment.data, seed, scale.shown)[1][: scale.problems]
        found += [_Problem(PHOTOGRAPHS, k, seed, one, own, *last) for k, one in enumerate(shirts)]
    return found


@dataclass(frozen=True)
class _Asked:
    """A task that is asked for one kind of search."""

    task: Task
    query: Mapping[str, Any]

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        return self.task.act(graph, history, query.changed(**self.query))

    def prepared(self, world: Folding) -> Any:
        return self.task.prepared(world)


def folded(problem: _Problem, rng: np.random.Generator) -> tuple[list[Row], list[Planned]]:
    """Rows, and plans to look at."""
    rows, task = list[Row](), problem.tasks[METHODS[0]]
    for method, own in problem.tasks.items():
        if method in EVERYWHERE:
            who = f"{method.name}|choices|{method.trained}"
            rows += _judged(problem, {who: _Asked(own, {})}, problem.world(method.world))
    if problem.reward is not None and problem.number < problem.scale.few and problem.kind in GARMENTS:
        rows += [*_compared(problem, problem.reward), *_ranked(problem)]
    world, begun = problem.world(), time.process_time()
    plans = [task.plan(world)]
    spent = time.process_time() - begun
    rows.append(row("meip", "none", "varied", "all", "garment_seconds", spent, seed=problem.seed))
    return rows, [_planned(problem, world, one) for one in plans]


def _compared(problem: _Problem, reward: MaxEntAgent) -> list[Row]:
    """Everybody on the same trees, and chance."""
    agents: dict[type[Folding], dict[str, Agent]] = {}
    for name, method, more in (*((m.name, m, {}) for m in problem.tasks), ("meip-sign", METHODS[0], {"scale": 0.0})):
        for search, asked in problem.scale.searches.items():
            if more and search in ("choices", "likeliest"):  # they know no scale: the row would be the same again
                continue
            if not (search == "choices" and method in EVERYWHERE):
                agent = _Asked(problem.tasks[method], {"method": search, **asked, **more})
                agents.setdefault(method.world, {})[f"{name}|{search}|{method.trained}"] = agent
    rows = [one for kind, those in agents.items() for one in _judged(problem, those, problem.tree(kind))]
    proposed = problem.tasks[METHODS[0]].prepared(problem.tree())
    rows += _judged(problem, {"maxent-irl|policy|varied": reward}, proposed)
    for name, world in (("random-proposed", proposed), ("random", problem.tree())):
        rows += _judged(problem, {f"{name}|random|varied": RandomAgent()}, world, DRAWN)
    return rows


def _planned(problem: _Problem, world: Folding, plan: TaskPlan) -> Planned:
    shown = plan.demonstration()
    verdict = Referee(problem.garment).judge(replay(world, shown).states)
    wrong = (*(() if verdict.default_order else ("not the default order",)), *verdict.untidy)
    return Planned(problem.kind, problem.number, problem.seed, plan.method, shown, wrong)


def _verdict(graph: StateGraph, way: Behaviour) -> Verdict:
    return Referee(cast(Folding, graph.world).garment).judge([graph.states[s] for s in way.states])


METRICS = (
    Metric("default_order", lambda graph, way: float(_verdict(graph, way).default_order), proportion=True),
    Metric("neat", lambda graph, way: float(_verdict(graph, way).neat), proportion=True),
    Metric("enough", lambda graph, way: float(_verdict(graph, way).enough), proportion=True),
    Metric("rectangularity", lambda graph, way: _verdict(graph, way).rectangularity),
)


def _judged(problem: _Problem, agents: Mapping[str, Agent], world: Folding, searches: int = 1) -> list[Row]:
    """What the referee says about the plans of some agents, named "method|search|trained"."""
    found = evaluate(agents, {problem.kind: world}, METRICS, searches=searches, seed=problem.seed)
    rows = []
    for one in found:
        who = one["method"].split("|")
        rows.append(_row(who, problem, one["metric"], one["value"], one["n"]))
    return rows


def _ranked(problem: _Problem) -> list[Row]:
    """Good and bad orders of the same folds, without any search: how often is the good one likelier?"""
    scripts = [
        [_scripted(problem.world(), order, [side, k]) for k, order in enumerate(orders)]
        for side, orders in enumerate(script_orders(problem.garment))
    ]
    rows = []
    for method, task in problem.tasks.items():
        world = problem.world(method.world)
        good, bad = ([log_likelihood(task, world, one) for one in orders if one is not None] for orders in scripts)
        right = [0.5 + 0.5 * float(np.sign(round(a - b, 9))) for a in good for b in bad]
        if right:
            who = (method.name, "none", method.trained)
            rows.append(_row(who, problem, "rank_accuracy", float(np.mean(right)), len(right)))
    return rows


def _scripted(world: Folding, order: Sequence[str], seed: Sequence[int]) -> Demonstration | None:
    rng = np.random.default_rng([world.seed, *seed])
    for _ in range(SCRIPT_ATTEMPTS):
        try:
            return record(world, scripted_folds(world.garment, order, rng))
        except WorldError:
            continue  # the noise put an end of the segment inside the cloth
    return None


def _row(who: Sequence[str], problem: _Problem, metric: str, value: float, n: int) -> Row:
    method, search, trained = who
    return row(method, search, trained, problem.kind, metric, value, n, seed=problem.seed)


def row(
    method: str, search: str, trained: str, garment: str, metric: str, value: float, n: int = 1, *, seed: int
) -> Row:
    cell = {"experiment": NAME, "method": method, "garment": garment, "search": search, "trained": trained}
    return {**cell, "metric": metric, "value": value, "n": n, "seed": seed}
