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
from meip.learning.ranking_svm import (
    RankedPairs,
    combine,
    demonstration_pairs,
    first_deviation_pairs,
    fit_ranking,
    literal_pairs,
)
from meip.learning.selection import precedence
from meip.learning.shown import Case, ChanceFailures, ShownPlans
from meip.model.choices import Replayed
from meip.model.demonstrations import Episode
from meip.search.branches import sample_branches
from meip.search.pool import Pool, PoolOptions, relaxed_log_odds
from meip.search.query import Query
from meip.search.tree import SIMULATIONS
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import KNOTS, Utility, UtilityTerm, features, place_knots, with_weights

__all__ = ["Learner", "Objective", "Round", "Sampler", "Study", "StudyOptions", "Trial"]

Objective = Literal["likelihood", "svm", "svm-literal"]
OBJECTIVES = ("likelihood", "svm", "svm-literal")
Sampler = Literal["model", "tree"]
GENERATED = 50
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
    generated: int = GENERATED
    """Plans that the Ranking SVM generates per round."""
    sampler: Sampler = "model"
    """Where they come from: the model's distribution over the pool, or the branches of a tree search."""
    exploration: float = 1.0
    """Of that tree search."""
    forget: bool = False
    """Compare with the plans of this round only, and not with those of earlier ones."""
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
        self._rounds = 0

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
            found = self._fit_svm(terms, matrix)
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
        """Plans of the current model, for every case."""
        self._rounds += 1
        for number, (case, pool) in enumerate(zip(self.training.cases, self.pools, strict=True)):
            seed = [self.options.seed, self._rounds, number]
            if self.options.sampler == "tree":
                drawn = self._from_tree(case, ranking, seed)
            else:
                drawn = _drawn(pool, ranking, self.options.generated, np.random.default_rng(seed))
            self._generated[number] = ([] if self.options.forget else self._generated[number]) + drawn
            for plan in drawn:
                self.training.track(case.graph, np.array(plan, np.int64))

    def _from_tree(self, case: Case, ranking: UtilityRanking, seed: list[int]) -> list[tuple[int, ...]]:
        query = Query(
            horizon=case.horizon,
            iterations=SIMULATIONS,
            scale=0.0,
            exploration=self.options.exploration,
            seed=int(np.random.default_rng(seed).integers(2**31)),
        )
        return sample_branches(self.training.graphs[case.graph], ranking, case.start, self.options.generated, query)

    def _fit_svm(self, terms: Sequence[UtilityTerm], matrix: Floats) -> Fit:
        """The Ranking SVM on pairs within a case: with our labels, or with the paper's as printed."""
        if not matrix.shape[1]:
            return Fit(np.zeros(0), 0.0, (), True, 0)
        literal = self.options.objective == "svm-literal"
        rows, chains = matrix, []
        for case, generated in zip(self.training.cases, self._generated, strict=True):
            shown = self._as_rows(case.graph, [s.intended for s in case.shown])
            made = self._as_rows(case.graph, generated)
            if literal:
                chains.append(literal_pairs(*shown, *made))
            else:
                chains.append(demonstration_pairs(*shown))
                if generated:
                    chains.append(first_deviation_pairs(*shown, *made))
        if not literal:
            rows, imagined = _with_imagined(terms, matrix, combine(*chains))
            chains.append(imagined)
        found = fit_ranking(rows, combine(*chains), loss="hinge" if literal else "squared_hinge", margin=SVM_MARGIN)
        likelihood, _ = self.objective.evaluate(matrix, found.w)  # comparable between rounds, unlike the SVM's own
        return Fit(found.w, likelihood, (), found.converged, found.iterations)

    def _as_rows(self, graph: int, plans: Sequence[tuple[int, ...]]) -> tuple[Ints, Ints]:
        states = np.full((len(plans), max((len(p) for p in plans), default=1)), -1, np.int64)
        for row, plan in zip(states, plans, strict=True):
            row[: len(plan)] = plan
        return self.training.rows(graph, states), np.array([len(p) for p in plans], np.int64)


def _drawn(pool: Pool, ranking: UtilityRanking, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
    """Plans of a pool by their share of the current model."""
    log_p = pool.log_weight + relaxed_log_odds(pool.plans, ranking(pool.graph))
    p = np.exp(log_p - log_p.max())
    return [pool.plans.plan(int(i)) for i in rng.choice(len(pool), count, p=p / p.sum())]


def _with_imagined(terms: Sequence[UtilityTerm], matrix: Floats, labelled: RankedPairs) -> tuple[Floats, RankedPairs]:
    """The rows, and after them imagined states in which b was achieved without a, for each order concept "b and not a"
    of which no label says anything: each ranks below a state that achieved nothing.

    Where the world enforces the order, a plan leaves the demonstrations before it could break the order of what is
    wanted, and labels at the first deviation say nothing about it.
    """
    seen = matrix[np.unique(labelled.items)]
    unseen = [row for row in _order_broken(terms) if not (seen @ row > 1.5).any()]
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

    "svm-literal" is the paper's loop: plans are generated first, from g = 0; it stops when no weight changes by more
    than `tolerance`, or after `rounds`; the last round is kept, and nothing chooses between rounds.
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
    generated: int = GENERATED
    sampler: Sampler = "model"
    exploration: float = 1.0
    forget: bool = False
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
        literal = self.objective == "svm-literal"
        if literal:
            study.grow(Utility(()))
        best: Trial | None = None
        before: Trial | None = None
        for number in range(1, self.rounds + 1):
            trial = study.fit(concepts)
            key = (trial.tau(), trial.fit.objective)
            if best is None or literal or not study.exact or key > (best.tau(), best.fit.objective):
                best = trial
            info = {
                "round": number,
                "objective": trial.fit.objective,
                "tau": trial.tau(),
                "pool": [len(pool) for pool in study.pools],
                "effective": study.effective_sizes(trial.utility),
            }
            yield Round(number, trial, best), info
            if (before is not None and self._settled(before, trial, len(training.shown))) or (
                study.exact and self.objective == "likelihood"
            ):
                break
            before = trial
            study.grow(trial.utility)

    def _settled(self, before: Trial, trial: Trial, count: int) -> bool:
        """Does it stand still: the weights of the paper's loop, the objective of ours?"""
        if self.objective == "svm-literal":
            return bool(np.abs(trial.fit.weights - before.fit.weights).max(initial=0.0) < self.tolerance)
        return abs(trial.fit.objective - before.fit.objective) < self.tolerance * count

    def _options(self) -> StudyOptions:
        likelihood = LikelihoodOptions(
            alpha=self.alpha, hinge=self.hinge, strength=self.strength, plans=self.plans, steps=self.steps
        )
        return StudyOptions(
            self.objective, likelihood, self.pool or PoolOptions(), self.knots, self.branches, self.generated,
            self.sampler, self.exploration, self.forget, self.seed,
        )  # fmt: skip
