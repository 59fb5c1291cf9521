"""Committees: several utilities, each from its own share of the concepts."""

from __future__ import annotations

import numpy as np
import pytest

from meip.committee import CommitteeOptions, learn_committee, relative, share_grammar
from meip.concepts.english import english
from meip.concepts.parser import parse_concept
from meip.domain import Domain, EntityClass, predicate
from meip.errors import LearningError
from meip.experiments.rites import paper_demonstrations
from meip.likelihood import LikelihoodOptions

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
    grammar = share_grammar(1)
    assert grammar.quantifiers == ()
    assert grammar.predicate_mean


@pytest.mark.parametrize(
    "options",
    [{"members": 0}, {"most": 0}, {"share": 0.0}, {"share": 1.5}, {"selection": LikelihoodOptions(steps=0.0)}],
)
def test_impossible_committees_are_refused(options: dict[str, object]) -> None:
    with pytest.raises(LearningError):
        CommitteeOptions(**options)  # type: ignore[arg-type]
