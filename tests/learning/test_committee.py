"""Committees: several utilities, each from its own share of the concepts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from line_world import Line
from meip import learn, record
from meip.base.errors import LearningError
from meip.concepts.english import english
from meip.concepts.grammar import Grammar
from meip.concepts.parser import parse_concept
from meip.experiments.rites import paper_demonstrations
from meip.learning.automatic import choose_learner
from meip.learning.committee import CommitteeOptions, learn_committee, relative
from meip.learning.likelihood import LikelihoodOptions
from meip.learning.shown import ShownPlans
from meip.model.choices import replay_all
from meip.model.demonstrations import Episode
from meip.model.domain import Domain, EntityClass, predicate
from meip.model.graph import StateGraph
from meip.search.pool import Pool, PoolOptions

FEW = CommitteeOptions(members=4, share=0.5, most=3)


def test_the_same_seed_gives_the_same_committee_and_another_seed_another_one() -> None:
    episodes = paper_demonstrations("free")
    first, again = learn_committee(episodes, FEW), learn_committee(episodes, FEW)
    assert first.utilities == again.utilities
    assert first.evidence["chosen"] == again.evidence["chosen"]
    other = learn_committee(episodes, CommitteeOptions(members=4, share=0.5, most=3, seed=1))
    assert other.utilities != first.utilities


def test_every_member_ranks_the_demonstrations_upwards_with_few_concepts() -> None:
    found = learn_committee(paper_demonstrations("free"), FEW)
    assert len(found.utilities) == 4
    assert all(1 <= len(utility.terms) <= 3 for utility in found.utilities)
    assert np.mean(found.evidence["tau"]) > 0.9


def test_members_by_the_ranking_svm_use_the_same_concepts_with_other_weights() -> None:
    episodes = paper_demonstrations("free")
    likelihood = learn_committee(episodes, FEW)
    svm = learn_committee(episodes, CommitteeOptions(members=4, share=0.5, most=3, objective="svm"))
    assert svm.evidence["chosen"] == likelihood.evidence["chosen"]
    assert svm.utilities != likelihood.utilities
    assert np.mean(svm.evidence["tau"]) > 0.9


def test_progress_is_told_member_by_member() -> None:
    told: list[int] = []
    learn_committee(paper_demonstrations("free"), FEW, lambda info: told.append(info["member"]))
    assert told == [0, 1, 2, 3, 4]


def test_a_relative_concept_is_written_with_the_initial_value_and_read_aloud() -> None:
    domain = Domain("d", (EntityClass("thing"),), (predicate("red", "thing", phrase="{0} is red"),))
    found = relative(parse_concept("mean(red)", domain))
    assert str(found) == "mean(red) - initial[mean(red)]"
    assert "initial" in english(found, domain) or "start" in english(found, domain)


def test_shares_take_the_place_of_counts() -> None:
    grammar = Grammar.shares(1)
    assert grammar.quantifiers == ()
    assert grammar.predicate_mean


@pytest.mark.parametrize(
    "options",
    [{"members": 0}, {"most": 0}, {"share": 0.0}, {"share": 1.5}, {"selection": LikelihoodOptions(steps=0.0)}],
)
def test_impossible_committees_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(LearningError):
        CommitteeOptions(**options)  # type: ignore[arg-type]


# --- through `learn` ---


def test_members_learned_in_other_processes_are_the_same() -> None:
    episodes = paper_demonstrations("free")
    assert learn_committee(episodes, FEW, jobs=2).utilities == learn_committee(episodes, FEW).utilities


def test_a_committee_is_asked_for_by_its_objective_and_tells_its_options() -> None:
    found = learn(paper_demonstrations("free"), objective="history", committee=4, concept_share=0.5, max_concepts=3)
    assert found.members == learn_committee(paper_demonstrations("free"), FEW).utilities
    assert found.provenance.objective == "history"
    assert found.provenance.options["max_concepts"] == 3
    assert found.provenance.options["grammar"]["predicate_mean"]
    assert "seconds" not in found.provenance.evidence
    assert [d.concept for d in found.decisions] == found.provenance.evidence["chosen"][0]
    assert found.proposal is None  # the ritual lists its actions


def test_a_killed_committee_goes_on_with_the_members_that_are_missing(tmp_path: Path) -> None:
    def stop(info: dict[str, Any]) -> None:
        if info.get("done") == 2:
            raise KeyboardInterrupt

    options = {"objective": "history", "committee": 4, "concept_share": 0.5}
    folder = tmp_path / "checkpoint"
    with pytest.raises(KeyboardInterrupt):
        learn(paper_demonstrations("free"), checkpoint=folder, progress=stop, **options)
    assert len(list(folder.glob("member-*.json"))) == 2
    resumed = learn(paper_demonstrations("free"), checkpoint=folder, **options)
    assert resumed == learn(paper_demonstrations("free"), **options)
    assert not folder.exists()


def test_whole_plans_may_be_compared_as_well() -> None:
    episodes = paper_demonstrations("free")
    steps, plans = learn_committee(episodes, FEW), learn_committee(episodes, replace(FEW, branches=30))
    assert plans.evidence["chosen"] == steps.evidence["chosen"]
    assert plans.utilities != steps.utilities
    assert np.mean(plans.evidence["tau"]) > 0.9


def test_listed_actions_are_choices_and_others_are_compared_by_a_committee() -> None:
    listed = ShownPlans(paper_demonstrations("free"))
    assert choose_learner(listed)[0] == "choices"
    hidden = ShownPlans([Episode(Line(seen=3), record(Line(seen=3), [0.25, 0.5]))])
    learner, why = choose_learner(hidden)
    assert learner == "history"
    assert "2 of 2 demonstrated steps are not among the actions" in why


def test_a_world_that_proposes_is_widened_to_learn_and_prepared_to_plan() -> None:
    shown = [Episode(Line(), record(Line(), moves)) for moves in ([0.25, 0.5], [0.3, 0.4])]
    wider = replay_all(shown).widened(seed=2)
    assert wider.proposal == {"moves": [0.25, 0.5, 0.3, 0.4]}
    assert [len(graph.world.actions(0.0)) for graph in wider.graphs] == [14, 14]
    assert replay_all(paper_demonstrations("free")).widened().proposal is None
    task = learn(shown, committee=3, concept_share=1.0)
    assert task.provenance.objective == "history"
    assert task.proposal == wider.proposal
    assert task.plan(Line(), horizon=2).actions[0] in (0.25, 0.5, 0.3, 0.4)


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
