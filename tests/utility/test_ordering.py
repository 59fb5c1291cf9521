"""Laws of the ordering statistics, and their batch forms against one-plan forms and scipy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import kendalltau

from meip.base.errors import LearningError
from meip.utility import ordering

LAW = settings(max_examples=60, deadline=None, derandomize=True)
RANKS = arrays(np.float64, st.integers(1, 90), elements=st.integers(-20, 20).map(float))


def brute_force(g: np.ndarray, tolerance: float = 1e-9) -> int:
    difference = g[None, :] - g[:, None]
    signs = np.where(np.abs(difference) <= tolerance, 0.0, np.sign(difference))
    return int(np.triu(signs, 1).sum())


def test_three_rising_ranks_have_the_golden_values() -> None:
    g = np.array([0.0, 1.0, 2.0])
    assert ordering.relaxed_tau(g) * 3 == pytest.approx(2.48722, abs=1e-5)
    assert ordering.relaxed_tau(g[::-1]) * 3 == pytest.approx(-2.48722, abs=1e-5)
    assert ordering.kendall_tau(g) == 1.0
    assert ordering.kendall_tau(g[::-1]) == -1.0


def test_a_plan_of_one_state_has_tau_zero() -> None:
    assert ordering.kendall_tau([3.0]) == 0.0
    assert ordering.relaxed_tau([3.0]) == 0.0
    assert ordering.rewards([3.0]).tolist() == [0.0]


@LAW
@given(RANKS)
def test_tau_counts_concordant_minus_discordant_pairs(g: np.ndarray) -> None:
    assert ordering.concordance(g) == brute_force(g)
    assert -1.0 <= ordering.kendall_tau(g) <= 1.0


@LAW
@given(arrays(np.float64, st.integers(2, 120), elements=st.floats(-3, 3)), st.sampled_from([0.0, 1e-9, 0.5, 2.0]))
def test_counting_by_merge_sort_keeps_ties_that_are_not_transitive(g: np.ndarray, tolerance: float) -> None:
    assert ordering._concordance_sorted(g, tolerance) == ordering._concordance_pairs(g, tolerance)


@LAW
@given(RANKS)
def test_reversing_a_plan_negates_tau(g: np.ndarray) -> None:
    assert ordering.kendall_tau(g[::-1]) == -ordering.kendall_tau(g)
    assert ordering.relaxed_tau(g[::-1]) == pytest.approx(-ordering.relaxed_tau(g), abs=1e-12)


@LAW
@given(RANKS)
def test_monotone_transforms_of_g_keep_tau(g: np.ndarray) -> None:
    tau = ordering.kendall_tau(g)
    assert ordering.kendall_tau(3 * g + 7) == tau
    assert ordering.kendall_tau(g**3) == tau
    assert ordering.kendall_tau(np.exp(g / 5)) == tau


@LAW
@given(RANKS)
def test_rewards_add_up_to_tau(g: np.ndarray) -> None:
    assert ordering.rewards(g).sum() == pytest.approx(ordering.kendall_tau(g), abs=1e-12)


@LAW
@given(st.permutations(list(range(12))))
def test_scipy_agrees_without_ties(order: list[int]) -> None:
    expected = kendalltau(np.arange(12), order).statistic
    assert ordering.kendall_tau(np.array(order, dtype=float)) == pytest.approx(expected, abs=1e-12)


def test_later_states_that_rank_higher_are_rewarded() -> None:
    # Eq. 10 of the paper has the opposite sign in one place: rising plans must gain, not lose.
    assert ordering.rewards([0.0, 1.0, 0.5]) == pytest.approx([0.0, 1 / 3, 0.0])


def test_the_normaliser_is_the_plans_own_length() -> None:
    values = ordering.batch_tau([[0, 1, -1, -1], [0, 1, 2, 3]], [2, 4], [0.0, 1.0, 2.0, 3.0])
    assert values.tolist() == [1.0, 1.0]


def test_padding_a_plan_with_copies_of_its_goal_would_change_its_value() -> None:
    wrong_start, goal_last = [1.0, 0.0, 2.0], [1.0, 0.0, 2.0, 2.0, 2.0]
    assert ordering.kendall_tau(goal_last) > ordering.kendall_tau(wrong_start)


def test_differences_within_the_tolerance_are_ties() -> None:
    assert ordering.kendall_tau([0.0, 5e-10]) == 0.0
    assert ordering.kendall_tau([0.0, 2e-9]) == 1.0


@pytest.mark.parametrize("bad", [[0.0, np.nan], [np.inf, 0.0], [[0.0, 1.0]]])
def test_a_rank_that_is_no_finite_number_is_refused(bad: object) -> None:
    with pytest.raises(LearningError):
        ordering.kendall_tau(bad)  # type: ignore[arg-type]


def random_plans(seed: int, longest: int = 70) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    random = np.random.default_rng(seed)
    lengths = random.integers(0, longest + 1, 40)
    plans = random.integers(0, 15, (40, longest))
    plans[np.arange(longest)[None, :] >= lengths[:, None]] = -1
    return plans, lengths, random.normal(size=15)


def test_batch_forms_equal_the_forms_for_one_plan() -> None:
    plans, lengths, g = random_plans(1)
    rows = [g[plan[:h]] for plan, h in zip(plans, lengths)]
    assert ordering.batch_tau(plans, lengths, g) == pytest.approx([ordering.kendall_tau(r) for r in rows], abs=1e-14)
    for scale in (0.5, 2.0):
        pairs = [np.tanh(scale * (r[None, :] - r[:, None]))[np.triu_indices(r.size, 1)] for r in rows]
        means = [p.mean() if p.size else 0.0 for p in pairs]
        assert ordering.batch_relaxed(plans, lengths, g, scale) == pytest.approx(means, abs=1e-12)


def test_relaxed_tau_stays_exact_where_exponentials_would_overflow() -> None:
    g = np.array([-4e5, 0.0, 0.25, 4e5])
    expected = np.tanh(g[None, :] - g[:, None])[np.triu_indices(4, 1)].mean()
    assert ordering.relaxed_tau(g) == pytest.approx(expected, abs=1e-12)
    assert ordering.relaxed_tau([1e6, 1e6 + 0.5]) == pytest.approx(np.tanh(0.5), abs=1e-9)


@pytest.mark.parametrize(("plan", "length"), [([0, 5], 2), ([0, -1], 2), ([0, 1], 3), ([0, 1], -1)])
def test_a_plan_with_unknown_states_or_a_wrong_length_is_named(plan: list[int], length: int) -> None:
    with pytest.raises(LearningError, match="plan 1"):
        ordering.batch_tau([[0, 1], plan], [2, length], np.zeros(3))
