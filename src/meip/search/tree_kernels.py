"""The kernels of tree search over histories. A node is a history, not a state: the reward looks back.

The tree is a struct of arrays. `simulate` reads as select -> expand -> roll out -> back up; the rules for selection,
roll-out and backup are module-level functions that a `Query` may replace by a user's own.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from meip.base.kernels import kernel, uniform

__all__ = [
    "DEFAULT_RULES", "Scaled", "Tree", "generator", "increment", "max_backup", "mean_backup", "new_tree",
    "random_rollout", "simulate", "uct", "uniform", "worth",
]  # fmt: skip

DONE, NEED_STATE, FULL = 0, 1, 2
RATIO, DIRECT, SIGNS = 0, 1, 2  # how the soft sign of a difference is computed, see `_added`
TIE = 1e-9
SAFE_EXPONENT = 150.0
MOST_LOGS = 1 << 20
FIRST_EDGES, TURN = 997, 40_503  # the root's edges begin at one of so many places, by the seed; see `uct`

# control integers: what the kernel carries between calls
NODES, EDGES, SLOTS, ITERATIONS, TARGET, NEEDED, BEST_LENGTH, HISTORY = range(8)
# control numbers
LOW, HIGH, BEST = range(3)


class Tree(NamedTuple):
    """N nodes, E edges (one per action of an expanded node), C slots (one per outcome of a tried edge)."""

    node_state: NDArray[np.int64]  # [N]
    node_visits: NDArray[np.int64]  # [N]
    node_tried: NDArray[np.int64]  # [N] how many of its edges have been tried
    node_edge: NDArray[np.int64]  # [N] first edge; -1: not expanded
    node_soft: NDArray[np.float64]  # [N] sum over pairs of the history of tanh(scale * difference)
    node_sign: NDArray[np.float64]  # [N] the same with signs
    edge_visits: NDArray[np.int64]  # [E]
    edge_value: NDArray[np.float64]  # [E] sum of returns
    edge_mean: NDArray[np.float64]  # [E] the same, divided by the visits
    edge_root: NDArray[np.float64]  # [E] 1 / sqrt(visits)
    edge_slot: NDArray[np.int64]  # [E] first slot; -1: not tried
    slot_node: NDArray[np.int64]  # [C] node reached by this outcome; -1: not yet
    path_state: NDArray[np.int64]  # [horizon] scratch: the history of the current simulation
    path_action: NDArray[np.int64]  # [horizon]
    path_edge: NDArray[np.int64]  # [horizon]
    path_node: NDArray[np.int64]  # [horizon]
    best_state: NDArray[np.int64]  # [horizon] the best plan seen
    best_action: NDArray[np.int64]  # [horizon]
    counts: NDArray[np.int64]  # [8] see NODES ..
    numbers: NDArray[np.float64]  # [3] see LOW ..
    random: NDArray[np.uint64]  # [1] state of the generator
    root_logs: NDArray[np.float64]  # [L] sqrt(log(n + 1)); nearly constant from the last one on


def new_tree(horizon: int, nodes: int, edges: int, seed: int) -> Tree:
    """An empty tree with room for this many nodes and edges."""
    random, edges = generator(seed), edges + FIRST_EDGES
    whole = {f"path_{name}": np.zeros(horizon + 1, np.int64) for name in ("state", "action", "edge", "node")}
    return Tree(
        node_state=np.zeros(nodes, np.int64),
        node_visits=np.zeros(nodes, np.int64),
        node_tried=np.zeros(nodes, np.int64),
        node_edge=np.full(nodes, -1, np.int64),
        node_soft=np.zeros(nodes),
        node_sign=np.zeros(nodes),
        edge_visits=np.zeros(edges, np.int64),
        edge_value=np.zeros(edges),
        edge_mean=np.zeros(edges),
        edge_root=np.zeros(edges),
        edge_slot=np.full(edges, -1, np.int64),
        slot_node=np.full(edges, -1, np.int64),
        best_state=np.zeros(horizon + 1, np.int64),
        best_action=np.zeros(horizon + 1, np.int64),
        counts=np.array([0, int(random[0] % FIRST_EDGES), 0, 0, 0, 0, 0, 0]),  # see NODES ..
        numbers=np.array([np.inf, -np.inf, -np.inf]),
        random=random,
        root_logs=_root_logs(),
        **whole,
    )


@lru_cache
def _root_logs() -> NDArray[np.float64]:
    return np.asarray(np.sqrt(np.log(np.arange(1.0, MOST_LOGS + 1))), dtype=np.float64)


def generator(seed: int) -> NDArray[np.uint64]:
    """The state of `uniform`, from a seed. Scrambled, or the streams of neighbouring seeds would overlap."""
    z = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) % 2**64
    for _ in range(2):
        z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93 % 2**64
    return np.array([z ^ (z >> 32)], np.uint64)


@kernel
def increment(g: Any, path: Any, length: int, state: int, scale: float) -> tuple[float, float]:
    """What a state adds to the pair sums of a history: with tanh(scale * difference), and with signs.

    Both are means over the members of a committee (the columns of g).
    """
    soft = 0.0
    sign = 0.0
    members = g.shape[1]
    for j in range(length):
        for m in range(members):
            difference = g[state, m] - g[path[j], m]
            if difference > TIE:
                sign += 1.0
            elif difference < -TIE:
                sign -= 1.0
            if scale > 0:
                soft += np.tanh(scale * difference)
    if scale <= 0:
        soft = sign
    return soft / members, sign / members


@kernel
def _added(g: Any, scaled: Any, path: Any, length: int, state: int, mode: int, signs: bool) -> tuple[float, float]:
    """`increment` for simulations, with tanh(a - b) = (A - B) / (A + B) from precomputed A = exp(2a), B = exp(2b).

    mode RATIO: `scaled` holds these exponentials; DIRECT: scale * g, where they would overflow; SIGNS: no tanh at all.
    Signs are only counted where somebody asks for them.
    """
    soft = 0.0
    sign = 0.0
    members = g.shape[1]
    for j in range(length):
        for m in range(members):
            if mode == RATIO:
                later, earlier = scaled[state, m], scaled[path[j], m]
                soft += (later - earlier) / (later + earlier)
            elif mode == DIRECT:
                soft += math.tanh(scaled[state, m] - scaled[path[j], m])
            if signs:
                difference = g[state, m] - g[path[j], m]
                if difference > TIE:
                    sign += 1.0
                elif difference < -TIE:
                    sign -= 1.0
    if mode == SIGNS:
        soft = sign
    return soft / members, sign / members


@kernel
def worth(soft: float, sign: float, length: int, rule: int, threshold: float, strength: float, horizon: int) -> float:
    """The return of a finished plan; averaging it over chance gives the three semantics of DESIGN's point 10.

    rule 0: expected tau; 1: posterior, exp(strength * 2(h - 1) * tau); 2: probability that tau >= threshold.
    """
    if length < 2:
        pairs = 1.0
    else:
        pairs = 0.5 * length * (length - 1)
    if rule == 0:
        return soft / pairs
    if rule == 1:
        return math.exp(strength * (2.0 * (length - 1) * soft / pairs - 2.0 * (horizon - 1)))
    reached = 1.0 if sign / pairs >= threshold - TIE else 0.0
    return reached + 1e-3 * soft / pairs


@kernel
def uct(
    visits: Any, means: Any, roots: Any, first: int, count: int, tried: int, root_log: float, spread: float, c: float,
    draw: float,
) -> int:  # fmt: skip
    """Which of the `count` edges from `first` on to try: an untried one, else the largest upper confidence bound.

    means + c * sqrt(log(all visits) / visits) on returns scaled by their spread so far; roots are 1 / sqrt(visits),
    root_log is sqrt(log(all visits + 1)).
    """
    if tried < count:
        start = int(draw * count)
        for offset in range(start, count):
            if visits[first + offset] == 0:
                return offset
        for offset in range(start):
            if visits[first + offset] == 0:
                return offset
    turn = first * TURN % count  # in every node another one, by the seed: not what is listed first wins a tie
    width = c * spread * root_log
    best = 0
    best_bound = -np.inf
    for offset in range(turn, count):
        bound = means[first + offset] + width * roots[first + offset]
        if bound > best_bound:
            best_bound = bound
            best = offset
    for offset in range(turn):
        bound = means[first + offset] + width * roots[first + offset]
        if bound > best_bound:
            best_bound = bound
            best = offset
    return best


@kernel
def random_rollout(graph: Any, g: Any, state: int, count: int, draw: float) -> int:
    """Which of a state's `count` actions a roll-out takes: any."""
    return int(draw * count)


@kernel
def mean_backup(value: float, visits: int, gain: float) -> float:
    """The new sum of returns of an edge that had `visits` before."""
    return value + gain


@kernel
def max_backup(value: float, visits: int, gain: float) -> float:
    """The best return seen instead of the mean (kept as a sum, like `mean_backup`)."""
    best = gain if visits == 0 else max(value / visits, gain)
    return best * (visits + 1)


@kernel
def _outcome(first: int, count: int, probability: Any, random: Any) -> int:
    """Sample one of the outcomes from `first` on."""
    if count > 1:
        draw = uniform(random)
        for outcome in range(first, first + count - 1):
            draw -= probability[outcome]
            if draw < 0:
                return outcome
    return first + count - 1


@kernel
def _opened(widen: Any, count: int, visits: int) -> int:
    """Progressive widening: how many of a node's actions are open."""
    if widen[0] > 0:
        wanted: int = math.ceil(widen[0] * (visits + 1) ** widen[1])
        return min(count, wanted)
    return count


@kernel
def _simulate(graph: Any, g: Any, scaled: Any, tree: Any, options: Any, widen: Any) -> int:
    """Run simulations until the target: DONE. Stops early where a state must be expanded, or the tree has no room.

    A simulation that stopped is repeated with the same random numbers, so that it gets there at the next attempt.
    Arrays are taken out of their tuples first: inside the loop each access would count references.
    """
    horizon, c, rule, mode = int(options[0]), options[2], int(options[3]), int(options[6])
    signs = rule == 2 or mode == SIGNS
    first_action, action_count, first_outcome = graph.first_action, graph.action_count, graph.first_outcome
    outcome_count, outcome_state, odds = graph.outcome_count, graph.outcome_state, graph.outcome_probability
    node_state, node_visits, node_tried, node_edge = tree.node_state, tree.node_visits, tree.node_tried, tree.node_edge
    node_soft, node_sign, edge_visits, edge_mean = tree.node_soft, tree.node_sign, tree.edge_visits, tree.edge_mean
    edge_root, edge_slot, slot_node = tree.edge_root, tree.edge_slot, tree.slot_node
    path, moves, edges, nodes = tree.path_state, tree.path_action, tree.path_edge, tree.path_node
    counts, numbers, random, root_logs = tree.counts, tree.numbers, tree.random, tree.root_logs
    last = len(root_logs) - 1
    while counts[ITERATIONS] < counts[TARGET]:
        begun, node, depth, length, fresh = random[0], 0, 0, counts[HISTORY], False
        soft, sign = node_soft[0], node_sign[0]
        while length < horizon:
            state = path[length - 1] if fresh else node_state[node]
            count = action_count[state]
            if count == 0:
                break
            if count < 0:
                counts[NEEDED] = state
                random[0] = begun
                return NEED_STATE
            if fresh:  # below the tree: roll out
                action = first_action[state] + random_rollout(graph, g, state, count, uniform(random))
                outcome = _outcome(first_outcome[action], outcome_count[action], odds, random)
                following = outcome_state[outcome]
                more_soft, more_sign = _added(g, scaled, path, length, following, mode, signs)
                soft += more_soft
                sign += more_sign
            else:
                if node_edge[node] < 0 and not _take(counts, EDGES, count, len(edge_visits), node_edge, node):
                    random[0] = begun
                    return FULL
                spread = numbers[HIGH] - numbers[LOW] if numbers[HIGH] > numbers[LOW] else 1.0
                offset = uct(
                    edge_visits, edge_mean, edge_root, node_edge[node], _opened(widen, count, node_visits[node]),
                    node_tried[node], root_logs[min(node_visits[node], last)], spread, c, uniform(random),
                )  # fmt: skip
                edge, action = node_edge[node] + offset, first_action[state] + offset
                size = outcome_count[action]
                if edge_slot[edge] < 0 and not _take(counts, SLOTS, size, len(slot_node), edge_slot, edge):
                    random[0] = begun
                    return FULL
                outcome = _outcome(first_outcome[action], size, odds, random)
                slot = edge_slot[edge] + outcome - first_outcome[action]
                following = outcome_state[outcome]
                if slot_node[slot] < 0:
                    if not _take(counts, NODES, 1, len(node_state), slot_node, slot):
                        random[0] = begun
                        return FULL
                    more_soft, more_sign = _added(g, scaled, path, length, following, mode, signs)
                    child = slot_node[slot]
                    node_state[child] = following
                    node_soft[child], node_sign[child] = node_soft[node] + more_soft, node_sign[node] + more_sign
                edges[depth] = edge
                depth += 1
                node = slot_node[slot]
                nodes[depth] = node
                fresh = node_visits[node] == 0
                soft, sign = node_soft[node], node_sign[node]
            path[length], moves[length] = following, action
            length += 1
        gain = worth(soft, sign, length, rule, options[4], options[5], horizon)
        _back_up(tree.edge_value, edge_visits, edge_mean, edge_root, edges, depth, gain, node_tried, nodes)
        for d in range(depth + 1):
            node_visits[nodes[d]] += 1
        numbers[LOW], numbers[HIGH] = min(numbers[LOW], gain), max(numbers[HIGH], gain)
        counts[ITERATIONS] += 1
        if gain > numbers[BEST]:
            numbers[BEST] = gain
            counts[BEST_LENGTH] = length
            tree.best_state[:length], tree.best_action[:length] = path[:length], moves[:length]
    return DONE


@kernel
def _take(counts: Any, which: int, size: int, room: int, place: Any, index: int) -> bool:
    """Give the next `size` nodes, edges or slots to place[index]; False where there is no room."""
    if counts[which] + size > room:
        return False
    place[index] = counts[which]
    counts[which] += size
    return True


@kernel
def _back_up(
    value: Any, visits: Any, mean: Any, root: Any, edges: Any, depth: int, gain: float, tried: Any, nodes: Any
) -> None:
    for d in range(depth):
        edge = edges[d]
        tried[nodes[d]] += visits[edge] == 0
        value[edge] = mean_backup(value[edge], visits[edge], gain)
        visits[edge] += 1
        mean[edge] = value[edge] / visits[edge]
        root[edge] = 1.0 / math.sqrt(visits[edge])


def simulate(graph: Any, g: Any, scaled: Any, tree: Tree, options: Any, widen: Any, rules: tuple[Any, Any, Any]) -> int:
    """`options` = (horizon, scale, exploration, rule, threshold, strength, mode). See `_simulate`."""
    return int(_kernel(*rules)(graph, g, scaled, tree, options, widen))


DEFAULT_RULES = (uct, random_rollout, mean_backup)


@lru_cache
def _kernel(selection: Any, rollout: Any, backup: Any) -> Any:
    """The compiled kernel; for rules of a user's own, the same code compiled anew with their names bound to them."""
    if (selection, rollout, backup) == DEFAULT_RULES:
        return _simulate
    names = {**globals(), "uct": selection, "random_rollout": rollout, "mean_backup": backup}
    for part in (_back_up, _simulate):
        code = cast(Any, part).py_func.__code__
        names[part.__name__] = njit(nogil=True)(FunctionType(code, names))
    return names["_simulate"]


class Scaled:
    """What `_added` reads instead of g: exp(2 * scale * (g - middle)) where it neither overflows nor vanishes.

    Extended as g gets more rows; the rows it has stay as they are.
    """

    def __init__(self, scale: float) -> None:
        self.scale = scale
        self.mode = RATIO if scale > 0 else SIGNS
        self._middle = 0.0
        self._known = 0
        self._rows: NDArray[np.float64] = np.empty((0, 0))

    def __call__(self, g: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.mode == SIGNS or len(g) == self._known:
            return g if self.mode == SIGNS else self._rows[: len(g)]
        if self._known == 0:
            self._middle = 0.5 * (float(g.min()) + float(g.max()))
        fresh = self.scale * (g[self._known :] - self._middle)
        if self.mode == RATIO and np.abs(fresh).max() > SAFE_EXPONENT:
            self.mode, self._known = DIRECT, 0
            fresh = self.scale * (g - self._middle)
        if len(self._rows) < len(g):
            rows = np.empty((max(len(g), 2 * len(self._rows)), g.shape[1]))
            if self._known:
                rows[: self._known] = self._rows[: self._known]
            self._rows = rows
        self._rows[self._known : len(g)] = np.exp(2.0 * fresh) if self.mode == RATIO else fresh
        self._known = len(g)
        return self._rows[: len(g)]
