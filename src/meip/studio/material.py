"""What a project has to learn from: its demonstrations by name, each with its world."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.errors import DocumentError, MeipError
from meip.model.demonstrations import Demonstration, Episode, read_demonstrations
from meip.studio.project import Project
from meip.studio.worlds import Worlds

__all__ = ["Shown", "episodes", "material", "read_shown", "set_aside"]

ASIDE = "aside"  # in the `meta` of a demonstration: why it is not learned from


@dataclass(frozen=True)
class Shown:
    """One demonstration: its file, and its place among those of the file."""

    file: str
    place: int
    demonstration: Demonstration
    only: bool = True

    @property
    def label(self) -> str:
        name = Path(self.file).stem
        return name if self.only else f"{name}, number {self.place + 1}"

    @property
    def aside(self) -> str:
        """Why it is not learned from; "" where it is."""
        return str((self.demonstration.meta or {}).get(ASIDE, ""))


def read_shown(project: Project, names: Iterable[str]) -> list[Shown]:
    """The demonstrations of these files, in their order."""
    found = []
    for name in names:
        try:
            read = read_demonstrations(project.existing("demonstrations", name))
        except DocumentError as error:
            raise DocumentError(str(error).replace(f"{project.path}/", "")) from None
        found += [Shown(name, place, one, len(read) == 1) for place, one in enumerate(read)]
    return found


def episodes(worlds: Worlds, shown: Iterable[Shown]) -> list[Episode]:
    return [Episode(worlds.of_demonstration(s.demonstration, s.label), s.demonstration, s.label) for s in shown]


def material(project: Project) -> list[dict[str, Any]]:
    """Each file of demonstrations as the page lists it; one that cannot be read says why."""
    found: list[dict[str, Any]] = []
    for name in project.demonstrations():
        row: dict[str, Any] = {"file": name, "label": Path(name).stem, "world": "", "steps": 0, "count": 0}
        try:
            read = read_shown(project, [name])
        except MeipError as error:
            found.append({**row, "error": str(error)})
            continue
        one = read[0].demonstration if read else None
        row |= {
            "count": len(read),
            "steps": sum(len(s.demonstration.steps) for s in read),
            "world": "" if one is None else str(one.problem.get("world", "")),
            "by": "" if one is None else one.by,
            "note": "" if one is None else one.note,
            "aside": read[0].aside if read else "",
            "correction": one is not None and one.corrects is not None,
        }
        found.append(row)
    return found


def set_aside(project: Project, name: str, why: str) -> None:
    """Mark a demonstration as one not to learn from, or with "" as one to learn from again."""
    read = read_shown(project, [name])
    if len(read) != 1:
        raise DocumentError(f"{name} holds {len(read)} demonstrations: only one with a file of its own is set aside")
    one = read[0].demonstration
    meta = {key: value for key, value in (one.meta or {}).items() if key != ASIDE} | ({ASIDE: why} if why else {})
    path = project.existing("demonstrations", name)
    changed = replace(one, meta=meta or None)
    if path.suffix == ".jsonl":
        documents.write_text(path, documents.canonical(documents.dump(changed)) + "\n")
    else:
        documents.write(path, changed)
