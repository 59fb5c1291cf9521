"""The example world of a user's own, different in kind from the ritual: learn to pack from a few bags, pack others."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2]))

from examples.packing import Packing

from meip.learning.pursuit import Pursuit
from meip.model.check import check_world
from meip.model.demonstrations import Episode, record
from meip.model.graph import StateGraph
from meip.utility.ranking import UtilityRanking
from random_worlds import search

BAGS = (
    ("heavy", "heavy", "fragile", "plain", "bottle"),
    ("heavy", "fragile", "fragile", "plain", "plain", "bottle"),
    ("heavy", "heavy", "heavy", "fragile", "bottle"),
)


def packed_well(things: tuple[str, ...], rng: np.random.Generator) -> list[int]:
    """All heavy things before any fragile one, plain ones anywhere, the bottle last."""
    of = {k: [int(i) for i in rng.permutation(len(things)) if things[i] == k] for k in set(things)}
    order = of.get("heavy", []) + of.get("fragile", [])
    for i in of.get("plain", []):
        order.insert(int(rng.integers(len(order) + 1)), i)
    return order + of["bottle"]


def is_packed_well(kinds: list[str]) -> bool:
    heavy = [i for i, kind in enumerate(kinds) if kind == "heavy"]
    fragile = [i for i, kind in enumerate(kinds) if kind == "fragile"]
    return kinds[-1] == "bottle" and (not heavy or not fragile or max(heavy) < min(fragile))


@pytest.fixture(scope="module")
def learned() -> Pursuit:
    rng = np.random.default_rng(0)
    bags = [Packing(things) for things in BAGS for _ in range(3)]
    return Pursuit().fit([Episode(bag, record(bag, packed_well(bag.things, rng))) for bag in bags])


def test_the_example_is_a_sound_world() -> None:
    assert check_world(Packing()) == []


def test_packing_carries_over_to_bags_never_seen(learned: Pursuit) -> None:
    rng = np.random.default_rng(1)
    ranking = UtilityRanking([learned.utility_])
    good, by_chance = 0, 0
    for _ in range(30):
        kinds = rng.choice(["heavy", "fragile", "plain"], size=int(rng.integers(4, 7)))
        things = tuple(str(kind) for kind in rng.permutation([*kinds, "bottle"]))
        graph = StateGraph(Packing(things))
        plan = search(graph, ranking)
        good += is_packed_well([things[graph.actions[a]] for a in plan.actions])
        by_chance += is_packed_well([str(kind) for kind in rng.permutation(things)])
    assert good >= 24
    assert by_chance <= 9
