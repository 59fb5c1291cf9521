"""Columns of concepts: equal to a naive interpreter, lawful, and correct where scopes are empty or entities many."""

from __future__ import annotations

import random
from typing import Any

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from interpreter import DOMAIN, STATIC, Naive, random_concept, random_term

from meip.base.errors import ConceptError, DomainError
from meip.concepts.language import (
    Aggregated,
    Agreement,
    Closure,
    Composite,
    Composition,
    Concept,
    Conjunction,
    Constant,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
)
from meip.concepts.values.denotation import Column, Denotation
from meip.concepts.values.program import Program
from meip.model.domain import Domain, FactBlock, Facts, function, predicate, stack_facts

LAW = settings(max_examples=60, deadline=None, derandomize=True)
SEEDS = st.integers(0, 2**32 - 1)
P, Q, R, K, S, Z = (Primitive(n) for n in "pqrksz")


def column_of(denotation: Denotation, concept: Concept) -> Column:
    values, missing = denotation.matrix([concept])
    return Column(values[:, 0], missing[:, 0] if missing.any() else None)


def random_facts(rng: np.random.Generator, counts: dict[str, int], static: Facts | None = None) -> Facts:
    """Every table at random; a quarter of the values of functions are undefined."""
    tables: dict[str, Any] = dict(static.tables) if static else {}
    density = rng.random()
    for fluent in DOMAIN.fluents:
        if fluent.name in tables:
            continue
        shape = tuple(counts[c] for c in fluent.classes)
        if fluent.real:
            values = rng.integers(-9, 9, shape) / 4.0
            tables[fluent.name] = np.where(rng.random(shape) < 0.25, np.nan, values)
        else:
            tables[fluent.name] = np.asarray(rng.random(shape) < density)
    return Facts(counts, tables)


def batch(rng: np.random.Generator, sizes: list[dict[str, int]], states: int) -> tuple[list[Facts], list[FactBlock]]:
    """States of several sizes in mixed order, with static facts stated once per block."""
    facts: list[Facts] = []
    blocks: list[FactBlock] = []
    order = rng.permutation(len(sizes) * states)
    placed: dict[int, Facts] = {}
    for i, counts in enumerate(sizes):
        first = random_facts(rng, counts)
        static = Facts({}, {n: first.tables[n] for n in STATIC})
        members = order[i * states : (i + 1) * states]
        own = [random_facts(rng, counts, static) for _ in members]
        placed |= dict(zip(members.tolist(), own, strict=True))
        changing = [Facts(f.counts, {n: t for n, t in f.tables.items() if n not in STATIC}) for f in own]
        (block,) = stack_facts(DOMAIN, changing, static)
        blocks.append(FactBlock(members, block.counts, block.tables))
    facts = [placed[i] for i in range(len(placed))]
    return facts, blocks


def check(facts: list[Facts], blocks: list[FactBlock], concepts: list[Concept], **options: Any) -> None:
    initial = np.arange(len(facts)) // 2 * 2
    naive = [Naive(f) for f in facts]
    for i, one in enumerate(naive):
        one.initial = naive[initial[i]]
    values, missing = Denotation(DOMAIN, blocks, initial, **options).matrix(concepts)
    assert values.shape == missing.shape == (len(facts), len(concepts))
    assert not np.isnan(values).any()
    for k, concept in enumerate(concepts):
        expected = [one.value(concept) for one in naive]
        assert missing[:, k].tolist() == [v is None for v in expected], str(concept)
        assert values[:, k].tolist() == pytest.approx([v or 0.0 for v in expected]), str(concept)


@LAW
@given(SEEDS)
def test_columns_equal_a_naive_interpreter_on_blocks_of_all_sizes(seed: int) -> None:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    sizes = [{"a": int(rng.integers(0, 5)), "b": int(rng.integers(0, 4))} for _ in range(3)]
    facts, blocks = batch(rng, sizes, 2)
    check(facts, blocks, [random_concept(chance, depth=2) for _ in range(6)])


@LAW
@given(SEEDS)
def test_columns_equal_a_naive_interpreter_where_every_state_has_its_own_entities(seed: int) -> None:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    facts = [random_facts(rng, {"a": int(rng.integers(0, 6)), "b": int(rng.integers(0, 4))}) for _ in range(12)]
    check(facts, stack_facts(DOMAIN, facts), [random_concept(chance, depth=2) for _ in range(6)])


def test_states_of_many_sizes_are_evaluated_in_few_batches_without_changing_a_value() -> None:
    rng, chance = np.random.default_rng(8), random.Random(8)
    facts = [random_facts(rng, {"a": int(rng.integers(0, 9)), "b": int(rng.integers(0, 9))}) for _ in range(600)]
    blocks = stack_facts(DOMAIN, facts)
    concepts = [random_concept(chance, depth=3, initial=False) for _ in range(40)]
    together = Denotation(DOMAIN, blocks)
    assert len(together._batches) < 5 < len(blocks)
    values, missing = together.matrix(concepts)
    for block in blocks:
        alone = FactBlock(np.arange(len(block.states)), block.counts, block.tables)
        expected, absent = Denotation(DOMAIN, [alone]).matrix(concepts)
        np.testing.assert_allclose(values[block.states], expected, rtol=1e-12)
        np.testing.assert_array_equal(missing[block.states], absent)


def test_more_states_than_fit_in_one_tile_are_evaluated_like_each_alone() -> None:
    rng, chance = np.random.default_rng(9), random.Random(9)
    _, (block,) = batch(rng, [{"a": 5, "b": 3}], 600)
    concepts = [random_concept(chance, depth=3, initial=False) for _ in range(60)]
    at = np.argsort(block.states)
    tables = {n: t if len(t) == 1 else t[at] for n, t in block.tables.items()}
    program = Program(DOMAIN, concepts)
    values, missing = Denotation(DOMAIN, [FactBlock(np.arange(600), block.counts, tables)]).matrix(program)
    for s in (0, 63, 64, 255, 256, 511, 512, 599):
        alone = {n: t if len(t) == 1 else t[s : s + 1] for n, t in tables.items()}
        expected, absent = Denotation(DOMAIN, [FactBlock(np.arange(1), block.counts, alone)]).matrix(program)
        assert values[s].tolist() == pytest.approx(expected[0].tolist())
        assert missing[s].tolist() == absent[0].tolist()


@LAW
@given(SEEDS)
def test_fingerprints_agree_just_where_relations_do(seed: int) -> None:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    sizes = [{"a": int(rng.integers(1, 4)), "b": int(rng.integers(1, 3))} for _ in range(3)]
    _, blocks = batch(rng, sizes, 2)
    denotation = Denotation(DOMAIN, blocks)
    terms = [random_term(chance, classes, 2) for classes in (("a",), ("a",), ("a", "a"), ("a", "b")) for _ in range(4)]
    classes = [Naive(random_facts(rng, sizes[0])).classes(t) for t in terms]
    shapes = [[(len(b.states), *(b.counts[c] for c in own)) for b in blocks] for own in classes]
    dense = [
        [np.broadcast_to(t, shape) for t, shape in zip(denotation.relation(term), own, strict=True)]
        for term, own in zip(terms, shapes, strict=True)
    ]
    prints = denotation.fingerprints(terms)
    assert prints == Denotation(DOMAIN, blocks, budget=0).fingerprints(terms)
    for i, one in enumerate(dense):
        trivial = all(t.all() for t in one) or not any(t.any() for t in one)
        assert (prints[i] is None) == trivial
        for j, other in enumerate(dense):
            if prints[i] is not None and classes[i] == classes[j]:
                same = all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))
                assert (prints[i] == prints[j]) == same


@pytest.mark.parametrize("n", [64, 65, 130])
def test_columns_equal_a_naive_interpreter_with_more_entities_than_bits_in_a_word(n: int) -> None:
    facts, blocks = batch(np.random.default_rng(n), [{"a": n, "b": 2}], 1)
    concepts: list[Concept] = [
        Quantified("count", Composition(S, Primitive("u"))),
        Quantified("count", Negation(Permutation(R, (1, 0)))),
        Quantified("count", Agreement("within", K, R)),
        Quantified("count", Restriction("all", Primitive("u"), P)),
        Quantified("count", Restriction("some", R, Conjunction(P, Q))),
        Quantified("all", Negation(P), Conjunction(Q, Negation(Q))),
        Aggregated("mean", Primitive("g"), R),
    ]
    if n < 130:
        concepts.append(Quantified("count", Permutation(Primitive("m"), (2, 1, 0)), Primitive("m")))
    check(facts, blocks, concepts)


@pytest.mark.parametrize("a", [0, 1, 3])
@pytest.mark.parametrize("b", [0, 2])
def test_classes_without_entities_are_no_special_case(a: int, b: int) -> None:
    rng, chance = np.random.default_rng(a + 7 * b), random.Random(a + 7 * b)
    facts, blocks = batch(rng, [{"a": a, "b": b}], 4)
    check(facts, blocks, [random_concept(chance, depth=2) for _ in range(60)])


def test_a_budget_too_small_for_anything_changes_no_value() -> None:
    rng, chance = np.random.default_rng(5), random.Random(5)
    facts, blocks = batch(rng, [{"a": 3, "b": 2}, {"a": 2, "b": 2}], 3)
    concepts = [random_concept(chance, depth=3) for _ in range(20)]
    check(facts, blocks, concepts, budget=0)
    check(facts, blocks, concepts, budget=200)


@LAW
@given(SEEDS)
def test_renaming_entities_changes_no_value(seed: int) -> None:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    counts = {"a": 4, "b": 3}
    one = random_facts(rng, counts)
    new = {c: rng.permutation(n) for c, n in counts.items()}
    tables = {
        f.name: one.tables[f.name][np.ix_(*(new[c] for c in f.classes))] if f.classes else one.tables[f.name]
        for f in DOMAIN.fluents
    }
    concepts = [random_concept(chance, depth=3, initial=False) for _ in range(8)]
    values, missing = Denotation(DOMAIN, stack_facts(DOMAIN, [one, Facts(counts, tables)])).matrix(concepts)
    assert values[0].tolist() == pytest.approx(values[1].tolist(), rel=1e-12)
    assert missing[0].tolist() == missing[1].tolist()


@LAW
@given(SEEDS)
def test_all_is_not_some_not(seed: int) -> None:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    _, blocks = batch(rng, [{"a": 3, "b": 2}, {"a": 0, "b": 1}], 4)
    denotation = Denotation(DOMAIN, blocks)
    for classes in ((), ("a",), ("a", "a")):
        term, scope = random_term(chance, classes, 2), random_term(chance, classes, 1)
        every = column_of(denotation, Quantified("all", term, scope)).values
        none = column_of(denotation, Composite("not", (Quantified("some", Negation(term), scope),))).values
        assert every.tolist() == none.tolist()


@LAW
@given(SEEDS, st.sampled_from([0, 1, 5, 20, 64, 70]))
def test_closure_is_transitive_and_equals_a_graph_search(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    links = rng.random((3, n, n)) < rng.random() * 3 / (n + 1)
    domain = Domain("graph", ("v",), (predicate("e", "v", "v"),))
    block = FactBlock(np.arange(3), {"v": n}, {"e": links})
    (closed,) = Denotation(domain, [block]).relation(Closure(Primitive("e")))
    assert not ((closed.astype(int) @ closed.astype(int) > 0) & ~closed).any()
    for adjacency, found in zip(links, closed, strict=True):
        graph = nx.from_numpy_array(adjacency, create_using=nx.DiGraph)
        expected = nx.transitive_closure(graph, reflexive=False)
        assert {tuple(map(int, pair)) for pair in np.argwhere(found)} == set(expected.edges)


def test_relations_come_back_as_dense_tables() -> None:
    rng = np.random.default_rng(1)
    _, blocks = batch(rng, [{"a": 3, "b": 2}, {"a": 70, "b": 0}], 2)
    denotation = Denotation(DOMAIN, blocks)
    for name in ("z", "p", "r", "k", "m", "g", "h"):
        for block, table in zip(blocks, denotation.relation(Primitive(name)), strict=True):
            np.testing.assert_array_equal(table, block.tables[name])
    (inverse, _) = denotation.relation(Permutation(R, (1, 0)))
    np.testing.assert_array_equal(inverse, blocks[0].tables["r"].swapaxes(1, 2))


def test_static_terms_are_evaluated_for_one_state_only() -> None:
    rng = np.random.default_rng(2)
    _, blocks = batch(rng, [{"a": 3, "b": 2}], 5)
    denotation = Denotation(DOMAIN, blocks)
    static = Restriction("some", Closure(Negation(K)), Q)
    assert len(denotation.relation(static)[0]) == 1
    assert len(denotation.relation(Conjunction(static, P))[0]) == 5
    assert column_of(denotation, Quantified("count", static)).values.shape == (5,)


def test_an_empty_scope_makes_all_true_some_false_count_zero_and_aggregates_missing() -> None:
    rng = np.random.default_rng(3)
    _, blocks = batch(rng, [{"a": 3, "b": 2}], 2)
    denotation = Denotation(DOMAIN, blocks)
    empty = Conjunction(P, Negation(P))
    assert column_of(denotation, Quantified("all", Q, empty)).values.tolist() == [1, 1]
    assert column_of(denotation, Quantified("some", Q, empty)).values.tolist() == [0, 0]
    assert column_of(denotation, Quantified("count", Q, empty)).values.tolist() == [0, 0]
    for value in (Primitive("f"), Q):
        column = column_of(denotation, Aggregated("mean", value, empty))
        assert column.missing is not None and column.missing.all()
        more = column_of(denotation, Composite("+", (Constant(1), Aggregated("mean", value, empty))))
        assert more.missing is not None and more.missing.all() and more.values.tolist() == [0, 0]


def test_functions_take_their_arguments_in_another_order() -> None:
    domain = Domain("three", ("v",), (function("d", "v", "v", "v"), predicate("e", "v", "v", "v")))
    rng = np.random.default_rng(12)
    d, e = rng.random((2, 3, 3, 3)), rng.random((2, 3, 3, 3)) < 0.5
    denotation = Denotation(domain, [FactBlock(np.arange(2), {"v": 3}, {"d": d, "e": e})])
    for order in ((2, 0, 1), (1, 2, 0), (0, 2, 1)):
        moved = Permutation(Primitive("d"), order)
        axes = (0, *(i + 1 for i in order))
        np.testing.assert_array_equal(denotation.relation(moved)[0], d.transpose(axes))
        np.testing.assert_array_equal(denotation.relation(Permutation(Primitive("e"), order))[0], e.transpose(axes))
        found = column_of(denotation, Aggregated("max", moved, Primitive("e"))).values
        assert found.tolist() == [d.transpose(axes)[s][e[s]].max() for s in range(2)]
        twice = Permutation(moved, (2, 0, 1))
        np.testing.assert_array_equal(denotation.relation(twice)[0], d.transpose(axes).transpose(0, 3, 1, 2))


def test_initial_needs_to_be_told_where_problems_start() -> None:
    rng = np.random.default_rng(4)
    _, blocks = batch(rng, [{"a": 3, "b": 2}], 4)
    concept = Composite("-", (Quantified("count", P), Composite("initial", (Quantified("count", P),))))
    with pytest.raises(ConceptError, match="initial state of each problem"):
        Denotation(DOMAIN, blocks).matrix([concept])
    counts = column_of(Denotation(DOMAIN, blocks), Quantified("count", P)).values
    found = column_of(Denotation(DOMAIN, blocks, np.array([3, 3, 3, 3])), concept).values
    assert found.tolist() == (counts - counts[3]).tolist()


@pytest.mark.parametrize(
    "concept",
    [
        Quantified("all", Primitive("f")),
        Quantified("all", P, R),
        Quantified("all", Conjunction(P, R)),
        Quantified("all", Closure(S)),
        Quantified("all", Closure(P)),
        Quantified("all", Permutation(S, (0, 0))),
        Quantified("all", Restriction("some", Z, None)),
        Quantified("all", Restriction("some", R, S)),
        Quantified("all", Composition(S, P)),
        Quantified("all", Agreement("same", R, P)),
        Quantified("all", Primitive("nothing")),
        Quantified("most", P),  # type: ignore[arg-type]
        Aggregated("sum", P),  # type: ignore[arg-type]
        Composite("and", (Quantified("count", P), Quantified("all", P))),
        Composite("nothing", (Quantified("count", P),)),
    ],
    ids=str,
)
def test_what_does_not_fit_is_a_concept_error(concept: Concept) -> None:
    _, blocks = batch(np.random.default_rng(6), [{"a": 3, "b": 2}], 2)
    with pytest.raises(ConceptError):
        Denotation(DOMAIN, blocks).matrix([concept])


def test_blocks_that_contradict_themselves_are_domain_errors() -> None:
    _, (block,) = batch(np.random.default_rng(7), [{"a": 3, "b": 2}], 2)
    with pytest.raises(DomainError, match="cover the positions"):
        Denotation(DOMAIN, [block, block])
    with pytest.raises(DomainError, match="one position for each"):
        Denotation(DOMAIN, [block], np.array([0]))
    with pytest.raises(DomainError, match="positions from 0 to 1"):
        Denotation(DOMAIN, [block], np.array([0, 2]))
    wrong = FactBlock(block.states, {"a": 4, "b": 2}, block.tables)
    with pytest.raises(DomainError, match=r"expected a table of shape \(2, 4\)"):
        Denotation(DOMAIN, [wrong]).relation(P)
    with pytest.raises(DomainError, match="no table for fluent 'p'"):
        Denotation(DOMAIN, [FactBlock(block.states, block.counts, {})]).relation(P)
    with pytest.raises(DomainError, match="no count for class 'a'"):
        Denotation(DOMAIN, [FactBlock(block.states, {}, block.tables)]).relation(P)


def test_no_states_have_empty_columns() -> None:
    values, missing = Denotation(DOMAIN, []).matrix([Quantified("all", P), Constant(1)])
    assert values.shape == missing.shape == (0, 2)
