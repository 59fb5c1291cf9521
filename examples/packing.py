"""A world of your own: packing a bag, in about forty lines.

Things go into the bag one at a time. Somebody who packs well puts all heavy things in before any fragile one, and the
bottle last. Nobody writes that down: it is learned from a few bags and carries over to other things to pack.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from meip import Domain, EntityClass, Facts, World, predicate

DOMAIN = Domain(
    "packing",
    (EntityClass("thing"),),
    (
        predicate("packed", "thing", phrase="{0} is packed"),
        predicate("heavy", "thing", static=True, phrase="{0} is heavy"),
        predicate("fragile", "thing", static=True, phrase="{0} is fragile"),
        predicate("bottle", "thing", static=True, phrase="{0} is a bottle"),
    ),
)


@dataclass(frozen=True)
class Packing(World):
    """Things of these kinds are to be packed, in any order."""

    things: tuple[str, ...] = ("heavy", "heavy", "fragile", "plain", "bottle")

    @property
    def domain(self) -> Domain:
        return DOMAIN

    @property
    def horizon(self) -> int:
        return len(self.things) + 1

    def initial(self) -> Sequence[tuple[float, frozenset[int]]]:
        return [(1.0, frozenset())]

    def actions(self, state: frozenset[int]) -> Sequence[int]:
        return [i for i in range(len(self.things)) if i not in state]

    def outcomes(self, state: frozenset[int], action: int) -> Sequence[tuple[float, frozenset[int]]]:
        return [(1.0, state | {action})]

    def facts(self, state: frozenset[int]) -> Facts:
        return Facts.build(DOMAIN, {"thing": len(self.things)}, {"packed": state})

    def static_facts(self) -> Facts:
        kinds = ("heavy", "fragile", "bottle")
        values = {kind: [i for i, k in enumerate(self.things) if k == kind] for kind in kinds}
        return Facts.build(DOMAIN, {"thing": len(self.things)}, values)
