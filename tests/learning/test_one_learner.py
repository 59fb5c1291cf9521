"""The one learner: what is found from five demonstrations, and what is said about it."""

from __future__ import annotations

import numpy as np
import pytest

from meip import Episode, LearningError, Task, learn, record, replay
from meip.experiments.gallery import EverydayTask, demonstrate, everyday_task
from meip.experiments.rites import paper_demonstrations
from meip.learning.evidence import Evidence
from meip.model.choices import replay_all
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual


def shown(name: str, count: int = 5, seed: int = 7, wrong: int = 0) -> tuple[EverydayTask, list[Episode]]:
    task, rng = everyday_task(name), np.random.default_rng(seed)
    return task, [demonstrate(task, rng, wrong=k >= count - wrong) for k in range(count)]


def successes(task: EverydayTask, learned: Task, split: str, worlds: int = 4) -> int:
    rng, kept = np.random.default_rng(11), 0
    for _ in range(worlds):
        world = task.make(split, rng)
        way = replay(world, learned.plan(world).demonstration())
        kept += all(task.kept(world, way.states, way.actions).values())
    return kept


@pytest.mark.parametrize("name", ["packing", "painting", "laundry", "clinic", "post"])
def test_everyday_tasks_carry_over_to_larger_and_changed_worlds(name: str) -> None:
    task, episodes = shown(name)
    learned = learn(episodes)
    assert learned.provenance.objective == "choices"
    assert sum(successes(task, learned, split) for split in ("same", "larger", "changed")) >= 11


def test_what_is_told_foresees_more_than_chance_and_names_the_rules() -> None:
    _, episodes = shown("post")
    found = learn(episodes).explain()
    assert "Never" in found.sentence and "foresees" in found.sentence
    assert any(said.kind == "never" and "away" in said.text for said in found.statements)
    how = learn(episodes).preferences
    assert how is not None and how.foreseen > 2 * how.by_chance and how.choices > 10


def test_the_ritual_is_told_in_order_and_says_that_nobody_chose_it() -> None:
    found = learn(paper_demonstrations("enforced")).explain()
    assert found.sentence.startswith("First all torches are offered at stage 1, then some bamboo is offered at stage 2")
    assert "there was no other way" in found.sentence
    assert [str(edge.first) for edge in found.order if str(edge.then) == "some(bamboo@2)"] == ["all(torch@1)"]


def test_the_papers_first_example_is_learned_whatever_chance_does() -> None:
    for trained in (0.1, 0.6):
        world = Didactic(trained)
        task = learn([Episode(world, record(world, ["a1", "a1"], [0, None])) for _ in range(5)])
        assert not task.nothing_learned
        for p in (0.02, 0.3, 0.98):
            assert task.plan(Didactic(p)).actions[0] == "a1"


def test_a_plan_says_why_and_how_sure_it_is() -> None:
    task, episodes = shown("packing")
    plan = learn(episodes).plan(task.make("larger", np.random.default_rng(1)))
    assert all(step.why for step in plan.steps[:2])
    assert 0 <= plan.confidence <= 1
    sure = [*(s.confidence for s in plan.steps), plan.stopping]
    assert plan.confidence == pytest.approx(np.exp(np.log(sure).mean()))
    assert plan.doubtful is None or sure[plan.doubtful - 1] == min(sure)


def test_a_plan_says_where_no_statement_tells_actions_apart() -> None:
    world = Ritual(stages=2, types=("torch", "clay"), objects=2)
    plans = [[(1, "torch", 2), (2, "clay", n)] for n in (1, 2)]
    task = learn([Episode(world, record(world, plan)) for plan in plans], concepts=["all(torch@1)"])
    other = Ritual(stages=2, types=("torch", "clay"), objects=2, order=(2, 1))
    assert task.plan(other).notes == ("no statement tells the actions apart at step 1",)


def test_a_wrong_demonstration_is_named_and_set_aside_with_tolerance() -> None:
    _, episodes = shown("clinic", 6, wrong=1)
    plain = learn(episodes)
    losses = plain.provenance.evidence["nats_per_choice_by_the_others"]
    assert int(np.argmax(losses)) == 5
    assert plain.provenance.evidence["unlike_the_others"][:1] == [6]
    assert plain.warnings[0].startswith("demonstration 6 is unlike the others at step ")
    tolerant = learn(episodes, tolerance=0.2)
    assert tolerant.provenance.evidence["set_aside"] == [6]
    with pytest.raises(LearningError, match="tolerance"):
        learn(episodes, tolerance=0.1)


def test_what_is_shown_again_and_again_is_not_what_is_odd() -> None:
    world = Ritual(stages=2, types=("torch", "clay"), objects=3)
    same = [(1, "torch", 3), (2, "clay", 1)]
    plans = [same, same, same, same, [(1, "clay", 2), (2, "torch", 1)]]
    task = learn([Episode(world, record(world, plan)) for plan in plans], tolerance=0.2)
    assert task.provenance.evidence["set_aside"] == [5]
    assert [list(action) for action in task.plan(world).actions] == [list(action) for action in same]


@pytest.mark.parametrize("p", [0.02, 0.5, 0.95])
def test_the_papers_first_example_is_learned_from_failures_however_likely_they_are(p: float) -> None:
    world = Didactic(p)
    failed = Episode(world, record(world, ["a1"] * 4, [1, None, None, None]))
    done = Episode(world, record(world, ["a1", "a1"], [0, None]))
    for episodes in ([failed] * 10, [done] + [failed] * 9, [done] * 9 + [failed]):
        task = learn(episodes)
        assert all(task.plan(Didactic(q)).actions[0] == "a1" for q in (0.02, 0.3, 0.98))


def test_people_who_stop_by_themselves_do_not_use_up_what_is_left() -> None:
    task, episodes = shown("candles")
    learned = learn(episodes)
    how = learned.preferences
    assert how is not None
    assert how.by_itself
    assert "all(burning)" in [str(term.concept) for term in how.done.terms]
    for split in ("same", "larger"):
        assert successes(task, learned, split) == 4


def test_the_same_choice_in_the_same_state_is_counted_as_one() -> None:
    world = Ritual(stages=2, types=("torch", "clay"), objects=2)
    plans = [[(1, "torch", 2), (2, "clay", n)] for n in (1, 2, 2)]
    evidence = Evidence(replay_all([Episode(world, record(world, plan)) for plan in plans]))
    first = evidence.at == evidence.at[0]
    assert evidence.copies[first].tolist() == [3.0, 3.0, 3.0]
    assert (1 / evidence.copies[~first]).sum() == pytest.approx(len(np.unique(evidence.after[evidence.chosen[~first]])))


def test_too_few_demonstrations_are_said_to_be_few() -> None:
    _, episodes = shown("packing", 1)
    assert any("only one demonstration" in warning for warning in learn(episodes).warnings)


def test_the_same_seed_gives_the_same_bytes_for_any_jobs(tmp_path) -> None:  # type: ignore[no-untyped-def]
    _, episodes = shown("packing")
    learn(episodes, seed=3).save(tmp_path / "one.json")
    learn(episodes, seed=3, jobs=2).save(tmp_path / "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert Task.load(tmp_path / "one.json") == learn(episodes, seed=3)


def test_edits_act() -> None:
    world = Ritual(stages=3, types=("torch", "bamboo", "clay"), objects=5)
    plans = [[(1, "torch", 5), (2, "bamboo", b), (3, "clay", 4)] for b in (1, 3, 2)]
    task = learn([Episode(world, record(world, plan)) for plan in plans])
    free = Ritual(order="free", objects=6)
    assert [1, "torch", 6] in task.plan(free).actions
    struck = task.strike("all(torch@1)", "torches do not matter after all")
    assert struck.plan(free).actions[0] != [1, "torch", 6] == task.plan(free).actions[0]
    assert "all(torch@1)" not in [said.text for said in struck.explain().statements]
    assert any("torches do not matter" in note for note in struck.explain().notes)
    turned = task.edit("some(bamboo@2)", [-5.0])
    assert not any(kind == "bamboo" for stage, kind, _ in turned.plan(free).actions if stage == 2)
    with pytest.raises(LearningError, match="no statement about"):
        task.edit("all(torch@7)", [1.0])
