"""How work is done, apart from what it decides."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from meip.base.parallel import Backend

__all__ = ["Progress", "Run"]

Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class Run:
    """How many processes, where, and who is told. None of it changes a result."""

    jobs: int = 1
    """Processes; -1: one per core."""
    backend: Backend = "loky"
    checkpoint: str | Path | None = None
    """A folder in which decisions are kept: a run that was killed goes on from there."""
    progress: Progress | None = None
    """Called with what there is to tell, as a dictionary with at least a "stage"."""

    def tell(self, **info: Any) -> None:
        if self.progress is not None:
            self.progress(info)
