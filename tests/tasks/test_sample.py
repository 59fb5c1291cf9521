"""Drawing plans: in proportion to exp(lambda tau) P0, exactly where plans can be listed, nearly so elsewhere."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest

from meip import LearningError, Task, learn
from meip.experiments.rites import paper_demonstrations
from meip.model.graph import StateGraph
from meip.search.plans import enumerate_plans
from meip.tasks import sample
from meip.utility.ordering import batch_tau
from meip.worlds.ritual import Ritual

WORLD = Ritual(stages=2, types=("torch", "bamboo"), objects=2)


@pytest.fixture(scope="module")
def task() -> Task:
    given = ("all(torch@1)", "some(bamboo@2)", "some(bamboo@2) and not all(torch@1)")
    return learn(paper_demonstrations("free"), concepts=given)


def true_shares(task: Task, lambda_: float) -> dict[tuple[str, ...], float]:
    """exp(lambda tau) P0 of every plan, by its actions."""
    graph = StateGraph(WORLD)
    plans = enumerate_plans(graph, 0, WORLD.horizon)
    tau = batch_tau(plans.states, plans.lengths, np.ascontiguousarray(task.ranking(graph)[:, 0]))
    odds = np.exp(plans.log_base + lambda_ * tau)
    shares: Counter[tuple[str, ...]] = Counter()
    for k, share in enumerate(odds / odds.sum()):
        shares[tuple(str(graph.action(a)) for a in plans.actions[k, 1 : plans.lengths[k]])] += share
    return shares


def total_variation(task: Task, lambda_: float, count: int) -> float:
    drawn = task.sample(WORLD, count, lambda_, seed=1)
    seen = Counter(tuple(str(tuple(a)) for a in plan.actions) for plan in drawn)
    true = true_shares(task, lambda_)
    assert set(seen) <= set(true)
    return 0.5 * sum(abs(seen[plan] / count - share) for plan, share in true.items())


@pytest.mark.parametrize("lambda_", [0.0, 4.0, -2.0])
def test_plans_are_drawn_in_proportion_to_exp_lambda_tau(task: Task, lambda_: float) -> None:
    noise = 0.5 * np.sum(np.sqrt(2 * np.array(list(true_shares(task, lambda_).values())) / (np.pi * 20_000)))
    assert total_variation(task, lambda_, 20_000) < 0.005 + 1.5 * noise


def test_where_plans_cannot_be_listed_they_are_drawn_nearly_so(task: Task, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample, "LISTED", 10)
    assert "sequential Monte Carlo" in task.sample(WORLD, 1, 4.0)[0].method
    assert total_variation(task, 4.0, 20_000) < 0.05


def test_the_same_seed_draws_the_same_plans_and_a_large_lambda_the_best_ones(task: Task) -> None:
    assert task.sample(WORLD, 5, 3.0, seed=2) == task.sample(WORLD, 5, 3.0, seed=2)
    best = task.plan(WORLD).tau
    assert {plan.tau for plan in task.sample(WORLD, 20, 300.0)} == {best}
    with pytest.raises(LearningError, match="at least one plan"):
        task.sample(WORLD, 0)


def test_samples_of_a_task_learned_from_choices_say_that_it_was_not_learned_for_tau(task: Task) -> None:
    assert any("learned from choices" in note for note in task.sample(WORLD, 1)[0].notes)
    by_plans = learn(paper_demonstrations("free"), objective="plans", concepts=("all(torch@1)",))
    assert by_plans.sample(WORLD, 1)[0].notes == ()
