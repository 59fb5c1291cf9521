"""Evaluation: behaviour under chance is exact, the protocol finds what it should."""

from __future__ import annotations

import pytest

from meip import BudgetError, Episode, LearningError, Task, learn, record
from meip.baselines.planner import maxent_planner
from meip.experiments.rites import paper_demonstrations
from meip.model.graph import StateGraph
from meip.tasks.behaviour import behaviours, search_planner
from meip.tasks.evaluation import Metric, evaluate, task_metrics
from meip.tasks.task import precedence
from meip.utility.ranking import UtilityRanking
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual


@pytest.fixture(scope="module")
def ritual() -> Task:
    return learn(paper_demonstrations("enforced"))


@pytest.fixture(scope="module")
def didactic() -> Task:
    world = Didactic(0.1)
    return learn([Episode(world, record(world, ["a1", "a1"], [0, None])) for _ in range(5)])


def test_behaviour_follows_every_outcome_with_its_probability(didactic: Task) -> None:
    graph = StateGraph(Didactic(0.3))
    ways = behaviours(graph, search_planner(UtilityRanking(didactic.members), "exact"))
    assert sum(way.probability for way in ways) == pytest.approx(1.0)
    named = {tuple(graph.states[s] for s in way.states): way.probability for way in ways}
    assert named == {("S0", "S1", "g"): pytest.approx(0.7), ("S0", "b1", "b1", "b1", "b1"): pytest.approx(0.3)}


def test_too_much_chance_is_a_budget_error(didactic: Task) -> None:
    with pytest.raises(BudgetError, match="more than 1 ways"):
        behaviours(StateGraph(Didactic(0.3)), search_planner(UtilityRanking(didactic.members), "exact"), most=1)


def test_the_protocol_measures_the_chance_of_the_goal_exactly(didactic: Task) -> None:
    desired = Metric(
        "desired", lambda graph, way: float([graph.states[s] for s in way.states] == ["S0", "S1", "g"]), True
    )
    worlds = {"rare": Didactic(0.1), "frequent": Didactic(0.3)}
    rows = evaluate(didactic, worlds, [desired], searches=3, iterations=500)
    assert [row["value"] for row in rows] == pytest.approx([0.9, 0.7])
    assert all(row["low"] < row["value"] < row["high"] and row["n"] == 3 for row in rows)


def test_the_ritual_carries_over_and_the_baseline_loses_the_order(ritual: Task) -> None:
    worlds = {"free-5": Ritual(order="free")}
    rows = evaluate(ritual, worlds, searches=3, method="beam")
    found = {row["metric"]: row["value"] for row in rows}
    assert found == {"tau": 1.0, "match": 1.0, "order": 1.0, "length": 3.0}
    terms = [term for term in ritual.members[0].terms if precedence(term.concept) is None]
    planner = maxent_planner(terms, paper_demonstrations("enforced"), "visits")
    rows = evaluate(planner, worlds, task_metrics(ritual), searches=3, name="maxent-irl", statistic="visits")
    found = {row["metric"]: row["value"] for row in rows}
    assert found["match"] == 1.0 and found["order"] == 0.0
    assert {row["statistic"] for row in rows} == {"visits"}


def test_a_planner_needs_metrics(ritual: Task) -> None:
    with pytest.raises(LearningError, match="needs metrics"):
        evaluate(search_planner(UtilityRanking(ritual.members)), {"free": Ritual()})


def test_the_same_seed_gives_the_same_rows(ritual: Task) -> None:
    worlds = {"free": Ritual(objects=3)}
    first = evaluate(ritual, worlds, searches=2, iterations=300, seed=4)
    assert evaluate(ritual, worlds, searches=2, iterations=300, seed=4) == first
