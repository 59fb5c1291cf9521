"""Planning with a task: a world in, a plan out, as a document with the confidence of each step."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import LearningError, MeipError, did_you_mean
from meip.learning.stepwise.score import UtilityScore
from meip.model.demonstrations import Demonstration, Plan, replay
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import problem_document
from meip.model.world import encode
from meip.search.guided import GuidedPlan, best_first, walk
from meip.search.search import Chance, Limits, Options, SearchResult, search
from meip.tasks.task import PlanStep, Task, TaskPlan
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking

__all__ = ["by_single_steps", "check_domain", "default_horizon", "plan_task", "score_task"]

SAME = 1e-9
PlanMethod = Literal["auto", "exact", "mcts", "beam", "greedy", "gbfs", "likeliest"]
PLAN_METHODS = ("auto", "exact", "mcts", "beam", "greedy", "gbfs", "likeliest")


def plan_task(
    task: Task,
    world: Any,
    *,
    method: PlanMethod = "auto",
    chance: Chance = "expectation",
    horizon: int | None = None,
    iterations: int = 3000,
    seconds: float | None = None,
    seed: int = 0,
) -> TaskPlan:
    """Search for the plan that the task ranks best.

    method      over histories, by their tau: exact, mcts, beam; by the likelihood of their steps: likeliest; by the
                utility of single states, to the world's goal: greedy, gbfs (best-first). auto: greedy and then gbfs
                for tasks learned stepwise, likeliest for those learned by a committee, else exact where all histories
                can be looked at, else beam, or mcts where chance plays a part
    chance      expectation of tau; posterior (the paper's, hopes for luck); probability of a tau like the
                demonstrations'
    horizon     states of the plan; by default the world's own, or the longest demonstration where people stopped by
                themselves
    iterations  of the tree search; expansions of gbfs
    """
    if method not in PLAN_METHODS:
        raise LearningError(f"search method {method!r}: {did_you_mean(method, PLAN_METHODS)}")
    graph = state_graph(world)
    check_domain(task, graph)
    length = default_horizon(task, graph) if horizon is None else horizon
    if length < 1:
        raise LearningError(f"horizon counts the states of a plan, so it is at least 1, got {length}")
    ranking = UtilityRanking(task.members)
    limits = Limits(iterations=iterations, seconds=seconds)
    by_step = by_single_steps(task)
    if method == "gbfs" or (by_step and method in ("auto", "greedy")):
        found = _guided(task, graph, ranking, method, length, limits)
    else:
        options = Options(chance=chance, threshold=task.tau_demo)
        method = "likeliest" if method == "auto" and task.provenance.regime == "committee" else method
        found = search(graph, ranking, method=method, horizon=length, options=options, limits=limits, seed=seed)
    return _document(graph, ranking, found, chance, length, seed)


def _guided(
    task: Task, graph: StateGraph, ranking: UtilityRanking, method: str, horizon: int, limits: Limits
) -> SearchResult:
    """Greedy, best-first, or (auto) the second where the first does not reach the goal."""
    goal = graph.has_goal
    for name in (("greedy", "gbfs") if goal else ("greedy",)) if method == "auto" else (method,):
        plan = _guided_once(task, graph, ranking, name, horizon, limits)
        if plan.stopped_by == "goal":
            break
    value = float(ranking(graph)[plan.states[-1]].mean())
    parts = (plan.states, plan.actions, value)
    return SearchResult(*parts, *parts, stopped_by=plan.stopped_by, method=name)


def _guided_once(
    task: Task, graph: StateGraph, ranking: UtilityRanking, name: str, horizon: int, limits: Limits
) -> GuidedPlan:
    """By the world's own planner where it has one (`guided_plan`, on whatever its states are packed into)."""
    own = getattr(graph.world, "guided_plan", None)
    if own is None:
        if name == "greedy":
            return walk(graph, ranking, horizon, limits.seconds)
        return best_first(graph, ranking, horizon, limits.iterations, limits.seconds)
    score = UtilityScore(graph.domain, task.members)
    states, actions, reason = own(score, name, horizon, limits.iterations, limits.seconds)
    numbers = tuple(graph.intern(state) for state in states)
    chosen = []
    for number, action in zip(numbers, actions, strict=False):
        chosen.append(next(n for n in graph.action_numbers(number) if graph.actions[n] == action))
    return GuidedPlan(numbers, tuple(chosen), reason)


def by_single_steps(task: Task) -> bool:
    """Was it learned by what a single step adds to g (linear terms), and not by whole histories?"""
    return any(term.kind == "linear" for member in task.members for term in member.terms)


def default_horizon(task: Task, graph: StateGraph) -> int:
    """How long plans are: to the end of the episode, or as long as the longest demonstration."""
    return min(graph.horizon, task.provenance.longest) if task.provenance.stopped else graph.horizon


def score_task(task: Task, world: Any, demonstration: Demonstration | Plan) -> float:
    """The members' mean Kendall tau of a demonstration."""
    graph = state_graph(world)
    check_domain(task, graph)
    plan = demonstration if isinstance(demonstration, Plan) else replay(graph.world, demonstration)
    states = [graph.intern(s) for s in plan.states]
    return _tau(UtilityRanking(task.members)(graph)[states])


def check_domain(task: Task, graph: StateGraph) -> None:
    """Every concept must fit the world's domain: it may have more fluents than the task's, but not fewer."""
    from meip.concepts.check import kind

    for concept in task.concepts:
        try:
            kind(concept, graph.domain)
        except MeipError as error:
            raise LearningError(
                f"this task (domain {task.domain.name!r}) does not fit a world of domain {graph.domain.name!r}: {error}"
            ) from None


def _document(
    graph: StateGraph, ranking: UtilityRanking, found: SearchResult, chance: Chance, horizon: int, seed: int
) -> TaskPlan:
    states = found.states
    chosen = ranking.some(graph, states)[list(states)]  # [h, members]
    steps = [
        PlanStep(
            encode(graph.action(action)),
            graph.describe(state),
            float(chosen[t].mean()),
            _agreement(chosen, t),
            *_chance(graph, states[t - 1], action, state),
        )
        for t, (action, state) in enumerate(zip(found.actions, states[1:], strict=True), start=1)
    ]
    return TaskPlan(
        graph.describe(states[0]),
        tuple(steps),
        _tau(chosen),
        float(found.value),
        graph.goal(states[-1]),
        found.method,
        chance,
        horizon,
        found.stopped_by,
        seed,
        _problem(graph.world),
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
    listed = graph.outcomes_of(before, graph.action(action))
    same = [(i, p) for i, (p, s) in enumerate(listed) if s == after]
    return sum(p for _, p in same), same[0][0]


def _problem(world: Any) -> dict[str, Any] | None:
    """The problem document, where the world can be written to one."""
    try:
        return problem_document(world)
    except MeipError:
        return None
