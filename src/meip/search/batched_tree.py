"""Tree search where states are costly: many simulations side by side, and only what they visit is made and looked at.

A world with `first_moves` lists its actions as far as it is asked to. So a node has as many children as progressive
widening opens, a roll-out makes two, and the ranking sees the states of the paths only. Each simulation runs until it
needs a state's moves; what all of them need is asked for at once, and likewise the utilities of their states. Nothing
is left to chance, so a move is worth the best plan through it that was seen (better plans than with means). Until its
return is known, a simulation counts as one with the least return seen (a virtual loss), so that they take different
ways.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meip.base.kernels import kernel, uniform
from meip.model.graph import StateGraph
from meip.search.query import Clock, Found, Query, RootMove
from meip.search.tree_kernels import generator, increment, max_backup, worth
from meip.utility.ranking import Ranking

__all__ = ["BatchedTree", "Frontier", "search"]

SIDE_BY_SIDE = 32  # simulations
SIMULATIONS = 3000
WIDENING = (2.0, 0.5)  # k * visits ** a children are open
BELOW = 2  # moves that are made of a state that a roll-out comes to; the seed chooses among them
LARGEST_START = 1 << 12  # nodes that a tree has room for before it grows
NODES, ITERATIONS = range(2)
LOW, HIGH, BEST = range(3)


class BatchedTree(NamedTuple):
    """The tree and its B simulations. N nodes, C children at most, H states of a history."""

    node_state: NDArray[np.int64]  # [N]
    node_visits: NDArray[np.int64]  # [N] with those whose return is not known yet
    edge_visits: NDArray[np.int64]  # [N, C] likewise
    edge_known: NDArray[np.int64]  # [N, C] those whose return is known
    edge_value: NDArray[np.float64]  # [N, C] the best return, times the number of those that are known
    edge_node: NDArray[np.int64]  # [N, C] -1: not tried
    path_state: NDArray[np.int64]  # [B, H]
    path_move: NDArray[np.int64]  # [B, H] place of the move in the list of its state
    path_node: NDArray[np.int64]  # [B, H]
    length: NDArray[np.int64]  # [B] states so far
    depth: NDArray[np.int64]  # [B] moves in the tree
    below: NDArray[np.bool_]  # [B] has the simulation left the tree?
    want: NDArray[np.int64]  # [B, 2] state and number of moves that the simulation waits for; state -1: none
    counts: NDArray[np.int64]  # [2] nodes, iterations
    numbers: NDArray[np.float64]  # [3] least and greatest return; that of the best plan
    random: NDArray[np.uint64]  # [1]


class Frontier:
    """The moves that were asked for, as state numbers of a graph: child [S, C], count [S], done [S]."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph, room = graph, max(64, len(graph))  # kernels look up any state that the graph knows
        self.child = np.zeros((room, graph.most_moves), np.int64)
        self.count = np.full(room, -1, np.int64)  # -1: nobody asked
        self.done = np.zeros(room, np.bool_)  # are these all of its moves?

    def lengthen(self, wanted: dict[int, int]) -> None:
        """Ask the world for this many moves of each state, all at once."""
        found = self.graph.first_moves(wanted)
        size = len(self.count)
        if len(self.graph) > size:
            room = max(len(self.graph), 2 * size) - size
            self.child = np.concatenate([self.child, np.zeros((room, self.child.shape[1]), np.int64)])
            self.count = np.concatenate([self.count, np.full(room, -1, np.int64)])
            self.done = np.concatenate([self.done, np.zeros(room, np.bool_)])
        for state, (children, done) in zip(wanted, found, strict=True):
            self.child[state, : len(children)] = children
            self.count[state], self.done[state] = len(children), done


def search(
    graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query, together: int = SIDE_BY_SIDE
) -> Found:
    """Tree search that makes and looks at what it visits only. Nothing is left to chance: the best plan is the plan."""
    past, horizon = [int(s) for s in history], query.length(graph, history)
    clock = Clock(query, graph, SIMULATIONS)
    most = clock.most or SIMULATIONS
    settings = query.numbers(horizon)
    widen = np.array([*(query.widening or WIDENING), settings[2]], np.float64)
    frontier = Frontier(graph)
    room = min(most + 1, LARGEST_START)
    tree = _planted(past, horizon, room, frontier.child.shape[1], min(together, most), query.seed)
    best, moves, stopped = list(past), list[int](), "iterations"
    while tree.counts[ITERATIONS] < most:
        running = int(min(len(tree.length), most - tree.counts[ITERATIONS]))
        if tree.counts[NODES] + running > query.nodes and tree.counts[ITERATIONS] > 0:
            stopped = "nodes"
            break
        if tree.counts[NODES] + running > len(tree.node_state):
            tree = _grown(tree)
        _start(tree, len(past), running)
        while _advance(frontier.child, frontier.count, frontier.done, tree, running, widen, horizon):
            frontier.lengthen(_wanted(tree.want[:running]))
        seen = {int(s) for b in range(running) for s in tree.path_state[b, : tree.length[b]]}
        winner = _back_up(ranking(graph, sorted(seen)), tree, running, len(past), settings)
        if winner >= 0:
            size = int(tree.length[winner])
            best = [int(s) for s in tree.path_state[winner, :size]]
            moves = [int(m) for m in tree.path_move[winner, len(past) : size]]
        if clock.late:
            stopped = clock.over()
            break
    steps = zip(best[len(past) - 1 :], moves, strict=False)
    actions = tuple(graph.action_numbers(state)[move] for state, move in steps)
    root = _root(graph, tree, past[-1], max(int(frontier.count[past[-1]]), 0))
    iterations = int(tree.counts[ITERATIONS])
    value = float(tree.numbers[BEST])
    return Found(tuple(best), actions, value, stopped, iterations, clock.seconds, "batched mcts", root)


def _planted(past: list[int], horizon: int, nodes: int, children: int, together: int, seed: int) -> BatchedTree:
    edges, steps = (nodes, children), (together, horizon + 1)
    tree = BatchedTree(
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(edges, np.int64), np.zeros(edges, np.int64),
        np.zeros(edges), np.full(edges, -1, np.int64), np.zeros(steps, np.int64), np.zeros(steps, np.int64),
        np.zeros(steps, np.int64), np.zeros(together, np.int64), np.zeros(together, np.int64),
        np.zeros(together, np.bool_), np.zeros((together, 2), np.int64), np.array([1, 0]),
        np.array([np.inf, -np.inf, -np.inf]), generator(seed),
    )  # fmt: skip
    tree.node_state[0] = past[-1]
    tree.path_state[:, : len(past)] = past
    return tree


def _grown(tree: BatchedTree) -> BatchedTree:
    """The same with twice the room."""
    empty = {"edge_node": -1}
    sized = [name for name in tree._fields if name.startswith(("node_", "edge_"))]
    return tree._replace(
        **{n: np.concatenate([(old := getattr(tree, n)), np.full_like(old, empty.get(n, 0))]) for n in sized}
    )


def _wanted(want: NDArray[np.int64]) -> dict[int, int]:
    """State -> moves, the most that any simulation asks for."""
    found: dict[int, int] = {}
    for state, count in want[want[:, 0] >= 0].tolist():
        found[state] = max(count, found.get(state, 0))
    return found


def _root(graph: StateGraph, tree: BatchedTree, state: int, count: int) -> tuple[RootMove, ...]:
    known = tree.edge_known[0, :count]
    means = np.where(known > 0, tree.edge_value[0, :count] / np.maximum(known, 1), -np.inf)
    numbers = graph.action_numbers(state)[:count]
    return tuple(RootMove(n, float(m), int(v)) for n, m, v in zip(numbers, means, known, strict=True))


@kernel
def _start(tree: Any, length: int, running: int) -> None:
    for b in range(running):
        tree.length[b], tree.depth[b], tree.below[b] = length, 0, False
        tree.path_node[b, 0] = 0
        tree.node_visits[0] += 1


@kernel
def _select(tree: Any, node: int, count: int, c: float, random: Any) -> int:
    """UCT over the first `count` children: one that was not tried, else the largest upper confidence bound."""
    visits, known, value = tree.edge_visits[node], tree.edge_known[node], tree.edge_value[node]
    for k in range(count):
        if visits[k] == 0:
            return k
    low, high = tree.numbers[LOW], tree.numbers[HIGH]
    spread = high - low if high > low else 1.0
    least = low if low < np.inf else 0.0
    width = c * spread * math.sqrt(math.log(tree.node_visits[node]))
    best, best_bound = 0, -np.inf
    begin = int(uniform(random) * count)  # equal bounds must not go to what is listed first
    for i in range(count):
        k = (begin + i) % count
        mean = (value[k] + (visits[k] - known[k]) * least) / visits[k]
        bound = mean + width / math.sqrt(visits[k])
        if bound > best_bound:
            best, best_bound = k, bound
    return best


@kernel
def _step(child: Any, count: Any, done: Any, tree: Any, b: int, widen: Any) -> bool:
    """One move of simulation b; False where it has to wait, or where the episode is over (then nothing is wanted)."""
    at, depth = tree.length[b] - 1, tree.depth[b]
    state, node = tree.path_state[b, at], tree.path_node[b, depth]
    asked = BELOW
    if not tree.below[b]:
        asked = min(child.shape[1], math.ceil(widen[0] * tree.node_visits[node] ** widen[1]))
    if count[state] < asked and not done[state]:
        tree.want[b, 0], tree.want[b, 1] = state, asked
        return False
    if count[state] == 0:
        return False
    if tree.below[b]:
        move = int(uniform(tree.random) * count[state])
    else:
        move = _select(tree, node, min(asked, count[state]), widen[2], tree.random)
        if tree.edge_node[node, move] < 0:
            fresh = tree.counts[NODES]
            tree.counts[NODES] += 1
            tree.edge_node[node, move], tree.node_state[fresh] = fresh, child[state, move]
            tree.below[b] = True
        tree.edge_visits[node, move] += 1
        tree.path_node[b, depth + 1] = tree.edge_node[node, move]
        tree.node_visits[tree.edge_node[node, move]] += 1
        tree.depth[b] += 1
    tree.path_state[b, at + 1], tree.path_move[b, at + 1] = child[state, move], move
    tree.length[b] += 1
    return True


@kernel
def _advance(child: Any, count: Any, done: Any, tree: Any, running: int, widen: Any, horizon: int) -> int:
    """Move every simulation on, to the horizon or until it has to wait. Returns how many wait."""
    waiting = 0
    for b in range(running):
        tree.want[b, 0] = -1
        while tree.length[b] < horizon and _step(child, count, done, tree, b, widen):
            pass
        waiting += tree.want[b, 0] >= 0
    return waiting


@kernel
def _back_up(g: Any, tree: Any, running: int, past: int, settings: Any) -> int:
    """The returns of all simulations, along their paths. Returns the one with a plan better than any before, or -1."""
    horizon, scale, rule = int(settings[0]), settings[1], int(settings[3])
    best = -1
    for b in range(running):
        path, moves, nodes = tree.path_state[b], tree.path_move[b], tree.path_node[b]
        soft = sign = 0.0
        for i in range(1, tree.length[b]):
            more_soft, more_sign = increment(g, path, i, path[i], scale)
            soft += more_soft
            sign += more_sign
        gain = worth(soft, sign, tree.length[b], rule, settings[4], settings[5], horizon)
        for d in range(tree.depth[b]):
            move = moves[past + d]
            tree.edge_value[nodes[d], move] = max_backup(
                tree.edge_value[nodes[d], move], tree.edge_known[nodes[d], move], gain
            )
            tree.edge_known[nodes[d], move] += 1
        tree.numbers[LOW], tree.numbers[HIGH] = min(tree.numbers[LOW], gain), max(tree.numbers[HIGH], gain)
        if gain > tree.numbers[BEST]:
            tree.numbers[BEST] = gain
            best = b
        tree.counts[ITERATIONS] += 1
    return best
