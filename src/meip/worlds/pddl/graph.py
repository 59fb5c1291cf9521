"""PackedGraph: the graph of a PDDL problem on packed states, in which many states are expanded at once (the hook Fast).

The same states, actions and numbers as `StateGraph` would give, without a Python object for each of them: a state is a
row of words in a hash table, an action its number in the engine until somebody wants to read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.model.domain import FactBlock
from meip.model.graph import UNEXPANDED, StateGraph
from meip.worlds.pddl import kernels
from meip.worlds.pddl.plans import step_text

if TYPE_CHECKING:
    from meip.worlds.pddl.world import PddlWorld

__all__ = ["PackedGraph", "StateTable"]


class PackedGraph(StateGraph):
    """A `StateGraph` on the rows of a problem's engine."""

    world: PddlWorld

    def __init__(self, world: PddlWorld) -> None:
        self.engine = world.engine
        self.table = StateTable(self.engine.width)
        super().__init__(world)
        self.states = cast("list[Any]", _View(self.table.__len__, lambda k: self.table.states[k].tobytes()))
        self.actions = cast("list[Any]", _View(self._action_id.__len__, self.action))

    def _prepare(self) -> None:
        self._action_id = self._growing(np.int64)
        self._goal = self._growing(np.bool_)  # [S] is it reached?

    def __len__(self) -> int:
        return len(self.table)

    def rows(self, numbers: Sequence[int] | Ints) -> Words:
        """[K, width] packed states."""
        return self.table.states[np.asarray(numbers, dtype=np.int64)]

    def intern(self, state: bytes) -> int:
        return int(self._interned(self.world.pack([state]))[0])

    def _interned(self, rows: Words) -> Ints:
        known = len(self.table)
        ids, _ = self.table.add(rows)
        fresh = len(self.table) - known
        if fresh:
            self._first_action.extend(np.zeros(fresh, np.int64))
            self._action_count.extend(np.full(fresh, UNEXPANDED))
            self._goal.extend(self.engine.reached(self.table.states[known:]))
            self._arrays = self._blocks = None
            self.complete = False
        return ids

    def expand(self, number: int) -> None:
        if not self.expanded(number):
            self._expand(np.array([number], np.int64))

    def expand_many(self, numbers: Iterable[int]) -> None:
        chosen = np.unique(np.fromiter(numbers, dtype=np.int64))
        chosen = chosen[self._action_count.data[chosen] == UNEXPANDED]
        if len(chosen):
            self._expand(chosen)

    def _expand(self, numbers: Ints) -> None:
        """Ask the engine for all of these states at once; a goal ends the episode."""
        done = self._goal.data[numbers]
        self._action_count.data[numbers[done]] = 0
        numbers = numbers[~done]
        self._arrays = None
        if not len(numbers):
            return
        after = self.engine.successors(self.table.states[numbers])
        actions, states, odds = after.actions, self._interned(after.states), after.probabilities
        if not len(actions) or odds.min() == 1.0:  # one outcome each
            starts, counts = np.arange(len(actions)), np.diff(after.offsets)
        else:
            parents, actions, states, odds = _merged(after.parents, actions, states, odds)
            begins = np.ones(len(actions), np.bool_)  # of each action's outcomes
            begins[1:] = (np.diff(actions) != 0) | (np.diff(parents) != 0)
            starts = np.flatnonzero(begins)
            counts = np.bincount(parents[starts], minlength=len(numbers))
        self._first_action.data[numbers] = len(self._action_id) + np.cumsum(counts) - counts
        self._action_count.data[numbers] = counts
        self._action_id.extend(actions[starts])
        self._first_outcome.extend(len(self._outcome_state) + starts)
        self._outcome_count.extend(np.diff(starts, append=len(actions)))
        self._outcome_state.extend(states)
        self._outcome_probability.extend(odds)

    def action(self, number: int) -> str:
        return step_text(self.engine.step(int(self._action_id.data[number])))

    def facts(self, numbers: Sequence[int] | Ints | None = None) -> list[FactBlock]:
        if numbers is None:
            if self._blocks is None:
                self._blocks = [self.world.fact_block(self.table.states)]
            return self._blocks
        return [self.world.fact_block(self.rows(numbers))] if len(numbers) else []

    def reached(self, numbers: Sequence[int] | Ints) -> Bools:
        return self._goal.data[np.asarray(numbers, dtype=np.int64)]

    def goal(self, number: int) -> bool:
        return bool(self._goal.data[number])


def _merged(parents: Ints, actions: Ints, states: Ints, odds: Floats) -> tuple[Ints, Ints, Ints, Any]:
    """Outcomes of one action that lead to the same state as one, where it first came."""
    first: dict[tuple[int, int, int], int] = {}
    total = np.zeros(len(odds))
    for k, key in enumerate(zip(parents.tolist(), actions.tolist(), states.tolist(), strict=True)):
        total[first.setdefault(key, k)] += odds[k]
    kept = np.array(sorted(first.values()), np.int64)
    return parents[kept], actions[kept], states[kept], total[kept]


class _View(Sequence[Any]):
    """States or actions as the world knows them, made when they are asked for."""

    def __init__(self, length: Callable[[], int], item: Callable[[int], Any]) -> None:
        self._length, self._item = length, item

    def __len__(self) -> int:
        return self._length()

    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self._item(k) for k in range(*place.indices(len(self)))]
        return self._item(range(len(self))[place])


class StateTable:
    """Ids 0, 1, .. for rows of packed states, in the order in which they were first seen."""

    def __init__(self, width: int, capacity: int = 1024) -> None:
        self._rows = np.empty((max(capacity, 16), width), dtype=np.uint64)
        self._slots = np.full(4096, -1, dtype=np.int64)
        self._count = 0

    def __len__(self) -> int:
        return self._count

    @property
    def states(self) -> Words:
        """[n, width] the rows by id."""
        return self._rows[: self._count]

    def add(self, states: Words) -> tuple[Ints, Bools]:
        """Ids [K] of these states, and which of them are new (the first of equal rows only)."""
        rows = self._as_rows(states)
        self._reserve(self._count + len(rows))
        ids, fresh = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.bool_)
        self._count = int(kernels.insert(rows, self._rows, self._count, self._slots, ids, fresh))
        return ids, fresh

    def _as_rows(self, states: Words) -> Words:
        return np.ascontiguousarray(np.atleast_2d(states), dtype=np.uint64)

    def _reserve(self, count: int) -> None:
        if count > len(self._rows):
            larger = np.empty((max(count, 2 * len(self._rows)), self._rows.shape[1]), dtype=np.uint64)
            larger[: self._count] = self._rows[: self._count]
            self._rows = larger
        if 2 * count > len(self._slots):
            size = len(self._slots)
            while size < 4 * count:
                size *= 2
            self._slots = np.full(size, -1, dtype=np.int64)
            kernels.rehash(self._rows, self._count, self._slots)
