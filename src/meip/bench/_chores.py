"""Chores of any size: things that take so many rounds each, some of them wanted, some of those first.

The person does the urgent ones of what is wanted, round after round, then the others, and stops. What else there is to
say about things says nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from meip import Demonstration, Domain, EntityClass, Episode, Facts, World, predicate, record

__all__ = ["Chores", "demonstrations", "domain"]

State = tuple[int, ...]  # rounds that were done, for each thing


@cache
def domain(marks: int) -> Domain:
    """What can be said: begun, done, and so many marks, of which the first two matter."""
    static = tuple(predicate(f"mark{k}", "thing", static=True) for k in range(marks))
    changing = (predicate("begun", "thing"), predicate("done", "thing"))
    return Domain(f"chores{marks}", (EntityClass("thing"),), (*changing, *static))


@dataclass(frozen=True)
class Chores(World):
    """Things by their marks (the first: wanted, the second: urgent), and the rounds that each takes."""

    marks: tuple[tuple[bool, ...], ...]
    rounds: int = 1

    @property
    def domain(self) -> Domain:
        return domain(len(self.marks[0]))

    @property
    def horizon(self) -> int:
        return self.rounds * len(self.marks) + 1

    def initial(self) -> list[tuple[float, State]]:
        return [(1.0, (0,) * len(self.marks))]

    def actions(self, state: State) -> list[int]:
        return [i for i, done in enumerate(state) if done < self.rounds]

    def outcomes(self, state: State, action: int) -> list[tuple[float, State]]:
        return [(1.0, (*state[:action], state[action] + 1, *state[action + 1 :]))]

    def facts(self, state: State) -> Facts:
        done = np.array(state)
        return Facts.build(self.domain, {"thing": len(state)}, {"begun": done > 0, "done": done == self.rounds})

    def static_facts(self) -> Facts:
        table = np.array(self.marks)
        values = {f"mark{k}": table[:, k] for k in range(table.shape[1])}
        return Facts.build(self.domain, {"thing": len(self.marks)}, values)


def demonstrations(count: int, *, steps: int, things: int, marks: int, seed: int = 0) -> list[Episode]:
    """So many demonstrations of so many steps, each among other things with other marks."""
    rng = np.random.default_rng(seed)
    wanted = min(things - 1, 4, steps)
    found = []
    for _ in range(count):
        table = rng.random((things, marks)) < 0.5
        table[:, 0] = rng.permutation(things) < wanted
        world = Chores(tuple(map(tuple, table.tolist())), -(-steps // wanted))
        found.append(Episode(world, _shown(world, rng)))
    return found


def _shown(world: Chores, rng: np.random.Generator) -> Demonstration:
    mine = [i for i, marks in enumerate(world.marks) if marks[0]]
    order = sorted(rng.permutation(mine).tolist(), key=lambda i: not world.marks[i][1])
    return record(world, [i for i in order for _ in range(world.rounds)])
