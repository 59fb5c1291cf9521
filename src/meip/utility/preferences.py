"""Preferences: what a person who chooses step by step goes by, beside the utility of states.

A step is worth what it adds to g, less what the never-rules say that it would break; to stop is worth more where
what every demonstration ended with holds. `Chosen` computes all of this for states of a graph, once for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from meip.base.arrays import Floats
from meip.base.documents import Strict
from meip.concepts.language import Concept
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import ConceptText, Utility, UtilityTerm

__all__ = ["ChoiceRanking", "HeldOut", "Preferences", "Rule"]

OMIT = {"omit_default": True}


@dataclass(frozen=True)
class Rule(Strict):
    """Something never to be done."""

    concept: ConceptText = field(metadata={"as_text": True})
    strength: float
    """What a step that risks it pays, in units of g."""
    evidence: float
    """In nats: how surprising it is that somebody without the rule never broke it."""
    price: float
    possible: int
    """How often it could have been broken in the demonstrations."""


@dataclass(frozen=True)
class HeldOut(Strict):
    """What would have been learned without one demonstration."""

    without: tuple[int, ...]
    """Demonstrations by number, from 1; several where they show the same."""
    loss: float
    """Of the demonstration left out: nats per choice."""
    utility: Utility
    done: Utility
    stop: float


@dataclass(frozen=True)
class Preferences(Strict):
    """How somebody chooses, besides g."""

    never: tuple[Rule, ...] = ()
    done: Utility = field(default_factory=lambda: Utility(()))
    """What to stop is worth, by what holds."""
    stop: float = 0.0
    """.. and in any case."""
    least: float | None = None
    """The least worth of stopping where a demonstration stopped by itself; None where none did."""
    pace: float = 0.05
    """What a step has to gain to be taken without looking further."""
    patience: float = 0.0
    """Discount of what is further ahead; 0: look ahead only where no single step gains enough."""
    held_out: tuple[HeldOut, ...] = ()


class ChoiceRanking(UtilityRanking):
    """g, what to stop is worth, which rules are broken, and the same by those who did not see one demonstration.

    Columns: g; stop; a rule each; then g and stop of each held-out model.
    """

    def __init__(self, utility: Utility, preferences: Preferences) -> None:
        self.preferences = preferences
        self.rules = len(preferences.never)
        self.strength = np.array([rule.strength for rule in preferences.never])
        others = [u for held in preferences.held_out for u in (held.utility, held.done)]
        broken = [Utility((UtilityTerm(rule.concept, "boolean", (), (1.0,)),)) for rule in preferences.never]
        super().__init__([utility, preferences.done, *broken, *others])
        self.wishes = utility
        self.constant = np.zeros(self.members)
        self.constant[1] = preferences.stop
        self.constant[2 + self.rules + 1 :: 2] = [held.stop for held in preferences.held_out]

    def rank_with(self, graph, states, weights):  # type: ignore[no-untyped-def]
        found = super().rank_with(graph, states, weights)
        return found + self.constant if weights.shape[1] == self.members else found

    def views(self) -> list[tuple[int, int]]:
        """The columns of g and stop: of the model, and of each held-out one."""
        first = 2 + self.rules
        return [(0, 1), *((first + 2 * k, first + 2 * k + 1) for k in range(len(self.preferences.held_out)))]

    def needed(self) -> Sequence[Concept]:
        return self.concepts


def summed(terms: Sequence[UtilityTerm]) -> Utility:
    """A utility in which terms of the same concept are one."""
    found: dict[tuple[object, ...], UtilityTerm] = {}
    for term in terms:
        key = term.concept, term.kind
        known = found.get(key)
        if known is None:
            found[key] = term
        else:
            weights = tuple(a + b for a, b in zip(known.weights, term.weights, strict=True))
            found[key] = UtilityTerm(term.concept, term.kind, known.knots, weights)
    return Utility(tuple(t for t in found.values() if np.abs(t.weights).max() > 1e-9))


def total(values: Floats) -> float:
    return float(np.sum(values))
