"""Corrections: "this step is wrong" becomes a demonstration that says one thing, what should have been done there."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Literal

from fastapi import APIRouter, Body

from meip.base import documents
from meip.base.errors import LearningError
from meip.model.demonstrations import Correction, Demonstration, Step, follow
from meip.model.graph import StateGraph
from meip.model.world import Action, encode
from meip.studio.drawing import action_text, actions_view, asked_stroke, state_view
from meip.studio.planner import Planner

__all__ = ["corrected", "corrections"]

BY = "corrected in the studio"


def corrected(
    graph: StateGraph, problem: dict[str, Any], initial: int, steps: Sequence[Step], right: Any, wrong: Any
) -> Demonstration:
    """The steps of a plan up to the wrong one, and the right one instead (None: to stop there), as the correction of
    what the plan did (None: it stopped)."""
    note = f"step {len(steps) + 1} of a plan of the task was wrong"
    if right is None:
        return Demonstration(problem, tuple(steps), initial, BY, note, corrects=Correction(wrong, stop=True))
    step = Step(right, _likeliest(graph, problem, initial, steps, right))
    return Demonstration(problem, (*steps, step), initial, BY, note, corrects=Correction(wrong))


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

    @router.post("/stroke")
    def stroke(
        task: str = Body(),
        problem: str = Body(),
        initial: int = Body(default=0),
        steps: list[dict[str, Any]] = Body(),
        line: list[float] | None = Body(default=None),
        action: Any = Body(default=None),
    ) -> dict[str, Any]:
        """What a line would do after these steps."""
        with planner.busy:
            graph = planner.graph(planner.taught.task(task), problem)
            _, states = follow(graph, Demonstration(planner.problem(problem), _steps(steps), initial))
            found = asked_stroke(graph, states[-1], line, action)
            return {**found, "text": action_text(graph.world, found["action"]) if found["legal"] else ""}

    @router.post("/correct")
    def correct(
        task: str = Body(),
        problem: str = Body(),
        initial: int = Body(default=0),
        steps: list[dict[str, Any]] = Body(),
        wrong: Any = Body(default=None),
        right: Any = Body(default=None),
        then: Literal["learn", "hand"] = Body(default="learn"),
    ) -> dict[str, Any]:
        """Correcting is teaching: a new demonstration, and learning runs again with it; by hand: a draft of a whole one
        to go on with. Without a right step it stops there; without a wrong one the plan stopped."""
        with planner.busy:
            learned = planner.taught.task(task)
            graph = planner.graph(learned, problem)
            made = corrected(graph, planner.problem(problem), initial, _steps(steps), right, wrong)
            known = planner.taught.files(task)
            if then == "hand":
                draft = project.free_name("drafts", f"{task} correction", ".json")
                documents.write(project.file("drafts", draft), dataclasses.replace(made, corrects=None))
                return {"steps": _texts(graph, made), "draft": draft}
            _check(graph, made)
            file = project.free_name("demonstrations", f"{task} correction", ".json")
            documents.write(project.file("demonstrations", file), made)
        return {"steps": _texts(graph, made), "file": file, "job": planner.taught.learn_again(task, [*known, file])}


def _check(graph: StateGraph, made: Demonstration) -> None:
    """What was wrong must have been possible there, too."""
    wrong = made.corrects.rejected if made.corrects is not None else None
    if wrong is not None:
        begun = made.steps if made.corrects is not None and made.corrects.stop else made.steps[:-1]
        _action(graph, follow(graph, dataclasses.replace(made, steps=begun, corrects=None))[1][-1], wrong)


def _steps(given: Sequence[dict[str, Any]]) -> tuple[Step, ...]:
    return tuple(Step(one.get("action"), one.get("outcome")) for one in given)


def _texts(graph: StateGraph, made: Demonstration) -> list[str]:
    return [action_text(graph.world, action) for action in follow(graph, made)[0].actions]
