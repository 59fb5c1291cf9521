"""The max-margin ranking against listed pairs, scikit-learn and its own certificate."""

from __future__ import annotations

import tracemalloc
import warnings
from collections import Counter

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from meip.base.errors import LearningError
from meip.learning.pairs import RankedPairs, active_partners, active_sums
from meip.learning.ranking_svm import (
    combine,
    demonstration_pairs,
    first_deviation_pairs,
    fit_ranking,
    literal_pairs,
    ranking_objective,
)

LAW = settings(max_examples=30, deadline=None, derandomize=True)


def listed(chains: RankedPairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Every pair (higher, lower, weight) of the chains, one by one."""
    found = []
    for c, weight in enumerate(chains.weights):
        chain = chains.items[chains.starts[c] : chains.starts[c + 1]]
        found += [(chain[i], chain[j], weight) for i in range(chain.size) for j in range(i)]
    return tuple(np.array(part) for part in zip(*found, strict=True))  # type: ignore[return-value]


def random_problem(seed: int, longest: int = 60, width: int = 4) -> tuple[np.ndarray, RankedPairs]:
    random = np.random.default_rng(seed)
    features = random.normal(size=(50, width))
    scores = features @ random.normal(size=width) + random.normal(size=50)
    sizes = random.integers(0, longest, 8)
    chains = [random.integers(0, 50, n) for n in sizes]
    chains = [chain[np.argsort(scores[chain], kind="stable")] for chain in chains]
    return features, RankedPairs(
        np.concatenate(chains), np.concatenate(([0], np.cumsum(sizes))), random.uniform(0.1, 2, 8)
    )


@LAW
@given(st.integers(0, 1000), st.sampled_from([0.3, 1.0, 3.0]), st.sampled_from([0.2, 1.0, np.inf]))
@example(0, 1.0, 1.0)  # repeated states are exactly on the border of the band
def test_sums_over_active_pairs_equal_those_of_listed_pairs(seed: int, margin: float, width: float) -> None:
    features, chains = random_problem(seed)
    scores = features[:, 0]
    high, low, weight = listed(chains)
    z = margin - (scores[high] - scores[low])
    active = z > 0
    slope = np.zeros(50)
    hinge, squared = active_sums(chains.items, chains.starts, chains.weights, scores, margin, slope)
    assert hinge == pytest.approx((weight * z)[active].sum())
    assert squared == pytest.approx((weight * z * z)[active].sum())
    expected = np.zeros(50)
    np.add.at(expected, high[active], -(weight * z)[active])
    np.add.at(expected, low[active], (weight * z)[active])
    assert slope == pytest.approx(expected, abs=1e-9)

    band = active & (z < width)
    degree, partners = np.zeros(50), np.zeros(features.shape)
    active_partners(chains.items, chains.starts, chains.weights, scores, margin, width, features, degree, partners)
    assert degree == pytest.approx(
        np.bincount(np.r_[high, low][np.r_[band, band]], np.r_[weight, weight][np.r_[band, band]], 50)
    )
    expected_partners = np.zeros(features.shape)
    np.add.at(expected_partners, high[band], weight[band, None] * features[low[band]])
    assert partners == pytest.approx(expected_partners, abs=1e-9)


@pytest.mark.parametrize("loss", ["squared_hinge", "hinge"])
@pytest.mark.parametrize("C", [0.001, 0.1, 10.0])
def test_the_fit_reaches_the_objective_of_scikit_learn(loss: str, C: float) -> None:
    features, chains = random_problem(3)
    high, low, weight = listed(chains)
    sign = np.where(np.arange(high.size) % 2 == 0, 1.0, -1.0)
    peer = LinearSVC(loss=loss, dual=loss == "hinge", C=C, fit_intercept=False, tol=1e-8, max_iter=20_000)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the dual solver never says it is done at large C
        peer.fit((features[high] - features[low]) * sign[:, None], sign, sample_weight=weight)
    fit = fit_ranking(features, chains, loss=loss, C=C, tol=1e-7)  # type: ignore[arg-type]
    theirs = ranking_objective(features, chains, peer.coef_[0], loss=loss, C=C)  # type: ignore[arg-type]
    assert fit.converged
    assert fit.objective <= theirs * (1 + 1e-7)
    if C < 1 or loss == "squared_hinge":
        assert fit.objective == pytest.approx(theirs, rel=1e-5)
        assert fit.w == pytest.approx(peer.coef_[0], rel=1e-2, abs=1e-3)


@LAW
@given(st.integers(0, 1000), st.sampled_from(["squared_hinge", "hinge"]), st.sampled_from([0.01, 1.0, 100.0]))
def test_no_weights_are_better_than_the_certificate_allows(seed: int, loss: str, C: float) -> None:
    features, chains = random_problem(seed, longest=6)
    fit = fit_ranking(features, chains, loss=loss, C=C, tol=1e-5)  # type: ignore[arg-type]
    assert fit.converged
    assert fit.objective == pytest.approx(ranking_objective(features, chains, fit.w, loss=loss, C=C))  # type: ignore[arg-type]
    rough = fit_ranking(features, chains, loss=loss, C=C, tol=0.3)  # type: ignore[arg-type]
    assert rough.objective - rough.gap <= fit.objective + 1e-9 * fit.objective
    random = np.random.default_rng(seed)
    for size in (1e-3, 1e-1, 1.0):
        other = fit.w + size * random.normal(size=fit.w.size)
        value = ranking_objective(features, chains, other, loss=loss, C=C)  # type: ignore[arg-type]
        assert value >= fit.objective - fit.gap - 1e-12 * value


def test_one_pair_has_the_solution_derived_by_hand() -> None:
    # hinge: w = min(C, 1 / |d|^2) d; squared hinge: w = 2C / (1 + 2C |d|^2) d
    features, chains = np.array([[0.0], [2.0]]), RankedPairs(np.array([0, 1]), np.array([0, 2]), np.array([1.0]))
    assert fit_ranking(features, chains, loss="hinge", C=0.1, tol=1e-9).w == pytest.approx([0.2], rel=1e-4)
    assert fit_ranking(features, chains, loss="hinge", C=9.0, tol=1e-7).w == pytest.approx([0.5], rel=1e-4)
    assert fit_ranking(features, chains, C=1.0).w == pytest.approx([4 / 9])


def test_ten_million_pairs_take_little_memory() -> None:
    random = np.random.default_rng(0)
    features = random.normal(size=(4500, 5))
    order = np.argsort(features @ random.normal(size=5) + random.normal(size=4500))
    chains = demonstration_pairs(order[None, :], [4500], 1.0)
    assert chains.pairs > 10_000_000
    fit_ranking(features[:50], demonstration_pairs([[0, 1]], [2]))  # compile first
    tracemalloc.start()
    assert fit_ranking(features, chains, C=1e-4).converged
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6


def test_a_demonstration_orders_all_its_pairs() -> None:
    chains = demonstration_pairs([[4, 7, 2], [4, 1, -1]], [3, 2])
    assert set(zip(*listed(chains), strict=True)) == {(7, 4, 100.0), (2, 4, 100.0), (2, 7, 100.0), (1, 4, 100.0)}


def test_a_generated_plan_is_labelled_only_where_it_first_leaves_the_demonstrated_states() -> None:
    demos = ([[0, 1, 2]], [3])
    generated = ([[0, 1, 8, 2], [0, 9, 8, 2], [0, 9, 2, -1], [0, 1, 2, -1], [9, 0, 1, 2]], [4, 4, 3, 3, 4])
    found = set(zip(*listed(first_deviation_pairs(*demos, *generated)), strict=True))
    assert found == {(0, 8, 1.0), (1, 8, 1.0), (0, 9, 2.0)}


def test_no_deviation_gives_no_pair() -> None:
    assert first_deviation_pairs([[0, 1]], [2], [[0, 1]], [2]).pairs == 0


def test_the_papers_labels_cancel_where_a_generated_plan_equals_a_demonstration() -> None:
    features = np.eye(3)[:, :2]
    chains = literal_pairs([[2, 0, 1]], [3], [[2, 0, 1]], [3])
    assert fit_ranking(features, chains, tol=1e-9).w == pytest.approx([0.0, 0.0], abs=1e-9)


def test_the_papers_labels_are_three_families_of_one_weight() -> None:
    found = Counter(zip(*listed(literal_pairs([[0, 1, 2]], [3], [[0, 8, 1], [0, 8, -1]], [3, 2])), strict=True))
    demonstrations_rise = [(1, 0, 1.0), (2, 0, 1.0), (2, 1, 1.0)]
    generated_fall = [(0, 8, 1.0), (0, 1, 1.0), (8, 1, 1.0), (0, 8, 1.0)]
    demonstrated_above_generated = [(1, 8, 2.0), (2, 1, 1.0)]  # step 1 twice; step 0 is the same state
    assert found == Counter(demonstrations_rise + generated_fall + demonstrated_above_generated)


def test_chains_can_be_combined() -> None:
    parts = demonstration_pairs([[0, 1]], [2]), demonstration_pairs([[2, 3, 4]], [3], 2.0)
    assert combine(*parts).pairs == 4
    assert combine(*parts).weights.tolist() == [100.0, 2.0]


def test_wrong_input_is_named() -> None:
    with pytest.raises(LearningError, match="features have 2"):
        fit_ranking(np.eye(2), demonstration_pairs([[0, 5]], [2]))
    with pytest.raises(LearningError, match="unknown loss"):
        fit_ranking(np.eye(2), demonstration_pairs([[0, 1]], [2]), loss="log")  # type: ignore[arg-type]
    with pytest.raises(LearningError, match="above 0"):
        fit_ranking(np.eye(2), demonstration_pairs([[0, 1]], [2]), C=0.0)
    with pytest.raises(LearningError, match="starts"):
        RankedPairs(np.array([0, 1]), np.array([0, 1]), np.array([1.0]))
