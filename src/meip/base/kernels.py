"""One way to compile: `kernel` is numba's njit with the options every kernel of meip uses, visible to the type checker.

fastmath stays off, so that trees, sums and fits are identical from run to run.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit

__all__ = ["bare_kernel", "kernel", "uniform"]

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile at first call, keep the machine code on disk, release the interpreter lock while running."""
    return cast(F, njit(cache=True, nogil=True)(function))


def bare_kernel(function: F) -> F:
    """The same without counting references: for functions called from kernels that make no arrays.

    Each array taken out of a tuple, or sliced, would cost two atomic additions; in a fold they are a third of the time.
    """
    try:
        return cast(F, njit(cache=True, nogil=True, _nrt=False)(function))
    except (KeyError, TypeError, ValueError):  # a numba that no longer knows the option: slower, and as good
        return kernel(function)


@kernel
def uniform(random: Any) -> float:
    """The next number in [0, 1) (splitmix64: the same on every machine)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0
