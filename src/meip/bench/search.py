"""Tree search on the ritual, 3000 iterations, against the PyPI package ``mcts`` and OpenSpiel's C++ MCTSBot.

All play the same game with the same reward: a learned utility of six concepts, mean of tanh(2 * difference) over the
pairs of a plan. The peers get the game ready-made, as our search does: ``mcts`` walks lists of state numbers, OpenSpiel
a game tree loaded from an EFG file with the reward of every plan written in it. Only searching is timed, in seconds of
processor time: every player uses one thread.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip import Query, StateGraph, learn
from meip.bench._compare import compare
from meip.experiments.rites import paper_demonstrations
from meip.search.find import find
from meip.search.query import SOFT_SCALE
from meip.worlds.ritual import Ritual

__all__ = ["efg", "run"]

ITERATIONS = 3000
CONCEPTS = (
    "all(torch@1)",
    "some(bamboo@2)",
    "count(clay@3) = 4",
    "some(bamboo@2) and not all(torch@1)",
    "(count(clay@3) = 4) and not some(bamboo@2)",
    "(count(clay@3) = 4) and not all(torch@1)",
)
EXPLORATION = 0.3
PYTHON_TARGET, CPP_TARGET = 100.0, 2.0


def run(peers: bool = True, iterations: int = ITERATIONS, repeats: int = 7, objects: int = 5) -> list[dict[str, Any]]:
    """Seconds of a search by us and by each peer that is installed, and whether they choose the same first action."""
    graph = StateGraph(Ritual(objects=objects))
    graph.expand_all()
    ranking = learn(paper_demonstrations("free"), concepts=CONCEPTS).ranking
    g: NDArray[np.float64] = ranking(graph)[:, 0]
    work = f"tree search, ritual, {iterations} iterations"
    seeds = iter(range(10**9))
    start = [int(graph.initial[0])]
    best = find(graph, ranking, start, Query("exact")).actions[0]

    def ours() -> int:
        return find(graph, ranking, start, Query("mcts", iterations=iterations, seed=next(seeds))).actions[0]

    rows: list[dict[str, Any]] = []
    for name, target, theirs in _peers(graph, g, iterations, seeds) if peers else ():
        found = compare(work, name, ours, theirs, repeats=repeats, target=target, clock=time.process_time)
        rows += found.rows(clock="processor")
        rows += _agreement(work, name, best, theirs, repeats)
    if not rows:
        rows += compare(work, "", ours, None, repeats=repeats, clock=time.process_time).rows(clock="processor")
    rows += _agreement(work, "meip", best, ours, repeats)
    rate = iterations / next(row["value"] for row in rows if row["metric"] == "ours")
    return [*rows, _row(work, "meip", "simulations/s", rate)]


def _row(work: str, method: str, metric: str, value: float) -> dict[str, Any]:
    return {"experiment": "bench", "work": work, "method": method, "metric": metric, "value": value}


def _agreement(work: str, name: str, best: int, player: Callable[[], int], repeats: int) -> list[dict[str, Any]]:
    """How often a search begins with the best action: the same game must have the same answer."""
    hits = [player() == best for _ in range(repeats)]
    return [_row(work, name, "best first action", float(np.mean(hits)))]


def _peers(
    graph: StateGraph, g: NDArray[np.float64], iterations: int, seeds: Iterator[int]
) -> Iterator[tuple[str, float, Callable[[], int]]]:
    if find_spec("mcts") is not None:
        yield "mcts", PYTHON_TARGET, _python_player(graph, g, iterations)
    if find_spec("pyspiel") is not None:
        yield "open_spiel", CPP_TARGET, _cpp_player(graph, g, iterations, seeds)


def _reward(ranks: list[float], plan: tuple[int, ...]) -> float:
    """Mean over pairs of tanh(2 * difference), as the search maximises it."""
    total = 0.0
    for i in range(1, len(plan)):
        later = SOFT_SCALE * ranks[plan[i]]
        for j in range(i):
            total += math.tanh(later - SOFT_SCALE * ranks[plan[j]])
    return total / (len(plan) * (len(plan) - 1) / 2)


def _python_player(graph: StateGraph, g: NDArray[np.float64], iterations: int) -> Callable[[], int]:
    from mcts import mcts

    moves = [list(graph.action_numbers(s)) for s in range(len(graph))]
    after = {a: graph.outcomes(a)[0][1] for numbers in moves for a in numbers}
    ranks = g.tolist()

    class History:
        """A plan so far, as the package wants its states."""

        __slots__ = ("states",)

        def __init__(self, states: tuple[int, ...]) -> None:
            self.states = states

        def getPossibleActions(self) -> list[int]:
            return moves[self.states[-1]]

        def takeAction(self, action: int) -> History:
            return History((*self.states, after[action]))

        def isTerminal(self) -> bool:
            return not moves[self.states[-1]]

        def getReward(self) -> float:
            return _reward(ranks, self.states)

    # the package's constant multiplies sqrt(2 log N / n), and its rewards are not scaled: they span about 2
    searcher = mcts(iterationLimit=iterations, explorationConstant=2 * EXPLORATION / math.sqrt(2))
    return lambda: int(searcher.search(initialState=History((int(graph.initial[0]),))))


def _cpp_player(graph: StateGraph, g: NDArray[np.float64], iterations: int, seeds: Iterator[int]) -> Callable[[], int]:
    import pyspiel

    game = pyspiel.load_efg_game(efg(graph, g))
    first = graph.action_numbers(int(graph.initial[0]))[0]

    def play() -> int:
        evaluator = pyspiel.RandomRolloutEvaluator(1, next(seeds))
        bot = pyspiel.MCTSBot(game, evaluator, 2 * EXPLORATION, iterations, 1000, False, next(seeds), False)
        return first + int(bot.step(game.new_initial_state()))

    return play


def efg(graph: StateGraph, g: NDArray[np.float64]) -> str:
    """The world without chance as a game of one player in the EFG format, every history a node."""
    ranks = g.tolist()
    lines = ['EFG 2 R "ritual" { "planner" } ""']
    node = partial(_node, graph, ranks, lines)
    pending: list[tuple[int, ...]] = [(int(graph.initial[0]),)]
    sets = outcomes = 0
    while pending:  # depth first, in the order of the actions
        path = pending.pop()
        following = node(path, sets + 1, outcomes + 1)
        sets, outcomes = (sets + 1, outcomes) if following else (sets, outcomes + 1)
        pending += reversed(following)
    return "\n".join(lines) + "\n"


def _node(
    graph: StateGraph, ranks: list[float], lines: list[str], path: tuple[int, ...], infoset: int, outcome: int
) -> list[tuple[int, ...]]:
    """Write the node of a history; returns the histories that follow."""
    numbers = graph.action_numbers(path[-1]) if len(path) < graph.horizon else range(0)
    if not numbers:
        lines.append(f't "" {outcome} "" {{ {_reward(ranks, path)!r} }}')
        return []
    names = " ".join(f'"{k}"' for k in range(len(numbers)))
    lines.append(f'p "" 1 {infoset} "" {{ {names} }} 0')
    return [(*path, graph.outcomes(a)[0][1]) for a in numbers]
