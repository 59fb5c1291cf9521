"""Plans for the page: a problem is chosen or made, the task and a baseline plan in it, and a step that is wrong becomes
a demonstration of the right one.
"""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Body

from meip.base import documents
from meip.studio.corrections import corrections
from meip.studio.planner import BASELINES, Planner
from meip.studio.project import Studio
from meip.studio.side_by_side import planned, shown

__all__ = ["routes"]

LONGEST_FIELD = 4000  # characters of a field of a problem that is still offered for editing


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

    corrections(router, planner)
    return router
