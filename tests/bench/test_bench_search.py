"""The peers of tree search and pursuit play the same game and find the same concepts."""

from __future__ import annotations

import importlib.util

import numpy as np

from meip.bench import graph, pursuit, search
from meip.model.graph import StateGraph
from meip.worlds.ritual import Ritual


def test_tree_search_and_its_peers_begin_with_the_best_action() -> None:
    rows = search.run(peers=True, iterations=3000, repeats=1)
    agreed = [row["value"] for row in rows if row["metric"] == "best first action"]
    assert agreed == [1.0] * len(agreed)
    assert len(agreed) == 1 + sum(importlib.util.find_spec(name) is not None for name in ("mcts", "pyspiel"))


def test_the_game_file_has_a_node_for_every_history() -> None:
    world = StateGraph(Ritual(stages=2, objects=1))
    world.expand_all()
    lines = search.efg(world, np.arange(float(len(world)))).splitlines()
    assert sum(line.startswith("t ") for line in lines) == 2 * 4 * 4
    assert sum(line.startswith("p ") for line in lines) == 1 + 8


def test_expanding_the_ritual_is_measured() -> None:
    rows = {row["metric"]: row["value"] for row in graph.run(objects=1, repeats=1)}
    assert rows["states/s"] > 0
    assert rows["bytes per state, in all"] > rows["bytes per state, arrays"] > 0


def test_the_pursuit_is_measured_without_its_peer() -> None:
    assert [row["metric"] for row in pursuit.run(peers=False, repeats=1, order="enforced")] == ["ours"]
