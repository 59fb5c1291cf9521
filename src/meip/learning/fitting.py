"""What the learner and the pursuit share: a training set with its pools and objective, in which sets of concepts are
fitted."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import LearningError, did_you_mean
from meip.base.parallel import Shared, Workers
from meip.base.running import digest, one_round, packed_floats, unpacked_floats
from meip.concepts.check import kind
from meip.concepts.language import Concept
from meip.learning.generated import Generated, by_tree, from_pool
from meip.learning.likelihood import Fit, Likelihood, LikelihoodOptions
from meip.learning.ranking_svm import (
    RankedPairs,
    combine,
    demonstration_pairs,
    first_deviation_pairs,
    fit_ranking,
    literal_pairs,
)
from meip.learning.selection import precedence
from meip.learning.shown import ShownPlans
from meip.search.pool import Draw, Drawn, Pool, PoolOptions, drawn, relaxed_log_odds
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import KNOTS, Utility, UtilityTerm, features, place_knots, with_weights

__all__ = ["Objective", "Study", "StudyOptions", "Trial"]

Objective = Literal["likelihood", "svm", "svm-literal"]
OBJECTIVES = ("likelihood", "svm", "svm-literal")
SVM_MARGIN = 1.0


@dataclass(frozen=True)
class StudyOptions:
    """How a set of concepts is fitted."""

    objective: Objective = "likelihood"
    likelihood: LikelihoodOptions = field(default_factory=LikelihoodOptions)
    pool: PoolOptions = field(default_factory=PoolOptions)
    knots: int = KNOTS
    branches: int = 0
    """Plans per demonstration that leave it half-way, added to pools that are not exact."""
    generated: Generated = field(default_factory=Generated)
    """Plans that the Ranking SVM compares with."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.objective not in OBJECTIVES:
            raise LearningError(f"objective={self.objective!r}: {did_you_mean(self.objective, OBJECTIVES)}")


@dataclass(frozen=True)
class Trial:
    """A set of concepts, fitted."""

    utility: Utility
    fit: Fit
    taus: tuple[float, ...]
    """Sign-tau of each demonstration (up to its first chance failure)."""

    def tau(self, tolerance: float = 0.0) -> float:
        """Mean tau of the demonstrations, the worst floor(tolerance * n) of them left out."""
        kept = sorted(self.taus, reverse=True)[: len(self.taus) - int(tolerance * len(self.taus) + 1e-9)]
        return float(np.mean(kept)) if kept else 0.0


class Study:
    """A training set with its pools: fits sets of concepts to it."""

    def __init__(
        self, training: ShownPlans, options: StudyOptions | None = None, workers: Workers | None = None
    ) -> None:
        self.training, self.workers = training, workers or Workers()
        self.options = options or StudyOptions()
        self.pools: list[Pool] = []
        self._fits = 0
        if self.options.likelihood.plans or self.options.objective != "likelihood":
            for number, case in enumerate(training.cases):
                graph = training.graphs[case.graph]
                pool = Pool(graph, case.start, case.horizon, self.options.pool, self.options.seed + 104729 * number)
                for shown in case.shown if self.options.branches else ():
                    pool.branch(shown.states, self.options.branches)
                self.pools.append(pool)
            if self.options.branches and self.exact:
                raise LearningError(
                    f"branches={self.options.branches} has no effect here: all plans of these worlds are listed; leave "
                    "it out"
                )
        if self.options.likelihood.steps:
            for case, shown in training.shown:
                for state in shown.intended[:-1]:
                    training.graphs[case.graph].expand(state)
        self._objective: Likelihood | None = None
        _ = self.objective  # every state of interest gets its row
        self._generated: list[list[tuple[int, ...]]] = []
        self.start_again()

    @property
    def exact(self) -> bool:
        """Are all plans of all cases listed?"""
        return all(pool.exact for pool in self.pools)

    @property
    def objective(self) -> Likelihood:
        if self._objective is None:
            self._objective = Likelihood(self.training, self.pools or None, self.options.likelihood)
        return self._objective

    def term(self, concept: Concept, values: Floats, missing: Bools) -> UtilityTerm:
        """A concept with its knots placed on the values that were seen."""
        sort = kind(concept, self.training.domain)
        return UtilityTerm(concept, sort, place_knots(values, sort, self.options.knots, missing))

    def fit(self, concepts: Sequence[Concept], start: Floats | None = None) -> Trial:
        """Fit the weights of these concepts."""
        values, missing = self.training.matrix(concepts)
        terms = [self.term(c, values[:, k], missing[:, k]) for k, c in enumerate(concepts)]
        return self.fit_features(terms, features(terms, values, missing), start)

    def fit_features(self, terms: Sequence[UtilityTerm], matrix: Floats, start: Floats | None = None) -> Trial:
        """The same with the features already computed."""
        return self.fit_many([(terms, [matrix])], start)[0]

    def fit_many(
        self, candidates: Sequence[tuple[Sequence[UtilityTerm], Sequence[Floats]]], start: Floats | None = None
    ) -> list[Trial]:
        """Fit several sets of concepts, given as terms and tables of their features, by all workers. Fits follow one
        another in the same order in every run of the same, so that their number and features tell them apart."""
        items = []
        for terms, tables in candidates:
            self._fits += 1
            items.append((self._fits, tables, _order_broken(terms), start))
        found = self.workers.map_compiled(_fitted, items, Shared(self._fitter()))
        return [
            self._trial(terms, _side_by_side(tables), one)
            for (terms, tables), one in zip(candidates, found, strict=True)
        ]

    def _trial(self, terms: Sequence[UtilityTerm], matrix: Floats, found: Fit) -> Trial:
        g = matrix @ found.weights if matrix.shape[1] else np.zeros(len(matrix))
        taus = tuple(kendall_tau(g[rows]) for rows in self.training.demonstrated_rows())
        return Trial(with_weights(terms, found.weights), found, taus)

    def _fitter(self) -> _Fitter:
        """What all fits have in common now."""
        chains = [] if self.options.objective == "likelihood" else self._pairs()
        return _Fitter(self.options.objective, self.objective, self.exact, chains)

    def ranking(self, utility: Utility) -> UtilityRanking:
        return UtilityRanking([utility])

    def grow(self, utility: Utility) -> None:
        """Add samples of the current model to the pools (and to the plans that the Ranking SVM has generated)."""
        ranking = self.ranking(utility)
        wanted = [pool.wanted() for pool in self.pools]
        draws = [draw for draw in wanted if draw is not None]
        if self.workers.alone:
            found = iter([drawn(draw, ranking) for draw in draws])
        else:  # worlds are asked: processes
            found = iter(self.workers.map(partial(_drawn, utility), draws))
        for pool, draw in zip(self.pools, wanted, strict=True):
            if draw is not None:
                pool.add(ranking, draw, next(found))
        self._objective = None
        _ = self.objective
        if self.options.objective != "likelihood":
            self.generate(utility)

    def set_aside(self, numbers: Collection[int]) -> None:
        """Go on without these demonstrations."""
        self.training.set_aside(numbers)
        self._objective = None
        _ = self.objective

    def effective_sizes(self, utility: Utility) -> tuple[float, ...]:
        """How many samples each pool is worth under a utility."""
        ranking = self.ranking(utility)
        return tuple(pool.effective_size(relaxed_log_odds(pool.plans, ranking(pool.graph))) for pool in self.pools)

    def start_again(self) -> None:
        """Forget every plan that was generated: Algorithm 1 begins anew."""
        self._generated = [[] for _ in self.training.cases]
        self._rounds = 0

    def generate(self, utility: Utility) -> None:
        """Plans of the current model, for every case: what a Ranking SVM compares with."""
        self._rounds += 1
        ranking, how = self.ranking(utility), self.options.generated
        size = self.training.row_count
        for number, (case, pool) in enumerate(zip(self.training.cases, self.pools, strict=True)):
            seed = [self.options.seed, self._rounds, number]
            if how.sampler == "tree":
                graph = self.training.graphs[case.graph]
                drawn = by_tree(graph, ranking, case.start, case.horizon, how, seed)
            else:
                drawn = from_pool(pool, ranking, how.plans, seed)
            self._generated[number] = ([] if how.forget else self._generated[number]) + drawn
            for plan in drawn:
                self.training.track(case.graph, np.array(plan, np.int64))
        if self.training.row_count != size:
            self._objective = None
            _ = self.objective

    def _pairs(self) -> list[RankedPairs]:
        """The pairs of a Ranking SVM within each case: with our labels, or with the paper's as printed."""
        chains = []
        for case, generated in zip(self.training.cases, self._generated, strict=True):
            shown = self._as_rows(case.graph, [s.intended for s in case.shown])
            made = self._as_rows(case.graph, generated)
            if self.options.objective == "svm-literal":
                chains.append(literal_pairs(*shown, *made))
            else:
                chains.append(demonstration_pairs(*shown))
                if generated:
                    chains.append(first_deviation_pairs(*shown, *made))
        return chains

    def _as_rows(self, graph: int, plans: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
        states = np.full((len(plans), max((len(p) for p in plans), default=1)), -1, np.int64)
        for row, plan in zip(states, plans, strict=True):
            row[: len(plan)] = plan
        return self.training.rows(graph, states), np.array([len(p) for p in plans], np.int64)


class _Fitter(NamedTuple):
    """How features are fitted. It can be sent to other processes, worlds need not."""

    objective: Objective
    likelihood: Likelihood
    exact: bool
    """Are all plans listed?"""
    chains: list[RankedPairs]
    """What a Ranking SVM ranks."""

    def fit(self, matrix: Floats, broken: Floats, start: Floats | None) -> Fit:
        """`broken`: the features of what is achieved out of order."""
        if self.objective == "likelihood":
            return self.likelihood.fit(matrix, start, below=None if self.exact else broken)
        if not matrix.shape[1]:
            return Fit(np.zeros(0), 0.0, (), True, 0)
        rows, chains, literal = matrix, list(self.chains), self.objective == "svm-literal"
        if not literal:
            rows, imagined = _with_imagined(broken, matrix, combine(*chains))
            chains.append(imagined)
        found = fit_ranking(rows, combine(*chains), loss="hinge" if literal else "squared_hinge", margin=SVM_MARGIN)
        likelihood, _ = self.likelihood.evaluate(matrix, found.w)  # comparable between rounds, unlike the SVM's own
        return Fit(found.w, likelihood, (), found.converged, found.iterations)


def _side_by_side(tables: Sequence[Floats]) -> Floats:
    return tables[0] if len(tables) == 1 else np.hstack(tables)


def _fitted(item: tuple[int, Sequence[Floats], Floats, Floats | None], fitter: _Fitter) -> Fit:
    number, tables, broken, start = item
    matrix = _side_by_side(tables)
    return one_round(
        lambda: f"fit {number} {digest(matrix)}", lambda: fitter.fit(matrix, broken, start), _packed, _unpacked
    )


def _drawn(utility: Utility, wanted: Draw, rng: np.random.Generator) -> Drawn:
    return drawn(wanted, UtilityRanking([utility]))


def _packed(fit: Fit) -> dict[str, Any] | None:
    """A fit as JSON values; None where it holds what JSON cannot say."""
    weights = packed_floats(fit.weights)
    if weights is None or not np.isfinite([fit.objective, *fit.log_z]).all():
        return None
    numbers = {"objective": float(fit.objective), "log_z": list(fit.log_z), "iterations": int(fit.iterations)}
    return {"weights": weights, **numbers, "converged": bool(fit.converged)}


def _unpacked(value: dict[str, Any]) -> Fit:
    """The same fit again, to the last bit."""
    log_z = tuple(float(one) for one in value["log_z"])
    weights = unpacked_floats(value["weights"])
    return Fit(weights, float(value["objective"]), log_z, value["converged"] is True, int(value["iterations"]))


def _with_imagined(broken: Floats, matrix: Floats, labelled: RankedPairs) -> tuple[Floats, RankedPairs]:
    """The rows, and after them imagined states in which b was achieved without a, for each order concept "b and not a"
    of which no label says anything: each ranks below a state that achieved nothing.

    Where the world enforces the order, a plan leaves the demonstrations before it could break the order of what is
    wanted, and labels at the first deviation say nothing about it.
    """
    seen = matrix[np.unique(labelled.items)]
    unseen = [row for row in broken if not (seen @ row > 1.5).any()]
    first = len(matrix)
    rows = np.vstack([matrix, np.zeros((1, matrix.shape[1])), *unseen])
    pairs = [[first + 1 + k, first] for k in range(len(unseen))]
    return rows, demonstration_pairs(np.array(pairs, np.int64).reshape(-1, 2), np.full(len(pairs), 2))


def _order_broken(terms: Sequence[UtilityTerm]) -> Floats:
    """For each order concept "b and not a": the features of b achieved out of order, which should be no achievement.

    Sampled pools hold few plans that break the order, enforced ones none: there the demonstrated order decides.
    """
    sizes = [term.size for term in terms]
    place = {term.concept: sum(sizes[:k]) for k, term in enumerate(terms)}
    rows = []
    for concept in place:
        pair = precedence(concept)
        if pair is not None and pair[1] in place:
            row = np.zeros(sum(sizes))
            row[[place[concept], place[pair[1]]]] = 1.0
            rows.append(row)
    return np.array(rows).reshape(len(rows), sum(sizes))
