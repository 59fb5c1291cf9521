"""A world of one's own in about 40 lines: a garden in which a plant may bloom after it is watered.

From the folder of this file: ``meip check garden:Garden`` and ``meip show garden:Garden``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from meip import Domain, EntityClass, Facts, World, predicate

GARDEN = Domain(
    "garden",
    (EntityClass("plant"),),
    (
        predicate("watered", "plant", phrase="{0} is watered"),
        predicate("blooming", "plant", phrase="{0} is in bloom"),
        predicate("rose", "plant", static=True, phrase="{0} is a rose"),
    ),
)


@dataclass(frozen=True)
class Garden(World):
    """A state is the set of watered plants and the set of blooming ones; an action is a plant to water."""

    plants: int = 4
    roses: int = 2
    bloom: float = 0.8
    """Probability that a plant blooms once it is watered."""

    domain = GARDEN

    @property
    def horizon(self) -> int:
        return self.plants + 1

    def initial(self) -> Sequence[tuple[float, Any]]:
        return [(1.0, (frozenset[int](), frozenset[int]()))]

    def actions(self, state: Any) -> Sequence[int]:
        watered, _ = state
        return [plant for plant in range(self.plants) if plant not in watered]

    def outcomes(self, state: Any, action: Any) -> Sequence[tuple[float, Any]]:
        watered, blooming = state[0] | {action}, state[1]
        return [(self.bloom, (watered, blooming | {action})), (1 - self.bloom, (watered, blooming))]

    def facts(self, state: Any) -> Facts:
        return Facts.build(self.domain, {"plant": self.plants}, {"watered": state[0], "blooming": state[1]})

    def static_facts(self) -> Facts:
        return Facts.build(self.domain, {"plant": self.plants}, {"rose": range(self.roses)})
