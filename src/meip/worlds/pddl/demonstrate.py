"""Demonstrations of PDDL problems: from plan files, or made by a planner."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from meip.base.errors import BudgetError, DemonstrationError, DocumentError, MeipError
from meip.model.demonstrations import Demonstration, Episode, Plan, Step as Shown
from meip.model.problems import problem_document
from meip.search.best_first import best_first
from meip.search.query import Query
from meip.utility.ranking import ScoreRanking
from meip.worlds.pddl.conditions import unmet
from meip.worlds.pddl.engine import Engine
from meip.worlds.pddl.graph import PackedGraph
from meip.worlds.pddl.heuristics import RelaxedDistance, goal_count, score_of
from meip.worlds.pddl.plans import Step, read_plan, step_text
from meip.worlds.pddl.syntax import And
from meip.worlds.pddl.world import PddlWorld, read_problem
from meip.worlds.pddl.writer import domain_text, problem_text

__all__ = ["plan_demonstration", "read_pair", "read_pairs", "solve", "walked"]


def plan_demonstration(world: PddlWorld, steps: Sequence[Step], *, where: str = "plan", by: str = "") -> Demonstration:
    """The demonstration of a plan; see `walked`."""
    plan = walked(world, steps, where=where)
    chance = [outcome if p < 1.0 else None for outcome, p in zip(plan.outcomes, plan.probabilities, strict=True)]
    taken = tuple(Shown(action, outcome) for action, outcome in zip(plan.actions, chance, strict=True))
    return Demonstration(problem_document(world), taken, by=by)


def walked(world: PddlWorld, steps: Sequence[Step], *, where: str = "plan") -> Plan:
    """A plan, replayed: the first illegal step is named, the goal must be reached, and what comes after it is left out.

    Where chance has a say, each action has its likeliest outcome.
    """
    states, picks, odds = [world.initial()[0][1]], list[int](), list[float]()
    for number, step in enumerate(steps, start=1):
        if world.reached(states[-1]):
            break
        try:
            choices = world.outcomes(states[-1], step_text(step))
        except MeipError as error:
            raise DemonstrationError(f"{where}: step {number}: {error}") from None
        pick = max(range(len(choices)), key=lambda i: choices[i][0])
        picks.append(pick)
        odds.append(choices[pick][0])
        states.append(choices[pick][1])
    if not world.reached(states[-1]):
        raise DemonstrationError(
            f"{where}: the plan is legal but its {len(steps)} steps do not reach the goal; unmet: "
            + ", ".join(_open_goals(world, states[-1])[:5])
        )
    actions = tuple(step_text(step) for step in steps[: len(picks)])
    return Plan(tuple(states), actions, tuple(picks), tuple(odds), (False,) * len(picks))


def _open_goals(world: PddlWorld, state: bytes) -> list[str]:
    situation = world.situation(state)
    goal = world.problem.goal
    parts = goal.parts if isinstance(goal, And) else (goal,)
    return [str(found) for part in parts if (found := unmet(situation, part, {})) is not None]


def read_pair(problem: str | Path, plan: str | Path, domain: str | Path | None = None) -> Episode:
    """The plan of a plan file in the world of a problem file, replayed."""
    world = read_problem(problem, domain)
    return Episode(world, walked(world, read_plan(plan, world.file, world.problem), where=str(plan)), str(plan))


def read_pairs(domain: str | Path | None, folder: str | Path) -> list[Episode]:
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
    reasons = []
    graph = PackedGraph(world)
    start = [int(graph.initial[0])]
    for name, ranking, path, expansions in _attempts(graph):
        query = Query(iterations=expansions, seconds=seconds / 4)
        found = best_first(graph, ranking, start, query, path=path, ties=0)
        if found.stopped_by == "goal":
            return [tuple(graph.action(a)[1:-1].split()) for a in found.actions], name
        reasons.append(f"{name}: {found.stopped_by} after {found.expansions:,} expansions")
    raise BudgetError(
        f"no plan for problem {world.problem.name!r} within {seconds:g} s ({'; '.join(reasons)}); allow more time"
    )


def _attempts(graph: PackedGraph) -> Iterator[tuple[str, ScoreRanking, float, int]]:
    """Ways to search, the best plans first: a name, what to go by, the cost of a step, and how much to expand."""
    engine = graph.engine
    if isinstance(engine, Engine):
        least, summed = RelaxedDistance(engine, "max"), RelaxedDistance(engine, "add")
        yield "A* with h_max", score_of(lambda rows: -least(rows)), 1.0, 20_000
        yield "weighted A* with h_add", score_of(lambda rows: -2.0 * summed(rows)), 1.0, 50_000
        yield "best-first search with h_add", score_of(lambda rows: -summed(rows)), 0.0, 10**6
    yield "best-first search with goal counts", score_of(lambda rows: goal_count(engine, rows)), 0.0, 10**6


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
