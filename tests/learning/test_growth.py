"""Which concepts are looked at: whole banks where they are small, else what the likelihood rises along."""

from __future__ import annotations

import pickle
import tracemalloc
from functools import cache

import numpy as np
import pytest

from meip.base.parallel import Workers
from meip.concepts.grammar import Grammar
from meip.concepts.language import Conjunction, Negation, Permutation, Primitive, Quantified, walk
from meip.experiments.gallery import demonstrate, everyday_task
from meip.learning import forms
from meip.learning.evidence import Evidence
from meip.learning.growth import Growth, _Screen, _screened
from meip.learning.offers import offered
from meip.learning.study import choice_grammar
from meip.model.choices import replay_all


@cache
def evidence(name: str = "laundry") -> Evidence:
    rng, task = np.random.default_rng([10, 1]), everyday_task(name)
    return Evidence(replay_all([demonstrate(task, rng) for _ in range(5)]))


def grammar() -> Grammar:
    return choice_grammar(evidence().domain)


def test_a_small_bank_is_taken_whole_and_nothing_was_cut() -> None:
    growth = Growth(evidence(), grammar())
    found = growth.grow()
    assert len(found) == sum(level["concepts"] for level in growth.levels) == len(set(found))
    assert growth.cuts == []


def test_of_a_large_level_those_are_kept_along_which_the_likelihood_rises_most() -> None:
    everything = Growth(evidence(), grammar()).grow()
    growth = Growth(evidence(), grammar(), budget=600)
    found = growth.grow()
    assert len(found) == 600
    simple = sum(level["concepts"] for level in growth.levels[:-1])
    last = everything[simple:]
    assert found[:simple] == everything[:simple]
    values, missing = evidence().denotation.matrix(last)
    changes = evidence().change(np.where(missing, 0.0, values))
    steep = np.abs(growth._residual_of(everything[:simple]) @ changes) / np.maximum(
        np.linalg.norm(changes, axis=0), 1e-12
    )
    kept = np.isin([str(c) for c in last], [str(c) for c in found[simple:]])
    columns = {column.tobytes(): s for column, s in zip(np.round(changes, 9).T + 0.0, steep, strict=True)}
    worst = steep[kept].min()
    assert sum(s > worst + 1e-9 for s in columns.values()) < kept.sum()  # of equal columns one
    assert growth.cuts == [f"level 3: {600 - simple} of {len(last)} concepts were kept"]
    assert Growth(evidence(), grammar(), budget=600).grow() == found


def test_of_too_many_terms_some_are_built_on_and_that_is_said() -> None:
    growth = Growth(evidence(), grammar(), terms=20)
    growth.grow()
    assert growth.levels[1]["terms_kept"] == 20 < growth.levels[1]["terms"]
    assert any("terms were built on" in cut for cut in growth.cuts)


def test_a_symmetric_relation_needs_one_concept_for_both_directions() -> None:
    shown = evidence("seating")
    roles = [f for f in shown.domain.predicates if f.arity == 2 and f.classes[0] == f.classes[1]]
    assert roles
    found = Growth(shown, choice_grammar(shown.domain)).grow()
    for role in roles:
        there, back = Primitive(role.name), Permutation(Primitive(role.name), (1, 0))
        one, other = shown.denotation.fingerprints((there, back))
        assert one == other
        assert not any(back in walk(concept) for concept in found)


def test_every_form_is_the_concept_that_it_says() -> None:
    shown = evidence()
    concepts = Growth(shown, grammar()).grow()[:200]
    values, missing = shown.denotation.matrix(concepts)
    values = np.where(missing, np.nan, values)
    found = offered(shown, concepts, values).forms
    truths = [j for j, row in enumerate(found.rows) if row.form in forms.TRUE_OR_FALSE]
    assert {found.rows[j].form for j in truths} >= {forms.TRUTH, forms.EQUAL, forms.LEAST, forms.MORE, forms.SAME}
    said, _ = shown.denotation.matrix([found.concept(j) for j in truths])
    assert np.array_equal(said > 0.5, found.take(truths).columns(values) > 0.5)


def test_either_of_two_terms_is_among_the_candidates() -> None:
    """p or q is neither p nor q, turned round: of the same size in every choice."""
    shown = evidence()
    p, q = [Primitive(f.name) for f in shown.domain.predicates if f.arity == 1 and not f.static][:2]
    either = Negation(Conjunction(Negation(p), Negation(q)))
    concepts = Growth(shown, grammar()).grow()
    values, missing = shown.denotation.matrix(concepts)
    offers = offered(shown, concepts, np.where(missing, np.nan, values))
    for quantifier in ("some", "all", "count"):
        wanted = shown.change(shown.denotation.matrix([Quantified(quantifier, either)])[0])[:, 0]
        if not wanted.any():
            continue
        sizes = np.linalg.norm(offers.changes, axis=0) * np.linalg.norm(wanted)
        assert np.abs(wanted @ offers.changes / np.maximum(sizes, 1e-12)).max() > 1 - 1e-9


def test_candidates_are_compared_without_a_table_of_those_that_are_left_out() -> None:
    concepts = Growth(evidence(), grammar(), budget=1500).grow()
    values, missing = evidence().denotation.matrix(concepts)
    values = np.where(missing, np.nan, values)
    tracemalloc.start()
    try:
        found = offered(evidence(), concepts, values)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < found.changes.nbytes + 4 * values.nbytes


@pytest.mark.parametrize("jobs", [2, 3])
def test_the_same_concepts_grow_and_the_same_is_offered_whoever_screens_them(jobs: int) -> None:
    alone = Growth(evidence(), grammar(), budget=600, terms=20)
    with Workers(jobs) as workers:
        growth = Growth(evidence(), grammar(), budget=600, terms=20, workers=workers)
        assert growth.grow() == alone.grow() and growth.levels == alone.levels
        values, _ = evidence().denotation.matrix(alone.found)
        one, several = (
            offered(evidence(), alone.found, values),
            offered(evidence(), alone.found, values, workers=workers),
        )
    assert one.forms.rows == several.forms.rows and one.changes.tobytes() == several.changes.tobytes()


def test_what_concepts_are_screened_by_can_be_sent_and_says_the_same_there() -> None:
    growth = Growth(evidence(), grammar())
    concepts = growth.grow()
    screen = _Screen(growth.denotation, evidence().effects, np.linspace(-1, 1, len(evidence().rows)))
    there = pickle.loads(pickle.dumps(screen))
    (one, keys), (two, same) = _screened(concepts, screen), _screened(concepts, there)
    assert one.tobytes() == two.tobytes() and keys == same
    assert len(pickle.dumps(screen)) < 4e6  # worlds stay at home
