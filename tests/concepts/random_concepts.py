"""Random well-formed concepts, as hypothesis strategies, for laws that hold for every concept."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

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
    Term,
)

NAMES = (
    "on",
    "clear",
    "torch@1",
    "a-b",
    "all",
    "U",
    "not",
    "two words",
    "x[1]",
    "mean",
    "é",
    "9 lives",
    "on_goal",
    "-",
)


def terms(names: tuple[str, ...] = NAMES) -> st.SearchStrategy[Term]:
    """Any term, well typed or not."""

    def grow(inner: st.SearchStrategy[Term]) -> st.SearchStrategy[Any]:
        return st.one_of(
            st.builds(Negation, inner),
            st.builds(Conjunction, inner, inner),
            st.builds(Closure, inner),
            st.builds(Permutation, inner, st.permutations(range(3)).map(tuple) | st.just((1, 0))),
            st.builds(Restriction, st.sampled_from(["some", "all"]), inner, inner | st.none()),
            st.builds(Composition, inner, inner),
            st.builds(Agreement, st.sampled_from(["same", "within"]), inner, inner),
        )

    return st.recursive(st.builds(Primitive, st.sampled_from(names)), grow, max_leaves=8)


def concepts(operations: tuple[tuple[str, int], ...], term: st.SearchStrategy[Term]) -> st.SearchStrategy[Concept]:
    """Any concept, well typed or not, with these operations of these many operands."""
    scope = term | st.none()
    atomic: st.SearchStrategy[Any] = st.one_of(
        st.builds(Quantified, st.sampled_from(["all", "some", "count"]), term, scope),
        st.builds(Aggregated, st.sampled_from(["max", "min", "mean"]), term, scope),
        st.builds(Constant, st.floats(allow_nan=False, allow_infinity=False) | st.integers(-9, 9)),
    )

    def grow(inner: st.SearchStrategy[Concept]) -> st.SearchStrategy[Any]:
        return st.sampled_from(operations).flatmap(
            lambda chosen: st.tuples(*[inner] * chosen[1]).map(lambda arguments: Composite(chosen[0], arguments))
        )

    return st.recursive(atomic, grow, max_leaves=6)
