"""The likelihood objective: gradient, optimum, merging, chance failures; against finite differences and scipy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.optimize import minimize

from meip.base.distinct import distinct_plans, distinct_rows
from meip.concepts.parser import parse_concept
from meip.learning.learner import Study, StudyOptions
from meip.learning.likelihood import LikelihoodOptions, _Compressed
from meip.learning.shown import ShownPlans
from meip.model.demonstrations import Episode, Plan, record
from meip.search.pool import PoolOptions
from meip.utility.terms import features
from meip.worlds.didactic import Didactic
from random_worlds import RandomWorld, all_plans, pair_mean, world_states

LAW = settings(max_examples=30, deadline=None, derandomize=True)
CONCEPTS = ("some(p0)", "all(p1)", "count(p2)", "some(p3) and not some(p0)")
SETTINGS = (
    LikelihoodOptions(),
    LikelihoodOptions(hinge=0.0),
    LikelihoodOptions(steps=1.0),
    LikelihoodOptions(plans=0.0, steps=2.0, alpha=0.1),
    LikelihoodOptions(strength=0.5, steps=0.3, margin=1.0),
)


def random_plan(world: RandomWorld, start: int, rng: np.random.Generator) -> Plan:
    """Any plan, with no step counted as a failure of chance."""
    states, actions, outcomes, odds = [start], [], [], []
    while len(states) < world.horizon and (legal := world.actions(states[-1])):
        action = legal[int(rng.integers(len(legal)))]
        choices = world.outcomes(states[-1], action)
        k = int(rng.integers(len(choices)))
        actions.append(action)
        outcomes.append(k)
        odds.append(choices[k][0])
        states.append(choices[k][1])
    return Plan(tuple(states), tuple(actions), tuple(outcomes), tuple(odds), (False,) * len(actions))


def study(seed: int, options: LikelihoodOptions, pool: PoolOptions | None = None) -> tuple[Study, np.ndarray]:
    """Two problems, one of them with two initial states: three cases."""
    rng = np.random.default_rng(seed)
    episodes = []
    for world in (RandomWorld(seed, states=9), RandomWorld(seed + 1, states=9, starts=2)):
        episodes += [Episode(world, random_plan(world, start % world.starts, rng)) for start in range(4)]
    made = Study(
        ShownPlans(episodes, chance_failures="none"), StudyOptions(likelihood=options, pool=pool or PoolOptions())
    )
    concepts = [parse_concept(text, made.training.domain) for text in CONCEPTS]
    values, missing = made.training.matrix(concepts)
    terms = [made.term(c, values[:, k], missing[:, k]) for k, c in enumerate(concepts)]
    return made, features(terms, values, missing)


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("seed", [1, 2])
def test_the_gradient_matches_finite_differences(seed: int, options: LikelihoodOptions) -> None:
    made, matrix = study(seed, options)
    assert len(made.training.cases) == 3
    w = np.random.default_rng(seed).normal(size=matrix.shape[1])
    gradient = made.objective.evaluate(matrix, w)[1]
    for k in range(len(w)):
        step = 1e-6 * np.eye(len(w))[k]
        up, down = (made.objective.evaluate(matrix, w + d)[0] for d in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / 2e-6, abs=1e-5)


@pytest.mark.parametrize("options", SETTINGS)
def test_steep_utilities_have_the_right_gradient_too(options: LikelihoodOptions) -> None:
    made, matrix = study(3, options)
    w = 200.0 * np.random.default_rng(3).normal(size=matrix.shape[1])  # where exp(2 g) is not used for tanh
    value, gradient = made.objective.evaluate(matrix, w)
    assert np.isfinite(value)
    direction = np.random.default_rng(4).normal(size=len(w))
    up, down = (made.objective.evaluate(matrix, w + h * direction)[0] for h in (1e-4, -1e-4))
    assert gradient @ direction == pytest.approx((up - down) / 2e-4, rel=1e-5)


@pytest.mark.parametrize("options", SETTINGS)
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_our_climb_reaches_what_scipy_finds(seed: int, options: LikelihoodOptions) -> None:
    made, matrix = study(seed, options)

    def loss(w: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradient = made.objective.evaluate(matrix, w)
        return -value, -gradient

    fit = made.objective.fit(matrix)
    peer = minimize(loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-8, "ftol": 1e-14})
    assert fit.converged
    assert np.abs(made.objective.evaluate(matrix, fit.weights)[1]).max() < 1e-3
    assert fit.objective == pytest.approx(-peer.fun, abs=1e-4) or fit.objective > -peer.fun
    again = minimize(loss, fit.weights, jac=True, method="L-BFGS-B", options={"gtol": 1e-8, "ftol": 1e-14})
    assert fit.objective == pytest.approx(-again.fun, abs=1e-5)  # it is a maximum


@LAW
@given(st.integers(0, 500), st.sampled_from(SETTINGS))
def test_merging_states_and_plans_changes_neither_value_nor_gradient(seed: int, options: LikelihoodOptions) -> None:
    made, matrix = study(seed, options)
    w = np.random.default_rng(seed).normal(size=matrix.shape[1])
    objective = made.objective
    merged = objective.compress(matrix)
    plain = _Compressed(matrix, objective._groups, objective._intended, options, merge=False)
    value, gradient, logs = merged.evaluate(w)
    expected = plain.evaluate(w)
    # a pair of states with equal features costs nothing where it is merged, and a constant where it is not
    constant = 0.5 * options.hinge * options.margin**2
    pairs = round((value - expected[0]) / constant) if constant else 0
    assert pairs >= 0
    assert value == pytest.approx(expected[0] + pairs * constant, abs=1e-8)
    assert gradient == pytest.approx(expected[1], abs=1e-9)
    assert logs == pytest.approx(expected[2], abs=1e-9)
    assert len(merged.features) <= len(matrix)


def test_the_objective_is_the_formula() -> None:
    """J of one demonstration in one small world, written out."""
    world = RandomWorld(11, states=5, horizon=3)
    shown = random_plan(world, 0, np.random.default_rng(0))
    made = Study(ShownPlans([Episode(world, shown)], chance_failures="none"))
    concepts = [parse_concept(text, made.training.domain) for text in ("some(p0)", "all(p1)")]
    w = np.array([0.7, -1.1])
    values, _ = made.training.matrix(concepts)
    graph = made.training.graphs[0]
    g = np.zeros(world.states)
    for number, row in enumerate(made.training.rows(0, np.arange(len(graph)))):
        g[graph.states[number]] = values[row] @ w if row < len(values) else 0.0

    def u(plan: Any) -> float:
        return 2.0 * (len(plan) - 1) * pair_mean(g[:, None], plan, 1.0)

    log_z = np.log(sum(p * np.exp(u(plan)) for plan, p in all_plans(world, (0,), 3)))
    states = world_states(graph, [graph.intern(s) for s in shown.states])
    seen = {s: tuple(values[made.training.rows(0, np.array([graph.intern(s)]))[0]]) for s in states}
    hinge = sum(
        max(0.0, 0.5 - (g[b] - g[a])) ** 2 for i, b in enumerate(states) for a in states[:i] if seen[a] != seen[b]
    )
    expected = u(states) - log_z - 0.015 * w @ w - hinge
    assert made.objective.evaluate(values, w)[0] == pytest.approx(expected, abs=1e-9)


def test_chance_failures_are_marginalised_over_what_could_have_happened() -> None:
    world = Didactic(0.1)
    failed = record(world, ["a1"] * 4, outcomes=[1, None, None, None])
    shown = ShownPlans([Episode(world, failed)]).cases[0].shown[0]
    graph = ShownPlans([Episode(world, failed)]).graphs[0]
    assert [world_states(graph, plan) for plan in shown.plans] == [("S0", "b1", "b1", "b1", "b1"), ("S0", "S1", "g")]
    assert np.exp(shown.log_share) == pytest.approx([0.0, 0.9], abs=1e-9)  # one cannot have meant to stay at b1
    assert world_states(graph, shown.intended) == ("S0",)
    plain = ShownPlans([Episode(world, failed)], chance_failures="none").cases[0].shown[0]
    assert plain.log_share == (0.0,)
    marked = record(world, ["a1"] * 4, outcomes=[1, None, None, None])
    assert ShownPlans([Episode(world, marked)], chance_failures="marked").cases[0].shown[0].clean == 5


@pytest.mark.parametrize("p", [0.02, 0.5, 0.7, 0.98])
def test_what_was_meant_is_the_outcome_from_which_a_plan_can_rise_however_rare_it_is(p: float) -> None:
    world = Didactic(p)
    ways = (["a1"] * 4, [1, None, None, None]), (["a1"] * 2, [0, None])
    lost, won = ShownPlans([Episode(world, record(world, *way)) for way in ways]).cases[0].shown
    assert (lost.clean, won.clean) == (1, 3)
    assert len(won.plans) == 1


@LAW
@given(st.integers(0, 10_000))
def test_grouping_finds_equal_rows_and_adds_the_weights_of_equal_plans(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 2, (12, 2)) * rng.choice([1.0, -0.0, 0.5])
    code, first = distinct_rows(table)
    for i in range(12):
        for j in range(12):
            assert (code[i] == code[j]) == bool((table[i] == table[j]).all())
    assert (code[first] == np.arange(len(first))).all()
    lengths = rng.integers(1, 4, 30)
    plans = np.where(np.arange(3) < lengths[:, None], rng.integers(0, 12, (30, 3)), -1)
    log_weight = rng.normal(size=30)
    groups = np.array([0, 10, 10, 30])
    rows, total, starts = distinct_plans(plans, lengths, log_weight, groups, code)
    for k in range(3):
        expected: dict[tuple[int, ...], float] = {}
        for i in range(groups[k], groups[k + 1]):
            name = tuple(code[plans[i, : lengths[i]]])
            expected[name] = expected.get(name, 0.0) + np.exp(log_weight[i])
        kept = range(starts[k], starts[k + 1])
        found = {tuple(code[plans[rows[n], : lengths[rows[n]]]]): np.exp(total[n]) for n in kept}
        assert found == pytest.approx(expected)
        assert len(kept) == len(expected)
