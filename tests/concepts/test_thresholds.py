"""At least so much of a quantity: a predicate made of a function and a number, in the language and among candidates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from meip import ConceptError, Domain, EntityClass, Episode, Facts, World, function, learn, predicate, record
from meip.concepts.bank import ConceptBank
from meip.concepts.english import english
from meip.concepts.grammar import Grammar
from meip.concepts.language import AtLeast, Primitive, constants
from meip.concepts.parser import parse_concept, parse_term
from meip.learning.evidence import Evidence
from meip.learning.thresholds import thresholds
from meip.model.choices import replay_all

DOMAIN = Domain(
    "fish",
    (EntityClass("fish", "fish"),),
    (
        function("size", "fish", static=True, phrase="the size of {0}"),
        predicate("kept", "fish", phrase="{0} is kept"),
        predicate("seen", "fish", phrase="{0} was looked at"),
        function("fuel", phrase="the fuel"),
    ),
)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("all(size >= 0.5)", "all fish are such that the size of them is at least 0.5"),
        ("some(kept and not size >= 30)", "some fish is kept and the size of it is below 30"),
        ("some(fuel >= 0.25)", "the fuel is at least 0.25"),
        ("count(size >= -1.5) = 2", "exactly 2 fish are such that the size of them is at least -1.5"),
    ],
)
def test_thresholds_are_read_written_and_said(text: str, words: str) -> None:
    concept = parse_concept(text, DOMAIN)
    assert str(concept) == text and parse_concept(str(concept), DOMAIN) == concept
    assert english(concept, DOMAIN) == words


def test_a_number_in_a_term_counts_as_a_primitive_does() -> None:
    concept = parse_concept("some(kept and size >= 30)", DOMAIN)
    assert concept.complexity == 3 and constants(concept) == (30.0,)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("some(kept >= 2)", "kept is a predicate, but >= needs a real-valued function"),
        ("some(size >= kept)", "expected a number after `>=`"),
        ("some(size >= 1e999)", "finite number"),
    ],
)
def test_what_is_no_threshold_is_refused(text: str, error: str) -> None:
    with pytest.raises(ConceptError, match=error):
        parse_concept(text, DOMAIN)


def test_the_bank_has_named_thresholds_and_no_others() -> None:
    assert not [t for t in ConceptBank(DOMAIN, Grammar(max_level=2)).terms(2) if isinstance(t, AtLeast)]
    bank = ConceptBank(DOMAIN, Grammar(max_level=3, thresholds=(("size", 30.0),)))
    assert AtLeast(Primitive("size"), 30.0) in bank.terms(2)
    assert parse_concept("some(kept and not size >= 30)", DOMAIN) in bank.concepts(3)


State = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Fishing(World):
    """One fish after the other is kept, or let go."""

    sizes: tuple[float, ...] = (25.0, 40.0)

    @property
    def domain(self) -> Domain:
        return DOMAIN

    @property
    def horizon(self) -> int:
        return len(self.sizes) + 1

    def initial(self) -> Sequence[tuple[float, State]]:
        return [(1.0, (0, ()))]

    def actions(self, state: State) -> Sequence[str]:
        return ["keep", "let go"] if state[0] < len(self.sizes) else []

    def outcomes(self, state: State, action: str) -> Sequence[tuple[float, State]]:
        now, kept = state
        return [(1.0, (now + 1, (*kept, now) if action == "keep" else kept))]

    def facts(self, state: State) -> Facts:
        now, kept = state
        tables = {"kept": list(kept), "seen": list(range(now)), "fuel": 1.0}
        return Facts.build(DOMAIN, {"fish": len(self.sizes)}, tables)

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"fish": len(self.sizes)}, {"size": list(self.sizes)})


def shown(least: float = 30.0) -> list[Episode]:
    rng, found = np.random.default_rng(3), []
    for _ in range(5):
        world = Fishing(tuple(float(s) for s in rng.permutation([12.0, 21.0, 27.0, 33.0, 38.0, 47.0])[:5]))
        plan = ["keep" if size >= least else "let go" for size in world.sizes]
        found.append(Episode(world, record(world, plan)))
    return found


def test_a_function_of_two_arguments_can_be_turned() -> None:
    two = Domain("far", (EntityClass("town"),), (function("way", "town", "town"),))
    term = parse_term("inverse(way) >= 3", two)
    assert str(term) == "inverse(way) >= 3"


def test_values_are_compared_as_written() -> None:
    world = Fishing((25.0, 40.0, 30.0))
    evidence = Evidence(replay_all([Episode(world, record(world, ["keep", "keep", "let go"]))]))
    texts = ["count(size >= 30)", "count(kept and size >= 30)", "some(kept and not size >= 30)", "some(fuel >= 1)"]
    table = evidence.denotation.matrix([parse_concept(text, DOMAIN) for text in texts])[0]
    assert table[evidence.paths[0]].tolist() == [[2, 0, 0, 1], [2, 0, 1, 1], [2, 1, 1, 1], [2, 1, 1, 1]]


def test_the_number_is_read_off_the_choices() -> None:
    found = thresholds(Evidence(replay_all(shown())))
    assert [name for name, _ in found] == ["size"] * len(found)
    assert 27.0 < min(number for _, number in found) <= 33.0


def test_what_is_too_small_is_let_go_in_worlds_never_seen() -> None:
    task = learn(shown())
    assert task.provenance.evidence["thresholds"]
    plan = task.plan(Fishing((26.0, 34.0, 10.0, 50.0, 22.0, 41.0, 36.0)))
    assert list(plan.actions) == ["let go", "keep", "let go", "keep", "let go", "keep", "keep"]
