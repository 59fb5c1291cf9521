"""Promise 6, laws that hold of what a user touches: tau and rewards of plans, concepts as text, renamed things. Each
law is tried harder beside its module (`tests/utility`, `tests/concepts`); that plans are drawn in proportion to
exp(lambda tau) is in `tests/search/test_plans.py` and `tests/tasks/test_sample.py`."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import kendalltau

from meip import Task, learn
from meip.base import documents
from meip.concepts.parser import parse_concept
from meip.experiments.rites import paper_demonstrations
from meip.utility.ordering import kendall_tau, rewards

ranks = st.lists(st.integers(-50, 50), min_size=2, max_size=12).map(lambda given: np.array(given, np.float64))


@pytest.fixture(scope="module")
def task() -> Task:
    return learn(paper_demonstrations("free"), objective="plans")


@given(ranks)
@settings(max_examples=60, deadline=None)
def test_tau_keeps_its_laws(g: np.ndarray) -> None:
    tau = kendall_tau(g)
    assert -1 <= tau <= 1
    assert kendall_tau(g[::-1].copy()) == pytest.approx(-tau)
    assert kendall_tau(np.arctan(g)) == kendall_tau(g**3) == tau
    assert sum(rewards(g)) == pytest.approx(tau)
    if len(set(g.tolist())) == len(g):
        assert tau == pytest.approx(kendalltau(np.arange(len(g)), g).statistic)


def test_every_concept_of_a_task_parses_back_from_its_text(task: Task) -> None:
    for learned in (task, learn(paper_demonstrations("free"))):
        for concept in learned.concepts:
            assert parse_concept(str(concept), learned.domain) == concept


def test_things_may_have_other_names(task: Task) -> None:
    """The same ritual with its kinds of things called otherwise: the same task in those names."""
    names = {"torch": "lamp", "bamboo": "reed", "clay": "bowl"}
    text = documents.canonical([documents.dump(episode.demonstration) for episode in paper_demonstrations("free")])
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    from meip import Demonstration, Episode, load_problem

    shown = [documents.parse(one, "demonstration") for one in documents.load_json(text, "renamed")]
    assert all(isinstance(one, Demonstration) for one in shown)
    renamed = learn([Episode(load_problem(one.problem), one) for one in shown], objective="plans")
    told = [str(concept) for concept in task.concepts]
    for old, new in names.items():
        told = [one.replace(old, new) for one in told]
    assert [str(concept) for concept in renamed.concepts] == told
    assert renamed.tau_demo == task.tau_demo
