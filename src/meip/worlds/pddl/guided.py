"""The planners of this package for a score of facts: what `meip plan` uses in PDDL worlds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from meip.model.domain import FactBlock
from meip.worlds.pddl.plans import step_text

if TYPE_CHECKING:
    from meip.worlds.pddl.world import PddlWorld

__all__ = ["guided_plan"]

BlockScore = Callable[[Sequence[FactBlock]], NDArray[np.float64]]
REASONS = {"step limit": "horizon", "expansion limit": "expansions", "time limit": "seconds"}


def guided_plan(
    world: PddlWorld, score: BlockScore, method: str, horizon: int, expansions: int, seconds: float | None
) -> tuple[list[bytes], list[str], str]:
    """States, actions and why the search ended; `method` is greedy or gbfs."""
    from meip.worlds.pddl.planners import gbfs, greedy

    def rows(packed: NDArray[np.uint64]) -> NDArray[np.float64]:
        return score([world.fact_block(packed)])

    limit = 1e9 if seconds is None else seconds
    if method == "greedy":
        found = greedy(world.engine, rows, min(horizon - 1, expansions), limit)
    else:
        found = gbfs(world.engine, rows, expansions, limit)
    reason = "horizon" if len(found.states) > horizon else REASONS.get(found.reason, found.reason)
    states = [row.tobytes() for row in found.states[:horizon]]
    return states, [step_text(step) for step in found.steps[: horizon - 1]], reason
