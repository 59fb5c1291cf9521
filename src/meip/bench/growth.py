"""How learning grows: seconds of processor time and memory against demonstrations, steps, things and concepts.

One is made larger, the others stay small. Each size is learned in a process of its own, with the learner as it is,
after a small problem that loads what is compiled. The exponent is the slope of seconds over size on logarithmic
scales: of all sizes, and of the last two, where what does not grow weighs least.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from meip import learn
from meip.base.errors import MeipError
from meip.base.text import say
from meip.bench._chores import demonstrations
from meip.report.charts import line_chart

__all__ = ["AXES", "draw", "measured", "run"]

TARGET = 1.1
LONGEST = 600.0  # seconds of a size, after which no larger one is tried
SMALL = {"count": 10, "steps": 5, "things": 5, "marks": 3}
AXES: dict[str, tuple[str, tuple[int, ...]]] = {
    "demonstrations": ("count", (10, 30, 100, 300, 1000, 3000, 10_000)),
    "steps": ("steps", (5, 15, 50, 150, 500)),
    "things": ("things", (5, 10, 20, 50, 100, 200)),
    "concepts": ("marks", (1, 2, 3, 5, 8, 11)),
}
"""What grows, the name of its size, and the sizes; more marks are more concepts, which are counted."""


def run(peers: bool = False, axes: Sequence[str] = tuple(AXES), most: int | None = None) -> list[dict[str, Any]]:
    """Seconds and megabytes of every size, and the exponents."""
    rows: list[dict[str, Any]] = []
    for axis in axes:
        found = []
        for size in AXES[axis][1]:
            if most is not None and size > most:
                break
            point = _apart(axis, size)
            say(f"{axis} {point['size']}: {point['seconds']:.2f} s, {point['megabytes']:.0f} MB", err=True)
            found.append(point)
            if point["seconds"] > LONGEST:
                say(f"{axis}: larger sizes are left out, this took more than {LONGEST:g} s", err=True)
                break
        rows += _rows(axis, found)
    return rows


def measured(axis: str, size: int, work: Callable[..., Any] = learn) -> dict[str, float]:
    """Seconds of processor time and the memory of this process, for one size."""
    episodes = demonstrations(**{**SMALL, AXES[axis][0]: size})
    work(demonstrations(**SMALL))
    before = time.process_time()
    task = work(episodes)
    seconds = time.process_time() - before
    looked_at = sum(level["concepts"] for level in task.provenance.evidence["levels"])
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform != "darwin" else 1024**2)
    return {"size": looked_at if axis == "concepts" else size, "seconds": seconds, "megabytes": peak}


def _apart(axis: str, size: int) -> dict[str, float]:
    """The same in a new process, so that its memory is its own."""
    code = f"import json; from meip.bench.growth import measured; print(json.dumps(measured({axis!r}, {size})))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if done.returncode:
        raise MeipError(f"{axis} {size}: {done.stderr.strip().splitlines()[-1:]}")
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def _rows(axis: str, points: Sequence[dict[str, float]]) -> list[dict[str, Any]]:
    common = {"experiment": "bench", "work": f"learning: {axis}", "method": "meip", "axis": axis}
    rows = [
        {**common, "metric": f"{metric} at {int(point['size'])}", "value": point[metric], "size": point["size"], "n": 1}
        for point in points
        for metric in ("seconds", "megabytes")
    ]
    if len(points) > 1:
        sizes, seconds = (np.log([point[name] for point in points]) for name in ("size", "seconds"))
        slopes = {
            "exponent": np.polyfit(sizes, seconds, 1)[0],
            "exponent, last two": np.polyfit(sizes[-2:], seconds[-2:], 1)[0],
        }
        rows += [
            {**common, "metric": metric, "value": float(slope), "n": len(points), "target": TARGET}
            for metric, slope in slopes.items()
        ]
    return rows


def draw(rows: Sequence[dict[str, Any]], folder: Path) -> list[Path]:
    """A figure of seconds and one of memory for each axis."""
    from meip.base.files import write_text

    written = []
    for axis in dict.fromkeys(row["axis"] for row in rows if "axis" in row):
        for metric in ("seconds", "megabytes"):
            own = [row for row in rows if row.get("axis") == axis and row["metric"].startswith(metric)]
            points = [(float(row["size"]), float(row["value"])) for row in own]
            text = line_chart({"learning": points}, f"Learning: {metric} against {axis}", axis, metric, log=True)
            written.append(folder / f"growth-{axis}-{metric}.svg")
            write_text(written[-1], text)
    return written
