"""Random rituals with a known demonstrator: what to offer at each stage, and the order of the stages.

The demonstrator visits the stages in an order of its own and at each offers all, some, or exactly k objects of one
type. Worlds list the stages 1, 2, ..: in a shuffled rite that is not the order to be learned, so that nobody is right
by taking what is listed first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from meip import Demonstration, Episode, record
from meip.utility.ordering import kendall_tau
from meip.worlds.ritual import Ritual

__all__ = ["PAPER", "Order", "Rite", "Want", "demonstrate", "grade", "paper_demonstrations", "random_rite"]

Order = Literal["free", "enforced"]
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
    """Wishes in the order in which they are to be met, each at a stage of its own."""

    wants: tuple[Want, ...]
    types: tuple[str, ...]
    distractors: int = 0
    sequence: tuple[int, ...] = ()
    """The stage of each wish; by default 1, 2, .."""

    @property
    def stages(self) -> tuple[int, ...]:
        return self.sequence or tuple(range(1, len(self.wants) + 1))

    def world(self, order: Order, objects: int) -> Ritual:
        """Where the order of the stages is free, or that of the rite is enforced."""
        given = self.stages if order == "enforced" else order
        return Ritual(len(self.wants), self.types, objects, given, self.distractors)

    def shuffled(self, rng: np.random.Generator) -> Rite:
        """The same wishes in the same order, at stages that are listed in any order."""
        return replace(self, sequence=tuple(int(k) + 1 for k in rng.permutation(len(self.wants))))

    def concepts(self) -> list[str]:
        """The concepts that a learner should find."""
        return [want.concept.format(stage=stage) for stage, want in zip(self.stages, self.wants, strict=True)]


PAPER = Rite((Want("torch", "all"), Want("bamboo", "some"), Want("clay", "exactly", 4)), TYPES[:3])


def paper_demonstrations(order: Order, objects: int = 5, rite: Rite = PAPER) -> list[Episode]:
    """The paper's five demonstrations: all torches, 1 or 3 bamboos, 4 clays; at the stages of a shuffled rite."""
    world = rite.world(order, objects)
    a, b, c = rite.stages
    plans = [[(a, "torch", objects), (b, "bamboo", n), (c, "clay", 4)] for n in (1, 3, 1, 3, 1)]
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
    rite: Rite, order: Order, rng: np.random.Generator, count: int = 5, objects: int = 5, wrong: int = 0
) -> list[Episode]:
    """Demonstrations of a rite, of which the last `wrong` are random plans.

    "Some" is shown with at least two different numbers (never all), so that it can be told from "exactly k".
    """
    world = rite.world(order, objects)
    episodes = []
    some = [_varied(rng, count - wrong, objects) for _ in rite.wants]
    for n in range(count - wrong):
        plan = [
            (stage, want.kind, numbers[n] if want.quantifier == "some" else want.numbers(objects)[0])
            for stage, want, numbers in zip(rite.stages, rite.wants, some, strict=True)
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
    stages = dict(zip(rite.stages, rite.wants, strict=True))
    wanted = {stage: (want.kind, want.numbers(world.objects)) for stage, want in stages.items()}
    met = [
        stage in offers and offers[stage][0] == kind and offers[stage][1] in numbers
        for stage, (kind, numbers) in wanted.items()
    ]
    return kendall_tau([float(rite.stages.index(stage)) for stage in offers]), float(np.mean(met))
