"""P0 counts actions that have the same outcomes once, wherever plans are listed, drawn, compared or learned from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from meip import Episode, Task, learn, record
from meip.model.choices import alternatives
from meip.model.graph import StateGraph
from meip.search.base_policy import action_shares
from meip.search.branches import sample_branches
from meip.search.plans import PlanSet, enumerate_plans, roll_out, sample_model
from meip.search.pool import Pool, PoolOptions
from meip.search.query import Query
from meip.worlds.didactic import Didactic

COPIES = ("a2", "a2 once more", "a2 again")
GIVEN = ("some(at and bad)", "some(at and goal)", "some(at and waypoint)")


@dataclass(frozen=True)
class Copied(Didactic):
    """The way through the bad place under three names, and the short way's outcomes in either order."""

    def actions(self, state: str) -> Sequence[str]:
        return ["a1", "a1 the other way round", *COPIES] if state == "S0" else super().actions(state)

    def outcomes(self, state: str, action: str) -> Sequence[tuple[float, str]]:
        found = super().outcomes(state, action[:2])
        return found[::-1] if "round" in action else found


def shares(graph: StateGraph, plans: PlanSet, weights: np.ndarray) -> dict[tuple[str, ...], float]:
    found: Counter[tuple[str, ...]] = Counter()
    for k, weight in enumerate(weights):
        found[tuple(str(graph.states[s]) for s in plans.plan(k))] += float(weight)
    return dict(found)


def listed(world: Didactic) -> dict[tuple[str, ...], float]:
    graph = StateGraph(world)
    plans = enumerate_plans(graph, 0, world.horizon)
    return shares(graph, plans, np.exp(plans.log_base))


def test_copies_of_an_action_share_the_probability_of_one() -> None:
    graph = StateGraph(Copied(0.3))
    graph.expand_all()
    assert action_shares(graph.arrays())[:5] == pytest.approx([0.25, 0.25, 1 / 6, 1 / 6, 1 / 6])
    assert listed(Copied(0.3)) == pytest.approx(listed(Didactic(0.3)))


def test_the_branches_of_a_tree_are_drawn_as_if_there_were_no_copies() -> None:
    found = []
    for world in (Copied(0.3), Didactic(0.3)):
        graph = StateGraph(world)
        query = Query(horizon=5, iterations=500, scale=0.0, exploration=1.0)
        plans = sample_branches(graph, lambda graph, states=None: np.zeros((len(graph), 1)), 0, 4000, query)
        found.append(sum(graph.states[plan[1]] == "b2" for plan in plans) / len(plans))
    assert found == pytest.approx([0.5, 0.5], abs=0.03)


@pytest.mark.parametrize("how", ["rolled out", "drawn"])
def test_plans_are_drawn_as_if_there_were_no_copies(how: str) -> None:
    graph, count = StateGraph(Copied(0.3)), 20_000
    plans = roll_out(graph, 0, 5, count, 1) if how == "rolled out" else sample_model(graph, None, 0, 5, count, 1)[0]
    assert shares(graph, plans, np.full(count, 1 / count)) == pytest.approx(listed(Didactic(0.3)), abs=0.015)


def test_a_choice_among_copies_is_a_choice_among_what_differs() -> None:
    for world in (Didactic(0.3), Copied(0.3)):
        found = alternatives(StateGraph(world), 0, "a1")
        assert [one.mass for one in found] == pytest.approx([1 / 3] * 3)


def test_branches_off_a_demonstration_know_the_base_probability_of_their_prefix() -> None:
    graph = StateGraph(Copied(0.3))
    pool = Pool(graph, 0, 5, PoolOptions(exact_limit=1, rollouts=50))
    path = tuple(graph.intern(name) for name in ("S0", "S1", "g"))
    assert pool._log_base(path) == pytest.approx(np.log(0.5 * 0.7))


def learned(world: Didactic, **options: object) -> Task:
    shown = [Episode(world, record(world, ["a1", "a1"], [0, None])) for _ in range(5)]
    return learn(shown, concepts=GIVEN, **options)


@pytest.mark.parametrize("objective", ["plans", "choices"])
def test_three_copies_of_an_action_change_nothing_that_is_learned(objective: str) -> None:
    one, other = (learned(world, objective=objective) for world in (Didactic(0.1), Copied(0.1)))
    assert one.concepts == other.concepts
    for mine, theirs in zip(one.members, other.members, strict=True):
        for a, b in zip(mine.terms, theirs.terms, strict=True):
            assert a.weights == pytest.approx(b.weights, abs=1e-6)
