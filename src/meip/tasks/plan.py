"""Planning with a task: a world in, a plan out, as a document with the confidence of each step."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import LearningError, MeipError
from meip.concepts.check import kind
from meip.concepts.phrases import article
from meip.learning.options import Run
from meip.model.demonstrations import Demonstration, Plan, replay
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import problem_document
from meip.model.world import encode, made_of
from meip.search.find import find
from meip.search.query import Found, Query
from meip.tasks.reasons import explained
from meip.tasks.task import PlanStep, Task, TaskPlan
from meip.utility.ordering import mean_tau
from meip.utility.preferences import ChoiceRanking
from meip.utility.ranking import Ranking

__all__ = ["act", "check_domain", "document", "plan_starts", "plan_task", "score_task", "start_of", "task_query"]

SAME = 1e-9


def plan_task(
    task: Task, world: Any, query: Query | None = None, *, start: int | None = None, **changes: Any
) -> TaskPlan:
    """Search for the plan that the task ranks best; `changes` are fields of the query by name.

    `start` is the index of an initial state; by default the likeliest one.
    """
    graph, asked = _asked(task, world, query, changes)
    return _planned(task, graph, asked, start_of(graph, asked.seed, start))


def plan_starts(
    task: Task, world: Any, query: Query | None = None, *, run: Run | None = None, **changes: Any
) -> list[TaskPlan]:
    """One plan for each initial state, as the world lists them; `run` tells how many processes search for them."""
    graph, asked = _asked(task, world, query, changes)
    with (run or Run()).workers() as workers:
        return workers.map(partial(_planned_apart, task, graph.world, asked), range(len(graph.initial)))


def _planned_apart(task: Task, world: Any, asked: Query, first: int, rng: np.random.Generator) -> TaskPlan:
    return _planned(task, state_graph(world), asked, first)


def _asked(task: Task, world: Any, query: Query | None, changes: dict[str, Any]) -> tuple[StateGraph, Query]:
    graph = state_graph(task.prepared(world))
    check_domain(task, graph)
    return graph, (query or Query()).changed(**changes)


def _planned(task: Task, graph: StateGraph, asked: Query, first: int) -> TaskPlan:
    settled = task_query(task, graph, asked)
    found = act(task, graph, [int(graph.initial[first])], settled)
    return document(task, graph, found, settled, first)


def start_of(graph: StateGraph, seed: int, start: int | None = None) -> int:
    """The index of an initial state: the one asked for, or the likeliest; equal ones fall by the seed."""
    count = len(graph.initial)
    if start is None:
        best = np.flatnonzero(graph.initial_probability >= graph.initial_probability.max() - SAME)
        return int(np.random.default_rng([seed, 5]).choice(best)) if len(best) > 1 else int(best[0])
    if not 0 <= start < count:
        raise LearningError(f"start={start}: this world has {count} initial states, counted from 0")
    return start


def act(task: Task, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
    """What the task would do after a history. How it was learned decides how "auto" searches: see `task_query`."""
    query = task_query(task, graph, query)
    first, *others = query.method.split(", ")
    found = find(graph, _ranking(task, first), history, query.changed(method=first))
    for method in others:
        if found.stopped_by in ("goal", "memory", "cancelled") or any(
            len(graph.outcomes(action)) > 1 for action in found.actions
        ):
            break  # where chance has a say, a goal that the likeliest outcomes miss may still be reached
        left = None if query.seconds is None else max(query.seconds - found.seconds, 0.0)
        other = find(graph, _ranking(task, method), history, query.changed(method=method, seconds=left))
        found = dataclasses.replace(other, seconds=found.seconds + other.seconds)
    return found


def _ranking(task: Task, method: str) -> Ranking:
    if method != "choices":
        return task.ranking
    if task.choosing is None:
        raise LearningError(
            "method='choices' needs a task that was learned from choices; this one compares whole plans"
        )
    return task.choosing


def task_query(task: Task, graph: StateGraph, query: Query) -> Query:
    """The query with what the task decides where nothing was asked for: the search, the length, the tau to reach.

    A task that was learned from choices chooses step by step, and where that does not reach the world's goal, it
    searches for it best-first; else, and where chance is not to be taken by expectation, the search is exact where all
    plans can be looked at, else by beam, or by tree search where chance plays a part.
    """
    method, by_choices = query.method, task.preferences is not None
    if method == "auto" and by_choices and query.chance == "expectation":
        method = "choices, gbfs" if graph.has_goal else "choices"
    elif method == "auto" and not by_choices:
        method = AUTOMATIC.get(task.provenance.learner, "auto")
    horizon = query.horizon
    if horizon is None:  # to the end of the episode, or as long as the longest demonstration
        stopped = task.provenance.stopped and not method.startswith("choices")
        horizon = min(graph.horizon, task.provenance.longest) if stopped else graph.horizon
    threshold = task.tau_demo if query.threshold == Query.threshold else query.threshold
    return query.changed(method=method, horizon=horizon, threshold=threshold)


AUTOMATIC = {"choices": "greedy, gbfs"}


def score_task(task: Task, world: Any, demonstration: Demonstration | Plan) -> float:
    """The members' mean Kendall tau of a demonstration."""
    graph = state_graph(task.prepared(world))
    check_domain(task, graph)
    plan = demonstration if isinstance(demonstration, Plan) else replay(world, demonstration)
    states = [graph.intern(s) for s in plan.states]
    return mean_tau(task.ranking(graph, states)[states])


def check_domain(task: Task, graph: StateGraph) -> None:
    """Every concept must fit the world's domain: it may have more fluents than the task's, but not fewer."""
    for concept in task.concepts:
        try:
            kind(concept, graph.domain)
        except MeipError as error:
            raise LearningError(
                f"this task (domain {task.domain.name!r}) does not fit a world of domain {graph.domain.name!r}: {error}"
            ) from None


def document(task: Task, graph: StateGraph, found: Found, query: Query, start: int) -> TaskPlan:
    """What was found, as a plan to show and keep: what is done, where it leads, why, and how sure the models are."""
    states = found.states
    chosen = task.ranking(graph, states)[list(states)]  # [h, members]
    by_choices = task.choosing is not None and found.method == "choices"
    told = explained(graph, cast(ChoiceRanking, task.choosing), found, query) if by_choices else None
    how = graph.instructions(states, found.actions)
    steps = [
        PlanStep(
            encode(graph.action(action)),
            graph.describe(state),
            float(chosen[t].mean()),
            _agreement(chosen, t) if told is None else told.confidence[t - 1],
            () if told is None else told.why[t - 1],
            *_chance(graph, states[t - 1], action, state),
            how[t - 1],
        )
        for t, (action, state) in enumerate(zip(found.actions, states[1:], strict=True), start=1)
    ]
    return TaskPlan(
        graph.describe(states[0]),
        tuple(steps),
        mean_tau(chosen),
        float(found.value),
        graph.goal(states[-1]),
        found.method,
        query.chance,
        query.length(graph, states[:1]),
        found.stopped_by,
        query.seed,
        _problem(graph.world),
        start,
        float(graph.initial_probability[start]),
        found.goal_search,
        (*(() if told is None else told.notes), *_unshown(task, graph.world)),
        1.0 if told is None else told.stopping,
    )


def _unshown(task: Task, world: Any) -> tuple[str, ...]:
    """What the problem has and no demonstration had."""
    if task.made_of is None:
        return ()
    missing = [article(kind) for kind in made_of(world) or () if kind not in task.made_of]
    return tuple(f"no demonstration had {one}: what to do with it was not learned" for one in missing)


def _agreement(chosen: Floats, t: int) -> float:
    difference = chosen[t] - chosen[:t]
    signs = np.where(np.abs(difference) <= SAME, 0.0, np.sign(difference))
    return float((signs.sum(axis=0) > 0).mean())


def _chance(graph: StateGraph, before: int, action: int, after: int) -> tuple[float, int | None]:
    """The probability of an outcome, and its index as the world lists them; (1, None) where nothing else can happen."""
    if len(graph.outcomes(action)) == 1:
        return 1.0, None
    listed = graph.outcomes_of(before, graph.action(action))
    same = [(i, p) for i, (p, s) in enumerate(listed) if s == after]
    return sum(p for _, p in same), same[0][0]


def _problem(world: Any) -> dict[str, Any] | None:
    """The problem document, where the world can be written to one."""
    try:
        return problem_document(world)
    except MeipError:
        return None
