"""Intervals for what was measured: Wilson's for proportions, the bootstrap for means."""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from meip.base.errors import LearningError

__all__ = ["bootstrap", "wilson"]

RESAMPLES = 2000


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
