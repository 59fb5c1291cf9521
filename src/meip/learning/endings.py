"""Endings: what was so in the end of every demonstration, and not all the time. Told; no plan goes by it."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from math import comb, log

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.concepts.check import signature, slot
from meip.concepts.english import english
from meip.concepts.language import Aggregated, Concept, Negation, Primitive, Quantified, Term, walk
from meip.learning.evidence import Evidence
from meip.utility.preferences import Statement

__all__ = ["always_in_the_end", "with_endings"]

MOST = 6
SURE = 2.0  # nats: that all of a kind are so is no chance where some others are not


def always_in_the_end(evidence: Evidence, concepts: Sequence[Concept], values: Floats) -> list[Concept]:
    """The simplest truths that held in every end and in no beginning, and "all of a kind" where not all are so.

    That some are so is told only where the last step made it true: on the way it may come by itself. What came true
    first is told first.
    """
    true = np.nan_to_num(values) > 0.5
    ended = np.logical_and.reduce([true[path[-1]] for path in evidence.paths])
    fresh = ~np.logical_or.reduce([true[path[0]] for path in evidence.paths])
    found: dict[Hashable, Concept] = {}
    times: dict[Concept, float] = {}
    for k in np.flatnonzero(ended & fresh):
        concept = concepts[int(k)]
        if not isinstance(concept, Quantified) or concept.quantifier == "count" or concept.complexity > 1:
            continue
        times[concept] = _time(evidence, true[:, k])
        if concept.quantifier == "all":
            found[slot(concept)] = concept
        elif not signature(concept.value, evidence.domain)[0] or times[concept] == 1:
            found.setdefault(slot(concept), concept)
    said = {c.value for c in found.values() if isinstance(c, Quantified)}
    simple = {c.value: None for c in concepts if isinstance(c, Quantified) and c.quantifier == "some"}
    kinds = [c.scope for c in concepts if isinstance(c, Quantified) and c.scope is not None]
    for value in simple:
        if value not in said and Quantified("all", value).complexity == 1 and not _is_static(value, evidence):
            times |= _of_a_kind(evidence, value, [*_words(evidence), *kinds], said)
    readings: dict[str, Concept] = {}
    chosen = [c for c in times if c in found.values() or (isinstance(c, Quantified) and c.scope is not None)]
    for concept in sorted(chosen, key=lambda c: times[c]):
        readings.setdefault(english(concept, evidence.domain), concept)  # one of those that read the same
    return list(readings.values())[:MOST]


def with_endings(found: Sequence[Statement], ends: Sequence[Concept], sure: float) -> list[Statement]:
    """Statements, and what was always so in the end; of a guess and an ending that say the same the ending is told,
    and that some are so is left out where more is said about them."""
    firm = [s for s in found if s.kind == "done" or (s.kind == "wanted" and s.evidence >= sure)]
    said, about = {str(s.concept) for s in firm}, {slot(s.concept) for s in firm}
    known = {str(concept) for concept in ends}
    kept = [s for s in found if s in firm or s.kind != "wanted" or str(s.concept) not in known]
    for concept in ends:
        some = isinstance(concept, Quantified) and concept.quantifier == "some"
        if str(concept) not in said and not (some and slot(concept) in about):
            kept.append(Statement("done", concept, 0.0, 0.0))
    return kept


def _time(evidence: Evidence, column: Bools) -> float:
    """When it came true to stay, as a share of the demonstration: the mean."""
    after = [np.flatnonzero(~column[path]) for path in evidence.paths]
    shares = [(a[-1] + 1) / (len(path) - 1) if len(a) else 0.0 for a, path in zip(after, evidence.paths, strict=True)]
    return float(np.mean(shares))


def _words(evidence: Evidence) -> list[Term]:
    """Every predicate of one place, and its opposite."""
    names = [Primitive(f.name) for f in evidence.domain.fluents if len(f.classes) == 1 and not f.real]
    return [term for name in names for term in (name, Negation(name))]


def _of_a_kind(evidence: Evidence, value: Term, kinds: Sequence[Term], said: set[Term]) -> dict[Concept, float]:
    """All(value | kind) that holds in every end, and in every demonstration at some time did not: the best kind.

    A kind never changes; if there is none, what another word is not true of: all that are not broken are delivered.
    """
    classes = signature(value, evidence.domain)[0]
    if len(classes) != 1:
        return {}
    fitting = [kind for kind in dict.fromkeys(kinds) if signature(kind, evidence.domain)[0] == classes]
    static = [kind for kind in fitting if _is_static(kind, evidence)]
    others = [
        kind
        for kind in fitting
        if isinstance(kind, Negation) and isinstance(kind.term, Primitive) and kind.term not in (value, *said)
    ]
    for chosen in (static, [kind for kind in others if kind not in static]):
        tried = [Quantified("all", value, kind) for kind in chosen]
        if not tried:
            continue
        true = np.nan_to_num(evidence.denotation.matrix(tried)[0]) > 0.5
        held = [all(true[p[-1], k] and not true[p, k].all() for p in evidence.paths) for k in range(len(tried))]
        nats = np.where(held, _nats(evidence, value, chosen), -np.inf) - np.log(len(tried))
        best = max(range(len(tried)), key=lambda k: (nats[k], -tried[k].complexity))
        if nats[best] > SURE:
            said.add(value)
            return {tried[best]: _time(evidence, true[:, best])}
    return {}


def _is_static(term: Term, evidence: Evidence) -> bool:
    fluents = [node.name for node in walk(term) if isinstance(node, Primitive)]
    return all(evidence.domain.fluent(name).static for name in fluents)


def _nats(evidence: Evidence, value: Term, scopes: Sequence[Term]) -> Floats:
    """For each scope: how rarely as many entities as are so in the end would by chance have all of it among them."""
    size = [Quantified("count", value), Aggregated("mean", value), *(Quantified("count", scope) for scope in scopes)]
    table = evidence.denotation.matrix(size)[0]
    nats = np.zeros(len(scopes))
    for kind in range(evidence.kinds):
        many, share, *each = table[evidence.paths[evidence.representative(kind)][-1]].tolist()
        every = round(many / share) if share > 0 else 0
        nats += [_rarity(every, int(many), int(q)) for q in each]
    return nats


def _rarity(every: int, many: int, kind: int) -> float:
    """Nats: that some `many` of them have all of a kind among them; 0 where they do not."""
    return log(comb(every, many) / comb(every - kind, many - kind)) if kind <= many else 0.0
