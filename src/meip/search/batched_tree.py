"""Tree search where states are costly: many simulations side by side, and only what they visit is made and looked at.

A world with `first_moves` lists its actions as far as it is asked to. So a node has as many children as progressive
widening opens, a roll-out makes two, and the ranking sees the states of the paths only. Simulations run in lanes, each
until it needs a state's moves; what all lanes need is asked for at once, and likewise the utilities of their states.
Nothing is left to chance, so a move is worth the best plan through it that was seen (better plans than with means).
Until its return is known, a simulation counts as one with the least return seen, so that lanes take different ways.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from meip.base.kernels import kernel, uniform
from meip.model.graph import StateGraph
from meip.search.tree import generator, increment, max_backup, worth

__all__ = ["Found", "Frontier", "Grove", "PartialRanking", "Widths", "search_in_lanes"]

LANES = 32  # simulations side by side
BELOW = 2  # moves that are made of a state that a roll-out comes to; the seed chooses among them
LARGEST_START = 1 << 12  # nodes that a tree has room for before it grows
NODES, ITERATIONS = range(2)
LOW, HIGH, BEST = range(3)


class PartialRanking(Protocol):
    """A ranking that can be asked about some states only."""

    def some(self, graph: StateGraph, numbers: Sequence[int]) -> NDArray[np.float64]:
        """g [states, members]; rows of states that were never asked for are undefined."""
        ...


class Widths(NamedTuple):
    """How a node widens: ceil(k * visits ** a) children are open; UCT's constant."""

    k: float
    a: float
    exploration: float


class Grove(NamedTuple):
    """The tree and the lanes. N nodes, C children at most, B lanes, H states of a history."""

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
    below: NDArray[np.bool_]  # [B] has the lane left the tree?
    want: NDArray[np.int64]  # [B, 2] state and number of moves that the lane waits for; state -1: none
    counts: NDArray[np.int64]  # [2] nodes, iterations
    numbers: NDArray[np.float64]  # [3] least and greatest return; that of the best plan
    random: NDArray[np.uint64]  # [1]


class Frontier:
    """The moves that were asked for, as state numbers of a graph: child [S, C], count [S], done [S]."""

    def __init__(self, graph: StateGraph) -> None:
        self.graph = graph
        self.child = np.zeros((64, graph.most_moves), np.int64)
        self.count = np.full(64, -1, np.int64)  # -1: nobody asked
        self.done = np.zeros(64, np.bool_)  # are these all of its moves?

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


@dataclass
class Found:
    """What the search saw: the best plan, as states and places of the moves; and the moves of the root."""

    states: list[int]
    moves: list[int]
    value: float
    root_values: list[float] = field(default_factory=list)
    root_visits: list[int] = field(default_factory=list)
    iterations: int = 0
    stopped: str = "iterations"


def search_in_lanes(
    graph: StateGraph,
    ranking: PartialRanking,
    past: list[int],
    settings: NDArray[np.float64],
    widths: Widths,
    limits: Any,
    seed: int,
    lanes: int = LANES,
) -> Found:
    """`settings` as `tree.simulate` reads them, `limits` as `search.Limits` has them."""
    frontier, horizon = Frontier(graph), int(settings[0])
    room = min(limits.iterations + 1, LARGEST_START)
    grove = _planted(past, horizon, room, frontier.child.shape[1], min(lanes, limits.iterations), seed)
    best = Found(list(past), [], -math.inf)
    widen = np.array(widths, np.float64)
    stop = None if limits.seconds is None else time.monotonic() + limits.seconds
    while grove.counts[ITERATIONS] < limits.iterations:
        running = int(min(len(grove.length), limits.iterations - grove.counts[ITERATIONS]))
        if grove.counts[NODES] + running > limits.nodes and grove.counts[ITERATIONS] > 0:
            best.stopped = "nodes"
            break
        if grove.counts[NODES] + running > len(grove.node_state):
            grove = _grown(grove)
        _start(grove, len(past), running)
        while _advance(frontier.child, frontier.count, frontier.done, grove, running, widen, horizon):
            frontier.lengthen(_wanted(grove.want[:running]))
        seen = {int(s) for b in range(running) for s in grove.path_state[b, : grove.length[b]]}
        g = ranking.some(graph, sorted(seen))
        lane = _back_up(g, grove, running, len(past), settings)
        if lane >= 0:
            size = int(grove.length[lane])
            best.states = [int(s) for s in grove.path_state[lane, :size]]
            best.moves = [int(m) for m in grove.path_move[lane, len(past) : size]]
            best.value = float(grove.numbers[BEST])
        if stop is not None and time.monotonic() > stop:
            best.stopped = "seconds"
            break
    _root(best, grove, frontier.count[past[-1]])
    return best


def _planted(past: list[int], horizon: int, nodes: int, children: int, lanes: int, seed: int) -> Grove:
    edges, steps = (nodes, children), (lanes, horizon + 1)
    grove = Grove(
        np.zeros(nodes, np.int64), np.zeros(nodes, np.int64), np.zeros(edges, np.int64), np.zeros(edges, np.int64),
        np.zeros(edges), np.full(edges, -1, np.int64), np.zeros(steps, np.int64), np.zeros(steps, np.int64),
        np.zeros(steps, np.int64), np.zeros(lanes, np.int64), np.zeros(lanes, np.int64), np.zeros(lanes, np.bool_),
        np.zeros((lanes, 2), np.int64), np.array([1, 0]), np.array([np.inf, -np.inf, -np.inf]), generator(seed),
    )  # fmt: skip
    grove.node_state[0] = past[-1]
    grove.path_state[:, : len(past)] = past
    return grove


def _grown(grove: Grove) -> Grove:
    """The same with twice the room."""
    empty = {"edge_node": -1}
    sized = [name for name in grove._fields if name.startswith(("node_", "edge_"))]
    return grove._replace(
        **{n: np.concatenate([(old := getattr(grove, n)), np.full_like(old, empty.get(n, 0))]) for n in sized}
    )


def _wanted(want: NDArray[np.int64]) -> dict[int, int]:
    """State -> moves, the most that any lane asks for."""
    found: dict[int, int] = {}
    for state, count in want[want[:, 0] >= 0].tolist():
        found[state] = max(count, found.get(state, 0))
    return found


def _root(best: Found, grove: Grove, count: int) -> None:
    known = grove.edge_known[0, : max(int(count), 0)]
    means = np.where(known > 0, grove.edge_value[0, : len(known)] / np.maximum(known, 1), -np.inf)
    best.root_values = [float(m) for m in means]
    best.root_visits = [int(v) for v in known]
    best.iterations = int(grove.counts[ITERATIONS])


@kernel
def _start(grove: Any, length: int, running: int) -> None:
    for b in range(running):
        grove.length[b], grove.depth[b], grove.below[b] = length, 0, False
        grove.path_node[b, 0] = 0
        grove.node_visits[0] += 1


@kernel
def _select(grove: Any, node: int, count: int, c: float, random: Any) -> int:
    """UCT over the first `count` children: one that was not tried, else the largest upper confidence bound."""
    visits, known, value = grove.edge_visits[node], grove.edge_known[node], grove.edge_value[node]
    for k in range(count):
        if visits[k] == 0:
            return k
    low, high = grove.numbers[LOW], grove.numbers[HIGH]
    spread = high - low if high > low else 1.0
    least = low if low < np.inf else 0.0
    width = c * spread * math.sqrt(math.log(grove.node_visits[node]))
    best, best_bound = 0, -np.inf
    for k in range(count):
        mean = (value[k] + (visits[k] - known[k]) * least) / visits[k]
        bound = mean + width / math.sqrt(visits[k])
        if bound > best_bound:
            best, best_bound = k, bound
    return best


@kernel
def _step(child: Any, count: Any, done: Any, grove: Any, b: int, widen: Any) -> bool:
    """One move of lane b; False where it has to wait, or where the episode is over (then nothing is wanted)."""
    at, depth = grove.length[b] - 1, grove.depth[b]
    state, node = grove.path_state[b, at], grove.path_node[b, depth]
    asked = BELOW
    if not grove.below[b]:
        asked = min(child.shape[1], math.ceil(widen[0] * grove.node_visits[node] ** widen[1]))
    if count[state] < asked and not done[state]:
        grove.want[b, 0], grove.want[b, 1] = state, asked
        return False
    if count[state] == 0:
        return False
    if grove.below[b]:
        move = int(uniform(grove.random) * count[state])
    else:
        move = _select(grove, node, min(asked, count[state]), widen[2], grove.random)
        if grove.edge_node[node, move] < 0:
            fresh = grove.counts[NODES]
            grove.counts[NODES] += 1
            grove.edge_node[node, move], grove.node_state[fresh] = fresh, child[state, move]
            grove.below[b] = True
        grove.edge_visits[node, move] += 1
        grove.path_node[b, depth + 1] = grove.edge_node[node, move]
        grove.node_visits[grove.edge_node[node, move]] += 1
        grove.depth[b] += 1
    grove.path_state[b, at + 1], grove.path_move[b, at + 1] = child[state, move], move
    grove.length[b] += 1
    return True


@kernel
def _advance(child: Any, count: Any, done: Any, grove: Any, running: int, widen: Any, horizon: int) -> int:
    """Move every lane on, to the horizon or until it has to wait. Returns how many wait."""
    waiting = 0
    for b in range(running):
        grove.want[b, 0] = -1
        while grove.length[b] < horizon and _step(child, count, done, grove, b, widen):
            pass
        waiting += grove.want[b, 0] >= 0
    return waiting


@kernel
def _back_up(g: Any, grove: Any, running: int, past: int, settings: Any) -> int:
    """The returns of all lanes, along their paths. Returns the lane with a plan better than any before, or -1."""
    horizon, scale, rule = int(settings[0]), settings[1], int(settings[3])
    best = -1
    for b in range(running):
        path, moves, nodes = grove.path_state[b], grove.path_move[b], grove.path_node[b]
        soft = sign = 0.0
        for i in range(1, grove.length[b]):
            more_soft, more_sign = increment(g, path, i, path[i], scale)
            soft += more_soft
            sign += more_sign
        gain = worth(soft, sign, grove.length[b], rule, settings[4], settings[5], horizon)
        for d in range(grove.depth[b]):
            move = moves[past + d]
            grove.edge_value[nodes[d], move] = max_backup(
                grove.edge_value[nodes[d], move], grove.edge_known[nodes[d], move], gain
            )
            grove.edge_known[nodes[d], move] += 1
        grove.numbers[LOW], grove.numbers[HIGH] = min(grove.numbers[LOW], gain), max(grove.numbers[HIGH], gain)
        if gain > grove.numbers[BEST]:
            grove.numbers[BEST] = gain
            best = b
        grove.counts[ITERATIONS] += 1
    return best
