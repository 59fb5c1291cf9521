"""The bank of concepts against an independent enumeration, its rules, its caps, and selection by values."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from meip.base.errors import ConceptError
from meip.concepts.bank import ConceptBank
from meip.concepts.check import kind, slot
from meip.concepts.english import english
from meip.concepts.grammar import Grammar
from meip.concepts.language import (
    Aggregated,
    Closure,
    Composition,
    Concept,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
    Term,
)
from meip.concepts.parser import parse_concept
from meip.learning.selection import deduplicate, exactly_seen, relevant
from meip.model.domain import Domain, EntityClass, function, predicate

# --- brute force: terms as nested tuples and sets in which obvious twins coincide by construction ---

Form = (
    Any  # ("r", name, flipped) ("p", name) ("not", x) ("and", {..}) ("star", x) ("some"/"all", R, P) ("dot", (R, ..))
)
U = ("U",)


def no(x: Form) -> Form:
    if x[0] == "not":
        return x[1]
    if x[0] in ("some", "all") and x[2] != U:
        return ("all" if x[0] == "some" else "some", x[1], no(x[2]))
    return ("not", x)


@cache
def flip(x: Form) -> Form:
    match x[0]:
        case "r":
            return ("r", x[1], not x[2])
        case "not" | "star":
            return (x[0], flip(x[1]))
        case "and":
            return ("and", frozenset(flip(y) for y in x[1]))
        case "dot":
            return ("dot", tuple(flip(y) for y in reversed(x[1])))
    raise AssertionError(x)


def parts(x: Form) -> frozenset[Form]:
    return x[1] if x[0] == "and" else frozenset([x])


def both(x: Form, y: Form) -> Form:
    return ("and", parts(x) | parts(y))


def dot(x: Form, y: Form) -> Form:
    return ("dot", (*(x[1] if x[0] == "dot" else (x,)), *(y[1] if y[0] == "dot" else (y,))))


def restrict(word: str, role: Form, filler: Form) -> Form:
    if role[0] == "dot":
        for link in reversed(role[1]):
            filler = restrict(word, link, filler)
        return filler
    if filler == U and role[0] == "star":
        return (word, role[1], U) if role[1][0] != "dot" else restrict(word, role[1], U)
    return (word, role, filler)


def size(x: Form) -> int:
    match x[0]:
        case "r" | "p":
            return 1
        case "not" | "star":
            return size(x[1])
        case "and" | "dot":
            return sum(size(y) for y in x[1])
        case "some" | "all":
            return size(x[1]) + size(x[2])
    return 0


def unary(x: Form) -> bool:
    match x[0]:
        case "p" | "some" | "all":
            return True
        case "not":
            return unary(x[1])
        case "and":
            return unary(next(iter(x[1])))
    return False


def combined(x: Form, y: Form, rich: bool) -> Iterator[Form]:
    joined = parts(x) | parts(y)
    # p and not p; p and not (p and q); p and not (not p and q)
    decided = any(p != z and ({z, no(z)} & parts(no(p))) for p in joined for z in joined if p[0] == "not" or z == no(p))
    if unary(x) == unary(y) and not decided:
        yield both(x, y)
    if rich and not unary(x):
        if unary(y):
            yield restrict("some", x, y)
            yield restrict("all", x, y)
        else:
            yield dot(x, y)


def brute_terms(domain: Domain, last: int, rich: bool) -> list[set[Form]]:
    levels: list[set[Form]] = [set()]
    for level in range(1, last + 1):
        new: set[Form] = set()
        if level == 1:
            new = {("r", f.name, False) if f.arity == 2 else ("p", f.name) for f in domain.predicates}
        for i in range(1, level):
            for x in levels[i]:
                for y in levels[level - i]:
                    new.update(z for z in combined(x, y, rich) if size(z) == level)
        frontier = new
        while frontier:
            grown: set[Form] = {no(x) for x in frontier}
            for x in frontier:
                if not unary(x):
                    grown.add(flip(x))
                    if x[0] not in ("not", "star"):
                        grown.add(("star", x))
                    if rich:
                        grown.add(restrict("some", x, U))
            frontier = {x for x in grown if size(x) == level} - new
            new = new | frontier
        levels.append(new)
    return levels


def turned(value: Form, scope: Form) -> frozenset[Form]:
    """A value and its scope, whichever way round the two arguments are."""
    if unary(value):
        return frozenset([(value, scope)])
    return frozenset([(value, scope), (flip(value), flip(scope) if scope != U else U)])


def about(quantifier: str, value: Form, scope: Form) -> Form:
    if scope[0] == "not" or scope[0] == "all":  # all(p | not q) = all(q | not p): one set for both
        return (quantifier, frozenset([turned(value, scope), turned(no(scope), no(value))]))
    return (quantifier, turned(value, scope))


def brute_concepts(domain: Domain, levels: list[set[Form]], level: int) -> set[Form]:
    found = {(a, f.name) for f in domain.functions for a in ("max", "min", "mean")} if level == 1 else set[Form]()
    for f in domain.functions:
        found |= {(a, f.name, s) for s in levels[level - 1] if unary(s) for a in ("max", "min", "mean")}
    for x in levels[level]:
        if x[0] not in ("not", "all"):
            pair = turned(x, U)
            found |= {(q, pair) for q in ("all", "some", "count")}
    for i in range(1, level):
        for v in levels[i]:
            for s in levels[level - i]:
                fits = unary(v) == unary(s) and v[0] not in ("not", "all")
                fits = fits and not any(p in (v, no(v)) for g in parts(s) for p in parts(no(g)))
                if fits and not any(p in parts(s) or no(p) in parts(s) for p in parts(v)):
                    found.add(about("all", v, s))
    return found


@cache
def form(term: Term, domain: Domain) -> Form:
    """A term of the bank as a brute-force form."""
    match term:
        case Primitive(name):
            return ("r", name, False) if domain.fluent(name).arity == 2 else ("p", name)
        case Permutation(inner, _):
            return flip(form(inner, domain))
        case Negation(inner):
            return no(form(inner, domain))
        case Closure(inner):
            return ("star", form(inner, domain))
        case Conjunction(left, right):
            return both(form(left, domain), form(right, domain))
        case Composition(left, right):
            return dot(form(left, domain), form(right, domain))
        case Restriction(word, role, filler):
            return restrict(word, form(role, domain), form(filler, domain) if filler is not None else U)
    raise AssertionError(term)


def concept_form(concept: Concept, domain: Domain) -> Form:
    match concept:
        case Aggregated(a, Primitive(name), scope):
            return (a, name) if scope is None else (a, name, form(scope, domain))
        case Quantified(q, value, scope):
            return about(q, form(value, domain), form(scope, domain) if scope is not None else U)
    raise AssertionError(concept)


THING = (EntityClass("thing"),)
ROLES = Domain(
    "roles", THING, (predicate("r", "thing", "thing"), predicate("s", "thing", "thing"), function("f", "thing"))
)
MIXED = Domain("mixed", THING, (predicate("p", "thing"), predicate("r", "thing", "thing"), function("f", "thing")))


@pytest.mark.parametrize(
    ("domain", "rich", "last"), [(ROLES, False, 3), (MIXED, False, 3), (MIXED, True, 2)], ids=["roles", "mixed", "rich"]
)
def test_the_bank_equals_a_brute_force_enumeration_level_by_level(domain: Domain, rich: bool, last: int) -> None:
    bank = ConceptBank(domain, Grammar(restriction=rich, composition=rich, max_level=last))
    levels = brute_terms(domain, last, rich)
    seen = 0
    for level, concepts, info in bank.levels():
        terms = [form(t, domain) for t in bank.terms(level)]
        assert len(terms) == len(set(terms)) and set(terms) == levels[level]
        forms = [concept_form(c, domain) for c in concepts]
        assert len(forms) == len(set(forms)) and set(forms) == brute_concepts(domain, levels, level)
        assert all(c.complexity == level for c in concepts)
        seen += len(concepts)
        assert info.stopped == "" and info.total == seen and info.concepts == len(concepts)
    assert level == last and seen > 100


# --- rules ---

RITUAL = Domain(
    "ritual",
    (EntityClass("torch"), EntityClass("bamboo"), EntityClass("clay")),
    tuple(predicate(f"{c}@{i}", c) for i in (1, 2, 3) for c in ("torch", "bamboo", "clay")),
)
BLOCKS = Domain(
    "blocks",
    (EntityClass("block"), EntityClass("arm")),
    (
        predicate("on", "block", "block"),
        predicate("clear", "block"),
        predicate("broken", "block"),
        predicate("holding", "arm", "block"),
        predicate("sunny"),
        function("cost"),
    ),
).with_goals(["on", "clear", "sunny"])


def test_the_ritual_has_27_atomic_concepts_in_9_slots() -> None:
    concepts = ConceptBank(RITUAL).concepts(1)
    assert len(concepts) == 27
    assert len({slot(c) for c in concepts}) == 9


def test_without_arguments_there_is_one_concept() -> None:
    level = [str(c) for c in ConceptBank(BLOCKS, Grammar(predicate_mean=True)).concepts(1)]
    assert [t for t in level if "sunny" in t or "cost" in t] == ["some(sunny)", "some(sunny_goal)", "mean(cost)"]


@pytest.mark.parametrize("rules", [Grammar.paper(2), Grammar.planning(2), Grammar(predicate_mean=True, max_level=2)])
def test_every_concept_of_the_bank_fits_the_domain_parses_back_and_has_a_reading(rules: Grammar) -> None:
    for _, concepts, _ in ConceptBank(BLOCKS, rules).levels():
        assert len(set(concepts)) == len(concepts)
        for concept in concepts:
            assert parse_concept(str(concept), BLOCKS) == concept
            kind(concept, BLOCKS)
            assert english(concept, BLOCKS)


def test_goal_agreement_is_with_its_own_goal_copy_only() -> None:
    bank = ConceptBank(BLOCKS, Grammar.planning())
    second = {str(t) for t in bank.terms(2)}
    assert {"on and on_goal", "on_goal and not on", "clear and clear_goal", "clear_goal and not clear"} <= second
    assert {"same(on, on_goal)", "within(on_goal, on)", "within(inverse(on), inverse(on_goal))"} <= second
    assert "(on and on_goal)*" in second and "inverse(on) and inverse(on_goal)" in second
    assert "clear and broken" in second or "broken and clear" in second
    mixed = (
        "broken and clear_goal",
        "clear and not clear_goal",
        "not clear and not clear_goal",
        "inverse(on) and on_goal",
    )
    assert not second & {*mixed, "on and inverse(on_goal)"}
    free = {str(t) for t in ConceptBank(BLOCKS, Grammar()).terms(2)}
    assert {"broken and clear_goal", "clear and not clear_goal"} <= free


def test_options_switch_rules_off() -> None:
    bare = Grammar((), ("max",), False, False, False, None, False, False)
    assert ConceptBank(ROLES, bare).concepts(1) == (Aggregated("max", Primitive("f")),)
    assert [str(t) for t in ConceptBank(ROLES, bare).terms(1)] == ["r", "s"]
    assert ConceptBank(ROLES, bare).terms(2) == ()
    shares = ConceptBank(RITUAL, Grammar((), predicate_mean=True)).concepts(1)
    assert {str(c) for c in shares} == {f"mean({f.name})" for f in RITUAL.fluents}
    with pytest.raises(ConceptError, match="none of"):
        Grammar(quantifiers=("most",))  # type: ignore[arg-type]


# --- caps ---


@pytest.mark.parametrize("word", ["max_concepts", "deeper_below", "max_terms"])
def test_a_cap_stops_before_a_level_and_says_so(word: str) -> None:
    whole = list(ConceptBank(MIXED, Grammar(max_level=2)).levels())
    last = whole[-1][2]
    cap = {"max_concepts": last.total, "deeper_below": last.slots, "max_terms": last.terms}[word]
    rules = replace(Grammar(max_level=9), **{word: cap})
    *levels, (level, concepts, info) = ConceptBank(MIXED, rules).levels()
    assert [c for _, c, _ in levels] == [c for _, c, _ in whole]
    assert level == 3 and concepts == ()
    assert info.stopped.startswith("stopped before level 3") and word in info.stopped
    assert info.total == last.total


def test_levels_are_made_only_when_asked_for() -> None:
    steps = ConceptBank(ROLES, Grammar(max_level=99)).levels()
    assert next(steps)[0] == 1 and next(steps)[0] == 2


def test_pruned_terms_are_not_built_on() -> None:
    def keep(level: int, terms: tuple[Term, ...]) -> list[Term]:
        return [t for t in terms if "s" not in str(t).replace("inverse", "").replace("some", "")]

    bank = ConceptBank(ROLES, Grammar(max_level=2), prune=keep)
    assert {str(c) for c in bank.concepts(1) if isinstance(c, Quantified)} == {
        f"{q}({v})" for q in ("all", "some", "count") for v in ("r", "r*")
    }
    assert not any("s" in str(t).replace("inverse", "") for t in bank.terms(2))


# --- selection by values ---

VALUES = np.array([[0, 0, 3, 0, 1.0], [1, 0, 2, 0, 2.0], [1, 0, 1, 1, 1.0], [1, 0, 5, 0, 3.0]])
PATHS = [np.array([0, 1, 2]), np.array([0, 3])]


def test_a_relevant_concept_changes_within_some_demonstration() -> None:
    assert relevant(VALUES, PATHS).tolist() == [True, False, True, True, True]
    assert relevant(VALUES, [np.array([1, 3])]).tolist() == [False, False, True, False, True]
    missing = np.zeros_like(VALUES, dtype=bool)
    missing[1, 1] = True
    assert relevant(VALUES, PATHS, missing).tolist() == [True, True, True, True, True]
    assert relevant(VALUES, [np.array([2])]).tolist() == [False] * 5


def test_concepts_with_equal_columns_are_kept_once_with_their_twins() -> None:
    texts = ["some(b and c)", "count(b)", "some(b)", "some(a)", "max(f)", "min(f)"]
    concepts = [parse_concept(t) for t in texts]
    columns = np.array([[0.0, 1.0]] * 4 + [[7.0, 0.0]] * 2).T
    missing = np.zeros_like(columns, dtype=bool)
    missing[1, 5] = True
    distinct = deduplicate(concepts, columns, missing)
    assert [texts[i] for i in distinct.kept] == ["some(a)", "max(f)", "min(f)"] or [
        texts[i] for i in distinct.kept
    ] == ["count(b)", "max(f)", "min(f)"]
    assert sorted(distinct.kept + sum(distinct.twins, ())) == list(range(6))
    assert len(distinct.twins[0]) == 3
    assert deduplicate(concepts, -columns * 0).twins[0] != ()


def test_exact_numbers_come_from_the_values_seen() -> None:
    concept = parse_concept("count(clay@3)")
    seen = exactly_seen(concept, np.array([0.0, 4.0, 4.0, 2.5, np.nan]))
    assert [str(c) for c in seen] == ["count(clay@3) = 0", "count(clay@3) = 4"]
