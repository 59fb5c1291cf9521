"""Learning runs: killed ones resume to the same bytes, estimators keep scikit-learn's contract."""

from __future__ import annotations

import dataclasses
from collections import Counter
from typing import Any, get_args

import numpy as np
import pytest

from line_world import Line
from meip import (
    ConceptError,
    DemonstrationError,
    Episode,
    Grammar,
    LearningError,
    LearnOptions,
    NotFittedError,
    Run,
    Step,
    Task,
    learn,
    record,
)
from meip.base import documents
from meip.experiments.rites import demonstrate, paper_demonstrations, random_rite
from meip.learning.generated import Generated
from meip.learning.learner import Learner
from meip.learning.options import UNUSED, Objective
from meip.learning.pursuit import Pursuit
from meip.model.choices import replay_all
from meip.worlds.didactic import Didactic
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import plan_demonstration, solve
from meip.worlds.ritual import Ritual

PLACES = ("some(at and bad)", "some(at and goal)", "some(at and waypoint)")


def test_nothing_can_be_learned_from_nothing() -> None:
    with pytest.raises(LearningError, match="no demonstrations"):
        learn([])


@pytest.mark.parametrize("changes", [{"committee": 0}, {"concept_share": 0.0}, {"tolerance": 1.0}])
def test_options_out_of_range_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(LearningError, match=next(iter(changes))):
        learn(paper_demonstrations("enforced"), **changes)


def test_a_wrong_demonstration_is_tolerated() -> None:
    rng = np.random.default_rng(3)
    rite = random_rite(rng, 3, 3)
    task = learn(demonstrate(rite, "free", rng, count=6, wrong=1), objective="plans", tolerance=0.2)
    assert isinstance(task, Task)
    assert {str(c) for c in task.concepts} >= set(rite.concepts())


# --- scikit-learn's contract ---


@pytest.mark.parametrize("estimator", [Pursuit(kappa=0.5), Learner(["all(torch@1)"], alpha=0.1)])
def test_estimators_can_be_cloned_refitted_and_say_when_they_are_not_fitted(estimator: Pursuit | Learner) -> None:
    from sklearn.base import clone

    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError, match="call fit"):
        copy.score(paper_demonstrations("enforced"))
    once = copy.fit(paper_demonstrations("enforced"))
    assert once is copy
    first = copy.utility_
    assert copy.fit(paper_demonstrations("enforced")).utility_ == first
    assert not hasattr(clone(copy), "utility_")


def test_grid_search_chooses_by_held_out_demonstrations() -> None:
    from sklearn.model_selection import GridSearchCV

    rng = np.random.default_rng(1)
    episodes = demonstrate(random_rite(rng, 3, 3), "enforced", rng, count=6)
    search = GridSearchCV(Pursuit(), {"kappa": [0.25, 1.0], "order": ["closure", "none"]}, cv=2, error_score="raise")
    search.fit(episodes)
    assert search.best_score_ == pytest.approx(1.0)
    assert search.best_estimator_.score(episodes) == pytest.approx(1.0)


def test_unknown_parameters_are_named() -> None:
    with pytest.raises(LearningError, match="no parameter 'kapa'; did you mean 'kappa'"):
        Pursuit().set_params(kapa=1)


# --- options ---


def lined() -> list[Episode]:
    """A real value, from different beginnings; what was shown is among what is listed."""
    moves = ([0.25, 0.5], [0.3, 0.4], [0.5, 0.25])
    worlds = [Line(proposed=(0.25, 0.3, 0.4, 0.5), begin=float(begin)) for begin in range(3)]
    return [Episode(world, record(world, shown)) for world, shown in zip(worlds, moves, strict=True)]


def noisy() -> list[Episode]:
    rng = np.random.default_rng(3)
    return demonstrate(random_rite(rng, 3, 3), "free", rng, count=6, wrong=1)


def many_plans() -> list[Episode]:
    """More plans than can be listed."""
    rng = np.random.default_rng(0)
    return demonstrate(random_rite(rng, 4, 4), "free", rng)


def unlucky() -> list[Episode]:
    world = Didactic(0.2)
    good, bad = record(world, ["a1", "a1"], [0, None]), record(world, ["a1"] * 4, [1, None, None, None])
    return [Episode(world, shown) for shown in (good, good, good, bad)]


def small() -> list[Episode]:
    """Few candidates: where each is learned anew."""
    return demonstrate(random_rite(np.random.default_rng(1), 2, 2, 3), "free", np.random.default_rng(1), 4, 3)


ANOTHER: dict[str, Any] = {
    "concepts": ("some(bamboo@2)",),
    "grammar": Grammar(quantifiers=("some",), aggregators=("max",), predicate_mean=True, max_level=1),
    "tolerance": 0.2,
    "order": "none",
    "pursuit": "literal",
    "threshold": 9.0,
    "generated": Generated(plans=3, sampler="tree"),
    "kappa": 3.0,
    "constant_cost": 20.0,
    "max_concepts": 1,
    "relative": False,
    "view": "curves",
    "branches": 15,
    "steps": 1.0,
    "knots": 2,
    "chance_failures": "none",
    "committee": 3,
    "concept_share": 0.3,
    "demonstration_share": 0.4,
    "seed": 5,
}
"""Another value of every option."""
WHERE: dict[tuple[str, str], Any] = {  # demonstrations on which an option can be seen to matter, if not the ritual's
    ("plans", "tolerance"): noisy,
    ("svm", "tolerance"): noisy,
    ("svm-literal", "tolerance"): noisy,
    ("plans", "branches"): many_plans,
    ("svm", "branches"): many_plans,
    ("svm-literal", "branches"): many_plans,
    ("plans", "knots"): lined,
    ("svm", "knots"): lined,
    ("svm-literal", "knots"): lined,
    ("history", "knots"): lined,
    ("history", "relative"): lined,
    ("history", "view"): lined,
    ("choices", "knots"): lined,
    ("choices", "relative"): lined,
    ("choices", "view"): lined,
    ("svm-literal", "pursuit"): small,
    ("svm-literal", "threshold"): small,
    ("plans", "chance_failures"): unlucky,
    ("svm", "chance_failures"): unlucky,
    ("svm-literal", "chance_failures"): unlucky,
}
WITH: dict[str, dict[str, Any]] = {
    "concept_share": {"committee": 3},
    "demonstration_share": {"committee": 3},
    "threshold": {"pursuit": "literal"},
}


def test_every_option_is_walked_over() -> None:
    assert set(ANOTHER) == {f.name for f in dataclasses.fields(LearnOptions)} - {"objective"}


@pytest.mark.parametrize("objective", [one for one in get_args(Objective) if one != "auto"])
@pytest.mark.parametrize("name", ANOTHER)
def test_every_option_changes_the_task_or_is_refused_by_name(name: str, objective: str) -> None:
    episodes = WHERE.get((objective, name), lambda: paper_demonstrations("free"))()
    base: dict[str, Any] = {"objective": objective}
    by_choices = objective in ("choices", "history")
    if not (by_choices and name == "threshold"):
        base |= WITH.get(name, {})
    if by_choices and name in ("knots", "relative"):
        base["view"] = "curves"
    if "at" in {f.name for f in episodes[0].world.domain.fluents} and name == "chance_failures":
        base |= {"concepts": PLACES}
    plain = learn(episodes, **base)
    try:
        changed = learn(episodes, **base | {name: ANOTHER[name]})
    except LearningError as error:
        assert name in str(error) and "no effect here: " in str(error)
        return
    if name == "seed":  # a pool of all plans leaves nothing to draw
        assert changed.provenance.seed != plain.provenance.seed
        return
    if name in ("kappa", "constant_cost"):  # prices show in what every concept would have gained
        assert changed.decisions != plain.decisions, f"{name} was taken, but changed nothing"
    else:
        same = changed.members == plain.members and changed.preferences == plain.preferences
        assert not same, f"{name} was taken, but changed nothing"
    recorded = documents.to_json(LearnOptions(**{name: ANOTHER[name]}))[name]
    assert changed.provenance.options[name] == recorded


def test_what_is_recorded_is_what_was_used() -> None:
    task = learn(paper_demonstrations("free"), objective="choices", committee=2)
    assert not set(task.provenance.options) & set(UNUSED["choices"])
    assert task.provenance.options["committee"] == 2
    assert task.provenance.objective == "choices"


def test_an_option_of_the_past_names_its_successor() -> None:
    with pytest.raises(LearningError, match="use 'objective'"):
        learn(paper_demonstrations("free"), regime="stepwise")
    with pytest.raises(LearningError, match="did you mean 'kappa'"):
        learn(paper_demonstrations("free"), kapa=1)


def test_options_and_run_are_given_by_name_or_as_objects() -> None:
    by_name = learn(paper_demonstrations("free"), committee=2, seed=3, jobs=2)
    as_objects = learn(paper_demonstrations("free"), LearnOptions(committee=2, seed=3), run=Run(jobs=1))
    assert by_name == as_objects


def test_given_concepts_are_all_that_is_used() -> None:
    given = ("all(torch@1)", "some(bamboo@2)", "some(bamboo@2) and not all(torch@1)")
    for objective in ("auto", "svm", "choices", "history"):
        task = learn(paper_demonstrations("free"), objective=objective, concepts=given)
        assert {str(c) for c in task.concepts} <= set(given)
    with pytest.raises(ConceptError, match="torhc"):
        learn(paper_demonstrations("free"), concepts=["all(torhc@1)"])


# --- one replay ---


class Counting:
    """A world that counts what it is asked."""

    def __init__(self, world: Any) -> None:
        self.world, self.asked = world, Counter[Any]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self.world, name)

    def actions(self, state: Any) -> Any:
        self.asked["actions", state] += 1
        return self.world.actions(state)

    def outcomes(self, state: Any, action: Any) -> Any:
        self.asked["outcomes", state, action] += 1
        return self.world.outcomes(state, action)


@pytest.mark.parametrize("objective", ["plans", "choices", "history"])
def test_a_demonstration_is_replayed_once_and_the_world_never_asked_twice(objective: str) -> None:
    worlds = [Counting(Ritual(order="free", objects=2)) for _ in range(3)]
    shown = [
        record(Ritual(order="free", objects=2), [(1, "torch", 2), (2, "bamboo", b), (3, "clay", 1)]) for b in (1, 2, 1)
    ]
    episodes = [Episode(world, one) for world, one in zip(worlds, shown, strict=True)]
    learn(episodes, objective=objective, committee=1)
    for world in worlds:
        demonstrated = {key for key in world.asked if key[0] == "outcomes"}
        assert demonstrated and max(world.asked.values()) == 1


def test_equal_problems_are_one_problem_even_if_they_are_different_objects() -> None:
    worlds = [PddlWorld("ferry", generate={"cars": 1, "landings": 2}, seed=1) for _ in range(2)]
    shown = [Episode(world, plan_demonstration(world, solve(world)[0])) for world in worlds]
    assert len(replay_all(shown).graphs) == 1
    assert len(replay_all([Episode(Ritual(), e.demonstration) for e in paper_demonstrations("free")]).graphs) == 1


def test_an_illegal_step_is_named_with_the_place_of_its_demonstration() -> None:
    wrong = dataclasses.replace(paper_demonstrations("free")[0].demonstration, steps=(Step([9, "torch", 1]),))
    with pytest.raises(
        DemonstrationError, match=r"demos.jsonl: demonstration 4: step 1: \[9,\"torch\",1\] is not legal"
    ):
        learn([Episode(Ritual(), wrong, "demos.jsonl: demonstration 4")])
