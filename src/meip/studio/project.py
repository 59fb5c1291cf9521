"""A project: a folder of readable documents, the same that the command line reads and writes.

::

    demonstrations/NAME.json    meip.demonstration/1, one each (a .jsonl with several is read too)
    problems/NAME.json|.pddl    problem documents, or files that some world reads; NAME-domain.pddl beside its problem
    tasks/NAME.json             meip.task/1
    results/NAME.json           meip.results/1 or meip.report/1: what `meip evaluate` and `meip reproduce` measured
    drafts/  plans/  reports/   demonstrations that are not finished, plans, pages
    .studio/                    jobs, what was deleted (until it is emptied), and the lock

Every file is written as a whole (`base/files`), and no name leads out of the folder.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
import time
from collections.abc import Iterable
from importlib.resources import files
from pathlib import Path
from typing import Any

from meip.base.errors import DocumentError, MeipError
from meip.base.files import make_folder, read_text, write_text
from meip.base.text import plain
from meip.studio.lock import Lock
from meip.studio.warming import Warming

__all__ = ["FOLDERS", "PRIVATE", "Missing", "Project", "Studio", "file_name"]

FOLDERS = ("demonstrations", "problems", "tasks", "results", "drafts", "plans", "reports")
PRIVATE = ".studio"
NAME = re.compile(r"[^\W_][\w .,()+~@=-]{0,99}")
TRASH_KEPT = 200  # deletions that can still be undone


class Missing(MeipError):
    """What was asked for is not in the project."""


def file_name(name: str) -> str:
    """The name, if it can be that of a file in a folder, anywhere: no separators, no dots first or last."""
    if not isinstance(name, str) or not NAME.fullmatch(name) or name != name.strip(" ."):
        raise DocumentError(
            f"{plain(str(name))!r} cannot be a name: begin with a letter or a digit, go on with letters, digits, "
            "spaces, dots, dashes; at most 100 in all"
        )
    return name


def _in_order(path: Path) -> list[tuple[str, int]]:
    """Names as people sort them: "a 9" before "a 10"."""
    return [(text.casefold(), int(digits or 0)) for text, digits in re.findall(r"(\D*)(\d*)", path.stem)]


class Project:
    """The folder of a project."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path).resolve()

    @classmethod
    def open(cls, path: str | Path) -> Project:
        """The project in a folder; one that is not there or empty is made, with examples in it."""
        make_folder(path)
        project = cls(path)
        fresh = not any(entry for entry in project.path.iterdir() if not entry.name.startswith("."))
        for name in FOLDERS:
            make_folder(project.path / name)
        make_folder(project.private)
        make_folder(project.private / "trash")
        if fresh:
            project.add_examples()
        return project

    @property
    def private(self) -> Path:
        return self.path / PRIVATE

    def add_examples(self) -> None:
        """The bundled examples, so that the first page is not empty."""
        for name in FOLDERS:
            source = Path(str(files("meip") / "data" / "studio" / name))
            for found in sorted(source.iterdir()) if source.is_dir() else ():
                if found.is_file() and not found.name.startswith("."):
                    write_text(self.file(name, found.name), found.read_text(encoding="utf-8"))

    # --- files by kind and name ---

    def file(self, kind: str, name: str) -> Path:
        """The path of a file, which lies in the project's folder whatever links there are."""
        if kind not in FOLDERS:
            raise Missing(f"there is no folder {plain(kind)!r} in a project; {', '.join(FOLDERS)}")
        path = self.path / kind / file_name(name)
        if not path.resolve().is_relative_to(self.path):
            raise DocumentError(f"{kind}/{name} leads out of the project's folder")
        return path

    def existing(self, kind: str, name: str) -> Path:
        path = self.file(kind, name)
        if not path.is_file():
            raise Missing(f"there is no {kind}/{plain(name)} in this project")
        return path

    def names(self, kind: str, suffixes: Iterable[str] = ()) -> list[str]:
        """The files of a kind, by name; those whose names the studio would not write are left alone."""
        wanted = tuple(suffixes)
        found = []
        for path in sorted((self.path / kind).iterdir() if (self.path / kind).is_dir() else (), key=_in_order):
            if NAME.fullmatch(path.name) and path.is_file() and (not wanted or path.suffix in wanted):
                found.append(path.name)
        return found

    def demonstrations(self) -> list[str]:
        return self.names("demonstrations", (".json", ".jsonl"))

    def tasks(self) -> list[str]:
        return self.names("tasks", (".json",))

    def problems(self) -> list[str]:
        return self.names("problems")

    def read(self, kind: str, name: str) -> str:
        return read_text(self.existing(kind, name))

    def write(self, kind: str, name: str, text: str) -> None:
        write_text(self.file(kind, name), text)

    def free_name(self, kind: str, stem: str, suffix: str) -> str:
        """A file name that is not taken: the stem, or the stem with a number."""
        taken = {Path(name).stem.casefold() for name in self.names(kind)}
        file_name(stem + suffix)
        number, name = 1, stem
        while name.casefold() in taken:
            number += 1
            name = f"{stem} {number}"
        return name + suffix

    def rename(self, kind: str, name: str, new: str) -> None:
        source, target = self.existing(kind, name), self.file(kind, new)
        if target.exists() and not (name.casefold() == new.casefold() and target.samefile(source)):
            raise DocumentError(f"there is a {kind}/{new} already; choose another name")
        source.rename(target)

    # --- what was deleted can be brought back ---

    def trash(self, kind: str, name: str) -> str:
        """Delete a file; the answer brings it back."""
        source = self.existing(kind, name)
        token = f"{time.time_ns():020d}-{secrets.token_hex(4)}"
        folder = self.private / "trash" / token
        folder.mkdir()
        write_text(folder / "where.json", json.dumps({"kind": kind, "name": name}))
        source.rename(folder / "file")
        self._empty_trash()
        return token

    def restore(self, token: str) -> tuple[str, str]:
        """Bring back what was deleted: its kind and its name, which is another one if that was taken meanwhile."""
        folder = self.private / "trash" / token
        if not re.fullmatch(r"\d{20}-[0-9a-f]{8}", token) or not (folder / "file").is_file():
            raise Missing("this cannot be brought back any more")
        where: dict[str, Any] = json.loads(read_text(folder / "where.json"))
        kind, name = str(where["kind"]), str(where["name"])
        if self.file(kind, name).exists():
            name = self.free_name(kind, Path(name).stem, Path(name).suffix)
        (folder / "file").rename(self.file(kind, name))
        shutil.rmtree(folder)
        return kind, name

    def _empty_trash(self) -> None:
        kept = sorted((self.private / "trash").iterdir())
        for old in kept[:-TRASH_KEPT]:
            shutil.rmtree(old, ignore_errors=True)


class Studio:
    """What the routes share: the project, its worlds, its jobs."""

    def __init__(self, project: Project, worlds: Any, lock: Lock | None = None) -> None:
        self.project, self.worlds, self.lock = project, worlds, lock
        self.jobs: Any = None
        self.warming = Warming()
