"""Which problems a project knows, and their worlds: files in the folder, worlds that are registered, and classes that
the user named on the command line. Nothing that a file or a request names is ever imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.errors import MeipError, WorldError
from meip.model.demonstrations import Demonstration
from meip.model.problems import file_world, load_problem, own_class, problem_document, registered, resolve_world
from meip.studio.project import Missing, Project

__all__ = ["Problem", "Worlds"]

REGISTERED = "meip.worlds"


@dataclass(frozen=True)
class Problem:
    """Something to demonstrate or plan in."""

    id: str
    title: str
    source: str
    """``file`` (in the project), ``own`` (named on the command line) or ``built-in``."""


class Worlds:
    """The worlds of a project, by the ids of their problems."""

    def __init__(self, project: Project, own: Sequence[str] = ()) -> None:
        self.project = project
        self.own = tuple(own)
        self._own = {spec: own_class(spec) for spec in self.own}
        self._kept: dict[str, tuple[Any, Any]] = {}

    def problems(self) -> list[Problem]:
        """What can be chosen, the project's files first."""
        found = [Problem(f"file:{n}", Path(n).stem, "file") for n in self.project.problems() if _is_problem(n)]
        found += [Problem(f"own:{spec}", spec.partition(":")[2], "own") for spec in self.own]
        return found + [Problem(f"world:{name}", name, "built-in") for name in self._with_defaults()]

    def load(self, name: str) -> Any:
        """The world of a problem, the same object as long as its file does not change."""
        kind, _, rest = name.partition(":")
        if kind == "file":
            path = self.project.existing("problems", rest)
            stamp = path.stat().st_mtime_ns
        elif (kind == "own" and rest in self._own) or (kind == "world" and rest in registered(REGISTERED)):
            path, stamp = None, 0
        else:
            raise Missing(f"there is no problem {name!r} in this project")
        if name not in self._kept or self._kept[name][0] != stamp:
            self._kept[name] = (stamp, self._from_file(path) if path is not None else resolve_world(rest))
        return self._kept[name][1]

    def __getitem__(self, name: str) -> Any:
        return self.load(name)

    def of(self, document: Mapping[str, Any], where: str = "problem") -> Any:
        """The world of a problem document; the same object for equal documents."""
        key = documents.canonical(document)
        if key not in self._kept:
            own = self._own_for(document)
            self._kept[key] = (0, load_problem(document, where=where, own=own, folder=self.project.path / "problems"))
        return self._kept[key][1]

    def of_demonstration(self, demonstration: Demonstration, where: str = "demonstration") -> Any:
        return self.of(demonstration.problem, f"{where}: $.problem")

    def summary(self) -> list[dict[str, str]]:
        return [asdict(problem) for problem in self.problems()]

    def _own_for(self, document: Mapping[str, Any]) -> str | None:
        """The class named on the command line that such documents are of."""
        name = document.get("world")
        for spec, cls in self._own.items():
            if name in (getattr(cls, "kind", None), f"{cls.__module__}:{cls.__qualname__}"):
                return spec
        return self.own[0] if len(self.own) == 1 else None

    def _from_file(self, path: Path) -> Any:
        if file_world(path.suffix) is not None:
            return resolve_world(str(path))
        return self.read_document(documents.read_json(path), path.name)

    def read_document(self, data: Any, where: str) -> Any:
        """The world of a problem document that lies in the project, or is about to."""
        documents.kind_of(data, where)  # an object: a text would be taken for a path
        return load_problem(data, where=where, own=self._own_for(data), folder=self.project.path / "problems")

    def _with_defaults(self) -> list[str]:
        """Registered worlds that need nothing to be made."""
        if not hasattr(self, "_plain"):
            self._plain = [name for name in registered(REGISTERED) if _makes(name)]
        return self._plain


def _is_problem(name: str) -> bool:
    """Domains lie beside the problems that need them, under names that say so."""
    stem, suffix = Path(name).stem, Path(name).suffix
    return (suffix == ".json" or suffix.removeprefix(".") in registered("meip.files")) and not (
        stem == "domain" or stem.endswith("-domain")
    )


def _makes(name: str) -> bool:
    try:
        problem_document(resolve_world(name))
    except (MeipError, WorldError, TypeError):
        return False
    return True
