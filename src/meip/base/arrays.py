"""Names for arrays, the same in all rooms (a comment beside a field says its shape), and one that grows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["Bools", "Floats", "Growing", "Ints", "Words"]

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Words = NDArray[np.uint64]  # packed bits


class Growing:
    """A one-dimensional array that grows by doubling, so that kernels read it without a copy."""

    def __init__(self, dtype: Any) -> None:
        self.data: NDArray[Any] = np.empty(64, dtype=dtype)
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def append(self, value: float) -> None:
        if self._size == len(self.data):
            self.extend((value,))
            return
        self.data[self._size] = value
        self._size += 1

    def extend(self, values: Sequence[float] | NDArray[Any]) -> None:
        size = self._size + len(values)
        if size > len(self.data):
            grown = np.empty(max(size, 2 * len(self.data)), dtype=self.data.dtype)
            grown[: self._size] = self.data[: self._size]
            self.data = grown
        self.data[self._size : size] = values
        self._size = size

    def view(self) -> NDArray[Any]:
        return self.data[: self._size]
