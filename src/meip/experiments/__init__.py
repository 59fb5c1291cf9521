"""The paper's experiments and ours, as a user would write them on `learn`, `Task.plan` and `evaluate`. With the benches
they are the only ones that name a world.

probability_shift     the paper's first: the same task, other probabilities
boundary              training p crossed with test p, for it
short_way             its demonstrator, and who takes the short way
reward_bounds         which Markovian rewards would make it the better one
structural_change     its second: the same ritual where the order is free, with more objects
statistics            the argmax, the best plan seen and samples, for it
paper_pictures        the figures of both
tables                tables in a form of their own
held_out              rituals that nobody looked at
rites                 rituals with a known demonstrator, for both
everyday              everyday tasks against the number of demonstrations, beside other methods
corrections           a wrong step of a plan corrected, in the same tasks
gallery               where those are, and demonstrations of them
folding               its third: learn to fold from a few recorded folds
folding_figures       the paper's figures of that
folding_lessons       who learns to fold, and from which demonstrations
folding_trials        who folds what, and what the referee says
folding_report        the sheets and tables of that
parsing               reading pictures of garments, for that: right, asks, wrong without asking
parsing_cases         pictures whose parts are known, as they lie and with troubles
generalized_planning  PDDL: small plans shown, larger problems solved
wl_features           WL features as an agent, a peer of that

Each experiment has ``run(experiment) -> rows``, `NOTES` that are printed below its tables, and where it needs them
``summary(rows)`` for tables of its own form, ``draw(rows, folder)`` for figures of its own, `FIGURES` for metrics that
are drawn, `UNUSED` for what it refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import numpy as np

from meip import Run
from meip.base.parallel import Backend

__all__ = ["Experiment"]

T = TypeVar("T")
R = TypeVar("R")


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
    backend: Backend = "loky"
    address: str | None = None
    """Of a cluster, as in `Run`."""

    def tell(self, message: str) -> None:
        """Tell whoever wants to know."""
        if self.progress is not None:
            self.progress(message)

    @property
    def run(self) -> Run:
        """The same for `learn` and `evaluate`."""
        return Run(self.jobs, self.backend, address=self.address)

    def map(
        self,
        function: Callable[[T, np.random.Generator], R],
        items: Sequence[T],
        progress: Callable[[int, int], None] | None = None,
    ) -> list[R]:
        """``[function(item, rng) for item in items]`` by all workers; see `parallel_map`."""
        with self.run.workers() as workers:
            return workers.map(function, items, seed=self.seed, progress=progress)
