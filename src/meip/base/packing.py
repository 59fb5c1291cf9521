"""Tasks on their way to workers, and in them.

What all tasks of a call have in common is packed once. Its large arrays go where every worker can read them (a file
that is mapped, an object store, the workers' memory) instead of along with every task.
"""

from __future__ import annotations

import pickle
import sys
import threading
import traceback
import uuid
from dataclasses import dataclass, field
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from meip import __version__
from meip.base.errors import LearningError, WorkerError

__all__ = ["Batch", "Done", "Packed", "packed", "single_threaded", "work"]

LARGE = 1 << 20  # bytes of an array from which on it is kept apart
KEPT = 4  # values that a worker keeps

Batch = list[tuple[int, Any]]
"""Numbered items that are worked on one after the other, by one worker."""


class Done(NamedTuple):
    """A task that was done: its number, and its result or what it raised."""

    number: int
    result: Any
    error: BaseException | None


@dataclass(frozen=True)
class Packed:
    """A value as bytes, its large arrays apart."""

    head: bytes
    arrays: tuple[Any, ...]
    path: tuple[str, ...] = field(default_factory=lambda: tuple(sys.path))
    """Where this process finds modules: where files are shared, workers find a user's world there."""
    version: str = __version__
    name: str = field(default_factory=lambda: uuid.uuid4().hex)


def packed(value: Any) -> Packed:
    """Pack a value; functions with all that they refer to, also those that no module can be asked for."""
    import cloudpickle

    arrays: list[Any] = []

    def keep_inside(buffer: pickle.PickleBuffer) -> bool:
        raw = np.frombuffer(buffer.raw(), np.uint8)
        if raw.nbytes >= LARGE:
            arrays.append(raw)
        return raw.nbytes < LARGE

    try:
        return Packed(cloudpickle.dumps(value, protocol=5, buffer_callback=keep_inside), tuple(arrays))
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise LearningError(
            f"something cannot be sent to workers ({error}): keep it in a module that they can import, or use one job"
        ) from error


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()


def single_threaded() -> Any:
    """Meanwhile linear algebra uses one thread: with more, sums differ in their last bits, and small ones take longer.

    So results do not depend on how many processors a machine has, or how they are divided among workers.
    """
    return _libraries().limit(limits=1, user_api="blas")


_unpacked: dict[str, Any] = {}  # what the last calls sent, in each worker
_unpacking = threading.Lock()  # workers of Dask are threads


def work(task: Packed, batch: Batch, shared: Packed | None = None) -> list[Done]:
    """In a worker: do a batch of tasks, function(number, item) or function(number, item, shared). What one of them
    raises comes back as a value, with where it happened."""
    found: list[Done] = []
    with single_threaded():
        for number, item in batch:
            try:
                common = () if shared is None else (_value(shared),)
                found.append(Done(number, _value(task)(number, item, *common), None))
            except Exception as error:
                found.append(Done(number, None, _portable(error)))
                break
    return found


def _value(value: Packed) -> Any:
    with _unpacking:
        if value.name not in _unpacked:
            if value.version != __version__:
                raise LearningError(
                    f"a worker has meip {__version__}, and this is {value.version}: install the same on all machines"
                )
            sys.path += [folder for folder in value.path if folder not in sys.path]
            while len(_unpacked) >= KEPT:
                del _unpacked[next(iter(_unpacked))]
            _unpacked[value.name] = pickle.loads(value.head, buffers=value.arrays)
        return _unpacked[value.name]


def _portable(error: Exception) -> BaseException:
    """The same error, with its traceback as a note; one that cannot be sent, as its text."""
    error.add_note("In a worker:\n" + traceback.format_exc())
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:
        return WorkerError(f"{type(error).__name__} in a worker: {error}")
    return error
