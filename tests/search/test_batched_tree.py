"""Tree search in lanes, on a small world that lists its moves as far as it is asked to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from meip.model.domain import Domain, EntityClass, Facts, predicate
from meip.model.graph import StateGraph
from meip.model.world import World
from meip.search.batched_tree import Widths, search_in_lanes
from meip.search.search import Limits, Options, search

DOMAIN = Domain("letters", (EntityClass("letter"),), (predicate("there", "letter"),))


class Letters(World):
    """Words of up to `horizon - 1` letters of an alphabet; nothing follows on the letter a."""

    domain = DOMAIN
    horizon = 4
    most_moves = 6

    def __init__(self) -> None:
        self.made: set[str] = set()

    def initial(self) -> Sequence[tuple[float, str]]:
        return [(1.0, "")]

    def actions(self, state: str) -> Sequence[str]:
        ((moves, _),) = self.first_moves([state], [self.most_moves])
        return [action for action, _ in moves]

    def outcomes(self, state: str, action: str) -> Sequence[tuple[float, str]]:
        return [(1.0, state + action)]

    def first_moves(self, states: Sequence[str], counts: Sequence[int]) -> list[tuple[list[tuple[str, str]], bool]]:
        found = []
        for state, n in zip(states, counts, strict=True):
            letters = "" if state.endswith("a") else "fbdcea"
            self.made |= {state + a for a in letters[:n]}
            found.append(([(a, state + a) for a in letters[:n]], n >= len(letters)))
        return found

    def facts(self, state: str) -> Facts:
        return Facts({"letter": 1}, {"there": np.ones(1, np.bool_)})


class Alphabetical:
    """g: the last letter, a little less for words with an f."""

    def __init__(self) -> None:
        self.asked: set[int] = set()

    def __call__(self, graph: StateGraph) -> np.ndarray:
        values = [[(ord(s[-1]) - 96 if s else 0.0) - 0.3 * s.count("f")] for s in graph.states]
        return np.array(values, np.float64) / 3.0

    def some(self, graph: StateGraph, numbers: Sequence[int]) -> np.ndarray:
        self.asked |= set(numbers)
        g = self(graph)
        g[[n for n in range(len(g)) if n not in self.asked]] = np.nan
        return g


def test_it_finds_the_best_plan_of_exact_search() -> None:
    exact = search(StateGraph(Letters()), Alphabetical().__call__, method="exact")
    for seed in range(5):
        found = search(StateGraph(Letters()), Alphabetical(), method="mcts", limits=Limits(1500), seed=seed)
        assert found.best_value == pytest.approx(exact.value, abs=1e-12)
        assert found.states == found.best_states


def test_the_actions_of_the_plan_lead_from_state_to_state() -> None:
    graph = StateGraph(Letters())
    found = search(graph, Alphabetical(), method="mcts", limits=Limits(100))
    word = "".join(graph.actions[a] for a in found.actions)
    assert [graph.states[s] for s in found.states] == [word[:i] for i in range(len(word) + 1)]
    assert sum(found.root_visits) == found.iterations == 100
    assert len(found.root_actions) == len(found.root_values) == len(found.root_visits)
    assert max(found.root_values) == pytest.approx(found.value)  # a move is worth the best plan through it
    assert found.root_actions[int(np.argmax(found.root_values))] == found.actions[0]


def test_only_what_simulations_visit_is_made_and_looked_at() -> None:
    world, ranking = Letters(), Alphabetical()
    graph = StateGraph(world)
    settings = Options().numbers(4)
    search_in_lanes(graph, ranking, [0], settings, Widths(1.0, 0.5, 0.3), Limits(20), seed=0)
    assert len(world.made) < 45  # of 186 words
    assert len(ranking.asked) <= 61  # at most three new states in a simulation, and the first


def test_the_same_seed_gives_the_same_search_and_limits_are_kept() -> None:
    one, two = (search(StateGraph(Letters()), Alphabetical(), method="mcts", seed=3, limits=Limits(64)) for _ in "ab")
    assert (one.states, one.root_values, one.root_visits) == (two.states, two.root_values, two.root_visits)
    few = search(StateGraph(Letters()), Alphabetical(), method="mcts", limits=Limits(5000, nodes=70))
    assert few.stopped_by == "nodes"
    late = search(StateGraph(Letters()), Alphabetical(), method="mcts", limits=Limits(10**9, seconds=0.05))
    assert late.stopped_by == "seconds"


def test_the_tree_grows_beyond_the_room_it_starts_with() -> None:
    found = search(StateGraph(Letters()), Alphabetical(), method="mcts", limits=Limits(9000))
    assert found.iterations == sum(found.root_visits) == 9000


def test_a_search_that_starts_in_the_middle_keeps_its_history() -> None:
    graph = StateGraph(Letters())
    past = [graph.intern(s) for s in ("", "b")]
    found = search(graph, Alphabetical(), method="mcts", history=past, limits=Limits(200))
    assert found.states[:2] == tuple(past)
    assert len(found.actions) == len(found.states) - 2
    exact = search(graph, Alphabetical().__call__, method="exact", history=past)
    assert found.value == pytest.approx(exact.value, abs=1e-12)


def test_by_itself_search_does_not_list_everything_here() -> None:
    assert search(StateGraph(Letters()), Alphabetical()).method == "beam"
