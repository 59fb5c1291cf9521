"""Growth and gain are measured on what a user would call."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from meip.base.parallel import Shared, Workers
from meip.bench import growth, parallel


def test_the_exponent_is_the_slope_on_logarithmic_scales() -> None:
    points = [{"size": size, "seconds": 3.0 * size**1.5, "megabytes": 100.0} for size in (10.0, 100.0, 1000.0)]
    rows = growth._rows("steps", points)
    found = {row["metric"]: row["value"] for row in rows}
    assert found["exponent"] == pytest.approx(1.5) and found["exponent, last two"] == pytest.approx(1.5)
    assert found["seconds at 100"] == pytest.approx(3000.0) and found["megabytes at 1000"] == 100.0


def test_every_axis_is_drawn(tmp_path: Path) -> None:
    points = [{"size": size, "seconds": size, "megabytes": 100.0} for size in (10.0, 100.0)]
    written = growth.draw(growth._rows("things", points), tmp_path)
    assert [path.name for path in written] == ["growth-things-seconds.svg", "growth-things-megabytes.svg"]
    assert all("<svg" in path.read_text() for path in written)


def test_a_size_is_learned_and_its_concepts_are_counted() -> None:
    found = growth.measured("concepts", 2)
    assert found["seconds"] > 0 and found["megabytes"] > 50 and found["size"] > 100


def test_what_two_jobs_gain_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "WORK", {"counting": (count_in_threads, 1.8)})
    found = {row["metric"]: row["value"] for row in parallel.run(repeats=1)}
    assert list(found)[:3] == ["seconds, 1 job", "seconds, 2 jobs", "ratio"]
    assert 0 < found["seconds of the busiest worker"] < found["seconds of all workers"]
    whole = found["seconds in one process"] + found["seconds of all workers"]
    longest = found["seconds in one process"] + found["seconds of the busiest worker"]
    assert found["ratio by processor time"] == pytest.approx(whole / longest)


def count_in_threads(jobs: int) -> None:
    together = threading.Barrier(jobs)  # on a busy machine one thread might do it all

    def count(item: int, most: int) -> int:
        if item < jobs:
            together.wait(60)
        return sum(range(most))

    with Workers(jobs) as workers:
        workers.map_compiled(count, range(8), Shared(300_000))
