"""Plans listed, rolled out and drawn from a model, against brute force; pools and their weights."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from meip.base.errors import BudgetError
from meip.model.graph import StateGraph
from meip.search.plans import PlanSet, enumerate_plans, history_count, roll_out, sample_model, sample_plans
from meip.search.pool import Pool, PoolOptions, effective_sample_size, relaxed_log_odds
from random_worlds import RandomWorld, all_plans, pair_mean, ranking_of, ranks, world_states

LAW = settings(max_examples=40, deadline=None, derandomize=True)


def frequencies(graph: StateGraph, plans: PlanSet) -> dict[tuple[int, ...], float]:
    counts = Counter(world_states(graph, plans.plan(i)) for i in range(len(plans)))
    return {plan: count / len(plans) for plan, count in counts.items()}


def summed(world: RandomWorld, start: int, horizon: int) -> dict[tuple[int, ...], float]:
    total: dict[tuple[int, ...], float] = {}
    for plan, p in all_plans(world, (start,), horizon):
        total[plan] = total.get(plan, 0.0) + p
    return total


def total_variation(a: dict[tuple[int, ...], float], b: dict[tuple[int, ...], float]) -> float:
    return 0.5 * sum(abs(a.get(plan, 0.0) - b.get(plan, 0.0)) for plan in a.keys() | b.keys())


@LAW
@given(st.integers(0, 10_000), st.integers(1, 5))
def test_listed_plans_are_all_plans_with_their_probabilities(seed: int, horizon: int) -> None:
    world = RandomWorld(seed, horizon=horizon)
    graph = StateGraph(world)
    plans = enumerate_plans(graph, 0, horizon)
    expected = list(all_plans(world, (0,), horizon))
    assert len(plans) == len(expected) == history_count(graph, 0, horizon, 10**6)
    assert Counter(world_states(graph, plans.plan(i)) for i in range(len(plans))) == Counter(p for p, _ in expected)
    assert np.exp(plans.log_base).sum() == pytest.approx(1.0)
    found: dict[tuple[int, ...], float] = {}
    for i in range(len(plans)):
        plan = world_states(graph, plans.plan(i))
        found[plan] = found.get(plan, 0.0) + float(np.exp(plans.log_base[i]))
    assert found == pytest.approx(summed(world, 0, horizon))


def test_too_many_plans_are_refused() -> None:
    with pytest.raises(BudgetError, match="more than 5 plans"):
        enumerate_plans(StateGraph(RandomWorld(3, horizon=6)), 0, 6, limit=5)


@pytest.mark.parametrize("seed", [1, 4, 7])
def test_roll_outs_follow_the_base_distribution(seed: int) -> None:
    world = RandomWorld(seed, horizon=3)
    graph = StateGraph(world)
    drawn = roll_out(graph, 0, 3, 20_000, seed)
    assert total_variation(frequencies(graph, drawn), summed(world, 0, 3)) < 0.03


@pytest.mark.parametrize("seed", range(6))
def test_the_exact_sampler_matches_its_model_to_a_total_variation_of_two_percent(seed: int) -> None:
    world = RandomWorld(seed, horizon=3)
    g = ranks(seed, world.states)
    graph = StateGraph(world)
    drawn = sample_plans(graph, ranking_of(g), 100_000, lambda h: 2.0 * (h - 1), seed=seed)
    mass = {
        plan: p * np.exp(2.0 * (len(plan) - 1) * pair_mean(g, plan, 0.0)) for plan, p in summed(world, 0, 3).items()
    }
    total = sum(mass.values())
    assert total_variation(frequencies(graph, drawn), {plan: m / total for plan, m in mass.items()}) < 0.02


def relaxed_mass(world: RandomWorld, g: np.ndarray, horizon: int) -> dict[tuple[int, ...], float]:
    return {
        plan: p * np.exp(2.0 * (len(plan) - 1) * pair_mean(g, plan, 1.0))
        for plan, p in summed(world, 0, horizon).items()
    }


@pytest.mark.parametrize("seed", range(5))
def test_sequential_monte_carlo_draws_from_the_relaxed_model_and_estimates_its_z(seed: int) -> None:
    world = RandomWorld(seed)
    g = ranks(seed, world.states)
    graph = StateGraph(world)
    drawn, log_z = sample_model(graph, ranking_of(g), 0, 4, 40_000, seed)
    mass = relaxed_mass(world, g, 4)
    total = sum(mass.values())
    assert log_z == pytest.approx(np.log(total), abs=0.03)
    assert total_variation(frequencies(graph, drawn), {plan: m / total for plan, m in mass.items()}) < 0.04
    base = [np.log(summed(world, 0, 4)[world_states(graph, drawn.plan(i))]) for i in range(50)]
    assert (drawn.log_base[:50] <= np.array(base) + 1e-9).all()  # one way among those with the same states


@pytest.mark.parametrize("seed", [0, 3])
def test_estimates_of_z_are_unbiased_with_few_particles(seed: int) -> None:
    world = RandomWorld(seed)
    g = 2 * ranks(seed, world.states)
    graph = StateGraph(world)
    exact = sum(relaxed_mass(world, g, 4).values())
    ratios = [np.exp(sample_model(graph, ranking_of(g), 0, 4, 10, k)[1]) / exact for k in range(600)]
    assert abs(np.mean(ratios) - 1) < 3.5 * np.std(ratios, ddof=1) / np.sqrt(len(ratios))


def sampled_pool(seed: int, rollouts: int = 300) -> tuple[RandomWorld, Pool, np.ndarray]:
    world = RandomWorld(seed, horizon=5)
    graph = StateGraph(world)
    pool = Pool(graph, 0, 5, PoolOptions(exact_limit=0, rollouts=rollouts), seed)
    return world, pool, 0.3 * ranks(seed, world.states)  # gentle, or rare plans would decide


def estimated_log_z(pool: Pool, g: np.ndarray) -> float:
    return pool.log_z(relaxed_log_odds(pool.plans, ranking_of(g)(pool.graph)))


def test_an_exact_pool_has_the_exact_log_z_and_does_not_grow() -> None:
    world = RandomWorld(3)
    g = ranks(3, world.states)
    pool = Pool(StateGraph(world), 0, 4, PoolOptions())
    assert pool.exact
    size = len(pool)
    pool.grow(ranking_of(g))
    pool.branch(pool.plans.plan(0), 20)
    assert len(pool) == size
    assert estimated_log_z(pool, g) == pytest.approx(np.log(sum(relaxed_mass(world, g, 4).values())), abs=1e-12)


@pytest.mark.parametrize("seed", [0, 1, 3, 8])
def test_log_z_of_a_growing_pool_converges_to_the_exact_one(seed: int) -> None:
    errors = []
    for rollouts in (100, 8000):
        world, pool, g = sampled_pool(seed, rollouts)
        assert not pool.exact
        assert pool.log_weight == pytest.approx(np.full(rollouts, -np.log(rollouts)))
        pool.grow(ranking_of(g), rollouts)
        pool.grow(ranking_of(-g), rollouts)
        errors.append(abs(estimated_log_z(pool, g) - np.log(sum(relaxed_mass(world, g, 5).values()))))
        other = 0.3 * ranks(seed + 1, world.states)  # no sample was drawn for this one
        errors.append(abs(estimated_log_z(pool, other) - np.log(sum(relaxed_mass(world, other, 5).values()))))
    assert max(errors[:2]) < 0.5
    assert max(errors[2:]) < 0.03


@pytest.mark.parametrize("seed", [0, 1, 3, 8])
def test_branches_off_a_demonstration_keep_log_z_right(seed: int) -> None:
    world, pool, g = sampled_pool(seed, rollouts=4000)
    exact = np.log(sum(relaxed_mass(world, g, 5).values()))
    pool.branch(pool.plans.plan(0), 2000)
    assert len(pool) > 4000
    assert estimated_log_z(pool, np.zeros_like(g)) == pytest.approx(0.0, abs=0.03)
    assert estimated_log_z(pool, g) == pytest.approx(exact, abs=0.05)


def test_the_same_seed_gives_the_same_pool() -> None:
    pools = []
    for seed in (1, 1):
        _, pool, g = sampled_pool(seed)
        pool.grow(ranking_of(g))
        pools.append(pool)
    assert (pools[0].plans.states == pools[1].plans.states).all()
    assert (pools[0].log_weight == pools[1].log_weight).all()


def test_the_effective_size_of_equal_weights_is_their_number() -> None:
    assert effective_sample_size(np.zeros(7)) == pytest.approx(7)
    assert effective_sample_size(np.array([0.0, -800.0])) == pytest.approx(1)
