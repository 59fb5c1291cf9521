"""The chords of the silhouette along a line, and which of them a segment contains."""

from __future__ import annotations

from typing import Any, NamedTuple

from meip.base.kernels import bare_kernel

__all__ = [
    "ENDS_INSIDE", "FOLDED", "JOIN", "MISSES", "TEARS", "UNSTABLE", "Chords", "chosen_chords", "merged_chords",
    "on_chosen",
]  # fmt: skip

FOLDED, MISSES, ENDS_INSIDE, TEARS, UNSTABLE = range(5)
JOIN = 1e-6  # chords this near each other are one; a segment's end this near a chord's end contains it


class Chords(NamedTuple):
    """Chords of the silhouette, sorted along the line."""

    low: Any
    high: Any
    chosen: Any  # does the segment contain it?
    order: Any  # scratch
    at: Any  # scratch
    used: Any  # scratch
    bounds: Any  # [L + 1] where each layer's chains start


@bare_kernel
def _opposite(ring: Any, layers: int, begin: float, end: float, low: Any, high: Any, n: int) -> int:
    """Append what the edges on the line with cloth on their minus side share with [begin, end]."""
    for layer in range(layers):
        a, b = ring.start[layer], ring.start[layer + 1]
        for i in range(a, b):
            j = i + 1 if i + 1 < b else a
            if ring.sign[i] == 0 and ring.sign[j] == 0 and ring.t[j] < ring.t[i] and n < len(low):
                p, q = max(begin, ring.t[j]), min(end, ring.t[i])
                if q > p:
                    low[n], high[n] = p, q
                    n += 1
    return n


@bare_kernel
def _touching(ring: Any, layers: int, low: Any, high: Any, n: int) -> int:
    """Chords along a seam: where an edge on the line has cloth on its plus side and another on its minus side."""
    start, sign, t = ring.start, ring.sign, ring.t
    for layer in range(layers):
        a, b = start[layer], start[layer + 1]
        for i in range(a, b):
            j = i + 1 if i + 1 < b else a
            if sign[i] == 0 and sign[j] == 0 and t[j] > t[i]:
                n = _opposite(ring, layers, t[i], t[j], low, high, n)
    return n


@bare_kernel
def merged_chords(ring: Any, chains: Any, k: int, layers: int, low: Any, high: Any, join: float) -> int:
    """The chords of the silhouette: union of the layers' chords, sorted along the line. Returns how many."""
    n = 0
    for c in range(k):
        low[n], high[n] = chains.low[c], chains.high[c]
        n += 1
    n = _touching(ring, layers, low, high, n)
    if n == 0:
        return 0
    for p in range(1, n):  # insertion sort: a handful of chords
        a, b, q = low[p], high[p], p
        while q > 0 and low[q - 1] > a:
            low[q], high[q] = low[q - 1], high[q - 1]
            q -= 1
        low[q], high[q] = a, b
    m = 0
    for p in range(1, n):
        if low[p] <= high[m] + join:
            high[m] = max(high[m], high[p])
        else:
            m += 1
            low[m], high[m] = low[p], high[p]
    return m + 1


@bare_kernel
def chosen_chords(low: Any, high: Any, n: int, r: float, join: float, chosen: Any) -> tuple[int, int]:
    """Which chords the segment contains: (code, how many)."""
    picked, inside = 0, False
    for p in range(n):
        chosen[p] = low[p] >= -r - join and high[p] <= r + join
        picked += chosen[p]
        inside |= not chosen[p] and high[p] > -r + join and low[p] < r - join
    if inside:
        return ENDS_INSIDE, picked
    return (FOLDED if picked else MISSES), picked


@bare_kernel
def on_chosen(t: float, chords: Any, n: int, join: float) -> bool:
    """Does this place on the line lie in a folded chord?"""
    for p in range(n):
        if chords.low[p] - join <= t <= chords.high[p] + join:
            return bool(chords.chosen[p])
    return False
