"""Recording a demonstration: a draft with its own steps, undo and redo, saved whole at every step.

A draft is a demonstration document in ``drafts/``, readable as any other; what was undone waits in its `meta`. So a
reload, a closed browser or a killed server loses nothing, and undo never leaves the demonstration it belongs to.
"""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Body

from meip.base import documents
from meip.base.errors import DemonstrationError, WorldError
from meip.model.demonstrations import Demonstration, Step, Walk
from meip.model.graph import StateGraph
from meip.model.problems import problem_document
from meip.model.world import encode
from meip.studio.collection import read_one
from meip.studio.drawing import action_view, actions_view, asked_stroke, facts_view, state_view
from meip.studio.project import Project, Studio, file_name
from meip.studio.worlds import Worlds

__all__ = ["Draft", "Drafts", "routes"]

KEPT = 8  # drafts whose states are kept at hand
MOST_OUTCOMES = 40  # that can be chosen from


class Draft:
    """A demonstration that is being made."""

    def __init__(self, project: Project, worlds: Worlds, name: str) -> None:
        self.project, self.name = project, name
        self.demonstration: Demonstration = documents.read(project.existing("drafts", name), "demonstration")
        self.world = worlds.of_demonstration(self.demonstration, Path(name).stem)
        self.walk = Walk(StateGraph(self.world), Path(name).stem)
        self.walk.start(self.demonstration.initial)
        for step in self.demonstration.steps:
            self.walk.take(*self.walk.find(step.action), step.outcome, step.chance_failure)

    @property
    def graph(self) -> StateGraph:
        return self.walk.graph

    @property
    def state(self) -> int:
        return self.walk.states[-1]

    @property
    def undone(self) -> list[dict[str, Any]]:
        """What redo would do next comes last."""
        return list((self.demonstration.meta or {}).get("undone", []))

    def step(self, value: Any, outcome: int | None = None, failure: bool = False) -> list[dict[str, Any]] | None:
        """Do something. Where chance has a say and nobody said what came of it: the outcomes to choose from."""
        action, choices = self.walk.find(value)
        if outcome is None and len(choices) > 1:
            return [
                {"outcome": k, "probability": p, "words": self.graph.describe(s)}
                for k, (p, s) in enumerate(choices[:MOST_OUTCOMES])
            ]
        only_one = self.walk.take(action, choices, outcome, failure)
        done = Step(encode(action), None if only_one else outcome, failure)
        self._keep((*self.demonstration.steps, done), [])
        return None

    def expect(self, steps: int | None) -> None:
        """Somebody saw it at so many steps; it may have gone on in another window."""
        now = len(self.demonstration.steps)
        if steps is not None and steps != now:
            raise DemonstrationError(f"this draft was changed in another window: it has {now} steps; look again")

    def undo(self) -> None:
        steps = self.demonstration.steps
        if not steps:
            raise DemonstrationError("nothing to undo: this demonstration is at its beginning")
        self.walk.back()
        self._keep(steps[:-1], [*self.undone, documents.to_json(steps[-1])])

    def redo(self) -> None:
        undone = self.undone
        if not undone:
            raise DemonstrationError("nothing to redo in this demonstration")
        step = documents.validate(Step, undone[-1], where=f"{self.name}: $.meta.undone")
        self.walk.take(*self.walk.find(step.action), step.outcome, step.chance_failure)
        self._keep((*self.demonstration.steps, step), undone[:-1])

    def _keep(self, steps: tuple[Step, ...], undone: list[dict[str, Any]]) -> None:
        meta = {**(self.demonstration.meta or {}), "undone": undone}
        self.demonstration = replace(self.demonstration, steps=steps, meta=meta)
        documents.write(self.project.file("drafts", self.name), self.demonstration)

    def finish(self, name: str, by: str, note: str) -> str:
        """Put it among the demonstrations; the draft is gone, and can be brought back from the trash."""
        if not self.demonstration.steps:
            raise DemonstrationError("this demonstration has no steps yet: do something first")
        meta = {k: v for k, v in (self.demonstration.meta or {}).items() if k != "undone"}
        kept = replace(self.demonstration, by=by, note=note, meta=meta or None)
        file = self.project.free_name("demonstrations", file_name(name), ".json")
        documents.write(self.project.file("demonstrations", file), kept)
        self.project.trash("drafts", self.name)
        return file

    def view(self) -> dict[str, Any]:
        """All that the page shows of it."""
        walk, graph = self.walk, self.graph
        over = len(walk.states) >= graph.horizon or graph.over(self.state)
        state = state_view(graph, walk.states, walk.actions)
        listed = {"actions": [], "total": 0, "legal": 0} if over or state["scene"] else actions_view(graph, self.state)
        return {
            "name": self.name,
            "title": Path(self.name).stem,
            "world": self.demonstration.problem.get("world", ""),
            "saved": self.project.file("drafts", self.name).stat().st_mtime,
            "horizon": graph.horizon,
            "steps": [action_view(self.world, action) for action in walk.actions],
            "redo": len(self.undone),
            "over": over,
            "goal": graph.goal(self.state),
            "state": state,
            **listed,
        }


class Drafts:
    """The drafts of a project, those used last at hand."""

    def __init__(self, project: Project, worlds: Worlds) -> None:
        self.project, self.worlds = project, worlds
        self._kept: dict[str, tuple[int, Draft]] = {}
        self.lock = threading.RLock()

    def get(self, name: str) -> Draft:
        stamp = self.project.existing("drafts", name).stat().st_mtime_ns
        found = self._kept.pop(name, None)
        draft = found[1] if found is not None and found[0] == stamp else Draft(self.project, self.worlds, name)
        self._remember(draft)
        return draft

    def _remember(self, draft: Draft) -> None:
        self._kept.pop(draft.name, None)
        self._kept[draft.name] = (self.project.file("drafts", draft.name).stat().st_mtime_ns, draft)
        while len(self._kept) > KEPT:
            self._kept.pop(next(iter(self._kept)))

    def changed(self, draft: Draft) -> dict[str, Any]:
        """Its new view, with the file's new time remembered."""
        self._remember(draft)
        return draft.view()

    def begin(self, world: Any, title: str, initial: int = 0) -> Draft:
        """A new draft in a world."""
        document = problem_document(world)
        count = len(StateGraph(world).initial)
        if not 0 <= initial < count:
            raise WorldError(f"this problem has {count} initial states, counted from 0; there is no {initial}")
        return self.add(Demonstration(document, (), initial), title)

    def add(self, demonstration: Demonstration, title: str) -> Draft:
        name = self.project.free_name("drafts", _stem(title), ".json")
        documents.write(self.project.file("drafts", name), demonstration)
        return self.get(name)

    def list(self) -> list[dict[str, Any]]:
        found = []
        for name in self.project.names("drafts", (".json",)):
            path = self.project.file("drafts", name)
            row = {"name": name, "title": Path(name).stem, "saved": path.stat().st_mtime, "steps": 0, "world": ""}
            try:
                one: Demonstration = documents.read(path, "demonstration")
                row |= {"steps": len(one.steps), "world": one.problem.get("world", "")}
            except ValueError as error:
                row["error"] = str(error).replace(f"{self.project.path}/", "")
            found.append(row)
        return sorted(found, key=lambda one: -float(one["saved"]))


def _stem(title: str) -> str:
    """A title as the name of a file."""
    kept = "".join(c if c.isalnum() or c in " -_.,()" else " " for c in title).strip(" .,-_()")[:60]
    return kept or "demonstration"


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api")
    drafts = Drafts(studio.project, studio.worlds)

    @router.get("/drafts")
    def listed() -> list[dict[str, Any]]:
        return drafts.list()

    @router.post("/drafts")
    def begin(
        problem: str = Body(""),
        like: str = Body(""),
        place: int = Body(0),
        steps: int = Body(0),
        initial: int = Body(0),
    ) -> dict[str, Any]:
        """A new draft: in a problem, or like a demonstration, perhaps with its first steps."""
        if like:
            shown = read_one(studio.project, like, place)
            world = studio.worlds.of_demonstration(shown, Path(like).stem)
        else:
            world = studio.worlds.load(problem)
        studio.warming.wait(world)
        with drafts.lock:
            if not like:
                title = next((p.title for p in studio.worlds.problems() if p.id == problem), problem)
                return drafts.begin(world, title, initial).view()
            begun = replace(shown, steps=shown.steps[: max(0, steps)], meta=None)
            return drafts.add(begun, Path(like).stem).view()

    @router.get("/drafts/{name}")
    def seen(name: str) -> dict[str, Any]:
        with drafts.lock:
            return drafts.get(name).view()

    @router.get("/drafts/{name}/actions")
    def searched(name: str, q: str = "") -> dict[str, Any]:
        with drafts.lock:
            draft = drafts.get(name)
            return actions_view(draft.graph, draft.state, q)

    @router.get("/drafts/{name}/facts")
    def facts(name: str) -> list[dict[str, Any]]:
        with drafts.lock:
            draft = drafts.get(name)
            return facts_view(draft.graph, draft.walk.states)

    @router.post("/drafts/{name}/stroke")
    def stroke(name: str, line: list[float] | None = Body(None), action: Any = Body(None)) -> dict[str, Any]:
        """What a line would do, given by its ends or as an action."""
        with drafts.lock:
            draft = drafts.get(name)
            return asked_stroke(draft.graph, draft.state, line, action)

    @router.post("/drafts/{name}/step")
    def step(
        name: str,
        action: Any = Body(...),
        outcome: int | None = Body(None),
        failure: bool = Body(False),
        at: int | None = Body(None),
    ) -> dict[str, Any]:
        with drafts.lock:
            draft = drafts.get(name)
            draft.expect(at)
            choose = draft.step(action, outcome, failure)
            return {"choose": choose} if choose is not None else drafts.changed(draft)

    @router.post("/drafts/{name}/undo")
    def undo(name: str, at: int | None = Body(None, embed=True)) -> dict[str, Any]:
        with drafts.lock:
            draft = drafts.get(name)
            draft.expect(at)
            draft.undo()
            return drafts.changed(draft)

    @router.post("/drafts/{name}/redo")
    def redo(name: str, at: int | None = Body(None, embed=True)) -> dict[str, Any]:
        with drafts.lock:
            draft = drafts.get(name)
            draft.expect(at)
            draft.redo()
            return drafts.changed(draft)

    @router.post("/drafts/{name}/save")
    def save(name: str, title: str = Body(...), by: str = Body(""), note: str = Body("")) -> dict[str, str]:
        with drafts.lock:
            return {"file": drafts.get(name).finish(title, by, note)}

    @router.delete("/drafts/{name}")
    def delete(name: str) -> dict[str, str]:
        return {"undo": studio.project.trash("drafts", name)}

    return router
