"""The view by curves: real quantities that matter along a curve, many of them a little.

The same choices and the same score (what an alternative adds to g), but g is dense instead of sparse: every real
concept has a curve (hat functions on quantiles), also relative to its value at the start. Members see few concepts
each, so that their mistakes differ; g is their mean. How much this view counts beside the sparse one is for
demonstrations left out to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.concepts.check import kind
from meip.concepts.language import Composite, Concept
from meip.learning.evidence import Evidence
from meip.learning.selection import deduplicate, relevant
from meip.learning.sparse import softmax
from meip.utility.terms import KNOTS, UtilityTerm, features, place_knots, with_weights

__all__ = ["Curves", "Weighed", "relative"]

MEMBERS, SHARE = 60, 0.12  # members, and the share of the concepts that each of them sees
RIDGE = 1.0  # on the weights, in nats
FOLDS = 5  # in which demonstrations are left out
LONGEST, RELATIVE = 2, 1  # complexity of concepts that have a curve, and of those that have one relative to the start
SCALES = (1.0, 1.25, 1.5, 2.0, 2.5, 3.0)  # of g: members that see little are not sure enough of it
SHARES = (0.0, 0.25, 0.5, 0.75, 1.0)  # of the curves, beside the sparse view
STEPS, CLOSE = 50, 1e-4
LIKELY = 0.01  # as likely as the likeliest alternative


def relative(concept: Concept) -> Composite:
    """A concept relative to its value in the initial state of the problem (an extension of the paper's language)."""
    return Composite("-", (concept, Composite("initial", (concept,))))


@dataclass(frozen=True)
class Weighed:
    """How much the curves count, and what spoke for it."""

    share: float
    """Of the score; the rest is of the sparse view."""
    scale: float
    report: dict[str, Any]


class Curves:
    """The curves of all real concepts that change in some demonstration; none in worlds without changing quantities."""

    def __init__(
        self,
        evidence: Evidence,
        concepts: Sequence[Concept],
        knots: int = KNOTS,
        *,
        start: bool = True,
        reasons: Floats | None = None,
    ) -> None:
        self.evidence = evidence
        changing = any(f.real and not f.static for f in evidence.domain.fluents)
        real = [c for c in concepts if changing and c.complexity <= LONGEST and kind(c, evidence.domain) == "real"]
        real += [relative(c) for c in real if start and c.complexity <= RELATIVE]
        values, missing = evidence.denotation.matrix(real)
        moving = np.flatnonzero(relevant(values, evidence.paths, missing))
        kept = moving[list(deduplicate([real[k] for k in moving], values[:, moving], missing[:, moving]).kept)]
        self.terms = [
            UtilityTerm(real[k], "real", place_knots(values[:, k], "real", knots, missing[:, k])) for k in kept
        ]
        table = features(self.terms, values[:, kept], missing[:, kept])
        self.bends = table.shape[1]
        """M, the columns of all curves; then come reasons to stop (H), and last to stop."""
        ending = [evidence.stop] if reasons is None else [reasons, evidence.stop]
        self.changes = np.column_stack([evidence.change(table), *ending])  # [N, M + H + 1]
        self.owner = np.repeat(np.arange(len(kept)), [t.size for t in self.terms])  # [M] the term of each column

    def fit(self, seed: int) -> None:
        """Fit the members, which see shares of the concepts drawn with the seed."""
        evidence = self.evidence
        self._seen = np.random.default_rng([seed, 31]).random((MEMBERS, len(self))) < SHARE
        self._fold = np.arange(evidence.kinds) % FOLDS  # [kinds]
        shares = [np.ones(evidence.count)]  # of the choices: all of them, then without those of a fold
        shares += [np.where(self._fold[evidence.demo] != k, 1.0, 0.0) for k in range(min(FOLDS, evidence.kinds))]
        self.weights, *self._held_out = self._means(shares)  # [M + H + 1] each

    def __len__(self) -> int:
        return len(self.terms)

    def without(self, d: int) -> Floats:
        """The weights without a kind of demonstration (and those of its fold)."""
        return self._held_out[int(self._fold[d])]

    def parts(self, weights: Floats) -> list[UtilityTerm]:
        """g with these weights [M + H + 1]."""
        return [t for t in with_weights(self.terms, weights[: self.bends]).terms if np.abs(t.weights).max() > 1e-9]

    def each(self, weights: Floats) -> Floats:
        """What each alternative changes of each curve [N, terms]."""
        first = np.searchsorted(self.owner, np.arange(len(self)))
        table = self.changes[:, : self.bends] * weights[: self.bends]
        return np.asarray(np.add.reduceat(table, first, axis=1), np.float64)

    def weighed(self, sparse: Floats, shares: Sequence[float] = SHARES) -> Weighed:
        """The share of the curves under which choices left out are foreseen best, beside the scores [N] of the sparse
        view, each by what the others taught. The sparse view is left alone unless that is better by more than chance.
        """
        evidence = self.evidence
        own = np.zeros(len(evidence.rows))
        for d in range(evidence.kinds):
            rows = (evidence.demo == d)[evidence.group]
            own[rows] = self.changes[rows] @ self.without(d)
        losses = {
            (share, scale): self._by_demonstration((1 - share) * sparse + share * scale * own)
            for share in shares
            for scale in SCALES
        }
        best = min(losses, key=lambda key: losses[key].sum())
        alone = self._by_demonstration(sparse)
        better = alone - losses[best]
        error = float(better.std(ddof=1) * np.sqrt(len(better))) if len(better) > 1 else np.inf
        share, scale = best if better.sum() > error or 0.0 not in shares else (0.0, 1.0)
        report = {
            "sparse": float(alone.sum()),
            "curves": float(min(self._by_demonstration(scale * own).sum() for scale in SCALES)),
            "both": float(losses[best].sum()),
            "better_by": float(better.sum()),
            "standard_error": error,
            "share_of_curves": share,
        }
        return Weighed(share, scale, report)

    def _by_demonstration(self, scores: Floats) -> Floats:
        return np.bincount(self.evidence.demo, self._losses(scores)[0], self.evidence.kinds).astype(np.float64)

    def _losses(self, scores: Floats) -> tuple[Floats, Floats]:
        return softmax(scores, self.evidence.start, self.evidence.group, self.evidence.chosen)

    def _means(self, shares: Sequence[Floats]) -> list[Floats]:
        """The mean of the members, for each of these shares of the choices; where most are the same, so are weights."""
        totals = [np.zeros(self.changes.shape[1]) for _ in shares]
        for member in self._seen:
            seen = np.append(np.flatnonzero(member[self.owner]), np.arange(self.bends, self.changes.shape[1]))
            columns, weights = np.ascontiguousarray(self.changes[:, seen]), np.zeros(len(seen))
            for number, share in enumerate(shares):
                found = self._climb(columns, share, weights)
                totals[number][seen] += found
                weights = found if number == 0 else weights
        return [total / len(self._seen) for total in totals]

    def _climb(self, columns: Floats, share: Floats, weights: Floats) -> Floats:
        """The weights by Newton's method: the problem is convex, and small. The curvature is that of the alternatives
        which are likely at all."""
        each, chosen = share[self.evidence.group], self.evidence.chosen
        for _ in range(STEPS):
            losses, p = self._losses(columns @ weights)
            residual = p * each
            residual[chosen] -= share
            gradient = columns.T @ residual + RIDGE * weights
            step = np.linalg.solve(self._curvature(columns, p, share) + RIDGE * np.eye(len(weights)), gradient)
            value = float(losses @ share) + RIDGE / 2 * float(weights @ weights)
            slope, size = float(gradient @ step), 1.0
            while size > 1e-6:
                tried = weights - size * step
                new = float(self._losses(columns @ tried)[0] @ share) + RIDGE / 2 * float(tried @ tried)
                if new <= value - 1e-4 * size * slope:
                    break
                size /= 2
            weights = weights - size * step
            if slope < CLOSE:
                break
        return weights

    def _curvature(self, columns: Floats, p: Floats, share: Floats) -> Floats:
        group, start = self.evidence.group, self.evidence.start[:-1]
        likely = np.flatnonzero((p >= LIKELY * np.maximum.reduceat(p, start)[group]) & (share[group] > 0))
        own, weight = group[likely], p[likely]
        first = np.flatnonzero(np.diff(own, prepend=-1))
        place = np.cumsum(np.diff(own, prepend=-1) > 0) - 1  # among the choices that count
        weight = weight / np.add.reduceat(weight, first)[place]
        rows = columns[likely]
        rows -= np.add.reduceat(rows * weight[:, None], first, axis=0)[place]
        rows *= np.sqrt(weight * share[own])[:, None]
        return np.asarray(rows.T @ rows, np.float64)
