"""Interning and expanding the free ritual: states per second, and bytes per state.

There is no peer: the figures are ours alone. Bytes are those of the integer arrays, and of everything the graph keeps
(states, actions, the index) as `tracemalloc` counts it.
"""

from __future__ import annotations

import tracemalloc
from typing import Any

from meip import StateGraph
from meip.bench._compare import compare
from meip.worlds.ritual import Ritual

__all__ = ["run"]

TARGET_SECONDS = 1.0


def run(peers: bool = True, objects: int = 5, repeats: int = 7) -> list[dict[str, Any]]:
    """Seconds to expand the free ritual, after warm-up, and what a state costs."""
    world = Ritual(objects=objects)

    def expand() -> StateGraph:
        graph = StateGraph(world)
        graph.expand_all()
        return graph

    states = len(expand())
    work = f"expanding the free ritual, {states} states"
    rows = compare(work, "", expand, None, repeats=repeats).rows()
    seconds = rows[0]["value"]
    tracemalloc.start()
    graph = expand()
    kept = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return [
        {**rows[0], "target": TARGET_SECONDS},
        _row(work, "states/s", states / seconds),
        _row(work, "transitions/s", len(graph.actions) / seconds),
        _row(work, "bytes per state, arrays", graph.nbytes() / states),
        _row(work, "bytes per state, in all", kept / states),
    ]


def _row(work: str, metric: str, value: float) -> dict[str, Any]:
    return {"experiment": "bench", "work": work, "method": "meip", "metric": metric, "value": value}
