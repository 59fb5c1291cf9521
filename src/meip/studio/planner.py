"""Who plans, and in what: tasks, baselines that learned from the same demonstrations, problems chosen or made."""

from __future__ import annotations

import json
import threading
from typing import Any

from meip.base import documents
from meip.base.errors import DocumentError, LearningError, MeipError
from meip.baselines.named import baselines
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import FORMAT, problem_document
from meip.search.query import Agent
from meip.studio.project import Studio, file_name
from meip.studio.understanding import Taught
from meip.tasks.plan import check_domain
from meip.tasks.task import Task

__all__ = ["BASELINES", "Planner"]

BASELINES = {
    "clone": "nearest step shown",
    "maxent-irl (visits)": "MaxEnt-IRL, sums over states",
    "maxent-irl (final)": "MaxEnt-IRL, last states",
    "goal-count": "goal counting",
    "random": "chance",
}
"""By the names of `meip evaluate --against`, as people would call them."""


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
