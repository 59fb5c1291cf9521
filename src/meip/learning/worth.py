"""What a statement has to be worth: its price by its length, and evidence that does not stand on one demonstration."""

from __future__ import annotations

from typing import Protocol, TypeVar

import numpy as np

from meip.base.arrays import Floats, Ints

__all__ = ["EXCEPTION", "HUNCH", "LEAST", "MANY", "Shown", "price_of", "telling", "without_the_most_telling"]

PRICE, STEEP = 0.6, 1.5  # nats
LEAST = 1.0  # nats of evidence that a rule needs in any case
HUNCH = 2.5  # nats that it may lack and still count a little
EXCEPTION, MANY = 3.0, 4  # what a counterexample costs in nats, and the demonstrations that have to be there for it

T = TypeVar("T", float, Floats)


class Shown(Protocol):
    """Choices of so many kinds of demonstrations."""

    @property
    def demo(self) -> Ints: ...
    @property
    def kinds(self) -> int: ...


def price_of(complexity: T) -> T:
    """In nats, by complexity and numbers named."""
    found: T = PRICE * complexity**STEEP
    return found


def without_the_most_telling(gain: Floats, evidence: Shown) -> Floats:
    """The sum over choices [C, ..], for all demonstrations as much as those say that do not say most."""
    total: Floats = gain.sum(axis=0)
    if evidence.kinds < 3:
        return total
    return telling(np.stack([gain[evidence.demo == d].sum(axis=0) for d in range(evidence.kinds)]))


def telling(each: Floats) -> Floats:
    """The same from the sums of each kind of demonstrations [kinds, ..]."""
    kinds = len(each)
    total = each.sum(axis=0)
    return np.asarray(total if kinds < 3 else (total - each.max(axis=0)) * kinds / (kinds - 1), np.float64)
