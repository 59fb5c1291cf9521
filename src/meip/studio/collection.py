"""The demonstrations of a project: listed, replayed, renamed, deleted and brought back, exported."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Body, Response

from meip.base import documents
from meip.base.errors import DocumentError, MeipError
from meip.model.demonstrations import Demonstration, follow, read_demonstrations
from meip.model.graph import StateGraph
from meip.studio.drawing import action_view, motion, state_view
from meip.studio.importing import imported, split
from meip.studio.project import Missing, Project, Studio, file_name

__all__ = ["exported", "preview", "read_one", "replayed", "routes"]

MOST_BEGINNINGS = 50  # of a problem, to choose from


def read_one(project: Project, name: str, place: int = 0) -> Demonstration:
    """One demonstration of a file, counted from 0."""
    found = _read(project, name)
    if not 0 <= place < len(found):
        raise Missing(f"{name} holds {len(found)} demonstrations; there is no number {place + 1}")
    return found[place]


def _read(project: Project, name: str) -> tuple[Demonstration, ...]:
    path = project.existing("demonstrations", name)
    try:
        return _parsed(path, path.stat().st_mtime_ns)
    except DocumentError as error:
        raise DocumentError(str(error).replace(f"{project.path}/", "")) from None


@lru_cache(maxsize=1024)
def _parsed(path: Path, stamp: int) -> tuple[Demonstration, ...]:
    return tuple(read_demonstrations(path))


def _row(project: Project, name: str) -> dict[str, Any]:
    row: dict[str, Any] = {"file": name, "title": Path(name).stem, "count": 0, "steps": 0, "world": ""}
    try:
        shown = _read(project, name)
    except MeipError as error:
        return {**row, "error": str(error)}
    first = shown[0] if shown else None
    return row | {
        "count": len(shown),
        "steps": sum(len(one.steps) for one in shown),
        "world": "" if first is None else str(first.problem.get("world", "")),
        "by": "" if first is None else first.by,
        "note": "" if first is None else first.note,
        "aside": "" if first is None else str((first.meta or {}).get("aside", "")),
        "correction": first is not None and first.corrects is not None,
    }


def replayed(studio: Studio, name: str, place: int) -> dict[str, Any]:
    """Every state of a demonstration as the page draws it, and how each step moves what it moves."""
    shown = read_one(studio.project, name, place)
    world = studio.worlds.of_demonstration(shown, Path(name).stem)
    graph = StateGraph(world)
    plan, numbers = follow(graph, shown, where=Path(name).stem)
    frames = [
        {
            "state": state_view(graph, numbers[: k + 1], plan.actions[:k]),
            "step": action_view(world, plan.actions[k - 1]) if k else None,
            "motion": motion(graph, numbers[k - 1], plan.actions[k - 1]) if k else None,
        }
        for k in range(len(numbers))
    ]
    return {**_row(studio.project, name), "place": place, "frames": frames}


def preview(studio: Studio, problem: str) -> dict[str, Any]:
    """How a problem looks at its beginning, or beginnings."""
    world = studio.worlds.load(problem)
    studio.warming.begin(world)
    graph = StateGraph(world)
    numbers = [int(number) for number in graph.initial[:MOST_BEGINNINGS]]
    return {"state": state_view(graph, numbers[:1], ()), "initial": [graph.describe(number) for number in numbers]}


def exported(project: Project, names: list[str]) -> str:
    """Demonstrations as JSON Lines, which `meip learn` reads."""
    chosen = names or project.demonstrations()
    shown = [one for name in chosen for one in _read(project, name)]
    return "".join(json.dumps(documents.dump(one), ensure_ascii=False) + "\n" for one in shown)


def routes(studio: Studio) -> APIRouter:
    router = APIRouter(prefix="/api")
    project = studio.project

    @router.get("/demonstrations")
    def listed() -> list[dict[str, Any]]:
        return [_row(project, name) for name in project.demonstrations()]

    @router.get("/demonstrations/{name}/replay")
    def replay(name: str, place: int = 0) -> dict[str, Any]:
        return replayed(studio, name, place)

    @router.post("/demonstrations/{name}/rename")
    def rename(name: str, title: str = Body(..., embed=True)) -> dict[str, str]:
        new = file_name(title) + Path(name).suffix
        project.rename("demonstrations", name, new)
        return {"file": new}

    @router.post("/demonstrations/{name}/split")
    def apart(name: str) -> list[str]:
        return split(project, name)

    @router.delete("/demonstrations/{name}")
    def delete(name: str) -> dict[str, str]:
        return {"undo": project.trash("demonstrations", name)}

    @router.post("/trash/{token}/restore")
    def restore(token: str) -> dict[str, str]:
        kind, name = project.restore(token)
        return {"kind": kind, "file": name}

    @router.post("/import")
    def taken(files: list[dict[str, str]] = Body(..., embed=True)) -> dict[str, list[str]]:
        return imported(studio, [(file.get("name", ""), file.get("text", "")) for file in files])

    @router.get("/problems/preview")
    def beginning(id: str) -> dict[str, Any]:
        return preview(studio, id)

    @router.get("/export/demonstrations.jsonl")
    def export(name: str = "") -> Response:
        text = exported(project, [name] if name else [])
        file = f"{Path(name).stem}.jsonl" if name and name.isascii() else "demonstrations.jsonl"
        heading = {"Content-Disposition": f'attachment; filename="{file}"'}
        return Response(text, media_type="application/jsonl", headers=heading)

    return router
