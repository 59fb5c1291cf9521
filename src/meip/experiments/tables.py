"""What every experiment shares: tidy rows with intervals, and a table of them for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import NormalDist
from typing import Any

import numpy as np

__all__ = ["Progress", "Row", "mean_row", "no_progress", "share_row"]

Row = dict[str, Any]
Progress = Callable[[str], None]
RESAMPLES = 2000
Z95 = NormalDist().inv_cdf(0.975)


def no_progress(message: str) -> None:
    """For those who do not want to be told."""


def share_row(hits: int, n: int, **conditions: Any) -> Row:
    """A proportion with its Wilson interval."""
    p = hits / n
    centre = (p + Z95**2 / (2 * n)) / (1 + Z95**2 / n)
    half = Z95 / (1 + Z95**2 / n) * float(np.sqrt(p * (1 - p) / n + Z95**2 / (4 * n * n)))
    return {**conditions, "value": p, "low": max(0.0, centre - half), "high": min(1.0, centre + half), "n": n}


def mean_row(values: Sequence[float], seed: int = 0, **conditions: Any) -> Row:
    """A mean with its bootstrap interval."""
    sample = np.asarray(values, dtype=np.float64)
    rng = np.random.default_rng(seed)
    means = sample[rng.integers(len(sample), size=(RESAMPLES, len(sample)))].mean(axis=1)
    low, high = np.quantile(means, [0.025, 0.975])
    return {**conditions, "value": float(sample.mean()), "low": float(low), "high": float(high), "n": len(sample)}
