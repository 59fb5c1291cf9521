"""Drawing plans from what a task says about them: P(plan) in proportion to exp(lambda tau) P0, the paper's Eq. 6."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from meip.base.errors import BudgetError, LearningError
from meip.model.graph import StateGraph, state_graph
from meip.search.plans import PlanSet, sample_model, sample_plans
from meip.search.query import Found, Query
from meip.tasks.plan import check_domain, document, task_query
from meip.tasks.task import Task, TaskPlan

__all__ = ["sample_task"]

LISTED = 200_000  # plans, up to which they are drawn exactly
PARTICLES = 1000  # of sequential Monte Carlo, at least
FROM_CHOICES = (
    "drawn by the tau of a g that was learned from choices, for what a step adds and not for tau; learn with "
    "objective='plans' to draw from what was learned"
)


def sample_task(
    task: Task, world: Any, n: int = 1, lambda_: float | None = None, *, seed: int = 0, horizon: int | None = None
) -> list[TaskPlan]:
    """n plans, exactly where all plans can be listed, else by sequential Monte Carlo (`TaskPlan.method` says which).

    The larger lambda, the more the plans keep to what was learned; 0 draws from P0. By default it is 2(h - 1), as in
    learning, with h the length of each plan.
    """
    if n < 1:
        raise LearningError(f"sample draws at least one plan, got n = {n}")
    if lambda_ is not None and not np.isfinite(lambda_):
        raise LearningError(f"lambda must be a finite number, got {lambda_}")
    graph = state_graph(task.prepared(world))
    check_domain(task, graph)
    query = task_query(task, graph, Query(seed=seed, horizon=horizon))
    rng = np.random.default_rng([seed, 6])
    found: list[TaskPlan] = []
    firsts = [_drawn_start(graph, int(rng.integers(2**31))) for _ in range(n)]
    for first in sorted(set(firsts)):
        plans, method = _drawn(task, graph, int(graph.initial[first]), firsts.count(first), lambda_, query, rng)
        for k in range(len(plans)):
            states, length = plans.plan(k), int(plans.lengths[k])
            actions = tuple(int(a) for a in plans.actions[k, 1:length])
            drawn = Found(states, actions, float(plans.log_base[k]), method=method)
            found.append(_noted(task, document(task, graph, drawn, query, first)))
    return [found[k] for k in rng.permutation(len(found)).tolist()]


def _drawn_start(graph: StateGraph, seed: int) -> int:
    """The index of an initial state, as the world's chances have it."""
    count = len(graph.initial)
    return int(np.random.default_rng([seed, 5]).choice(count, p=graph.initial_probability)) if count > 1 else 0


def _noted(task: Task, plan: TaskPlan) -> TaskPlan:
    if task.preferences is None:
        return plan
    return dataclasses.replace(plan, notes=(*plan.notes, FROM_CHOICES))


def _drawn(
    task: Task, graph: StateGraph, start: int, n: int, lambda_: float | None, query: Query, rng: np.random.Generator
) -> tuple[PlanSet, str]:
    length = query.length(graph, [start])
    seed = int(rng.integers(2**31))

    def strength(h: int) -> float:
        return 2.0 * (h - 1) if lambda_ is None else lambda_

    try:
        drawn = sample_plans(
            graph, task.ranking, n, strength, start=start, length=length, seed=seed, limit=min(LISTED, query.nodes)
        )
        return drawn, "exact sampling"
    except BudgetError:
        particles = max(n, PARTICLES)
        drawn, _ = sample_model(graph, task.ranking, start, length, particles, seed, scale=0.0, strength=strength)
        chosen = np.sort(rng.choice(particles, n, replace=False))
        return drawn.take(chosen), f"sequential Monte Carlo, {particles} particles"
