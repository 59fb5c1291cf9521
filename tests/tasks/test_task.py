"""Tasks: what is learned is one readable file; reading, editing, planning and explaining it keep its meaning."""

from __future__ import annotations

from pathlib import Path

import pytest

from meip import LearningError, MeipError, Task, learn
from meip.base import documents
from meip.experiments.rites import paper_demonstrations
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual


@pytest.fixture(scope="module")
def task() -> Task:
    return learn(paper_demonstrations("enforced"), objective="plans")


@pytest.fixture(scope="module")
def committee() -> Task:
    return learn(paper_demonstrations("enforced"), objective="plans", committee=4, seed=1)


def test_a_task_survives_being_saved_and_loaded_to_the_last_bit(task: Task, tmp_path: Path) -> None:
    task.save(tmp_path / "task.json")
    assert Task.load(tmp_path / "task.json") == task
    Task.load(tmp_path / "task.json").save(tmp_path / "again.json")
    assert (tmp_path / "again.json").read_bytes() == (tmp_path / "task.json").read_bytes()


def test_the_ritual_is_told_in_one_sentence(task: Task) -> None:
    assert task.explain().sentence == (
        "First all torches are offered at stage 1, then some bamboo is offered at stage 2, "
        "then exactly 4 clays are offered at stage 3."
    )
    assert task.tau_demo == 1.0


def test_shares_add_up_to_one(committee: Task) -> None:
    found = committee.explain()
    assert sum(reading.share for reading in found.readings) == pytest.approx(1.0)
    assert all(0 < reading.confidence <= 1 for reading in found.readings)


def test_the_order_lists_what_the_composites_say(task: Task) -> None:
    assert {(str(e.first), str(e.then)) for e in task.order} == {
        ("all(torch@1)", "some(bamboo@2)"),
        ("some(bamboo@2)", "count(clay@3) = 4"),
        ("all(torch@1)", "count(clay@3) = 4"),
    }


@pytest.mark.parametrize("method", ["auto", "beam", "mcts"])
def test_a_task_plans_in_a_world_that_nobody_has_shown(task: Task, method: str) -> None:
    plan = task.plan(Ritual(order="free", objects=6), method=method)
    assert [action[:2] for action in plan.actions] == [[1, "torch"], [2, "bamboo"], [3, "clay"]]
    assert [action[2] for action in plan.actions][::2] == [6, 4]
    assert plan.tau == 1.0
    assert plan.goal is None
    assert documents.parse(documents.dump(plan), "plan") == plan


def test_committees_plan_as_well_and_say_how_sure_they_are(committee: Task) -> None:
    assert len(committee.members) == 4
    plan = committee.plan(Ritual(order="free", objects=6))
    assert plan.actions[0] == [1, "torch", 6]
    assert 0 < plan.confidence <= 1
    assert {e.confidence for e in committee.order} <= {0.25, 0.5, 0.75, 1.0}


def test_demonstrations_score_one_and_their_reversal_less(task: Task) -> None:
    world, backwards = Ritual(), Ritual(order=(3, 2, 1))
    from meip import record

    assert task.score(world, record(world, [(1, "torch", 5), (2, "bamboo", 2), (3, "clay", 4)])) == 1.0
    assert task.score(backwards, record(backwards, [(3, "clay", 4), (2, "bamboo", 2), (1, "torch", 5)])) < 0.5


def test_edits_by_hand_change_the_plan_and_are_recorded(task: Task) -> None:
    edited = task.edit("some(bamboo@2)", [-5.0], note="no bamboo, please")
    assert [e.note for e in edited.members[0].edits] == ["no bamboo, please"]
    assert all(action[1] != "bamboo" for action in edited.plan(Ritual(order="free")).actions)
    assert any("no bamboo, please" in note for note in edited.explain().notes)
    with pytest.raises(LearningError, match=r"no concept 'some\(bambo@2\)'.*some\(bamboo@2\)"):
        task.edit("some(bambo@2)", [1.0])


def test_a_task_does_not_plan_in_a_world_of_another_domain(task: Task) -> None:
    with pytest.raises(LearningError, match="does not fit a world of domain 'didactic'"):
        task.plan(Didactic())


def test_options_that_do_not_exist_are_named() -> None:
    with pytest.raises(MeipError, match=r"no option 'commitee'; did you mean 'committee'"):
        learn(paper_demonstrations("enforced"), commitee=3)
