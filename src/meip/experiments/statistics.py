"""What a learner does in a world, by three statistics: the argmax of its values, the best plan seen, samples."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from meip import StateGraph, Task
from meip.baselines.agents import MaxEntAgent
from meip.baselines.tabular import TabularWorld
from meip.search.branches import sample_branches
from meip.search.find import find
from meip.search.query import Query, RootMove
from meip.tasks.evaluate import behaviours
from meip.tasks.plan import task_query

__all__ = ["SAMPLES", "Grades", "of_branches", "of_defaults", "of_policy", "of_tree"]

SAMPLES = 5  # of each converged search, the paper's
Grades = dict[str, list[list[Any]]]  # statistic -> plans as lists of actions


def of_tree(task: Task, graph: StateGraph, seed: int, **search: Any) -> Grades:
    """By tree search: the best plan seen by one; the best root values, or draws by them, searched again each step."""
    query = task_query(task, graph, Query(method="mcts", seed=seed, **search))
    strength = 2.0 * (query.length(graph, ()) - 1)  # lambda(h), as in learning
    rng = np.random.default_rng([seed, 11])
    known: dict[tuple[int, ...], tuple[RootMove, ...]] = {}

    def root(way: tuple[int, ...]) -> tuple[RootMove, ...]:
        if way not in known:
            known[way] = find(graph, task.ranking, way, query).root
        return known[way]

    def walk(greedy: bool) -> list[Any]:
        way: tuple[int, ...] = (int(graph.initial[0]),)
        actions: list[Any] = []
        while len(way) < query.length(graph, way) and graph.action_numbers(way[-1]):
            moves = [move for move in root(way) if np.isfinite(move.value)]
            values = np.array([move.value for move in moves])
            odds = (values >= values.max() - 1e-9) * 1.0 if greedy else np.exp(strength * (values - values.max()))
            chosen = moves[int(rng.choice(len(moves), p=odds / odds.sum()))].action
            actions.append(graph.action(chosen))
            way = (*way, graph.outcomes(chosen)[0][1])
        return actions

    seen = find(graph, task.ranking, (int(graph.initial[0]),), query).actions
    samples = [walk(greedy=False) for _ in range(SAMPLES)]
    return {"argmax": [walk(greedy=True)], "best seen": [[graph.action(a) for a in seen]], "samples": samples}


def of_branches(task: Task, graph: StateGraph, seed: int) -> Grades:
    """The same as printed: the bare tau, the paper's settings, samples by the values of branches, lambda = 1."""
    asked: dict[str, Any] = {"iterations": 3000, "exploration": 1.0, "scale": 0.0}
    query = task_query(task, graph, Query(method="mcts", seed=seed, **asked))
    drawn = sample_branches(graph, task.ranking, int(graph.initial[0]), SAMPLES, query)
    return {**of_tree(task, graph, seed, **asked), "samples": [_actions(graph, states) for states in drawn]}


def of_defaults(task: Task, graph: StateGraph, seed: int) -> Grades:
    """As `Task.plan` and `Task.sample` do."""
    samples = [list(plan.actions) for plan in task.sample(graph.world, SAMPLES, seed=seed)]
    return {"argmax": [list(task.plan(graph.world, seed=seed).actions)], "samples": samples}


def of_policy(agent: MaxEntAgent, graph: StateGraph, seed: int) -> Grades:
    """By the optimal policy of a reward, and by its soft one."""
    way = behaviours(graph, agent, Query(seed=seed))[0]
    graph.expand_all()
    world = TabularWorld.from_graph(graph, agent.features(graph))
    drawn = agent.model.sample(world, SAMPLES, seed, choice="soft")
    samples = [_actions(graph, states) for states in drawn]
    return {"argmax": [[graph.action(a) for a in way.actions]], "samples": samples}


def _actions(graph: StateGraph, states: tuple[int, ...]) -> list[Any]:
    """What leads from state to state, where nothing is left to chance."""
    return [
        next(graph.action(n) for n in graph.action_numbers(a) if graph.outcomes(n)[0][1] == b)
        for a, b in itertools.pairwise(states)
    ]
