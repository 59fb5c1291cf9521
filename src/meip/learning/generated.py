"""The plans that a Ranking SVM compares with: how many, where they come from, how long they count."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from meip.base.documents import Strict
from meip.base.errors import LearningError, did_you_mean
from meip.model.graph import StateGraph
from meip.search.branches import sample_branches
from meip.search.pool import Pool, relaxed_log_odds
from meip.search.query import Query
from meip.search.tree import SIMULATIONS
from meip.utility.ranking import Ranking

__all__ = ["Generated", "Sampler", "by_tree", "from_pool"]

Sampler = Literal["model", "tree"]
EXPLORATION = 1.0


@dataclass(frozen=True)
class Generated(Strict):
    """Which plans each round of a Ranking SVM generates."""

    plans: int = 50
    """How many, for each problem and beginning."""
    sampler: Sampler = "model"
    """model: by exp(lambda tau) P0 among all plans, or a pool of them; tree: by the values of the branches of a tree
    search (`meip.search.branches`)."""
    iterations: int | None = None
    """Of the tree search; None: 3000."""
    exploration: float | None = None
    """Of the tree search, its UCB coefficient; None: 1."""
    forget: bool = False
    """Compare with the plans of this round only, and not with those of earlier ones."""

    def __post_init__(self) -> None:
        if self.sampler not in get_args(Sampler):
            raise LearningError(f"sampler={self.sampler!r}: {did_you_mean(self.sampler, get_args(Sampler))}")
        if self.plans < 1:
            raise LearningError(f"generated plans are at least 1, got {self.plans}")
        for name in ("iterations", "exploration"):
            value = getattr(self, name)
            if self.sampler == "model" and value is not None:
                raise LearningError(f"{name}={value!r} has no effect here: it is of sampler='tree'; leave it out")
            if value is not None and value <= 0:
                raise LearningError(f"{name} must be above 0, got {value}")

    @classmethod
    def paper(cls) -> Generated:
        """As printed: five plans of a tree search with 3000 simulations and an UCB coefficient of 1, in each round."""
        return cls(plans=5, sampler="tree", iterations=SIMULATIONS, exploration=EXPLORATION, forget=True)


def from_pool(pool: Pool, ranking: Ranking, count: int, seed: Sequence[int]) -> list[tuple[int, ...]]:
    """Plans of a pool by their share of the current model."""
    log_p = pool.log_weight + relaxed_log_odds(pool.plans, ranking(pool.graph))
    p = np.exp(log_p - log_p.max())
    drawn = np.random.default_rng(seed).choice(len(pool), count, p=p / p.sum())
    return [pool.plans.plan(int(i)) for i in drawn]


def by_tree(
    graph: StateGraph, ranking: Ranking, start: int, horizon: int, how: Generated, seed: Sequence[int]
) -> list[tuple[int, ...]]:
    """Plans by the values of the branches of a tree search that maximises the bare tau."""
    query = Query(
        horizon=horizon,
        iterations=SIMULATIONS if how.iterations is None else how.iterations,
        scale=0.0,
        exploration=EXPLORATION if how.exploration is None else how.exploration,
        seed=int(np.random.default_rng(seed).integers(2**31)),
    )
    return sample_branches(graph, ranking, start, how.plans, query)
