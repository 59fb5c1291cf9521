"""Algorithm 2 as printed: levels, slots, relevance, the threshold, replacement, nothing at a loss, composites."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.packing import Packing

from meip.base.errors import ConceptError, LearningError
from meip.concepts import operations
from meip.concepts.check import slot
from meip.concepts.composites import composites
from meip.concepts.grammar import Grammar
from meip.concepts.operations import Kind, Operation, register_operation
from meip.concepts.parser import parse_concept
from meip.experiments.rites import Order, Rite, Want, demonstrate, grade
from meip.learning.pursuit import Pursuit
from meip.model.demonstrations import Episode, record
from meip.model.graph import StateGraph
from meip.utility.ranking import UtilityRanking
from meip.worlds.ritual import Ritual
from random_worlds import search

RITE = Rite((Want("torch", "all"), Want("bamboo", "exactly", 2)), ("torch", "bamboo"))
DOMAIN = RITE.world("free", 3).domain


@pytest.fixture(scope="module", autouse=True)
def built_in_operations_only() -> Iterator[None]:
    """Whatever other tests registered."""
    own = {name: one for name, one in operations._OPERATIONS.items() if name not in operations.BUILT_IN}
    for name in own:
        del operations._OPERATIONS[name]
    yield
    operations._OPERATIONS.update(own)


def shown(order: Order = "free") -> list[Episode]:
    return demonstrate(RITE, order, np.random.default_rng(1), 5, 3)


def literal(composed: bool = False, **options: Any) -> Pursuit:
    asked = {"pursuit": "literal", "order": "none", **options}
    return Pursuit(Grammar.paper(2, composites=composed), **asked)


@pytest.fixture(scope="module")
def plain() -> Pursuit:
    return literal().fit(shown())


@pytest.fixture(scope="module")
def composed() -> Pursuit:
    return literal(composed=True).fit(shown())


def test_all_levels_are_gone_through_one_after_the_other(plain: Pursuit) -> None:
    stages = [d.stage for d in plain.decisions_]
    assert set(stages) == {"level 1", "level 2"}
    assert stages == sorted(stages)


def test_what_does_not_change_in_the_demonstrations_is_not_tried(plain: Pursuit) -> None:
    tried = {d.concept for d in plain.decisions_}
    assert "some(torch@1)" in tried
    assert not {"some(torch@2)", "all(torch@2)", "some(bamboo@1)"} & tried


@pytest.mark.parametrize("composed", [False, True])
def test_a_slot_that_is_taken_is_closed_at_every_level(composed: bool) -> None:
    rounds = [(state.concepts, info) for state, info in literal(composed).pursue(shown())]
    for (taken, before), (_, after) in itertools.pairwise(rounds):
        tried = [d for d in after["decisions"][len(before["decisions"]) :] if "replaced" not in d.reason]
        closed = {slot(c) for c in taken}
        assert not [d.concept for d in tried if slot(parse_concept(d.concept, DOMAIN)) in closed]
    for level in ("level 1", "level 2"):  # there were others of a slot to choose from
        chosen = [d for d in rounds[-1][1]["decisions"] if d.stage == level]
        slots = [slot(parse_concept(d.concept, DOMAIN)) for d in chosen if d.taken]
        others = [slot(parse_concept(d.concept, DOMAIN)) for d in chosen if not d.taken and "replaced" not in d.reason]
        assert set(slots) & set(others)


def test_a_concept_is_taken_for_a_gain_above_the_threshold_only(plain: Pursuit) -> None:
    gains = [d.gain for d in plain.decisions_ if d.taken]
    assert min(gains) > 0
    between = sorted(gains)[len(gains) // 2]
    stricter = literal(threshold=between).fit(shown())
    assert all(d.gain > between for d in stricter.decisions_ if d.taken)
    assert 0 < len(stricter.concepts_) < len(plain.concepts_)
    assert any("not above the threshold" in d.reason for d in stricter.decisions_)
    assert literal(threshold=1e9).fit(shown()).concepts_ == ()


def test_a_complex_concept_replaces_the_simpler_ones_that_it_makes_useless(plain: Pursuit) -> None:
    gone = {d.concept: d for d in plain.decisions_ if "replaced by" in d.reason}
    assert gone["all(torch@1)"].reason == "replaced by all(torch@1 and not torch@2)"
    assert not set(gone) & {str(c) for c in plain.concepts_}
    with_both = plain.study_.fit([*plain.concepts_, parse_concept("all(torch@1)", DOMAIN)])
    price = plain.kappa
    assert with_both.fit.objective - price < plain.pursued_.trial.fit.objective


def test_nothing_is_taken_at_a_loss_where_our_rule_takes_it() -> None:
    bags = (("heavy", "heavy", "fragile", "plain", "bottle"), ("heavy", "fragile", "fragile", "plain", "bottle"))
    orders = ([1, 0, 3, 2, 4], [0, 2, 1, 3, 4])
    episodes = [Episode(Packing(b), record(Packing(b), o)) for b, o in zip(bags, orders, strict=True)]
    ours = Pursuit(Grammar.paper(2)).fit(episodes)
    printed = literal().fit(episodes)
    assert min(d.gain for d in ours.decisions_ if d.taken and d.concept) < 0
    assert min(d.gain for d in printed.decisions_ if d.taken) > 0


# --- composites ---


def test_conjunctions_found_by_the_pursuit_keep_the_order_of_the_free_world(composed: Pursuit) -> None:
    assert "all(torch@1) and count(bamboo@2) = 2" in {str(c) for c in composed.concepts_}
    for objects in (3, 4):
        graph = StateGraph(RITE.world("free", objects))
        found = search(graph, UtilityRanking([composed.utility_]), method="exact")
        assert grade(RITE, graph.world, [graph.action(a) for a in found.actions]) == (1.0, 1.0)


def counts_only(kinds: tuple[Kind, ...]) -> Kind:
    if kinds != ("count", "count"):
        raise ConceptError(f"it needs two counts, not {', '.join(kinds)}")
    return "boolean"


@pytest.fixture
def twice() -> Iterator[Operation]:
    yield register_operation(
        Operation("twice", (2, 2), counts_only, lambda a, b: np.asarray((a > 0) & (a == 2 * b), dtype=np.float64))
    )
    del operations._OPERATIONS["twice"]


def test_composites_are_of_different_concepts_and_of_the_level_of_their_parts(twice: Operation) -> None:
    atoms = [parse_concept(c, DOMAIN) for c in ("all(torch@1)", "some(torch@1)", "some(bamboo@2)", "count(bamboo@2)")]
    more = parse_concept("count(torch@1)", DOMAIN)
    found = {str(c): c for c in composites(2, {1: [*atoms, more]}, DOMAIN)}
    assert all(c.complexity == 2 for c in found.values())
    assert {"all(torch@1) and some(bamboo@2)", "some(torch@1) or some(bamboo@2)"} <= set(found)
    assert {"twice[count(bamboo@2), count(torch@1)]", "twice[count(torch@1), count(bamboo@2)]"} <= set(found)
    assert {"count(bamboo@2) = count(torch@1)", "count(bamboo@2) - count(torch@1)"} <= set(found)
    assert not any("all(torch@1) and some(torch@1)" in text for text in found)
    assert not any("twice[all" in text or "twice[some" in text for text in found)


def test_an_operation_of_ones_own_is_pursued(twice: Operation) -> None:
    world = Ritual(order="free", stages=2, types=("torch", "bamboo"), objects=4)
    plans = [[(1, "torch", n), (2, "bamboo", 2 * n)] for n in (1, 2, 1, 2)]
    found = literal(composed=True).fit([Episode(world, record(world, plan)) for plan in plans])
    taken = [d for d in found.decisions_ if d.taken]
    best = max(taken, key=lambda d: d.gain)
    assert (best.stage, best.concept) == ("level 2", "twice[count(bamboo@2), count(torch@1)]")


def test_too_many_composites_are_said_and_not_tried() -> None:
    rules = Grammar(composites=True, closure=False, negation=False, scopes=False, max_level=2, max_concepts=60)
    found = Pursuit(rules, pursuit="literal", order="none").fit(shown())
    assert any("more than 60 composites" in d.reason for d in found.decisions_)
    assert not any(" or " in str(c) for c in found.concepts_)


def test_an_unknown_rule_of_pursuit_is_named() -> None:
    with pytest.raises(LearningError, match="did you mean 'literal'"):
        Pursuit(pursuit="litteral").fit(shown())  # type: ignore[arg-type]
