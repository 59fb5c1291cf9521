"""The kernels of tree search over histories. A node is a history, not a state: the reward looks back.

The tree is a struct of arrays. `simulate` reads as select -> expand -> roll out -> back up; the rules for selection,
roll-out and backup are module-level functions that `search.py` may replace by a user's own.
"""

from __future__ import annotations

import math
from functools import lru_cache
from types import FunctionType
from typing import Any, NamedTuple, cast

import numpy as np
from numba import njit
from numpy.typing import NDArray

from meip.kernels import kernel

__all__ = [
    "DEFAULT_RULES",
    "Tree",
    "best_history",
    "generator",
    "increment",
    "max_backup",
    "mean_backup",
    "new_tree",
    "random_rollout",
    "simulate",
    "uct",
    "uniform",
    "worth",
]

DONE, NEED_STATE, FULL = 0, 1, 2
TIE = 1e-9

# control integers: what the kernel carries between calls
NODES, EDGES, SLOTS, ITERATIONS, TARGET, NEEDED, BEST_LENGTH, HISTORY = range(8)
# control numbers
LOW, HIGH, BEST = range(3)


class Tree(NamedTuple):
    """N nodes, E edges (one per action of an expanded node), C slots (one per outcome of a tried edge)."""

    node_state: NDArray[np.int64]  # [N]
    node_visits: NDArray[np.int64]  # [N]
    node_edge: NDArray[np.int64]  # [N] first edge; -1: not expanded
    node_soft: NDArray[np.float64]  # [N] sum over pairs of the history of tanh(scale * difference)
    node_sign: NDArray[np.float64]  # [N] the same with signs
    edge_visits: NDArray[np.int64]  # [E]
    edge_value: NDArray[np.float64]  # [E] sum of returns
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


def new_tree(horizon: int, nodes: int, edges: int, seed: int) -> Tree:
    """An empty tree with room for this many nodes and edges."""
    whole = {f"path_{name}": np.zeros(horizon + 1, np.int64) for name in ("state", "action", "edge", "node")}
    return Tree(
        node_state=np.zeros(nodes, np.int64),
        node_visits=np.zeros(nodes, np.int64),
        node_edge=np.full(nodes, -1, np.int64),
        node_soft=np.zeros(nodes),
        node_sign=np.zeros(nodes),
        edge_visits=np.zeros(edges, np.int64),
        edge_value=np.zeros(edges),
        edge_slot=np.full(edges, -1, np.int64),
        slot_node=np.full(edges, -1, np.int64),
        best_state=np.zeros(horizon + 1, np.int64),
        best_action=np.zeros(horizon + 1, np.int64),
        counts=np.zeros(8, np.int64),
        numbers=np.array([np.inf, -np.inf, -np.inf]),
        random=generator(seed),
        **whole,
    )


def generator(seed: int) -> NDArray[np.uint64]:
    """The state of `uniform`, from a seed. Scrambled, or the streams of neighbouring seeds would overlap."""
    z = (seed * 0x9E3779B97F4A7C15 + 0xD1B54A32D192ED03) % 2**64
    for _ in range(2):
        z = (z ^ (z >> 32)) * 0xD6E8FEB86659FD93 % 2**64
    return np.array([z ^ (z >> 32)], np.uint64)


@kernel
def uniform(random: Any) -> float:
    """The next number in [0, 1) (splitmix64: the same on every machine)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0


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
def uct(tree: Any, first: int, count: int, total: int, c: float, draw: float) -> int:
    """Which edge to try: an untried one, else the largest upper confidence bound on min-max scaled returns."""
    start = int(draw * count)
    for k in range(count):
        offset = (start + k) % count
        if tree.edge_visits[first + offset] == 0:
            return offset
    low = tree.numbers[LOW]
    spread = tree.numbers[HIGH] - low
    best = 0
    best_bound = -np.inf
    log_total = np.log(total + 1.0)
    for offset in range(count):
        n = tree.edge_visits[first + offset]
        scaled = (tree.edge_value[first + offset] / n - low) / spread if spread > 0 else 0.5
        bound = scaled + c * np.sqrt(log_total / n)
        if bound > best_bound:
            best_bound = bound
            best = offset
    return best


@kernel
def random_rollout(graph: Any, g: Any, state: int, draw: float) -> int:
    """Which of a state's actions a roll-out takes: any."""
    return int(draw * graph.action_count[state])


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
def _outcome(graph: Any, action: int, draw: float) -> int:
    """Sample an outcome of an action: its offset."""
    first = graph.first_outcome[action]
    count = graph.outcome_count[action]
    for k in range(count - 1):
        draw -= graph.outcome_probability[first + k]
        if draw < 0:
            return k
    return int(count - 1)


@kernel
def _roll_out(graph: Any, g: Any, tree: Any, length: int, horizon: int, scale: float) -> Any:
    """Finish the plan on the scratch path. Returns (length, soft, sign); length -1 where a state is not expanded."""
    soft = 0.0
    sign = 0.0
    while length < horizon:
        state = tree.path_state[length - 1]
        count = graph.action_count[state]
        if count < 0:
            tree.counts[NEEDED] = state
            return -1, soft, sign
        if count == 0:
            break
        action = graph.first_action[state] + random_rollout(graph, g, state, uniform(tree.random))
        following = graph.outcome_state[graph.first_outcome[action] + _outcome(graph, action, uniform(tree.random))]
        more_soft, more_sign = increment(g, tree.path_state, length, following, scale)
        soft += more_soft
        sign += more_sign
        tree.path_state[length] = following
        tree.path_action[length] = action
        length += 1
    return length, soft, sign


@kernel
def _choose(graph: Any, tree: Any, node: int, c: float, widen: Any) -> int:
    """The offset of the action to try in a node; -1 where the tree has no room."""
    state = tree.node_state[node]
    count = graph.action_count[state]
    if tree.node_edge[node] < 0:
        if tree.counts[EDGES] + count > len(tree.edge_visits):
            return -1
        tree.node_edge[node] = tree.counts[EDGES]
        tree.counts[EDGES] += count
    if widen[0] > 0:  # progressive widening: only the first k actions for now
        count = min(count, int(np.ceil(widen[0] * (tree.node_visits[node] + 1) ** widen[1])))
    draw = uniform(tree.random)
    return int(uct(tree, tree.node_edge[node], count, tree.node_visits[node], c, draw))


@kernel
def _child(graph: Any, g: Any, tree: Any, node: int, offset: int, length: int, scale: float) -> int:
    """Sample an outcome of an action, extend the scratch path, and return its node (made if new); -1: no room."""
    edge = tree.node_edge[node] + offset
    action = graph.first_action[tree.node_state[node]] + offset
    if tree.edge_slot[edge] < 0:
        if tree.counts[SLOTS] + graph.outcome_count[action] > len(tree.slot_node):
            return -1
        tree.edge_slot[edge] = tree.counts[SLOTS]
        tree.counts[SLOTS] += graph.outcome_count[action]
    k = _outcome(graph, action, uniform(tree.random))
    slot = tree.edge_slot[edge] + k
    state = graph.outcome_state[graph.first_outcome[action] + k]
    child = tree.slot_node[slot]
    if child < 0:
        if tree.counts[NODES] >= len(tree.node_state):
            return -1
        soft, sign = increment(g, tree.path_state, length, state, scale)
        child = tree.counts[NODES]
        tree.counts[NODES] += 1
        tree.node_state[child] = state
        tree.node_soft[child] = tree.node_soft[node] + soft
        tree.node_sign[child] = tree.node_sign[node] + sign
        tree.slot_node[slot] = child
    tree.path_state[length] = state
    tree.path_action[length] = action
    return int(child)


@kernel
def _simulate(graph: Any, g: Any, tree: Any, options: Any, widen: Any) -> int:
    """Run simulations until the target: DONE. Stops early where a state must be expanded, or the tree has no room."""
    horizon, scale, c, rule = int(options[0]), options[1], options[2], int(options[3])
    while tree.counts[ITERATIONS] < tree.counts[TARGET]:
        node = 0
        depth = 0
        length = tree.counts[HISTORY]
        more_soft = 0.0
        more_sign = 0.0
        while True:
            available = graph.action_count[tree.node_state[node]]
            if available < 0:
                tree.counts[NEEDED] = tree.node_state[node]
                return NEED_STATE
            if available == 0 or length >= horizon:
                break
            offset = _choose(graph, tree, node, c, widen)
            child = _child(graph, g, tree, node, offset, length, scale) if offset >= 0 else -1
            if child < 0:
                return FULL
            tree.path_edge[depth] = tree.node_edge[node] + offset
            node = child
            depth += 1
            tree.path_node[depth] = node
            length += 1
            if tree.node_visits[node] == 0:
                length, more_soft, more_sign = _roll_out(graph, g, tree, length, horizon, scale)
                if length < 0:
                    return NEED_STATE
                break
        soft, sign = tree.node_soft[node] + more_soft, tree.node_sign[node] + more_sign
        gain = worth(soft, sign, length, rule, options[4], options[5], horizon)
        for d in range(depth):
            edge = tree.path_edge[d]
            tree.edge_value[edge] = mean_backup(tree.edge_value[edge], tree.edge_visits[edge], gain)
            tree.edge_visits[edge] += 1
        _remember(tree, depth, length, gain)
    return DONE


@kernel
def _remember(tree: Any, depth: int, length: int, gain: float) -> None:
    """Count the visits, the range of returns and the best plan seen."""
    for d in range(depth + 1):
        tree.node_visits[tree.path_node[d]] += 1
    tree.numbers[LOW] = min(tree.numbers[LOW], gain)
    tree.numbers[HIGH] = max(tree.numbers[HIGH], gain)
    if gain > tree.numbers[BEST]:
        tree.numbers[BEST] = gain
        tree.counts[BEST_LENGTH] = length
        tree.best_state[:length] = tree.path_state[:length]
        tree.best_action[:length] = tree.path_action[:length]
    tree.counts[ITERATIONS] += 1


def simulate(graph: Any, g: Any, tree: Tree, options: Any, widen: Any, rules: tuple[Any, Any, Any]) -> int:
    """`options` = (horizon, scale, exploration, rule, threshold, strength). See `_simulate`."""
    return int(_kernel(*rules)(graph, g, tree, options, widen))


DEFAULT_RULES = (uct, random_rollout, mean_backup)


@lru_cache
def _kernel(selection: Any, rollout: Any, backup: Any) -> Any:
    """The compiled kernel; for rules of a user's own, the same code compiled anew with their names bound to them."""
    if (selection, rollout, backup) == DEFAULT_RULES:
        return _simulate
    names = {**globals(), "uct": selection, "random_rollout": rollout, "mean_backup": backup}
    for part in (_roll_out, _choose, _simulate):
        code = cast(Any, part).py_func.__code__
        names[part.__name__] = njit(nogil=True)(FunctionType(code, names))
    return names["_simulate"]


@kernel
def best_history(graph: Any, g: Any, past: Any, soft: float, sign: float, options: Any) -> Any:
    """Backward induction over the tree of histories below `past`, without storing it.

    Returns the value of each first action, the states and actions of the optimal plan (the likeliest outcomes where
    chance decides), and the number of plans looked at. Every state on the way must be expanded.
    """
    horizon, scale, rule = int(options[0]), options[1], int(options[3])
    start = len(past)
    size = horizon + 1
    path = np.zeros(size, np.int64)
    path[:start] = past
    softs, signs = np.zeros(size), np.zeros(size)  # pair sums of the history of each length
    softs[start], signs[start] = soft, sign
    offset, outcome = np.zeros(size, np.int64), np.zeros(size, np.int64)
    mean, top = np.zeros(size), np.full(size, -np.inf)  # of the current action so far; of the best action
    plan, moves = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)  # best continuation per depth
    plan_length = np.zeros(size, np.int64)
    likely = np.full(size, -1.0)  # probability of the outcome whose continuation is kept for the current action
    tail, tail_moves = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    tail_length = np.zeros(size, np.int64)
    root_count = graph.action_count[past[start - 1]] if start < horizon else 0
    values = np.full(root_count, -np.inf)
    leaves = 0
    n = start
    while True:
        state = path[n - 1]
        count = graph.action_count[state]
        if n >= horizon or count == 0:
            leaves += 1
            top[n] = worth(softs[n], signs[n], n, rule, options[4], options[5], horizon)
            plan_length[n] = n
        elif offset[n] < count:
            action = graph.first_action[state] + offset[n]
            following = graph.outcome_state[graph.first_outcome[action] + outcome[n]]
            more_soft, more_sign = increment(g, path, n, following, scale)
            path[n] = following
            softs[n + 1], signs[n + 1] = softs[n] + more_soft, signs[n] + more_sign
            n += 1
            offset[n], outcome[n], mean[n], top[n], likely[n] = 0, 0, 0.0, -np.inf, -1.0
            continue
        if n == start:
            break
        # the subtree below path[:n] is done: give its value to the action above
        above = n - 1
        action = graph.first_action[path[above - 1]] + offset[above]
        chance = graph.outcome_probability[graph.first_outcome[action] + outcome[above]]
        mean[above] += chance * top[n]
        if chance > likely[above]:
            likely[above] = chance
            tail_length[above] = plan_length[n]
            tail[above, n : plan_length[n]] = plan[n, n : plan_length[n]]
            tail_moves[above, n : plan_length[n]] = moves[n, n : plan_length[n]]
            tail[above, above] = path[above]
        outcome[above] += 1
        if outcome[above] == graph.outcome_count[action]:
            if above == start:
                values[offset[above]] = mean[above]
            if mean[above] > top[above]:
                top[above] = mean[above]
                plan_length[above] = tail_length[above]
                plan[above, above : plan_length[above]] = tail[above, above : plan_length[above]]
                moves[above, above : plan_length[above]] = tail_moves[above, above : plan_length[above]]
                moves[above, above] = action
            offset[above] += 1
            outcome[above], mean[above], likely[above] = 0, 0.0, -1.0
        n = above
    states = np.concatenate((past, plan[start, start : plan_length[start]])) if root_count > 0 else past
    return values, states, moves[start, start : plan_length[start]], leaves
