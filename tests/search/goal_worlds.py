"""Random worlds with a goal, and plain answers about them."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from meip.model.graph import StateGraph
from meip.search.query import Found
from meip.utility.ranking import ScoreRanking
from random_worlds import RandomWorld


@dataclass(frozen=True)
class GoalWorld(RandomWorld):
    """A random world whose last state is the goal."""

    states: int = 12
    horizon: int = 50
    chance: bool = False

    def actions(self, state: int) -> list[str]:
        return [] if self.reached(state) else super().actions(state)

    def reached(self, state: int) -> bool:
        return state == self.states - 1

    def distances(self) -> np.ndarray:
        """Steps to the goal from each state, by going backwards; inf where it is out of reach."""
        before: dict[int, list[int]] = {}
        for state in range(self.states):
            for action in self.actions(state):
                before.setdefault(self.outcomes(state, action)[0][1], []).append(state)
        found = np.full(self.states, np.inf)
        found[self.states - 1] = 0
        todo = deque([self.states - 1])
        while todo:
            after = todo.popleft()
            for state in before.get(after, ()):
                if found[state] == np.inf:
                    found[state] = found[after] + 1
                    todo.append(state)
        return found


def by(values: Sequence[float] | np.ndarray) -> ScoreRanking:
    """A ranking by a value for each state of the world."""
    return ScoreRanking(lambda graph, states: np.array([values[graph.states[s]] for s in states]))


def check(graph: StateGraph, found: Found) -> None:
    """The actions lead from state to state, no state comes twice, and the goal is where it is said to be."""
    for before, action, after in zip(found.states, found.actions, found.states[1:], strict=False):
        assert action in graph.action_numbers(before)
        assert after in [state for _, state in graph.outcomes(action)]
    assert len(found.states) == len(found.actions) + 1 == len(set(found.states))
    assert (found.stopped_by == "goal") == bool(graph.goal(found.states[-1]))
