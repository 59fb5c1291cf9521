"""How the studio keeps up: a drag across a garment, the first page, fifty demonstrations, a thousand points of a log.

A server of its own is asked over HTTP, as a page asks it, in seconds of the clock on the wall: waiting is what counts
here. The round trip of a preview is that of the question "what would this line do?", one at every move of the mouse.
"""

from __future__ import annotations

import json
import re
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from meip.base.errors import MeipError

__all__ = ["Client", "run"]

FRAME = 1 / 60  # seconds between two pictures on a screen
FIRST_PAGE = 1.0
DEMONSTRATIONS, POINTS = 50, 1000


class Client:
    """A page's questions, on one connection, with its cookie."""

    def __init__(self, link: str) -> None:
        self.address, _, query = link.partition("/?")
        self.connection = HTTPConnection(self.address.removeprefix("http://"), timeout=120)
        self.connection.request("GET", f"/?{query}")
        answer = self.connection.getresponse()
        answer.read()
        self.cookie = str(answer.getheader("set-cookie")).partition(";")[0]

    def ask(self, path: str, body: Any = None) -> bytes:
        headers = {"Cookie": self.cookie, "Origin": self.address, "Content-Type": "application/json"}
        method = "GET" if body is None else "POST"
        self.connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = self.connection.getresponse()
        text = answer.read()
        if answer.status != 200:
            raise MeipError(f"{path}: {answer.status} {text[:200].decode(errors='replace')}")
        return text

    def close(self) -> None:
        self.connection.close()

    def json(self, path: str, body: Any = None) -> Any:
        return json.loads(self.ask(path, body))


def run(peers: bool = True, repeats: int = 200) -> list[dict[str, Any]]:
    """Medians of seconds. Nothing like it is there to be compared with."""
    with tempfile.TemporaryDirectory() as folder, _served(Path(folder) / "project") as (link, seconds):
        page = _timed(lambda: _first_page(link))
        with closing(Client(link)) as client:
            return [
                _row("the server is up", "seconds", seconds, 1),
                _row("first page, once it is up", "seconds", page, 1, FIRST_PAGE),
                *_previews(client, repeats),
                *_listed(client, Path(folder) / "project", repeats=max(3, repeats // 20)),
            ]


@contextmanager
def _served(folder: Path) -> Iterator[tuple[str, float]]:
    """A studio in a process of its own: its link, and the seconds until it was up."""
    begun = time.perf_counter()
    command = [sys.executable, "-m", "meip", "studio", str(folder), "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        found = next((m for line in process.stdout if (m := re.search(r"http://\S+", line))), None)
        try:
            if found is None:
                raise MeipError("the studio did not start; try: meip studio --no-browser")
            yield found.group(), time.perf_counter() - begun
        finally:
            process.send_signal(signal.SIGINT)


def _first_page(link: str) -> None:
    """All that a browser loads before it shows something: the page, what that names, and the project."""
    with closing(Client(link)) as client:
        _load(client)


def _load(client: Client) -> None:
    text = client.ask("/").decode()
    modules = ["main.js"]
    for name in re.findall(r'(?:href|src)="([\w-]+\.(?:css|js|svg))"', text):
        client.ask(f"/{name}")
    while modules:
        source = client.ask(f"/{modules.pop()}").decode()
        modules += [name for name in re.findall(r'from "\./([\w-]+\.js)"', source) if name not in modules]
        if len(modules) > 200:
            raise MeipError("the page's modules name each other in a circle")
    for path in ("/record.js", "/api/project", "/api/drafts", "/api/demonstrations"):
        client.ask(path)


def _previews(client: Client, repeats: int) -> list[dict[str, Any]]:
    """A line swept across a T-shirt, flat and after two folds."""
    draft = client.json("/api/drafts", {"problem": "file:t-shirt.json"})
    path = f"/api/drafts/{draft['name'].replace(' ', '%20')}"
    low_x, low_y, high_x, high_y = draft["state"]["scene"]["box"]

    def line(share: float) -> list[float]:
        return [low_x + share * (high_x - low_x), low_y, high_x - share * (high_x - low_x), high_y]

    rows = []
    for folds in (0, 2):
        for share in (0.3, 0.7)[:folds]:
            stroke = client.json(f"{path}/stroke", {"line": [*line(share)[:2], line(share)[0], high_y]})
            client.json(f"{path}/step", {"action": stroke["action"]})
        client.json(f"{path}/stroke", {"line": line(0.4)})  # compiled, if it was not
        times = [
            _timed(lambda k=k: client.ask(f"{path}/stroke", {"line": line(0.1 + 0.8 * k / repeats)}))  # type: ignore[misc]
            for k in range(repeats)
        ]
        work = f"preview of a line, round trip, after {folds} folds"
        rows += [
            _row(work, "median seconds", statistics.median(times), repeats, FRAME),
            _row(work, "95th percentile", sorted(times)[int(0.95 * repeats)], repeats),
        ]
    return rows


def _listed(client: Client, project: Path, repeats: int) -> list[dict[str, Any]]:
    from meip.studio.job_table import JobTable

    text = (project / "demonstrations" / "shirt 1.json").read_text()
    for k in range(DEMONSTRATIONS):
        (project / "demonstrations" / f"many {k}.json").write_text(text)
    table = JobTable(project / ".studio" / "jobs.sqlite")
    job = table.add({"task": "none.json", "demonstrations": [], "options": {}})
    table.end(job.id, "cancelled")
    for k in range(POINTS):
        table.tell(job.id, {"stage": "members", "objective": float(k)})
    client.connection.close()  # the server hangs up on who has nothing to say; it opens anew by itself
    client.ask("/api/demonstrations")
    listed = [_timed(lambda: client.ask("/api/demonstrations")) for _ in range(repeats)]
    points = [_timed(lambda: client.ask(f"/api/jobs/{job.id}?after=0")) for _ in range(repeats)]
    return [
        _row(f"listing {DEMONSTRATIONS} demonstrations and more", "median seconds", statistics.median(listed), repeats),
        _row(f"a log of {POINTS:,} points", "median seconds", statistics.median(points), repeats),
    ]


def _timed(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def _row(work: str, metric: str, value: float, n: int, target: float | None = None) -> dict[str, Any]:
    row = {"experiment": "bench", "work": f"studio: {work}", "method": "meip", "metric": metric, "value": value, "n": n}
    return row if target is None else row | {"target": target}
