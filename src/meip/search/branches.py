"""Plans drawn from a converged tree search, by the values of its branches: the paper's sampler.

At each node an action is drawn in proportion to exp(value), where the value of a branch is the mean return of the
simulations that went through it; actions with the same outcomes share the odds of one (P0). Chance is followed by its
odds. Below the tree, where nothing was tried, a plan goes
on at random, as a simulation does. With the bare tau as return values lie within [-1, 1], so that the best branch is at
most e^2 times as likely as the worst.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from meip.model.graph import StateGraph
from meip.search.query import Clock, Query
from meip.search.tree import SIMULATIONS, branch_means, searched
from meip.search.tree_kernels import Tree
from meip.utility.ranking import Ranking

__all__ = ["sample_branches"]


def sample_branches(graph: StateGraph, ranking: Ranking, start: int, count: int, query: Query) -> list[tuple[int, ...]]:
    """Plans as state numbers, each drawn from one tree that is grown by the query's simulations."""
    clock = Clock(query, graph, SIMULATIONS)
    horizon = query.length(graph, [start])
    tree, _ = searched(graph, ranking, [start], horizon, query, clock)
    rng = np.random.default_rng([query.seed, 2])
    return [_drawn(graph, tree, start, horizon, rng) for _ in range(count)]


def _drawn(graph: StateGraph, tree: Tree, start: int, horizon: int, rng: np.random.Generator) -> tuple[int, ...]:
    states, node = [start], 0
    while len(states) < horizon:
        graph.expand(states[-1])
        numbers = graph.action_numbers(states[-1])
        if not len(numbers):
            break
        inside = node >= 0 and tree.node_edge[node] >= 0
        first = int(tree.node_edge[node]) if inside else -1
        offset = _branch(tree, first, _kinds(graph, numbers), rng)
        outcomes = graph.outcomes(numbers[offset])
        odds = np.array([p for p, _ in outcomes])
        happened = int(rng.choice(len(outcomes), p=odds / odds.sum()))
        states.append(outcomes[happened][1])
        slot = int(tree.edge_slot[first + offset]) if inside else -1
        node = int(tree.slot_node[slot + happened]) if slot >= 0 else -1
    return tuple(states)


def _kinds(graph: StateGraph, numbers: Sequence[int]) -> list[tuple[tuple[float, int], ...]]:
    """The outcomes of each action, equal for those that are one transition."""
    return [tuple(sorted((round(p, 12), s) for p, s in graph.outcomes(n) if p > 0)) for n in numbers]


def _branch(tree: Tree, first: int, kinds: list[tuple[tuple[float, int], ...]], rng: np.random.Generator) -> int:
    """Which of the actions of a node: in proportion to exp(value) among those that were tried, else any."""
    means = branch_means(tree, slice(first, first + len(kinds))) if first >= 0 else np.full(len(kinds), -np.inf)
    if not np.isfinite(means).any():
        different = list(dict.fromkeys(kinds))
        return kinds.index(different[int(rng.integers(len(different)))])
    odds = np.exp(means - means.max()) / np.array([kinds.count(kind) for kind in kinds])
    return int(rng.choice(len(kinds), p=odds / odds.sum()))
