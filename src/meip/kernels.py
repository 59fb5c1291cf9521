"""One way to compile: `kernel` is numba's njit with the options every kernel of meip uses, visible to the type checker.

fastmath stays off, so that trees, sums and fits are identical from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

from numba import njit

__all__ = ["kernel"]

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile at first call, keep the machine code on disk, release the interpreter lock while running."""
    return cast(F, njit(cache=True, nogil=True)(function))
