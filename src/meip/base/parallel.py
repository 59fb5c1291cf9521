"""Ordered parallel map: same results for any number of jobs and any backend, and killed workers are replaced.

Each task gets its own random generator, seeded by the seed and the task's index alone, so that nothing depends on
which worker ran it or when.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FrameType, TracebackType
from typing import Any, Literal, Protocol, TypeVar

import numpy as np

from meip.base.clusters import RETRIES, Dask, Ray
from meip.base.errors import BudgetError, LearningError, WorkerError, did_you_mean
from meip.base.local import Processes, Threads
from meip.base.packing import Batch, Done, Packed, packed
from meip.base.running import Limits, NotedRounds, Rounds, keeps_rounds, running

__all__ = ["BACKENDS", "Backend", "Shared", "Workers", "check_workers", "parallel_map", "task_rng", "within"]

T = TypeVar("T")
R = TypeVar("R")
Backend = Literal["loky", "ray", "dask"]
BACKENDS: tuple[Backend, ...] = ("loky", "ray", "dask")
SMALL = 4  # batches of small tasks for each worker


def task_rng(seed: int, index: int) -> np.random.Generator:
    """The generator of one task: independent of all others, and of how the work is divided."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))


def check_workers(jobs: int, backend: str, address: str | None) -> None:
    """Refuse what no worker could be started with."""
    if jobs == 0 or jobs < -1:
        raise LearningError(f"jobs must be a positive number, or -1 for one per core, got {jobs}")
    if backend not in BACKENDS:
        raise LearningError(f"unknown backend {backend!r}; {did_you_mean(str(backend), BACKENDS)}")
    if address is not None and backend == "loky":
        raise LearningError(
            f"address={address!r} has no effect with the backend 'loky', which is this machine: use 'ray' or 'dask'"
        )


class _Session(Protocol):
    """A backend at work."""

    killed: tuple[type[BaseException], ...]  # what is raised when a worker was lost for good
    size: int  # workers

    def put(self, value: Any) -> Any:
        """Bring what tasks have in common where every worker can read it."""
        ...

    def run(self, place: Any, batches: Sequence[Batch], shared: Any = None) -> Iterator[Done]:
        """Do batches of tasks by the function that was put there, and what they share: results as they come."""
        ...

    def close(self) -> None: ...


class Shared:
    """Something that tasks of several calls share: it is sent once, and only where it has to be."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self.place: Any = None
        self.packed: Packed | None = None

    def put(self, session: _Session) -> Any:
        if self.place is None:
            self.packed = self.packed or packed(self.value)
            self.place = session.put(self.packed)
        return self.place


class Workers:
    """Who does tasks: this process alone, processes of this machine, or a cluster. They stay from one call to the next.

    `jobs`: on this machine (-1: one per core); with the `address` of a cluster as many as it has, whatever `jobs` says.
    Nothing is started before it is needed.
    """

    def __init__(self, jobs: int = 1, backend: Backend = "loky", address: str | None = None) -> None:
        check_workers(jobs, backend, address)
        self.jobs = os.cpu_count() or 1 if jobs == -1 else jobs
        self.backend, self.address = backend, address
        self._session: _Session | None = None
        self._threads: Threads | None = None

    def __enter__(self) -> Workers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Let go of what was started; processes of this machine stay for a while, for the next call."""
        for each in (self._session, self._threads):
            if each is not None:
                each.close()
        self._session = self._threads = None

    @property
    def alone(self) -> bool:
        """Does this process do everything?"""
        return self.jobs == 1 and self.backend == "loky"

    def map(
        self,
        function: Callable[[T, np.random.Generator], R],
        items: Sequence[T],
        *,
        seed: int = 0,
        retries: int = RETRIES,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[R]:
        """``[function(item, rng) for item in items]``, in order.

        What `function` refers to is sent once, large arrays to where all can read them. `progress(done, total)` is
        called in this process whenever tasks have finished. Tasks whose worker was killed are run again, up to
        `retries` times; an exception that a task raises is raised here.
        """
        task = _Task(function, seed)
        if self.alone:
            return _gathered(
                (Done(index, task(index, item), None) for index, item in enumerate(items)), items, progress
            )
        return _gathered(self._done(task, items, 1, retries), items, progress)

    def map_compiled(
        self,
        function: Callable[[T, Any], R],
        items: Sequence[T],
        shared: Shared,
        *,
        progress: Callable[[int, int], None] | None = None,
    ) -> list[R]:
        """``[function(item, shared.value) for item in items]`` for many small tasks that are done in compiled code.

        On this machine threads do them, which share everything; a cluster is sent several at a time.
        """
        task = _Plain(function)
        if self.backend != "loky":
            rounds = keeps_rounds()
            noting = task if rounds is None else _Noting(task, rounds.known)
            found = self._done(noting, items, None, RETRIES, shared)
            return _gathered(found if rounds is None else _kept(found, rounds), items, progress)
        if self.jobs == 1 or len(items) < 2:
            done: Iterator[Done] = (Done(k, function(item, shared.value), None) for k, item in enumerate(items))
        else:
            self._threads = self._threads or Threads(self.jobs)
            done = self._threads.run(lambda number, item: task(number, item, shared.value), items)
        return _gathered(done, items, progress)

    def _done(
        self,
        task: Callable[..., Any],
        items: Sequence[Any],
        size: int | None,
        retries: int,
        shared: Shared | None = None,
    ) -> Iterator[Done]:
        """Results as they come; what killed workers leave is done again."""
        if not items:
            return
        session = self._started()
        left = dict(enumerate(items))
        size = size or max(1, -(-len(items) // (SMALL * session.size)))
        value = packed(task)
        for attempt in range(retries + 1):
            numbered = list(left.items())
            batches = [numbered[first : first + size] for first in range(0, len(numbered), size)]
            try:
                common = None if shared is None else shared.put(session)
                for done in session.run(session.put(value), batches, common):
                    left.pop(done.number)
                    yield done
                return
            except session.killed as error:
                if shared is not None:
                    shared.place = None  # it may have been lost with the worker
                if attempt == retries:
                    raise WorkerError(
                        f"workers were killed {attempt + 1} times, {len(left)} of {len(items)} tasks are left; out of "
                        "memory? Try fewer jobs"
                    ) from error

    def _started(self) -> _Session:
        if self._session is None:
            if self.backend == "loky":
                self._session = Processes(self.jobs)
            else:
                self._session = (Ray if self.backend == "ray" else Dask)(self.jobs, self.address)
        return self._session


def _gathered(done: Iterator[Done], items: Sequence[Any], progress: Callable[[int, int], None] | None) -> list[Any]:
    """The results in order; the first exception of a task is raised."""
    found: dict[int, Any] = {}
    for one in done:
        if one.error is not None:
            raise one.error
        found[one.number] = one.result
        if progress is not None:
            progress(len(found), len(items))
    return [found[index] for index in range(len(items))]


def parallel_map(
    function: Callable[[T, np.random.Generator], R],
    items: Sequence[T],
    *,
    seed: int = 0,
    jobs: int = 1,
    backend: Backend = "loky",
    address: str | None = None,
    retries: int = RETRIES,
    progress: Callable[[int, int], None] | None = None,
) -> list[R]:
    """`Workers.map` by workers for this call."""
    with Workers(jobs, backend, address) as workers:
        return workers.map(function, items, seed=seed, retries=retries, progress=progress)


class _Task:
    """What a worker does with a number and an item."""

    def __init__(self, function: Callable[[Any, np.random.Generator], Any], seed: int) -> None:
        self.function, self.seed = function, seed

    def __call__(self, index: int, item: Any) -> Any:
        return self.function(item, task_rng(self.seed, index))


class _Plain:
    """The same without chance, and with what tasks share."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def __call__(self, index: int, item: Any, shared: Any) -> Any:
        return self.function(item, shared)


class _Noting:
    """The same, with the rounds that it did, for the process that keeps them; those done before are recalled."""

    def __init__(self, task: _Plain, known: Mapping[str, Any]) -> None:
        self.task, self.known = task, dict(known)

    def __call__(self, index: int, item: Any, shared: Any) -> tuple[Any, list[tuple[str, Any]]]:
        with running(Limits(), noted := NotedRounds(self.known)):
            return self.task(index, item, shared), noted.new


def _kept(done: Iterator[Done], rounds: Rounds) -> Iterator[Done]:
    """Results as they come; rounds that were done with them are kept here."""
    for one in done:
        if one.error is None:
            result, new = one.result
            for name, value in new:
                rounds.keep(name, value)
            one = one._replace(result=result)
        yield one


class _Late(BaseException):
    """An alarm went off; no handler of ordinary errors on the way may take it for one of its own."""


def within(seconds: float, work: Callable[[], R]) -> R:
    """The result of some work, or a BudgetError when it has computed for longer than this.

    Time that other processes take does not count. Where there are no alarms (in threads, on Windows) there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        return work()

    def late(number: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(signal.SIGPROF, late)
    signal.setitimer(signal.ITIMER_PROF, max(seconds, 1e-3))
    try:
        return work()
    except _Late:
        raise BudgetError(f"it took more than {seconds:g} s of computing") from None
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
