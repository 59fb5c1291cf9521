"""One way to compile: `kernel` is numba's njit with the options every kernel of meip uses, visible to the type checker.

fastmath stays off, so that trees, sums and fits are identical from run to run. The machine code is kept where numba
keeps it: beside the sources, or in the user's cache. Where neither can be written (a read-only install without a home)
it goes to a private temporary folder, or nowhere, and that is said once.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar, cast

import numpy as np
from numba import config, njit

from meip.base.text import say

__all__ = ["bare_kernel", "kernel", "uniform"]

F = TypeVar("F", bound=Callable[..., object])


_NOWHERE: list[bool] = []  # filled where machine code can be kept in no folder at all


def kernel(function: F) -> F:
    """Compile at first call, keep the machine code on disk, release the interpreter lock while running."""
    return cast(F, _compiled(function))


def bare_kernel(function: F) -> F:
    """The same without counting references: for functions called from kernels that make no arrays.

    Each array taken out of a tuple, or sliced, would cost two atomic additions; in a fold they are a third of the time.
    """
    try:
        return cast(F, _compiled(function, _nrt=False))
    except (KeyError, TypeError, ValueError):  # a numba that no longer knows the option: slower, and as good
        return kernel(function)


def _compiled(function: Callable[..., object], **options: Any) -> Any:
    if not _NOWHERE:
        try:
            return njit(cache=True, nogil=True, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            _keep_elsewhere()
            return _compiled(function, **options)
    return njit(nogil=True, **options)(function)


def _keep_elsewhere() -> None:
    """Machine code goes to a folder that nobody else can write to: whoever can, could have us run anything."""
    try:
        if config.CACHE_DIR:  # even there it could not be kept
            raise OSError
        folder = os.path.join(tempfile.gettempdir(), f"meip-kernels-{os.getuid() if hasattr(os, 'getuid') else 0}")
        with suppress(FileExistsError):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
        mine = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o077)
        if not stat.S_ISDIR(found.st_mode) or not mine:
            folder = tempfile.mkdtemp(prefix="meip-kernels-")
        config.CACHE_DIR = os.environ["NUMBA_CACHE_DIR"] = folder  # workers keep theirs there, too
        say(f"compiled code is kept in {folder}: neither the install nor the home folder can be written", err=True)
    except OSError:
        _NOWHERE.append(True)
        say("compiled code is not kept, so every run compiles again: no folder for it can be written", err=True)


@kernel
def uniform(random: Any) -> float:
    """The next number in [0, 1) (splitmix64: the same on every machine)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0
