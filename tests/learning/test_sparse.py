"""The sparse softmax over choices: against a general optimiser, and alternatives that nothing tells apart."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

from meip.concepts.parser import parse_concept
from meip.learning.offers import _price
from meip.learning.sparse import RIDGE, Problem, fit, once, path
from meip.worlds.pddl import PddlWorld


def random_problem(seed: int, choices: int = 12, columns: int = 6) -> Problem:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 6, choices)
    start = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    group = np.repeat(np.arange(choices), sizes)
    table = rng.integers(-1, 2, (len(group), columns)).astype(np.float64)
    chosen = start[:-1] + rng.integers(0, sizes)
    free = np.full(columns, np.inf)
    return Problem(table, start, group, chosen, np.ones(columns), -free, free, once(table, group))


def loss(problem: Problem, weights: np.ndarray) -> float:
    """The mean of -log P, alternatives with equal columns once, written out."""
    total = 0.0
    for a, b, shown in zip(problem.start[:-1], problem.start[1:], problem.chosen, strict=True):
        kinds = {tuple(row): np.exp(np.array(row) @ weights) for row in problem.columns[a:b].tolist()}
        total -= np.log(kinds[tuple(problem.columns[shown].tolist())] / sum(kinds.values()))
    return float(total / len(problem.chosen) + RIDGE / 2 * weights @ weights)


@pytest.mark.parametrize("seed", range(4))
def test_the_fit_agrees_with_a_general_optimiser_on_the_split_weights(seed: int) -> None:
    problem, strength = random_problem(seed), 0.02
    n = len(problem.price)

    def split(x: np.ndarray) -> float:
        return loss(problem, x[:n] - x[n:]) + strength * float(x.sum())

    other = minimize(split, np.zeros(2 * n), bounds=[(0, None)] * (2 * n))
    weights = path(problem, strength, np.ones(len(problem.chosen)))
    assert loss(problem, weights) + strength * np.abs(weights).sum() <= other.fun + 1e-4


def test_a_high_price_selects_nothing() -> None:
    problem = random_problem(5)
    assert not fit(problem, 100.0, np.zeros(len(problem.price)), np.ones(len(problem.chosen))).any()


def test_alternatives_that_no_column_tells_apart_count_once() -> None:
    columns = np.array([[1.0], [0.0], [0.0], [0.0], [0.0], [1.0]])
    group = np.array([0, 0, 0, 0, 1, 1])
    assert once(columns, group).tolist() == pytest.approx([1, 1 / 3, 1 / 3, 1 / 3, 1, 1])


def test_a_predicate_with_its_own_goal_copy_is_one_idea() -> None:
    domain = PddlWorld("ferry", generate={"cars": 1, "landings": 2}, seed=1).domain
    texts = ("count(at)", "count(at and at_goal)", "count(within(at, at_goal))", "count(some at.at-ferry)")
    assert [_price(parse_concept(t, domain), domain) for t in texts] == pytest.approx([1.0, 0.9, 0.9, 2.0])
