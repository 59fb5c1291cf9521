"""Tree search over histories (UCT): simulate, expand, back up, on a tree of arrays; see `tree_kernels`."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from meip.base.arrays import Floats
from meip.model.graph import StateGraph
from meip.search import tree_kernels as kernels
from meip.search.greedy import extend_by_tau
from meip.search.query import Clock, Found, Query, RootMove, pair_sums
from meip.search.tree_kernels import Tree
from meip.utility.ranking import Ranking

__all__ = ["SIMULATIONS", "branch_means", "certain", "search", "searched"]

SIMULATIONS = 3000
LARGEST_START = 1 << 14  # nodes that a tree has room for before it grows


def certain(graph: StateGraph) -> bool:
    """Did every action seen so far have one outcome?"""
    return bool((graph.arrays().outcome_count <= 1).all())


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """Where nothing is left to chance, the best plan seen is the plan; else the actions with the best mean returns."""
    horizon, clock = query.length(graph, history), Clock(query, graph, SIMULATIONS)
    tree, stopped = searched(graph, ranking, history, horizon, query, clock)
    if not tree.counts[kernels.ITERATIONS]:  # not one simulation was finished in time: stay where one is
        value = query.worth(float(tree.node_soft[0]), float(tree.node_sign[0]), len(history), horizon)
        return Found(tuple(history), (), value, stopped, 0, clock.seconds, "mcts")
    root = _root(graph, tree, history[-1])
    rng = np.random.default_rng([query.seed, 1])
    if certain(graph):
        length = int(tree.counts[kernels.BEST_LENGTH])
        states = [int(s) for s in tree.best_state[:length]]
        actions = [int(a) for a in tree.best_action[len(history) : length]]
        value = float(tree.numbers[kernels.BEST])
    else:
        states, actions = _followed(graph, tree, history, horizon, rng)
        extend_by_tau(graph, ranking, states, actions, horizon, query, rng, clock)
        value = max((move.value for move in root), default=float(tree.numbers[kernels.BEST]))
    iterations = int(tree.counts[kernels.ITERATIONS])
    return Found(tuple(states), tuple(actions), value, stopped, iterations, clock.seconds, "mcts", root)


def searched(
    graph: StateGraph, ranking: Ranking, history: Sequence[int], horizon: int, query: Query, clock: Clock
) -> tuple[Tree, str]:
    """The tree after all simulations, and which limit ended them."""
    most = clock.most or SIMULATIONS
    room = max(64, min(most + 1, query.nodes, LARGEST_START))  # a simulation makes at most one node
    tree = kernels.new_tree(horizon, room, 8 * room, query.seed)
    graph.expand(history[-1])
    g = ranking(graph)
    scaled = kernels.Scaled(query.scale)
    soft_signs = scaled(g)
    tree.path_state[: len(history)] = history
    tree.node_state[0] = history[-1]
    tree.node_soft[0], tree.node_sign[0] = pair_sums(g, history, query.scale)
    tree.counts[kernels.NODES], tree.counts[kernels.HISTORY] = 1, len(history)
    settings = query.numbers(horizon, scaled.mode, certain=certain(graph))
    widen = np.array(query.widening or (0.0, 0.0), np.float64)
    batch = 1 if clock.limited else most
    while tree.counts[kernels.ITERATIONS] < most:
        tree.counts[kernels.TARGET] = min(tree.counts[kernels.ITERATIONS] + batch, most)
        status = kernels.simulate(graph.arrays(), g, soft_signs, tree, settings, widen, query.rules)
        if status == kernels.NEED_STATE:
            graph.expand(int(tree.counts[kernels.NEEDED]))
            g = ranking(graph)
            soft_signs = scaled(g)
            settings = query.numbers(horizon, scaled.mode, certain=certain(graph))
        elif status == kernels.FULL:
            if tree.counts[kernels.NODES] >= query.nodes:
                return tree, "nodes"
            tree = _grown(tree)
        if clock.late:
            return tree, clock.over()
        if status == kernels.DONE and clock.limited:
            batch = clock.pace(batch)
    return tree, "iterations"


def _grown(tree: Tree) -> Tree:
    """The same tree with twice the room."""
    sized = [name for name in tree._fields if name.startswith(("node_", "edge_", "slot_"))]
    empty = {"node_edge": -1, "edge_slot": -1, "slot_node": -1}
    changes = {
        name: np.concatenate([getattr(tree, name), np.full_like(getattr(tree, name), empty.get(name, 0))])
        for name in sized
    }
    return tree._replace(**changes)


def _followed(
    graph: StateGraph, tree: Tree, history: Sequence[int], horizon: int, rng: np.random.Generator
) -> tuple[list[int], list[int]]:
    """Down the tree by the best mean return, along the likeliest outcomes; equal ones at random."""
    states, actions, node = list(history), list[int](), 0
    while len(states) < horizon and node >= 0 and tree.node_edge[node] >= 0:
        numbers = graph.action_numbers(states[-1])
        edges = slice(int(tree.node_edge[node]), int(tree.node_edge[node]) + len(numbers))
        means = branch_means(tree, edges)
        if not np.isfinite(means).any():
            break
        offset = int(rng.choice(np.flatnonzero(means >= means.max() - kernels.TIE)))
        outcomes = graph.outcomes(numbers[offset])
        likeliest = int(np.argmax([p for p, _ in outcomes]))
        actions.append(numbers[offset])
        states.append(outcomes[likeliest][1])
        node = int(tree.slot_node[tree.edge_slot[edges.start + offset] + likeliest])
    return states, actions


def branch_means(tree: Tree, edges: slice) -> Floats:
    """The mean return of each branch; -inf for those that were never tried."""
    visits = tree.edge_visits[edges]
    return np.where(visits > 0, tree.edge_value[edges] / np.maximum(visits, 1), -np.inf)


def _root(graph: StateGraph, tree: Tree, state: int) -> tuple[RootMove, ...]:
    first = int(tree.node_edge[0])
    if first < 0:
        return ()
    numbers = graph.action_numbers(state)
    edges = slice(first, first + len(numbers))
    cells = zip(numbers, branch_means(tree, edges), tree.edge_visits[edges], strict=True)
    return tuple(RootMove(number, float(mean), int(visits)) for number, mean, visits in cells)
