"""The learner and the pursuit as estimators: the contract, sampled pools, recorded decisions, the paper's objective."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from meip import Episode, Grammar, LearnOptions, learn, record
from meip.base.errors import LearningError, NotFittedError
from meip.concepts.parser import parse_concept
from meip.experiments.rites import PAPER, Order, grade, paper_demonstrations
from meip.learning.generated import Generated
from meip.learning.learner import Learner
from meip.learning.pursuit import Pursuit
from meip.model.graph import StateGraph
from meip.search.branches import sample_branches
from meip.search.plans import enumerate_plans
from meip.search.pool import PoolOptions
from meip.search.query import Query
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility
from meip.worlds.ritual import Ritual
from random_worlds import search

WANTED = ("all(torch@1)", "some(bamboo@2)", "count(clay@3) = 4")
ORDER = (
    "some(bamboo@2) and not all(torch@1)",
    "(count(clay@3) = 4) and not some(bamboo@2)",
    "(count(clay@3) = 4) and not all(torch@1)",
)
SAMPLED = PoolOptions(exact_limit=0, rollouts=300, samples=50)


def planned(utility: Any, objects: int) -> tuple[float, float]:
    graph = StateGraph(Ritual(objects=objects))
    return grade(
        PAPER, graph.world, [graph.action(a) for a in search(graph, UtilityRanking([utility]), method="exact").actions]
    )


@pytest.mark.parametrize("made", [Learner(WANTED), Pursuit(tolerance=0.1)])
def test_estimators_can_be_cloned_refitted_and_asked_too_early(made: Any) -> None:
    copy = clone(made)
    assert copy is not made
    assert copy.get_params() == made.get_params()
    with pytest.raises(NotFittedError, match="call fit"):
        copy.score(paper_demonstrations("enforced"))
    episodes = paper_demonstrations("enforced")
    assert copy.fit(episodes) is copy
    first = copy.utility_
    assert copy.fit(episodes).utility_ == first
    assert copy.score(episodes) == pytest.approx(copy.tau_)
    assert "utility_" not in vars(clone(copy))
    with pytest.raises(LearningError, match="did you mean"):
        copy.set_params(alphaa=1.0)


def test_what_differs_from_the_defaults_is_shown() -> None:
    assert repr(Learner(alpha=0.1)) == "Learner(alpha=0.1)"


def test_no_demonstrations_are_refused() -> None:
    with pytest.raises(LearningError, match="no demonstrations"):
        Learner(WANTED).fit([])
    with pytest.raises(LearningError, match="likelihood"):
        Learner(WANTED, objective="likelyhood").fit(paper_demonstrations("enforced"))  # type: ignore[arg-type]


@pytest.mark.parametrize("order", ["enforced", "free"])
def test_learning_from_sampled_plans_comes_near_learning_from_all(order: str) -> None:
    episodes = paper_demonstrations(order)
    exact = Learner((*WANTED, *ORDER)).fit(episodes)
    rounds = list(Learner((*WANTED, *ORDER), pool=SAMPLED).learn(episodes))
    assert 2 <= len(rounds) <= 8
    sizes = [info["pool"][0] for _, info in rounds]
    assert sizes == [300 + 50 * k for k in range(len(rounds))]  # grown between rounds, never discarded
    assert rounds[-1][0].best.fit.objective == pytest.approx(exact.objective_, abs=2.0)
    assert rounds[-1][0].best.tau() == exact.tau_ == 1.0
    assert planned(rounds[-1][0].best.utility, 6) == (1.0, 1.0)


def test_the_pursuit_finds_the_concepts_from_sampled_plans_too() -> None:
    found = Pursuit(pool=SAMPLED).fit(paper_demonstrations("free"))
    wanted = {parse_concept(text, Ritual().domain) for text in WANTED}
    assert wanted <= set(found.concepts_)
    assert planned(found.utility_, 5) == (1.0, 1.0)


def test_every_decision_of_the_pursuit_is_recorded_with_its_reason() -> None:
    found = Pursuit().fit(paper_demonstrations("free"))
    assert [d.step for d in found.decisions_] == list(range(1, len(found.decisions_) + 1))
    assert all(d.reason for d in found.decisions_)
    taken = {d.concept for d in found.decisions_ if d.taken and d.concept}
    assert taken == {str(c) for c in found.concepts_}
    assert any(not d.taken for d in found.decisions_)


def test_without_order_concepts_the_utility_is_additive() -> None:
    found = Pursuit(order="none").fit(paper_demonstrations("free"))
    assert set(found.concepts_) == {parse_concept(text, Ritual().domain) for text in WANTED}
    with pytest.raises(LearningError, match="closure"):
        Pursuit(order="closed").fit(paper_demonstrations("free"))  # type: ignore[arg-type]


def always_right(utility: Utility) -> bool:
    """Is every plan of the free world that is best by the bare tau right, in what is offered and in its order?"""
    world = PAPER.world("free", 5)
    graph = StateGraph(world)
    plans = enumerate_plans(graph, 0, 4, 60_000)
    g = UtilityRanking([utility])(graph)[:, 0][plans.states]
    taus = np.array([kendall_tau(row) for row in g])
    best = np.flatnonzero(taus >= taus.max() - 1e-9)
    graded = [grade(PAPER, world, [graph.action(int(a)) for a in plans.actions[i]]) for i in best]
    return bool(np.min(graded) > 1 - 1e-9)


@pytest.mark.parametrize("trained", ["enforced", "free"])
def test_our_ranking_svm_learns_the_order_in_either_world(trained: str) -> None:
    found = Learner((*WANTED, *ORDER), objective="svm").fit(paper_demonstrations(trained))
    assert found.tau_ == 1.0
    assert always_right(found.utility_)


@pytest.mark.parametrize("trained", ["enforced", "free"])
def test_the_labels_as_printed_learn_the_order_from_fifty_samples(trained: Order) -> None:
    given, episodes = (*WANTED, *ORDER), paper_demonstrations(trained)
    tasks = [learn(episodes, objective="svm-literal", concepts=given, seed=s) for s in range(3)]
    assert sum(always_right(task.members[0]) for task in tasks) >= 2


def test_the_paper_keeps_the_last_round_whatever_it_is() -> None:
    learner = Learner((*WANTED, *ORDER), objective="svm-literal", generated=Generated.paper(), rounds=3)
    rounds = [r for r, _ in learner.learn(paper_demonstrations("free"))]
    assert rounds[-1].best is rounds[-1].trial
    task = learn(paper_demonstrations("free"), LearnOptions.paper(concepts=(*WANTED, *ORDER)))
    *_, (last, _) = Learner((*WANTED, *ORDER), objective="svm-literal", generated=Generated.paper()).learn(
        paper_demonstrations("free")
    )
    assert task.members[0] == last.trial.utility


def test_every_option_of_the_papers_method_is_in_the_provenance() -> None:
    episodes = paper_demonstrations("enforced")
    given = learn(episodes, LearnOptions.paper(concepts=WANTED)).provenance
    assert given.objective == "svm-literal"
    assert given.options["generated"] == {
        "plans": 5, "sampler": "tree", "iterations": 3000, "exploration": 1.0, "forget": True
    }  # fmt: skip
    assert "pursuit" not in given.options
    pursued = learn(episodes, LearnOptions.paper()).provenance.options
    assert (pursued["pursuit"], pursued["threshold"], pursued["order"]) == ("literal", 0.0, "none")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"objective": "plans", "generated": Generated(plans=5)}, "only a Ranking SVM generates plans"),
        ({"objective": "plans", "threshold": 1.0}, "it is of pursuit='literal'"),
        ({"objective": "plans", "pursuit": "literal", "tolerance": 0.2}, "sets no demonstration aside"),
        ({"objective": "svm", "pursuit": "literal", "concepts": WANTED}, "the concepts are given"),
        ({"grammar": Grammar.paper(2, composites=True)}, "composites have no effect here"),
    ],
)
def test_options_of_the_paper_without_effect_are_refused(options: dict[str, Any], message: str) -> None:
    with pytest.raises(LearningError, match=message):
        learn(paper_demonstrations("free"), **options)


@pytest.mark.parametrize("wrong", [{"sampler": "tre"}, {"plans": 0}, {"exploration": 1.0}, {"iterations": 9}])
def test_generated_plans_are_described_by_what_has_an_effect(wrong: dict[str, Any]) -> None:
    with pytest.raises(LearningError, match=next(iter(wrong)) if "plans" not in wrong else "at least 1"):
        Generated(**wrong)


def test_plans_of_a_tree_are_drawn_by_the_values_of_its_branches() -> None:
    """Where everything was tried often, a plan of two states is drawn in proportion to exp(tau)."""
    graph = StateGraph(Ritual(stages=1, types=("torch",), objects=2))
    g = UtilityRanking([Learner(["all(torch@1)"]).fit([_all_torches(graph)]).utility_])
    plans = sample_branches(graph, g, 0, 4000, Query(horizon=2, iterations=3000, scale=0.0, exploration=1.0))
    tau = {plan: kendall_tau(g(graph)[list(plan), 0]) for plan in set(plans)}
    total = sum(np.exp(t) for t in tau.values())
    assert len(tau) == len(graph.action_numbers(0)) == 3
    assert all(plans.count(plan) / 4000 == pytest.approx(np.exp(t) / total, abs=0.04) for plan, t in tau.items())


def _all_torches(graph: StateGraph) -> Episode:
    return Episode(graph.world, record(graph.world, [(1, "torch", 2)]))
