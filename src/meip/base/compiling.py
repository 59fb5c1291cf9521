"""Who wants to know that kernels are compiled: the command line says so, a library keeps quiet. Loads no numba."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

__all__ = ["compiling", "when_compiling"]

_WAITING: list[Callable[[], None]] = []


def when_compiling(tell: Callable[[], None]) -> None:
    """Call this when the next kernel is compiled in this process, once."""
    _WAITING[:] = [tell]


def compiling() -> None:
    """A kernel is being compiled, and not read from the disk."""
    with suppress(OSError, ValueError):  # nobody listens
        while _WAITING:
            _WAITING.pop()()
