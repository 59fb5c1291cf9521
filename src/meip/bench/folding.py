"""Learning to fold: how long a committee takes to learn, how fast plans are searched, and where the time goes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from meip.committee import Committee, CommitteeOptions, learn_committee
from meip.concepts.columns import GraphColumns
from meip.experiments.folding_problems import EXPLORATION, HORIZON, WIDENING, Lesson
from meip.graph import StateGraph
from meip.ranking import UtilityRanking
from meip.search import Limits, Options, search
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.garments import garment
from meip.worlds.folding.world import Folding, proposal_from

__all__ = ["run"]


def run(peers: bool = False, members: int = 40, candidates: int = 17, simulations: int = 1000) -> list[dict[str, Any]]:
    """Rows without a peer: seconds of learning and of a plan, simulations and states per second, and their split."""
    shown = tuple(bundled())
    lesson = Lesson(shown, proposal_from(shown), "bundled")
    options = CommitteeOptions(members=members)
    learn_committee(lesson.episodes(4, 0)[:2], CommitteeOptions(members=1, most=1))  # compiles
    committee, seconds = _timed(lambda: learn_committee(lesson.episodes(60, 0), options))
    rows = [_row("learn a committee", "seconds", seconds, members=members)]
    rows += [_row("learn a committee", f"share of {k}", v / seconds) for k, v in committee.evidence["seconds"].items()]
    world = Folding(garment("hoodie"), HORIZON, lesson.proposal, candidates, 1)
    rows += _planning(committee, world, simulations)
    return rows + _tree(committee, world, simulations)


def _planning(committee: Committee, world: Folding, simulations: int) -> list[dict[str, Any]]:
    """A plan for a garment that was never seen, from nothing."""
    ranking = UtilityRanking(committee.utilities)
    limits, options = Limits(iterations=simulations), Options(exploration=EXPLORATION, widening=WIDENING)
    graph = StateGraph(world)
    _, seconds = _timed(lambda: search(graph, ranking, method="mcts", options=options, limits=limits))
    beam, wide = StateGraph(world), Options(width=8)
    _, narrow = _timed(lambda: search(beam, UtilityRanking(committee.utilities), method="beam", options=wide))
    return [
        _row("plan by tree search", "seconds", seconds, simulations=simulations),
        _row("plan by tree search", "simulations/s", simulations / seconds),
        _row("plan by tree search", "states/s", len(graph) / seconds),
        _row("plan by beam search", "seconds", narrow, states=len(beam)),
    ]


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
    total = folds + columns + exact
    split = {"folding": folds, "outlines and fluents": facts, "concepts": max(columns - facts, 0.0), "search": exact}
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
