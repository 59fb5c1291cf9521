"""Rows of results: intervals agree with oracles, and contain the value that they are of."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip import LearningError
from meip.base.results import bootstrap, mean_row, share_row, wilson


@settings(max_examples=50, deadline=None, derandomize=True)
@given(st.integers(1, 500).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_agrees_with_scipy(case: tuple[int, int]) -> None:
    from scipy.stats import binomtest

    expected = binomtest(*case).proportion_ci(method="wilson")
    assert wilson(*case) == pytest.approx((expected.low, expected.high), abs=1e-9)


def test_the_bootstrap_covers_the_mean_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for k in range(300):
        low, high = bootstrap(rng.normal(1.0, 2.0, 40), seed=k, resamples=500)
        covered += low <= 1.0 <= high
    assert 0.89 <= covered / 300 <= 0.98
    assert bootstrap([1.0, 1.0, 1.0]) == (1.0, 1.0)
    with pytest.raises(LearningError, match="at least one finite value"):
        bootstrap([])


def test_intervals_contain_the_value_and_stay_in_range() -> None:
    assert share_row(0, 10)["low"] == pytest.approx(0.0, abs=1e-12)
    assert 0.2 < share_row(0, 10)["high"] < 0.35
    row = mean_row([0.0, 1.0, 1.0, 0.0])
    assert row["low"] <= row["value"] == 0.5 <= row["high"]
