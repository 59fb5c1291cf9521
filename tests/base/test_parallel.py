"""parallel_map: order and results do not depend on jobs or backend, and killed workers are replaced."""

from __future__ import annotations

import dataclasses
import importlib.util
import os
import signal
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meip import BudgetError, LearningError, WorkerError
from meip.base.packing import packed, work
from meip.base.parallel import Shared, Workers, parallel_map, task_rng, within


def draw(item: int, rng: np.random.Generator) -> tuple[int, float]:
    return item, float(rng.normal())


def test_results_are_the_same_and_in_order_for_any_number_of_jobs() -> None:
    one = parallel_map(draw, range(20), seed=7, jobs=1)
    assert one == parallel_map(draw, range(20), seed=7, jobs=2)
    assert [item for item, _ in one] == list(range(20))
    assert one != parallel_map(draw, range(20), seed=8)


def test_each_task_has_its_own_generator_whatever_else_is_done() -> None:
    assert parallel_map(draw, range(5), seed=7) == parallel_map(draw, range(20), seed=7)[:5]
    assert len({task_rng(7, index).integers(2**60) for index in range(100)}) == 100


def test_progress_counts_to_the_end() -> None:
    seen: list[tuple[int, int]] = []
    parallel_map(draw, range(4), progress=lambda done, total: seen.append((done, total)))
    assert seen == [(1, 4), (2, 4), (3, 4), (4, 4)]


def test_a_worker_that_is_killed_is_replaced_and_the_result_is_the_same(tmp_path: Path) -> None:
    def fragile(item: int, rng: np.random.Generator) -> tuple[int, float]:
        if item == 3 and not (tmp_path / "died").exists():
            (tmp_path / "died").touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return draw(item, rng)

    assert parallel_map(fragile, range(8), seed=1, jobs=2) == parallel_map(draw, range(8), seed=1)
    assert (tmp_path / "died").exists()


def test_a_worker_that_is_killed_every_time_is_an_error() -> None:
    def doomed(item: int, rng: np.random.Generator) -> None:
        os.kill(os.getpid(), signal.SIGKILL)

    with pytest.raises(WorkerError, match="killed 2 times, 2 of 2 tasks are left; out of memory"):
        parallel_map(doomed, range(2), jobs=2, retries=1)


def fail(item: int, rng: np.random.Generator) -> Any:
    raise ZeroDivisionError(item)


@pytest.mark.parametrize("jobs", [1, 2])
def test_an_exception_of_a_task_is_raised_here(jobs: int) -> None:
    with pytest.raises(ZeroDivisionError):
        parallel_map(fail, range(3), jobs=jobs)


def test_nothing_to_do_is_done() -> None:
    assert parallel_map(draw, [], jobs=2) == []


def test_wrong_options_are_named() -> None:
    with pytest.raises(LearningError, match="jobs must be a positive number, or -1"):
        parallel_map(draw, [1], jobs=0)
    with pytest.raises(LearningError, match="unknown backend 'lokky'; did you mean 'loky'"):
        parallel_map(draw, [1], backend="lokky")  # type: ignore[arg-type]


@pytest.mark.parametrize(("backend", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_other_backends_agree_or_say_how_to_install_them(backend: Any, package: str) -> None:
    if importlib.util.find_spec(package) is None:
        with pytest.raises(LearningError, match=rf"pip install 'meip\[{backend}\]'"):
            parallel_map(draw, range(4), backend=backend, jobs=2)
    else:
        assert parallel_map(draw, range(4), backend=backend, jobs=2) == parallel_map(draw, range(4))


def test_large_arrays_are_not_sent_with_every_task() -> None:
    table = np.arange(500_000.0)

    def total(item: int, rng: np.random.Generator) -> float:
        return float(table[item:].sum())

    value = packed(total)
    assert [array.nbytes for array in value.arrays] == [table.nbytes] and len(value.head) < 10_000
    assert parallel_map(total, range(4), jobs=2) == [float(table[k:].sum()) for k in range(4)]


def scaled(item: float, shared: np.ndarray) -> float:
    return float(item * shared.sum())


def test_compiled_work_is_the_same_by_threads() -> None:
    for jobs in (1, 2):
        with Workers(jobs) as workers:
            shared = Shared(np.ones(5))
            assert workers.map_compiled(scaled, [1.0, 2.0, 3.0], shared) == [5.0, 10.0, 15.0]
            assert workers.map_compiled(scaled, [], shared) == []


def test_what_went_wrong_in_a_worker_says_where() -> None:
    with pytest.raises(ZeroDivisionError) as caught:
        parallel_map(fail, range(3), jobs=2)
    assert "in fail" in caught.value.__notes__[0]


def test_what_cannot_be_sent_is_a_clear_error() -> None:
    lock = threading.Lock()
    with pytest.raises(LearningError, match=r"something cannot be sent to workers .* or use one job"):
        parallel_map(lambda item, rng: lock, range(2), jobs=2)


def test_another_version_on_a_worker_is_an_error() -> None:
    (done,) = work(dataclasses.replace(packed(draw), version="0.0"), [(0, 1)])
    assert "a worker has meip" in str(done.error) and "0.0" in str(done.error)


def test_an_address_is_of_a_cluster() -> None:
    with pytest.raises(LearningError, match="no effect with the backend 'loky'"):
        parallel_map(draw, [1], address="127.0.0.1:1")


@pytest.mark.parametrize(("backend", "package"), [("ray", "ray"), ("dask", "distributed")])
def test_a_cluster_that_does_not_answer_is_named(backend: Any, package: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip(package, reason=f"pip install 'meip[{backend}]'")
    monkeypatch.setattr("meip.base.clusters.PATIENCE", 1)
    address = "127.0.0.1:1" if backend == "ray" else "tcp://127.0.0.1:1"
    with pytest.raises(LearningError, match=f"no {backend.title()} cluster answers at {address}: "):
        parallel_map(draw, [1], backend=backend, address=address)


def test_work_that_computes_for_too_long_is_given_up_and_other_work_is_not() -> None:
    def forever() -> None:
        while True:
            pass

    assert within(5.0, lambda: 3) == 3
    with pytest.raises(BudgetError, match=r"more than 0\.05 s"):
        within(0.05, forever)
    assert signal.getitimer(signal.ITIMER_PROF)[0] == 0
