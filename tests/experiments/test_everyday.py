"""The everyday tasks as an experiment: demonstrations, wrong ones, and the rows of a few of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meip import Demonstration, replay
from meip.baselines.agents import CloneAgent
from meip.experiments import Experiment, everyday
from meip.experiments.gallery import TASKS, demonstrate, everyday_task, examples
from meip.report.charts import line_chart
from meip.report.figures import write_figures

Rows = list[dict[str, Any]]


def kept(name: str, rng: np.random.Generator, wrong: bool) -> bool:
    task = everyday_task(name)
    episode = demonstrate(task, rng, wrong=wrong)
    assert isinstance(episode.demonstration, Demonstration)
    way = replay(episode.world, episode.demonstration)
    return all(task.kept(episode.world, way.states, way.actions).values())


@pytest.mark.parametrize("name", TASKS)
def test_a_right_demonstration_keeps_every_rule_and_a_wrong_one_does_not(name: str) -> None:
    rng = np.random.default_rng(3)
    assert all(kept(name, rng, wrong=False) for _ in range(5))
    assert not any(kept(name, rng, wrong=True) for _ in range(5))


@pytest.mark.parametrize("name", TASKS)
def test_the_nearest_step_is_copied_in_every_task(name: str) -> None:
    task, rng = everyday_task(name), np.random.default_rng(4)
    agent = CloneAgent([demonstrate(task, rng) for _ in range(2)])
    assert 0 <= everyday._success(task, agent, task.make("changed", rng), seed=0) <= 1


def test_the_examples_are_those_of_the_clone() -> None:
    assert examples() == Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def rows() -> Rows:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(everyday, "TASKS", ("orchard", "packing"))
        return everyday.run(Experiment(seeds=2, quick=True))


METHODS = {"meip", "clone", "random", "meip-plans", "maxent-irl", "goal-count"}


def test_there_is_a_row_for_each_method_split_and_number_of_demonstrations(rows: Rows) -> None:
    assert {row["task"] for row in rows} == {"all", "orchard", "packing"}
    cells = {(r["method"], r["split"], r["demonstrations"], r["wrong"]) for r in rows if r["task"] == "orchard"}
    shown = {(1, 0): METHODS, (5, 0): METHODS, (6, 1): METHODS | {"meip-tolerance"}}
    assert cells == {(m, split, *case) for case, methods in shown.items() for m in methods for split in everyday.SPLITS}
    assert all(row["low"] <= row["value"] <= row["high"] and row["n"] >= 2 for row in rows)


def test_wrong_demonstrations_that_are_named_are_counted(rows: Rows) -> None:
    (row,) = (r for r in rows if r["metric"] == "named")
    assert (row["wrong"], row["n"], row["method"]) == (1, 4, "meip") and 0 <= row["value"] <= 1


def test_confidence_is_right_as_often_as_a_right_plan_is_surer() -> None:
    plans = [(0.9, 1.0), (0.5, 1.0), (0.5, 0.0), (0.1, 0.0)]
    (row,) = everyday._surer_rows(plans, 0, {"method": "meip"})
    assert (row["metric"], row["n"], row["plans"]) == ("auroc", 2, 4)
    assert row["value"] == pytest.approx((1 + 0.5 + 1 + 1) / 4)
    assert not everyday._surer_rows([(0.9, 1.0)], 0, {})  # nothing to tell apart


def test_all_tasks_are_the_mean_of_each(rows: Rows) -> None:
    success = [row for row in rows if row["metric"] == "success"]
    one = [r["value"] for r in success if (r["method"], r["split"], r["demonstrations"]) == ("clone", "same", 5)]
    assert one[0] == pytest.approx(np.mean(one[1:]))
    assert one[0] > 0  # a copy of what was shown is right sometimes


def test_more_demonstrations_are_the_same_ones_and_some_more() -> None:
    few, many = (everyday._Case("oven", 0, 0, count, 0, 1) for count in (1, 20))
    task = everyday_task("oven")
    assert demonstrate(task, few.rng(0)) == demonstrate(task, many.rng(0))


def test_tables_and_figures_are_made_from_the_rows(rows: Rows, tmp_path: Path) -> None:
    tables = everyday.summary(rows)
    assert len(tables) == 8
    assert tables[0][1] == ["method", "1", "5"] and {line[0] for line in tables[0][2]} == METHODS
    assert [line[0] for line in tables[-2][2]] == ["orchard", "packing"]
    written = write_figures(rows, tmp_path)
    assert [path.name for path in written] == [f"everyday-{split}.svg" for split in everyday.SPLITS]
    assert all("goal-count" in path.read_text() for path in written)


def test_a_method_that_was_measured_once_is_a_mark_in_the_figure() -> None:
    one, two = {"meip-plans": [(5.0, 0.5)]}, {"meip": [(1.0, 0.2), (5.0, 0.5), (20.0, 1.0)]}
    both = line_chart(two | one, "success", "demonstrations", "success", (0.0, 1.0), log=True)
    place = re.findall(r'<path transform="translate\(([^)]*)\)', both)
    assert len(place) == 4 + 2 and place[1] == place[3]  # and one for each in the legend
    assert ">5</text>" in both and ">20</text>" in both
