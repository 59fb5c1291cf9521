"""Random rituals with a known demonstrator: what to offer at each stage, and the order of the stages.

The demonstrator visits the stages 1, 2, .. and at each offers all, some, or exactly k objects of one type.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip import Demonstration, Episode, record
from meip.utility.ordering import kendall_tau
from meip.worlds.ritual import Ritual

__all__ = ["PAPER", "Rite", "Want", "demonstrate", "grade", "paper_demonstrations", "random_rite"]

TYPES = ("torch", "bamboo", "clay", "shell", "feather", "stone")


@dataclass(frozen=True)
class Want:
    """What the demonstrator wants at one stage."""

    kind: str
    quantifier: str  # all, some, exactly
    number: int = 0

    def numbers(self, objects: int) -> list[int]:
        """How many objects satisfy it."""
        if self.quantifier == "all":
            return [objects]
        return list(range(1, objects + 1)) if self.quantifier == "some" else [self.number]

    @property
    def concept(self) -> str:
        """Its form as a concept, with {stage} for the stage."""
        predicate = f"{self.kind}@{{stage}}"
        return (
            f"count({predicate}) = {self.number}" if self.quantifier == "exactly" else f"{self.quantifier}({predicate})"
        )


@dataclass(frozen=True)
class Rite:
    """A wish for each stage; the stages are to be visited in their order."""

    wants: tuple[Want, ...]
    types: tuple[str, ...]
    distractors: int = 0

    def world(self, order: str, objects: int) -> Ritual:
        return Ritual(len(self.wants), self.types, objects, order, self.distractors)  # type: ignore[arg-type]

    def concepts(self) -> list[str]:
        """The concepts that a learner should find."""
        return [want.concept.format(stage=stage) for stage, want in enumerate(self.wants, start=1)]


PAPER = Rite((Want("torch", "all"), Want("bamboo", "some"), Want("clay", "exactly", 4)), TYPES[:3])


def paper_demonstrations(order: str, objects: int = 5) -> list[Episode]:
    """The paper's five demonstrations: all torches, 1 or 3 bamboos, 4 clays."""
    world = PAPER.world(order, objects)
    plans = [[(1, "torch", objects), (2, "bamboo", b), (3, "clay", 4)] for b in (1, 3, 1, 3, 1)]
    return [Episode(world, record(world, plan)) for plan in plans]


def random_rite(rng: np.random.Generator, stages: int, types: int, objects: int = 5, distractors: int = 0) -> Rite:
    """Quantifier, type and number of each stage at random. Exactly k is less than all, so that the two can differ."""
    wants = []
    for _ in range(stages):
        quantifier = str(rng.choice(["all", "some", "exactly"]))
        number = int(rng.integers(1, min(objects, 4))) if quantifier == "exactly" else 0
        wants.append(Want(TYPES[int(rng.integers(types))], quantifier, number))
    return Rite(tuple(wants), TYPES[:types], distractors)


def demonstrate(
    rite: Rite, order: str, rng: np.random.Generator, count: int = 5, objects: int = 5, wrong: int = 0
) -> list[Episode]:
    """Demonstrations of a rite, of which the last `wrong` are random plans.

    "Some" is shown with at least two different numbers (never all), so that it can be told from "exactly k".
    """
    world = rite.world(order, objects)
    episodes = []
    some = [_varied(rng, count - wrong, objects) for _ in rite.wants]
    for n in range(count - wrong):
        plan = [
            (stage, want.kind, some[stage - 1][n] if want.quantifier == "some" else want.numbers(objects)[0])
            for stage, want in enumerate(rite.wants, start=1)
        ]
        episodes.append(Episode(world, record(world, plan)))
    episodes += [Episode(world, _random_plan(world, rng)) for _ in range(wrong)]
    return episodes


def _varied(rng: np.random.Generator, count: int, objects: int) -> list[int]:
    numbers = [int(n) for n in rng.integers(1, objects, size=count)]
    if count > 1 and len(set(numbers)) == 1:
        numbers[0] = numbers[0] % (objects - 1) + 1
    return numbers


def _random_plan(world: Ritual, rng: np.random.Generator) -> Demonstration:
    state, actions = world.initial()[0][1], []
    while legal := world.actions(state):
        action = legal[int(rng.integers(len(legal)))]
        actions.append(action)
        state = world.outcomes(state, action)[0][1]
    return record(world, actions)


def grade(rite: Rite, world: Ritual, actions: Sequence[Any]) -> tuple[float, float]:
    """(order tau, match) of a ritual as it was done: the order of the stages, and the share of wants that are met."""
    offers = {stage: (kind, number) for stage, kind, number in actions}
    wanted = {stage: (want.kind, want.numbers(world.objects)) for stage, want in enumerate(rite.wants, start=1)}
    met = [
        stage in offers and offers[stage][0] == kind and offers[stage][1] in numbers
        for stage, (kind, numbers) in wanted.items()
    ]
    return kendall_tau([float(stage) for stage in offers]), float(np.mean(met))
