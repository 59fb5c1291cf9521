"""Curves: the dense view of the same choices, and how much of it counts; worlds that cannot list what was shown."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from line_world import Line
from meip import Task, learn, record
from meip.base.errors import LearningError
from meip.concepts.english import english
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.experiments.rites import paper_demonstrations
from meip.learning.curves import Curves, relative
from meip.learning.evidence import Evidence
from meip.model.choices import replay_all
from meip.model.demonstrations import Episode
from meip.model.domain import Domain, EntityClass, predicate
from meip.model.graph import StateGraph
from meip.search.pool import Pool, PoolOptions
from meip.utility.preferences import summed
from meip.utility.terms import UtilityTerm

MOVES = tuple(k / 4 for k in range(1, 9))


def middling(count: int = 8, seed: int = 0) -> list[Episode]:
    """Of many moves, somebody takes those that end near 1, and then those that end near 2: neither more nor less."""
    rng = np.random.default_rng(seed)
    found = []
    for _ in range(count):
        begin = float(rng.uniform(-0.2, 0.2))
        world = Line(proposed=MOVES, begin=begin, horizon=3)
        first = min(MOVES, key=lambda m: abs(begin + m - 1))
        second = min(MOVES, key=lambda m: abs(begin + first + m - 2))
        found.append(Episode(world, record(world, [first, second])))
    return found


@cache
def fitted() -> tuple[Evidence, Curves]:
    evidence = Evidence(replay_all(middling()))
    concept: Concept = parse_concept("max(place)", evidence.domain)
    found = Curves(evidence, [concept])
    found.fit(0)
    return evidence, found


def test_a_real_quantity_has_a_curve_and_one_relative_to_the_start() -> None:
    _, found = fitted()
    assert [str(term.concept) for term in found.terms] == ["max(place)", "max(place) - initial[max(place)]"]
    assert found.changes.shape[1] == sum(term.size for term in found.terms) + 1


def test_what_alternatives_change_of_the_curves_adds_up_to_what_they_are_worth() -> None:
    _, found = fitted()
    worth = found.changes @ found.weights - found.changes[:, -1] * found.weights[-1]
    assert found.each(found.weights).sum(axis=1) == pytest.approx(worth)


def test_the_curves_are_left_alone_where_they_foresee_no_better() -> None:
    evidence, found = fitted()
    perfect = np.zeros(len(evidence.rows))
    perfect[evidence.chosen] = 20.0
    assert found.weighed(perfect).share == 0
    guess = found.weighed(np.zeros(len(evidence.rows)))
    assert guess.share > 0
    report = guess.report
    assert report["both"] <= report["curves"] + 1e-9 < report["sparse"]
    assert report["better_by"] > report["standard_error"]


def test_worlds_without_real_quantities_have_no_curves() -> None:
    evidence = Evidence(replay_all(paper_demonstrations("free")))
    concept: Concept = parse_concept("count(torch@1)", evidence.domain)
    assert len(Curves(evidence, [concept])) == 0
    assert learn(paper_demonstrations("free"), committee=2).provenance.evidence["views"] == {}
    with pytest.raises(LearningError, match=r"view='curves' has no effect here: .*no real quantity changes"):
        learn(paper_demonstrations("free"), view="curves")


@cache
def by_curves() -> Task:
    return learn(middling(), view="curves", committee=2)


def test_a_view_may_be_asked_for_and_says_what_spoke_for_it() -> None:
    views = by_curves().provenance.evidence["views"]
    assert views["share_of_curves"] == 1.0
    assert by_curves().provenance.options["view"] == "curves"
    assert {term.kind for term in by_curves().members[0].terms} == {"real"}
    sparse = learn(middling(), view="sparse", committee=2)
    assert sparse.provenance.evidence["views"] == {}
    assert sparse.members != by_curves().members


def test_a_plan_by_curves_says_why_and_how_sure_it_is() -> None:
    plan = by_curves().plan(Line(proposed=MOVES, begin=0.1, horizon=3))
    assert plan.method == "choices"
    assert abs(0.1 + sum(plan.actions[:1]) - 1) < 0.4  # the middle of what is likely, on a grid of .25
    assert all(step.why and 0 <= step.confidence <= 1 for step in plan.steps)


def test_the_same_seed_gives_the_same_curves_and_another_seed_others() -> None:
    again, other = (learn(middling(), view="curves", committee=2, seed=seed) for seed in (0, 1))
    assert again == by_curves()
    assert other.members != again.members


def test_a_line_and_a_curve_of_one_concept_are_one_curve() -> None:
    concept = parse_concept("max(place)", Line().domain)
    curve = UtilityTerm(concept, "real", (0.0, 1.0, 3.0), (0.0, 2.0, 1.0))
    line = UtilityTerm(concept, "linear", (1.0,), (0.5,))
    for terms in ((curve, line), (line, curve)):
        (both,) = summed(terms).terms
        assert both == UtilityTerm(concept, "real", (0.0, 1.0, 3.0), (-0.5, 2.0, 2.0))


def test_a_relative_concept_is_written_with_the_initial_value_and_read_aloud() -> None:
    domain = Domain("d", (EntityClass("thing"),), (predicate("red", "thing", phrase="{0} is red"),))
    found = relative(parse_concept("mean(red)", domain))
    assert str(found) == "mean(red) - initial[mean(red)]"
    assert "initial" in english(found, domain) or "start" in english(found, domain)


def test_shares_take_the_place_of_counts() -> None:
    grammar = Grammar.shares(1)
    assert grammar.quantifiers == ()
    assert grammar.predicate_mean


# --- worlds that cannot list what was shown ---


def test_a_world_that_proposes_is_widened_to_learn_and_prepared_to_plan() -> None:
    shown = [Episode(Line(), record(Line(), moves)) for moves in ([0.25, 0.5], [0.3, 0.4])]
    wider = replay_all(shown).widened(seed=2)
    assert wider.proposal == {"moves": [0.25, 0.5, 0.3, 0.4]}
    assert [len(graph.world.actions(0.0)) for graph in wider.graphs] == [14, 14]
    assert replay_all(paper_demonstrations("free")).widened().proposal is None
    for objective in ("auto", "history", "plans"):
        task = learn(shown, objective=objective)
        assert task.proposal == wider.proposal
        assert task.plan(Line(), horizon=2).actions[0] in (0.25, 0.5, 0.3, 0.4)


def test_whether_an_episode_is_over_is_known_without_listing_all_actions() -> None:
    graph = StateGraph(Line(seen=2))
    assert not graph.over(graph.intern(0.0))


def test_plans_branch_off_steps_that_the_world_does_not_list() -> None:
    graph = StateGraph(Line(seen=4, horizon=4))
    shown = tuple(graph.intern(place) for place in (0.0, 0.25, 0.75))
    pool = Pool(graph, shown[0], 4, PoolOptions(exact_limit=1, rollouts=40, samples=0))
    pool.branch(shown, 40)
    sharing = pool.plans.states[:, 1] == shown[1]
    assert sharing.sum() == 40
    mass = np.exp(pool.log_weight)
    assert mass[~sharing].sum() == pytest.approx(1.0)
    assert 0.1 < mass[sharing].sum() <= 0.2  # it counts as a fifth action
