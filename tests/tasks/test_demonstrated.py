"""What demonstrations show by themselves, and behaviour measured by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from meip import Episode, Task, learn, record
from meip.baselines.agents import CloneAgent, RandomAgent
from meip.experiments.gallery import demonstrate, everyday_task
from meip.experiments.rites import PAPER, paper_demonstrations
from meip.model.choices import replay_all
from meip.tasks.demonstrated import demonstrated_by, times
from meip.tasks.evaluate import evaluate
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual


@pytest.fixture(scope="module")
def without_order() -> Task:
    return learn(paper_demonstrations("enforced"), objective="plans", order="none")


def values(agents: object, **more: object) -> dict[tuple[str, str], float]:
    rows = evaluate(agents, {"free": Ritual(objects=6)}, searches=5, **more)  # type: ignore[arg-type]
    return {(row["method"], row["metric"]): row["value"] for row in rows}


def pairs(found: object) -> set[tuple[str, str]]:
    return {(str(found.concepts[p.first]), str(found.concepts[p.then])) for p in found.order}  # type: ignore[attr-defined]


@pytest.mark.parametrize("order", ["free", "enforced"])
def test_the_ritual_shows_its_three_concepts_and_their_order(order: str) -> None:
    found = demonstrated_by(replay_all(paper_demonstrations(order)))
    first, second, third = PAPER.concepts()
    assert {str(concept) for concept in found.concepts} == {first, second, third} and all(found.lasting)
    assert pairs(found) == {(first, second), (first, third), (second, third)}


def test_a_task_that_knows_no_order_follows_its_own_wishes_and_not_the_demonstrations(without_order: Task) -> None:
    found = values(without_order)
    assert found["meip", "tau"] == found["meip", "match"] == found["meip", "demonstrated_match"] == 1.0
    assert found["meip", "demonstrated_order"] < 0.7


def test_other_agents_are_measured_by_the_same_demonstrations(without_order: Task) -> None:
    agents = {"meip": without_order, "random": RandomAgent(), "clone": CloneAgent(paper_demonstrations("enforced"))}
    found = values(agents)
    assert found["random", "demonstrated_match"] < 0.5 < found["clone", "demonstrated_match"]
    alone = values({"random": RandomAgent()}, demonstrations=paper_demonstrations("enforced"))
    assert set(alone) == {("random", "demonstrated_match"), ("random", "demonstrated_order")}


def test_where_single_words_show_no_order_pairs_of_words_do() -> None:
    world = Didactic(0.3)
    good, spoilt = record(world, ["a1", "a1"], [0, None]), record(world, ["a1", "a1"], [1, None])
    found = demonstrated_by(replay_all([Episode(world, good), Episode(world, spoilt), Episode(world, good)]))
    assert pairs(found) == {("all(at | waypoint)", "all(at | goal)")}
    task, rng = everyday_task("packing"), np.random.default_rng(1)
    shown = demonstrated_by(replay_all([demonstrate(task, rng) for _ in range(5)]))
    assert ("all(packed | heavy)", "all(packed | fragile)") in pairs(shown)


def test_one_wrong_demonstration_is_left_out_where_it_is_tolerated() -> None:
    right = paper_demonstrations("free")
    wrong = Episode(right[0].world, record(right[0].world, [(3, "clay", 1), (2, "clay", 1), (1, "clay", 1)]))
    assert not demonstrated_by(replay_all([*right, wrong])).order
    assert len(demonstrated_by(replay_all([*right, wrong]), 0.2).order) == 3


def test_times_are_when_something_came_about_to_stay_or_else_at_first() -> None:
    true = np.array([[0, 1, 0, 0, 0], [1, 1, 1, 0, 0], [0, 1, 0, 0, 1], [1, 1, 0, 0, 1]], bool)
    assert times(true).tolist() == [3, 0, 1, np.inf, 2]


def test_a_task_keeps_what_was_demonstrated_in_its_file(without_order: Task, tmp_path: Path) -> None:
    without_order.save(tmp_path / "task.json")
    assert Task.load(tmp_path / "task.json").demonstrated == without_order.demonstrated
