"""A clinic (first by a real value). The shown waiting rooms have three chairs; in the changed ones all find room."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, function, predicate

RULES = ("of those who wait, the one with most pain is next", "hands are washed between patients", "all are treated")
PATIENT = (predicate("waiting", "patient"), predicate("treated", "patient"), predicate("infected", "patient"))
PAIN = function("pain", "patient", static=True, phrase="the pain of {0}")
DOMAIN = Domain("clinic", (EntityClass("patient"),), (*PATIENT, PAIN, predicate("dirty", phrase="hands are dirty")))
State = tuple[frozenset[int], frozenset[int], bool]  # treated; infected, by dirty hands; are they dirty?
WASH = -1  # other actions: the patient who is treated


@dataclass(frozen=True)
class Clinic(World):
    pain: tuple[float, ...] = (3.5, 8.0, 1.2, 6.1)
    chairs: int = 3
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return 2 * len(self.pain) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, (frozenset(), frozenset(), False))]

    def actions(self, state: State) -> list[int]:
        return [WASH, *[i for i in range(len(self.pain)) if i not in state[0]][: self.chairs]]

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        if action == WASH:
            return [(1.0, (state[0], state[1], False))]
        return [(1.0, (state[0] | {action}, state[1] | {action} if state[2] else state[1], True))]

    def facts(self, state: State) -> Facts:
        values = {"waiting": self.actions(state)[1:], "treated": state[0], "infected": state[1], "dirty": state[2]}
        return Facts.build(DOMAIN, {"patient": len(self.pain)}, values)

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"patient": len(self.pain)}, {"pain": np.array(self.pain)})


def make(split: str, rng: np.random.Generator) -> Clinic:
    pain = rng.permutation(np.arange(1, 10, 0.1).round(1))[: rng.integers(4, 6) * (2 if split == "larger" else 1)]
    return Clinic(tuple(pain.tolist()), chairs=len(pain) if split == "changed" else 3)


def show(world: Clinic, state: State, rng: np.random.Generator) -> int | None:
    waiting = world.actions(state)[1:]
    return (WASH if state[2] else max(waiting, key=lambda i: world.pain[i])) if waiting else None


def kept(world: Clinic, states: tuple[State, ...], actions: tuple[int, ...]) -> dict[str, bool]:
    others = [[world.pain[j] for j in world.actions(state)[1:]] for state in states]
    worst = all(world.pain[i] == max(pain) for i, pain in zip(actions, others) if i != WASH)
    return dict(zip(RULES, (worst, not states[-1][1], len(states[-1][0]) == len(world.pain)), strict=True))
