"""Algorithm 2: pursue the concepts that explain the demonstrations, level by level, and their order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, get_args

from meip.base.errors import LearningError, did_you_mean
from meip.base.parallel import Workers
from meip.concepts.grammar import Grammar
from meip.learning.checkpoint import Decision
from meip.learning.estimator import UtilityEstimator
from meip.learning.fitting import Objective, Study, StudyOptions
from meip.learning.generated import Generated
from meip.learning.likelihood import LikelihoodOptions
from meip.learning.literal_pursuit import LiteralRun
from meip.learning.options import Order, Rule
from meip.learning.pursuit_run import Pursued, PursuitRun
from meip.learning.shown import ChanceFailures, ShownPlans
from meip.model.choices import Replayed
from meip.model.demonstrations import Episode
from meip.search.pool import PoolOptions
from meip.utility.terms import KNOTS, Utility

__all__ = ["Pursued", "Pursuit"]

RUNS = {"tau-first": PursuitRun, "literal": LiteralRun}


@dataclass(eq=False, repr=False)
class Pursuit(UtilityEstimator):
    """Algorithm 2 as an estimator: `fit(episodes)` finds the concepts and the utility.

    grammar           what may be said; by default the paper's, to `Grammar.max_level`
    kappa             cost of a primitive in a concept; `constant_cost`, of a number that it names
    tolerance         share of the demonstrations that may be wrong (use .2 where one in five may be)
    pursuit           "tau-first", ours: what orders the demonstrations better, then the posterior, until they are
                      explained; "literal", the paper's: the posterior's gain alone, above `threshold`, at all levels
    order             "closure": what always came first is required first; "none": only what the pursuit finds
    avoid             look also for what the demonstrations keep away from; None: where chance plays a part
    surprise          go to deeper concepts while a larger share of random plans is as good as the demonstrations
    screen            candidates per round that are fitted in full; the others are judged by the gradient of J
    plans, steps      weights of the likelihood of whole plans, and of single steps by what they add to their history
    branches          plans per demonstration that leave it, in sampled pools
    generated         plans that a Ranking SVM compares with per round
    share             share of the concepts that are considered at all, drawn with the seed (for committees)
    """

    grammar: Grammar | None = None
    _: KW_ONLY
    objective: Objective = "likelihood"
    kappa: float = 0.25
    constant_cost: float = 0.5
    pursuit: Rule = "tau-first"
    threshold: float = 0.0
    tolerance: float = 0.0
    order: Order = "closure"
    avoid: bool | None = None
    surprise: float = 0.2
    max_concepts: int = 20
    screen: int = 60
    share: float = 1.0
    alpha: float = 0.03
    hinge: float = 2.0
    strength: float = 1.0
    plans: float = 1.0
    steps: float = 0.0
    branches: int = 0
    generated: Generated | None = None
    knots: int = KNOTS
    chance_failures: ChanceFailures = "non-modal"
    pool: PoolOptions | None = None
    seed: int = 0

    def fit(self, episodes: Sequence[Episode] | Replayed, y: Any = None) -> Pursuit:
        """Find the concepts and learn their weights; `y` is not used."""
        for state, _ in self.pursue(episodes):
            self.pursued_ = state
        self.utility_: Utility = self.pursued_.trial.utility
        self.concepts_ = self.pursued_.concepts
        self.tau_ = self.pursued_.key[0]
        self.objective_ = self.pursued_.trial.fit.objective
        return self

    def pursue(
        self, episodes: Sequence[Episode] | Replayed, workers: Workers | None = None
    ) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """The pursuit as it happens: (what is carried on, what is only for looking at)."""
        for name, known in (("order", Order), ("pursuit", Rule)):
            if (value := getattr(self, name)) not in get_args(known):
                raise LearningError(f"{name}={value!r}: {did_you_mean(value, get_args(known))}")
        training = ShownPlans(episodes, chance_failures=self.chance_failures, seed=self.seed)
        self.study_ = Study(training, self._options(), workers)
        run = RUNS[self.pursuit](self, self.study_)
        yield from run.run()
        self.decisions_: tuple[Decision, ...] = tuple(run.decisions)

    def _options(self) -> StudyOptions:
        likelihood = LikelihoodOptions(
            alpha=self.alpha, hinge=self.hinge, strength=self.strength, plans=self.plans, steps=self.steps
        )
        return StudyOptions(
            self.objective, likelihood, self.pool or PoolOptions(), self.knots, self.branches,
            self.generated or Generated(), self.seed,
        )  # fmt: skip
