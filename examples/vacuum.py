"""A robot vacuum (a limit on a real value). The shown chargers fill the battery at once; the changed ones give 40."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, function, predicate

RULES = ("the battery never falls below 20", "all rooms are clean at the end", "it ends on the charger")
ROOM = (predicate("clean", "room"), function("area", "room", static=True, phrase="the area of {0}"))
ROBOT = (function("battery", phrase="the battery"), predicate("docked", phrase="the robot is on the charger"))
DOMAIN = Domain("vacuum", (EntityClass("room"),), ROOM + ROBOT)
State = tuple[frozenset[int], int, bool]  # clean rooms, battery, on the charger?
CHARGE = -1  # other actions: the room that is cleaned


@dataclass(frozen=True)
class Vacuum(World):
    areas: tuple[int, ...] = (30, 60, 20, 50, 30)  # a room takes as much of the battery
    charge: int = 100
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return (2 if self.charge == 100 else 3) * len(self.areas) + 2

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, (frozenset(), 100, True))]

    def actions(self, state: State) -> list[int]:
        return [CHARGE, *(i for i, area in enumerate(self.areas) if i not in state[0] and area <= state[1])]

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        if action == CHARGE:
            return [(1.0, (state[0], min(state[1] + self.charge, 100), True))]
        return [(1.0, (state[0] | {action}, state[1] - self.areas[action], False))]

    def facts(self, state: State) -> Facts:
        return Facts.build(DOMAIN, {"room": len(self.areas)}, dict(zip(("clean", "battery", "docked"), state)))

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"room": len(self.areas)}, {"area": np.array(self.areas)})


def make(split: str, rng: np.random.Generator) -> Vacuum:
    areas = 10 * rng.integers(2, 7, size=rng.integers(5, 7) * (2 if split == "larger" else 1))
    return Vacuum(tuple(areas.tolist()), charge=40 if split == "changed" else 100)


def show(world: Vacuum, state: State, rng: np.random.Generator) -> int | None:
    done = state[2] and len(state[0]) == len(world.areas)
    rooms = [i for i in world.actions(state) if i != CHARGE and state[1] - world.areas[i] >= 20]
    return None if done else int(rng.choice(rooms)) if rooms and (state[2] or rng.random() < 0.8) else CHARGE


def kept(world: Vacuum, states: tuple[State, ...], actions: tuple[int, ...]) -> dict[str, bool]:
    clean, lowest = len(states[-1][0]) == len(world.areas), min(battery for _, battery, _ in states)
    return dict(zip(RULES, (lowest >= 20, clean, states[-1][2]), strict=True))
