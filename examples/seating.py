"""Seating guests along a bench (a relation). The shown benches fill from the left; the changed ones at both ends."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("foes never sit side by side", "everybody sits")
SEATS = (predicate("seated", "guest"), predicate("beside", "guest", "guest"))
FOE = predicate("foe", "guest", "guest", static=True, phrase="{0} is a foe of {1}")
DOMAIN = Domain("seating", (EntityClass("guest"),), (*SEATS, FOE))
State = tuple[int, ...]  # the guests from left to right


@dataclass(frozen=True)
class Seating(World):
    guests: int = 5
    foes: tuple[tuple[int, int], ...] = ((0, 3), (1, 4), (1, 3), (2, 4))
    ends: tuple[str, ...] = ("right",)
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return self.guests + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, ())]

    def actions(self, state: State) -> list[tuple[int, str]]:
        return [(guest, end) for guest in range(self.guests) if guest not in state for end in self.ends]

    def outcomes(self, state: State, action: tuple[int, str]) -> list[tuple[float, State]]:
        return [(1.0, (*state, action[0]) if action[1] == "right" else (action[0], *state))]

    def facts(self, state: State) -> Facts:
        pairs = {*pairwise(state), *pairwise(state[::-1])}
        return Facts.build(DOMAIN, {"guest": self.guests}, {"seated": state, "beside": pairs})

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"guest": self.guests}, {"foe": {*self.foes, *((b, a) for a, b in self.foes)}})


def make(split: str, rng: np.random.Generator) -> Seating:
    row = rng.permutation(rng.integers(5, 7) * (2 if split == "larger" else 1)).tolist()  # one way to seat them well
    apart = rng.permutation([(a, b) for i, a in enumerate(row) for b in row[i + 2 :]])[: len(row) ** 2 // 6].tolist()
    return Seating(len(row), tuple((a, b) for a, b in apart), ("left", "right") if split == "changed" else ("right",))


def show(world: Seating, state: State, rng: np.random.Generator) -> tuple[int, str] | None:
    rests = (rng.permutation(list({*range(world.guests)} - {*state})).tolist() for _ in range(10_000))
    good = (rest[0] for rest in rests if rest and all(kept(world, ((*state, *rest),), ()).values()))
    return next(((guest, "right") for guest in good), None)


def kept(world: Seating, states: tuple[State, ...], actions: tuple[tuple[int, str], ...]) -> dict[str, bool]:
    pairs = {*pairwise(states[-1]), *pairwise(states[-1][::-1])}
    return dict(zip(RULES, (not pairs & {*world.foes}, len(states[-1]) == world.guests), strict=True))
