"""Plans for the page: a problem is chosen or made, the task and a baseline plan in it, and a step that is wrong becomes
a demonstration of the right one.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Sequence
from typing import Any, Literal

from fastapi import APIRouter, Body

from meip.base import documents
from meip.base.errors import DocumentError, LearningError, MeipError
from meip.baselines.named import baselines
from meip.model.demonstrations import Demonstration, Step, follow
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import FORMAT, problem_document
from meip.model.world import Action, encode
from meip.search.query import Agent, Query
from meip.studio.drawing import action_text, actions_view, state_view
from meip.studio.project import Studio, file_name
from meip.studio.side_by_side import planned, shown
from meip.studio.understanding import Taught
from meip.tasks.plan import act, check_domain, task_query
from meip.tasks.task import Task

__all__ = ["BASELINES", "Planner", "corrected", "routes"]

BASELINES = {
    "clone": "nearest step shown",
    "maxent-irl (visits)": "MaxEnt-IRL, sums over states",
    "maxent-irl (final)": "MaxEnt-IRL, last states",
    "goal-count": "goal counting",
    "random": "chance",
}
"""By the names of `meip evaluate --against`, as people would call them."""
BY = "corrected in the studio"
LONGEST_FIELD = 4000  # characters of a field of a problem that is still offered for editing


def corrected(
    task: Task, graph: StateGraph, problem: dict[str, Any], initial: int, steps: Sequence[Step], right: Any, go_on: bool
) -> Demonstration:
    """A demonstration: the steps of a plan up to the wrong one, the right one instead, and, with `go_on`, what the task
    would do from there. Without the rest it would say that one should stop there."""
    begun = Demonstration(problem, (*steps, Step(right, _likeliest(graph, problem, initial, steps, right))), initial)
    states = follow(graph, begun)[1]
    more: list[Step] = []
    if go_on and not graph.over(states[-1]) and len(states) < graph.horizon:
        query = task_query(task, graph, Query(seconds=20.0))
        found = act(task, graph, list(states), query)
        at = states[-1]
        for number, state in zip(found.actions, found.states[len(states) :], strict=True):
            listed = graph.outcomes_of(at, graph.action(number))
            outcome = None if len(listed) == 1 else next(k for k, (_, s) in enumerate(listed) if s == state)
            more.append(Step(encode(graph.action(number)), outcome))
            at = state
    note = f"step {len(steps) + 1} of a plan of the task was wrong"
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


class Planner:
    """Tasks, worlds and agents for the routes; one plan is made at a time."""

    def __init__(self, studio: Studio) -> None:
        self.studio, self.taught = studio, Taught(studio)
        self.busy = threading.Lock()
        self._agents: dict[tuple[Any, ...], dict[str, Agent]] = {}

    def graph(self, task: Task, problem: str) -> StateGraph:
        graph = state_graph(task.prepared(self.studio.worlds.load(problem)))
        check_domain(task, graph)
        return graph

    def problems(self, task: Task) -> list[dict[str, Any]]:
        """What can be chosen, with why not where it does not fit."""
        found = []
        for one in self.studio.worlds.summary():
            why = ""
            try:
                check_domain(task, state_graph(self.studio.worlds.load(one["id"])))
            except MeipError as error:
                why = str(error)
            found.append({**one, "why_not": why})
        return found

    def agents(self, name: str, task: Task, baseline: str) -> dict[str, Agent]:
        """The baseline, fitted to the demonstrations of the task, and kept as long as the task is the same."""
        if not baseline:
            return {}
        if baseline not in BASELINES:
            raise LearningError(f"unknown baseline {baseline!r}; known: {', '.join(BASELINES)}")
        key = (name, baseline, task.provenance.demonstrations_hash, documents.content_hash(documents.dump(task)))
        if key not in self._agents:
            found = baselines(baseline.partition(" (")[0], task, lambda: self.taught.episodes(name, task))
            self._agents = {key: {BASELINES[baseline]: found[baseline]}}
        return self._agents[key]

    def problem(self, problem: str) -> dict[str, Any]:
        try:
            return problem_document(self.studio.worlds.load(problem))
        except MeipError:
            return {"format": FORMAT}

    def add_problem(self, name: str, document: dict[str, Any] | None, text: str | None, domain: str | None) -> str:
        """A new problem in the project: a document, or a file that some world reads. One that is wrong is not kept."""
        project = self.studio.project
        if document is not None:
            files = {
                project.free_name("problems", file_name(name), ".json"): json.dumps(
                    document, indent=2, ensure_ascii=False
                )
                + "\n"
            }
        elif text is not None:
            stem, _, suffix = file_name(name).rpartition(".")
            if not stem:
                raise DocumentError(f"{name}: a problem file needs an ending, such as .pddl")
            kept = project.free_name("problems", stem, f".{suffix}")
            files = {kept: text}
            if domain:
                files[f"{kept.removesuffix(f'.{suffix}')}-domain.{suffix}"] = domain
        else:
            raise DocumentError("give a problem: a document, or the text of a file")
        for file, content in files.items():
            project.write("problems", file, content)
        found = f"file:{next(iter(files))}"
        try:
            state_graph(self.studio.worlds.load(found))
        except MeipError:
            for file in files:
                project.file("problems", file).unlink(missing_ok=True)
            raise
        return found


def routes(studio: Studio) -> APIRouter:
    """Under /api/plans."""
    router = APIRouter(prefix="/api/plans")
    planner = Planner(studio)

    @router.get("/choices")
    def choices(task: str) -> dict[str, Any]:
        """The problems that a task can plan in, those that it cannot with the reason, and the baselines."""
        with planner.busy:
            return {"problems": planner.problems(planner.taught.task(task)), "baselines": BASELINES}

    @router.get("/problem")
    def problem(id: str) -> dict[str, Any]:
        """A problem as a document; fields that are too long to be changed by hand are named."""
        found = planner.problem(id)
        long = [key for key, value in found.items() if len(documents.canonical(value)) > LONGEST_FIELD]
        return {"id": id, "document": found, "long": long}

    @router.post("/problems")
    def add(
        name: str = Body(),
        document: dict[str, Any] | None = Body(default=None),
        text: str | None = Body(default=None),
        domain: str | None = Body(default=None),
    ) -> dict[str, str]:
        return {"id": planner.add_problem(name, document, text, domain)}

    @router.post("")
    def plan(
        task: str = Body(), problem: str = Body(), baseline: str = Body(default=""), seed: int = Body(default=0, ge=0)
    ) -> dict[str, Any]:
        with planner.busy:
            learned = planner.taught.task(task)
            graph = planner.graph(learned, problem)
            sides = planned(learned, graph, planner.agents(task, learned, baseline), seed)
            return {"task": task, "problem": problem, "sides": [shown(learned, graph, side) for side in sides]}

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
        right: Any = Body(),
        then: Literal["task", "nothing", "hand"] = Body(default="task"),
        keep: bool = Body(default=True),
    ) -> dict[str, Any]:
        """Correcting is teaching: a new demonstration, and learning runs again with it; by hand: a draft to go on with.
        Without `keep` only what it would be."""
        with planner.busy:
            learned = planner.taught.task(task)
            graph = planner.graph(learned, problem)
            document = planner.problem(problem)
            made = corrected(learned, graph, document, initial, _steps(steps), right, then == "task")
            found: dict[str, Any] = {"steps": _texts(graph, made), "begun": len(steps) + 1}
            if not keep:
                return found
            known = planner.taught.files(task)
            folder = "drafts" if then == "hand" else "demonstrations"
            file = studio.project.free_name(folder, f"{task} correction", ".json")
            documents.write(studio.project.file(folder, file), made)
        if then == "hand":
            return {**found, "draft": file}
        return {**found, "file": file, "job": planner.taught.learn_again(task, [*known, file])}

    return router


def _steps(given: Sequence[dict[str, Any]]) -> tuple[Step, ...]:
    return tuple(Step(one.get("action"), one.get("outcome")) for one in given)


def _texts(graph: StateGraph, made: Demonstration) -> list[str]:
    return [action_text(graph.world, action) for action in follow(graph, made)[0].actions]
