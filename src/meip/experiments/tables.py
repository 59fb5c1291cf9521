"""What every experiment shares: tidy rows with intervals, and a table of them for the terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from meip.base.intervals import bootstrap, wilson

__all__ = ["Progress", "Row", "mean_row", "no_progress", "share_row"]

Row = dict[str, Any]
Progress = Callable[[str], None]


def no_progress(message: str) -> None:
    """For those who do not want to be told."""


def share_row(hits: int, n: int, **conditions: Any) -> Row:
    """A proportion with its Wilson interval."""
    low, high = wilson(hits, n)
    return {**conditions, "value": hits / n, "low": low, "high": high, "n": n}


def mean_row(values: Sequence[float], seed: int = 0, /, **conditions: Any) -> Row:
    """A mean with its bootstrap interval."""
    low, high = bootstrap(values, seed=seed)
    return {**conditions, "value": float(np.mean(values)), "low": low, "high": high, "n": len(values)}
