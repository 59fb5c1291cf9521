"""The demonstrations and problems of a project: listed, replayed, renamed, deleted, imported, exported."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Body, Response

from meip.base import documents
from meip.base.errors import DocumentError, MeipError
from meip.base.files import load_json
from meip.model.demonstrations import Demonstration, follow, read_demonstrations
from meip.model.graph import StateGraph
from meip.model.problems import file_world
from meip.studio.drawing import action_view, motion, state_view
from meip.studio.project import Missing, Project, Studio, file_name

__all__ = ["read_one", "routes"]

MOST_AT_ONCE = 1000  # demonstrations of a file that is imported


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


def imported(project: Project, name: str, text: str) -> list[str]:
    """Demonstrations from a file that somebody chose: one file each. All are read before any is written."""
    stem, suffix = Path(file_name(name)).stem, Path(name).suffix.lower()
    if suffix not in (".json", ".jsonl"):
        raise DocumentError(f"{name}: demonstrations are .json or .jsonl files")
    lines = [text] if suffix == ".json" else [line for line in text.splitlines() if line.strip()]
    if not lines or len(lines) > MOST_AT_ONCE:
        raise DocumentError(f"{name}: expected 1 to {MOST_AT_ONCE} demonstrations, found {len(lines)}")
    found = [
        documents.parse(load_json(line, f"{name}:{n}"), "demonstration", where=f"{name}:{n}")
        for n, line in enumerate(lines, start=1)
    ]
    written = []
    for n, one in enumerate(found, start=1):
        wanted = stem if len(found) == 1 else f"{stem} {n}"
        file = project.free_name("demonstrations", wanted, ".json")
        documents.write(project.file("demonstrations", file), one)
        written.append(file)
    return written


def split(project: Project, name: str) -> list[str]:
    """A file of several demonstrations as a file each; the old one goes to the trash."""
    written = imported(project, Path(name).stem + ".jsonl", project.read("demonstrations", name))
    project.trash("demonstrations", name)
    return written


def problem_imported(studio: Studio, name: str, text: str) -> str:
    """A problem from a file that somebody chose; one that no world can read is not kept."""
    stem, suffix = Path(file_name(name)).stem, Path(name).suffix.lower()
    if suffix != ".json" and file_world(suffix) is None:
        raise DocumentError(f"{name}: problems are .json documents, or files that some world reads, such as .pddl")
    file = studio.project.free_name("problems", stem, suffix)
    studio.project.write("problems", file, text)
    if stem == "domain" or stem.endswith("-domain"):
        return file
    try:
        studio.worlds.load(f"file:{file}")
    except MeipError as error:
        studio.project.file("problems", file).unlink()
        raise DocumentError(str(error).replace(f"{studio.project.path}/", "")) from None
    return file


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

    @router.post("/demonstrations/import")
    def taken(name: str = Body(...), text: str = Body(...)) -> list[str]:
        return imported(project, name, text)

    @router.post("/problems/import")
    def problem(name: str = Body(...), text: str = Body(...)) -> dict[str, str]:
        return {"problem": f"file:{problem_imported(studio, name, text)}"}

    @router.get("/export/demonstrations.jsonl")
    def export(name: str = "") -> Response:
        text = exported(project, [name] if name else [])
        file = f"{Path(name).stem}.jsonl" if name and name.isascii() else "demonstrations.jsonl"
        heading = {"Content-Disposition": f'attachment; filename="{file}"'}
        return Response(text, media_type="application/jsonl", headers=heading)

    return router
