"""Corrections: a plan up to a wrong step, with the right one instead, is a demonstration. Correcting is teaching."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from fastapi import APIRouter, Body

from meip.base import documents
from meip.base.errors import LearningError
from meip.model.demonstrations import Demonstration, Step, follow
from meip.model.graph import StateGraph
from meip.model.world import Action, encode
from meip.search.query import Query
from meip.studio.drawing import action_text, actions_view, state_view
from meip.studio.planner import Planner
from meip.tasks.plan import act, task_query
from meip.tasks.task import Task

__all__ = ["corrected", "corrections"]

BY = "corrected in the studio"
SECONDS = 20.0  # for the rest of the plan


def corrected(
    task: Task, graph: StateGraph, problem: dict[str, Any], initial: int, steps: Sequence[Step], right: Any, go_on: bool
) -> Demonstration:
    """A demonstration: the steps of a plan up to the wrong one, the right one instead (None: to stop there), and, with
    `go_on`, what the task would do from there. Without the rest it would say that one should stop there."""
    note = f"step {len(steps) + 1} of a plan of the task was wrong"
    if right is None:
        return Demonstration(problem, tuple(steps), initial, BY, note)
    begun = Demonstration(problem, (*steps, Step(right, _likeliest(graph, problem, initial, steps, right))), initial)
    states = follow(graph, begun)[1]
    more: list[Step] = []
    if go_on and not graph.over(states[-1]) and len(states) < graph.horizon:
        query = task_query(task, graph, Query(seconds=SECONDS))
        found = act(task, graph, list(states), query)
        at = states[-1]
        for number, state in zip(found.actions, found.states[len(states) :], strict=True):
            listed = graph.outcomes_of(at, graph.action(number))
            outcome = None if len(listed) == 1 else next(k for k, (_, s) in enumerate(listed) if s == state)
            more.append(Step(encode(graph.action(number)), outcome))
            at = state
    return Demonstration(problem, (*begun.steps, *more), initial, BY, note)


def _likeliest(
    graph: StateGraph, problem: dict[str, Any], initial: int, steps: Sequence[Step], right: Any
) -> int | None:
    """The outcome of the right step, where chance has a say."""
    _, states = follow(graph, Demonstration(problem, tuple(steps), initial))
    action = _action(graph, states[-1], right)
    listed = graph.outcomes_of(states[-1], action)
    return None if len(listed) == 1 else max(range(len(listed)), key=lambda k: listed[k][0])


def _action(graph: StateGraph, state: int, value: Any) -> Action:
    """The legal action that is written as this value."""
    found = graph.decoded(value)
    if found is not None:
        return found
    for action in graph.legal(state):
        if encode(action) == value:
            return action
    raise LearningError(f"{value!r} is not possible there")


def corrections(router: APIRouter, planner: Planner) -> None:
    """What could have been done instead, and the demonstration of it."""
    project = planner.studio.project

    @router.post("/actions")
    def actions(
        task: str = Body(),
        problem: str = Body(),
        initial: int = Body(default=0),
        steps: list[dict[str, Any]] = Body(),
        search: str = Body(default=""),
    ) -> dict[str, Any]:
        """What could be done after these steps."""
        with planner.busy:
            graph = planner.graph(planner.taught.task(task), problem)
            way, states = follow(graph, Demonstration(planner.problem(problem), _steps(steps), initial))
            view = state_view(graph, states, way.actions)
            return {**actions_view(graph, states[-1], search), "view": view}

    @router.post("/correct")
    def correct(
        task: str = Body(),
        problem: str = Body(),
        initial: int = Body(default=0),
        steps: list[dict[str, Any]] = Body(),
        right: Any = Body(default=None),
        then: Literal["task", "nothing", "hand"] = Body(default="task"),
        keep: bool = Body(default=True),
    ) -> dict[str, Any]:
        """Correcting is teaching: a new demonstration, and learning runs again with it; by hand: a draft to go on with.
        Without a right step it stops there. Without `keep` only what it would be."""
        with planner.busy:
            learned = planner.taught.task(task)
            graph = planner.graph(learned, problem)
            document = planner.problem(problem)
            made = corrected(learned, graph, document, initial, _steps(steps), right, then == "task")
            found: dict[str, Any] = {"steps": _texts(graph, made), "begun": len(steps) + (right is not None)}
            if not keep:
                return found
            known = planner.taught.files(task)
            folder = "drafts" if then == "hand" else "demonstrations"
            file = project.free_name(folder, f"{task} correction", ".json")
            documents.write(project.file(folder, file), made)
        if then == "hand":
            return {**found, "draft": file}
        return {**found, "file": file, "job": planner.taught.learn_again(task, [*known, file])}


def _steps(given: Sequence[dict[str, Any]]) -> tuple[Step, ...]:
    return tuple(Step(one.get("action"), one.get("outcome")) for one in given)


def _texts(graph: StateGraph, made: Demonstration) -> list[str]:
    return [action_text(graph.world, action) for action in follow(graph, made)[0].actions]
