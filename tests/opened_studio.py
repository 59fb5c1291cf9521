"""A studio without a browser: a project in a folder, and a client that has the cookie."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    from fastapi.testclient import TestClient

from meip.studio.app import create_app
from meip.studio.project import Project, Studio
from meip.studio.security import Access
from meip.studio.worlds import Worlds

RITUALS = [f"ritual {k}.json" for k in range(1, 6)]
OVER = ("done", "failed", "cancelled", "interrupted")


@dataclass
class Opened:
    """A studio of a folder, as its page sees it."""

    studio: Studio
    client: TestClient

    @classmethod
    def at(cls, folder: Path, own: tuple[str, ...] = ()) -> Opened:
        project, access = Project.open(folder), Access(8123)
        studio = Studio(project, Worlds(project, own))
        client = TestClient(
            create_app(studio, access), base_url=access.origins[0], headers={"origin": access.origins[0]}
        )
        client.get("/", params={"token": access.token})
        return cls(studio, client)

    def get(self, path: str, **query: Any) -> Any:
        return self._answer(self.client.get(path, params=query))

    def post(self, path: str, **body: Any) -> Any:
        return self._answer(self.client.post(path, json=body))

    def refused(self, path: str, **body: Any) -> str:
        """The one line with which a request is refused."""
        answer = self.client.post(path, json=body)
        assert answer.status_code in (400, 404), answer.text
        line = str(answer.json()["error"])
        assert "\n" not in line and "Traceback" not in line
        return line

    def learned(self, task: str = "rite", files: list[str] | None = None, **options: Any) -> dict[str, Any]:
        job = self.post("/api/jobs", task=task, demonstrations=files or RITUALS, options=options)
        return self.over(job["id"])

    def over(self, number: int, seconds: float = 90.0) -> dict[str, Any]:
        """The job when it is over."""
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            job: dict[str, Any] = self.get(f"/api/jobs/{number}")["job"]
            if job["status"] in OVER:
                return job
            time.sleep(0.1)
        raise AssertionError(f"job {number} is not over after {seconds:g} s")

    def until(self, number: int, stage: str, seconds: float = 60.0) -> None:
        """Wait until a job tells of a stage."""
        stop = time.monotonic() + seconds
        while time.monotonic() < stop:
            if any(row["stage"] == stage for row in self.get(f"/api/jobs/{number}")["log"]):
                return
            time.sleep(0.05)
        raise AssertionError(f"job {number} has not come to {stage!r} after {seconds:g} s")

    @staticmethod
    def _answer(answer: Any) -> Any:
        assert answer.status_code == 200, answer.text
        return answer.json()
