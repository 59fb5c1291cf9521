"""Workers on this machine: processes for Python, threads for compiled code."""

from __future__ import annotations

import mmap
import os
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, ThreadPoolExecutor, as_completed
from contextlib import ExitStack, suppress
from contextvars import copy_context
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from meip.base.packing import Batch, Done, Packed, work
from meip.base.signals import ctrl_c_is_for_parents, outlive_no_parent

__all__ = ["Processes", "Threads"]

ALIGNED = 64  # bytes
IDLE = 300  # seconds after which processes end that have nothing to do


class Processes:
    """Processes of joblib's loky: they stay for the next call, and killed ones are replaced."""

    killed: tuple[type[BaseException], ...] = (BrokenExecutor,)

    def __init__(self, jobs: int) -> None:
        self.size = jobs
        self._left = ExitStack()

    def put(self, value: Packed) -> Packed | str:
        """Large arrays go to a file, which the workers of a machine map into memory once."""
        if not value.arrays:
            return value
        from joblib.externals.loky.backend import resource_tracker

        folder = self._left.enter_context(tempfile.TemporaryDirectory(prefix="meip-"))
        resource_tracker.register(folder, "folder")  # it removes the folder should this process be killed
        self._left.callback(resource_tracker.unregister, folder, "folder")
        path = Path(folder) / "shared"
        sizes = [array.nbytes for array in value.arrays]
        head = pickle.dumps((value.head, sizes, value.path, value.version, value.name))
        with path.open("wb") as file:
            file.write(len(head).to_bytes(8, "little") + head)
            for array in value.arrays:
                file.seek(_aligned(file.tell()))
                file.write(array)
        return str(path)

    def run(self, place: Any, batches: Sequence[Batch], shared: Any = None) -> Iterator[Done]:
        from joblib.externals.loky import get_reusable_executor

        _start_trackers()
        with ctrl_c_is_for_parents():
            processes = get_reusable_executor(
                self.size, timeout=IDLE, initializer=outlive_no_parent, initargs=(os.getpid(),)
            )
            futures = [processes.submit(_work, place, batch, shared) for batch in batches]
        try:
            for future in as_completed(futures):
                yield from future.result()
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        self._left.close()


def _work(place: Packed | str, batch: Batch, shared: Packed | str | None) -> list[Done]:
    """In a process that was started for it."""
    return work(_found(place), batch, None if shared is None else _found(shared))


def _found(place: Packed | str) -> Packed:
    return _mapped(place) if isinstance(place, str) else place


def _aligned(place: int) -> int:
    return -(-place // ALIGNED) * ALIGNED


@lru_cache(4)
def _mapped(path: str) -> Packed:
    """What is in a file, its arrays mapped; a worker that writes into one changes a copy of its own."""
    with open(path, "rb") as file:
        size = int.from_bytes(file.read(8), "little")
        head, sizes, where, version, name = pickle.loads(file.read(size))
        whole = np.frombuffer(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY), np.uint8)
    place, arrays = 8 + size, []
    for each in sizes:
        place = _aligned(place)
        arrays.append(whole[place : place + each])
        place += each
    return Packed(head, tuple(arrays), where, version, name)


def _start_trackers() -> None:
    """Start the processes that keep track of resources, which unblock Ctrl-C when they start: they have to be first."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    with suppress(ImportError):
        from joblib.externals.loky.backend import resource_tracker as of_loky

        of_loky.ensure_running()


class Threads:
    """Threads of this process, for work in compiled code: nothing is sent, and nothing has to start."""

    def __init__(self, jobs: int) -> None:
        self._threads = ThreadPoolExecutor(jobs, "meip")

    def run(self, function: Callable[[int, Any], Any], items: Sequence[Any]) -> Iterator[Done]:
        futures = {  # each knows what is running here: its limits, and the rounds that it keeps
            self._threads.submit(copy_context().run, function, index, item): index for index, item in enumerate(items)
        }
        try:
            for future in as_completed(futures):
                yield Done(futures[future], future.result(), None)
        finally:
            for future in futures:
                future.cancel()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
