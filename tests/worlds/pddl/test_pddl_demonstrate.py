"""Demonstrations of PDDL problems: plans are valid by an independent validator, and bad ones are explained."""

from __future__ import annotations

from pathlib import Path

import pytest
from pddl_data import DOMAINS, ipc_folder

from meip.base.errors import BudgetError, DemonstrationError, DocumentError
from meip.cli import main
from meip.model.demonstrations import replay
from meip.model.problems import load_problem
from meip.worlds.pddl import PddlWorld, shipped_domains
from meip.worlds.pddl.demonstrate import plan_demonstration, read_pair, read_pairs, solve
from meip.worlds.pddl.generators import generate, size_parameters
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


def test_a_plan_file_and_its_problem_become_a_demonstration(tmp_path: Path) -> None:
    (tmp_path / "domain.pddl").write_text(domain_text(PddlWorld("ferry").file))
    for seed in range(2):
        world = PddlWorld("ferry", seed=seed)
        (tmp_path / f"p{seed}.pddl").write_text(problem_text(world.problem))
        write_plan(tmp_path / f"p{seed}.plan", solve(world)[0])
    found = read_pairs(None, tmp_path)
    assert len(found) == 2
    for episode in found:
        assert episode.world.reached(episode.demonstration.states[-1])
    made = plan_demonstration(found[1].world, solve(found[1].world)[0])
    assert len(made.steps) <= len(found[1].demonstration.actions)
    world = load_problem(made.problem)  # the demonstration carries its problem with it
    assert world.reached(replay(world, made).states[-1])


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
    assert found.demonstration.actions and found.world.reached(found.demonstration.states[-1])


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
