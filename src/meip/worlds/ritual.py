"""The paper's ritual: at each stage a number of objects of one type is offered; what, how many, and in which order?

A state lists, for each stage, what was offered there: None before it is visited, else (type, number). Choosing zero
objects is the same whatever the type. The episode ends when all stages are visited.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import ClassVar, Literal
from xml.sax.saxutils import escape

import numpy as np

from meip.base.errors import WorldError
from meip.model.domain import Domain, EntityClass, FactBlock, Facts, predicate
from meip.model.world import Picture, World

__all__ = ["Ritual"]

Offer = tuple[int, int] | None  # (type, number) at a visited stage; (0, 0) for nothing offered
RitualState = tuple[Offer, ...]  # one per stage
NOTHING = (0, 0)
NOT_VISITED = (-1, 0)
LARGEST = 1000
MOST_FACTS = 100_000
ACROSS, TOKENS, MOST_DRAWN = 5, 5, 20  # stages side by side, objects in a row, objects drawn of each stage
COLOURS = ("#d9822b", "#4d9a50", "#b0623c", "#5b7fb8", "#9a6fb0", "#8a8f3c")  # of types, beside their names
PLURALS = {"torch": "torches", "bamboo": "bamboos", "clay": "clays"}


@dataclass(frozen=True)
class Ritual(World):
    """Stages x types x objects; the order of the stages is free, enforced (1, 2, ..) or given."""

    kind: ClassVar[str] = "ritual"

    stages: int = 3
    types: tuple[str, ...] = ("torch", "bamboo", "clay")
    objects: int = 5
    order: Literal["free", "enforced"] | tuple[int, ...] = "free"
    """A given order lists the stages from 1, e.g. (2, 1, 3)."""
    distractors: int = 0
    """Extra predicates that nobody cares about: after each visit, a coin that depends on the state decides them."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "types", tuple(self.types))
        if self.stages < 1 or self.objects < 1 or not self.types or self.distractors < 0:
            raise WorldError("a ritual needs at least one stage, one type and one object")
        if max(self.stages, self.objects, self.distractors, len(self.types)) > LARGEST:
            raise WorldError(f"a ritual has at most {LARGEST} stages, types, objects and distractors")
        if self.stages * len(self.types) * self.objects > MOST_FACTS:
            raise WorldError(f"a ritual has at most {MOST_FACTS:,} facts: stages times types times objects")
        if len(set(self.types)) != len(self.types):
            raise WorldError(f"the types of a ritual must differ, got {', '.join(self.types)}")
        if self.order not in ("free", "enforced"):
            object.__setattr__(self, "order", tuple(self.order))
            if len(self.order) != self.stages or sorted(self.order) != list(range(1, self.stages + 1)):
                raise WorldError(f"order must list each stage from 1 to {self.stages} once, got {list(self.order)}")

    @property
    def horizon(self) -> int:
        return self.stages + 1

    @cached_property
    def domain(self) -> Domain:
        fluents = [
            predicate(_fluent(kind, stage), kind, phrase=f"{{0}} is offered at stage {stage}")
            for stage in range(1, self.stages + 1)
            for kind in self.types
        ]
        coins = [predicate(f"omen{k}", phrase=f"omen {k} is seen") for k in range(1, self.distractors + 1)]
        return Domain(
            "ritual", tuple(EntityClass(kind, PLURALS.get(kind, kind + "s")) for kind in self.types), (*fluents, *coins)
        )

    def initial(self) -> Sequence[tuple[float, RitualState]]:
        return [(1.0, (None,) * self.stages)]

    def actions(self, state: RitualState) -> Sequence[tuple[int, str, int]]:
        """(stage, type, number) for each stage that may be visited now."""
        choices = [(self.types[0], 0), *product(self.types, range(1, self.objects + 1))]
        return [(stage, kind, number) for stage in self._open_stages(state) for kind, number in choices]

    def outcomes(self, state: RitualState, action: tuple[int, str, int]) -> Sequence[tuple[float, RitualState]]:
        stage, kind, number = action
        offer = (self.types.index(kind), number) if number else NOTHING
        return [(1.0, (*state[: stage - 1], offer, *state[stage:]))]

    def facts(self, state: RitualState) -> Facts:
        block = self.facts_batch([state])[0]
        return Facts(block.counts, {name: table[0] for name, table in block.tables.items()})

    def facts_batch(self, states: Sequence[RitualState]) -> list[FactBlock]:
        flat = [number for state in states for offer in state for number in offer or NOT_VISITED]
        offers = np.array(flat, dtype=np.int64).reshape(len(states), self.stages, 2)
        entity = np.arange(self.objects)
        tables = {
            _fluent(kind, stage + 1): (offers[:, stage, :1] == k) & (entity < offers[:, stage, 1:])
            for stage in range(self.stages)
            for k, kind in enumerate(self.types)
        }
        # a fixed mixture of the state's bits: varied, repeatable, and of no interest to the demonstrator
        code = (offers.reshape(len(states), -1) + 2) @ (np.arange(2 * self.stages) * 2654435761 % 1000003 + 1)
        for k in range(1, self.distractors + 1):
            tables[f"omen{k}"] = (code * (2 * k + 1) // 7 + code // (k + 1)) % 2 == 1
        counts = dict.fromkeys(self.types, self.objects)
        return [FactBlock(np.arange(len(states)), counts, tables)]

    def describe(self, state: RitualState) -> str:
        offers = ["not visited" if o is None else f"{o[1]} {self.types[o[0]]}" if o[1] else "nothing" for o in state]
        return ", ".join(f"stage {i}: {offer}" for i, offer in enumerate(offers, start=1))

    def action_parts(self, action: tuple[int, str, int]) -> Sequence[tuple[str, str]]:
        """A stage, a type, a number."""
        stage, kind, number = action
        return [("stage", str(stage)), ("type", kind if number else "nothing"), ("number", str(number))]

    def draw(self, states: Sequence[RitualState], actions: Sequence[tuple[int, str, int]]) -> list[Picture]:
        """The stages side by side with what was offered there; the last visited one has a stronger frame."""
        captions = ["start", *(f"stage {s}: {f'{n} {kind}' if n else 'nothing'}" for s, kind, n in actions)]
        before = [states[0], *states[:-1]]
        return [
            Picture(caption, self._svg(state, last), self.describe(state))
            for caption, state, last in zip(captions, states, before, strict=True)
        ]

    def _svg(self, state: RitualState, last: RitualState) -> str:
        across = min(self.stages, ACROSS)
        rows = -(-min(self.objects, MOST_DRAWN) // TOKENS)
        wide, high = 156, 64 + 26 * rows
        boxes = "".join(
            f'<g transform="translate({wide * (k % across) + 4} {(high + 8) * (k // across) + 4})">'
            f"{self._stage(k, offer, offer != last[k], wide - 8, high)}</g>"
            for k, offer in enumerate(state)
        )
        size = f'viewBox="0 0 {wide * across} {(high + 8) * -(-self.stages // across)}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" font-size="14">'
            f"<title>{escape(self.describe(state))}</title>{boxes}</svg>"
        )

    def _stage(self, k: int, offer: Offer, new: bool, wide: int, high: int) -> str:
        """A frame with a round thing for each object that was there to be offered, filled where it was."""
        kind, number = offer or NOTHING
        told = "not visited" if offer is None else f"{number} {self.types[kind]}" if number else "nothing"
        frame = 'stroke-dasharray="4 4"' if offer is None else f'stroke-width="{2.5 if new else 1}"'
        there = min(self.objects, MOST_DRAWN) if offer is not None and number else 0
        colour = COLOURS[kind % len(COLOURS)]
        things = "".join(
            f'<circle cx="{20 + 26 * (i % TOKENS)}" cy="{44 + 26 * (i // TOKENS)}" r="9" stroke="{colour}" '
            f'stroke-width="1.5" fill="{colour if i < number else "none"}"/>'
            for i in range(there)
        )
        return (
            f'<rect width="{wide}" height="{high}" rx="8" fill="none" stroke="currentColor" {frame}/>'
            f'<text x="12" y="22">stage {k + 1}</text>{things}<text x="12" y="{high - 12}">{escape(told)}</text>'
        )

    def _open_stages(self, state: RitualState) -> list[int]:
        unvisited = [i + 1 for i, offer in enumerate(state) if offer is None]
        if self.order == "free":
            return unvisited
        order = range(1, self.stages + 1) if self.order == "enforced" else self.order
        return [stage for stage in order if stage in unvisited][:1]


def _fluent(kind: str, stage: int) -> str:
    return f"{kind}@{stage}"
