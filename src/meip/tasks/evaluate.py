"""The paper's evaluation as one function: take what was learned, plan in changed worlds, act, measure.

The four steps of the protocol: (1) agents that learned from demonstrations are (2) taken to worlds that differ from the
one they were shown, where (3) they act a number of times with different seeds, and (4) their behaviour is
measured: against what the demonstrations show by themselves (`demonstrated`), and, which is another question, against
what was learned.
An agent acts as it does for users: a task searches as `Task.plan` does. Where chance plays a part, each behaviour is
followed exactly: every outcome with its probability, and the agent asked again after it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import BudgetError, LearningError
from meip.base.parallel import task_rng
from meip.base.results import Row, mean_row, share_row
from meip.concepts.language import Concept
from meip.concepts.values.columns import Programs, values_at
from meip.learning.options import Run
from meip.learning.selection import precedence
from meip.model.choices import replay_all
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import problem_key
from meip.search.query import Agent, Query
from meip.tasks.demonstrated import Demonstrated, demonstrated_by, times
from meip.tasks.explain import MAJORITY, reduced
from meip.tasks.plan import check_domain, task_query
from meip.tasks.task import Task
from meip.utility.ordering import mean_tau

__all__ = ["Behaviour", "Metric", "Prepares", "behaviours", "demonstrated_metrics", "evaluate", "task_metrics"]

USUAL_SEARCHES = 20  # the paper's
MANY, TOGETHER = 16, 5  # worlds; of fewer, so many searches are done together
MOST = 10_000
UNLIKELY = 1e-12
STOP = -1  # in place of an action
GAVE_UP = ("dead end", "iterations", "nodes", "seconds", "memory", "cancelled")  # why a search ends without the goal


@dataclass(frozen=True)
class Behaviour:
    """One way things may go: state and action numbers of a graph."""

    probability: float
    states: tuple[int, ...]
    actions: tuple[int, ...]
    search: str = ""
    """What the agent searched with."""
    expansions: int = 0
    goal_search: bool = False
    """Was some of it found by searching for the world's own goal?"""


@dataclass(frozen=True)
class Metric:
    """A number for each finished plan; None where it does not apply to the world. `proportion`: it is 0 or 1."""

    name: str
    measure: Callable[[StateGraph, Behaviour], float | None]
    proportion: bool = False


@runtime_checkable
class Prepares(Protocol):
    """An agent that has learned which actions of a world to consider."""

    def prepared(self, world: Any) -> Any: ...


def evaluate(
    agents: Agent | Mapping[str, Agent],
    worlds: Mapping[str, Any],
    metrics: Sequence[Metric] | None = None,
    *,
    demonstrations: Iterable[Any] = (),
    searches: int = USUAL_SEARCHES,
    run: Run | None = None,
    conditions: Mapping[str, Any] | None = None,
    **query: Any,
) -> list[Row]:
    """Tidy rows, one for each agent, world and metric: the mean over searches with its interval, and the conditions.

    `query` are fields of the `Query` by name: method, chance, horizon, iterations, seconds, seed, ... All agents share
    the graph of a world, of few worlds for some searches at a time. Where a world has a goal of its own, `goal_search`
    is the share of the searches that looked for it: a plan found so shows little of what was learned. By default the
    metrics are those of the first task among the agents: first of all `demonstrated_match` and `demonstrated_order`,
    which every agent is measured by. With `demonstrations` (see `episodes_of`) these come from them instead, and no
    agent needs to be a task.
    """
    if searches < 1:
        raise LearningError(f"searches must be at least 1, got {searches}")
    named: dict[str, Agent] = dict(agents) if isinstance(agents, Mapping) else {"meip": agents}
    shown = tuple(demonstrations)
    given = demonstrated_metrics(demonstrated_by(replay_all(shown))) if shown else []
    chosen = (*given, *(metrics if metrics is not None else _own_metrics(named, {metric.name for metric in given})))
    asked, run = Query(**query) if not query else Query().changed(**query), run or Run()
    items = _divided(named, worlds, chosen, searches, asked)

    def told(done: int, total: int) -> None:
        run.tell(stage="worlds" if len(items) == len(worlds) else "parts", done=done, of=total)

    with run.workers() as workers:
        found = [part for parts in workers.map(_measured, items, progress=told) for part in parts]
    about = {"experiment": "evaluation", "seed": asked.seed, **(conditions or {})}
    rows = [row for label in worlds for name in named for row in _rows(label, name, found, chosen, searches, asked)]
    return [{**about, **row} for row in rows]


def _divided(
    agents: Mapping[str, Agent], worlds: Mapping[str, Any], metrics: tuple[Metric, ...], searches: int, query: Query
) -> list[_Item]:
    """What is done together: a world, whose graph all share; of few worlds some of the searches, however many workers
    there are, so that nothing depends on who has seen what of a world before."""
    size = searches if len(worlds) >= MANY else TOGETHER
    parts = [range(first, min(first + size, searches)) for first in range(0, searches, size)]
    return [_Item(agents, label, world, metrics, part, query) for label, world in worlds.items() for part in parts]


def _own_metrics(agents: Mapping[str, Agent], known: set[str]) -> tuple[Metric, ...]:
    for agent in agents.values():
        if isinstance(agent, Task):
            return tuple(metric for metric in task_metrics(agent) if metric.name not in known)
    if known:
        return ()
    raise LearningError(
        "evaluating agents that are no tasks needs metrics: those of a task (task_metrics), your own, or "
        "demonstrations to compare them with"
    )


@dataclass(frozen=True)
class _Item:
    """One world, and who acts in it, by which of the searches."""

    agents: Mapping[str, Agent]
    label: str
    world: Any
    metrics: tuple[Metric, ...]
    searches: range
    query: Query


class _Part(NamedTuple):
    """What an agent did in a world in some of the searches."""

    label: str
    name: str
    has_goal: bool
    values: dict[str, list[float]]
    """Of each metric."""
    used: tuple[str, ...]
    searched: int
    """How often it looked for the world's own goal."""


def _measured(item: _Item, rng: np.random.Generator) -> list[_Part]:
    parts: list[_Part] = []
    graphs: dict[Any, StateGraph] = {}
    for name, agent in item.agents.items():
        world = agent.prepared(item.world) if isinstance(agent, Prepares) else item.world
        key = problem_key(world)
        graph = graphs[key] if key in graphs else graphs.setdefault(key, state_graph(world))
        query = item.query
        if isinstance(agent, Task):
            check_domain(agent, graph)
            query = query.changed(horizon=task_query(agent, graph, query).horizon)
        values: dict[str, list[float]] = {metric.name: [] for metric in item.metrics}
        used: dict[str, None] = {}
        searched = 0
        for k in item.searches:
            seed = int(task_rng(query.seed, k).integers(2**31))
            ways = behaviours(graph, agent, query.changed(seed=seed))
            used |= dict.fromkeys(way.search for way in ways if way.search)
            searched += any(way.goal_search for way in ways)
            for metric in item.metrics:
                found = _expected(metric, graph, ways)
                if found is not None:
                    values[metric.name].append(found)
        parts.append(_Part(item.label, name, graph.has_goal, values, tuple(used), searched))
    return parts


def _rows(
    label: str, name: str, found: Sequence[_Part], metrics: Sequence[Metric], searches: int, query: Query
) -> Iterator[Row]:
    """Of an agent in a world, over all searches."""
    mine = [part for part in found if (part.label, part.name) == (label, name)]
    used = dict.fromkeys(search for part in mine for search in part.used)
    given: Row = {"method": name, "world": label, "search": ", ".join(used), "chance": query.chance}
    if mine[0].has_goal:
        given |= {"goal_search": sum(part.searched for part in mine) / searches}
    for metric in metrics:
        values = [value for part in mine for value in part.values[metric.name]]
        if values:
            yield _row(metric, values, query.seed, given)


def _row(metric: Metric, values: Sequence[float], seed: int, conditions: Row) -> Row:
    if metric.proportion:
        return share_row(float(sum(values)), len(values), metric=metric.name, **conditions)
    return mean_row(values, seed, metric=metric.name, **conditions)


def _expected(metric: Metric, graph: StateGraph, ways: Sequence[Behaviour]) -> float | None:
    found = [metric.measure(graph, way) for way in ways]
    if any(value is None for value in found):
        return None
    return float(sum(way.probability * (value or 0.0) for way, value in zip(ways, found, strict=True)))


def behaviours(graph: StateGraph, agent: Agent, query: Query | None = None, most: int = MOST) -> list[Behaviour]:
    """Every way things may go when an agent acts, from every initial state, with probabilities that add up to one."""
    query = query or Query()
    todo: list[tuple[Behaviour, tuple[int, ...]]] = [  # with what is still planned
        (Behaviour(float(p), (int(s),), ()), ()) for p, s in zip(graph.initial_probability, graph.initial, strict=True)
    ]
    found: list[Behaviour] = []
    while todo:
        way, planned = todo.pop()
        if len(way.states) >= query.length(graph, way.states[:1]) or not graph.action_numbers(way.states[-1]):
            found.append(way)
            continue
        search, expansions, goal = way.search, way.expansions, way.goal_search
        if not planned:
            plan = agent.act(graph, way.states, query.changed(seed=query.seed + 7919 * len(way.states)))
            planned, search, expansions = plan.actions, plan.method or way.search, expansions + plan.expansions
            goal = goal or plan.goal_search
            if graph.has_goal and plan.stopped_by in GAVE_UP:
                planned = (*planned, STOP)  # asked again it would have more time than it was given
        if not planned or planned[0] == STOP:  # the agent prefers to stop
            found.append(Behaviour(way.probability, way.states, way.actions, search, expansions, goal))
            continue
        outcomes = graph.outcomes(planned[0])
        rest = planned[1:] if len(outcomes) == 1 else ()
        for p, state in outcomes:
            if way.probability * p > UNLIKELY:
                states, actions = (*way.states, state), (*way.actions, planned[0])
                todo.append((Behaviour(way.probability * p, states, actions, search, expansions, goal), rest))
        if len(todo) + len(found) > most:
            raise BudgetError(f"more than {most} ways things may go: chance plays too often to follow them all")
    return found


def task_metrics(task: Task) -> list[Metric]:
    """How well behaviour agrees with the demonstrations that a task knows (`demonstrated_metrics`), and with the task:
    its goal, its tau, its wishes at the end, its order on the way."""
    wishes = _wishes(task)
    edges = [edge for edge in reduced(task.order) if edge.confidence >= MAJORITY]

    def goal(graph: StateGraph, way: Behaviour) -> float | None:
        reached = graph.goal(way.states[-1])
        return None if reached is None else float(reached)

    def tau(graph: StateGraph, way: Behaviour) -> float:
        return mean_tau(task.ranking(graph, way.states)[list(way.states)])

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
        *(demonstrated_metrics(task.demonstrated) if task.demonstrated is not None else ()),
        Metric("goal", goal, proportion=True),
        Metric("tau", tau),
        Metric("match", match),
        Metric("order", order),
        Metric("length", length),
    ]


def demonstrated_metrics(shown: Demonstrated) -> list[Metric]:
    """The paper's step 4: do the demonstrated concepts hold in the end, and did all come about in the shown order?

    `demonstrated_order` is Kendall's tau over the pairs whose order was shown: 1 as shown, -1 the other way round; a
    pair of which one never came about, or both at once, counts 0. Nothing that was learned has a part in it.
    """
    first = [pair.first for pair in shown.order]
    then = [pair.then for pair in shown.order]

    def match(graph: StateGraph, way: Behaviour) -> float | None:
        if not any(shown.lasting):
            return None
        return float((_values(graph, shown.concepts, way)[-1] > 0.5)[list(shown.lasting)].mean())

    def order(graph: StateGraph, way: Behaviour) -> float | None:
        if not shown.order:
            return None
        when = times(_values(graph, shown.concepts, way) > 0.5)
        both = np.isfinite(when[first]) & np.isfinite(when[then])
        return float(
            np.where(both, np.sign(np.where(both, when[then], 0) - np.where(both, when[first], 0)), 0.0).mean()
        )

    return [Metric("demonstrated_match", match), Metric("demonstrated_order", order)]


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
    return values_at(graph, Programs(graph.domain)(concepts), way.states)[0]
