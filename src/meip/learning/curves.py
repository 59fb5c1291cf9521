"""The view by curves: real quantities that matter along a curve, many of them a little.

The same choices and the same score (what an alternative adds to g), but g is dense instead of sparse: every real
concept has a curve (hat functions on quantiles), also relative to its value at the start. Members see few concepts
each, so that their mistakes differ; g is their mean. How much this view counts beside the sparse one is for
demonstrations left out to say.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.parallel import Shared, Workers
from meip.base.running import digest, one_round, packed_floats, unpacked_floats
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

    def fit(self, seed: int, workers: Workers | None = None) -> None:
        """Fit the members, which see shares of the concepts drawn with the seed."""
        evidence = self.evidence
        self._seen = np.random.default_rng([seed, 31]).random((MEMBERS, len(self))) < SHARE
        none = np.full(len(evidence.fold_of) - evidence.kinds, -1)
        self._fold = np.append(np.arange(evidence.kinds) % FOLDS, none)  # [kinds, corrections]
        folds = range(min(FOLDS, evidence.kinds))
        weight = evidence.weight
        shares = [weight, *(weight * (self._fold[evidence.demo] != k) for k in folds)]
        self.weights, *self._held_out = self._means(shares, workers or Workers())  # each [M + H + 1]

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
        kinds = self.evidence.kinds
        return np.bincount(self.evidence.demo, self._losses(scores)[0], kinds).astype(np.float64)[:kinds]

    def _losses(self, scores: Floats) -> tuple[Floats, Floats]:
        return softmax(scores, self.evidence.start, self.evidence.group, self.evidence.chosen)

    def _means(self, shares: Sequence[Floats], workers: Workers) -> list[Floats]:
        """For each of these shares of the choices the mean of the members."""
        evidence = self.evidence
        always = np.ones(self.changes.shape[1] - self.bends, np.bool_)
        columns = [np.flatnonzero(np.append(member[self.owner], always)) for member in self._seen]
        name = digest(self.changes, self.owner, self._seen, *shares)
        common = Shared(_Climbed(self.changes, columns, shares, evidence.start, evidence.group, evidence.chosen, name))
        places = [(k, member) for k in range(len(shares)) for member in range(len(columns))]
        total = np.zeros((len(shares), self.changes.shape[1]))
        for (k, member), weights in zip(places, workers.map_compiled(_climb, places, common), strict=True):
            total[k, columns[member]] += weights
        return list(total / len(columns))


class _Climbed(NamedTuple):
    """What all members are fitted to."""

    changes: Floats  # [N, M + H + 1]
    columns: list[Ints]  # of each member
    shares: Sequence[Floats]  # [C] each
    start: Ints
    group: Ints
    chosen: Ints
    name: str  # of all that, in this run


def _climb(place: tuple[int, int], given: _Climbed) -> Floats:
    """The weights of a member."""
    return one_round(
        lambda: f"curves {given.name} {place[0]} {place[1]}",
        lambda: _climbed(place, given),
        packed_floats,
        unpacked_floats,
    )


def _climbed(place: tuple[int, int], given: _Climbed) -> Floats:
    """By Newton's method: the problem is convex, and small."""
    share, columns = given.shares[place[0]], np.ascontiguousarray(given.changes[:, given.columns[place[1]]])
    start, group, chosen = given.start, given.group, given.chosen
    weights = np.zeros(columns.shape[1])
    each = share[group]
    for _ in range(STEPS):
        losses, p = softmax(columns @ weights, start, group, chosen)
        residual = p * each
        residual[chosen] -= share
        gradient = columns.T @ residual + RIDGE * weights
        curvature = _curvature(columns, p, share, start, group)
        step = np.linalg.solve(curvature + RIDGE * np.eye(len(weights)), gradient)
        value = float(losses @ share) + RIDGE / 2 * float(weights @ weights)
        slope, size = float(gradient @ step), 1.0
        while size > 1e-6:
            tried = weights - size * step
            new = float(softmax(columns @ tried, start, group, chosen)[0] @ share) + RIDGE / 2 * float(tried @ tried)
            if new <= value - 1e-4 * size * slope:
                break
            size /= 2
        weights = weights - size * step
        if slope < CLOSE:
            break
    return weights


def _curvature(columns: Floats, p: Floats, share: Floats, start: Ints, group: Ints) -> Floats:
    """The second derivative of the loss: the spread of the columns in each choice. A product of a table with itself
    takes half the time of one of two."""
    mean = np.stack([p[a:b] @ columns[a:b] for a, b in pairwise(start.tolist())]) * np.sqrt(share)[:, None]
    table = columns * np.sqrt(p * share[group])[:, None]
    return np.asarray(table.T @ table - mean.T @ mean, np.float64)
