"""Picking apples (when to stop). The shown apples hang one by one; in the changed trees twins come off together."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("only ripe apples are picked", "just two ripe apples are left for the birds")
FLUENTS = (predicate("picked", "apple"), predicate("ripe", "apple", static=True))
DOMAIN = Domain("orchard", (EntityClass("apple"),), FLUENTS)
State = frozenset[int]  # what is picked


@dataclass(frozen=True)
class Orchard(World):
    ripe: tuple[bool, ...] = (True, True, False, True, True, False)
    twins: tuple[tuple[int, int], ...] = ()
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return len(self.ripe) - len(self.twins) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, frozenset())]

    def actions(self, state: State) -> list[int]:
        return [apple for apple in range(len(self.ripe)) if apple not in state]

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        return [(1.0, state.union({action}, *(pair for pair in self.twins if action in pair)))]

    def facts(self, state: State) -> Facts:
        return Facts.build(DOMAIN, {"apple": len(self.ripe)}, {"picked": state})

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"apple": len(self.ripe)}, {"ripe": np.array(self.ripe)})


def make(split: str, rng: np.random.Generator) -> Orchard:
    few, many = (8, 12) if split == "larger" else (4, 7)
    ripe = rng.permutation([True] * rng.integers(few, many) + [False] * rng.integers(few // 4, few // 2 + 1)).tolist()
    red = [apple for apple, is_ripe in enumerate(ripe) if is_ripe]
    return Orchard(tuple(ripe), tuple(zip(red[:4:2], red[1:4:2])) if split == "changed" else ())


def show(world: Orchard, state: State, rng: np.random.Generator) -> int | None:
    red = [apple for apple in world.actions(state) if world.ripe[apple]]
    fine = [apple for apple in red if len(set(red) - world.outcomes(state, apple)[0][1]) >= 2]
    return int(rng.choice(fine)) if fine else None


def kept(world: Orchard, states: tuple[State, ...], actions: tuple[int, ...]) -> dict[str, bool]:
    left = sum(is_ripe and apple not in states[-1] for apple, is_ripe in enumerate(world.ripe))
    return dict(zip(RULES, (all(world.ripe[apple] for apple in states[-1]), left == 2), strict=True))
