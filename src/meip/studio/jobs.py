"""Learning as jobs: started, watched, cancelled, resumed. A worker is a process of its own: it goes on when the page is
closed and when the server ends, and is started again when it was killed.

A worker holds the system's lock on a file from before it begins until it ends, however it ends: whoever can take that
lock knows that the worker is gone, even after a restart, and nothing else is taken for it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Body

from meip.base.errors import LearningError, MeipError
from meip.base.files import make_folder
from meip.studio.job_table import ACTIVE, Job, JobTable
from meip.studio.learn_options import OPTIONS, chosen
from meip.studio.lock import Lock, Taken
from meip.studio.material import material, read_shown, set_aside
from meip.studio.project import Project, Studio, file_name
from meip.studio.worlds import Worlds

__all__ = ["Jobs", "routes"]

ATTEMPTS = 3
PATIENCE = 3.0  # seconds for a lock
LOG = "worker.log"


class Jobs:
    """The jobs of a project, and the workers that this process started."""

    def __init__(self, project: Project, worlds: Worlds) -> None:
        self.project, self.worlds = project, worlds
        self.table = JobTable(project.private / "jobs.sqlite")
        self._started: dict[int, subprocess.Popen[bytes]] = {}
        self._lock = threading.RLock()  # one thread at a time looks after workers

    def start(self, task: str, demonstrations: list[str], options: dict[str, Any]) -> Job:
        """Learn a task from demonstrations, by name; what cannot be right is refused at once."""
        name = file_name(task)
        shown = read_shown(self.project, demonstrations)
        if not shown:
            raise LearningError("choose at least one demonstration to learn from")
        given = chosen(options)
        spec = {"task": f"{name.removesuffix('.json')}.json", "demonstrations": demonstrations, "options": given}
        with self._lock:
            job = self.table.add(spec)
            self._begin(job.id)
        return self.table.get(job.id)

    def cancel(self, number: int) -> Job:
        """The worker sees it within half a second; a job without one is over at once."""
        with self._lock:
            self.table.get(number)
            self.table.ask_to_stop(number)
            if self._gone(number):
                self.table.end(number, "cancelled", "cancelled")
        return self.table.get(number)

    def resume(self, number: int) -> Job:
        """Go on with a job that is over without a result."""
        with self._lock:
            job = self.table.get(number)
            if job.status == "done" or (job.status in ACTIVE and not self._gone(number)):
                raise MeipError(f"job {number} is {job.status}: there is nothing to resume")
            self.table.forget_attempts(number)
            self._begin(number)
        return self.table.get(number)

    def watch(self) -> None:
        """Start workers again that were killed; after a few times the job waits for somebody to say so."""
        with self._lock:
            for number, process in list(self._started.items()):
                if process.poll() is not None:  # or it would stay a zombie
                    del self._started[number]
            for job in self.table.active():
                if self._gone(job.id):
                    self._replace(job)

    def _replace(self, job: Job) -> None:
        if self.table.told_to_stop(job.id):
            self.table.end(job.id, "cancelled", "cancelled")
        elif job.attempts >= ATTEMPTS:
            often = f"its worker was killed {job.attempts} times; out of memory? Resume it to try again"
            self.table.end(job.id, "interrupted", often)
        else:
            self.table.tell(job.id, {"stage": "restarted", "attempt": job.attempts + 1})
            self._begin(job.id)

    # --- workers ---

    def _file(self, number: int) -> Path:
        make_folder(self.project.private / "workers")
        return self.project.private / "workers" / f"{number}.lock"

    def _gone(self, number: int) -> bool:
        """Has the job no worker, of this server or of another?"""
        lock = Lock(self._file(number))
        try:
            lock.take()
        except Taken:
            return False
        lock.give_up()
        return self.table.get(number).status in ACTIVE

    def _begin(self, number: int) -> None:
        """Start a worker, which inherits the lock; whoever comes second finds it taken."""
        descriptor = _locked(self._file(number))
        if descriptor is None:
            raise MeipError(f"job {number} has a worker that is still at it, or just ending; try again in a moment")
        try:
            self.table.attempt(number)
            self._started[number] = self._spawn(number, descriptor)
        finally:
            os.close(descriptor)

    def _spawn(self, number: int, descriptor: int) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "meip.studio.worker", str(self.project.path), str(number), str(descriptor)]
        command += [part for spec in self.worlds.own for part in ("--world", spec)]
        inherit: dict[str, Any] = {"pass_fds": (descriptor,), "start_new_session": True} if os.name == "posix" else {}
        with open(self.project.private / LOG, "ab") as log:
            return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, **inherit)


def _locked(path: Path, seconds: float = PATIENCE) -> int | None:
    """A descriptor with the lock on a file; None where somebody keeps it: one who only looks, or a worker that is
    ending, has it for a moment."""
    lock, stop = Lock(path), time.monotonic() + seconds
    while True:
        try:
            lock.take()
            return lock.detach()
        except Taken:
            if time.monotonic() > stop:
                return None
            time.sleep(0.02)


def routes(studio: Studio) -> APIRouter:
    """Under /api: what there is to learn from, and the jobs."""
    router = APIRouter(prefix="/api")
    jobs = studio.jobs = Jobs(studio.project, studio.worlds)
    with suppress(MeipError, OSError):
        jobs.watch()

    @router.get("/learn")
    def learn() -> dict[str, Any]:
        """Everything that the page shows before a job is started."""
        jobs.watch()
        tasks = [name.removesuffix(".json") for name in studio.project.tasks()]
        return {"demonstrations": material(studio.project), "options": OPTIONS, "tasks": tasks}

    @router.get("/jobs")
    def listed() -> list[dict[str, Any]]:
        jobs.watch()
        return [job.to_json() for job in jobs.table.all()]

    @router.post("/jobs")
    def start(
        task: str = Body(), demonstrations: list[str] = Body(), options: dict[str, Any] = Body(default={})
    ) -> dict[str, Any]:
        return jobs.start(task, demonstrations, options).to_json()

    @router.get("/jobs/{number}")
    def polled(number: int, after: int = 0) -> dict[str, Any]:
        """A job, and what was told since row `after`."""
        jobs.watch()
        job = jobs.table.get(number)  # first: a job that is over has told everything
        return {"job": job.to_json(), "log": jobs.table.log(number, after)}

    @router.post("/jobs/{number}/cancel")
    def cancel(number: int) -> dict[str, Any]:
        return jobs.cancel(number).to_json()

    @router.post("/jobs/{number}/resume")
    def resume(number: int) -> dict[str, Any]:
        return jobs.resume(number).to_json()

    @router.post("/demonstrations/{name}/aside")
    def aside(name: str, why: str = Body(embed=True)) -> dict[str, Any]:
        set_aside(studio.project, name, why)
        return {"file": name, "aside": why}

    return router
