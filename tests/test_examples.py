"""The worlds in the examples folder are worlds, and who knows their rules keeps them; the garden is learned, planned
and drawn as its first lines say."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from meip import check_world, learn
from meip.cli import main
from meip.experiments.gallery import TASKS
from meip.model.world import Describes, Draws, HasGoal, StaticFacts, offers

EXAMPLES = Path(__file__).parents[1] / "examples"
ENOUGH = "enough[count(picked), count(coming)]"
SVG = "{http://www.w3.org/2000/svg}"


def load(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(f"examples.{name}", EXAMPLES / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", TASKS)
def test_an_everyday_task_is_short_and_a_world_in_every_split(name: str) -> None:
    assert len((EXAMPLES / f"{name}.py").read_text().splitlines()) < 60
    task, rng = load(name), np.random.default_rng(0)
    for split in ("train", "same", "larger", "changed"):
        assert check_world(task.make(split, rng), walks=20) == []
    assert check_world(getattr(task, name.capitalize())()) == []


def walked(task: Any, world: Any, rng: np.random.Generator, choose: Any) -> dict[str, bool]:
    """Which rules are kept where somebody chooses step by step, and chance draws."""
    states, actions = [world.initial()[0][1]], []
    while len(states) < world.horizon and world.actions(states[-1]):
        action = choose(world, states[-1], rng)
        if action is None:
            break
        odds, after = zip(*world.outcomes(states[-1], action), strict=True)
        states.append(after[rng.choice(len(after), p=odds)])
        actions.append(action)
    found: dict[str, bool] = task.kept(world, tuple(states), tuple(actions))
    return found


def anything(world: Any, state: Any, rng: np.random.Generator) -> Any:
    legal = world.actions(state)
    return legal[rng.integers(len(legal))]


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("split", ["train", "same", "larger", "changed"])
def test_its_demonstrator_keeps_every_rule_and_chance_rarely_does(name: str, split: str) -> None:
    task, rng = load(name), np.random.default_rng(1)
    worlds = [task.make(split, rng) for _ in range(40)]
    for world in worlds:
        kept = walked(task, world, rng, task.show)
        assert tuple(kept) == task.RULES
        assert all(kept.values()), f"{world}: {kept}"
    assert np.mean([all(walked(task, world, rng, anything).values()) for world in worlds]) < 0.3


@pytest.mark.parametrize("name", TASKS)
def test_every_rule_can_be_broken_in_the_worlds_that_are_shown(name: str) -> None:
    """Else nobody could learn it."""
    task, rng = load(name), np.random.default_rng(2)
    found = [walked(task, task.make("train", rng), rng, anything) for _ in range(60)]
    slips = [walked(task, task.make("train", rng), rng, lambda *_: None)]
    assert all(any(not kept[rule] for kept in (*found, *slips)) for rule in task.RULES)


def test_the_gallery_lists_every_example() -> None:
    text = (EXAMPLES / "README.md").read_text()
    assert all(f"[`{path.name}`]({path.name})" in text for path in EXAMPLES.glob("*.py"))
    assert {path.stem for path in EXAMPLES.glob("*.py")} == {*TASKS, "garden", "mushrooms"}


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


def test_a_fluent_is_a_network_that_was_trained_on_pictures_and_a_rule_about_it_is_learned() -> None:
    module, rng = load("mushrooms"), np.random.default_rng(99)
    labels = rng.random(500) < 0.5
    said = module.sees_spots()(np.array([module.draw(spots, rng) for spots in labels])) > 0.5
    assert np.mean(said == labels) > 0.95  # on pictures that it was not trained on
    assert check_world(module.Mushrooms()) == []
    task = learn(module.walks())
    rules = [statement for statement in task.explain().statements if statement.kind == "never"]
    assert [rule.text for rule in rules] == ["some(picked and spotted)"]
    woods = [module.Mushrooms(12, 3, seed) for seed in range(1000, 1008)]
    plans = [task.plan(wood).actions for wood in woods]
    assert all(plan and not any(wood.spots[k] for k in plan) for wood, plan in zip(woods, plans, strict=True))


def test_an_operation_is_a_trained_network_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(EXAMPLES))
    subprocess.run([sys.executable, str(EXAMPLES / "mushrooms.py")], check=True)
    given = [word for text in ("some(picked and spotted)", ENOUGH) for word in ("--given", text)]
    assert meip("learn", "mushrooms.jsonl", "--world", "mushrooms:Mushrooms", *given, "-o", "task.json") == 0
    wood = {"format": "meip.problem/1", "world": "mushrooms", "mushrooms": 16, "guests": 4, "seed": 1000}
    Path("wood.json").write_text(json.dumps(wood))
    own = ("--world", "mushrooms:Mushrooms")
    assert meip("plan", "task.json", "wood.json", *own, "-o", "plan.json") == 0
    picked = [step["action"] for step in json.loads(Path("plan.json").read_text())["steps"]]
    assert len(picked) == 8  # two for each of four guests, whom nobody has shown
    assert not any(load("mushrooms").Mushrooms(16, 4, 1000).spots[k] for k in picked)
