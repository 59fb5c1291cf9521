"""The table of jobs: what was asked for, how far it is, and what was told on the way. One SQLite file in the project,
which the server and the workers write at the same time (WAL), and which survives all of them.
"""

from __future__ import annotations

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from meip.studio.project import Missing

__all__ = ["ACTIVE", "Job", "JobTable"]

ACTIVE = ("waiting", "running")
MOST_ROWS = 2000  # of a log, in one answer
SCHEMA = """
CREATE TABLE IF NOT EXISTS jobs (
    id INTEGER PRIMARY KEY, spec TEXT NOT NULL, status TEXT NOT NULL, created REAL NOT NULL, finished REAL,
    pid INTEGER, attempts INTEGER NOT NULL DEFAULT 0, stop TEXT NOT NULL DEFAULT '', message TEXT NOT NULL DEFAULT '',
    result TEXT NOT NULL DEFAULT '{}');
CREATE TABLE IF NOT EXISTS log (
    job INTEGER NOT NULL, n INTEGER NOT NULL, at REAL NOT NULL, info TEXT NOT NULL, PRIMARY KEY (job, n)
) WITHOUT ROWID;
"""
COLUMNS = "id, spec, status, created, finished, pid, attempts, stop, message, result"


@dataclass(frozen=True)
class Job:
    """One row."""

    id: int
    spec: dict[str, Any]
    """What is to be done: the task's name, demonstrations, options."""
    status: str
    """waiting, running; done, failed, cancelled; interrupted: its worker was killed more often than is tried."""
    created: float
    finished: float | None
    pid: int | None
    attempts: int
    stop: str
    """"cancel" where somebody asked for it."""
    message: str
    result: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if name not in ("pid", "stop")}


class JobTable:
    """Every call opens the file anew: threads and processes share nothing but what is in it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with self._open() as db:
            db.execute("PRAGMA journal_mode = WAL")
            db.executescript(SCHEMA)

    @contextmanager
    def _open(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        db = sqlite3.connect(self.path, timeout=20.0, isolation_level=None)
        try:
            db.execute("PRAGMA synchronous = NORMAL")
            if not write:
                yield db
                return
            db.execute("BEGIN IMMEDIATE")
            try:
                yield db
            except BaseException:
                db.execute("ROLLBACK")
                raise
            db.execute("COMMIT")
        finally:
            db.close()

    # --- rows ---

    def add(self, spec: dict[str, Any]) -> Job:
        with self._open(write=True) as db:
            found = db.execute(
                "INSERT INTO jobs (spec, status, created) VALUES (?, 'waiting', ?)", (json.dumps(spec), time.time())
            )
            number = int(found.lastrowid or 0)
        return self.get(number)

    def get(self, number: int) -> Job:
        with self._open() as db:
            row = db.execute(f"SELECT {COLUMNS} FROM jobs WHERE id = ?", (number,)).fetchone()
        if row is None:
            raise Missing(f"there is no job {number}")
        return _job(row)

    def all(self, most: int = 50) -> list[Job]:
        """The latest first."""
        with self._open() as db:
            rows = db.execute(f"SELECT {COLUMNS} FROM jobs ORDER BY id DESC LIMIT ?", (most,)).fetchall()
        return [_job(row) for row in rows]

    def active(self) -> list[Job]:
        with self._open() as db:
            rows = db.execute(f"SELECT {COLUMNS} FROM jobs WHERE status IN ('waiting', 'running')").fetchall()
        return [_job(row) for row in rows]

    def learned(self, task: str) -> Job | None:
        """The last job that a task came from."""
        with self._open() as db:
            rows = db.execute(f"SELECT {COLUMNS} FROM jobs WHERE status = 'done' ORDER BY id DESC").fetchall()
        return next((job for job in map(_job, rows) if job.result.get("task") == task), None)

    def begin(self, number: int, pid: int) -> bool:
        """A worker takes a job; not one that was cancelled meanwhile."""
        with self._open(write=True) as db:
            found = db.execute(
                "UPDATE jobs SET status = 'running', pid = ? WHERE id = ? AND status IN ('waiting', 'running')",
                (pid, number),
            )
            return found.rowcount == 1

    def attempt(self, number: int) -> None:
        with self._open(write=True) as db:
            db.execute(
                "UPDATE jobs SET status = 'waiting', attempts = attempts + 1, stop = '', finished = NULL WHERE id = ?",
                (number,),
            )

    def forget_attempts(self, number: int) -> None:
        """Somebody asks for it anew: it is tried as often again."""
        with self._open(write=True) as db:
            db.execute("UPDATE jobs SET attempts = 0, message = '' WHERE id = ?", (number,))

    def ask_to_stop(self, number: int) -> None:
        with self._open(write=True) as db:
            db.execute("UPDATE jobs SET stop = 'cancel' WHERE id = ? AND status IN ('waiting', 'running')", (number,))

    def told_to_stop(self, number: int) -> bool:
        with self._open() as db:
            row = db.execute("SELECT stop FROM jobs WHERE id = ?", (number,)).fetchone()
        return row is None or row[0] == "cancel"

    def end(self, number: int, status: str, message: str = "", result: dict[str, Any] | None = None) -> bool:
        """It is over, unless it was already."""
        with self._open(write=True) as db:
            found = db.execute(
                "UPDATE jobs SET status = ?, message = ?, result = ?, finished = ?, pid = NULL "
                "WHERE id = ? AND status IN ('waiting', 'running')",
                (status, message, json.dumps(result or {}), time.time(), number),
            )
            return found.rowcount == 1

    # --- what is told on the way ---

    def tell(self, number: int, *infos: dict[str, Any]) -> None:
        with self._open(write=True) as db:
            for info in infos:
                db.execute(
                    "INSERT INTO log SELECT ?, COALESCE(MAX(n), 0) + 1, ?, ? FROM log WHERE job = ?",
                    (number, time.time(), json.dumps(info), number),
                )

    def log(self, number: int, after: int = 0) -> list[dict[str, Any]]:
        """What was told since row `after`, each with its number `n` and the time."""
        with self._open() as db:
            rows = db.execute(
                "SELECT n, at, info FROM log WHERE job = ? AND n > ? ORDER BY n LIMIT ?", (number, after, MOST_ROWS)
            ).fetchall()
        return [{**json.loads(info), "n": n, "at": at} for n, at, info in rows]


def _job(row: tuple[Any, ...]) -> Job:
    number, spec, status, created, finished, pid, attempts, stop, message, result = row
    return Job(
        number, json.loads(spec), status, created, finished, pid, attempts, stop, message, json.loads(result)
    )  # fmt: skip
