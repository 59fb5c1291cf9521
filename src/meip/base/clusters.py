"""Workers on a cluster, of Ray or of Dask: one that runs already, or one of our own on this machine.

One of our own listens to this machine only, has no dashboard, and tells nobody about it.
"""

from __future__ import annotations

import logging
import os
import socket
from collections.abc import Iterator, Sequence
from concurrent.futures import CancelledError
from contextlib import suppress
from typing import Any

from meip.base.errors import LearningError
from meip.base.packing import Batch, Done, Packed, work

__all__ = ["RETRIES", "Dask", "Ray"]

RETRIES = 3
STORE = 1 << 30  # bytes of the object store of a Ray of our own
AHEAD = 2  # batches per worker that are on their way, so that no worker waits for one
TOKEN = "; if it asks for a token, set RAY_AUTH_MODE=token here as well, and use the one of its head"
PATIENCE = 20  # seconds after which a cluster does not answer


class Ray:
    """Tasks of Ray, which runs those of a lost worker again; what they share is in its object store."""

    def __init__(self, jobs: int, address: str | None) -> None:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        if address is None:  # despite its name this has Ray listen to this machine only, on any system
            os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
        self._ray = ray = _needed("ray", "ray")
        self._ours = not ray.is_initialized()
        if self._ours:
            self._start(jobs, address)
        self.size = int(ray.cluster_resources().get("CPU", 1)) if address else jobs
        self.killed: tuple[type[BaseException], ...] = (ray.exceptions.RayError,)
        self._work = ray.remote(num_cpus=1, max_retries=RETRIES)(work)

    def _start(self, jobs: int, address: str | None) -> None:
        own = {"num_cpus": jobs, "object_store_memory": STORE, "include_dashboard": False}
        answered = False
        try:
            _knock(address)  # Ray would wait for minutes
            answered = address is not None
            self._ray.init(address or "local", log_to_driver=False, logging_level="ERROR", **({} if address else own))
        except (self._ray.exceptions.RayError, OSError, RuntimeError, ValueError) as error:
            raise _no_cluster("Ray", address, error, TOKEN if answered else "") from None

    def put(self, value: Packed) -> Any:
        return self._ray.put(value)

    def run(self, place: Any, batches: Sequence[Batch], shared: Any = None) -> Iterator[Done]:
        left, waiting = iter(batches), list[Any]()
        try:
            while True:
                while len(waiting) < AHEAD * self.size and (batch := next(left, None)) is not None:
                    waiting.append(self._work.remote(place, batch, shared))
                if not waiting:
                    return
                ready, waiting = self._ray.wait(waiting)
                yield from self._ray.get(ready[0])
        finally:
            for reference in waiting:
                with suppress(self._ray.exceptions.RayError):
                    self._ray.cancel(reference)

    def close(self) -> None:
        if self._ours:
            self._ray.shutdown()


class Dask:
    """Tasks of Dask, which runs those of a lost worker again; what they share is in the memory of all workers."""

    def __init__(self, jobs: int, address: str | None) -> None:
        self._distributed = distributed = _needed("distributed", "dask")
        own = {
            "n_workers": jobs, "threads_per_worker": 1, "host": "127.0.0.1", "dashboard_address": "127.0.0.1:0",
            "scheduler_kwargs": {"dashboard": False}, "silence_logs": logging.ERROR,
        }  # fmt: skip
        try:
            self._client = distributed.Client(
                address, timeout=PATIENCE, set_as_default=False, **({} if address else own)
            )
            self._client.wait_for_workers(1, timeout=PATIENCE)
        except (OSError, RuntimeError, ValueError) as error:
            raise _no_cluster("Dask", address, error) from None
        self.size = max(1, sum(self._client.nthreads().values())) if address else jobs
        self.killed: tuple[type[BaseException], ...] = (distributed.KilledWorker, CancelledError)

    def put(self, value: Packed) -> Any:
        return self._client.scatter(value, broadcast=True, hash=False)

    def run(self, place: Any, batches: Sequence[Batch], shared: Any = None) -> Iterator[Done]:
        left, waiting = iter(batches), dict[Any, None]()
        finished = self._distributed.as_completed(loop=self._client.loop)
        try:
            while True:
                while len(waiting) < AHEAD * self.size and (batch := next(left, None)) is not None:
                    waiting[future := self._client.submit(work, place, batch, shared, pure=False)] = None
                    finished.add(future)
                if not waiting:
                    return
                future = next(finished)
                del waiting[future]
                yield from future.result()
        finally:
            self._client.cancel(list(waiting))

    def close(self) -> None:
        self._client.close()


def _knock(address: str | None) -> None:
    """Does anybody listen at HOST:PORT? Other addresses ("auto") are not looked at."""
    host, _, port = (address or "").removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        socket.create_connection((host, int(port)), timeout=PATIENCE).close()


def _no_cluster(kind: str, address: str | None, error: BaseException, hint: str = "") -> LearningError:
    where = f"no {kind} cluster answers at {address}" if address else f"{kind} does not start here"
    said = str(error).strip().splitlines()
    return LearningError(f"{where}: {said[0] if said else type(error).__name__}{hint}")


def _needed(module: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise LearningError(
            f"the backend {extra!r} is not installed: pip install 'meip[{extra}]', or use the backend 'loky'"
        ) from None
