"""Reports: what was learned, what it plans, and what was measured, as one page that opens from disk, and as JSON.

The page is the one that `meip explain --html` and `meip reproduce --out` write (`report/whole`): here with plans, with
how task and baseline carry over, and with what commands left in the project's folder of results.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Body
from fastapi.responses import Response

from meip.base import documents
from meip.base.errors import MeipError
from meip.base.files import read_bytes
from meip.base.results import Results
from meip.report.page_tables import evaluation_tables
from meip.report.whole import Planned, Report, write_report
from meip.search.query import Agent
from meip.studio.planner import Planner
from meip.studio.project import Project, Studio, file_name
from meip.studio.side_by_side import planned
from meip.tasks.evaluate import evaluate
from meip.tasks.task import Task

__all__ = ["measured", "routes"]

SEARCHES = 5
SECONDS = 10.0
KINDS = {".html": "text/html; charset=utf-8", ".json": "application/json"}


def measured(project: Project, name: str) -> tuple[Results, ...]:
    """The results of a file: those of `--json`, or of the report.json of `meip reproduce --out`."""
    path = project.existing("results", name)
    try:
        found = documents.read(path)
    except MeipError as error:
        raise MeipError(str(error).replace(f"{project.path}/", "")) from None
    if isinstance(found, Results):
        return (found,)
    return tuple(getattr(found, "results", ()))


def _listed(project: Project) -> Iterator[dict[str, Any]]:
    """The files that hold results; those that cannot be read say why."""
    for name in project.names("results", (".json",)):
        try:
            found = measured(project, name)
        except MeipError as error:
            yield {"file": name, "command": "", "rows": 0, "error": str(error)}
            continue
        if found:
            commands = ", ".join(f"meip {one.command}" for one in found)
            yield {"file": name, "command": commands, "rows": sum(len(one.rows) for one in found), "error": ""}


def _planned(
    planner: Planner, name: str, task: Task, problems: list[str], baseline: str, seed: int
) -> tuple[list[Planned], list[Results]]:
    """Plans in these problems, and how task and baseline carry over to them: as `meip evaluate` measures it."""
    titles = {one["id"]: one["title"] for one in planner.studio.worlds.summary()}
    others = planner.agents(name, task, baseline)
    plans: list[Planned] = []
    worlds: dict[str, Any] = {}
    for problem in problems:
        graph = planner.graph(task, problem)
        title = titles.get(problem, problem)
        world = worlds[title] = planner.studio.worlds.load(problem)
        for side in planned(task, graph, others, seed):
            plans.append(Planned(f"{title}: the {side.label}", side.label, side.plan, world))
    if not worlds:
        return plans, []
    agents: dict[str, Agent] = {"meip": task, **others}
    rows = evaluate(agents, worlds, searches=SEARCHES, seed=seed, seconds=SECONDS)
    note = (
        f"{SEARCHES} searches with different seeds in each problem, {SECONDS:g} seconds each at most. "
        "demonstrated_match and demonstrated_order compare with what the demonstrations show by themselves."
    )
    return plans, [Results.of("evaluate", rows, seed, evaluation_tables(rows), [note])]


def routes(studio: Studio) -> APIRouter:
    """Under /api/reports."""
    router = APIRouter(prefix="/api/reports")
    planner = Planner(studio)

    @router.get("")
    def listed() -> list[dict[str, Any]]:
        found = []
        for name in studio.project.names("reports", KINDS):
            path = studio.project.file("reports", name)
            found.append({"name": name, "bytes": path.stat().st_size, "at": path.stat().st_mtime, "path": str(path)})
        return sorted(found, key=lambda one: -float(one["at"]))

    @router.post("")
    def write(
        task: str = Body(),
        problems: list[str] = Body(default=[]),
        results: list[str] = Body(default=[]),
        baseline: str = Body(default=""),
        seed: int = Body(default=0, ge=0),
    ) -> dict[str, Any]:
        with planner.busy:
            learned = planner.taught.task(task)
            told = learned.explain()
            plans, carried = _planned(planner, task, learned, problems, baseline, seed)
            kept = [one for file in results for one in measured(studio.project, file)]
            name = file_name(f"{task} report")
            folder = studio.project.file("reports", f"{name}.html").parent
            write_report(Report.of(told, plans, [*carried, *kept]), folder, name)
        return {
            "html": f"{name}.html",
            "json": f"{name}.json",
            "sentence": told.sentence,
            "plans": len(plans),
            "results": len(kept),
        }

    @router.get("/results")
    def results() -> list[dict[str, Any]]:
        """What commands measured, and left in the project."""
        return list(_listed(studio.project))

    @router.get("/{name}")
    def download(name: str) -> Response:
        """As a file to keep: the page's policy is in the page."""
        path = studio.project.existing("reports", name)
        if path.suffix not in KINDS:
            raise MeipError(f"{name} is no report")
        return Response(
            read_bytes(path), media_type=KINDS[path.suffix],
            headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(path.name)}"},
        )  # fmt: skip

    return router
