"""Packing a bag (all of X before any Y). The shown bags take something heavy first; the changed ones anything."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("all heavy things go in before any fragile one", "the bottle goes in last", "everything is packed")
KINDS = {"heavy": "{0} is heavy", "fragile": "{0} is fragile", "bottle": "{0} is a bottle"}
STATIC = tuple(predicate(kind, "thing", static=True, phrase=phrase) for kind, phrase in KINDS.items())
DOMAIN = Domain("packing", (EntityClass("thing"),), (predicate("packed", "thing", phrase="{0} is packed"), *STATIC))
State = frozenset[int]  # what is packed


@dataclass(frozen=True)
class Packing(World):
    things: tuple[str, ...] = ("heavy", "heavy", "fragile", "plain", "bottle")
    heavy_first: bool = False
    domain = DOMAIN

    @property
    def horizon(self) -> int:  # the longest plan, counted in states
        return len(self.things) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, frozenset())]

    def actions(self, state: State) -> list[int]:  # an action is the thing that goes in
        found = [i for i in range(len(self.things)) if i not in state]
        return [i for i in found if self.things[i] == "heavy"] if self.heavy_first and not state else found

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        return [(1.0, state | {action})]

    def facts(self, state: State) -> Facts:
        return Facts.build(DOMAIN, {"thing": len(self.things)}, {"packed": state})

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"thing": len(self.things)}, {k: np.array(self.things) == k for k in KINDS})


def make(split: str, rng: np.random.Generator) -> Packing:
    heavy, fragile, plain = rng.integers(1, 3, size=3) + 2 * (split == "larger")
    things = ["heavy"] * (heavy + 1) + ["fragile"] * fragile + ["plain"] * plain + ["bottle"]
    return Packing(tuple(rng.permutation(things).tolist()), heavy_first=split != "changed")


def show(world: Packing, state: State, rng: np.random.Generator) -> int | None:
    left = {world.things[i] for i in world.actions(state)}
    wait = {"fragile": left & {"heavy"}, "bottle": left - {"bottle"}}
    fine = [i for i in world.actions(state) if not wait.get(world.things[i])]
    return int(rng.choice(fine)) if fine else None


def kept(world: Packing, states: tuple[State, ...], actions: tuple[int, ...]) -> dict[str, bool]:
    order = "".join(world.things[i][0] for i in actions)  # such as "hhfpb"
    neat, last = "h" not in order.partition("f")[2], "b" not in order[:-1]
    return dict(zip(RULES, (neat, last, len(order) == len(world.things)), strict=True))
