"""Algorithm 1: learn the weights of given concepts from demonstrations.

`Study` is what the learner and the pursuit share: a training set with its pools and objective, in which sets of
concepts are fitted. `Learner` is the estimator.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any, Literal

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import LearningError, did_you_mean
from meip.concepts.check import kind
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.learning.estimator import UtilityEstimator
from meip.learning.likelihood import Fit, Likelihood, LikelihoodOptions
from meip.learning.ranking_svm import combine, demonstration_pairs, first_deviation_pairs, fit_ranking, literal_pairs
from meip.learning.selection import precedence
from meip.learning.shown import ChanceFailures, ShownPlans
from meip.model.choices import Replayed
from meip.model.demonstrations import Episode
from meip.search.pool import Pool, PoolOptions, relaxed_log_odds
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import KNOTS, Utility, UtilityTerm, features, place_knots, with_weights

__all__ = ["Learner", "Objective", "Round", "Study", "StudyOptions", "Trial"]

Objective = Literal["likelihood", "svm", "svm-literal"]
OBJECTIVES = ("likelihood", "svm", "svm-literal")
GENERATED = 50  # plans drawn from the current model per round of the Ranking SVM
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

    def __init__(self, training: ShownPlans, options: StudyOptions | None = None) -> None:
        self.training = training
        self.options = options or StudyOptions()
        self.pools: list[Pool] = []
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
        self._generated: list[list[tuple[int, ...]]] = [[] for _ in training.cases]

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
        if self.options.objective == "likelihood":
            found = self.objective.fit(matrix, start, below=None if self.exact else _order_broken(terms))
        else:
            found = self._fit_svm(matrix)
        g = matrix @ found.weights if matrix.shape[1] else np.zeros(len(matrix))
        taus = tuple(kendall_tau(g[rows]) for rows in self.training.demonstrated_rows())
        return Trial(with_weights(terms, found.weights), found, taus)

    def ranking(self, utility: Utility) -> UtilityRanking:
        return UtilityRanking([utility])

    def grow(self, utility: Utility) -> None:
        """Add samples of the current model to the pools (and to the plans that the Ranking SVM has generated)."""
        ranking = self.ranking(utility)
        for pool in self.pools:
            pool.grow(ranking)
        if self.options.objective != "likelihood":
            self._generate(ranking)
        self._objective = None
        _ = self.objective

    def set_aside(self, numbers: Collection[int]) -> None:
        """Go on without these demonstrations."""
        self.training.set_aside(numbers)
        self._objective = None
        _ = self.objective

    def effective_sizes(self, utility: Utility) -> tuple[float, ...]:
        """How many samples each pool is worth under a utility."""
        ranking = self.ranking(utility)
        return tuple(pool.effective_size(relaxed_log_odds(pool.plans, ranking(pool.graph))) for pool in self.pools)

    def _generate(self, ranking: UtilityRanking) -> None:
        rng = np.random.default_rng([self.options.seed, sum(len(g) for g in self._generated)])
        for number, pool in enumerate(self.pools):
            log_p = pool.log_weight + relaxed_log_odds(pool.plans, ranking(pool.graph))
            p = np.exp(log_p - log_p.max())
            for i in rng.choice(len(pool), GENERATED, p=p / p.sum()):
                self._generated[number].append(pool.plans.plan(int(i)))

    def _fit_svm(self, matrix: Floats) -> Fit:
        """The paper's Ranking SVM, on pairs within a case: its working form, or its labels as printed."""
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
        if not matrix.shape[1]:
            return Fit(np.zeros(0), 0.0, (), True, 0)
        found = fit_ranking(matrix, combine(*chains), margin=SVM_MARGIN)
        likelihood, _ = self.objective.evaluate(matrix, found.w)  # comparable between rounds, unlike the SVM's own
        return Fit(found.w, likelihood, (), found.converged, found.iterations)

    def _as_rows(self, graph: int, plans: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
        states = np.full((len(plans), max((len(p) for p in plans), default=1)), -1, np.int64)
        for row, plan in zip(states, plans, strict=True):
            row[: len(plan)] = plan
        return self.training.rows(graph, states), np.array([len(p) for p in plans], np.int64)


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


@dataclass(frozen=True)
class Round:
    """What a round of Algorithm 1 carries on."""

    number: int
    trial: Trial
    best: Trial


@dataclass(eq=False, repr=False)
class Learner(UtilityEstimator):
    """Algorithm 1: fit, sample the fitted model into the pool, fit again, until the objective stands still.

    Stops when it changes by less than `tolerance` per demonstration between rounds, after one round where all plans
    are listed, or after `rounds`. The best round is kept: by tau of the demonstrations, then by the objective.
    """

    concepts: Sequence[Concept | str] = ()
    _: KW_ONLY
    objective: Objective = "likelihood"
    alpha: float = 0.03
    hinge: float = 2.0
    strength: float = 1.0
    plans: float = 1.0
    steps: float = 0.0
    rounds: int = 8
    tolerance: float = 1e-3
    branches: int = 0
    knots: int = KNOTS
    chance_failures: ChanceFailures = "non-modal"
    pool: PoolOptions | None = None
    seed: int = 0

    def fit(self, episodes: Sequence[Episode] | Replayed, y: Any = None) -> Learner:
        """Learn from episodes; `y` is not used."""
        for state, _ in self.learn(episodes):
            self.trial_ = state.best
        self.utility_ = self.trial_.utility
        self.objective_ = self.trial_.fit.objective
        self.tau_ = self.trial_.tau()
        return self

    def learn(self, episodes: Sequence[Episode] | Replayed) -> Iterator[tuple[Round, dict[str, Any]]]:
        """The rounds as they happen: (what is carried on, what is only for looking at)."""
        training = ShownPlans(episodes, chance_failures=self.chance_failures, seed=self.seed)
        study = Study(training, self._options())
        self.study_ = study
        concepts = [parse_concept(c, training.domain) if isinstance(c, str) else c for c in self.concepts]
        best: Trial | None = None
        before = -np.inf
        for number in range(1, self.rounds + 1):
            trial = study.fit(concepts)
            key = (trial.tau(), trial.fit.objective)
            if best is None or not study.exact or key > (best.tau(), best.fit.objective):
                best = trial
            info = {
                "round": number,
                "objective": trial.fit.objective,
                "tau": trial.tau(),
                "pool": [len(pool) for pool in study.pools],
                "effective": study.effective_sizes(trial.utility),
            }
            yield Round(number, trial, best), info
            settled = abs(trial.fit.objective - before) < self.tolerance * len(training.shown)
            if settled or (study.exact and self.objective == "likelihood"):
                break
            before = trial.fit.objective
            study.grow(trial.utility)

    def _options(self) -> StudyOptions:
        likelihood = LikelihoodOptions(
            alpha=self.alpha, hinge=self.hinge, strength=self.strength, plans=self.plans, steps=self.steps
        )
        return StudyOptions(
            self.objective, likelihood, self.pool or PoolOptions(), self.knots, self.branches, self.seed
        )
