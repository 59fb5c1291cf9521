"""Pursuit on the ritual against the paper's Algorithm 2 taken literally: every candidate is learned anew.

The literal version scores a candidate by running Algorithm 1 for it from the start: replay the demonstrations, fit,
draw plans from the model, fit again, until the objective stands still; nothing is kept for the next candidate. Drawing
is by our own sampler, which is cheaper than the paper's tree search; objective, costs, candidates and order concepts
are ours as well, so that both should find the same. Both are timed in seconds of processor time.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from meip import Episode, Grammar, Pursuit
from meip.bench._compare import compare
from meip.concepts.bank import ConceptBank
from meip.concepts.check import slot
from meip.concepts.language import Composite, Concept, Quantified, constants
from meip.experiments.rites import Order, paper_demonstrations
from meip.learning.learner import Learner
from meip.learning.selection import exactly_seen, relevant
from meip.learning.shown import ShownPlans
from meip.search.pool import PoolOptions

__all__ = ["literal_pursuit", "run"]

TARGET = 100.0
KAPPA, CONSTANT_COST = 0.25, 0.5
SAME = 1e-9


def run(peers: bool = True, repeats: int = 7, order: Order = "free", objects: int = 5) -> list[dict[str, Any]]:
    """Seconds of both, the ratio, and how many concepts only one of them found. The literal version runs once."""
    episodes = paper_demonstrations(order, objects)
    work = f"pursuit on the ritual ({order}, {objects} objects)"
    clock = time.process_time
    rows = compare(work, "", lambda: Pursuit().fit(episodes), None, repeats=repeats, clock=clock).rows(
        clock="processor"
    )
    if not peers:
        return rows
    begun = clock()
    theirs = literal_pursuit(episodes)
    seconds = clock() - begun
    common = {"experiment": "bench", "work": work, "n": 1, "clock": "processor", "method": "Algorithm 2, literally"}
    difference = float(len(set(theirs) ^ set(Pursuit().fit(episodes).concepts_)))
    return [
        *rows,
        {**common, "metric": "theirs", "value": seconds},
        {**common, "metric": "ratio", "value": seconds / rows[0]["value"], "target": TARGET},
        {**common, "metric": "concepts that differ", "value": difference, "target": 0.0},
    ]


def literal_pursuit(episodes: Sequence[Episode]) -> tuple[Concept, ...]:
    """Add the best candidate from a free slot while (tau, posterior) grows; then require first what came first."""
    candidates = _candidates(ShownPlans(episodes))
    chosen: tuple[Concept, ...] = ()
    best = _key(episodes, chosen)
    while True:
        taken = {slot(c) for c in chosen}
        scored = [(_key(episodes, (*chosen, c)), c) for c in candidates if slot(c) not in taken]
        key, concept = max(scored, key=lambda pair: pair[0], default=(best, None))
        if concept is None or key[0] < best[0] or (key[0] == best[0] and key[1] <= best[1] + SAME):
            return (*chosen, *_order(ShownPlans(episodes), chosen))
        chosen, best = (*chosen, concept), key


def _key(episodes: Sequence[Episode], concepts: Sequence[Concept]) -> tuple[float, float]:
    """Algorithm 1 for a set of concepts: the demonstrations' tau, and J less the costs."""
    learned = Learner(concepts, pool=PoolOptions(exact_limit=0)).fit(episodes)
    cost = sum(KAPPA * max(c.complexity, 1) + CONSTANT_COST * len(constants(c)) for c in concepts)
    return round(learned.tau_, 9), learned.objective_ - cost


def _candidates(training: ShownPlans) -> list[Concept]:
    """Atomic concepts that change in the demonstrations; a count as "exactly k" for the numbers seen there."""
    _, concepts, _ = next(iter(ConceptBank(training.domain, Grammar.paper(max_level=1)).levels()))
    rows = training.demonstrated_rows()
    values, _ = training.matrix(concepts)
    found: list[Concept] = []
    for k, concept in enumerate(concepts):
        seen = values[np.concatenate(rows), k]
        counts = isinstance(concept, Quantified) and concept.quantifier == "count"
        found += exactly_seen(concept, seen[seen > 0]) if counts else (concept,)
    values, missing = training.matrix(found)
    return [c for c, moves in zip(found, relevant(values, rows, missing), strict=True) if moves]


def _order(training: ShownPlans, concepts: Sequence[Concept]) -> list[Concept]:
    """ "b and not a" for each a that becomes true before b in every demonstration."""
    values, _ = training.matrix(concepts)
    first = np.array(
        [np.where((v := values[rows] > 0.5).any(axis=0), v.argmax(axis=0), 99) for rows in training.demonstrated_rows()]
    )
    return [
        Composite("and", (b, Composite("not", (a,))))
        for j, b in enumerate(concepts)
        for i, a in enumerate(concepts)
        if (first[:, i] < first[:, j]).all()
    ]
