"""Where a plan starts: in the likeliest initial state, in the one that is named, or one plan for each; all recorded."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest

from meip import LearningError, Run, Task, learn
from meip.base import documents
from meip.cli import main
from meip.experiments.short_way import demonstrations
from meip.worlds.didactic import Didactic


@dataclass(frozen=True)
class Anywhere(Didactic):
    """The didactic MDP, begun elsewhere, too."""

    chances: tuple[float, ...] = (0.1, 0.7, 0.2)

    def initial(self) -> Sequence[tuple[float, str]]:
        return list(zip(self.chances, ("S0", "S1", "b2"), strict=True))


@pytest.fixture(scope="module")
def task() -> Task:
    return learn(demonstrations(5), objective="plans", concepts=["some(at and bad)", "some(at and goal)"])


def test_a_plan_starts_in_the_likeliest_state_whatever_the_seed(task: Task) -> None:
    for seed in range(5):
        plan = task.plan(Anywhere(), seed=seed)
        assert (plan.start, plan.initial, plan.initial_probability) == ("S1", 1, 0.7)


def test_equally_likely_starts_fall_by_the_seed(task: Task) -> None:
    world = Anywhere(chances=(0.4, 0.4, 0.2))
    assert {task.plan(world, seed=seed).start for seed in range(20)} == {"S0", "S1"}
    assert task.plan(world, seed=3) == task.plan(world, seed=3)


def test_a_start_can_be_named_and_is_kept_in_the_document(task: Task) -> None:
    plan = task.plan(Anywhere(), start=2)
    assert (plan.start, plan.initial, plan.initial_probability) == ("b2", 2, 0.2)
    assert documents.parse(documents.dump(plan), "plan") == plan
    assert plan.demonstration().initial == 2
    with pytest.raises(LearningError, match="3 initial states"):
        task.plan(Anywhere(), start=3)


def test_there_is_one_plan_for_each_start(task: Task) -> None:
    found = task.plans(Anywhere(), method="exact")
    assert [(plan.start, plan.initial_probability) for plan in found] == [("S0", 0.1), ("S1", 0.7), ("b2", 0.2)]
    assert found == [task.plan(Anywhere(), start=start, method="exact") for start in range(3)]


def test_a_world_with_one_start_says_nothing_about_it(task: Task) -> None:
    assert not {"initial", "initial_probability"} & set(documents.dump(task.plan(Didactic())))
    assert len(task.plans(Didactic())) == 1


def test_samples_start_as_the_chances_have_it(task: Task) -> None:
    drawn = Counter(plan.start for plan in task.sample(Anywhere(), 1000, seed=4))
    assert all(abs(drawn[start] / 1000 - p) < 0.05 for start, p in (("S0", 0.1), ("S1", 0.7), ("b2", 0.2)))


def test_the_command_plans_from_each_start_and_from_one(
    task: Task, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.syspath_prepend(str(Path(__file__).parent))
    task.save(tmp_path / "task.json")
    given = ["plan", str(tmp_path / "task.json"), "test_starts:Anywhere"]

    def run(*options: str) -> tuple[int, str]:
        with pytest.raises(SystemExit) as caught:
            main([*given, *options])
        return int(caught.value.code or 0), capsys.readouterr().out

    code, text = run("--start", "each", "-o", str(tmp_path / "plans.jsonl"))
    assert code == 0
    assert "start 1, probability 0.7" in text
    lines = [json.loads(line) for line in (tmp_path / "plans.jsonl").read_text().splitlines()]
    assert [line.get("initial", 0) for line in lines] == [0, 1, 2]
    code, text = run("--start", "2", "--json")
    assert (code, json.loads(text)["start"]) == (0, "b2")
    assert run("--start", "first")[0] == 2
    assert run("--start", "0", "--samples", "3")[0] == 2
    assert run("--start", "each", "--render", str(tmp_path / "plan.html"))[0] == 2


def test_plans_from_several_starts_are_the_same_whoever_searches_for_them(task: Task) -> None:
    alone = task.plans(Anywhere(), method="exact")
    assert task.plans(Anywhere(), method="exact", run=Run(jobs=2)) == alone
