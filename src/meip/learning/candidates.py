"""What a pursuit may add: relevant concepts, concepts of order, and what the demonstrations keep away from."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.concepts.check import kind
from meip.concepts.language import Concept, Quantified
from meip.learning.fitting import Study
from meip.learning.selection import deduplicate, exactly_seen, relevant as changing, unless

__all__ = ["SAME_TAU", "Bundle", "Candidates"]

Bundle = tuple[Concept, ...]
SAME_TAU = 1e-9


class Candidates:
    """Candidates as the demonstrations of a study suggest them."""

    def __init__(self, study: Study, tolerance: float) -> None:
        self.study = study
        self.tolerance = tolerance
        """Share of the demonstrations that may say otherwise."""

    def relevant(self, concepts: Sequence[Concept], known: Collection[Concept]) -> list[Concept]:
        """Relevant, distinct candidates; a count enters as "exactly k" for the numbers seen in demonstrations."""
        training = self.study.training
        rows = training.demonstrated_rows()
        counts = _counts(concepts)
        plain = [*(c for c in concepts if c not in set(counts)), *self._exactly(counts)]
        if not plain:
            return []
        values, missing = training.matrix(plain)
        moving = changing(values, rows, missing)
        chosen = [c for c, moves in zip(plain, moving, strict=True) if moves]
        distinct = deduplicate(chosen, values[:, moving], missing[:, moving])
        return [chosen[i] for i in distinct.kept if chosen[i] not in known]

    def operands(self, concepts: Sequence[Concept]) -> list[Concept]:
        """What composites are made of: concepts, and counts also as "exactly k"."""
        return [*concepts, *self._exactly(_counts(concepts))]

    def _exactly(self, counts: Sequence[Concept]) -> list[Concept]:
        """ "Exactly k" for the numbers above 0 that demonstrations went through."""
        if not counts:
            return []
        values, _ = self.study.training.matrix(counts)
        seen = values[np.concatenate(self.study.training.demonstrated_rows())]
        return [c for k, count in enumerate(counts) for c in exactly_seen(count, seen[seen[:, k] > 0, k])]

    def steady(self, concepts: Sequence[Concept]) -> set[Concept]:
        """Those that move in one direction only, in all demonstrations (up to the tolerance)."""
        if not concepts:
            return set()
        values, _ = self.study.training.matrix(concepts)
        moves = [np.diff(values[rows], axis=0) for rows in self.study.training.demonstrated_rows()]
        rises = np.array([(m > SAME_TAU).any(axis=0) for m in moves]).sum(axis=0)
        falls = np.array([(m < -SAME_TAU).any(axis=0) for m in moves]).sum(axis=0)
        steady = np.minimum(rises, falls) <= self.tolerance * len(moves) + 1e-9
        return {c for c, one_way in zip(concepts, steady, strict=True) if one_way}

    def order_concepts(self, atoms: Sequence[Concept]) -> list[Concept]:
        """Order concepts "b and not a" for each a that comes before b in (nearly) all demonstrations and need not."""
        booleans = self.booleans(atoms)
        if len(booleans) < 2:
            return []
        values, _ = self.study.training.matrix(booleans)
        broken = values.T @ (1.0 - values) > 0.5  # [b, a]: in some state b holds without a
        before = self.before(booleans)
        return [unless(booleans[b], booleans[a]) for b, a in np.argwhere(before.T & broken).tolist()]

    def rules(
        self, atoms: Sequence[Concept], current: Collection[Concept], slopes: Floats, screen: int
    ) -> list[Bundle]:
        """Rules "a before b" over all candidates so far, each as the concepts it adds: a, b, "b and not a".

        Of many, those that the gradient of J finds promising: states where b holds without a should rank lower.
        """
        booleans = self.booleans(atoms)
        if len(booleans) < 2:
            return []
        values, _ = self.study.training.matrix(booleans)
        pull = np.where(self.before(booleans).T, (values * slopes[:, None]).T @ (1.0 - values), 0.0)  # [b, a]
        lowest = np.argsort(pull, axis=None, kind="stable")[:screen]
        found: list[Bundle] = []
        for k in (int(k) for k in lowest if pull.flat[k] < -1e-9):
            late, early = booleans[k // len(booleans)], booleans[k % len(booleans)]
            found.append(tuple(c for c in (early, late, unless(late, early)) if c not in current))
        return [bundle for bundle in found if bundle]

    def shunned(self, seen: Sequence[Concept]) -> list[Concept]:
        """Concepts that never change where something is shown, though they would elsewhere: perhaps to be avoided."""
        counted = {c for c in seen if isinstance(c, Quantified) and c.quantifier == "count"}
        plain = [c for c in seen if c not in counted and kind(c, self.study.training.domain) == "boolean"]
        if not plain:
            return []
        values, missing = self.study.training.matrix(plain)
        still = ~changing(values, self.study.training.demonstrated_rows(), missing) & (np.ptp(values, axis=0) > 0)
        chosen = [c for c, keep in zip(plain, still, strict=True) if keep]
        distinct = deduplicate(chosen, values[:, still], missing[:, still])
        return [chosen[i] for i in distinct.kept]

    def booleans(self, atoms: Sequence[Concept]) -> list[Concept]:
        return [c for c in atoms if kind(c, self.study.training.domain) == "boolean"]

    def first_true(self, booleans: Sequence[Concept]) -> Floats:
        """When each concept first becomes true in each demonstration [demonstrations, concepts]; inf: never."""
        values, _ = self.study.training.matrix(booleans)
        first = []
        for rows in self.study.training.demonstrated_rows():
            along = values[rows] > 0.5
            first.append(np.where(along.any(axis=0), along.argmax(axis=0), np.inf))
        return np.array(first, dtype=np.float64)

    def before(self, booleans: Sequence[Concept]) -> Bools:
        """[a, b]: a becomes true strictly before b in all demonstrations that show b (up to the tolerance)."""
        first = self.first_true(booleans)  # [D, K]
        a, b = first[:, :, None], first[:, None, :]
        wrong = (np.isfinite(b) & (a >= b)).sum(axis=0)
        shown = (np.isfinite(a) & np.isfinite(b)).any(axis=0)
        return np.asarray(shown & (wrong <= self.tolerance * len(first) + 1e-9), dtype=np.bool_)


def _counts(concepts: Sequence[Concept]) -> list[Concept]:
    return [c for c in concepts if isinstance(c, Quantified) and c.quantifier == "count"]
