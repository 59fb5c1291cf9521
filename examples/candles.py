"""Lighting candles (chance). The shown damp wicks catch with probability .6; the changed ones with .3."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, function, predicate

RULES = ("no match at an open window", "no match to a burning candle", "go on until all burn or no match is left")
CANDLE = (predicate("burning", "candle"), predicate("damp", "candle", static=True))
ROOM = (function("matches", phrase="the number of matches"), predicate("open", phrase="the window is open"))
DOMAIN = Domain("candles", (EntityClass("candle"),), CANDLE + ROOM)
State = tuple[frozenset[int], int, bool]  # burning, matches left, window open?
WINDOW = -1  # to shut it; other actions: the candle that a match is held to


@dataclass(frozen=True)
class Candles(World):
    damp: tuple[bool, ...] = (False, True, False)  # of each candle
    catches: float = 0.6
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return len(self.damp) + 4

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, (frozenset(), len(self.damp) + 2, True))]

    def actions(self, state: State) -> list[int]:
        return [WINDOW] * state[2] + list(range(len(self.damp))) * (state[1] > 0)

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        if action == WINDOW:
            return [(1.0, (state[0], state[1], False))]
        p = 1.0 if action in state[0] else (self.catches if self.damp[action] else 1.0) * (0.5 if state[2] else 1.0)
        return [(q, (now, state[1] - 1, state[2])) for q, now in ((p, state[0] | {action}), (1 - p, state[0])) if q]

    def facts(self, state: State) -> Facts:
        return Facts.build(DOMAIN, {"candle": len(self.damp)}, dict(zip(("burning", "matches", "open"), state)))

    def static_facts(self) -> Facts:
        return Facts.build(DOMAIN, {"candle": len(self.damp)}, {"damp": np.array(self.damp)})


def make(split: str, rng: np.random.Generator) -> Candles:
    damp = rng.permutation(np.arange(rng.integers(3, 5) * (2 if split == "larger" else 1)) < rng.integers(1, 3))
    return Candles(tuple(damp.tolist()), catches=0.3 if split == "changed" else 0.6)


def show(world: Candles, state: State, rng: np.random.Generator) -> int | None:
    dark = [i for i in world.actions(state) if i not in state[0]]
    return WINDOW if WINDOW in dark else int(rng.choice(dark)) if dark else None


def kept(world: Candles, states: tuple[State, ...], actions: tuple[int, ...]) -> dict[str, bool]:
    struck = [(state[2], i in state[0]) for i, state in zip(actions, states) if i != WINDOW]
    shut, needed = not any(window for window, _ in struck), not any(burning for _, burning in struck)
    return dict(zip(RULES, (shut, needed, len(states[-1][0]) == len(world.damp) or not states[-1][1]), strict=True))
