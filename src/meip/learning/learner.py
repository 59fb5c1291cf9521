"""Algorithm 1: learn the weights of given concepts from demonstrations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from meip.base.parallel import Workers
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.learning.estimator import UtilityEstimator
from meip.learning.fitting import Objective, Study, StudyOptions, Trial
from meip.learning.generated import Generated
from meip.learning.likelihood import LikelihoodOptions
from meip.learning.shown import ChanceFailures, ShownPlans
from meip.model.choices import Replayed
from meip.model.demonstrations import Episode
from meip.search.pool import PoolOptions
from meip.utility.terms import KNOTS, Utility

__all__ = ["ROUNDS", "TOLERANCE", "Learner", "Round", "literal_rounds"]

ROUNDS = 8
TOLERANCE = 1e-3


def literal_rounds(
    study: Study, concepts: Sequence[Concept], rounds: int = ROUNDS, tolerance: float = TOLERANCE
) -> Iterator[Trial]:
    """Algorithm 1 as printed: generate plans, from g = 0 at first, update the weights, until none of them changes by
    more than the tolerance. The last round is the result."""
    study.start_again()
    before, utility = None, Utility(())
    for _ in range(rounds):
        study.generate(utility)
        trial = study.fit(concepts)
        yield trial
        utility = trial.utility
        if before is not None and np.abs(trial.fit.weights - before).max(initial=0.0) < tolerance:
            return
        before = trial.fit.weights


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

    "svm-literal" is the paper's loop (`literal_rounds`): plans are generated first, from g = 0; it stops when no weight
    changes by more than `tolerance`, or after `rounds`; the last round is kept, and nothing chooses between rounds.
    """

    concepts: Sequence[Concept | str] = ()
    _: KW_ONLY
    objective: Objective = "likelihood"
    alpha: float = 0.03
    hinge: float = 2.0
    strength: float = 1.0
    plans: float = 1.0
    steps: float = 0.0
    rounds: int = ROUNDS
    tolerance: float = TOLERANCE
    branches: int = 0
    generated: Generated | None = None
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

    def learn(
        self, episodes: Sequence[Episode] | Replayed, workers: Workers | None = None
    ) -> Iterator[tuple[Round, dict[str, Any]]]:
        """The rounds as they happen: (what is carried on, what is only for looking at)."""
        training = ShownPlans(episodes, chance_failures=self.chance_failures, seed=self.seed)
        study = self.study_ = Study(training, self._options(), workers)
        concepts = [parse_concept(c, training.domain) if isinstance(c, str) else c for c in self.concepts]
        literal = self.objective == "svm-literal"
        trials = literal_rounds(study, concepts, self.rounds, self.tolerance) if literal else self._own(study, concepts)
        best: Trial | None = None
        for number, trial in enumerate(trials, start=1):
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

    def _own(self, study: Study, concepts: Sequence[Concept]) -> Iterator[Trial]:
        """Fit, sample, fit again, until the objective stands still."""
        least = self.tolerance * len(study.training.shown)
        before = None
        for _ in range(self.rounds):
            trial = study.fit(concepts)
            yield trial
            still = before is not None and abs(trial.fit.objective - before) < least
            if still or (study.exact and self.objective == "likelihood"):
                return
            before = trial.fit.objective
            study.grow(trial.utility)

    def _options(self) -> StudyOptions:
        likelihood = LikelihoodOptions(
            alpha=self.alpha, hinge=self.hinge, strength=self.strength, plans=self.plans, steps=self.steps
        )
        return StudyOptions(
            self.objective, likelihood, self.pool or PoolOptions(), self.knots, self.branches,
            self.generated or Generated(), self.seed,
        )  # fmt: skip
