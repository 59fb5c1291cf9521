"""The paper's didactic MDP: a short way that may fail, and a long way through a bad place.

``S0 -a1-> S1`` with probability 1 - p, else the bad place ``b1``, which loops; ``S1 -> g``; ``S0 -a2-> b2 -> g``.
What one wants to see is S0, S1, g: the demonstrator prefers a1 however large p is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from meip.base.errors import WorldError
from meip.model.domain import Domain, EntityClass, Facts, predicate
from meip.model.world import World

__all__ = ["DOMAIN", "PLACES", "Didactic"]

PLACES = ("S0", "S1", "b1", "b2", "g")
DOMAIN = Domain(
    "didactic",
    (EntityClass("place"),),
    (
        predicate("at", "place", phrase="one is at {0}"),
        predicate("bad", "place", static=True, phrase="{0} is bad"),
        predicate("goal", "place", static=True, phrase="{0} is the goal"),
        predicate("waypoint", "place", static=True, phrase="{0} is the waypoint"),
    ),
)


@dataclass(frozen=True)
class Didactic(World):
    """The didactic MDP with failure probability p; the horizon counts states."""

    kind: ClassVar[str] = "didactic"

    p: float = 0.1
    horizon: int = 5

    def __post_init__(self) -> None:
        if not 0 <= self.p <= 1:
            raise WorldError(f"p is a probability, got {self.p}")
        if self.horizon < 3:
            raise WorldError(f"the goal is two steps away: the horizon must be at least 3, got {self.horizon}")

    @property
    def domain(self) -> Domain:
        return DOMAIN

    def initial(self) -> Sequence[tuple[float, str]]:
        return [(1.0, "S0")]

    def actions(self, state: str) -> Sequence[str]:
        return {"S0": ["a1", "a2"], "S1": ["a1"], "b1": ["a1"], "b2": ["a2"], "g": []}[state]

    def outcomes(self, state: str, action: str) -> Sequence[tuple[float, str]]:
        if state == "S0" and action == "a1":
            return [(1 - self.p, "S1"), (self.p, "b1")]
        return [(1.0, {"S0": "b2", "S1": "g", "b1": "b1", "b2": "g"}[state])]

    def facts(self, state: str) -> Facts:
        return _AT[state]

    def static_facts(self) -> Facts:
        return _STATIC

    def reached(self, state: str) -> bool:
        return state == "g"


_COUNTS = {"place": len(PLACES)}
_AT = {place: Facts.build(DOMAIN, _COUNTS, {"at": [i]}) for i, place in enumerate(PLACES)}
_STATIC = Facts.build(DOMAIN, _COUNTS, {"bad": [2, 3], "goal": [4], "waypoint": [1]})
