"""Demonstrations of PDDL problems: from plan files, or made by a planner."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meip.base.errors import BudgetError, DemonstrationError, DocumentError, MeipError
from meip.model.demonstrations import Demonstration, record
from meip.worlds.pddl.conditions import unmet
from meip.worlds.pddl.plans import Step, read_plan, step_text
from meip.worlds.pddl.reader import parse_problem, read_text
from meip.worlds.pddl.syntax import And
from meip.worlds.pddl.world import PddlWorld, find_domain, load_domain
from meip.worlds.pddl.writer import domain_text, problem_text

__all__ = ["plan_demonstration", "read_pair", "read_pairs", "solve"]


def plan_demonstration(world: PddlWorld, steps: Sequence[Step], *, where: str = "plan", by: str = "") -> Demonstration:
    """The demonstration of a plan; every step is replayed, and the goal must be reached at the end.

    Where chance has a say, each action has its likeliest outcome.
    """
    state = world.initial()[0][1]
    picks: list[int | None] = []
    for number, step in enumerate(steps, start=1):
        try:
            choices = world.outcomes(state, step_text(step))
        except MeipError as error:
            raise DemonstrationError(f"{where}: step {number}: {error}") from None
        pick = max(range(len(choices)), key=lambda i: choices[i][0])
        picks.append(pick)
        state = choices[pick][1]
    if not world.reached(state):
        raise DemonstrationError(
            f"{where}: the plan is legal but its {len(steps)} steps do not reach the goal; unmet: "
            + ", ".join(_open_goals(world, state)[:5])
        )
    return record(world, [step_text(s) for s in steps], picks, by=by)


def _open_goals(world: PddlWorld, state: bytes) -> list[str]:
    situation = world.situation(state)
    goal = world.problem.goal
    parts = goal.parts if isinstance(goal, And) else (goal,)
    return [str(found) for part in parts if (found := unmet(situation, part, {})) is not None]


def read_pair(problem: str | Path, plan: str | Path, domain: str | Path | None = None) -> Demonstration:
    """The demonstration of a problem file and a plan file. Steps after the goal was reached are left out."""
    file = load_domain(domain if domain is not None else find_domain(Path(problem)))
    text = read_text(problem)
    parsed = parse_problem(text, file, str(problem))
    world = PddlWorld(domain_text(file), text)
    steps = read_plan(plan, file, parsed)
    return plan_demonstration(world, steps[: _goal_step(world, steps)], where=str(plan))


def _goal_step(world: PddlWorld, steps: Sequence[Step]) -> int:
    """After how many steps the goal is first reached; all of them where it is not, or where one is illegal."""
    state = world.initial()[0][1]
    for number, step in enumerate(steps):
        if world.reached(state):
            return number
        try:
            state = max(world.outcomes(state, step_text(step)), key=lambda choice: choice[0])[1]
        except MeipError:
            break
    return len(steps)


def read_pairs(domain: str | Path | None, folder: str | Path) -> list[Demonstration]:
    """Every NAME.plan of a folder, with the NAME.pddl beside it, in the order of their names."""
    plans = sorted(Path(folder).glob("*.plan"))
    if not plans:
        raise DocumentError(f"{folder}: no NAME.plan files here")
    found = []
    for plan in plans:
        problem = plan.with_suffix(".pddl")
        if not problem.is_file():
            raise DocumentError(f"{plan}: no {problem.name} beside it; a plan belongs to the problem of the same name")
        found.append(read_pair(problem, plan, domain))
    return found


def solve(world: PddlWorld, seconds: float = 30.0) -> tuple[list[Step], str]:
    """A plan and who found it: an installed planner through unified-planning, else our own A*."""
    steps = _external(world, seconds)
    if steps is not None:
        return steps
    from meip.worlds.pddl.engine import Engine
    from meip.worlds.pddl.heuristics import RelaxedDistance, goal_count
    from meip.worlds.pddl.planners import astar, gbfs

    engine = world.engine
    attempts: list[tuple[str, Any]] = []
    if isinstance(engine, Engine):
        least, summed = RelaxedDistance(engine, "max"), RelaxedDistance(engine, "add")
        attempts += [
            ("A* with h_max", lambda: astar(engine, least, max_expansions=20_000, seconds=seconds / 4)),
            ("weighted A* with h_add", lambda: astar(engine, summed, 2.0, max_expansions=50_000, seconds=seconds / 4)),
            ("best-first search with h_add", lambda: gbfs(engine, lambda s: -summed(s), 10**6, seconds / 4, ties=0)),
        ]
    attempts.append(
        (
            "best-first search with goal counts",
            lambda: gbfs(engine, lambda s: goal_count(engine, s), 10**6, seconds / 4, 0),
        )
    )
    reasons = []
    for name, attempt in attempts:
        result = attempt()
        if result.solved:
            return list(result.steps), name
        reasons.append(f"{name}: {result.reason} after {result.expansions:,} expansions")
    raise BudgetError(
        f"no plan for problem {world.problem.name!r} within {seconds:g} s ({'; '.join(reasons)}); allow more time"
    )


def _external(world: PddlWorld, seconds: float) -> tuple[list[Step], str] | None:
    """A plan by a planner that unified-planning finds installed; None where there is none or it fails."""
    try:
        from unified_planning.io import PDDLReader
        from unified_planning.shortcuts import OneshotPlanner, get_environment
    except ImportError:
        return None
    environment = get_environment()
    environment.credits_stream = None
    factory = environment.factory
    if not any(factory.engine(name).is_oneshot_planner() for name in factory.engines):
        return None
    try:
        problem = PDDLReader().parse_problem_string(domain_text(world.file), problem_text(world.problem))
        with OneshotPlanner(problem_kind=problem.kind) as planner:
            result = planner.solve(problem, timeout=seconds)
            name = planner.name
    except Exception:  # no planner for this kind of problem, or one that crashed: ours is tried next
        return None
    if result.plan is None:
        return None
    return [(a.action.name, *(str(p) for p in a.actual_parameters)) for a in result.plan.actions], name
