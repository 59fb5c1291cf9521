"""Interleaved timing of the same work done by us and by a peer."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

__all__ = ["Comparison", "compare"]

REPEATS = 7
TURN = 0.2  # seconds


@dataclass(frozen=True)
class Comparison:
    """Medians of seconds; theirs is None where the peer was not asked or is not installed."""

    work: str
    peer: str
    ours: float
    theirs: float | None
    repeats: int
    target: float | None = None

    def rows(self, **conditions: Any) -> list[dict[str, Any]]:
        """As tidy rows: seconds of both, and how many times faster ours is."""
        common = {"experiment": "bench", "work": self.work, "n": self.repeats, **conditions}
        found = [{**common, "method": "meip", "metric": "ours", "value": self.ours}]
        if self.theirs is not None:
            ratio = self.theirs / self.ours
            found.append({**common, "method": self.peer, "metric": "theirs", "value": self.theirs})
            found.append({**common, "method": self.peer, "metric": "ratio", "value": ratio, "target": self.target})
        return found


def compare(
    work: str,
    peer: str,
    ours: Callable[[], object],
    theirs: Callable[[], object] | None,
    *,
    repeats: int = REPEATS,
    target: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> Comparison:
    """Time both in turn, so that a busy machine slows both down; ours runs once before, to compile.

    Where ours is quick it runs several times in each turn: one short run either meets the other load or does not.
    Where both sides use one thread, `time.process_time` leaves out the waiting for a busy processor.
    """
    ours()
    calls = max(1, round(TURN / max(_seconds(ours, clock), TURN / 1000)))
    mine, others = [], []
    for _ in range(repeats):
        mine.append(_seconds(lambda: _repeat(ours, calls), clock) / calls)
        if theirs is not None:
            others.append(_seconds(theirs, clock))
    middle = statistics.median(others) if others else None
    return Comparison(work, peer, statistics.median(mine), middle, repeats, target)


def _repeat(work: Callable[[], object], calls: int) -> None:
    for _ in range(calls):
        work()


def _seconds(work: Callable[[], object], clock: Callable[[], float]) -> float:
    start = clock()
    work()
    return clock() - start
