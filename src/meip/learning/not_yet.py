"""What has to hold before somebody does the last thing: "the bouquet is tied and there are not three roses in it".

Every demonstration ends once. Had it ended at any of the choices at which it could have, then what holds at all ends,
and seldom before, would hold there by a rare chance: that is the evidence. How often a step is done says little where
it is done once in a demonstration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.concepts.language import Composite, Concept
from meip.learning import forms
from meip.learning.evidence import Evidence
from meip.learning.offers import Offers
from meip.learning.worth import HUNCH, LEAST, price_of, telling

__all__ = ["Last", "NotYet"]

MOST = 4  # conditions
CONDITIONS = (forms.TRUTH, forms.EQUAL, forms.SAME, forms.AT_MOST)  # "at least k" fits any ends that are late enough


@dataclass(frozen=True, eq=False)
class Last:
    """A condition of the last thing that is done."""

    concept: Concept
    entered: Bools
    """[N] the alternatives that do it too early."""
    evidence: float
    price: float
    possible: int
    number: bool


class NotYet:
    """The conditions of what is done last, if there is a fluent that says so: true at every end, and never before."""

    def __init__(self, evidence: Evidence, offers: Offers) -> None:
        self.kind, self.kinds, self.fold_of = evidence.demo, evidence.kinds, evidence.fold_of
        self.start = evidence.start
        self.conditions: list[Concept] = []
        self.prices = np.zeros(0)
        last = _last(evidence, offers)
        enough = offers.done.take(np.flatnonzero(np.isin(offers.done.kinds, CONDITIONS)))
        if last is None or not len(enough) or evidence.kinds < 3:
            return
        self.last = offers.forms.concepts[last]
        self.made = evidence.entered(offers.values[:, [last]] > 0.5)[:, 0]
        holds = enough.columns(offers.values) > 0.5
        held = holds[evidence.after[evidence.first]]  # [N, F] once it is done
        self.early = self.made[:, None] & ~held
        self.conditions = [enough.concept(j) for j in range(len(enough))]
        self.numbers = np.array([row.form == forms.EQUAL for row in enough.rows], np.bool_)
        self.prices = price_of(1.0 + enough.prices)
        in_time = np.logical_or.reduceat(self.made[:, None] & held, self.start[:-1], axis=0)
        self.can = np.logical_or.reduceat(self.made, self.start[:-1])  # [C]
        self.in_time: Bools = np.asarray(in_time, np.bool_)  # [C, F]

    def found(self, without: int | None = None) -> list[Last]:
        """The conditions, the most telling first, those that name a number last, and only where they are worth their
        price; what one explains is no evidence for the next."""
        if not self.conditions:
            return []
        seen: Ints = np.flatnonzero(self.fold_of[: self.kinds] != (-1 if without is None else without))
        open_ = self.can.copy()
        found: list[Last] = []
        while len(found) < MOST and len(seen) > 1:
            worth = telling(np.stack([self._surprise(open_ & (self.kind == kind)) for kind in seen]))
            net = np.where(worth < LEAST, -np.inf, worth - self.prices)
            plain = np.where(self.numbers, -np.inf, net)
            best = int(np.argmax(plain if plain.max() > 0 else net))
            if net[best] <= (0.0 if self.numbers[best] else -HUNCH):
                break
            early = self.early[:, best]
            found.append(
                Last(
                    Composite("and", (self.last, Composite("not", (self.conditions[best],)))), early,
                    float(worth[best]), float(self.prices[best]),
                    int(np.logical_or.reduceat(early, self.start[:-1]).sum()), bool(self.numbers[best]),
                )
            )  # fmt: skip
            open_ &= self.in_time[:, best]
        return found

    def _surprise(self, mine: Bools) -> Floats:
        """In nats: that it was done where each condition held, of all choices at which it could have been done."""
        times = self.in_time[mine].sum(axis=0)
        return np.where(times > 0, np.log(np.maximum(mine.sum(), 1) / np.maximum(times, 1)), 0.0)


def _last(evidence: Evidence, offers: Offers) -> int | None:
    """The place of a simple truth that every demonstration makes true by its last step."""
    for row in offers.forms.rows:
        if row.form == forms.TRUTH and row.price <= 1:
            column = offers.values[:, row.concept] > 0.5
            if all(len(path) > 1 and column[path[-1]] and not column[path[:-1]].any() for path in evidence.paths):
                return row.concept
    return None
