"""What the world made everybody do first to each single thing: no cup gets tea before it stands on a saucer.

No choice could break such an order, so that nothing speaks for it but that it was always so. It is kept, as other
orders are that the world enforced, and told as what it is.
"""

from __future__ import annotations

from itertools import product

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.concepts.bank import ConceptBank
from meip.concepts.canonical import chain, negated
from meip.concepts.check import signature
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept, Negation, Quantified, Term
from meip.learning.evidence import Evidence

__all__ = ["always_ready"]

SIMPLE = Grammar(negation=False, conjunction=False, closure=False, restriction=True, max_level=1)


def always_ready(evidence: Evidence) -> list[Concept]:
    """Concepts "some is b and not a" that nobody could bring about: every single thing was a before it became b.

    Two demonstrations at least show it: more things are b in their end than were a at their beginning, and before each
    step that makes one b, one is a and not yet b. What follows from two others is left out.
    """
    plain = [t for t in ConceptBank(evidence.domain, SIMPLE).terms(1) if len(signature(t, evidence.domain)[0]) == 1]
    every = [*plain, *map(negated, plain)]
    pairs = [(b, a) for b, a in product(plain, every) if _may_be(evidence, b, a)]
    if not pairs:
        return []
    number = dict(zip(every, _matrix(evidence, [Quantified("count", t) for t in every]).T, strict=True))
    broken = [Quantified("some", chain((b, negated(a)))) for b, a in pairs]
    never = np.logical_and.reduce(_matrix(evidence, broken) < 0.5)
    waiting = _matrix(evidence, [Quantified("some", chain((a, negated(b)))) for b, a in pairs]) > 0.5
    least = min(2, evidence.kinds)
    found = {
        pair: broken[k]
        for k, pair in enumerate(pairs)
        if never[k] and _shown(evidence, number[pair[0]], number[pair[1]], waiting[:, k]) >= least
    }
    return [c for (b, a), c in found.items() if not any((b, m) in found and (m, a) in found for m in every)]


def _matrix(evidence: Evidence, concepts: list[Quantified]) -> Floats:
    return np.nan_to_num(evidence.denotation.matrix(concepts)[0])


def _may_be(evidence: Evidence, then: Term, first: Term) -> bool:
    """Are these two different things to say about one class?"""
    plain = first.term if isinstance(first, Negation) else first
    return plain != then and signature(then, evidence.domain)[0] == signature(first, evidence.domain)[0]


def _shown(evidence: Evidence, then: Floats, first: Floats, waiting: Bools) -> int:
    """In how many kinds of demonstrations something became the first, and after that the second."""
    count = 0
    for kind in range(evidence.kinds):
        path = evidence.paths[evidence.representative(kind)]
        steps = np.flatnonzero(np.diff(then[path]) > 0.5)
        count += bool(len(steps) and waiting[path[steps]].all() and then[path[-1]] > first[path[0]])
    return count
