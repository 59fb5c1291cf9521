"""A real browser and a real server. Where there is no chromium these tests are skipped, but never in CI.

`studio` is a server with a fresh project for each module of tests; `page` is a page of it, which at the end of the test
must have said nothing on the console and asked nobody else for anything.
"""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meip.model.problems import resolve_world
from meip.studio.warming import Warming

ROOT = Path(__file__).parents[2]
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


def _needed(what: str) -> None:
    if os.environ.get("CI"):
        pytest.fail(f"{what} is needed in CI", pytrace=False)
    pytest.skip(f"{what} is not installed")


class Running:
    """`meip studio` on a folder, as a process."""

    def __init__(self, folder: Path, *options: str, port: int = 0) -> None:
        self.folder, self.options, self.port = folder, options, port
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "meip", "studio", str(self.folder), "--no-browser", "--port", str(self.port)]
        code = os.pathsep.join(str(ROOT / name) for name in ("src", "examples"))  # this source, whatever is installed
        environment = {**os.environ, "PYTHONPATH": code, "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [*command, *self.options], stdout=subprocess.PIPE, text=True, env=environment, cwd=ROOT / "examples"
        )
        assert self.process.stdout is not None
        self.link = ""
        for line in self.process.stdout:
            found = re.search(r"http://\S+", line)
            if found:
                self.link = found.group()
                break
        assert self.link, "the studio did not start"
        self.address = self.link.partition("/?")[0]
        self.port = int(self.address.rpartition(":")[2])

    def stop(self, how: int = signal.SIGINT) -> None:
        self.process.send_signal(how)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        if self.process.stdout is not None:
            self.process.stdout.close()

    def restart(self) -> None:
        """Another run on the same folder and port, with a new token."""
        self.stop()
        self.start()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        _needed("playwright")
    if CHROMIUM is None:
        _needed("chromium")
    with sync_playwright() as playwright:
        root = hasattr(os, "geteuid") and os.geteuid() == 0
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"] if root else [])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def compiled() -> None:
    """What lines do, before a page waits for it: on a fresh clone that takes longer than a page's patience."""
    Warming().wait(resolve_world("folding"))


@pytest.fixture(scope="module")
def studio(browser: Any, compiled: None, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    running = Running(tmp_path_factory.mktemp("studio") / "project", "--world", "garden:Garden")
    yield running
    running.stop()


class Watched:
    """What a page said and asked for."""

    def __init__(self, page: Any, address: str) -> None:
        self.said: list[str] = []
        self.foreign: list[str] = []
        page.on("console", lambda message: self.said.append(f"{message.type}: {message.text}"))
        page.on("pageerror", lambda error: self.said.append(f"error: {error}"))
        page.on("request", lambda request: self._asked(request.url, address))

    def _asked(self, url: str, address: str) -> None:
        if not url.startswith((f"{address}/", "data:", "blob:")):
            self.foreign.append(url)

    def check(self) -> None:
        assert self.said == [] and self.foreign == []


@pytest.fixture
def page(browser: Any, studio: Running) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1280, "height": 860}, reduced_motion="reduce")
    context.set_default_timeout(15_000)
    found = context.new_page()
    watched = Watched(found, studio.address)
    found.goto(studio.link)
    yield found
    watched.check()
    context.close()
