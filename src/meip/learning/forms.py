"""The forms in which a concept can matter: candidates for statements, evaluated together as columns.

Every form is a concept of the language again (`Forms.concept`), with one weight: a truth, or a line.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.concepts.language import Composite, Concept, Constant
from meip.concepts.operations import TIE
from meip.utility.terms import UtilityTerm

__all__ = ["Form", "Forms"]

TRUTH, LINE, EQUAL, LEAST, ABOVE, BELOW, BEND, UNLESS, BOTH, APART, MORE, SAME, AT_MOST = range(13)
TRUE_OR_FALSE = (TRUTH, EQUAL, LEAST, ABOVE, BELOW, UNLESS, BOTH, APART, MORE, SAME, AT_MOST)


class Form(NamedTuple):
    """One way in which a concept, or two, may matter."""

    form: int
    concept: int
    """Its place among the concepts."""
    other: int = -1
    number: float = 0.0
    """What the form compares with; the middle of a line."""
    scale: float = 1.0
    """By what a line is divided; of a truth only its weight is, where chance decides about it."""
    price: float = 1.0
    """Complexity, and 1 for each number that is named."""
    given: bool = False
    """Is it compared with what the world gives?"""


@dataclass(frozen=True)
class Forms:
    """Forms of some concepts."""

    concepts: Sequence[Concept]
    rows: Sequence[Form]

    def __len__(self) -> int:
        return len(self.rows)

    def __add__(self, other: Forms) -> Forms:
        return Forms(self.concepts, [*self.rows, *other.rows])

    def take(self, chosen: Sequence[int] | Ints) -> Forms:
        return Forms(self.concepts, [self.rows[int(i)] for i in chosen])

    @property
    def kinds(self) -> Ints:
        return np.array([row.form for row in self.rows], np.int64)

    @property
    def prices(self) -> Floats:
        return np.array([row.price for row in self.rows], np.float64)

    def columns(self, values: Floats) -> Floats:
        """All forms [S, F] from the values of the concepts [S, K], NaN where they are missing."""
        kinds = self.kinds
        found = np.zeros((len(values), len(self.rows)))
        for form in np.unique(kinds):
            where = np.flatnonzero(kinds == form).tolist()
            rows = [self.rows[j] for j in where]
            k = np.array([row.concept for row in rows], np.int64)
            o = np.array([row.other for row in rows], np.int64)
            number = np.array([row.number for row in rows], np.float64)
            scale = np.array([row.scale for row in rows], np.float64)
            with np.errstate(invalid="ignore"):
                found[:, where] = _evaluated(int(form), values, k, o, number, scale)
        return found

    def concept(self, j: int) -> Concept:
        """The form as a concept of the language."""
        row = self.rows[j]
        one = self.concepts[row.concept]
        number = Constant(row.number)
        if row.form in (TRUTH, LINE):
            return one
        if row.form == EQUAL:
            return Composite("=", (one, number))
        if row.form == LEAST:
            return Composite("<=", (number, one))
        if row.form == ABOVE:
            return _no(Composite("<=", (one, number)))
        if row.form == BELOW:
            return _no(Composite("<=", (number, one)))
        if row.form == BEND:
            return Composite("max", (Composite("-", (one, number)), Constant(0.0)))
        two = self.concepts[row.other]
        if row.form == UNLESS:
            return Composite("and", (one, _no(two)))
        if row.form == BOTH:
            return Composite("and", (one, two))
        if row.form == SAME:
            return Composite("=", (one, two))
        if row.form == MORE:
            return _no(Composite("<=", (one, two)))
        if row.form == AT_MOST:
            return Composite("<=", (one, two))
        return _no(
            Composite("<=", (Composite("max", (Composite("-", (one, two)), Composite("-", (two, one)))), number))
        )

    def term(self, j: int, weight: float) -> UtilityTerm:
        """The form with its weight, as a term of a utility."""
        row = self.rows[j]
        if row.form in TRUE_OR_FALSE:
            return UtilityTerm(self.concept(j), "boolean", (), (weight / row.scale,))
        middle = (row.number,) if row.form == LINE else (0.0,)
        return UtilityTerm(self.concept(j), "linear", middle, (weight / row.scale,))


def _no(concept: Concept) -> Composite:
    return Composite("not", (concept,))


def _evaluated(form: int, values: Floats, k: Ints, o: Ints, number: Floats, scale: Floats) -> Floats | Bools:
    one = values[:, k]
    if form == TRUTH:
        return np.nan_to_num(one)
    if form == LINE:
        return np.where(np.isnan(one), 0.0, (one - number) / scale)
    if form == BEND:
        return np.where(np.isnan(one), 0.0, np.maximum(one - number, 0.0) / scale)
    if form == EQUAL:
        return np.abs(one - number) <= TIE
    if form == LEAST:
        return one >= number - TIE
    if form == ABOVE:
        return one > number + TIE
    if form == BELOW:
        return one < number - TIE
    if form in (MORE, SAME, AT_MOST):
        two = values[:, o]
        same = np.abs(one - two) <= TIE
        return same if form == SAME else one > two + TIE if form == MORE else (one < two) | same
    one, two = np.nan_to_num(one), np.nan_to_num(values[:, o])
    if form == UNLESS:
        return one * (1 - two)
    if form == BOTH:
        return one * two
    return np.abs(one - two) > number + TIE
