"""Tree search in lanes, on a small world that lists its moves as far as it is asked to."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from meip.model.domain import Domain, EntityClass, Facts, predicate
from meip.model.graph import StateGraph
from meip.model.world import World
from meip.search import batched_tree
from meip.search.query import Query
from meip.utility.ranking import Ranking
from random_worlds import search

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


class Alphabetical(Ranking):
    """g: the last letter, a little less for words with an f."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: set[int] = set()

    def _rank(self, graph: StateGraph, states: np.ndarray) -> np.ndarray:
        self.asked |= set(states.tolist())
        found = [graph.states[n] for n in states]
        return np.array([[(ord(s[-1]) - 96 if s else 0.0) - 0.3 * s.count("f")] for s in found]) / 3.0


def test_it_finds_the_best_plan_of_exact_search() -> None:
    exact = search(StateGraph(Letters()), Alphabetical(), method="exact")
    for seed in range(5):
        found = search(StateGraph(Letters()), Alphabetical(), method="mcts", iterations=1500, seed=seed)
        assert found.value == pytest.approx(exact.value, abs=1e-12)
        assert found.method == "batched mcts"


def test_the_actions_of_the_plan_lead_from_state_to_state() -> None:
    graph = StateGraph(Letters())
    found = search(graph, Alphabetical(), method="mcts", iterations=100)
    word = "".join(graph.actions[a] for a in found.actions)
    assert [graph.states[s] for s in found.states] == [word[:i] for i in range(len(word) + 1)]
    assert sum(move.visits for move in found.root) == found.expansions == 100
    best = max(found.root, key=lambda move: move.value)
    assert best.value == pytest.approx(found.value)  # a move is worth the best plan through it
    assert best.action == found.actions[0]


def test_only_what_simulations_visit_is_made_and_looked_at() -> None:
    world, ranking = Letters(), Alphabetical()
    graph = StateGraph(world)
    batched_tree.search(graph, ranking, [0], Query(iterations=20, widening=(1.0, 0.5)))
    assert len(world.made) < 45  # of 186 words
    assert len(ranking.asked) <= 61  # at most three new states in a simulation, and the first


def test_the_same_seed_gives_the_same_search_and_limits_are_kept() -> None:
    one, two = (search(StateGraph(Letters()), Alphabetical(), method="mcts", seed=3, iterations=64) for _ in "ab")
    assert (one.states, one.root) == (two.states, two.root)
    few = search(StateGraph(Letters()), Alphabetical(), method="mcts", iterations=5000, nodes=70)
    assert few.stopped_by == "nodes"
    late = search(StateGraph(Letters()), Alphabetical(), method="mcts", iterations=10**9, seconds=0.05)
    assert late.stopped_by == "seconds"


def test_the_tree_grows_beyond_the_room_it_starts_with() -> None:
    found = search(StateGraph(Letters()), Alphabetical(), method="mcts", iterations=9000)
    assert found.expansions == sum(move.visits for move in found.root) == 9000


def test_a_search_that_starts_in_the_middle_keeps_its_history() -> None:
    graph = StateGraph(Letters())
    past = [graph.intern(s) for s in ("", "b")]
    found = search(graph, Alphabetical(), method="mcts", history=past, iterations=200)
    assert found.states[:2] == tuple(past)
    assert len(found.actions) == len(found.states) - 2
    exact = search(graph, Alphabetical(), method="exact", history=past)
    assert found.value == pytest.approx(exact.value, abs=1e-12)


class Longer(Letters):
    horizon = 5


@pytest.mark.parametrize("words", [("", "c", "ce", "ced"), ("", "c", "ce", "ced", "cede")])
def test_a_search_may_start_at_any_state_of_a_graph_that_knows_many(words: tuple[str, ...]) -> None:
    found = []
    for graph in (StateGraph(Longer()), StateGraph(Longer())):
        if found:
            graph.expand_all(max_seconds=60.0)
        past = [graph.intern(word) for word in words]
        way = search(graph, Alphabetical(), method="mcts", history=past, iterations=50)
        found.append(([graph.states[s] for s in way.states], pytest.approx(way.value, abs=1e-12)))
    assert past[-1] > 64
    assert found[0] == found[1]


def test_kernels_may_look_up_every_state_that_a_graph_knows() -> None:
    graph = StateGraph(Longer())
    graph.expand_all(max_seconds=60.0)
    frontier = batched_tree.Frontier(graph)
    assert min(len(frontier.child), len(frontier.count), len(frontier.done)) >= len(graph) > 64
    assert (frontier.count == -1).all()


def test_by_itself_search_does_not_list_everything_here() -> None:
    assert search(StateGraph(Letters()), Alphabetical()).method == "beam"
