"""The paper's experiments and ours, as a user would write them. Each is one file on `learn`, `Task.plan` and `evaluate`
that ends in tidy rows.

Every module has a `NAME`, ``run(experiment) -> rows`` and `NOTES` that are printed below its tables. It may have
``summary(rows)`` where its tables have a form of their own, `FIGURES`, metrics that are drawn and not printed, and
`UNUSED`, the fields of an `Experiment` that mean nothing to it, each with the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from meip.learning.options import Run

__all__ = ["Experiment"]


@dataclass(frozen=True)
class Experiment:
    """What every experiment is asked for."""

    seeds: int | None = None
    """How often; None: as often as the experiment says by itself."""
    seed: int = 0
    """Start of all random numbers."""
    quick: bool = False
    """Fewer seeds and problems, for a first look."""
    jobs: int = 1
    data: Path | None = None
    """Outside material: a folder of PDDL domains, or a CVAT file of garments."""
    out: Path | None = None
    """Folder for what there is to look at."""
    noisy: bool = False
    """Held-out rituals: one wrong demonstration among the right ones."""
    progress: Callable[[str], None] | None = None

    def tell(self, message: str) -> None:
        """Tell whoever wants to know."""
        if self.progress is not None:
            self.progress(message)

    @property
    def run(self) -> Run:
        """The same for `learn` and `evaluate`."""
        return Run(jobs=self.jobs)
