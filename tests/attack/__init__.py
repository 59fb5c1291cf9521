"""The attack on what meip promises: real processes, kills, full disks, mutants, worlds that misbehave.

``make attack`` runs it in full and prints attempts, failures, the slowest case and the peak memory; `tests/promises`
runs the same in a small form. Each module has functions of a number of attempts that return a `Tally`.
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

__all__ = ["Tally"]


@dataclass
class Tally:
    """What came of many attempts."""

    name: str
    attempts: int = 0
    failures: list[str] = field(default_factory=list)
    slowest: float = 0.0
    """Seconds of the slowest attempt."""
    case: str = ""
    """Which one that was."""

    @contextmanager
    def attempt(self, case: str, limit: float = 60.0) -> Iterator[None]:
        """One attempt; an exception is a failure, and so is to take longer than the limit."""
        self.attempts += 1
        start = time.perf_counter()
        try:
            yield
        except (Exception, SystemExit) as error:
            self.failures.append(f"{case}: {type(error).__name__}: {error}"[:500])
        seconds = time.perf_counter() - start
        if seconds > self.slowest:
            self.slowest, self.case = seconds, case
        if seconds > limit:
            self.failures.append(f"{case}: took {seconds:.1f} s")

    def row(self) -> str:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        return (
            f"{self.name:44} {self.attempts:6} -> {len(self.failures):3}   slowest {self.slowest:7.3f} s "
            f"({self.case[:40]}), peak so far {peak:.0f} MB"
        )
