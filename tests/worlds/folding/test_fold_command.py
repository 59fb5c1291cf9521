from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from meip.base import documents
from meip.cli import main
from meip.model.demonstrations import read_demonstrations
from meip.model.problems import load_problem
from meip.tasks.task import PlanStep, TaskPlan
from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.garments import garment
from meip.worlds.folding.world import Folding

SRC = Path(__file__).parents[3] / "src"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["fold", "demonstrate", *arguments])
    return int(ended.value.code or 0)


def test_demonstrations_are_made_and_the_same_for_the_same_seed(tmp_path: Path) -> None:
    one, two = tmp_path / "one.jsonl", tmp_path / "two.jsonl"
    assert run("-o", str(one), "--template", "sweater", "-n", "2", "--seed", "4") == 0
    assert run("-o", str(two), "--template", "sweater", "-n", "2", "--seed", "4") == 0
    assert one.read_bytes() == two.read_bytes()
    shown = read_demonstrations(one)
    assert [d.problem["garment"]["template"] for d in shown] == ["sweater", "sweater"]
    assert all("scripted" in d.by for d in shown)


def test_garments_may_be_small_and_cut_short(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kinds = ("tshirt", "short tshirt", "small tshirt", "small short tshirt")
    heights, widths = [], []
    for kind in kinds:
        assert run("-o", str(tmp_path / "d.jsonl"), "--template", kind, "-n", "1") == 0
        state = load_problem(read_demonstrations(tmp_path / "d.jsonl")[-1].problem).initial()[0][1]
        x0, y0, x1, y1 = state.bounds
        heights.append(y1 - y0)
        widths.append((x1 - x0) / (y1 - y0))
    assert max(heights[2:]) < 0.6 * min(heights[:2])
    assert widths[1] < widths[0] and widths[3] < widths[2]
    assert run("-o", str(tmp_path / "d.jsonl"), "--template", "short trousers") == 2
    assert "no sleeves" in capsys.readouterr().err


def test_a_garment_document_can_be_demonstrated(tmp_path: Path) -> None:
    documents.write(tmp_path / "mine.json", garment("hoodie", name="mine"))
    assert run("-o", str(tmp_path / "d.jsonl"), "--garment", str(tmp_path / "mine.json"), "-n", "1") == 0
    assert read_demonstrations(tmp_path / "d.jsonl")[0].problem["garment"]["name"] == "mine"


def test_an_unknown_template_is_a_clear_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("-o", str(tmp_path / "d.jsonl"), "--template", "tshirts") == 2
    assert "did you mean 'tshirt'" in capsys.readouterr().err


def test_a_garment_becomes_a_problem_and_its_plan_a_picture(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    problem, plan, picture = tmp_path / "hoodie.json", tmp_path / "plan.json", tmp_path / "plan.svg"
    with pytest.raises(SystemExit) as ended:
        main(["fold", "problem", "hoodie", "-o", str(problem), "--candidates", "5", "--folds", "2"])
    assert not ended.value.code
    world = load_problem(problem)
    assert isinstance(world, Folding)
    assert (world.garment, world.horizon, world.candidates) == (garment("hoodie"), 3, 5)
    action = world.actions(world.initial()[0][1])[0]
    step = PlanStep(list(action), "", 0.0, 1.0)
    documents.write(
        plan,
        TaskPlan("", (step,), 1.0, 1.0, None, "beam", "expectation", 3, "finished", 0, documents.read_json(problem)),
    )
    with pytest.raises(SystemExit) as ended:
        main(["fold", "render", str(plan), "-o", str(picture)])
    assert not ended.value.code
    assert "fold 1" in picture.read_text()
    with pytest.raises(SystemExit):
        main(["fold", "problem", "hodie", "-o", str(problem)])
    assert "did you mean 'hoodie'" in capsys.readouterr().err


def test_plans_are_known_to_the_command_by_itself(tmp_path: Path) -> None:
    """In a process of its own: here the tests have imported everything."""
    action = Folding(garment("tshirt")).actions(Cloth.flat(garment("tshirt")))[0]
    problem = {"format": "meip.problem/1", "world": "folding", "garment": "tshirt"}
    step = PlanStep(list(action), "", 0.0, 1.0)
    plan = TaskPlan("", (step,), 1.0, 1.0, None, "beam", "expectation", 2, "finished", 0, problem)
    documents.write(tmp_path / "plan.json", plan)
    command = [sys.executable, "-m", "meip", "fold", "render", "plan.json", "-o", "plan.svg"]
    subprocess.run(command, check=True, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(SRC)})
    assert "fold 1" in (tmp_path / "plan.svg").read_text()
