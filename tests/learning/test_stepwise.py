"""The stepwise regime: what it is given, what it fits, and what it learns from five small ferry problems."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.optimize import minimize

from meip.base import documents
from meip.base.errors import LearningError
from meip.concepts.grammar import Grammar
from meip.concepts.parser import parse_concept
from meip.learning.checkpoint import Learned
from meip.learning.stepwise import StepwiseOptions, learn_stepwise
from meip.learning.stepwise.candidates import find_candidates, price
from meip.learning.stepwise.objective import Problem, build_problem, fit, log_likelihood
from meip.learning.stepwise.steps import Steps
from meip.model.demonstrations import Episode
from meip.model.graph import state_graph
from meip.utility.ranking import UtilityRanking
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import plan_demonstration, solve
from random_worlds import search


@cache
def ferry(seed: int, cars: int, landings: int = 3) -> Episode:
    world = PddlWorld("ferry", generate={"cars": cars, "landings": landings}, seed=seed)
    return Episode(world, plan_demonstration(world, solve(world)[0]))


@cache
def lessons() -> tuple[Episode, ...]:
    return tuple(ferry(seed, cars) for seed, cars in ((1, 1), (2, 2), (3, 2), (4, 3), (5, 3)))


@cache
def learned() -> Learned:
    return learn_stepwise(lessons(), StepwiseOptions(grammar=Grammar.planning(max_level=4)))


@cache
def steps() -> Steps:
    return Steps(lessons())


def test_five_small_ferry_problems_teach_to_solve_a_larger_one_greedily() -> None:
    world = PddlWorld("ferry", generate={"cars": 8, "landings": 6}, seed=77)
    walk = search(state_graph(world), UtilityRanking(learned().utilities), method="greedy", horizon=101)
    assert walk.stopped_by == "goal"
    assert len(walk.actions) <= 8 * 8  # four a car at best


def test_the_same_seed_learns_the_same_bytes() -> None:
    again = learn_stepwise(lessons(), StepwiseOptions(grammar=Grammar.planning(max_level=4)))
    assert _text(again) == _text(learned())
    assert again.evidence == learned().evidence


def _text(result: Learned) -> list[str]:
    return [documents.canonical(documents.dump(u)) for u in result.utilities]


def test_the_evidence_says_which_model_won_and_by_how_much() -> None:
    evidence = learned().evidence
    solved = {trial["model"]: trial["solved"] for trial in evidence["trials"]}
    assert solved[evidence["model"]] == max(solved.values())
    walks = 7 * 4  # five problems once, and the longer two at once; each from its initial state and three others
    assert {trial["of"] for trial in evidence["trials"]} == {walks}


def test_learning_tells_its_stages_with_something_to_look_at() -> None:
    seen: list[str] = []
    options = StepwiseOptions(grammar=Grammar.planning(max_level=2), choice="single")
    learn_stepwise(lessons()[:2], options, lambda info: seen.append(info["stage"]))
    assert seen[:2] == ["reading", "candidates"]
    assert set(seen[2:-1]) == {"held-out"}
    assert seen[-1] == "fitted"


def test_every_demonstrated_step_lists_all_successors_and_knows_the_shown_one() -> None:
    for shown in steps().readings["shown"]:
        graph = shown.graph
        assert len(shown.choices) == shown.steps + 1  # and to stop at the goal
        for choice in shown.choices:
            assert 0 <= choice.shown < len(choice.outcomes)
            assert choice.shown not in choice.also
        assert len(shown.choices[0].outcomes) == len(graph.action_numbers(int(graph.initial[0])))


def test_candidates_differ_in_their_increments_and_twins_do_not() -> None:
    found = find_candidates(steps().denotation(), steps().problem_of, Grammar.planning(max_level=4))
    problems = np.array(steps().problem_of)
    relative = found.values.copy()
    for number in np.unique(problems):
        relative[problems == number] -= found.values[problems == number][0]
    columns = {relative[:, k].tobytes() for k in range(len(found.concepts))}
    assert len(columns) == len(found.concepts)
    some = [(k, concept, sign) for k, twins in enumerate(found.twins) for concept, sign in twins]
    values, _ = steps().denotation().matrix([concept for _, concept, _ in some])
    for position, (k, _, sign) in enumerate(some):
        column = values[:, position].copy()
        for number in np.unique(problems):
            column[problems == number] -= column[problems == number][0]
        assert np.array_equal(sign * column, relative[:, k])


def test_a_predicate_with_its_own_goal_copy_is_one_idea() -> None:
    domain = steps().domain
    texts = ("count(at)", "count(at and at_goal)", "count(within(at, at_goal))", "count(some at.at-ferry)")
    assert [price(parse_concept(t, domain), domain) for t in texts] == pytest.approx(
        [1.0, 0.9**1.5, 0.9**1.5, 2.0**1.5]
    )


def _objective(problem: Problem, w: np.ndarray, margin: float = 0.5) -> float:
    """-J without the price, written out."""
    d = w @ problem.rises
    total = 0.0
    for low, high in zip(problem.first[:-1], problem.first[1:], strict=True):
        odds = np.exp(d[low:high] - d[low:high].max())
        total -= np.log(odds[problem.right[low:high]].sum() / odds.sum()) / (len(problem.first) - 1)
    g = w @ problem.states
    short = np.maximum(0.0, margin - (g[problem.later] - g[problem.earlier]))
    return float(total + 0.5 * (short**2).mean())


def test_the_fit_agrees_with_a_general_optimiser_on_the_split_weights() -> None:
    found = find_candidates(steps().denotation(), steps().problem_of, Grammar.planning(max_level=2))
    problem = build_problem(found.values, steps().readings["shown"], also=False)
    prices = 0.01 * np.array([c.complexity for c in found.concepts], dtype=np.float64)
    w = fit(problem, prices)
    n = len(prices)

    def split(x: np.ndarray) -> float:
        return _objective(problem, x[:n] - x[n:]) + float(prices @ (x[:n] + x[n:]))

    other = minimize(split, np.zeros(2 * n), bounds=[(0, None)] * (2 * n), options={"maxiter": 2000, "maxfun": 10**6})
    ours = _objective(problem, w) + float(prices @ np.abs(w))
    assert ours <= other.fun + 1e-5
    assert log_likelihood(problem, w) > log_likelihood(problem, np.zeros(n))


def test_a_high_price_selects_nothing() -> None:
    found = find_candidates(steps().denotation(), steps().problem_of, Grammar.planning(max_level=2))
    problem = build_problem(found.values, steps().readings["shown"], also=False)
    assert not fit(problem, np.full(len(found.concepts), 100.0)).any()


def test_bad_input_is_refused_in_words() -> None:
    with pytest.raises(LearningError, match="no demonstrations"):
        learn_stepwise([])
    with pytest.raises(LearningError, match="expected auto or one of"):
        StepwiseOptions(choice="best")
    with pytest.raises(LearningError, match="strengths"):
        StepwiseOptions(strengths=())
    other = PddlWorld("blocksworld", generate={"blocks": 2}, seed=1)
    mixed = Episode(other, plan_demonstration(other, solve(other)[0]))
    with pytest.raises(LearningError, match="about one domain"):
        learn_stepwise([lessons()[0], mixed])
