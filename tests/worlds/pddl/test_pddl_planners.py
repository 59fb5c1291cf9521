"""Planners and demonstrations: plans are valid by an independent validator, and bad ones are explained."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from meip.worlds.pddl.planners import Found, astar, gbfs, greedy
from numpy.typing import NDArray
from pddl_data import DOMAINS, ipc_folder

from meip.base.errors import BudgetError, DemonstrationError, DocumentError
from meip.model.demonstrations import replay
from meip.model.problems import load_problem
from meip.worlds.pddl import PddlWorld, shipped_domains
from meip.worlds.pddl.demonstrate import plan_demonstration, read_pair, read_pairs, solve
from meip.worlds.pddl.generators import generate, size_parameters
from meip.worlds.pddl.heuristics import RelaxedDistance, blind, goal_count
from meip.worlds.pddl.plans import step_text, write_plan
from meip.worlds.pddl.writer import domain_text, problem_text

SMALL = {"childsnack": {"children": 2, "tables": 1, "trays": 1}, "satellite": {"images": 2}}
DETERMINISTIC = [d for d in shipped_domains() if d != "slippery-blocks"]


def small(domain: str, seed: int = 0) -> PddlWorld:
    return PddlWorld(domain, generate=SMALL.get(domain, {}), seed=seed)


def is_valid(world: PddlWorld, steps: tuple[tuple[str, ...], ...]) -> bool:
    """The judgement of unified-planning's validator on its own reading of the files."""
    pytest.importorskip("unified_planning")
    from unified_planning.io import PDDLReader
    from unified_planning.shortcuts import PlanValidator, get_environment

    get_environment().credits_stream = None
    reader = PDDLReader()
    problem = reader.parse_problem_string(domain_text(world.file), problem_text(world.problem))
    plan = reader.parse_plan_string(problem, "".join(step_text(s) + "\n" for s in steps))
    with PlanValidator(problem_kind=problem.kind, plan_kind=plan.kind) as validator:
        return bool(validator.validate(problem, plan))


def check(world: PddlWorld, found: Found) -> None:
    """The states belong to the steps, and the goal is where it is said to be."""
    state = world.initial()[0][1]
    assert found.states[0].tobytes() == state
    for step, row in zip(found.steps, found.states[1:], strict=True):
        choices = [s for _, s in world.outcomes(state, step_text(step))]
        state = row.tobytes()
        assert state in choices
    assert found.solved == world.reached(state)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("domain", DETERMINISTIC)
def test_plans_are_valid_by_an_independent_validator(domain: str) -> None:
    world = small(domain)
    steps, _ = solve(world)
    assert is_valid(world, tuple(steps))
    assert not is_valid(world, tuple(steps[:-1]))


@pytest.mark.parametrize("domain", shipped_domains())
def test_generated_problems_are_solvable_and_not_solved_at_the_start(domain: str) -> None:
    for seed in range(3):
        world = small(domain, seed)
        assert not world.reached(world.initial()[0][1])
        assert solve(world)[0]


def test_the_same_seed_gives_the_same_problem_and_sizes_count() -> None:
    assert generate("ferry", 3, cars=5) == generate("ferry", 3, cars=5) != generate("ferry", 4, cars=5)
    world = PddlWorld("ferry", generate={"cars": 7, "landings": 5})
    assert world.instance.counts == {"car": 7, "landing": 5}
    assert size_parameters("ferry") == {"cars": 4, "landings": 3}


@pytest.mark.parametrize("sizes", [{"wheels": 3}, {"cars": 0}, {"landings": 1}, {"cars": True}])
def test_a_wrong_size_is_explained(sizes: dict[str, int]) -> None:
    with pytest.raises(ValueError, match="the ferry generator"):
        generate("ferry", 0, **sizes)


def test_a_star_finds_as_short_a_plan_as_blind_search() -> None:
    for seed in range(4):
        world = PddlWorld("blocksworld", generate={"blocks": 4}, seed=seed)
        shortest = astar(world.engine, blind)
        informed = astar(world.engine, RelaxedDistance(world.engine, "max"))  # type: ignore[arg-type]
        check(world, shortest)
        check(world, informed)
        assert len(shortest.steps) == len(informed.steps)
        assert informed.expansions <= shortest.expansions


def test_h_max_never_exceeds_the_true_distance_nor_h_add() -> None:
    world = PddlWorld("gripper", generate={"balls": 2}, seed=1)
    found = astar(world.engine, blind)
    least = RelaxedDistance(world.engine, "max")(found.states)  # type: ignore[arg-type]
    summed = RelaxedDistance(world.engine, "add")(found.states)  # type: ignore[arg-type]
    left = np.arange(len(found.steps), -1, -1)
    assert (least <= left).all() and (least <= summed).all() and least[-1] == summed[-1] == 0


def test_greedy_with_a_perfect_score_walks_straight_to_the_goal() -> None:
    world = PddlWorld("ferry", generate={"cars": 2, "landings": 2}, seed=2)

    def true_score(states: NDArray[np.uint64]) -> NDArray[np.float64]:
        ahead = []
        for row in states:
            world.engine.__dict__["initial"] = row
            ahead.append(-float(len(astar(world.engine, blind).steps)))
        world.engine.__dict__["initial"] = start
        return np.array(ahead)

    start = world.engine.initial
    shortest = astar(world.engine, blind)
    found = greedy(world.engine, true_score)
    check(world, found)
    assert found.solved and len(found.steps) == len(shortest.steps)


def test_greedy_never_visits_a_state_twice() -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 5}, seed=7)
    found = greedy(world.engine, blind, max_steps=60)
    assert len({row.tobytes() for row in found.states}) == len(found.states)


def test_best_first_search_keeps_few_ties_and_honours_its_limits() -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 8}, seed=1)
    engine = world.engine
    found = gbfs(engine, lambda s: goal_count(engine, s))
    check(world, found)
    limited = gbfs(engine, blind, max_expansions=5)
    assert not limited.solved and limited.reason == "expansion limit" and limited.expansions == 5
    assert gbfs(engine, blind, seconds=0.0).reason == "time limit"
    assert found == gbfs(engine, lambda s: goal_count(engine, s)) or found.steps


def test_the_same_search_gives_the_same_plan() -> None:
    one, two = (PddlWorld("blocksworld", generate={"blocks": 9}, seed=3).engine for _ in range(2))
    assert gbfs(one, lambda s: goal_count(one, s)).steps == gbfs(two, lambda s: goal_count(two, s)).steps


def test_a_plan_file_and_its_problem_become_a_demonstration(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(domain_text(PddlWorld("ferry").file))
    for seed in range(2):
        world = PddlWorld("ferry", seed=seed)
        (tmp_path / f"p{seed}.pddl").write_text(problem_text(world.problem))
        write_plan(tmp_path / f"p{seed}.plan", solve(world)[0])
    found = read_pairs(None, tmp_path)
    assert len(found) == 2
    world = load_problem(found[0].problem)  # the demonstration carries its problem with it
    plan = replay(world, found[0])
    assert world.reached(plan.states[-1])


def test_chance_takes_its_likeliest_course_in_demonstrations() -> None:
    world = PddlWorld("slippery-blocks", seed=1)
    steps, planner = solve(world)
    found = plan_demonstration(world, steps, by=planner)
    plan = replay(world, found)
    assert world.reached(plan.states[-1])
    assert min(plan.probabilities) >= 0.8


def test_the_first_illegal_step_is_named_with_its_precondition(tmp_path: Path) -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 3}, seed=0)
    steps, _ = solve(world)
    wrong = [*steps[:1], steps[0], *steps[1:]]
    with pytest.raises(
        DemonstrationError, match=r"a\.plan: step 2: .* is not legal: its precondition \(.*\) does not hold"
    ):
        plan_demonstration(world, wrong, where="a.plan")
    with pytest.raises(DemonstrationError, match="do not reach the goal; unmet: "):
        plan_demonstration(world, steps[:-1], where="a.plan")


def test_a_plan_without_its_problem_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="files here"):
        read_pairs("ferry", tmp_path)
    (tmp_path / "a.plan").write_text("")
    with pytest.raises(DocumentError, match=r"no a\.pddl beside it"):
        read_pairs("ferry", tmp_path)


def test_an_unsolvable_problem_ends_with_a_budget_error() -> None:
    text = "(define (problem p) (:domain ferry) (:objects c - car l m - landing) (:init (at-ferry l)) (:goal (at c m)))"
    with pytest.raises(BudgetError, match="no plan for problem 'p'"):
        solve(PddlWorld("ferry", text), seconds=2)


@pytest.mark.parametrize("name", DOMAINS)
def test_competition_plans_become_demonstrations(name: str) -> None:
    folder = ipc_folder() / name / "training"
    found = read_pair(folder / "p05.pddl", folder / "p05.plan")
    assert found.steps and found.problem["world"] == "pddl"
