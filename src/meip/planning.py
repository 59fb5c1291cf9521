"""Planning with a task: a world in, a plan out, as a document with the confidence of each step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.demonstrations import Demonstration, Plan, replay
from meip.errors import LearningError, MeipError
from meip.graph import StateGraph
from meip.ordering import kendall_tau
from meip.problems import problem_document
from meip.ranking import UtilityRanking
from meip.search import Chance, Limits, Method, Options, SearchResult, search
from meip.task import PlanStep, Task, TaskPlan
from meip.world import encode

__all__ = ["check_domain", "default_horizon", "plan_task", "score_task"]

SAME = 1e-9


def plan_task(
    task: Task,
    world: Any,
    *,
    method: Method = "auto",
    chance: Chance = "expectation",
    horizon: int | None = None,
    iterations: int = 3000,
    seconds: float | None = None,
    seed: int = 0,
) -> TaskPlan:
    """Search for the plan that the task ranks best.

    method      auto (exact where all histories can be looked at, else beam, or mcts where chance plays a part),
                exact, mcts, beam, greedy
    chance      expectation of tau; posterior (the paper's, hopes for luck); probability of a tau like the
                demonstrations'
    horizon     states of the plan; by default the world's own, or the longest demonstration where people stopped by
                themselves
    """
    graph = StateGraph(world)
    check_domain(task, graph)
    length = default_horizon(task, graph) if horizon is None else horizon
    if length < 1:
        raise LearningError(f"horizon counts the states of a plan, so it is at least 1, got {length}")
    ranking = UtilityRanking(task.members)
    options = Options(chance=chance, threshold=task.tau_demo)
    found = search(
        graph,
        ranking,
        method=method,
        horizon=length,
        options=options,
        limits=Limits(iterations=iterations, seconds=seconds),
        seed=seed,
    )
    return _document(graph, ranking(graph), found, chance, length, seed)


def default_horizon(task: Task, graph: StateGraph) -> int:
    """How long plans are: to the end of the episode, or as long as the longest demonstration."""
    return min(graph.horizon, task.provenance.longest) if task.provenance.stopped else graph.horizon


def score_task(task: Task, world: Any, demonstration: Demonstration | Plan) -> float:
    """The members' mean Kendall tau of a demonstration."""
    graph = StateGraph(world)
    check_domain(task, graph)
    plan = demonstration if isinstance(demonstration, Plan) else replay(graph.world, demonstration)
    states = [graph.intern(s) for s in plan.states]
    return _tau(UtilityRanking(task.members)(graph)[states])


def check_domain(task: Task, graph: StateGraph) -> None:
    """Every concept must fit the world's domain: it may have more fluents than the task's, but not fewer."""
    from meip.concepts.check import kind

    for concept in task.concepts:
        try:
            kind(concept, graph.world.domain)
        except MeipError as error:
            raise LearningError(
                f"this task (domain {task.domain.name!r}) does not fit a world of domain "
                f"{graph.world.domain.name!r}: {error}"
            ) from None


def _document(
    graph: StateGraph, g: NDArray[np.float64], found: SearchResult, chance: Chance, horizon: int, seed: int
) -> TaskPlan:
    world, states = graph.world, found.states
    chosen = g[list(states)]  # [h, members]
    steps = [
        PlanStep(
            encode(graph.actions[action]),
            world.describe(graph.states[state]),
            float(chosen[t].mean()),
            _agreement(chosen, t),
            *_chance(graph, states[t - 1], action, state),
        )
        for t, (action, state) in enumerate(zip(found.actions, states[1:], strict=True), start=1)
    ]
    return TaskPlan(
        world.describe(graph.states[states[0]]),
        tuple(steps),
        _tau(chosen),
        float(found.value),
        world.reached(graph.states[states[-1]]),
        found.method,
        chance,
        horizon,
        found.stopped_by,
        seed,
        _problem(world),
    )


def _agreement(chosen: NDArray[np.float64], t: int) -> float:
    difference = chosen[t] - chosen[:t]
    signs = np.where(np.abs(difference) <= SAME, 0.0, np.sign(difference))
    return float((signs.sum(axis=0) > 0).mean())


def _tau(chosen: NDArray[np.float64]) -> float:
    return float(np.mean([kendall_tau(chosen[:, m]) for m in range(chosen.shape[1])]))


def _chance(graph: StateGraph, before: int, action: int, after: int) -> tuple[float, int | None]:
    """The probability of an outcome, and its index as the world lists them; (1, None) where nothing else can happen."""
    if len(graph.outcomes(action)) == 1:
        return 1.0, None
    listed = graph.world.outcomes(graph.states[before], graph.actions[action])
    same = [(i, p) for i, (p, s) in enumerate(listed) if s == graph.states[after]]
    return sum(p for _, p in same), same[0][0]


def _problem(world: Any) -> dict[str, Any] | None:
    """The problem document, where the world can be written to one."""
    try:
        return problem_document(world)
    except MeipError:
        return None
