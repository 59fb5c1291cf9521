"""StateGraph: a world's states as integers, with successors and facts computed once.

The learner re-plans hundreds of times over the same world with different utilities. So a state becomes an integer
the first time it is seen, its successors are asked for once, and search, likelihood and pursuit work on integer arrays.
"""

from __future__ import annotations

import time
from array import array
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meip.domain import FactBlock
from meip.errors import BudgetError, WorldError
from meip.world import Action, State, World, adapt

__all__ = ["GraphArrays", "StateGraph"]

UNEXPANDED = -1
PROBABILITY_TOLERANCE = 1e-6


class GraphArrays(NamedTuple):
    """The graph as compact arrays, in the form that numba kernels read. S states, A actions, O outcomes."""

    first_action: NDArray[np.int64]  # [S] index of the state's first action
    action_count: NDArray[np.int64]  # [S] number of actions; 0: the episode ends here; -1: not expanded yet
    first_outcome: NDArray[np.int64]  # [A] index of the action's first outcome
    outcome_count: NDArray[np.int64]  # [A]
    outcome_state: NDArray[np.int64]  # [O]
    outcome_probability: NDArray[np.float64]  # [O]


class StateGraph:
    """States interned as integers, successors and facts cached, expanded lazily."""

    def __init__(self, world: Any) -> None:
        self.world: World = adapt(world)
        self.states: list[State] = []
        self.actions: list[Action] = []  # [A] flat, in the order of GraphArrays
        self._index: dict[State, int] = {}
        self._first_action = array("q")
        self._action_count = array("q")
        self._first_outcome = array("q")
        self._outcome_count = array("q")
        self._outcome_state = array("q")
        self._outcome_probability = array("d")
        self._arrays: GraphArrays | None = None
        self._blocks: list[FactBlock] | None = None
        self.complete = False
        """True once every state within the horizon is expanded."""
        start = self._distribution(self.world.initial(), "initial()")
        self.initial: NDArray[np.int64] = np.array([i for _, i in start], dtype=np.int64)
        self.initial_probability: NDArray[np.float64] = np.array([p for p, _ in start], dtype=np.float64)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def horizon(self) -> int:
        return self.world.horizon

    def intern(self, state: State) -> int:
        """The integer of a state, given to it now if it is new."""
        try:
            known = self._index.get(state)
        except TypeError:
            raise WorldError(
                f"a state must be hashable, got {type(state).__name__}: use tuples, strings or frozen dataclasses"
            ) from None
        if known is not None:
            return known
        number = len(self.states)
        self._index[state] = number
        self.states.append(state)
        self._first_action.append(0)
        self._action_count.append(UNEXPANDED)
        self._arrays = self._blocks = None
        self.complete = False
        return number

    def expanded(self, number: int) -> bool:
        return self._action_count[number] != UNEXPANDED

    def expand(self, number: int) -> None:
        """Ask the world for this state's actions and outcomes, once."""
        if self.expanded(number):
            return
        state = self.states[number]
        actions = list(self.world.actions(state))
        results = [
            self._distribution(self.world.outcomes(state, action), f"outcomes of {action!r}") for action in actions
        ]
        self._first_action[number] = len(self.actions)
        self._action_count[number] = len(actions)
        for action, outcomes in zip(actions, results, strict=True):
            self.actions.append(action)
            self._first_outcome.append(len(self._outcome_state))
            self._outcome_count.append(len(outcomes))
            for probability, successor in outcomes:
                self._outcome_state.append(successor)
                self._outcome_probability.append(probability)
        self._arrays = None

    def expand_all(
        self,
        max_states: int = 1_000_000,
        max_seconds: float = 60.0,
        *,
        horizon: int | None = None,
        partial: bool = False,
    ) -> bool:
        """Expand every state that a plan within the horizon can leave. Returns whether all of them were.

        When a limit is reached: BudgetError, or False with `partial=True` and the graph as far as it goes.
        """
        depth_limit = (self.horizon if horizon is None else horizon) - 1
        stop = time.monotonic() + max_seconds
        seen = set(self.initial.tolist())
        layer = sorted(seen)
        for _ in range(depth_limit):
            following: list[int] = []
            for number in layer:
                self.expand(number)
                if len(self) > max_states or time.monotonic() > stop:
                    if partial:
                        return False
                    raise BudgetError(
                        f"the world has more than {max_states} states, or takes longer than {max_seconds:g} s to "
                        f"expand: {len(self)} seen so far; raise max_states or max_seconds, or sample plans instead"
                    )
                for successor in self.successors(number):
                    if successor not in seen:
                        seen.add(successor)
                        following.append(successor)
            if not following:
                break
            layer = following
        self.complete = True
        return True

    def successors(self, number: int) -> Iterator[int]:
        """Every state that some action of this one may lead to (with repetitions)."""
        first, count = self._first_action[number], self._action_count[number]
        for action in range(first, first + max(count, 0)):
            start = self._first_outcome[action]
            yield from self._outcome_state[start : start + self._outcome_count[action]]

    def action_numbers(self, number: int) -> range:
        """The numbers of a state's actions, in the order the world gave them."""
        self.expand(number)
        return range(self._first_action[number], self._first_action[number] + self._action_count[number])

    def outcomes(self, action_number: int) -> list[tuple[float, int]]:
        """The outcomes of an action by its number: probabilities and states."""
        first, count = self._first_outcome[action_number], self._outcome_count[action_number]
        return [(self._outcome_probability[o], self._outcome_state[o]) for o in range(first, first + count)]

    def arrays(self) -> GraphArrays:
        """The graph as it is now; later expansions give new arrays."""
        if self._arrays is None:
            self._arrays = GraphArrays(
                np.array(self._first_action, dtype=np.int64),
                np.array(self._action_count, dtype=np.int64),
                np.array(self._first_outcome, dtype=np.int64),
                np.array(self._outcome_count, dtype=np.int64),
                np.array(self._outcome_state, dtype=np.int64),
                np.array(self._outcome_probability, dtype=np.float64),
            )
        return self._arrays

    def facts(self, numbers: Sequence[int] | None = None) -> list[FactBlock]:
        """The facts of these states, by default of all (then kept until a new state is seen)."""
        if numbers is not None:
            return self.world.facts_batch([self.states[n] for n in numbers])
        if self._blocks is None:
            self._blocks = self.world.facts_batch(self.states)
        return self._blocks

    def nbytes(self) -> int:
        """Bytes held by the integer arrays (states, actions and facts are the world's own objects)."""
        parts = (self._first_action, self._action_count, self._first_outcome, self._outcome_count, self._outcome_state)
        return sum(p.itemsize * len(p) for p in parts) + 8 * len(self._outcome_probability)

    def _distribution(self, pairs: Sequence[tuple[float, State]], where: str) -> list[tuple[float, int]]:
        merged: dict[int, float] = {}
        for probability, state in pairs:
            if not probability >= 0:
                raise WorldError(f"{where}: {probability!r} is not a probability")
            if probability > 0:
                number = self.intern(state)
                merged[number] = merged.get(number, 0.0) + float(probability)
        total = sum(merged.values())
        if not merged or abs(total - 1) > PROBABILITY_TOLERANCE:
            raise WorldError(f"{where}: the probabilities add up to {total:g}, not to 1")
        return [(probability / total, number) for number, probability in merged.items()]
