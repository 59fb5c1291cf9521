"""Planning by the utility of single states: greedy and best-first, in worlds with and without planners of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from meip import Episode, Task, learn
from meip.cli import main
from meip.model.graph import StateGraph
from meip.search.guided import best_first, walk
from meip.utility.ranking import UtilityRanking
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import plan_demonstration, solve


def ferry(seed: int, cars: int) -> PddlWorld:
    return PddlWorld("ferry", generate={"cars": cars, "landings": 3}, seed=seed)


@pytest.fixture(scope="module")
def task() -> Task:
    worlds = [ferry(seed, 2) for seed in range(4)]
    return learn([Episode(world, plan_demonstration(world, solve(world, 20.0)[0])) for world in worlds])


def test_a_domain_with_goals_is_learned_stepwise_and_says_why(task: Task) -> None:
    assert task.provenance.regime == "stepwise"
    assert "goals" in task.provenance.evidence["regime"]
    assert task.tau_demo > 0.5


@pytest.mark.parametrize("method", ["auto", "greedy", "gbfs"])
def test_a_stepwise_task_solves_larger_problems(task: Task, method: str) -> None:
    plan = task.plan(ferry(9, 5), method=method)
    assert plan.goal is True and plan.stopped_by == "goal"
    assert plan.method == ("greedy" if method == "auto" else method)


def test_any_world_can_be_walked_and_searched_best_first(task: Task) -> None:
    world = ferry(9, 3)
    graph, ranking = StateGraph(world), UtilityRanking(task.members)
    for found in (walk(graph, ranking, 100), best_first(graph, ranking, 100)):
        assert found.stopped_by == "goal"
        assert world.reached(graph.states[found.states[-1]])
        for state, action, after in zip(found.states, found.actions, found.states[1:], strict=False):
            assert after in [s for _, s in graph.outcomes(action)] and action in graph.action_numbers(state)


def test_limits_are_kept_and_named(task: Task) -> None:
    graph, ranking = StateGraph(ferry(9, 5)), UtilityRanking(task.members)
    assert walk(graph, ranking, 3).stopped_by == "horizon"
    assert len(walk(graph, ranking, 3).states) == 3
    assert best_first(graph, ranking, 100, expansions=2).stopped_by == "expansions"
    assert best_first(graph, ranking, 100, seconds=0.0).stopped_by == "seconds"
    assert task.plan(ferry(9, 5), horizon=3).goal is False


def test_pddl_files_are_learned_from_and_planned_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def run(*arguments: str) -> int:
        with pytest.raises(SystemExit) as caught:
            main(list(arguments))
        return int(caught.value.code or 0)

    domain, problem, plan = tmp_path / "domain.pddl", tmp_path / "big.pddl", tmp_path / "big.plan"
    for seed in range(3):
        name = str(tmp_path / f"p{seed}")
        sizes = ["--size", "cars=2", "--size", "landings=3", "--seed", str(seed)]
        assert run("generate", "ferry", *sizes, "-o", f"{name}.pddl", "--domain-output", str(domain)) == 0
        assert run("demonstrate", str(domain), f"{name}.pddl", "-o", f"{name}.plan") == 0
    assert run("generate", "ferry", "--size", "cars=4", "--seed", "9", "-o", str(problem)) == 0
    task = str(tmp_path / "task.json")
    assert run("learn", "--domain", str(domain), "--plans", str(tmp_path), "-o", task) == 0
    assert run("plan", task, str(problem), "--domain", str(domain), "-o", str(plan)) == 0
    assert plan.read_text().startswith("(")
    assert "the goal is reached" in capsys.readouterr().out


def test_single_steps_are_followed_in_worlds_without_a_goal_too() -> None:
    from meip.experiments.rites import paper_demonstrations
    from meip.worlds.ritual import Ritual

    task = learn(paper_demonstrations("enforced"), regime="stepwise", committee=1)
    plan = task.plan(Ritual(order="enforced"))
    assert plan.method == "greedy" and plan.goal is None and len(plan.steps) == 3
