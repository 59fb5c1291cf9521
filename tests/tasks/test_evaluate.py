"""Evaluation: behaviour under chance is exact, the protocol finds what it should."""

from __future__ import annotations

from typing import Any

import pytest

from meip import BudgetError, Episode, LearningError, Run, Task, learn, record
from meip.baselines.agents import CloneAgent, MaxEntAgent, RandomAgent
from meip.experiments.rites import paper_demonstrations
from meip.learning.selection import precedence
from meip.model.graph import StateGraph
from meip.search.query import Query
from meip.tasks.evaluate import Metric, behaviours, evaluate, task_metrics
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual


@pytest.fixture(scope="module")
def ritual() -> Task:
    return learn(paper_demonstrations("enforced"), objective="plans")


@pytest.fixture(scope="module")
def didactic() -> Task:
    world = Didactic(0.1)
    concepts = ("some(at and bad)", "some(at and goal)", "some(at and waypoint)")
    return learn(
        [Episode(world, record(world, ["a1", "a1"], [0, None])) for _ in range(5)], objective="plans", concepts=concepts
    )


def test_behaviour_follows_every_outcome_with_its_probability(didactic: Task) -> None:
    graph = StateGraph(Didactic(0.3))
    ways = behaviours(graph, didactic, Query(method="exact"))
    assert sum(way.probability for way in ways) == pytest.approx(1.0)
    named = {tuple(graph.states[s] for s in way.states): way.probability for way in ways}
    assert named == {("S0", "S1", "g"): pytest.approx(0.7), ("S0", "b1", "b1", "b1", "b1"): pytest.approx(0.3)}


def test_too_much_chance_is_a_budget_error(didactic: Task) -> None:
    with pytest.raises(BudgetError, match="more than 1 ways"):
        behaviours(StateGraph(Didactic(0.3)), didactic, most=1)


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
    shown = {"demonstrated_match": 1.0, "demonstrated_order": 1.0}
    assert found == {**shown, "tau": 1.0, "match": 1.0, "order": 1.0, "length": 3.0}
    terms = [term for term in ritual.members[0].terms if precedence(term.concept) is None]
    agents = {
        "maxent-irl": MaxEntAgent(terms, paper_demonstrations("enforced"), "visits"),
        "clone": CloneAgent(paper_demonstrations("enforced")),
        "random": RandomAgent(),
    }
    rows = evaluate(agents, worlds, task_metrics(ritual), searches=3, conditions={"trained": "enforced"})
    found = {(row["method"], row["metric"]): row["value"] for row in rows}
    assert found["maxent-irl", "match"] == 1.0 and found["maxent-irl", "order"] == 0.0
    assert found["maxent-irl", "demonstrated_match"] == 1.0 and found["maxent-irl", "demonstrated_order"] < 0
    assert found["clone", "match"] == 1.0
    assert found["random", "match"] < 1.0
    assert {row["trained"] for row in rows} == {"enforced"}
    assert {row["search"] for row in rows} == {"policy", "clone", "random"}


def test_a_task_is_evaluated_as_it_plans_for_users(ritual: Task) -> None:
    world = Ritual(order="free", objects=4)
    (row, *_) = evaluate(ritual, {"free": world}, searches=1)
    assert row["search"] == ritual.plan(world).method == "exact"


def test_all_agents_act_in_one_graph_of_a_world(ritual: Task) -> None:
    asked: list[int] = []

    class Counted(Ritual):
        def initial(self):  # type: ignore[no-untyped-def]
            asked.append(1)
            return super().initial()

    agents = {"one": ritual, "two": ritual, "random": RandomAgent()}
    evaluate(agents, {"free": Counted(order="free", objects=2)}, searches=2, method="beam")
    assert len(asked) == 1


def test_jobs_do_not_change_the_rows(ritual: Task) -> None:
    worlds = {f"free-{n}": Ritual(order="free", objects=n) for n in (2, 3)}
    one = evaluate(ritual, worlds, searches=2, method="beam")
    assert evaluate(ritual, worlds, searches=2, method="beam", run=Run(jobs=2)) == one


@pytest.mark.parametrize("method", ["beam", "mcts"])
def test_a_single_world_is_divided_among_workers_and_the_rows_are_the_same(didactic: Task, method: str) -> None:
    agents = {"one": didactic, "random": RandomAgent(), "two": didactic}
    asked = {"searches": 7, "method": method, "iterations": 60, "chance": "expectation"}
    told: list[dict[str, Any]] = []
    one = evaluate(agents, {"didactic": Didactic(0.3)}, **asked)  # type: ignore[arg-type]
    two = evaluate(agents, {"didactic": Didactic(0.3)}, run=Run(jobs=2, progress=told.append), **asked)  # type: ignore[arg-type]
    assert two == one
    assert told[-1] == {"stage": "parts", "done": 2, "of": 2}


def test_a_planner_needs_metrics(ritual: Task) -> None:
    with pytest.raises(LearningError, match="needs metrics"):
        evaluate(RandomAgent(), {"free": Ritual()})
    with pytest.raises(LearningError, match="a search has no option 'iteration'; did you mean 'iterations'"):
        evaluate(ritual, {"free": Ritual()}, iteration=3)


def test_the_same_seed_gives_the_same_rows(ritual: Task) -> None:
    worlds = {"free": Ritual(objects=3)}
    first = evaluate(ritual, worlds, searches=2, iterations=300, seed=4)
    assert evaluate(ritual, worlds, searches=2, iterations=300, seed=4) == first
