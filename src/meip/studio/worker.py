"""``python -m meip.studio.worker PROJECT JOB LOCK``: one job, in a process of its own.

It tells the table what it finds as it finds it, and looks there twice a second whether it is to stop. The lock that it
inherits is given up when it ends, however it ends.
"""

from __future__ import annotations

import argparse
import os
import shutil
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.errors import LearningError, MeipError
from meip.base.files import make_folder
from meip.concepts.english import english
from meip.concepts.parser import parse_concept
from meip.learning.options import LearnOptions, Run
from meip.model.demonstrations import Episode
from meip.model.domain import Domain
from meip.model.graph import state_graph
from meip.model.world import encode
from meip.studio.edited import fitted_file
from meip.studio.job_table import Job, JobTable
from meip.studio.material import episodes, read_shown
from meip.studio.project import Project
from meip.studio.worlds import Worlds
from meip.tasks.learn import learn
from meip.tasks.task import Task

__all__ = ["main", "work"]

PULSE = 0.4
TEXTS = ("wanted", "never", "order", "concepts", "impressions")  # what infos name concepts under
HOLD = "MEIP_STUDIO_HOLD"  # a file that names a stage: workers wait there until it is gone, so that tests can look


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="meip.studio.worker")
    parser.add_argument("project", type=Path)
    parser.add_argument("job", type=int)
    parser.add_argument("lock", type=int)
    parser.add_argument("--world", action="append", default=[])
    given = parser.parse_args(arguments)
    if os.name == "posix":
        os.set_inheritable(given.lock, False)  # held until this process ends, and by no child of it
    project = Project(given.project)
    table = JobTable(project.private / "jobs.sqlite")
    if table.begin(given.job, os.getpid()):
        threading.Thread(target=_pulse, args=(table, given.job), daemon=True).start()
        work(project, Worlds(project, given.world), table, table.get(given.job))


def work(project: Project, worlds: Worlds, table: JobTable, job: Job) -> None:
    """Learn, and say how it went."""
    try:
        found = _learned(project, worlds, job, lambda info: table.tell(job.id, info))
        told = found.explain()
        result = {
            "task": job.spec["task"],
            "sentence": told.sentence,
            "foreseen": told.foreseen,
            "warnings": list(found.warnings),
            "nothing": found.nothing_learned,
        }
        table.end(job.id, "done", result=result)
    except MeipError as error:
        table.end(job.id, "failed", str(error).replace(f"{project.path}/", ""))
    except Exception as error:
        traceback.print_exc()
        table.end(job.id, "failed", f"error inside meip: {type(error).__name__}: {error} (.studio/worker.log has more)")


def _learned(project: Project, worlds: Worlds, job: Job, tell: Callable[[dict[str, Any]], None]) -> Task:
    shown = read_shown(project, job.spec["demonstrations"])
    given = episodes(worlds, shown)
    teller = _Teller(tell, given)
    tell({"stage": "reading", "demonstrations": len(given)})
    options = documents.validate(LearnOptions, job.spec["options"], where="options")
    found = _resumed(given, options, project.private / "checkpoints" / str(job.id), teller)
    path = project.file("tasks", job.spec["task"])
    if path.exists() and _edits(path):
        project.rename("tasks", path.name, project.free_name("tasks", f"{path.stem} edited", ".json"))
    fitted_file(project, path.name).unlink(missing_ok=True)
    found.save(path)
    return found


def _resumed(given: list[Episode], options: LearnOptions, checkpoint: Path, tell: Any) -> Task:
    """Learn, from where a worker before was killed; from the beginning where nothing of use was kept."""
    make_folder(checkpoint.parent)
    try:
        return learn(given, options, run=Run(checkpoint=checkpoint, progress=tell))
    except LearningError as error:
        if "checkpoint" not in str(error):
            raise
    shutil.rmtree(checkpoint, ignore_errors=True)  # of other demonstrations, or an objective that keeps nothing
    return learn(given, options, run=Run(progress=tell))


def _edits(path: Path) -> bool:
    """Was this task changed by hand?"""
    try:
        return any(member.edits for member in Task.load(path).members)
    except MeipError:
        return False


def _pulse(table: JobTable, number: int) -> None:
    """End when somebody asks for it, whatever else is going on."""
    while True:
        time.sleep(PULSE)
        if table.told_to_stop(number):
            table.end(number, "cancelled", "cancelled")
            os._exit(0)


class _Teller:
    """Infos of the learner as rows of the log: JSON, with concepts also in English."""

    def __init__(self, tell: Callable[[dict[str, Any]], None], given: Sequence[Episode]) -> None:
        self.tell, self.given = tell, given
        self._domain: Domain | None = None
        self._known: dict[str, str] = {}

    def __call__(self, info: dict[str, Any]) -> None:
        plain = {name: encode(value) for name, value in info.items() if name != "decisions"}
        texts = [text for name in TEXTS if isinstance(plain.get(name), list) for text in _texts(plain[name])]
        if texts:
            plain["english"] = {text: self._english(text) for text in dict.fromkeys(texts)}
        self.tell(plain)
        while HOLD in os.environ and _read(Path(os.environ[HOLD])) == plain.get("stage"):
            time.sleep(0.05)

    def _english(self, text: str) -> str:
        if self._domain is None:
            self._domain = state_graph(self.given[0].world).domain
        if text not in self._known:
            try:
                self._known[text] = english(parse_concept(text, self._domain), self._domain)
            except MeipError:
                self._known[text] = text
        return self._known[text]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    return [text for one in value for text in _texts(one)] if isinstance(value, list) else []


if __name__ == "__main__":
    main()
