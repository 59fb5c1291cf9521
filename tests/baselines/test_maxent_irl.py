"""MaxEnt-IRL: exact against enumeration, its gradient, and what it does in the didactic MDP."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from sklearn.base import clone

from meip.base.errors import LearningError, NotFittedError
from meip.baselines.maxent_irl import MaxEntIRL, PlanPool, TabularWorld, _log_partition
from meip.baselines.tabular import plan_statistics, solve, visits
from meip.model.graph import GraphArrays, StateGraph
from meip.worlds.didactic import Didactic

PLACES = ("S0", "S1", "b1", "b2", "g")


def didactic(p: float, horizon: int = 5) -> TabularWorld:
    """The didactic MDP over the state ids of PLACES, with the features (bad, goal)."""
    graph = StateGraph(Didactic(p=p, horizon=max(horizon, 5)))
    for place in PLACES:
        graph.intern(place)
    graph.expand_all()
    features = np.array([[place in ("b1", "b2"), place == "g"] for place in graph.states], dtype=float)
    assert [graph.states.index(place) for place in PLACES] == list(range(5))
    return TabularWorld.from_graph(graph, features, horizon)


DESIRED = (0, 1, 4)


def learned(horizon: int = 5, alpha: float = 0.01) -> MaxEntIRL:
    return MaxEntIRL(alpha=alpha).fit(didactic(0.1, horizon), [DESIRED] * 5)


def break_even(model: MaxEntIRL, horizon: int) -> float:
    low, high = 0.02, 0.98
    while high - low > 1e-5:
        middle = (low + high) / 2
        follows = model.probability(didactic(middle, horizon), [DESIRED])[0] > 0
        low, high = (middle, high) if follows else (low, middle)
    return low


def test_it_does_the_right_thing_where_it_learned_and_never_where_chance_is_worse() -> None:
    model = learned()
    assert model.probability(didactic(0.1), [DESIRED])[0] == pytest.approx(0.9)
    assert model.probability(didactic(0.3), [DESIRED])[0] == 0.0


@pytest.mark.parametrize("alpha", [0.001, 0.01, 0.1])
def test_it_breaks_at_the_p_of_the_paper(alpha: float) -> None:
    assert round(break_even(learned(alpha=alpha), 5), 2) == 0.24


def test_the_break_even_is_the_one_derived_by_hand() -> None:
    model = learned(alpha=0.001)
    assert model.weights_[0] / model.weights_[1] == pytest.approx(-4.0, rel=1e-4)
    assert break_even(model, 5) == pytest.approx(4 / 17, abs=1e-4)


def test_with_horizon_3_it_does_not_fail() -> None:
    model = learned(horizon=3)
    assert model.probability(didactic(0.3, 3), [DESIRED])[0] == pytest.approx(0.7)
    assert break_even(model, 3) == pytest.approx(0.4, abs=1e-3)


@pytest.mark.parametrize(("p", "rewards", "goes"), [(0.1, (-0.17, -0.15), (1, 0)), (0.3, (0.47, 0.49), (0, 1))])
def test_the_papers_reward_bounds_with_their_signs_corrected(
    p: float, rewards: tuple[float, float], goes: tuple[int, int]
) -> None:
    # gamma = .8, the goal is worth 1, the bad state loops for ever: a1 needs r < -.16 at p = .1 but r > +.48 at p = .3
    world = didactic(p, 200)
    for r, expected in zip(rewards, goes, strict=True):
        policy = solve(world, world.features @ [r, 1.0], choice="greedy", discount=0.8)
        assert policy.actions[0, world.arrays.first_action[0]] == expected


def test_at_p_two_tenths_no_reward_of_the_bad_state_makes_a1_right() -> None:
    world = didactic(0.2, 200)
    for r in np.linspace(-2, 2, 41):
        policy = solve(world, world.features @ [r, 1.0], choice="greedy", discount=0.8)
        assert policy.actions[0, world.arrays.first_action[0]] == 0.0


def random_world(seed: int, horizon: int = 4, deterministic: bool = False) -> TabularWorld:
    random = np.random.default_rng(seed)
    states = 6
    counts = np.array([3, 2, 0, 2, 1, 2])
    first = np.concatenate(([0], np.cumsum(counts)[:-1]))
    outcomes = np.ones(10, dtype=np.int64) if deterministic else random.integers(1, 4, 10)
    target = np.concatenate([random.choice(states, n, replace=False) for n in outcomes])
    odds = np.concatenate([random.dirichlet(np.ones(n)) for n in outcomes])
    arrays = GraphArrays(first, counts, np.concatenate(([0], np.cumsum(outcomes)[:-1])), outcomes, target, odds)
    initial = np.array([0.5, 0.0, 0.0, 0.5, 0.0, 0.0])
    return TabularWorld(arrays, initial, horizon, random.normal(size=(states, 3)))


def all_plans(world: TabularWorld, start: int) -> list[tuple[int, ...]]:
    """Every plan of a deterministic world, once for each sequence of actions."""
    a, plans = world.arrays, [(start,)]
    for _ in range(world.horizon - 1):
        plans = [
            (*plan, int(a.outcome_state[a.first_outcome[action]])) if action >= 0 else plan
            for plan in plans
            for action in (range(a.first_action[plan[-1]], a.first_action[plan[-1]] + a.action_count[plan[-1]]) or [-1])
        ]
    return plans


@pytest.mark.parametrize("statistic", ["visits", "final"])
@pytest.mark.parametrize("seed", range(3))
def test_in_a_deterministic_world_it_is_the_softmax_over_plans(statistic: str, seed: int) -> None:
    world, w = random_world(seed, deterministic=True), np.random.default_rng(seed).normal(size=3)
    value, expected = _log_partition(world, w, statistic)  # type: ignore[arg-type]
    tops, means = [], []
    for start in (0, 3):
        plans = all_plans(world, start)
        rows = np.array([[*plan, *[-1] * (4 - len(plan))] for plan in plans])
        found = plan_statistics(world.features, rows, np.array([len(p) for p in plans]), statistic)  # type: ignore[arg-type]
        weights = np.exp(found @ w)
        tops.append(np.log(weights.sum()))
        means.append(weights @ found / weights.sum())
    assert value == pytest.approx(np.mean(tops))
    assert expected == pytest.approx(np.mean(means, axis=0))


@pytest.mark.parametrize("statistic", ["visits", "final"])
def test_the_expected_statistics_are_the_gradient_of_the_value(statistic: str) -> None:
    world, w = random_world(7), np.array([0.3, -1.0, 0.5])
    _, expected = _log_partition(world, w, statistic)  # type: ignore[arg-type]
    for k in range(3):
        step = 1e-5 * np.eye(3)[k]
        up, down = (_log_partition(world, w + d, statistic)[0] for d in (step, -step))  # type: ignore[arg-type]
        assert expected[k] == pytest.approx((up - down) / 2e-5, abs=1e-7)


def test_probabilities_of_all_plans_add_up_and_agree_with_visits() -> None:
    world = random_world(5)
    model = MaxEntIRL(alpha=0.1).fit(world, [(0, 1), (3, 5)])
    policy = model.policy(world, "soft")
    reached, final = visits(world, policy)
    assert final.sum() == pytest.approx(1.0)
    pairs = list(itertools.product(range(6), repeat=2))
    odds = model.probability(world, pairs, "soft").reshape(6, 6)
    assert odds.sum(axis=0) == pytest.approx(reached[1])
    assert final.sum() == pytest.approx(1.0)


def test_samples_have_the_frequencies_of_the_policy() -> None:
    world = didactic(0.3)
    model = learned()
    plans = model.sample(world, 4000, seed=1, choice="soft")
    expected = model.probability(world, [(0, 3, 4)], "soft")[0]
    assert sum(plan == (0, 3, 4) for plan in plans) / 4000 == pytest.approx(expected, abs=0.03)
    assert model.sample(world, 3, seed=1) == model.sample(world, 3, seed=1)


@pytest.mark.parametrize("statistic", ["visits", "final"])
def test_a_pool_of_all_plans_gives_the_exact_weights(statistic: str) -> None:
    world = random_world(2, deterministic=True)
    world = TabularWorld(world.arrays, np.eye(6)[0], world.horizon, world.features)
    plans = all_plans(world, 0)
    rows = np.array([[*plan, *[-1] * (4 - len(plan))] for plan in plans])
    pool = PlanPool(rows, np.array([len(p) for p in plans]), np.full(len(plans), -3.0), world.features)
    shown = [plans[0], plans[-1]]
    exact = MaxEntIRL(statistic, alpha=0.1).fit(world, shown)  # type: ignore[arg-type]
    pooled = MaxEntIRL(statistic, alpha=0.1).fit(pool, shown)  # type: ignore[arg-type]
    assert pooled.weights_ == pytest.approx(exact.weights_, abs=1e-4)


def test_several_problems_share_their_weights_in_proportion_to_their_demonstrations() -> None:
    one = didactic(0.1)
    together = MaxEntIRL().fit([one, one], [[DESIRED], [DESIRED] * 3])
    assert together.weights_ == pytest.approx(learned().weights_, rel=1e-3)


def test_the_gradient_is_zero_where_it_stops() -> None:
    assert np.abs(learned().gradient_).max() < 1e-5


def test_it_keeps_the_contract_of_an_estimator() -> None:
    model = MaxEntIRL("final", alpha=0.5)
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError, match="fit"):
        model.reward(didactic(0.1))
    assert model.set_params(statistic="visits").fit(didactic(0.1), [DESIRED]) is model
    again = clone(model).fit(didactic(0.1), [DESIRED])
    assert np.array_equal(again.weights_, model.weights_)
    with pytest.raises(LearningError, match="did you mean"):
        model.set_params(statistics="final")


def test_wrong_input_is_named() -> None:
    world = didactic(0.1)
    with pytest.raises(LearningError, match="horizon"):
        MaxEntIRL().fit(world, [(0, 1, 4, 4, 4, 4)])
    with pytest.raises(LearningError, match="demonstration"):
        MaxEntIRL().fit(world, [])
    with pytest.raises(LearningError, match="unknown statistic"):
        MaxEntIRL("last").fit(world, [DESIRED])  # type: ignore[arg-type]
    unexpanded = world.arrays._replace(action_count=np.where(np.arange(5) == 1, -1, world.arrays.action_count))
    with pytest.raises(LearningError, match="never expanded: call expand_all"):
        TabularWorld(unexpanded, world.initial, 5, world.features)
