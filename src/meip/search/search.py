"""Planning with a ranking function: tree search, exact search, beam and greedy, all over histories, one interface.

The ranking function comes as a matrix g [states, members] over the graph's state numbers (a committee has several
members; their mean tau is maximised). A `Ranking` makes that matrix and extends it when the graph has grown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import BudgetError, LearningError, did_you_mean
from meip.model.graph import StateGraph
from meip.search import tree as kernels
from meip.search.batched_tree import Widths, search_in_lanes
from meip.search.exact import best_history
from meip.search.likeliest import likeliest_plan
from meip.search.plans import history_count
from meip.search.tree import Tree

__all__ = ["Chance", "Limits", "Method", "Options", "Ranking", "SearchResult", "search"]

Ranking = Callable[[StateGraph], NDArray[np.float64]]
Chance = Literal["expectation", "posterior", "probability"]
Method = Literal["auto", "exact", "mcts", "beam", "greedy", "likeliest"]
CHANCE_RULES = {"expectation": 0, "posterior": 1, "probability": 2}
METHODS = ("auto", "exact", "mcts", "beam", "greedy", "likeliest")
SOFT_SCALE = 2.0  # mean of tanh(2 * difference): tau with a soft tie-break
EXACT_HISTORIES = 200_000
LAZY_WIDENING = (2.0, 0.5)  # where actions are too many to try them all
LARGEST_START = 1 << 14  # nodes that a tree has room for before it grows


@dataclass(frozen=True)
class Limits:
    """When a search stops, whichever comes first. Time is checked between batches of simulations."""

    iterations: int = 3000
    seconds: float | None = None
    nodes: int = 5_000_000


@dataclass(frozen=True)
class Options:
    """What a search maximises and how it looks for it."""

    chance: Chance = "expectation"
    scale: float = SOFT_SCALE
    """Sharpness of tanh; 0 is the bare sign of the paper's tau."""
    threshold: float = 1.0
    """With chance="probability": the tau to reach, usually that of the demonstrations."""
    strength: float = 1.0
    """With chance="posterior": factor on lambda(h) = 2(h - 1)."""
    exploration: float | None = None
    """UCT's constant on min-max scaled returns; None: .3, or 1 where chance plays a part (one bad draw)."""
    widening: tuple[float, float] | None = None
    """Progressive widening (k, a): k * visits ** a actions are open; None: all at once, or (2, .5) where a world lists
    its actions as far as it is asked to."""
    width: int = 32
    """Beam width."""
    rules: tuple[Any, Any, Any] = field(default=kernels.DEFAULT_RULES, repr=False)
    """(selection, rollout, backup): functions compiled by numba, see tree.py."""

    def __post_init__(self) -> None:
        if self.chance not in CHANCE_RULES:
            raise LearningError(f"chance={self.chance!r}: {did_you_mean(self.chance, CHANCE_RULES)}")

    @property
    def rule(self) -> int:
        return CHANCE_RULES[self.chance]

    def numbers(self, horizon: int, mode: int = 0, *, certain: bool = True) -> NDArray[np.float64]:
        """In the form that the kernels read; `certain`: no action has several outcomes."""
        exploration = (0.3 if certain else 1.0) if self.exploration is None else self.exploration
        numbers = [horizon, self.scale, exploration, self.rule, self.threshold, self.strength, mode]
        return np.array(numbers, np.float64)

    def worth(self, soft: float, sign: float, length: int, horizon: int) -> float:
        return float(kernels.worth(soft, sign, length, self.rule, self.threshold, self.strength, horizon))


@dataclass(frozen=True)
class SearchResult:
    """A plan as state and action numbers of the graph; where chance decides, the likeliest outcomes are shown."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    value: float
    """What the search expects of the first action (the mean over chance of the return)."""
    best_states: tuple[int, ...]
    """The best single plan seen, which may have been lucky."""
    best_actions: tuple[int, ...]
    best_value: float
    root_actions: tuple[int, ...] = ()
    root_values: tuple[float, ...] = ()
    root_visits: tuple[int, ...] = ()
    iterations: int = 0
    seconds: float = 0.0
    stopped_by: str = "finished"
    method: str = ""


def search(
    graph: StateGraph,
    ranking: Ranking,
    *,
    method: Method = "auto",
    history: Sequence[int] | None = None,
    horizon: int | None = None,
    options: Options | None = None,
    limits: Limits | None = None,
    seed: int = 0,
) -> SearchResult:
    """Plan from a history (default: the first initial state) to the horizon (default: the world's).

    "auto" is exact where the histories can be listed, else (and where a world lists actions as far as it is asked to)
    beam search, or tree search where chance plays a part. "likeliest" maximises the likelihood of the steps instead of
    tau, by a beam: see `meip.search.likeliest`.
    """
    options, limits = options or Options(), limits or Limits()
    past = [int(graph.initial[0])] if history is None else [int(s) for s in history]
    length = max(graph.horizon if horizon is None else horizon, len(past))
    if method not in METHODS:
        raise LearningError(f"search method {method!r}: {did_you_mean(method, METHODS)}")
    method_now: str = method
    if method == "auto":
        budget = min(EXACT_HISTORIES, limits.nodes)
        small = not graph.listed_lazily
        small = small and history_count(graph, past[-1], length - len(past) + 1, budget) <= budget
        method_now = "exact" if small else "beam" if _certain(graph) else "mcts"
    begun = time.monotonic()
    ways = {"exact": _exact, "mcts": _tree_search, "beam": _beam, "greedy": _greedy, "likeliest": _likeliest}
    run = ways[method_now]
    found = run(graph, ranking, past, length, options, limits, seed)
    return _replace(found, seconds=time.monotonic() - begun, method=method_now)


def _certain(graph: StateGraph) -> bool:
    """Did every action seen so far have one outcome?"""
    return bool((graph.arrays().outcome_count <= 1).all())


def _replace(result: SearchResult, **changes: Any) -> SearchResult:
    return SearchResult(**{**result.__dict__, **changes})


def _tree_search(
    graph: StateGraph, ranking: Ranking, past: list[int], horizon: int, options: Options, limits: Limits, seed: int
) -> SearchResult:
    if graph.listed_lazily and hasattr(ranking, "some") and options.rules == kernels.DEFAULT_RULES:
        return _lane_search(graph, ranking, past, horizon, options, limits, seed)
    room = max(64, min(limits.iterations + 1, limits.nodes, LARGEST_START))  # a simulation makes at most one node
    tree = kernels.new_tree(horizon, room, 8 * room, seed)
    graph.expand(past[-1])
    g = ranking(graph)
    scaled = kernels.Scaled(options.scale)
    soft_signs = scaled(g)
    soft, sign = _history_sums(g, past, options.scale)
    tree.path_state[: len(past)] = past
    tree.node_state[0], tree.node_soft[0], tree.node_sign[0] = past[-1], soft, sign
    tree.counts[kernels.NODES], tree.counts[kernels.HISTORY] = 1, len(past)
    settings = options.numbers(horizon, scaled.mode, certain=_certain(graph))
    widen = np.array(options.widening or (0.0, 0.0), np.float64)
    stop = None if limits.seconds is None else time.monotonic() + limits.seconds
    batch = limits.iterations if stop is None else 64
    stopped = "iterations"
    while tree.counts[kernels.ITERATIONS] < limits.iterations:
        tree.counts[kernels.TARGET] = min(tree.counts[kernels.ITERATIONS] + batch, limits.iterations)
        status = kernels.simulate(graph.arrays(), g, soft_signs, tree, settings, widen, options.rules)
        if status == kernels.NEED_STATE:
            graph.expand(int(tree.counts[kernels.NEEDED]))
            g = ranking(graph)
            soft_signs = scaled(g)
            settings = options.numbers(horizon, scaled.mode, certain=_certain(graph))
        elif status == kernels.FULL:
            if tree.counts[kernels.NODES] >= limits.nodes:
                stopped = "nodes"
                break
            tree = _grown(tree)
        if stop is not None and time.monotonic() > stop and tree.counts[kernels.ITERATIONS] > 0:
            stopped = "seconds"
            break
    return _read_tree(graph, ranking(graph), tree, past, horizon, options, stopped)


def _lane_search(
    graph: StateGraph, ranking: Any, past: list[int], horizon: int, options: Options, limits: Limits, seed: int
) -> SearchResult:
    """Tree search that makes and looks at what it visits only. Nothing is left to chance: the best plan is the plan."""
    settings = options.numbers(horizon)
    widths = Widths(*(options.widening or LAZY_WIDENING), float(settings[2]))
    found = search_in_lanes(graph, ranking, past, settings, widths, limits, seed)
    steps = zip(found.states[len(past) - 1 :], found.moves, strict=False)
    actions = tuple(graph.action_numbers(state)[move] for state, move in steps)
    plan = (tuple(found.states), actions, found.value)
    root = tuple(graph.action_numbers(past[-1]))[: len(found.root_visits)]
    return SearchResult(
        *plan, *plan, root, tuple(found.root_values), tuple(found.root_visits), found.iterations,
        stopped_by=found.stopped,
    )  # fmt: skip


def _grown(tree: Tree) -> Tree:
    """The same tree with twice the room."""
    sized = [name for name in tree._fields if name.startswith(("node_", "edge_", "slot_"))]
    empty = {"node_edge": -1, "edge_slot": -1, "slot_node": -1}
    changes = {
        name: np.concatenate([getattr(tree, name), np.full_like(getattr(tree, name), empty.get(name, 0))])
        for name in sized
    }
    return tree._replace(**changes)


def _read_tree(
    graph: StateGraph, g: NDArray[np.float64], tree: Tree, past: list[int], horizon: int, options: Options, stopped: str
) -> SearchResult:
    """The argmax-Q plan (completed greedily below the tree), and the best plan seen."""
    best_length = int(tree.counts[kernels.BEST_LENGTH])
    best_states = tuple(int(s) for s in tree.best_state[:best_length])
    best_actions = tuple(int(a) for a in tree.best_action[len(past) : best_length])
    states, actions, node = list(past), [], 0
    while len(states) < horizon and node >= 0 and tree.node_edge[node] >= 0:
        numbers = graph.action_numbers(states[-1])
        edges = slice(int(tree.node_edge[node]), int(tree.node_edge[node]) + len(numbers))
        visits = tree.edge_visits[edges]
        if not visits.any():
            break
        means = np.where(visits > 0, tree.edge_value[edges] / np.maximum(visits, 1), -np.inf)
        offset = int(np.argmax(means))
        outcomes = graph.outcomes(numbers[offset])
        likeliest = int(np.argmax([p for p, _ in outcomes]))
        actions.append(numbers[offset])
        states.append(outcomes[likeliest][1])
        node = int(tree.slot_node[tree.edge_slot[edges.start + offset] + likeliest])
    _complete_greedily(graph, g, states, actions, horizon, options)
    first = int(tree.node_edge[0])
    numbers = graph.action_numbers(past[-1]) if first >= 0 else range(0)
    visits = tree.edge_visits[first : first + len(numbers)] if first >= 0 else np.zeros(0, np.int64)
    sums = tree.edge_value[first : first + len(numbers)] if first >= 0 else np.zeros(0)
    means = np.where(visits > 0, sums / np.maximum(visits, 1), -np.inf)
    return SearchResult(
        tuple(states),
        tuple(actions),
        float(means.max()) if len(means) else float(tree.numbers[kernels.BEST]),
        best_states,
        best_actions,
        float(tree.numbers[kernels.BEST]),
        tuple(numbers),
        tuple(float(m) for m in means),
        tuple(int(v) for v in visits),
        int(tree.counts[kernels.ITERATIONS]),
        stopped_by=stopped,
    )


def _exact(
    graph: StateGraph, ranking: Ranking, past: list[int], horizon: int, options: Options, limits: Limits, seed: int
) -> SearchResult:
    """Look at every history: the optimum, by backward induction over the tree of histories."""
    if history_count(graph, past[-1], horizon - len(past) + 1, limits.nodes) > limits.nodes:
        raise BudgetError(
            f"exact search: more than {limits.nodes} histories to look at; use method='mcts', or a smaller horizon"
        )
    g = ranking(graph)
    soft, sign = _history_sums(g, past, options.scale)
    settings = options.numbers(horizon)
    values, states, actions, leaves = best_history(graph.arrays(), g, np.array(past, np.int64), soft, sign, settings)
    numbers = graph.action_numbers(past[-1]) if len(past) < horizon else range(0)
    plan = (tuple(int(s) for s in states), tuple(int(a) for a in actions[: len(states) - len(past)]))
    value = float(values.max()) if len(values) else options.worth(soft, sign, len(past), horizon)
    root = (tuple(numbers), tuple(float(v) for v in values))
    return SearchResult(*plan, value, *plan, value, *root, iterations=int(leaves))


def _beam(
    graph: StateGraph, ranking: Ranking, past: list[int], horizon: int, options: Options, limits: Limits, seed: int
) -> SearchResult:
    """Keep the `width` best histories at each length by their tau so far; chance is taken as its likeliest outcome."""
    stop = None if limits.seconds is None else time.monotonic() + limits.seconds
    soft, sign = _history_sums(ranking(graph), past, options.scale)
    beam: list[_Ray] = [(options.worth(soft, sign, len(past), horizon), soft, sign, past, [])]
    finished: list[_Ray] = []
    looked, stopped = 0, "finished"
    while beam and stopped == "finished":
        following: list[_Ray] = []
        moves: list[list[tuple[int, int]]] = []
        for ray in beam:
            moves.append(_likely_moves(graph, ray[3][-1]) if len(ray[3]) < horizon else [])
            if stop is not None and time.monotonic() > stop:
                stopped = "seconds"
                break
        g = ranking(graph)
        for ray, steps in zip(beam, moves, strict=False):
            if not steps:
                finished.append(ray)
            following += _lengthened(g, ray, steps, horizon, options)
            if stop is not None and time.monotonic() > stop:
                stopped = "seconds"
                break
        looked += len(following)
        following.sort(key=lambda ray: -ray[0])
        beam = following[: options.width]
    finished += beam
    value, _, _, states, actions = max(finished, key=lambda ray: ray[0])
    plan = (tuple(states), tuple(actions))
    return SearchResult(*plan, value, *plan, value, iterations=looked, stopped_by=stopped)


def _likeliest(
    graph: StateGraph, ranking: Ranking, past: list[int], horizon: int, options: Options, limits: Limits, seed: int
) -> SearchResult:
    found = likeliest_plan(graph, ranking, past, horizon, options.width, limits.seconds)
    plan = (found.states, found.actions, found.log_likelihood)
    return SearchResult(*plan, *plan, iterations=found.looked, stopped_by=found.stopped_by)


_Ray = tuple[float, float, float, list[int], list[int]]  # worth, pair sums (soft, sign), states, actions


def _lengthened(
    g: NDArray[np.float64], ray: _Ray, steps: Sequence[tuple[int, int]], horizon: int, options: Options
) -> list[_Ray]:
    """A history with each of its next steps."""
    _, soft, sign, states, actions = ray
    path = np.array(states, np.int64)
    found: list[_Ray] = []
    for number, state in steps:
        more_soft, more_sign = kernels.increment(g, path, len(states), state, options.scale)
        value = options.worth(soft + more_soft, sign + more_sign, len(states) + 1, horizon)
        found.append((value, soft + more_soft, sign + more_sign, [*states, state], [*actions, number]))
    return found


def _greedy(
    graph: StateGraph, ranking: Ranking, past: list[int], horizon: int, options: Options, limits: Limits, seed: int
) -> SearchResult:
    """The best next state, again and again; states already visited only where there is no other."""
    states, actions = list(past), list[int]()
    stop = None if limits.seconds is None else time.monotonic() + limits.seconds
    stopped = _complete_greedily(graph, ranking, states, actions, horizon, options, stop)
    soft, sign = _history_sums(ranking(graph), states, options.scale)
    value = options.worth(soft, sign, len(states), horizon)
    plan = (tuple(states), tuple(actions))
    return SearchResult(*plan, value, *plan, value, iterations=len(actions), stopped_by=stopped)


def _complete_greedily(
    graph: StateGraph,
    ranking: Ranking | NDArray[np.float64],
    states: list[int],
    actions: list[int],
    horizon: int,
    options: Options,
    stop: float | None = None,
) -> str:
    visited = set(states)
    while len(states) < horizon:
        moves = _likely_moves(graph, states[-1])
        if not moves:
            return "finished"
        g = ranking(graph) if callable(ranking) else ranking
        if len(g) < len(graph):
            return "finished"  # a matrix that was made before these states were seen
        fresh = [m for m in moves if m[1] not in visited] or moves
        path = np.array(states, np.int64)
        gains = [kernels.increment(g, path, len(states), state, options.scale)[0] for _, state in fresh]
        number, state = fresh[int(np.argmax(gains))]
        actions.append(number)
        states.append(state)
        visited.add(state)
        if stop is not None and time.monotonic() > stop:
            return "seconds"
    return "finished"


def _likely_moves(graph: StateGraph, state: int) -> list[tuple[int, int]]:
    """Each action with its likeliest outcome."""
    return [(n, max(graph.outcomes(n), key=lambda o: o[0])[1]) for n in graph.action_numbers(state)]


def _history_sums(g: NDArray[np.float64], states: Sequence[int], scale: float) -> tuple[float, float]:
    """The pair sums of a history."""
    path = np.array(states, np.int64)
    sums = [kernels.increment(g, path, i, int(path[i]), scale) for i in range(1, len(path))]
    return sum(s for s, _ in sums), sum(s for _, s in sums)
