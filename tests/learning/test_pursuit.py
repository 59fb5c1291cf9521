"""Algorithm 2: what it takes, what it leaves, and what it says about it."""

from __future__ import annotations

import numpy as np
import pytest

from meip.base.errors import LearningError, NotFittedError
from meip.experiments.probability_shift import demonstrations
from meip.experiments.rites import Rite, Want, demonstrate, grade, paper_demonstrations
from meip.learning.pursuit import Pursuit
from meip.learning.shown import ShownPlans
from meip.model.demonstrations import Episode
from meip.model.graph import StateGraph
from meip.utility.ranking import UtilityRanking
from random_worlds import search

RITE = Rite((Want("clay", "all"), Want("torch", "some"), Want("bamboo", "exactly", 2)), ("torch", "bamboo", "clay"), 2)


def plan_and_grade(rite: Rite, pursuit: Pursuit, objects: int) -> tuple[float, float]:
    graph = StateGraph(rite.world("free", objects))
    return grade(
        rite, graph.world, [graph.action(a) for a in search(graph, UtilityRanking([pursuit.utility_])).actions]
    )


@pytest.mark.parametrize("trained", ["enforced", "free"])
def test_fluents_that_the_demonstrator_does_not_care_about_are_left_alone(trained: str) -> None:
    found = Pursuit().fit(demonstrate(RITE, trained, np.random.default_rng(3)))
    assert set(RITE.concepts()) <= {str(c) for c in found.concepts_}
    assert not any("omen" in str(c) for c in found.concepts_)
    assert all(plan_and_grade(RITE, found, objects) == (1.0, 1.0) for objects in (4, 6))


@pytest.mark.parametrize("trained", ["enforced", "free"])
def test_a_wrong_demonstration_among_six_is_set_aside_and_said_so(trained: str) -> None:
    episodes = demonstrate(RITE, trained, np.random.default_rng(5), count=6, wrong=1)
    found = Pursuit(tolerance=0.2).fit(episodes)
    assert any("demonstration 6 is set aside" in d.reason for d in found.decisions_)
    assert plan_and_grade(RITE, found, 6) == (1.0, 1.0)


def test_without_order_concepts_the_utility_knows_no_order() -> None:
    found = Pursuit(order="none").fit(paper_demonstrations("free"))
    assert {str(c) for c in found.concepts_} == {"all(torch@1)", "some(bamboo@2)", "count(clay@3) = 4"}


def test_what_chance_may_bring_is_avoided_though_no_demonstration_shows_it() -> None:
    found = Pursuit().fit(demonstrations(5, np.random.default_rng(0)))
    assert any("bad" in str(c) for c in found.concepts_)
    assert [d.stage for d in found.decisions_ if d.taken and "bad" in d.concept] == ["avoid"]


def test_every_taken_concept_has_a_recorded_reason() -> None:
    found = Pursuit().fit(paper_demonstrations("enforced"))
    taken = {c for d in found.decisions_ if d.taken for c in d.concept.split("; ")}
    assert {str(c) for c in found.concepts_} <= taken
    assert all(d.reason for d in found.decisions_)


def test_problems_with_other_numbers_of_objects_tell_all_from_exactly_five() -> None:
    rite = Rite((Want("torch", "all"), Want("clay", "exactly", 3)), ("torch", "clay"))
    rng = np.random.default_rng(1)
    episodes = [e for objects in (5, 4) for e in demonstrate(rite, "free", rng, 3, objects)]
    found = Pursuit().fit(episodes)
    assert set(rite.concepts()) <= {str(c) for c in found.concepts_}
    assert plan_and_grade(rite, found, 7) == (1.0, 1.0)


def test_demonstrations_set_aside_no_longer_count() -> None:
    training = ShownPlans(paper_demonstrations("free"))
    training.set_aside([0, 4])
    assert len(training.shown) == 3 == len(training.demonstrated_rows())


def test_an_unknown_order_rule_is_named() -> None:
    with pytest.raises(LearningError, match="did you mean 'closure'"):
        Pursuit(order="closur").fit(paper_demonstrations("free"))  # type: ignore[arg-type]


def test_nothing_to_learn_from_is_an_error() -> None:
    with pytest.raises(LearningError, match="at least one"):
        Pursuit().fit([])


def test_scoring_before_fitting_is_an_error() -> None:
    episodes: list[Episode] = []
    with pytest.raises(NotFittedError, match="call fit"):
        Pursuit().score(episodes)
