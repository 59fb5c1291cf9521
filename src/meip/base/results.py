"""Results of experiments and benchmarks as tidy rows: one measured value per row, with the conditions beside it.

A value comes with its interval: Wilson's for proportions, the bootstrap's for means.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from meip.base.documents import Strict, document
from meip.base.errors import LearningError

__all__ = [
    "Progress", "Results", "Row", "Table", "bootstrap", "grouped_row", "mean_row", "share_row", "versions", "wilson",
]  # fmt: skip

Cell = str | int | float | bool | None
Row = dict[str, Any]
Progress = Callable[[str], None]
LIBRARIES = ("meip", "numpy", "scipy", "numba")
RESAMPLES = 2000
OMIT = {"omit_default": True}


def versions(more: Iterable[str] = ()) -> dict[str, str]:
    """What the results were computed with: Python, the machine, and the installed versions of libraries."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in (*LIBRARIES, *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@dataclass(frozen=True)
class Table(Strict):
    """Rows as a person reads them."""

    title: str
    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]


@document("results")
@dataclass(frozen=True)
class Results(Strict):
    """What a command measured. A row has at least a metric and its value, the rest are conditions."""

    command: str
    rows: tuple[dict[str, Cell], ...]
    versions: dict[str, str]
    seed: int | None = None
    tables: tuple[Table, ...] = field(default=(), metadata=OMIT)
    """The rows in tables, as the command printed them."""
    notes: tuple[str, ...] = field(default=(), metadata=OMIT)
    """What is to be known about them."""
    figures: dict[str, str] = field(default_factory=dict)
    """The figures that the command drew, by name: SVG."""

    @classmethod
    def of(
        cls,
        command: str,
        rows: Iterable[Mapping[str, Any]],
        seed: int | None = None,
        tables: Iterable[tuple[str, Iterable[str], Iterable[Iterable[str]]]] = (),
        notes: Iterable[str] = (),
        figures: Mapping[str, str] | None = None,
    ) -> Results:
        """Rows of a run that happened here and now; numpy numbers become plain ones."""
        plain = tuple({k: v.item() if hasattr(v, "item") else v for k, v in row.items()} for row in rows)
        shown = tuple(Table(title, tuple(headings), tuple(map(tuple, lines))) for title, headings, lines in tables)
        return cls(command, plain, versions(), seed, shown, tuple(notes), dict(figures or {}))


def share_row(hits: float, n: int, **conditions: Any) -> Row:
    """A proportion with its Wilson interval."""
    low, high = wilson(hits, n)
    return {**conditions, "value": hits / n, "low": low, "high": high, "n": n}


def mean_row(values: Sequence[float], seed: int = 0, /, **conditions: Any) -> Row:
    """A mean with its bootstrap interval."""
    low, high = bootstrap(values, seed=seed)
    return {**conditions, "value": float(np.mean(values)), "low": low, "high": high, "n": len(values)}


def grouped_row(groups: Sequence[Sequence[tuple[float, int]]], *, proportion: bool = False, **conditions: Any) -> Row:
    """The mean of means (each of so many values) of some groups, with the bootstrap's interval over whole groups.

    What is in a group depends on each other, e.g. plans by one learned task. A single group is taken value by value.
    """
    sums = [(sum(v * n for v, n in group), sum(n for _, n in group)) for group in groups]
    total, n = sum(s for s, _ in sums), sum(k for _, k in sums)
    if len(groups) == 1:
        alone = share_row(total, n) if proportion else mean_row([v for v, k in groups[0] for _ in range(k)])
        return {**conditions, **alone, "groups": 1}
    drawn = np.random.default_rng(0).integers(len(sums), size=(RESAMPLES, len(sums)))
    table = np.array(sums, dtype=np.float64)[drawn].sum(axis=1)  # [resamples, 2]
    low, high = np.quantile(table[:, 0] / table[:, 1], [0.025, 0.975])
    return {**conditions, "value": total / n, "low": float(low), "high": float(high), "n": n, "groups": len(groups)}


def wilson(successes: float, n: int, level: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval for a proportion; `successes` may be a sum of probabilities."""
    if n < 1 or not 0 <= successes <= n + 1e-9:
        raise LearningError(f"a proportion needs 0 <= successes <= n and n >= 1, got {successes} of {n}")
    z = NormalDist().inv_cdf(0.5 + level / 2)
    share = min(successes / n, 1.0)
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def bootstrap(values: ArrayLike, level: float = 0.95, seed: int = 0, resamples: int = RESAMPLES) -> tuple[float, float]:
    """The percentile interval of the mean over resamples of the values; the same seed gives the same interval."""
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or given.size == 0 or not np.isfinite(given).all():
        raise LearningError(f"a bootstrap needs at least one finite value, got an array of shape {given.shape}")
    drawn = np.random.default_rng(seed).integers(given.size, size=(resamples, given.size))
    means = given[drawn].mean(axis=1)
    low, high = np.quantile(means, [0.5 - level / 2, 0.5 + level / 2])
    return float(low), float(high)
