"""Baking (a limit on a number). The shown ovens hold three trays, of which two are used; the changed ones hold all."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("never more than two trays in the oven", "all bread is baked before any cake goes in", "everything is baked")
FLUENTS = (predicate("inside", "tray", phrase="{0} is in the oven"), predicate("baked", "tray"))
STATIC = tuple(predicate(kind, "tray", static=True, phrase=f"{{0}} holds {kind}") for kind in ("bread", "cake"))
DOMAIN = Domain("oven", (EntityClass("tray"),), FLUENTS + STATIC)
State = tuple[int, ...]  # of each tray: 0 waits, 1 is in the oven, 2 is baked


@dataclass(frozen=True)
class Oven(World):
    trays: tuple[str, ...] = ("bread", "cake", "bread", "bread", "cake")
    capacity: int = 3
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return 2 * len(self.trays) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, (0,) * len(self.trays))]

    def actions(self, state: State) -> list[int]:  # a tray that is put in, or taken out
        full = state.count(1) >= self.capacity
        return [i for i, s in enumerate(state) if s == 1 or (s == 0 and not full)]

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        return [(1.0, tuple(s + (i == action) for i, s in enumerate(state)))]

    def facts(self, state: State) -> Facts:
        return Facts.build(DOMAIN, {"tray": len(state)}, {"inside": np.equal(state, 1), "baked": np.equal(state, 2)})

    def static_facts(self) -> Facts:
        trays = np.array(self.trays)
        return Facts.build(DOMAIN, {"tray": len(trays)}, {kind: trays == kind for kind in ("bread", "cake")})


def make(split: str, rng: np.random.Generator) -> Oven:
    bread, cake = rng.integers(3, 5, size=2) + 3 * (split == "larger")
    trays = rng.permutation(["bread"] * bread + ["cake"] * cake).tolist()
    return Oven(tuple(trays), len(trays) if split == "changed" else 3)


def show(world: Oven, state: State, rng: np.random.Generator) -> int | None:
    first = "bread" if any(s < 2 for s, kind in zip(state, world.trays) if kind == "bread") else "cake"
    ready = [i for i in world.actions(state) if state[i] == 1 or (state.count(1) < 2 and world.trays[i] == first)]
    return int(rng.choice(ready)) if ready else None


def kept(world: Oven, states: tuple[State, ...], actions: tuple[int, ...]) -> dict[str, bool]:
    bread, cake = (np.array(states)[:, np.array(world.trays) == kind] for kind in ("bread", "cake"))
    order = bool(np.all((bread.min(axis=1) == 2) | (cake.max(axis=1) == 0)))
    return dict(zip(RULES, (max(s.count(1) for s in states) <= 2, order, min(states[-1]) == 2), strict=True))
