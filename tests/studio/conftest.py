"""A studio with a task of the bundled rituals, for the tabs that look at one."""

from __future__ import annotations

from pathlib import Path

import pytest

from meip import Task, learn, read_episodes
from opened_studio import RITUALS, Opened


@pytest.fixture(scope="module")
def rite(tmp_path_factory: pytest.TempPathFactory) -> Task:
    folder = tmp_path_factory.mktemp("learned")
    Opened.at(folder)
    return learn(read_episodes([folder / "demonstrations" / name for name in RITUALS]))


@pytest.fixture
def studio(tmp_path: Path, rite: Task) -> Opened:
    found = Opened.at(tmp_path)
    rite.save(tmp_path / "tasks" / "rite.json")
    return found
