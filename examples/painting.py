"""Painting a room (partial order). In the shown rooms walls are sanded from left to right; in changed ones at will."""

from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Facts, World, predicate

RULES = ("cover all chairs before sanding", "open all windows before painting", "sand a wall, then paint it", "finish")
STEPS = {"covered": "chair", "open": "window", "sanded": "wall", "painted": "wall"}
CLASSES = (EntityClass("chair"), EntityClass("window"), EntityClass("wall"))
DOMAIN = Domain("painting", CLASSES, tuple(predicate(step, of) for step, of in STEPS.items()))
Step = tuple[int, str]  # (2, "painted"): wall 2
State = frozenset[Step]  # what has been done


@dataclass(frozen=True)
class Painting(World):
    numbers: tuple[int, int, int] = (2, 1, 2)  # of chairs, windows and walls
    left_to_right: bool = True
    domain = DOMAIN

    @property
    def horizon(self) -> int:
        return sum(self.numbers) + self.numbers[2] + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, frozenset())]

    def actions(self, state: State) -> list[Step]:
        numbers, wall = (*self.numbers, self.numbers[2]), sum(step == "sanded" for _, step in state)
        every = {(i, step) for step, number in zip(STEPS, numbers) for i in range(number)}
        return [a for a in sorted(every - state) if a[1] != "sanded" or a[0] == wall or not self.left_to_right]

    def outcomes(self, state: State, action: Step) -> list[tuple[float, State]]:
        return [(1.0, state | {action})]

    def facts(self, state: State) -> Facts:
        counts = dict(zip(("chair", "window", "wall"), self.numbers))
        return Facts.build(DOMAIN, counts, {name: [i for i, step in state if step == name] for name in STEPS})


def make(split: str, rng: np.random.Generator) -> Painting:
    chairs, windows, walls = (int(n) + 2 * (split == "larger") for n in rng.integers(1, 3, size=3))
    return Painting((chairs, windows, walls + 1), left_to_right=split != "changed")


def show(world: Painting, state: State, rng: np.random.Generator) -> Step | None:
    legal, wait = world.actions(state), {"sanded": "covered", "painted": "open"}
    left = {step for _, step in legal}
    fine = [a for a in legal if wait.get(a[1]) not in left and (a[1] != "painted" or (a[0], "sanded") in state)]
    return fine[rng.integers(len(fine))] if fine else None


def kept(world: Painting, states: tuple[State, ...], actions: tuple[Step, ...]) -> dict[str, bool]:
    order = "".join(step[0] for _, step in actions)  # such as "ccossp"
    before = "c" not in order.partition("s")[2], "o" not in order.partition("p")[2]
    own = all((i, "sanded") in actions[:time] for time, (i, step) in enumerate(actions) if step == "painted")
    return dict(zip(RULES, (*before, own, len(states) == world.horizon), strict=True))
