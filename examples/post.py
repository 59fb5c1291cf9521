"""Delivering letters (relations, stopping). The shown boxes take two letters each; the changed ones any number."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("a letter goes only into its own box", "whoever is away gets nothing", "everybody else gets all letters")
STATIC = (predicate("addressed-to", "letter", "flat", static=True), predicate("away", "flat", static=True))
DOMAIN = Domain("post", (EntityClass("letter"), EntityClass("flat")), (predicate("in", "letter", "flat"), *STATIC))
State = tuple[int, ...]  # of each letter: the flat in whose box it is, or -1 in the bag


@dataclass(frozen=True)
class Post(World):
    addresses: tuple[int, ...] = (0, 2, 1, 0, 1)
    away: tuple[bool, ...] = (False, True, False)  # of each flat
    capacity: int = 2
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return len(self.addresses) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, (-1,) * len(self.addresses))]

    def actions(self, state: State) -> list[tuple[int, int]]:  # this letter into that box
        free = [flat for flat in range(len(self.away)) if state.count(flat) < self.capacity]
        return [(letter, flat) for letter, box in enumerate(state) if box < 0 for flat in free]

    def outcomes(self, state: State, action: tuple[int, int]) -> list[tuple[float, State]]:
        return [(1.0, (*state[: action[0]], action[1], *state[action[0] + 1 :]))]

    def facts(self, state: State) -> Facts:
        boxes = np.array([[box == flat for flat in range(len(self.away))] for box in state])
        return Facts.build(DOMAIN, {"letter": len(state), "flat": len(self.away)}, {"in": boxes})

    def static_facts(self) -> Facts:
        values = {"addressed-to": enumerate(self.addresses), "away": np.array(self.away)}
        return Facts.build(DOMAIN, {"letter": len(self.addresses), "flat": len(self.away)}, values)


def make(split: str, rng: np.random.Generator) -> Post:
    away = rng.permutation([True, False, False] * (2 if split == "larger" else 1)).tolist()
    letters = rng.integers(3, size=5) if split == "changed" else rng.permutation(2 * len(away))[1:] // 2
    return Post(tuple(letters.tolist()), tuple(away), capacity=5 if split == "changed" else 2)


def show(world: Post, state: State, rng: np.random.Generator) -> tuple[int, int] | None:
    fine = [(i, flat) for i, flat in world.actions(state) if flat == world.addresses[i] and not world.away[flat]]
    return fine[rng.integers(len(fine))] if fine else None


def kept(world: Post, states: tuple[State, ...], actions: tuple[tuple[int, int], ...]) -> dict[str, bool]:
    own = all(flat == world.addresses[letter] for letter, flat in actions)
    rest = all(box >= 0 for box, flat in zip(states[-1], world.addresses) if not world.away[flat])
    return dict(zip(RULES, (own, not any(world.away[flat] for _, flat in actions), rest), strict=True))
