"""The registry of operations, and how concepts made with them are written."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

from meip.base.errors import ConceptError
from meip.concepts.language import (
    MAX_DEPTH,
    Composite,
    Concept,
    Conjunction,
    Constant,
    Negation,
    Primitive,
    Quantified,
    Term,
    atoms,
    constants,
    exactly,
    walk,
)
from meip.concepts.operations import Operation, operation, register_operation


def some(name: str) -> Concept:
    return Quantified("some", Primitive(name))


def test_boolean_operations_follow_their_truth_tables() -> None:
    a = np.array([0.0, 0.0, 1.0, 1.0])
    b = np.array([0.0, 1.0, 0.0, 1.0])
    expected = {"and": [0, 0, 0, 1], "or": [0, 1, 1, 1], "implies": [1, 1, 0, 1], "=": [1, 0, 0, 1], "<=": [1, 1, 0, 1]}
    for name, truth in expected.items():
        result = operation(name).apply(a, b)
        assert result.dtype == np.float64
        assert result.tolist() == truth, name
    assert operation("not").apply(a).tolist() == [1, 1, 0, 0]


def test_a_table_gives_each_combination_its_own_code() -> None:
    grid = np.array([(a, b, c) for a in range(7) for b in range(7) for c in range(7)], dtype=np.float64)
    assert len(set(operation("table").apply(*grid.T).tolist())) == len(grid)


def test_values_closer_than_a_tie_are_equal() -> None:
    a, b = np.array([1.0]), np.array([1.0 + 1e-12])
    assert operation("=").apply(a, b).tolist() == [1.0]
    assert operation("<=").apply(b, a).tolist() == [1.0]


def test_parentheses_appear_only_where_they_are_needed() -> None:
    a, b, c = some("a"), some("b"), some("c")
    conjunction = Composite("and", (a, b))
    assert str(Composite("or", (conjunction, c))) == "some(a) and some(b) or some(c)"
    assert str(Composite("and", (Composite("or", (a, b)), c))) == "(some(a) or some(b)) and some(c)"
    assert str(Composite("and", (a, Composite("and", (b, c))))) == "some(a) and (some(b) and some(c))"
    assert str(Composite("not", (Composite("not", (a,)),))) == "not not some(a)"
    assert str(Composite("not", (conjunction,))) == "not (some(a) and some(b))"
    assert str(Composite("and", (a, b, c))) == "and[some(a), some(b), some(c)]"
    assert str(exactly(Quantified("count", Primitive("clay@3")), 4)) == "count(clay@3) = 4"


def test_equal_trees_are_equal_keys_and_survive_pickling() -> None:
    def make() -> Concept:
        return Composite("and", (some("a"), exactly(Quantified("count", Negation(Primitive("b"))), 3)))

    first, second = make(), make()
    assert first is not second and first == second and hash(first) == hash(second)
    assert {first: 1}[second] == 1
    assert first != some("a")
    assert Negation(Primitive("a")) != Primitive("a")
    assert pickle.loads(pickle.dumps(first)) == first


def test_complexity_counts_primitives_and_constants_are_reported_apart() -> None:
    concept = Composite("and", (some("a"), exactly(Quantified("count", Primitive("b"), Primitive("c")), 3)))
    assert concept.complexity == 3
    assert constants(concept) == (3.0,)
    assert [str(a) for a in atoms(concept)] == ["some(a)", "count(b | c)"]
    assert sum(isinstance(n, Primitive) for n in walk(concept)) == 3


def test_a_tree_that_is_too_deep_is_refused_in_words() -> None:
    term: Term = Primitive("a")
    for _ in range(MAX_DEPTH - 1):
        term = Negation(term)
    assert str(term).count("not") == MAX_DEPTH - 1
    with pytest.raises(ConceptError, match="nested"):
        Negation(term)
    with pytest.raises(ConceptError, match="nested"):
        Conjunction(Primitive("b"), term)


def test_unknown_and_clashing_operations_are_explained() -> None:
    with pytest.raises(ConceptError, match="did you mean 'implies'"):
        operation("imples")
    with pytest.raises(ConceptError, match="built in"):
        register_operation(Operation("and", (2, 2), lambda kinds: "boolean", np.minimum))
    with pytest.raises(ConceptError, match="already means '<='"):
        register_operation(Operation("at most", (2, 2), lambda kinds: "boolean", np.less_equal, "<="))
    with pytest.raises(ConceptError, match="finite"):
        Constant(float("nan"))
