"""Learning to fold: how long it takes to learn, how fast plans are searched, and where the time goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from meip import Episode, Found, Query, StateGraph, Task, learn, load_problem
from meip.concepts.values.columns import GraphColumns
from meip.search.find import find
from meip.utility.ranking import Ranking, UtilityRanking
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.garments import garment
from meip.worlds.folding.world import Folding, proposal_from

__all__ = ["run"]

GARMENTS = ("tshirt", "longsleeve", "sweater", "hoodie")
FROZEN, REPEATS = ("tshirt", "hoodie"), 3  # of these the median
SIMULATIONS = 2000
HORIZON = 4
EXPLORATION, WIDENING = 1.0, (2.0, 0.5)  # of tree search in the frozen tree


def run(
    peers: bool = False, shown: int = 15, candidates: int = 40, frozen: int = 17, simulations: int = SIMULATIONS
) -> list[dict[str, Any]]:
    """Rows without a peer: seconds of learning and of a plan, simulations and states per second, and their split."""
    demonstrations = bundled()[:shown]
    episodes = [Episode(load_problem(one.problem), one) for one in demonstrations]
    learn(episodes[:2])  # compiles
    task, seconds = _timed(lambda: learn(episodes))
    rows = [_row("learn", "seconds", seconds, demonstrations=shown)]
    proposal = proposal_from(demonstrations)

    def world(name: str, count: int) -> _Watched:
        """A new one each time: worlds remember folds."""
        return _Watched(garment(name), HORIZON, proposal, count, 1)

    _tree(task, world("tshirt", 2), 64)  # compiles
    for method in ("mcts", "beam"):
        _plan(task, world("tshirt", 4), method, 64)  # compiles
        rows += _planning(task, [world(name, candidates) for name in GARMENTS], method, simulations)
    for name in FROZEN:  # one after the other: what else runs, or is compiled, is in one of them only
        trees = [_tree(task, world(name, frozen), simulations) for _ in range(REPEATS)]
        rows += sorted(trees, key=lambda tree: float(tree[0]["value"]))[REPEATS // 2]
    return rows


class _Watched(Folding):
    """A world that notes the seconds spent on folding and on facts."""

    @cached_property
    def seconds(self) -> dict[str, float]:
        return {"folding": 0.0, "outlines and fluents": 0.0}

    @cached_property
    def _world(self) -> Folding:
        """One that is not watched: its methods call each other."""
        return Folding(self.garment, self.horizon, self.proposal, self.candidates, self.seed)

    def outcomes(self, state: Any, action: Any) -> Any:
        return self._world.outcomes(state, action)

    def first_moves(self, *arguments: Any) -> Any:
        found, seconds = _timed(lambda: self._world.first_moves(*arguments))
        self.seconds["folding"] += seconds
        return found

    def actions(self, state: Any) -> Any:
        found, seconds = _timed(lambda: self._world.actions(state))
        self.seconds["folding"] += seconds
        return found

    def facts_batch(self, states: Any) -> Any:
        found, seconds = _timed(lambda: self._world.facts_batch(states))
        self.seconds["outlines and fluents"] += seconds
        return found


class _WatchedRanking(UtilityRanking):
    """A ranking that notes its seconds, and how many states it looked at."""

    seconds, states = 0.0, 0

    def _rank(self, graph: StateGraph, states: Any) -> Any:
        self.states += len(states)
        return super()._rank(graph, states)

    def __call__(self, graph: StateGraph, states: Any = None) -> Any:
        found, seconds = _timed(lambda: super(_WatchedRanking, self).__call__(graph, states))
        self.seconds += seconds
        return found


def _search(graph: StateGraph, ranking: Ranking, **query: Any) -> Found:
    return find(graph, ranking, [int(graph.initial[0])], Query(**query))


def _plan(task: Task, world: _Watched, method: str, simulations: int) -> tuple[float, int, dict[str, float]]:
    """Seconds of a plan from nothing, the states that were looked at, and what took how many seconds."""
    ranking = _WatchedRanking(task.members)
    _, seconds = _timed(lambda: _search(StateGraph(world), ranking, method=method, iterations=simulations))
    split = dict(world.seconds)
    split["concepts and utilities"] = ranking.seconds - split["outlines and fluents"]
    split["search"] = seconds - ranking.seconds - split["folding"]
    return seconds, ranking.states, split


def _planning(task: Task, worlds: Sequence[_Watched], method: str, simulations: int) -> list[dict[str, Any]]:
    """Plans for several garments, from nothing, as `meip plan` makes them."""
    runs = [_plan(task, world, method, simulations) for world in worlds]
    total, states = sum(seconds for seconds, _, _ in runs), sum(count for _, count, _ in runs)
    work = {"mcts": "plan by tree search", "beam": "plan by beam search"}[method]
    conditions = {"plans": len(runs), "candidates": worlds[0].candidates}
    rows = [_row(work, "seconds", float(np.median([seconds for seconds, _, _ in runs])), **conditions)]
    if method == "mcts":
        rows.append(_row(work, "simulations/s", len(runs) * simulations / total, simulations=simulations))
    rows.append(_row(work, "states/s", states / total, states=states))
    return rows + [_row(work, f"share of {part}", sum(r[2][part] for r in runs) / total) for part in runs[0][2]]


def _tree(task: Task, world: Folding, simulations: int) -> list[dict[str, Any]]:
    """The frozen tree of all proposed folds: expanded, looked at, evaluated, and searched again and again."""
    of = {"garment": world.garment.name}
    graph = StateGraph(world)
    _, folds = _timed(lambda: graph.expand_all(max_seconds=600.0))
    _, facts = _timed(graph.facts)
    concepts = task.ranking.concepts
    _, columns = _timed(lambda: GraphColumns(graph).matrix(concepts))
    task.ranking(graph)  # known from now on
    _, exact = _timed(lambda: _search(graph, task.ranking, method="exact"))
    settings: Any = {"iterations": simulations, "exploration": EXPLORATION, "widening": WIDENING}
    _, tree = _timed(lambda: _search(graph, task.ranking, method="mcts", **settings))
    split = {"folding": folds, "outlines and fluents": facts, "concepts": max(columns - facts, 0.0), "search": exact}
    total = sum(split.values())
    return [
        _row("frozen tree", "seconds", total, states=len(graph), concepts=len(concepts), **of),
        _row("frozen tree", "states/s", len(graph) / total, **of),
        *[_row("frozen tree", f"share of {name}", value / total, **of) for name, value in split.items()],
        _row("frozen tree, all plans again", "seconds", exact, plans=world.candidates ** (HORIZON - 1), **of),
        _row("frozen tree, tree search again", "simulations/s", simulations / tree, **of),
    ]


def _row(work: str, metric: str, value: float, **conditions: Any) -> dict[str, Any]:
    return {
        "experiment": "bench",
        "work": work,
        "n": 1,
        "method": "meip",
        "metric": metric,
        "value": value,
        **conditions,
    }


def _timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """What it finds, and the seconds of processor time that it took: other programs do not count."""
    begun = time.process_time()
    found = work()
    return found, time.process_time() - begun
