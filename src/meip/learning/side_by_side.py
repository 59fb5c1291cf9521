"""Two demonstrations side by side: what small worlds cannot show of larger ones.

Where all candidates are counts, two worlds side by side are one world, in which a step changes what it changes in its
own. Its demonstrations are known: any weaving of two that were shown. What either of them would do next is right; all
else that could be done in either of them was not chosen. So a shown step is also compared with what was not done in
another demonstration: while one thing is done, others are still to be done, or are done already.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from meip.base.arrays import Ints
from meip.learning.sparse import Problem, once

__all__ = ["PAIRS", "beside", "woven"]

PAIRS = 10  # pairs of demonstrations that are woven, drawn where there are more
WORLDS = 2


def beside(
    problem: Problem, demo: Ints, kinds: Sequence[int], seed: int, first: Ints | None = None, pairs: int = PAIRS
) -> Problem:
    """The choices of some kinds of demonstrations (`demo` [C]), and those of pairs of them woven at random; before them
    the choices `first`, as they are.

    A choice is among what can be done in two worlds, so that a statement costs twice as much.
    """
    rng = np.random.default_rng([seed, 31])
    own = {d: np.flatnonzero(demo == d).tolist() for d in kinds}
    alternatives = [list(range(a, b)) for a, b in zip(problem.start[:-1].tolist(), problem.start[1:].tolist())]
    alone = [*([] if first is None else first.tolist()), *(c for d in kinds for c in own[d])]
    rows = [alternatives[c] for c in alone]
    chosen = [int(problem.chosen[c]) for c in alone]
    every = [pair for pair in combinations(kinds, 2) if own[pair[0]] and own[pair[1]]]
    for k in rng.permutation(len(every))[:pairs].tolist():
        for one, other in woven(own[every[k][0]], own[every[k][1]], rng):
            rows.append(alternatives[one] + [row for row in alternatives[other] if row != problem.chosen[other]])
            chosen.append(int(problem.chosen[one]))
    sizes = [len(some) for some in rows]
    start = np.cumsum([0, *sizes]).astype(np.int64)
    places = np.array([some.index(row) for some, row in zip(rows, chosen, strict=True)], np.int64)
    columns, group = problem.columns[np.concatenate(rows)], np.repeat(np.arange(len(rows)), sizes)
    return Problem(
        columns,
        start,
        group,
        start[:-1] + places,
        WORLDS * problem.price,
        problem.low,
        problem.high,
        once(columns, group),
    )


def woven(one: Sequence[int], other: Sequence[int], rng: np.random.Generator) -> Iterator[tuple[int, int]]:
    """The choices of two demonstrations in a random order that keeps both: which is made, and which stands open beside
    it; after the last one of a demonstration that stays."""
    both, at = (one, other), [0, 0]
    for which in rng.permutation(np.repeat([0, 1], [len(one), len(other)])).tolist():
        beside = both[1 - which]
        yield both[which][at[which]], beside[min(at[1 - which], len(beside) - 1)]
        at[which] += 1
