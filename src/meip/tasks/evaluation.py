"""The paper's evaluation as one function: take what was learned, plan in changed worlds, act, measure.

The four steps of the protocol: (1) a task learned from demonstrations is (2) taken to worlds that differ from the one
it was shown in, where (3) a number of searches with different seeds plan with it, and (4) the behaviour of each is
measured. Where chance plays a part, each search's behaviour is followed exactly, planning again after each outcome.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import LearningError
from meip.base.parallel import task_rng
from meip.base.results import bootstrap, wilson
from meip.concepts.language import Concept
from meip.concepts.values.columns import GraphColumns
from meip.model.graph import StateGraph, state_graph
from meip.search.search import Chance, Limits, Method, Options
from meip.tasks.behaviour import Behaviour, Planner, behaviours, guided_planner, search_planner
from meip.tasks.explain import MAJORITY, reduced
from meip.tasks.planning import by_single_steps, check_domain, default_horizon
from meip.tasks.task import Task, precedence
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking

__all__ = ["Metric", "evaluate", "task_metrics"]

Row = dict[str, Any]
Progress = Callable[[str], None]
SEARCHES = 20


@dataclass(frozen=True)
class Metric:
    """A number for each finished plan; None where it does not apply to the world. `proportion`: it is 0 or 1."""

    name: str
    measure: Callable[[StateGraph, Behaviour], float | None]
    proportion: bool = False


def evaluate(
    subject: Task | Planner,
    worlds: Mapping[str, Any],
    metrics: Sequence[Metric] | None = None,
    *,
    searches: int = SEARCHES,
    method: Method = "mcts",
    chance: Chance = "expectation",
    horizon: int | None = None,
    iterations: int = 3000,
    seed: int = 0,
    name: str = "meip",
    progress: Progress | None = None,
    **conditions: Any,
) -> list[Row]:
    """Tidy rows, one for each world and metric: the mean over searches with its interval, and the conditions.

    `subject` is a task, or any planner (then `metrics` are needed; those of a task are in `task_metrics`).
    """
    if searches < 1:
        raise LearningError(f"searches must be at least 1, got {searches}")
    if isinstance(subject, Task):
        metrics = task_metrics(subject) if metrics is None else metrics
        planner, used = _planner(subject, method, chance, iterations)
        conditions = {"search": used, "chance": chance, **conditions}
    elif metrics is None:
        raise LearningError("evaluating a planner needs metrics: use those of a task (task_metrics), or your own")
    else:
        planner = subject
    rows: list[Row] = []
    for label, world in worlds.items():
        graph = state_graph(subject.prepared(world) if isinstance(subject, Task) else world)
        length = horizon
        if isinstance(subject, Task):
            check_domain(subject, graph)
            length = default_horizon(subject, graph) if horizon is None else horizon
        values: dict[str, list[float]] = {metric.name: [] for metric in metrics}
        for k in range(searches):
            if progress is not None:
                progress(f"{name} in {label}: search {k + 1} of {searches}")
            ways = behaviours(graph, planner, length, int(task_rng(seed, k).integers(2**31)))
            for metric in metrics:
                found = _expected(metric, graph, ways)
                if found is not None:
                    values[metric.name].append(found)
        rows += [
            _row(metric, values[metric.name], seed, method=name, world=label, **conditions)
            for metric in metrics
            if values[metric.name]
        ]
    return rows


def _planner(task: Task, method: Method, chance: Chance, iterations: int) -> tuple[Planner, str]:
    """Search over histories; tasks that were learned stepwise walk and search by single states."""
    ranking = UtilityRanking(task.members)
    if by_single_steps(task):
        return guided_planner(ranking), "greedy, gbfs"
    options = Options(chance=chance, threshold=task.tau_demo)
    return search_planner(ranking, method, options, Limits(iterations=iterations)), method


def _expected(metric: Metric, graph: StateGraph, ways: Sequence[Behaviour]) -> float | None:
    found = [metric.measure(graph, way) for way in ways]
    if any(value is None for value in found):
        return None
    return float(sum(way.probability * (value or 0.0) for way, value in zip(ways, found, strict=True)))


def _row(metric: Metric, values: Sequence[float], seed: int, **conditions: Any) -> Row:
    low, high = wilson(sum(values), len(values)) if metric.proportion else bootstrap(values, seed=seed)
    measured = {"metric": metric.name, "value": float(np.mean(values)), "low": low, "high": high, "n": len(values)}
    return {"experiment": "evaluation", **measured, **conditions}


def task_metrics(task: Task) -> list[Metric]:
    """How well behaviour agrees with a task: its goal, its tau, its wishes at the end, its order on the way."""
    ranking = UtilityRanking(task.members)
    wishes = _wishes(task)
    edges = [edge for edge in reduced(task.order) if edge.confidence >= MAJORITY]

    def goal(graph: StateGraph, way: Behaviour) -> float | None:
        reached = graph.goal(way.states[-1])
        return None if reached is None else float(reached)

    def tau(graph: StateGraph, way: Behaviour) -> float:
        g = ranking(graph)[list(way.states)]
        return float(np.mean([kendall_tau(g[:, m]) for m in range(g.shape[1])]))

    def match(graph: StateGraph, way: Behaviour) -> float | None:
        return float((_values(graph, wishes, way)[-1] > 0.5).mean()) if wishes else None

    def order(graph: StateGraph, way: Behaviour) -> float | None:
        if not edges:
            return None
        concepts = list(dict.fromkeys(c for edge in edges for c in (edge.first, edge.then)))
        true = _values(graph, concepts, way) > 0.5
        when = dict(zip(concepts, np.where(true.any(axis=0), true.argmax(axis=0), np.inf), strict=True))
        return float(np.mean([when[edge.first] < when[edge.then] < np.inf for edge in edges]))

    def length(graph: StateGraph, way: Behaviour) -> float:
        return float(len(way.actions))

    return [
        Metric("goal", goal, proportion=True),
        Metric("tau", tau),
        Metric("match", match),
        Metric("order", order),
        Metric("length", length),
    ]


def _wishes(task: Task) -> list[Concept]:
    """The boolean concepts that most members want to come true."""
    votes: dict[Concept, int] = {}
    for member in task.members:
        for term in member.terms:
            if term.kind == "boolean" and term.weights[0] > 0 and precedence(term.concept) is None:
                votes[term.concept] = votes.get(term.concept, 0) + 1
    return [concept for concept, count in votes.items() if count >= MAJORITY * len(task.members)]


def _values(graph: StateGraph, concepts: Sequence[Concept], way: Behaviour) -> NDArray[np.float64]:
    """The concepts along one way [states, concepts]."""
    columns = GraphColumns(graph, everything=False)
    rows = columns.rows(np.array(way.states, np.int64))
    return np.asarray(columns.matrix(concepts)[0][rows], dtype=np.float64)
