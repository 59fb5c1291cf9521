"""Ordered parallel map: same results for any number of jobs and any backend, and killed workers are replaced.

Each task gets its own random generator, seeded by the seed and the task's index alone, so that nothing depends on
which worker ran it or when.
"""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Literal, TypeVar

import numpy as np

from meip.base.errors import BudgetError, LearningError, WorkerError, did_you_mean
from meip.base.signals import ctrl_c_is_for_parents, outlive_no_parent

__all__ = ["BACKENDS", "Backend", "parallel_map", "task_rng", "within"]

T = TypeVar("T")
R = TypeVar("R")
Backend = Literal["loky", "ray", "dask"]
BACKENDS: tuple[Backend, ...] = ("loky", "ray", "dask")
RETRIES = 3


def task_rng(seed: int, index: int) -> np.random.Generator:
    """The generator of one task: independent of all others, and of how the work is divided."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(index,)))


def parallel_map(
    function: Callable[[T, np.random.Generator], R],
    items: Sequence[T],
    *,
    seed: int = 0,
    jobs: int = 1,
    backend: Backend = "loky",
    retries: int = RETRIES,
    progress: Callable[[int, int], None] | None = None,
) -> list[R]:
    """``[function(item, rng) for item in items]``, in order, on `jobs` workers (-1: one per core).

    `progress(done, total)` is called in this process whenever tasks have finished. Tasks whose worker was killed are
    run again, up to `retries` times; an exception that a task raises is raised here.
    """
    if jobs == 0 or jobs < -1:
        raise LearningError(f"jobs must be a positive number, or -1 for one per core, got {jobs}")
    if backend not in BACKENDS:
        raise LearningError(f"unknown backend {backend!r}; {did_you_mean(str(backend), BACKENDS)}")
    jobs = min(os.cpu_count() or 1 if jobs == -1 else jobs, max(1, len(items)))
    task = _Task(function, seed)
    done: dict[int, R] = {}
    for index, result in _results(task, items, jobs, backend, retries, done):
        done[index] = result
        if progress is not None:
            progress(len(done), len(items))
    return [done[index] for index in range(len(items))]


class _Late(BaseException):
    """An alarm went off; no handler of ordinary errors on the way may take it for one of its own."""


def within(seconds: float, work: Callable[[], R], *, by_the_clock: bool = False) -> R:
    """The result of some work, or a BudgetError when it has computed for longer than this.

    Time that other processes take does not count, unless it goes by the clock. Where there are no alarms (in threads,
    on Windows) there is no limit.
    """
    if threading.current_thread() is not threading.main_thread() or not hasattr(signal, "SIGPROF"):
        return work()
    alarm, timer = (signal.SIGALRM, signal.ITIMER_REAL) if by_the_clock else (signal.SIGPROF, signal.ITIMER_PROF)

    def late(number: int, frame: FrameType | None) -> None:
        raise _Late

    before = signal.signal(alarm, late)
    signal.setitimer(timer, max(seconds, 1e-3))
    try:
        return work()
    except _Late:
        raise BudgetError(f"it took more than {seconds:g} s{'' if by_the_clock else ' of computing'}") from None
    finally:
        signal.setitimer(timer, 0)
        signal.signal(alarm, before)


class _Task:
    """What a worker is sent: the function and the seed; it returns the index along with the result."""

    def __init__(self, function: Callable[[Any, np.random.Generator], Any], seed: int) -> None:
        self.function = function
        self.seed = seed
        self.home = os.getpid()

    def __call__(self, index: int, item: Any) -> tuple[int, Any]:
        if os.getpid() != self.home:
            outlive_no_parent()
        return index, self.function(item, task_rng(self.seed, index))


def _results(
    task: _Task, items: Sequence[Any], jobs: int, backend: Backend, retries: int, done: dict[int, Any]
) -> Iterator[tuple[int, Any]]:
    """Results as they come; `done` is the caller's, and says after a crash what is left to do."""
    if jobs == 1 and backend == "loky":
        yield from (task(index, item) for index, item in enumerate(items))
        return
    with _session(backend, jobs) as (run, killed):
        for attempt in range(retries + 1):
            left = [(index, item) for index, item in enumerate(items) if index not in done]
            try:
                yield from run(task, left)
                return
            except killed as error:
                if attempt == retries:
                    raise WorkerError(
                        f"workers were killed {attempt + 1} times, {len(items) - len(done)} of {len(items)} tasks are "
                        "left; out of memory? Try fewer jobs"
                    ) from error


Run = Callable[[_Task, list[tuple[int, Any]]], Iterator[tuple[int, Any]]]


@contextmanager
def _session(backend: Backend, jobs: int) -> Iterator[tuple[Run, tuple[type[BaseException], ...]]]:
    """How to run tasks with a backend, and the exceptions that mean that a worker was killed."""
    import joblib

    def run(task: _Task, left: list[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        calls = [joblib.delayed(task)(index, item) for index, item in left]
        if backend == "loky":
            _start_trackers()
            with ctrl_c_is_for_parents():
                results = joblib.Parallel(n_jobs=jobs, batch_size=1, return_as="generator_unordered")(calls)
            yield from results
            return
        for start in range(0, len(calls), 4 * jobs):  # these backends return lists: chunks, for progress and retries
            yield from joblib.Parallel(n_jobs=jobs, batch_size=1)(calls[start : start + 4 * jobs])

    if backend == "loky":
        yield run, (BrokenExecutor,)
    elif backend == "ray":
        ray, registered = _needed("ray", "ray"), _needed("ray.util.joblib", "ray")
        registered.register_ray()
        with joblib.parallel_config("ray", n_jobs=jobs):
            yield run, (ray.exceptions.WorkerCrashedError, ray.exceptions.RayActorError)
    else:
        distributed = _needed("distributed", "dask")
        with (
            distributed.Client(n_workers=jobs, threads_per_worker=1, dashboard_address=None) as client,
            joblib.parallel_config("dask", n_jobs=jobs, client=client),
        ):
            yield run, (distributed.KilledWorker,)


def _start_trackers() -> None:
    """Start the processes that keep track of resources, which unblock Ctrl-C when they start: they have to be first."""
    from multiprocessing import resource_tracker

    resource_tracker.ensure_running()
    with suppress(ImportError):
        from joblib.externals.loky.backend import resource_tracker as of_loky

        of_loky.ensure_running()


def _needed(module: str, extra: str) -> Any:
    from importlib import import_module

    try:
        return import_module(module)
    except ImportError:
        raise LearningError(
            f"the backend {extra!r} is not installed: pip install 'meip[{extra}]', or use the backend 'loky'"
        ) from None
