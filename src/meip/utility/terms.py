"""The ranking utility g = w . f(concepts): one readable curve per concept, continuous and piecewise linear.

A concept's value enters through a basis that depends on its kind:

    boolean    one weight on the indicator, no knots
    real       hat functions (linear B-spline) on knots: a weight is the curve's height at its knot, clamped outside
    count      the same, with a knot per integer where there are few
    linear     one weight on the value itself: for numbers that are larger in larger problems than any seen; a single
               knot, if there is one, is where the line is 0 (and so what a missing value counts as)
    table      one weight per code seen in the demonstrations; a code never seen adds nothing

A missing value (an aggregate over nothing) makes every basis function 0, so it adds nothing either.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Annotated, Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from pydantic import PlainSerializer, PlainValidator, WithJsonSchema

from meip.base.arrays import Bools, Floats
from meip.base.documents import Strict, document
from meip.base.errors import LearningError, did_you_mean
from meip.concepts.language import Concept
from meip.concepts.operations import Operation, operations
from meip.concepts.parser import parse_concept

__all__ = [
    "Edit", "Kind", "Utility", "UtilityTerm", "basis", "curve", "edit", "features", "place_knots", "with_weights",
]  # fmt: skip

Kind = Literal["boolean", "count", "real", "table", "linear"]
REMEMBERED = 4096  # concepts that were read last
PLAIN = ("boolean", "linear")  # kinds with one weight and no knots


def _concept(value: Any) -> Concept:
    """In documents a concept is its text."""
    if isinstance(value, Concept):
        return value
    if not isinstance(value, str):
        raise ValueError("a concept is written as a text")
    return _read(value, operations())


@lru_cache(maxsize=REMEMBERED)
def _read(text: str, known: tuple[Operation, ...]) -> Concept:
    """A task has the same concepts in its utility and in each of its held-out models."""
    return parse_concept(text)


ConceptText = Annotated[
    Concept, PlainValidator(_concept), PlainSerializer(str, return_type=str), WithJsonSchema({"type": "string"})
]

SHOWN = 6  # terms in a short text
KNOTS = 6  # nine over-fit garments of other proportions


@dataclass(frozen=True)
class UtilityTerm(Strict):
    """One concept's part of g. Without weights it is a basis still to be fitted (all weights 0)."""

    concept: ConceptText = field(metadata={"as_text": True})
    kind: Kind
    knots: tuple[float, ...] = ()
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        _check_knots(self.kind, self.knots)
        if not self.weights:
            object.__setattr__(self, "weights", (0.0,) * self.size)
        if len(self.weights) != self.size:
            raise LearningError(
                f"concept {self.concept}: a {self.kind} term with {len(self.knots)} knots has {self.size} weights, "
                f"got {len(self.weights)}"
            )
        if not np.isfinite(self.weights).all():
            raise LearningError(f"concept {self.concept}: weights must be finite, got {self.weights}")

    @property
    def size(self) -> int:
        """How many weights the term has."""
        return 1 if self.kind in PLAIN else len(self.knots)

    @property
    def middle(self) -> float:
        """Of a linear term: where it adds nothing."""
        return self.knots[0] if self.kind == "linear" and self.knots else 0.0

    @property
    def influence(self) -> float:
        """How much g can differ through this concept alone: the height of its curve."""
        heights = curve(self)[1]
        return float(heights.max() - heights.min())


@dataclass(frozen=True)
class Edit(Strict):
    """A change of weights made by hand, and why."""

    concept: str
    before: tuple[float, ...]
    after: tuple[float, ...]
    note: str = ""


@document("utility")
@dataclass(frozen=True)
class Utility(Strict):
    """g as a sum of terms, one per concept, with the edits made by hand since it was learned."""

    terms: tuple[UtilityTerm, ...]
    edits: tuple[Edit, ...] = ()

    def __post_init__(self) -> None:
        names = [str(term.concept) for term in self.terms]
        for name in names:
            if names.count(name) > 1:
                raise LearningError(f"concept {name} has two terms in one utility; add their weights up")

    def __repr__(self) -> str:
        shown = "; ".join(f"{t.concept}: {', '.join(f'{w:+.3g}' for w in t.weights)}" for t in self.terms[:SHOWN])
        more = f"; ... ({len(self.terms)} in all)" if len(self.terms) > SHOWN else ""
        return f"Utility({shown}{more})"

    @property
    def concepts(self) -> tuple[Concept, ...]:
        return tuple(term.concept for term in self.terms)

    @property
    def weights(self) -> Floats:
        """All weights, term after term [M]."""
        return np.array([w for term in self.terms for w in term.weights], dtype=np.float64)

    def rank(self, values: ArrayLike, missing: ArrayLike | None = None) -> Floats:
        """g of every state [S] from the values of the concepts [S, K], in the order of the terms."""
        found = features(self.terms, values, missing)
        return np.asarray(found @ self.weights, dtype=np.float64)


def place_knots(values: ArrayLike, kind: Kind, n: int = KNOTS, missing: Bools | None = None) -> tuple[float, ...]:
    """Where a concept's curve may bend, from its values in demonstrations (and pools).

    Booleans and linear terms need none; tables have one per code; counts one per integer between the extremes while
    there are at most n; everything else n quantiles, of which equal ones count once.
    """
    if kind in PLAIN:
        return ()
    if n < 2:
        raise LearningError(f"a curve needs at least 2 knots, got n = {n}")
    column = np.asarray(values, dtype=np.float64).ravel()
    present = column[~missing.ravel()] if missing is not None else column
    present = present[np.isfinite(present)]
    if present.size == 0:
        raise LearningError(f"no value to place knots on: all {column.size} values of the concept are missing")
    if kind == "table":
        return tuple(float(code) for code in np.unique(present))
    low, high = float(present.min()), float(present.max())
    if kind == "count" and high - low < n:
        return tuple(float(k) for k in range(int(low), int(high) + 1))
    quantiles = np.quantile(present, np.linspace(0.0, 1.0, n))
    apart = np.concatenate(([True], np.diff(quantiles) > 1e-9 * max(high - low, 1.0)))
    return tuple(float(knot) for knot in quantiles[apart])


def basis(values: ArrayLike, missing: ArrayLike | None, kind: Kind, knots: Sequence[float] = ()) -> Floats:
    """The basis functions of one concept over states: values [S], missing [S] (None: none is) -> [S, m]."""
    column = np.asarray(values, dtype=np.float64)
    absent = np.zeros(column.shape, dtype=np.bool_) if missing is None else np.asarray(missing, dtype=np.bool_)
    if column.ndim != 1 or absent.shape != column.shape:
        raise LearningError(f"one value and one missing mark per state: got shapes {column.shape} and {absent.shape}")
    if np.isnan(column[~absent]).any():
        raise LearningError("a concept is NaN in a state where it is not marked as missing")
    _check_knots(kind, knots)
    column = np.where(absent, 0.0, column)
    if kind in PLAIN:
        found = column[:, None] - (knots[0] if len(knots) else 0.0)
    elif kind == "table":
        found = (column[:, None] == np.asarray(knots)[None, :]).astype(np.float64)
    else:
        found = _hats(column, np.asarray(knots, dtype=np.float64))
    found[absent] = 0.0
    return found


def features(terms: Sequence[UtilityTerm], values: ArrayLike, missing: ArrayLike | None = None) -> Floats:
    """All basis functions side by side: values [S, K] of the terms' concepts -> F [S, M], so that g = F @ weights."""
    table = np.asarray(values, dtype=np.float64)
    absent = np.zeros(table.shape, dtype=np.bool_) if missing is None else np.asarray(missing, dtype=np.bool_)
    if table.ndim != 2 or table.shape[1] != len(terms) or absent.shape != table.shape:
        raise LearningError(
            f"{len(terms)} concepts need values and missing marks of shape [S, {len(terms)}], "
            f"got {table.shape} and {absent.shape}"
        )
    parts = [basis(table[:, k], absent[:, k], term.kind, term.knots) for k, term in enumerate(terms)]
    return np.hstack(parts) if parts else np.zeros((table.shape[0], 0))


def with_weights(terms: Sequence[UtilityTerm], weights: ArrayLike) -> Utility:
    """The utility of these terms with fitted weights [M], term after term."""
    flat = np.asarray(weights, dtype=np.float64)
    sizes = [term.size for term in terms]
    if flat.shape != (sum(sizes),):
        raise LearningError(f"{len(terms)} terms have {sum(sizes)} weights in all, got an array of shape {flat.shape}")
    parts = np.split(flat, np.cumsum(sizes)[:-1]) if sizes else []
    return Utility(
        tuple(
            dataclasses.replace(term, weights=tuple(float(w) for w in part))
            for term, part in zip(terms, parts, strict=True)
        )
    )


def curve(term: UtilityTerm) -> tuple[Floats, Floats]:
    """The term as points (value of the concept, what it adds to g); linear in between except for tables.

    A linear term goes on beyond its two points.
    """
    if term.kind in PLAIN:
        low = term.middle
        return np.array([low, low + 1.0]), np.array([0.0, term.weights[0]])
    return np.array(term.knots), np.array(term.weights)


def edit(utility: Utility, concept: Concept | str, *, weights: Sequence[float], note: str = "") -> Utility:
    """The same utility with one concept's weights set by hand; the edit is kept beside the ones before it."""
    name = str(concept)
    names = [str(term.concept) for term in utility.terms]
    if name not in names:
        raise LearningError(f"the utility has no concept {name!r}; {did_you_mean(name, names)}")
    place = names.index(name)
    before = utility.terms[place]
    after = dataclasses.replace(before, weights=tuple(float(w) for w in weights) or (np.nan,))
    terms = (*utility.terms[:place], after, *utility.terms[place + 1 :])
    return Utility(terms, (*utility.edits, Edit(name, before.weights, after.weights, note)))


def _check_knots(kind: str, knots: Sequence[float]) -> None:
    if kind not in get_args(Kind):
        raise LearningError(f"unknown kind of concept {kind!r}; known: {', '.join(get_args(Kind))}")
    if kind in PLAIN and len(knots) > (kind == "linear"):
        most = "at most one knot" if kind == "linear" else "no knots"
        raise LearningError(f"a {kind} concept has one weight and {most}, got {len(knots)} knots")
    if (kind not in PLAIN and not len(knots)) or (
        not np.isfinite(knots).all() or any(b <= a for a, b in pairwise(knots))
    ):
        raise LearningError(
            f"knots of a {kind} concept must be finite and increasing, at least one: got {tuple(knots)}"
        )


def _hats(column: Floats, knots: Floats) -> Floats:
    """Linear B-spline: at a value between two knots their two functions share 1; outside, the nearest has it all."""
    found = np.zeros((column.size, knots.size))
    if knots.size == 1:
        found[:, 0] = 1.0
        return found
    left = np.clip(np.searchsorted(knots, column, side="right") - 1, 0, knots.size - 2)
    share = np.clip((column - knots[left]) / (knots[left + 1] - knots[left]), 0.0, 1.0)
    rows = np.arange(column.size)
    found[rows, left] = 1.0 - share
    found[rows, left + 1] = share
    return found
