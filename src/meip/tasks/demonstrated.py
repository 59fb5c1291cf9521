"""What demonstrations show by themselves: which concepts came about, and in which order. No utility has a part in it.

Step 4 of the paper's protocol compares planned behaviour with the demonstrations. A concept came about where it did not
hold in the beginning of any demonstration and did later in each; of those that differ only in their quantifier the
strongest is taken: all, else exactly as many as ever, else some.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.base.documents import Strict
from meip.concepts.bank import ConceptBank
from meip.concepts.check import slot
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept, Quantified, exactly
from meip.concepts.values.columns import Programs, values_at
from meip.model.choices import Replayed, Walk
from meip.model.domain import Domain
from meip.model.graph import StateGraph
from meip.utility.terms import ConceptText

__all__ = ["Before", "Demonstrated", "Shown", "demonstrated_by", "times"]

LEVELS = 2  # the second where the first shows no order
MOST = 2000  # concepts that are looked at
NEVER = np.inf


@dataclass(frozen=True)
class Shown(Strict):
    """A concept that came about."""

    concept: ConceptText = field(metadata={"as_text": True})
    lasting: bool
    """Did it hold in the end?"""


@dataclass(frozen=True)
class Before(Strict):
    """Two concepts, by their number: one came about before the other."""

    first: int
    then: int


@dataclass(frozen=True)
class Demonstrated(Strict):
    """Concepts that came about in the demonstrations, which of them stayed to the end, and their order."""

    shown: tuple[Shown, ...] = ()
    order: tuple[Before, ...] = ()

    @property
    def concepts(self) -> tuple[Concept, ...]:
        return tuple(one.concept for one in self.shown)

    @property
    def lasting(self) -> tuple[bool, ...]:
        return tuple(one.lasting for one in self.shown)


def demonstrated_by(shown: Replayed, tolerance: float = 0.0) -> Demonstrated:
    """What all demonstrations have in common, up to a share that may be wrong; those that chance spoilt are left out
    where others are left."""
    walks = [walk for walk in shown.walks if not _spoilt(shown.graphs[walk.graph], walk)] or list(shown.walks)
    exceptions = int(tolerance * len(walks) + 1e-9)
    found = Demonstrated()
    for concepts in _levels(shown.domain):
        found = _found(shown, walks, concepts, len(walks) - exceptions)
        if found.order:
            break
    return found


def _spoilt(graph: StateGraph, walk: Walk) -> bool:
    """Did chance decide against what was meant: is it marked, or was something else likelier?"""
    plan = walk.plan
    likeliest = (
        max(p for p, _ in graph.outcomes_of(s, a)) for s, a in zip(walk.states[:-1], plan.actions, strict=True)
    )
    return any(plan.chance_failures) or any(p < q - 1e-9 for p, q in zip(plan.probabilities, likeliest, strict=True))


def _levels(domain: Domain) -> Iterator[list[Quantified]]:
    grammar = Grammar(aggregators=(), negation=False, permutation=False, closure=False, max_level=LEVELS)
    known: list[Quantified] = []
    for _, concepts, _ in ConceptBank(domain, grammar).levels():
        if len(known) + len(concepts) > MOST and known:
            return
        known += [concept for concept in concepts if isinstance(concept, Quantified)]
        yield known


def _found(shown: Replayed, walks: Sequence[Walk], concepts: Sequence[Quantified], enough: int) -> Demonstrated:
    programs = Programs(shown.domain)
    tables = [values_at(shown.graphs[w.graph], programs(concepts), w.states)[0] for w in walks]
    chosen: dict[Hashable, tuple[int, Concept, Floats, bool]] = {}
    for k, concept in enumerate(concepts):
        for strength, candidate, columns in _readings(concept, [table[:, k] for table in tables]):
            when = np.array([times(column[:, None])[0] for column in columns])
            if ((when > 0) & (when < NEVER)).sum() < enough:
                continue
            lasting = int(sum(bool(column[-1]) for column in columns)) >= enough
            rank, key = strength + 3 * lasting, slot(concept)
            if key not in chosen or rank > chosen[key][0]:
                chosen[key] = rank, candidate, when, lasting
    kept = _different(list(chosen.values()))
    order = [
        Before(i, j)
        for i, (_, a, first, _) in enumerate(kept)
        for j, (_, b, then, _) in enumerate(kept)
        if i != j and int((first < then).sum()) >= enough and not _part(a, b)
    ]
    return Demonstrated(tuple(Shown(one[1], one[3]) for one in kept), tuple(order))


def _readings(concept: Quantified, columns: Sequence[Floats]) -> Iterator[tuple[int, Concept, list[Bools]]]:
    """A quantified concept as something that is true or not, with its strength; a count as its last value."""
    if concept.quantifier != "count":
        yield 2 if concept.quantifier == "all" else 0, concept, [column > 0.5 for column in columns]
        return
    last = {float(column[-1]) for column in columns}
    if len(last) == 1 and (k := last.pop()).is_integer():
        yield 1, exactly(concept, int(k)), [column == k for column in columns]


def _different(found: Sequence[tuple[int, Concept, Floats, bool]]) -> list[tuple[int, Concept, Floats, bool]]:
    """Of concepts that came about at the same times the simplest."""
    kept: dict[tuple[bytes, bool], tuple[int, Concept, Floats, bool]] = {}
    for one in sorted(found, key=lambda one: (one[1].complexity, -one[0])):
        kept.setdefault((one[2].tobytes(), one[3]), one)
    return list(kept.values())


def _part(one: Concept, whole: Concept) -> bool:
    """Does the whole say the part anyway: that all are so, and that all of a kind are?"""
    if not (isinstance(one, Quantified) and isinstance(whole, Quantified)):
        return False
    return one.value == whole.value and one.scope is not None and whole.scope is None


def times(true: Bools) -> Floats:
    """When each concept came about along a way [states, concepts]: to stay, if it holds in the end; else at first."""
    steps = len(true)
    since = steps - np.where(true.all(axis=0), steps, (~true[::-1]).argmax(axis=0))
    return np.where(true[-1], since, np.where(true.any(axis=0), true.argmax(axis=0), NEVER)).astype(np.float64)
