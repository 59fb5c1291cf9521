"""Which terms and concepts are worth scoring, judged by their values: relevance, de-duplication.

Everything here works on a matrix of values [states, concepts] (missing values marked in a second one), so that it
does not matter how the values were computed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.concepts.language import Composite, Concept, Term, constants, exactly
from meip.concepts.operations import TIE
from meip.concepts.values.denotation import Denotation

__all__ = ["Distinct", "Pruner", "deduplicate", "exactly_seen", "precedence", "relevant", "unless"]


def _changes(values: Floats, missing: Bools | None, path: Ints) -> tuple[Floats, Bools]:
    """Differences along a demonstration, and where a value appears or goes missing."""
    along = values[path]
    if missing is None:
        return np.diff(along, axis=0), np.zeros((max(len(path) - 1, 0), values.shape[1]), dtype=np.bool_)
    gaps = missing[path]
    along = np.where(gaps, 0.0, along)
    steps = np.diff(along, axis=0)
    steps[gaps[1:] | gaps[:-1]] = 0.0
    return steps, gaps[1:] != gaps[:-1]


def relevant(values: Floats, demonstrations: Sequence[Ints], missing: Bools | None = None) -> Bools:
    """Which concepts [C] change within some demonstration. A demonstration lists rows of values [S, C], in order.

    A concept that is constant within every demonstration cannot rank their states, whatever its weight.
    """
    found = np.zeros(values.shape[1], dtype=np.bool_)
    for path in demonstrations:
        steps, gaps = _changes(values, missing, np.asarray(path, dtype=np.int64))
        found |= (np.abs(steps) > TIE).any(axis=0) | gaps.any(axis=0)
    return found


class Pruner:
    """Keeps one term of each different value over some states, and none that is empty or everything in all of them."""

    def __init__(self, denotation: Denotation) -> None:
        self.denotation = denotation
        self._known: set[tuple[Any, ...]] = set()

    def __call__(self, level: int, terms: tuple[Term, ...]) -> list[Term]:
        kept = []
        for term, key in zip(terms, self._fingerprints(terms), strict=True):
            if key is not None and key not in self._known:
                self._known.add(key)
                kept.append(term)
        return kept

    def _fingerprints(self, terms: Sequence[Term]) -> list[tuple[Any, ...] | None]:
        return self.denotation.fingerprints(terms)


@dataclass(frozen=True)
class Distinct:
    """Concepts with different value columns, and what was left out for each."""

    kept: tuple[int, ...]
    """Positions of the kept concepts, rising."""
    twins: tuple[tuple[int, ...], ...]
    """For each kept concept, the positions of those with the same column."""


def deduplicate(concepts: Sequence[Concept], values: Floats, missing: Bools | None = None) -> Distinct:
    """One concept for each different column of values [S, C] (missing included): the least complex, then the one with
    the fewest constants, then the first by its text."""
    table = np.where(missing, np.nan, values) if missing is not None else values
    columns = np.ascontiguousarray((table + 0.0).T)  # -0 becomes 0
    columns[np.isnan(columns)] = np.nan  # one bit pattern for missing
    groups: dict[bytes, list[int]] = {}
    for index in range(len(concepts)):
        groups.setdefault(columns[index].tobytes(), []).append(index)
    chosen: dict[int, tuple[int, ...]] = {}
    for members in groups.values():
        best = members[0] if len(members) == 1 else min(members, key=lambda i: _simplicity(concepts[i]))
        chosen[best] = tuple(i for i in members if i != best)
    kept = sorted(chosen)
    return Distinct(tuple(kept), tuple(chosen[i] for i in kept))


def _simplicity(concept: Concept) -> tuple[int, int, str]:
    return concept.complexity, len(constants(concept)), str(concept)


def exactly_seen(concept: Concept, values: Floats) -> tuple[Composite, ...]:
    """The concepts ``concept = k`` for each whole number k among these values, usually those in demonstrations."""
    seen = np.unique(values[np.isfinite(values)])
    return tuple(exactly(concept, int(k)) for k in seen if k >= 0 and float(k).is_integer())


def unless(late: Concept, early: Concept) -> Concept:
    """The concept "late and not early": the order is broken."""
    return Composite("and", (late, Composite("not", (early,))))


def precedence(concept: Concept) -> tuple[Concept, Concept] | None:
    """(a, b) where a concept has the form "b and not a", else None."""
    match concept:
        case Composite("and", (then, Composite("not", (first,)))):
            return first, then
    return None
