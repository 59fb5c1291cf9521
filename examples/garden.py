"""A world of your own that draws itself: a garden to be planted and watered.

Whoever gardens well plants everything before watering anything. Learned from three gardens, this holds in others:

    python garden.py                                              three gardens, tended well: garden.jsonl
    meip learn garden.jsonl --world garden:Garden -o task.json
    meip plan task.json garden:Garden --render plan.html
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

from meip import Domain, EntityClass, Facts, Picture, World, append_demonstration, predicate, record

Kind = Literal["sunflower", "tulip", "cactus"]
State = tuple[int, ...]  # of each plant: 0 still in its pot, 1 planted, 2 watered
Action = tuple[str, int]  # ("plant", 0) or ("water", 0)
FLUENTS = (
    predicate("planted", "plant", phrase="{0} is planted"),
    predicate("watered", "plant", phrase="{0} is watered"),
    predicate("thirsty", "plant", static=True, phrase="{0} needs water"),
)
DOMAIN = Domain("garden", (EntityClass("plant"),), FLUENTS)
GREEN = '<path fill="none" stroke="#4c9a57" stroke-linecap="round" stroke-linejoin="round" stroke-width='
LOOKS: dict[Kind, str] = {  # drawn upwards from the ground
    "sunflower": f'{GREEN}"4" d="M0 0v-50m0 34q13 0 16-13M0-24q-13 0-16-13"/>'
    '<circle cy="-64" r="14" fill="#6b4423" stroke="#f2b134" stroke-width="9" stroke-dasharray="7 1.8"/>',
    "tulip": f'{GREEN}"4" d="M0 0v-26m0 20q-9-3-10-18m10 18q9-3 10-18"/>'
    '<path fill="#d6436e" d="M-11-48l6 7 5-9 5 9 6-7q4 23-11 23t-11-23z"/>',
    "cactus": f'{GREEN}"10" d="M0-3v-35m0 26h-14v-10m14 3h14v-12"/><circle cy="-44" r="4.5" fill="#e77fa3"/>',
}
DROPS = '<path fill="#58b4ee" d="M-15 10q9 11 0 11t0-11zM0 14q9 11 0 11t0-11zM15 10q9 11 0 11t0-11z"/>'


@dataclass(frozen=True)
class Garden(World):
    """These plants are to be planted and watered. From `static_facts` on: hooks, which a world need not offer."""

    kind: ClassVar[str] = "garden"  # its name in files
    plants: tuple[Kind, ...] = ("tulip", "cactus", "sunflower", "tulip", "sunflower")

    @property
    def tended(self) -> State:  # a cactus stays dry
        return tuple(1 if kind == "cactus" else 2 for kind in self.plants)

    @property
    def domain(self) -> Domain:
        return DOMAIN

    @property
    def horizon(self) -> int:
        return sum(self.tended) + 1

    def initial(self) -> Sequence[tuple[float, State]]:
        return [(1.0, (0,) * len(self.plants))]

    def actions(self, state: State) -> Sequence[Action]:
        return [(("plant", "water")[s], i) for i, s in enumerate(state) if s < self.tended[i]]

    def outcomes(self, state: State, action: Action) -> Sequence[tuple[float, State]]:
        return [(1.0, tuple(s + (i == action[1]) for i, s in enumerate(state)))]

    def facts(self, state: State) -> Facts:
        planted, watered = ([i for i, s in enumerate(state) if s >= least] for least in (1, 2))
        return Facts.build(DOMAIN, {"plant": len(state)}, {"planted": planted, "watered": watered})

    def static_facts(self) -> Facts:
        thirsty = [i for i, s in enumerate(self.tended) if s == 2]
        return Facts.build(DOMAIN, {"plant": len(self.plants)}, {"thirsty": thirsty})

    def reached(self, state: State) -> bool:
        return state == self.tended

    def describe(self, state: State) -> str:
        return f"{sum(s > 0 for s in state)} of {len(state)} planted, {sum(s > 1 for s in state)} watered"

    def draw(self, states: Sequence[State], actions: Sequence[Action]) -> list[Picture]:
        captions = ["morning", *(f"{verb} the {self.plants[i]}" for verb, i in actions)]
        return [Picture(text, self.svg(s), self.describe(s)) for text, s in zip(captions, states, strict=True)]

    def svg(self, state: State) -> str:  # what is still in its pot is faint
        w = 60 * len(state) + 20
        svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {w} 128"><title>{self.describe(state)}</title>'
        svg += f'<rect width="{w}" height="128" rx="10" fill="#d7ecf7"/>'
        svg += f'<path fill="#7d5a3c" d="M0 94h{w}v24q0 10-10 10H10q-10 0-10-10z"/>'
        for i, (s, kind) in enumerate(zip(state, self.plants, strict=True)):
            look = LOOKS[kind] + DROPS * (s == 2)
            svg += f'<g transform="translate({60 * i + 40} 96)" opacity="{1 if s else 0.25}">{look}</g>'
        return svg + "</svg>"


if __name__ == "__main__":
    for garden in (Garden(), Garden(("sunflower", "tulip", "tulip")), Garden(("tulip", "cactus"))):
        steps = [("plant", i) for i in range(len(garden.plants))]
        steps += [("water", i) for i, s in enumerate(garden.tended) if s == 2]
        append_demonstration("garden.jsonl", record(garden, steps))
