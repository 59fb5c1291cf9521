"""One way to compile: `kernel` is numba's njit with the options every kernel of meip uses, visible to the type checker.

fastmath stays off, so that trees, sums and fits are identical from run to run. The machine code is kept where numba
keeps it: beside the sources, or in the user's cache. Where neither can be written (a read-only install without a home)
it goes to a private temporary folder, or nowhere, and that is said once.

A large kernel takes seconds to compile, which is more than a first small task needs as a whole. So it may have a plain
twin, `Twins`: the twin does the work as long as there is little of it and no machine code yet.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np
from numba import config, njit, types
from numba.core import event

from meip.base.compiling import compiling
from meip.base.text import say

__all__ = ["Twins", "at_hand", "bare_kernel", "kernel", "uniform"]

F = TypeVar("F", bound=Callable[..., object])
P = ParamSpec("P")
R = TypeVar("R")
PATIENCE = 300_000.0  # microseconds of plain work before a kernel is compiled, which takes ten times as long


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
            return _once(njit(cache=True, nogil=True, **options)(function))
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            _keep_elsewhere()
            return _compiled(function, **options)
    return _once(njit(nogil=True, **options)(function))


def _once(dispatcher: Any) -> Any:
    """For kernels that call it, a number written out is an integer like any other.

    numba takes the 0 of ``f(0)`` for a type of its own and compiles f for it, and once more for integers.
    """
    template = getattr(dispatcher, "get_call_template", None)
    if template is not None:  # there is none where compiling is switched off
        dispatcher.get_call_template = lambda args, kws: template(
            tuple(types.unliteral(a) for a in args), {name: types.unliteral(a) for name, a in kws.items()}
        )
    return dispatcher


class _Compiling(event.Listener):  # type: ignore[misc]  # numba has no types
    """Told when a function is compiled that was not kept."""

    def on_start(self, event: Any) -> None:
        if not _NOWHERE:  # where it was said that every run compiles
            compiling()

    def on_end(self, event: Any) -> None:
        pass


event.register("numba:compile", _Compiling())


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


class Twins(Generic[P, R]):
    """A kernel and a plain function with the same results, to the last bit: small work need not wait for a compiler.

    Where the kernel was compiled before, it is used at once, and else when the plain one has worked for as long as
    `PATIENCE`. So whoever has little to do never compiles, and whoever has much loses little.
    """

    def __init__(self, kernel: Callable[P, R], plain: Callable[P, R]) -> None:
        self.kernel, self.plain = kernel, plain
        self._looked, self._left = False, PATIENCE

    def of(self, microseconds: float) -> Callable[P, R]:
        """The one to use for work that takes the plain one about so long."""
        if self._left < 0:
            return self.kernel
        self._left = -1 if not self._looked and at_hand(self.kernel) else self._left - microseconds
        self._looked = True
        return self.kernel if self._left < 0 else self.plain


def at_hand(function: Callable[..., object]) -> bool:
    """Is there machine code of a kernel, in this process or on disk?"""
    if getattr(function, "signatures", True):  # a plain function needs none
        return True
    try:
        return bool(cast(Any, function)._cache._cache_file._load_index())
    except Exception:  # numba's own affair: one that keeps its index elsewhere, a file that is torn
        return False


@kernel
def uniform(random: Any) -> float:
    """The next number in [0, 1) (splitmix64: the same on every machine)."""
    random[0] += np.uint64(0x9E3779B97F4A7C15)
    z = random[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z = z ^ (z >> np.uint64(31))
    return float(z >> np.uint64(11)) / 9007199254740992.0
