"""The golden numbers: exact values on tiny worlds, through the public pieces only."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest

from meip.baselines.maxent_irl import MaxEntIRL, TabularWorld
from meip.baselines.tabular import solve
from meip.concepts.parser import parse_concept
from meip.concepts.values.columns import GraphColumns
from meip.experiments.rites import PAPER, grade, paper_demonstrations
from meip.learning.learner import Learner, Study, StudyOptions, Trial
from meip.learning.likelihood import LikelihoodOptions
from meip.learning.pursuit import Pursuit
from meip.learning.shown import ShownPlans
from meip.model.demonstrations import Episode, record
from meip.model.graph import StateGraph
from meip.search.plans import enumerate_plans, sample_model
from meip.search.pool import Pool, PoolOptions, relaxed_log_odds
from meip.utility.ordering import batch_tau, kendall_tau, relaxed_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import UtilityTerm, features, with_weights
from meip.worlds.didactic import PLACES, Didactic
from meip.worlds.ritual import Ritual
from random_worlds import search

A, E, Q = "all(torch@1)", "some(bamboo@2)", "count(clay@3) = 4"
ORDER = [f"{E} and not {A}", f"({Q}) and not {E}", f"({Q}) and not {A}"]
NO_HINGE = LikelihoodOptions(hinge=0.0)
PLACE_CONCEPTS = ["some(at | bad)", "some(at | goal)", "some(at | waypoint)"]


@cache
def study(order: str, likelihood: LikelihoodOptions | None = None) -> Study:
    training = ShownPlans(paper_demonstrations(order))
    return Study(training, StudyOptions(likelihood=likelihood or LikelihoodOptions()))


@cache
def fitted(order: str, concepts: tuple[str, ...], likelihood: LikelihoodOptions | None = None) -> Trial:
    wanted = study(order, likelihood)
    return wanted.fit([parse_concept(text, wanted.training.domain) for text in concepts])


def matrix(wanted: Study, concepts: Sequence[str]) -> np.ndarray:
    parsed = [parse_concept(text, wanted.training.domain) for text in concepts]
    values, missing = wanted.training.matrix(parsed)
    return features([wanted.term(c, values[:, k], missing[:, k]) for k, c in enumerate(parsed)], values, missing)


@cache
def free_graph(objects: int) -> StateGraph:
    graph = StateGraph(Ritual(objects=objects))
    graph.expand_all()
    return graph


def best_plan_grade(trial: Trial, objects: int) -> tuple[float, float]:
    graph = free_graph(objects)
    found = search(graph, UtilityRanking([trial.utility]), method="exact")
    return grade(PAPER, graph.world, [graph.action(a) for a in found.actions])


def test_1_three_rising_ranks() -> None:
    assert 3 * relaxed_tau([0.0, 1.0, 2.0]) == pytest.approx(2.48722, abs=1e-5)
    assert 3 * relaxed_tau([2.0, 1.0, 0.0]) == pytest.approx(-2.48722, abs=1e-5)
    assert (kendall_tau([0.0, 1.0, 2.0]), kendall_tau([2.0, 1.0, 0.0])) == (1.0, -1.0)


@pytest.mark.parametrize(
    ("order", "objects", "plans"), [("enforced", 5, 4096), ("free", 5, 24_576), ("free", 6, 41_154)]
)
def test_2_plans_of_the_ritual(order: str, objects: int, plans: int) -> None:
    graph = StateGraph(Ritual(objects=objects, order=order))  # type: ignore[arg-type]
    found = enumerate_plans(graph, int(graph.initial[0]), graph.horizon)
    assert len(found) == plans
    assert np.exp(found.log_base).sum() == pytest.approx(1.0, abs=1e-9)


def test_2_states_of_the_ritual() -> None:
    assert len(free_graph(5)) == 4913


@pytest.mark.parametrize("order", ["enforced", "free"])
def test_3_without_weights_only_the_hinge_costs(order: str) -> None:
    for concepts, expected in (((A,), -3.75), ((A, E, Q), -7.5)):
        table = matrix(study(order), concepts)
        assert study(order).objective.evaluate(table, np.zeros(len(concepts)))[0] == pytest.approx(expected, abs=1e-9)
        without = study(order, NO_HINGE).objective.evaluate(
            matrix(study(order, NO_HINGE), concepts), np.zeros(len(concepts))
        )
        assert without[0] == pytest.approx(0.0, abs=1e-9)
    zero = with_weights([UtilityTerm(parse_concept(A), "boolean")], [0.0])
    pool = study(order).pools[0]
    odds = relaxed_log_odds(pool.plans, UtilityRanking([zero])(pool.graph))
    assert odds == pytest.approx(np.zeros(len(pool)), abs=1e-12)
    assert pool.log_z(odds) == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("likelihood", [None, NO_HINGE])
def test_4_gradient_against_finite_differences(likelihood: LikelihoodOptions | None) -> None:
    wanted = study("enforced", likelihood)
    table = matrix(wanted, [A, E, Q, *ORDER])
    w = np.random.default_rng(0).normal(size=6)
    gradient = wanted.objective.evaluate(table, w)[1]
    for k in range(6):
        step = 1e-5 * np.eye(6)[k]
        up, down = (wanted.objective.evaluate(table, w + d)[0] for d in (step, -step))
        assert gradient[k] == pytest.approx((up - down) / 2e-5, abs=1e-5)


@pytest.mark.parametrize(
    ("order", "w", "j", "log_z"), [("enforced", 2.8536, 10.909, 0.7739), ("free", 2.5347, 9.5226, 1.0387)]
)
def test_5_one_concept(order: str, w: float, j: float, log_z: float) -> None:
    trial = fitted(order, (A,))
    assert trial.fit.converged
    assert trial.fit.weights == pytest.approx([w], abs=1e-3)
    assert trial.fit.objective == pytest.approx(j, abs=1e-3)
    assert trial.fit.log_z == pytest.approx([log_z], abs=1e-3)
    assert trial.taus == pytest.approx([0.5] * 5)


@pytest.mark.parametrize(
    ("order", "likelihood", "w", "j"),
    [
        ("enforced", NO_HINGE, (2.545, 0.174, 2.545), 18.158),
        ("free", NO_HINGE, (2.2234, 0.4138, 2.2234), 17.081),
        ("enforced", None, (2.5088, 0.3426, 2.5088), 17.900),
        ("free", None, (2.2172, 0.4683, 2.2172), 17.067),
    ],
)
def test_6_and_7_three_concepts(order: str, likelihood: LikelihoodOptions | None, w: Sequence[float], j: float) -> None:
    trial = fitted(order, (A, E, Q), likelihood)
    assert trial.fit.weights == pytest.approx(w, abs=1e-3)
    assert trial.fit.objective == pytest.approx(j, abs=1e-3)


def test_6_an_additive_utility_knows_no_order() -> None:
    """Every order of the three achievements is among the best plans of free-5: mean order tau 0, match 1."""
    graph = free_graph(5)
    trial = fitted("free", (A, E, Q), NO_HINGE)
    plans = enumerate_plans(graph, int(graph.initial[0]), graph.horizon)
    g = UtilityRanking([trial.utility])(graph)[:, 0]
    ranks = g[plans.states]
    best = (np.diff(ranks, axis=1) > 1e-9).all(axis=1)  # sign-tau 1
    moves = [plans.actions[i, 1 : plans.lengths[i]] for i in np.flatnonzero(best)]
    grades = [grade(PAPER, graph.world, [graph.action(int(a)) for a in own]) for own in moves]
    assert np.mean([order for order, _ in grades]) == pytest.approx(0.0, abs=1e-9)
    assert {match for _, match in grades} == {1.0}


@pytest.mark.parametrize(
    ("order", "w", "j", "log_z"),
    [
        ("enforced", (0.800, 0.840, 2.381, -2.084, -2.586, -1.254), 22.3764, 0.7224),
        ("free", (0.492, 1.997, 2.296, -3.649, -2.657, -1.394), 24.4509, 0.3997),
    ],
)
def test_8_six_concepts(order: str, w: Sequence[float], j: float, log_z: float) -> None:
    trial = fitted(order, (A, E, Q, *ORDER))
    assert trial.fit.weights == pytest.approx(w, abs=1e-2)
    assert trial.fit.objective == pytest.approx(j, abs=1e-3)
    assert trial.fit.log_z == pytest.approx([log_z], abs=1e-3)
    assert best_plan_grade(trial, 5) == (1.0, 1.0)
    assert best_plan_grade(trial, 6) == (1.0, 1.0)


@pytest.mark.parametrize("order", ["enforced", "free"])
def test_9_pursuit_finds_exactly_these_concepts(order: str) -> None:
    found = Pursuit().fit(paper_demonstrations(order))
    domain = Ritual().domain
    assert set(found.concepts_) == {parse_concept(text, domain) for text in (A, E, Q, *ORDER)}


@pytest.mark.parametrize(
    ("concept", "share", "tau"),
    [(A, 1.905, 0.5), ("count(torch@1) = 5", 1.905, 0.5), (E, 1.615, 2 / 3), ("count(bamboo@2) = 1", 1.319, 0.4)],
)
def test_10_single_concepts(concept: str, share: float, tau: float) -> None:
    trial = fitted("free", (concept,))
    assert trial.fit.objective / 5 == pytest.approx(share, abs=1e-3)
    if concept == A:
        other = fitted("free", ("count(torch@1) = 5",))
        assert trial.fit.objective == pytest.approx(other.fit.objective, abs=1e-6)
    assert trial.tau() == pytest.approx(tau, abs=1e-3)


def test_11_base_rollouts_alone_weigh_the_same() -> None:
    pool = Pool(StateGraph(Ritual()), 0, 4, PoolOptions(exact_limit=10, rollouts=300))
    assert not pool.exact
    assert pool.log_weight == pytest.approx(np.full(300, -np.log(300)), abs=1e-12)


def test_11_sequential_monte_carlo_is_unbiased() -> None:
    trial = fitted("free", (A, E, Q, *ORDER))
    graph, ranking = free_graph(5), UtilityRanking([trial.utility])
    ratios = [np.exp(sample_model(graph, ranking, 0, 4, 100, seed)[1] - trial.fit.log_z[0]) for seed in range(100)]
    assert abs(np.mean(ratios) - 1) < 3 * np.std(ratios, ddof=1) / 10
    assert np.std(ratios) < 0.5


def didactic_demonstrations(failures: int, successes: int) -> list[Episode]:
    world = Didactic(0.1)
    good = record(world, ["a1", "a1"], outcomes=[0, None])
    bad = record(world, ["a1"] * 4, outcomes=[1, None, None, None])
    return [Episode(world, good)] * successes + [Episode(world, bad)] * failures


def heights(learner: Learner) -> np.ndarray:
    """g of S0, S1, b1, b2, goal."""
    graph = StateGraph(Didactic(0.1))
    numbers = [graph.intern(place) for place in PLACES]
    return UtilityRanking([learner.utility_])(graph)[numbers, 0]


def expected_values(learner: Learner, p: float, chance: str = "expectation", scale: float = 1.0) -> tuple[float, ...]:
    graph = StateGraph(Didactic(p))
    ranking = UtilityRanking([learner.utility_])
    return tuple(move.value for move in search(graph, ranking, method="exact", chance=chance, scale=scale).root)


@cache
def didactic_learner() -> Learner:
    return Learner(PLACE_CONCEPTS).fit(didactic_demonstrations(0, 5))


def test_12_the_didactic_mdp() -> None:
    learner = didactic_learner()
    assert heights(learner) == pytest.approx([0, 1.4145, -1.8802, -1.8802, 3.0393], abs=1e-3)
    assert learner.objective_ == pytest.approx(3.2705, abs=1e-3)
    assert expected_values(learner, 0.1) == pytest.approx([0.8046, 0.3469], abs=1e-3)
    assert expected_values(learner, 0.3) == pytest.approx([0.5409, 0.3469], abs=1e-3)


def test_13_chance_failures_are_marginalised() -> None:
    episodes = didactic_demonstrations(3, 7)
    learner = Learner(PLACE_CONCEPTS).fit(episodes)
    assert heights(learner) == pytest.approx([0, 1.66, -2.12, -2.12, 3.52], abs=1e-2)
    _, _, bad, _, goal = heights(Learner(PLACE_CONCEPTS, chance_failures="none").fit(episodes))
    assert (bad, goal) == pytest.approx((3.37, 1.01), abs=1e-2)  # what would be learned without


def break_even(prefers: dict[float, bool]) -> float:
    """The smallest p from which a2 is preferred."""
    return min((p for p, first in prefers.items() if not first), default=1.0)


def sweep() -> list[float]:
    return [round(0.01 * k, 2) for k in range(2, 99)]


def test_14_break_even_of_planning_by_expectation() -> None:
    values = {p: expected_values(didactic_learner(), p, scale=0.0) for p in sweep()}
    assert break_even({p: first > second for p, (first, second) in values.items()}) == pytest.approx(0.48, abs=0.011)


def test_14_break_even_of_planning_by_the_posterior() -> None:
    """lambda = P over listed plans; the planner's own lambda = 2(h - 1) breaks even where its closed form does."""
    prefers = {}
    for p in sweep():
        graph = StateGraph(Didactic(p))
        plans = enumerate_plans(graph, 0, 5)
        tau = batch_tau(plans.states, plans.lengths, UtilityRanking([didactic_learner().utility_])(graph)[:, 0])
        mass = np.exp(plans.log_base + plans.lengths * (plans.lengths - 1) / 2 * tau)
        first, second = graph.action_numbers(0)
        prefers[p] = mass[plans.actions[:, 1] == first].sum() > mass[plans.actions[:, 1] == second].sum()
    assert break_even(prefers) == pytest.approx(0.87, abs=0.011)
    values = {p: expected_values(didactic_learner(), p, "posterior", scale=0.0) for p in sweep()}
    closed = (np.exp(4) - np.exp(4 / 3)) / (np.exp(4) - np.exp(-8 * 0.4))
    assert break_even({p: first > second for p, (first, second) in values.items()}) == pytest.approx(closed, abs=0.011)


def place_features(graph: StateGraph, concepts: Sequence[str]) -> np.ndarray:
    graph.expand_all()
    parsed = [parse_concept(text, graph.world.domain) for text in concepts]
    return GraphColumns(graph).matrix(parsed)[0]


def tabular(p: float, concepts: Sequence[str] = PLACE_CONCEPTS[:2]) -> tuple[StateGraph, TabularWorld]:
    graph = StateGraph(Didactic(p))
    return graph, TabularWorld.from_graph(graph, place_features(graph, concepts))


def test_14_break_even_of_maxent_irl() -> None:
    graph, world = tabular(0.1)
    plan = [graph.intern(place) for place in ("S0", "S1", "g")]
    model = MaxEntIRL(alpha=1e-3).fit(world, [plan] * 5)
    prefers = {}
    for p in np.arange(0.02, 0.99, 0.01):
        there, other = tabular(float(p))
        policy = model.policy(other)
        start = there.intern("S0")
        prefers[float(p)] = policy.actions[0, there.action_numbers(start)[0]] > 0.5
    assert break_even(prefers) == pytest.approx(0.24, abs=0.011)


def first_way_is_best(p: float, bad: float) -> bool:
    """With reward 1 for the goal, `bad` for each step in a bad place, a discount of .8 and (nearly) no horizon."""
    graph = StateGraph(Didactic(p, horizon=150))
    world = TabularWorld.from_graph(graph, place_features(graph, PLACE_CONCEPTS[:2]))
    policy = solve(world, world.features @ [bad, 1.0], choice="greedy", discount=0.8)
    return bool(policy.actions[0, graph.action_numbers(0)[0]] > 0.99)


def test_15_reward_bounds_of_the_papers_example() -> None:
    """r < -.16 at p = .1, r > +.48 (printed as r < -.48) at p = .3, and none at p = .2."""
    assert [first_way_is_best(0.1, r) for r in (-9.0, -0.161, -0.159, 9.0)] == [True, True, False, False]
    assert [first_way_is_best(0.3, r) for r in (-9.0, -0.481, 0.479, 0.481, 9.0)] == [False, False, False, True, True]
    assert not any(first_way_is_best(0.2, r) for r in (-100.0, -1.0, -0.1, 0.0, 0.1, 1.0, 100.0))
