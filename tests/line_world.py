"""A world with more actions than can be listed, for tests of several rooms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from meip.model.domain import Domain, EntityClass, Facts, function
from meip.model.world import World

LINE = Domain("line", (EntityClass("thing"),), (function("place", "thing", phrase="the place of {0}"),))


@dataclass(frozen=True)
class Line(World):
    """A thing on a line that moves by any number; lists a few backward moves, and what is proposed."""

    seen: int = 3
    proposed: tuple[float, ...] = ()
    horizon: int = 3
    begin: float = 0.0

    @property
    def domain(self) -> Domain:
        return LINE

    def initial(self) -> Sequence[tuple[float, float]]:
        return [(1.0, self.begin)]

    def actions(self, state: float) -> Sequence[float]:
        return [-1.0 - k for k in range(self.seen)] + list(self.proposed)

    def outcomes(self, state: float, action: float) -> Sequence[tuple[float, float]]:
        return [(1.0, state + action)]

    def facts(self, state: float) -> Facts:
        return Facts({"thing": 1}, {"place": np.array([state])})

    def decode_action(self, value: Any) -> float:
        return float(value)

    def learn_proposal(self, plans: Sequence[Any]) -> dict[str, Any]:
        return {"moves": [move for plan in plans for move in plan.actions]}

    def with_proposal(self, proposal: Mapping[str, Any], *, alternatives: bool = False, seed: int = 0) -> World:
        return replace(self, seen=10 if alternatives else self.seen, proposed=tuple(proposal["moves"]))
