"""A package of somebody else's registers a world, its files, a kind of document and a command, as ours do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import meip

CODE = '''
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar
from meip import Domain, Episode, Facts, Picture, predicate, record
from meip.base.documents import document

@document("wiring")
@dataclass(frozen=True)
class Wiring:
    stands_for: ClassVar[tuple[str, str]] = ("lamp", "wiring")
    on: bool = False

@dataclass(frozen=True)
class Lamp:
    kind: ClassVar[str] = "lamp"
    suffixes: ClassVar[tuple[str, ...]] = (".lamp",)
    wiring: Wiring = Wiring()
    domain = Domain("lamp", (), (predicate("on"),))
    horizon = 3
    def initial(self): return [(1.0, self.wiring.on)]
    def actions(self, state): return ["flip", "wait"]
    def outcomes(self, state, action): return [(1.0, state != (action == "flip"))]
    def facts(self, state): return Facts.build(self.domain, {}, {"on": state})
    def draw(self, states, actions):
        names = ["start", *actions]
        return [Picture(n, f'<svg viewBox="0 0 9 9"><title>{s}</title></svg>') for n, s in zip(names, states)]
    @classmethod
    def read_problem(cls, path, domain=None): return cls(Wiring(Path(path).read_text().strip() == "on"))
    @classmethod
    def read_plans(cls, folder, domain=None):
        files = sorted(Path(folder).glob("*.plan"))
        return [Episode(cls(), record(cls(), file.read_text().split()), str(file)) for file in files]
    @classmethod
    def plan_text(cls, actions): return " ".join(actions)

def blink():
    """Blink."""
    print("blinked")
'''
POINTS = """
[meip.worlds]
lamp = lamps:Lamp
[meip.files]
lamp = lamps:Lamp
[meip.documents]
wiring = lamps
[meip.commands]
blink = lamps:blink
broken = lamps:nothing
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    installed = tmp_path / "site" / "lamps-1.0.dist-info"
    installed.mkdir(parents=True)
    (tmp_path / "site" / "lamps.py").write_text(CODE)
    (installed / "METADATA").write_text("Metadata-Version: 2.1\nName: lamps\nVersion: 1.0\n")
    (installed / "entry_points.txt").write_text(POINTS)
    return tmp_path


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    places = [str(folder / "site"), str(Path(meip.__file__).parents[1])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(places)}
    return subprocess.run(
        [sys.executable, "-m", "meip", *arguments], capture_output=True, text=True, cwd=folder, env=environment
    )


def test_a_world_of_another_package_is_learned_from_planned_in_and_drawn(folder: Path) -> None:
    (folder / "dark.lamp").write_text("off\n")
    (folder / "a.plan").write_text("flip wait")
    (folder / "b.plan").write_text("flip wait")
    assert "False" in run(folder, "show", "dark.lamp", "--steps", "0").stdout
    learned = run(folder, "learn", "--plans", ".", "-o", "task.json")
    assert learned.returncode == 0, learned.stderr
    planned = run(folder, "plan", "task.json", "dark.lamp", "-o", "c.plan", "--render", "plan.svg")
    assert planned.returncode == 0, planned.stderr
    assert (folder / "c.plan").read_text().split()[0] == "flip"
    assert (folder / "plan.svg").read_text().count("<title>") == 4  # its own, and three states


def test_its_documents_are_problems_and_its_commands_are_commands(folder: Path) -> None:
    (folder / "wiring.json").write_text('{"format": "meip.wiring/1", "on": true}')
    shown = run(folder, "show", "wiring.json", "--steps", "0")
    assert shown.returncode == 0 and "True" in shown.stdout, shown.stderr
    checked = run(folder, "check", "lamp", "wiring.json")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    blinked = run(folder, "blink")
    assert blinked.stdout == "blinked\n"
    assert "warning: the command 'broken' is left out" in blinked.stderr
