"""Learning to fold: how long a committee takes to learn, how fast plans are searched, and where the time goes."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from meip.concepts.values.columns import GraphColumns
from meip.experiments.folding_problems import EXPLORATION, HORIZON, WIDENING, Lesson
from meip.learning.committee import Committee, CommitteeOptions, learn_committee
from meip.model.graph import StateGraph
from meip.search.search import Limits, Method, Options, search
from meip.utility.ranking import UtilityRanking
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.garments import garment
from meip.worlds.folding.world import Folding, proposal_from

__all__ = ["run"]

GARMENTS = ("tshirt", "longsleeve", "sweater", "hoodie")
SIMULATIONS = 2000


def run(
    peers: bool = False, members: int = 40, candidates: int = 40, frozen: int = 17, simulations: int = SIMULATIONS
) -> list[dict[str, Any]]:
    """Rows without a peer: seconds of learning and of a plan, simulations and states per second, and their split."""
    shown = tuple(bundled())
    lesson = Lesson(shown, proposal_from(shown), "bundled")
    options = CommitteeOptions(members=members)
    learn_committee(lesson.episodes(4, 0)[:2], CommitteeOptions(members=1, most=1))  # compiles
    committee, seconds = _timed(lambda: learn_committee(lesson.episodes(60, 0), options))
    rows = [_row("learn a committee", "seconds", seconds, members=members)]
    rows += [_row("learn a committee", f"share of {k}", v / seconds) for k, v in committee.evidence["seconds"].items()]

    def world(name: str, count: int) -> Folding:
        """A new one each time: worlds remember folds."""
        return Folding(garment(name), HORIZON, lesson.proposal, count, 1)

    _tree(committee, world("tshirt", 2), 64)  # compiles
    for method in ("mcts", "beam"):
        _plan(committee, world("tshirt", 4), method, 64)  # compiles
        rows += _planning(committee, [world(name, candidates) for name in GARMENTS], method, simulations)
    return rows + _tree(committee, world("hoodie", frozen), simulations)


class _Watched:
    """A world that notes the seconds spent on folding and on facts."""

    def __init__(self, world: Folding) -> None:
        self._world = world
        self.seconds = {"folding": 0.0, "outlines and fluents": 0.0}

    def __getattr__(self, name: str) -> Any:
        return getattr(self._world, name)

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

    def _rank(self, values: Any, missing: Any) -> Any:
        self.states += len(values)
        return super()._rank(values, missing)

    def __call__(self, graph: StateGraph) -> Any:
        found, seconds = _timed(lambda: super(_WatchedRanking, self).__call__(graph))
        self.seconds += seconds
        return found

    def some(self, graph: StateGraph, numbers: Any) -> Any:
        found, seconds = _timed(lambda: super(_WatchedRanking, self).some(graph, numbers))
        self.seconds += seconds
        return found


def _plan(
    committee: Committee, world: Folding, method: Method, simulations: int
) -> tuple[float, int, dict[str, float]]:
    """Seconds of a plan from nothing, the states that were looked at, and what took how many seconds."""
    watched, ranking = _Watched(world), _WatchedRanking(committee.utilities)
    limits = Limits(iterations=simulations)
    _, seconds = _timed(lambda: search(StateGraph(watched), ranking, method=method, limits=limits))
    split = watched.seconds
    split["concepts and utilities"] = ranking.seconds - split["outlines and fluents"]
    split["search"] = seconds - ranking.seconds - split["folding"]
    return seconds, ranking.states, split


def _planning(
    committee: Committee, worlds: Sequence[Folding], method: Method, simulations: int
) -> list[dict[str, Any]]:
    """Plans for several garments, from nothing, as `meip plan` makes them."""
    runs = [_plan(committee, world, method, simulations) for world in worlds]
    total, states = sum(seconds for seconds, _, _ in runs), sum(count for _, count, _ in runs)
    work = {"mcts": "plan by tree search", "beam": "plan by beam search"}[method]
    conditions = {"plans": len(runs), "candidates": worlds[0].candidates}
    rows = [_row(work, "seconds", float(np.median([seconds for seconds, _, _ in runs])), **conditions)]
    if method == "mcts":
        rows.append(_row(work, "simulations/s", len(runs) * simulations / total, simulations=simulations))
    rows.append(_row(work, "states/s", states / total, states=states))
    return rows + [_row(work, f"share of {part}", sum(r[2][part] for r in runs) / total) for part in runs[0][2]]


def _tree(committee: Committee, world: Folding, simulations: int) -> list[dict[str, Any]]:
    """The frozen tree of all proposed folds: expanded, looked at, evaluated, and searched again and again."""
    graph = StateGraph(world)
    _, folds = _timed(lambda: graph.expand_all(max_seconds=600.0))
    _, facts = _timed(graph.facts)
    concepts = UtilityRanking(committee.utilities).concepts
    _, columns = _timed(lambda: GraphColumns(graph).matrix(concepts))
    g = UtilityRanking(committee.utilities)(graph)
    _, exact = _timed(lambda: search(graph, lambda _: g, method="exact"))
    limits, options = Limits(iterations=simulations), Options(exploration=EXPLORATION, widening=WIDENING)
    _, tree = _timed(lambda: search(graph, lambda _: g, method="mcts", options=options, limits=limits))
    split = {"folding": folds, "outlines and fluents": facts, "concepts": max(columns - facts, 0.0), "search": exact}
    total = sum(split.values())
    return [
        _row("frozen tree", "seconds", total, states=len(graph), concepts=len(concepts)),
        _row("frozen tree", "states/s", len(graph) / total),
        *[_row("frozen tree", f"share of {name}", value / total) for name, value in split.items()],
        _row("frozen tree, all plans again", "seconds", exact, plans=int(np.prod([world.candidates] * (HORIZON - 1)))),
        _row("frozen tree, tree search again", "simulations/s", simulations / tree),
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
    begun = time.perf_counter()
    found = work()
    return found, time.perf_counter() - begun
