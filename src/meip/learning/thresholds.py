"""Where a quantity of single things begins to matter: "moisture at least 0.5" is a predicate like any other.

Which numbers are worth naming is read off the choices: a number halfway between two values that were met, at which the
likelihood of the choices rises most along how many are so. Candidates pay for each number that they name.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from meip.base.arrays import Floats
from meip.concepts.canonical import chain
from meip.concepts.language import AtLeast, Concept, Primitive, Quantified, Term
from meip.learning.evidence import Evidence
from meip.model.domain import Domain, FactBlock, Fluent

__all__ = ["number_between", "numbers_between", "thresholds", "values_of"]

NUMBERS = 24  # of each function that are tried
STEEP = 2.5  # the least slope, in units of what chance alone would give it


def thresholds(evidence: Evidence) -> tuple[tuple[str, float], ...]:
    """Functions of one argument, with the number from which on more is most wanted, or avoided.

    They are about things that last: where they come and go, as the parts of a cloth do when it is folded, a number says
    more about those that were shown than about what was done with them.
    """
    found: list[tuple[str, float]] = []
    for fluent in evidence.domain.functions:
        fits = fluent.arity == 1 and _lasts(evidence, fluent)
        numbers = numbers_between(values_of(evidence.blocks, fluent)) if fits else []
        if numbers:
            slopes = _slopes(evidence, fluent, numbers)
            chosen = {k for sign in (1, -1) if (k := _steepest(sign * slopes)) is not None}
            found += [(fluent.name, numbers[k]) for k in sorted(chosen)]
    return tuple(found)


def _lasts(evidence: Evidence, fluent: Fluent) -> bool:
    """Are there as many things of its class in all states of a world?"""
    found: dict[int, set[int]] = {}
    for block in evidence.blocks:
        world = evidence.states[int(block.states[0])][0]
        found.setdefault(world, set()).update(int(block.counts[name]) for name in fluent.classes)
    return all(len(counts) <= 1 for counts in found.values())


def values_of(blocks: Sequence[FactBlock], fluent: Fluent) -> Floats:
    """All values of a function that were met."""
    tables = [np.asarray(block.tables[fluent.name], np.float64).reshape(-1) for block in blocks]
    every = np.concatenate([np.zeros(0), *tables])
    return np.unique(np.round(every[np.isfinite(every)], 9))


def numbers_between(values: Floats) -> list[float]:
    """Numbers halfway between neighbours, with as few digits as they need; of many some."""
    if len(values) < 3:
        return []
    places = np.arange(len(values) - 1)
    if len(places) > NUMBERS:
        places = np.unique(np.round(np.linspace(0, len(values) - 2, NUMBERS)).astype(np.int64))
    return [number_between(float(values[k]), float(values[k + 1])) for k in places]


def number_between(low: float, high: float) -> float:
    """A number in the middle of two, rounded as far as it stays well between them."""
    middle, room = (low + high) / 2, (high - low) / 4
    for digits in range(-int(np.floor(np.log10(max(abs(middle), room)))), 16):
        if abs(round(middle, digits) - middle) <= room:
            return round(middle, digits)
    return middle


def _slopes(evidence: Evidence, fluent: Fluent, numbers: Sequence[float]) -> Floats:
    """How the likelihood rises along how many are so, alone and among those of a kind: [kinds, numbers]."""
    kinds = (None, *_kinds(evidence.domain, fluent))
    terms = [AtLeast(Primitive(fluent.name), number) for number in numbers]
    return np.array([_slope(evidence, [_many(term, kind) for term in terms]) for kind in kinds])


def _kinds(domain: Domain, fluent: Fluent) -> list[Term]:
    """Predicates of the same class that change."""
    return [Primitive(p.name) for p in domain.predicates if p.classes == fluent.classes and not p.static]


def _many(term: Term, kind: Term | None) -> Concept:
    whole = term if kind is None else chain((term, kind))
    return Quantified("count", whole)


def _slope(evidence: Evidence, concepts: Sequence[Concept]) -> Floats:
    """The rise of the likelihood along columns, where nothing is known, in units of what chance alone would give it."""
    changes = evidence.change(np.nan_to_num(evidence.denotation.matrix(concepts)[0]))
    mean = np.add.reduceat(changes, evidence.start[:-1], axis=0) / np.diff(evidence.start)[:, None]
    spread = ((changes - mean[evidence.group]) ** 2 / np.diff(evidence.start)[evidence.group, None]).sum(axis=0)
    rise = (changes[evidence.chosen] - mean).sum(axis=0)
    return np.asarray(rise / np.sqrt(np.maximum(spread, 1e-9)), np.float64)


def _steepest(slopes: Floats) -> int | None:
    """The place of the number with the steepest slope, of equal ones the middle; None where none is steep."""
    best = slopes.max(axis=0)
    if best.max() < STEEP:
        return None
    equal = np.flatnonzero(best > best.max() - 1e-9)
    run = equal[: 1 + int(np.argmin(np.append(np.diff(equal) == 1, False)))]
    return int(run[len(run) // 2])
