"""Reports: what was learned and how it carries over, as one page that opens from disk, and the same as JSON. The pages
and rows are those of `meip explain --html`, `meip plan --render` and `meip evaluate --json`.
"""

from __future__ import annotations

import json
from html import escape
from typing import Any
from urllib.parse import quote

from fastapi import APIRouter, Body
from fastapi.responses import Response

from meip.base import documents
from meip.base.errors import MeipError
from meip.base.files import read_bytes
from meip.base.results import Results, Row
from meip.report.html import explanation_body, page
from meip.report.plan_page import plan_body
from meip.search.query import Agent
from meip.studio.planner import Planner
from meip.studio.project import Studio, file_name
from meip.studio.side_by_side import Side, planned
from meip.tasks.evaluate import evaluate
from meip.tasks.explain import Explanation
from meip.tasks.task import Task

__all__ = ["report_json", "report_page", "routes"]

SEARCHES = 5
KINDS = {".html": "text/html; charset=utf-8", ".json": "application/json"}


def report_page(told: Explanation, sides: list[tuple[Side, Any, str]], rows: list[Row]) -> str:
    """The explanation, then each plan, then how task and baseline compare."""
    parts = [explanation_body(told)]
    parts += [f"<section>{plan_body(side.plan, world, title, level=2)}</section>" for side, world, title in sides]
    if rows:
        parts.append(_table(rows))
    return page(f"What matters in {told.domain}", "\n".join(parts))


def report_json(told: Explanation, sides: list[tuple[Side, Any, str]], rows: list[Row], seed: int) -> dict[str, Any]:
    """The same for programs."""
    return {
        "explanation": told.to_json(),
        "plans": [{"title": title, "by": side.label, "plan": documents.dump(side.plan)} for side, _, title in sides],
        "results": documents.dump(Results.of("evaluate", rows, seed)) if rows else None,
    }


def _table(rows: list[Row]) -> str:
    head = "".join(
        f'<th scope="col"{number}>{name}</th>'
        for name, number in (("problem", ""), ("by", ""), ("metric", ""), ("mean", ' class="number"'),
                             ("95 % interval", ' class="number"'), ("n", ' class="number"'))
    )  # fmt: skip
    cells = "".join(
        f"<tr><td>{escape(str(row['world']))}</td><td>{escape(str(row['method']))}</td>"
        f'<td>{escape(str(row["metric"]))}</td><td class="number">{row["value"]:.3f}</td>'
        f'<td class="number">{row["low"]:.3f} to {row["high"]:.3f}</td><td class="number">{row["n"]}</td></tr>'
        for row in rows
    )
    return (
        '<section><h2>How it carries over</h2><p class="small">Several searches with different seeds in each problem; '
        "demonstrated_match and demonstrated_order compare with what the demonstrations show by themselves.</p>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{cells}</tbody></table></div></section>'
    )


def _planned(
    planner: Planner, name: str, task: Task, problems: list[str], baseline: str, seed: int
) -> tuple[list[tuple[Side, Any, str]], list[Row]]:
    titles = {one["id"]: one["title"] for one in planner.studio.worlds.summary()}
    others = planner.agents(name, task, baseline)
    sides: list[tuple[Side, Any, str]] = []
    worlds: dict[str, Any] = {}
    for problem in problems:
        graph = planner.graph(task, problem)
        world = worlds[titles.get(problem, problem)] = planner.studio.worlds.load(problem)
        for side in planned(task, graph, others, seed):
            sides.append((side, world, f"{titles.get(problem, problem)}: the {side.label}"))
    agents: dict[str, Agent] = {"meip": task, **others}
    rows = evaluate(agents, worlds, searches=SEARCHES, seed=seed, seconds=10.0) if worlds else []
    return sides, rows


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
        baseline: str = Body(default=""),
        seed: int = Body(default=0, ge=0),
    ) -> dict[str, Any]:
        with planner.busy:
            learned = planner.taught.task(task)
            told = learned.explain()
            sides, rows = _planned(planner, task, learned, problems, baseline, seed)
            name = file_name(f"{task} report")
            studio.project.write("reports", f"{name}.html", report_page(told, sides, rows))
            data = json.dumps(report_json(told, sides, rows, seed), indent=2, ensure_ascii=False)
            studio.project.write("reports", f"{name}.json", data + "\n")
        return {"html": f"{name}.html", "json": f"{name}.json", "sentence": told.sentence, "plans": len(sides)}

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
