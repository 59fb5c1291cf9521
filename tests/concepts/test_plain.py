"""Programs of concepts in numpy and as kernels: the same bits, so which of the two ran cannot be seen."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from interpreter import DOMAIN, random_concept, random_term
from test_denotation import batch

from meip.base.kernels import PATIENCE, Twins
from meip.concepts.values import batches, kernels, plain
from meip.concepts.values.denotation import Denotation
from meip.model.domain import FactBlock

LAW = settings(max_examples=60, deadline=None, derandomize=True)
SIZES: list[list[dict[str, int]]] = [
    [{"a": 3, "b": 2}],
    [{"a": 1, "b": 4}, {"a": 5, "b": 1}, {"a": 0, "b": 3}],
    [{"a": 20, "b": 17}],  # counts of more than eight digits
]


class Always(Twins[Any, None]):
    """One of the two, whatever the work."""

    def __init__(self, function: Any) -> None:
        super().__init__(function, function)


def both(blocks: list[FactBlock], concepts: list[Any], terms: list[Any]) -> tuple[list[Any], list[Any]]:
    """Columns, gaps, fingerprints and tables of terms, by the kernels and by numpy."""
    found = []
    for machine in (kernels, plain):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(batches, "RUN", Always(machine.run))
            patch.setattr(batches, "PACK", Always(machine.pack))
            denotation = Denotation(DOMAIN, blocks)
            relations = [table for term in terms for table in denotation.relation(term)]
            found.append([*denotation.matrix(concepts), denotation.fingerprints(terms), relations])
    return found[0], found[1]


def assert_same(one: Any, other: Any) -> None:
    if isinstance(one, np.ndarray):
        assert one.tobytes() == other.tobytes() and one.shape == other.shape and one.dtype == other.dtype
    elif isinstance(one, list):
        assert len(one) == len(other)
        for left, right in zip(one, other, strict=True):
            assert_same(left, right)
    else:
        assert one == other


def random_case(seed: int, sizes: list[dict[str, int]], states: int) -> tuple[list[FactBlock], list[Any], list[Any]]:
    rng, chance = np.random.default_rng(seed), random.Random(seed)
    _, blocks = batch(rng, sizes, states)
    concepts = [random_concept(chance, depth=2, initial=False) for _ in range(12)]
    terms = [random_term(chance, classes, 2) for classes in (("a",), ("b",), ("a", "a"), ("a", "b"))]
    return blocks, concepts, terms


@LAW
@given(st.integers(0, 2**32 - 1), st.sampled_from(SIZES), st.sampled_from([1, 3, 70, 300]))
def test_programs_in_numpy_give_the_bits_of_the_kernels(seed: int, sizes: list[dict[str, int]], states: int) -> None:
    one, other = both(*random_case(seed, sizes, states))
    assert_same(one, other)


def test_the_comparison_runs_every_instruction() -> None:
    used: set[int] = set()

    def watched(code: Any, *rest: Any) -> None:
        used.update(code[:, 0].tolist())
        plain.run(code, *rest)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batches, "RUN", Always(watched))
        for seed in range(30):
            blocks, concepts, terms = random_case(seed, SIZES[0], 2)
            denotation = Denotation(DOMAIN, blocks)
            denotation.matrix(concepts)
            denotation.fingerprints(terms)
    assert used == set(kernels.Op)


def test_small_work_is_done_without_a_compiler_and_much_with_one() -> None:
    calls: list[str] = []

    class Kernel:
        signatures: tuple[str, ...] = ()

        def __call__(self) -> None:
            calls.append("kernel")

    twins = Twins(Kernel(), lambda: calls.append("plain"))
    for part in (0.5, 0.4, 0.2, 0.1):
        twins.of(part * PATIENCE)()
    assert calls == ["plain", "plain", "kernel", "kernel"]
    calls.clear()
    ready = Kernel()
    ready.signatures = ("compiled before",)
    Twins(ready, lambda: calls.append("plain")).of(1.0)()
    assert calls == ["kernel"]
