"""The worlds in the examples folder are worlds; the garden is learned, planned and drawn as its first lines say."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from meip import check_world
from meip.cli import main
from meip.model.world import Describes, Draws, HasGoal, StaticFacts, offers

EXAMPLES = Path(__file__).parents[1] / "examples"
SVG = "{http://www.w3.org/2000/svg}"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"examples.{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def test_the_packing_example_is_a_world_in_about_forty_lines() -> None:
    assert check_world(load("packing").Packing()) == []
    lines = [line for line in (EXAMPLES / "packing.py").read_text().splitlines() if line.strip()]
    assert len(lines) < 60


def test_the_garden_example_is_a_world_with_hooks_in_under_a_hundred_lines() -> None:
    garden = load("garden").Garden()
    assert check_world(garden) == []
    assert all(offers(garden, hook) for hook in (StaticFacts, Describes, Draws, HasGoal))
    assert len((EXAMPLES / "garden.py").read_text().splitlines()) < 100


def test_the_garden_is_drawn_with_faint_pots_and_water_in_the_ground() -> None:
    module = load("garden")
    garden = module.Garden(("tulip", "cactus"))
    states = [(0, 0), (1, 0), (1, 1), (2, 1)]
    found = garden.draw(states, [("plant", 0), ("plant", 1), ("water", 0)])
    assert [picture.caption for picture in found] == [
        "morning",
        "plant the tulip",
        "plant the cactus",
        "water the tulip",
    ]
    for picture, state in zip(found, states, strict=True):
        drawing = ElementTree.fromstring(picture.svg)
        assert drawing.get("viewBox") == "0 0 140 128"
        assert drawing.findtext(f"{SVG}title") == picture.note == garden.describe(state)
        plants = drawing.findall(f"{SVG}g")
        assert [plant.get("opacity") for plant in plants] == ["1" if stage else "0.25" for stage in state]
        assert picture.svg.count(module.DROPS) == state.count(2)


def meip(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    return int(caught.value.code or 0)


def test_the_garden_is_learned_from_what_its_script_shows_and_planned_in_another_garden(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    subprocess.run([sys.executable, str(EXAMPLES / "garden.py")], check=True)
    own = ("--world", "garden:Garden")
    assert meip("check", "garden:Garden", "garden.jsonl", *own) == 0
    assert meip("learn", "garden.jsonl", *own, "-o", "task.json") == 0
    plants = ["cactus", "sunflower", "cactus", "tulip"]
    Path("other.json").write_text(json.dumps({"format": "meip.problem/1", "world": "garden", "plants": plants}))
    assert meip("plan", "task.json", "other.json", *own, "-o", "plan.json", "--render", "plan.html") == 0
    steps = [step["action"] for step in json.loads(Path("plan.json").read_text())["steps"]]
    assert [verb for verb, _ in steps] == ["plant"] * 4 + ["water"] * 2
    assert "water the tulip" in Path("plan.html").read_text()
    assert meip("plan", "task.json", "garden:Garden", "--render", "plan.svg") == 0
    sheet = ElementTree.parse("plan.svg").getroot()
    assert len(sheet.findall(f"{SVG}svg")) == 10
