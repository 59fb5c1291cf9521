"""Facts: whatever is handy becomes a table, read in one way only, or is refused in words."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip import Domain, DomainError, EntityClass, Facts, function, predicate
from meip.model.domain import stack_facts

DOMAIN = Domain(
    "lamps",
    (EntityClass("lamp"),),
    (
        predicate("on", "lamp"),
        predicate("beside", "lamp", "lamp"),
        predicate("dark"),
        function("power", "lamp"),
        function("distance", "lamp", "lamp"),
    ),
)


def table(name: str, value: Any, lamps: int = 3) -> Any:
    return Facts.build(DOMAIN, {"lamp": lamps}, {name: value}).tables[name]


def mask_of(lit: set[int], count: int) -> list[bool]:
    return [lamp in lit for lamp in range(count)]


WAYS: dict[str, Callable[[set[int], int], Any]] = {
    "set": lambda lit, count: lit,
    "frozenset": lambda lit, count: frozenset(lit),
    "list": lambda lit, count: sorted(lit),
    "generator": lambda lit, count: (lamp for lamp in lit),
    "one-tuples": lambda lit, count: [(lamp,) for lamp in lit],
    "numpy integers": lambda lit, count: {np.int64(lamp) for lamp in lit},
    "index array": lambda lit, count: np.array(sorted(lit), dtype=np.int32),
    "flatnonzero": lambda lit, count: np.flatnonzero(mask_of(lit, count)),
    "argwhere": lambda lit, count: np.argwhere(mask_of(lit, count)),
    "mask": mask_of,
    "mask tuple": lambda lit, count: tuple(mask_of(lit, count)),
    "mask generator": lambda lit, count: (on for on in mask_of(lit, count)),
    "mask array": lambda lit, count: np.array(mask_of(lit, count), dtype=bool),
    "mask of numpy booleans": lambda lit, count: [np.bool_(on) for on in mask_of(lit, count)],
    "mapping": lambda lit, count: dict(enumerate(mask_of(lit, count))),
}


@pytest.mark.parametrize("way", WAYS)
@settings(max_examples=40, deadline=None, derandomize=True)
@given(data=st.data())
def test_a_predicate_is_true_of_the_same_entities_however_they_are_given(way: str, data: st.DataObject) -> None:
    count = data.draw(st.integers(0, 4))
    lit = data.draw(st.sets(st.integers(0, count - 1))) if count else set()
    found = table("on", WAYS[way](lit, count), count)
    assert found.dtype == bool and found.tolist() == mask_of(lit, count)


PAIRS = [[False, True, False], [False, False, False], [True, False, False]]


@pytest.mark.parametrize(
    "value",
    [PAIRS, np.array(PAIRS), [np.array(row) for row in PAIRS], {(0, 1), (2, 0)}, [[0, 1], [2, 0]],
     np.array([[0, 1], [2, 0]]), np.argwhere(PAIRS), {(0, 1): True, (2, 0): True, (1, 1): False}],
)  # fmt: skip
def test_a_predicate_of_pairs_takes_a_mask_or_pairs(value: Any) -> None:
    assert table("beside", value).tolist() == PAIRS


@pytest.mark.parametrize("nothing", [[], (), set(), {}, np.array([]), np.array([], int), np.empty((0, 2), int)])
def test_what_is_empty_is_true_of_nothing(nothing: Any) -> None:
    assert not table("on", nothing).any() and table("on", nothing).shape == (3,)
    assert not table("beside", nothing).any() and table("beside", nothing).shape == (3, 3)


@pytest.mark.parametrize("value", [True, 1, np.True_, np.array(True), np.int64(3), [()]])
def test_a_nullary_predicate_is_true_or_false(value: Any) -> None:
    assert table("dark", value).shape == () and table("dark", value)


@pytest.mark.parametrize(
    "value", [[1, 2.5, None], (1, 2.5, np.nan), np.array([1, 2.5, np.nan]), {0: 1, 1: 2.5, 2: None}]
)
def test_a_function_takes_lists_arrays_and_mappings(value: Any) -> None:
    assert np.array_equal(table("power", value), [1, 2.5, np.nan], equal_nan=True)
    assert table("power", value).dtype == np.float64


def test_a_function_of_pairs_takes_nested_lists() -> None:
    assert table("distance", [[0, 1, 2], [1, 0, 1], [2, 1, 0]])[0].tolist() == [0, 1, 2]
    assert table("distance", [], lamps=0).shape == (0, 0)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("on", [True, False], "expected shape (3,) (one axis per argument), got (2,)"),
        ("on", np.zeros(2, bool), "expected shape (3,) (one axis per argument), got (2,)"),
        ("on", [PAIRS], "expected shape (3,)"),
        ("on", [True, 0, 2], "a predicate takes the indices of the entities it is true of, or booleans"),
        ("on", [0, True], "True is not an index"),
        ("on", {True}, "True is not an index"),
        ("on", [0.0], "0.0 is not an index"),
        ("on", ["red"], "'red' is not an index into a table of shape (3,)"),
        ("on", [3], "3 is not an index into a table of shape (3,)"),
        ("on", np.array([-1]), "-1 is not an index"),
        ("on", np.array([0.0, 1.0, 0.0]), "or booleans (an array or nested lists, one axis per argument); got array("),
        ("on", "red", "a predicate takes the indices of the entities it is true of, or booleans"),
        ("on", {0: "no"}, "'no' of 0 is not True or False"),
        ("on", None, "got None"),
        ("on", 2, "expected shape (3,) (one axis per argument), got ()"),
        ("dark", "yes", "a predicate takes True or False; got 'yes'"),
        ("dark", [True], "expected shape ()"),
        ("beside", [0, 1], "0 is not an index into a table of shape (3, 3)"),
        ("beside", [[True], [True, False], []], "a predicate takes"),
        ("power", "heavy", "a function takes numbers (an array or nested lists, one axis per argument), or a mapping"),
        ("power", ["heavy"], "a function takes numbers"),
        ("power", {1, 2, 3}, "a function takes numbers"),
        ("power", {0: "heavy"}, "'heavy' of 0 is not a number"),
        ("power", [1, 2], "expected shape (3,) (one axis per argument), got (2,)"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_refused_with_what_can(name: str, value: Any, message: str) -> None:
    with pytest.raises(DomainError, match=f"facts of '{name}': .*{re.escape(message)}"):
        table(name, value)


def complete(**tables: Any) -> Facts:
    return Facts(
        {"lamp": 3}, {f.name: np.zeros((3,) * f.arity, float if f.real else bool) for f in DOMAIN.fluents} | tables
    )


def test_a_fluent_is_stated_by_facts_or_by_static_facts_but_not_by_both() -> None:
    static = Facts({"lamp": 3}, {"on": np.ones(3, bool)})
    with pytest.raises(
        DomainError, match=r"fluent 'on' is in static_facts\(\) and in facts\(\) \(state 0\): state it in one"
    ):
        stack_facts(DOMAIN, [complete()], static)


@pytest.mark.parametrize(
    ("tables", "message"),
    [
        ({"on": [0, 1, 2]}, "facts of 'on': the table of a predicate holds booleans, got int64; Facts.build"),
        ({"on": "red"}, "facts of 'on': expected tables of shape (3,), got ()"),
        ({"power": "red"}, "the tables of fluent 'power' differ in shape between states, or are no tables of numbers"),
    ],
)  # fmt: skip
def test_tables_made_by_hand_are_not_guessed_at(tables: dict[str, Any], message: str) -> None:
    with pytest.raises(DomainError, match=re.escape(message)):
        stack_facts(DOMAIN, [complete(**tables)])
