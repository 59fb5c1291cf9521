"""States interned as integers, so that a search works on ids: a hash table of packed rows."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from meip.worlds.pddl import kernels

__all__ = ["StateTable"]

Words = NDArray[np.uint64]
Ints = NDArray[np.int64]


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

    def add(self, states: Words) -> tuple[Ints, NDArray[np.bool_]]:
        """Ids [K] of these states, and which of them are new (the first of equal rows only)."""
        rows = np.ascontiguousarray(np.atleast_2d(states), dtype=np.uint64)
        self._reserve(self._count + len(rows))
        ids, fresh = np.empty(len(rows), dtype=np.int64), np.empty(len(rows), dtype=np.bool_)
        self._count = int(kernels.insert(rows, self._rows, self._count, self._slots, ids, fresh))
        return ids, fresh

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
