"""Algorithm 2: pursue the concepts that explain the demonstrations, level by level, and their order.

The key of a set of concepts, compared lexicographically: the sign-tau of the demonstrations, then the posterior
J - kappa * complexity - constant_cost * named constants. Every decision is recorded, with its reason.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.concepts.bank import ConceptBank
from meip.concepts.check import kind, slot
from meip.concepts.grammar import Grammar
from meip.concepts.language import Composite, Concept, Quantified, constants
from meip.concepts.selection import deduplicate, exactly_seen, relevant
from meip.decisions import Decision
from meip.errors import LearningError, did_you_mean
from meip.estimator import Estimator
from meip.learner import Objective, Study, StudyOptions, Trial
from meip.likelihood import LikelihoodOptions
from meip.ordering import kendall_tau
from meip.pool import PoolOptions
from meip.ranking import UtilityRanking
from meip.training import ChanceFailures, Episode, TrainingSet
from meip.utility import Utility, features

__all__ = ["Key", "Order", "Pursued", "Pursuit"]

Order = Literal["closure", "greedy", "none"]
ORDERS = ("closure", "greedy", "none")
Key = tuple[float, float]
Floats = NDArray[np.float64]
SAME_TAU = 1e-9
LEAST_GAIN = 1e-6


@dataclass(frozen=True)
class Pursued:
    """What the pursuit carries on: the concepts so far, fitted."""

    concepts: tuple[Concept, ...]
    trial: Trial
    key: Key


class Pursuit(Estimator):
    """Algorithm 2 as an estimator: `fit(episodes)` finds the concepts and the utility.

    grammar           what may be said; by default the paper's, to `Grammar.max_level`
    kappa             cost of a primitive in a concept; `constant_cost`, of a number that it names
    tolerance         share of the demonstrations that may be wrong (use .2 where one in five may be)
    order             "closure": what always came first is required first; "greedy": order concepts one at a time;
                      "none": an additive utility, which knows no order
    screen            candidates per round that are fitted in full; the others are judged by the gradient of J
    share             share of the concepts that are considered at all, drawn with the seed (for committees)
    """

    def __init__(
        self,
        grammar: Grammar | None = None,
        *,
        objective: Objective = "likelihood",
        kappa: float = 0.25,
        constant_cost: float = 0.5,
        tolerance: float = 0.0,
        order: Order = "closure",
        max_concepts: int = 20,
        screen: int = 60,
        share: float = 1.0,
        alpha: float = 0.03,
        hinge: float = 2.0,
        strength: float = 1.0,
        steps: float = 0.0,
        chance_failures: ChanceFailures = "non-modal",
        pool: PoolOptions | None = None,
        seed: int = 0,
    ) -> None:
        self.grammar = grammar
        self.objective = objective
        self.kappa = kappa
        self.constant_cost = constant_cost
        self.tolerance = tolerance
        self.order = order
        self.max_concepts = max_concepts
        self.screen = screen
        self.share = share
        self.alpha = alpha
        self.hinge = hinge
        self.strength = strength
        self.steps = steps
        self.chance_failures = chance_failures
        self.pool = pool
        self.seed = seed

    def fit(self, episodes: Sequence[Episode], y: Any = None) -> Pursuit:
        """Find the concepts and learn their weights; `y` is not used."""
        for state, _ in self.pursue(episodes):
            self.pursued_ = state
        self.utility_: Utility = self.pursued_.trial.utility
        self.concepts_ = self.pursued_.concepts
        self.tau_ = self.pursued_.trial.tau(self.tolerance)
        self.objective_ = self.pursued_.trial.fit.objective
        return self

    def score(self, episodes: Sequence[Episode], y: Any = None) -> float:
        """Mean sign-tau of other demonstrations under the learned utility."""
        self._check_fitted("utility_")
        training = TrainingSet(episodes)
        ranking = UtilityRanking([self.utility_])
        return float(
            np.mean([kendall_tau(ranking(training.graphs[c.graph])[list(s.intended), 0]) for c, s in training.shown])
        )

    def pursue(
        self, episodes: Sequence[Episode], resume: Sequence[Decision] = ()
    ) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """The pursuit as it happens: (what is carried on, what is only for looking at).

        `resume` takes `info["decisions"]` of an earlier run with the same episodes and parameters and goes on from
        there: what was taken is fitted again, what was dropped is not, and the result is the same to the last bit.
        """
        if self.order not in ORDERS:
            raise LearningError(f"order={self.order!r}: {did_you_mean(self.order, ORDERS)}")
        training = TrainingSet(episodes, chance_failures=self.chance_failures, seed=self.seed)
        self.study_ = Study(training, self._options())
        hunt = _Hunt(self, self.study_, resume)
        yield from hunt.run()
        self.decisions_: tuple[Decision, ...] = tuple(hunt.decisions)

    def _options(self) -> StudyOptions:
        likelihood = LikelihoodOptions(alpha=self.alpha, hinge=self.hinge, strength=self.strength, steps=self.steps)
        return StudyOptions(self.objective, likelihood, self.pool or PoolOptions(), seed=self.seed)


class _Hunt:
    """One run of the pursuit."""

    def __init__(self, settings: Pursuit, study: Study, resume: Sequence[Decision] = ()) -> None:
        self.settings, self.study = settings, study
        self.decisions: list[Decision] = list(resume)
        self.replayed = [d for d in resume if d.taken]  # taken before, still to be fitted again
        self.current = self._pursued((), study.fit(()))
        self.atoms: list[Concept] = []  # every candidate seen so far, for order concepts

    def run(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        bank = ConceptBank(self.study.training.domain, self.settings.grammar or Grammar.paper(max_level=1))
        for level, concepts, info in bank.levels():
            stage = f"level {level}"
            if info.stopped:
                if not any(d.stage == stage for d in self.decisions):
                    self._note(stage, "", False, 0.0, info.stopped)
                break
            candidates = self._candidates(self._considered(level, concepts))
            self.atoms += candidates
            yield from self._greedy(stage, candidates)
        if self.settings.order == "closure":
            yield from self._close()
        elif self.settings.order == "greedy":
            yield from self._greedy("order", self._order_concepts(self.atoms))
        yield from self._finish()

    # --- candidates ---

    def _considered(self, level: int, concepts: Sequence[Concept]) -> Sequence[Concept]:
        """All concepts, or the share of them that this pursuit looks at."""
        if self.settings.share >= 1:
            return concepts
        drawn = np.random.default_rng([self.settings.seed, level]).random(len(concepts)) < self.settings.share
        return [concept for concept, kept in zip(concepts, drawn, strict=True) if kept]

    def _candidates(self, concepts: Sequence[Concept]) -> list[Concept]:
        """Relevant, distinct candidates; a count enters as "exactly k" for the numbers seen in demonstrations."""
        training = self.study.training
        rows = training.demonstrated_rows()
        counts = [c for c in concepts if isinstance(c, Quantified) and c.quantifier == "count"]
        plain = [c for c in concepts if c not in set(counts)]
        if counts:
            values, missing = training.matrix(counts)
            for k, concept in enumerate(counts):
                seen = values[np.concatenate(rows), k]
                plain += exactly_seen(concept, seen[seen > 0])
        if not plain:
            return []
        values, missing = training.matrix(plain)
        moving = relevant(values, rows, missing)
        chosen = [c for c, moves in zip(plain, moving, strict=True) if moves]
        distinct = deduplicate(chosen, values[:, moving], missing[:, moving])
        known = set(self.atoms)
        return [chosen[i] for i in distinct.kept if chosen[i] not in known]

    def _order_concepts(self, atoms: Sequence[Concept]) -> list[Concept]:
        """ "b and not a" for all a that come before b in (nearly) all demonstrations."""
        booleans = [c for c in atoms if kind(c, self.study.training.domain) == "boolean"]
        if len(booleans) < 2:
            return []
        first = self._first_true(booleans)
        found: list[Concept] = []
        for b, late in enumerate(booleans):
            for a, early in enumerate(booleans):
                if a != b and self._precedes(first[:, a], first[:, b]):
                    found.append(Composite("and", (late, Composite("not", (early,)))))
        return found

    def _first_true(self, booleans: Sequence[Concept]) -> Floats:
        """When each concept first becomes true in each demonstration [demonstrations, concepts]; inf: never."""
        values, _ = self.study.training.matrix(booleans)
        first = []
        for rows in self.study.training.demonstrated_rows():
            along = values[rows] > 0.5
            first.append(np.where(along.any(axis=0), along.argmax(axis=0), np.inf))
        return np.array(first, dtype=np.float64)

    def _precedes(self, a: Floats, b: Floats) -> bool:
        """Does a become true strictly before b in all demonstrations that show both (up to the tolerance)?"""
        both = np.isfinite(a) & np.isfinite(b)
        wrong = int((both & (a >= b)).sum() + (np.isfinite(b) & ~np.isfinite(a)).sum())
        return bool(both.any()) and wrong <= self.settings.tolerance * len(a) + 1e-9

    # --- selection ---

    def _greedy(self, stage: str, candidates: Sequence[Concept]) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """Add the best candidate from a free slot while the key grows."""
        left = list(candidates)
        while left and len(self.current.concepts) < self.settings.max_concepts:
            taken = {slot(c) for c in self.current.concepts} if stage != "order" else set()
            left = [c for c in left if c not in self.current.concepts and slot(c) not in taken]
            if self.replayed:
                if self.replayed[0].stage != stage:
                    break  # this stage was finished before
                yield self._replay(stage, left)
                continue
            tried = [self._pursued((*self.current.concepts, c), t) for c, t in self._trials(left)]
            if not tried:
                break
            best = max(tried, key=lambda found: found.key)
            grows = _grows(best.key, self.current.key)
            for found in tried:
                self._judge(stage, found, found is best and grows, grows)
            if not grows:
                break
            self._accept(best)
            yield self.current, self._info(stage, len(tried))

    def _replay(self, stage: str, candidates: Sequence[Concept]) -> tuple[Pursued, dict[str, Any]]:
        """Take again what was taken before the interruption."""
        wanted = self.replayed.pop(0).concept
        chosen = [c for c in candidates if str(c) == wanted]
        if not chosen:
            raise LearningError(
                f"cannot resume: {wanted} was taken before, but is no candidate now; start again without the checkpoint"
            )
        self._accept(self._pursued((*self.current.concepts, chosen[0]), self._trials(chosen)[0][1]))
        return self.current, self._info(stage, 0)

    def _trials(self, candidates: Sequence[Concept]) -> list[tuple[Concept, Trial]]:
        """Fit the current concepts with each candidate; of many, only those that the gradient of J finds promising."""
        if not candidates:
            return []
        base = self.current.concepts
        values, missing = self.study.training.matrix([*base, *candidates])
        terms = [self.study.term(c, values[:, k], missing[:, k]) for k, c in enumerate([*base, *candidates])]
        n = len(base)
        common = features(terms[:n], values[:, :n], missing[:, :n])
        parts = [features(terms[k : k + 1], values[:, k : k + 1], missing[:, k : k + 1]) for k in range(n, len(terms))]
        chosen = range(len(candidates))
        if len(candidates) > self.settings.screen:
            chosen = self._promising(common, parts)
        results = []
        for k in chosen:
            matrix = np.hstack([common, parts[k]])
            trial = self.study.fit_features([*terms[:n], terms[n + k]], matrix)
            results.append((candidates[k], trial))
        return results

    def _promising(self, common: Floats, parts: Sequence[Floats]) -> Any:
        slopes = self.study.objective.slopes(common, self.current.trial.fit.weights)
        pull = np.array([np.abs(part.T @ slopes).max() for part in parts])
        return np.sort(np.argsort(-pull, kind="stable")[: self.settings.screen])

    def _close(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """Precedence closure: require what always came first to come first; one refit."""
        wanted = self._order_concepts(self.current.concepts)
        if not wanted:
            return
        found = self._pursued((*self.current.concepts, *wanted), self.study.fit((*self.current.concepts, *wanted)))
        gain = found.key[1] - self.current.key[1]
        grows = found.key[0] >= self.current.key[0] - SAME_TAU
        for concept in wanted:
            reason = (
                "in every demonstration the one came before the other"
                if grows
                else "the demonstrations' tau would fall"
            )
            self._note("order", str(concept), grows, gain, reason, found.key[0])
        if grows:
            self._accept(found)
            yield self.current, self._info("order", len(wanted))

    def _finish(self) -> Iterator[tuple[Pursued, dict[str, Any]]]:
        """A last round of samples and a last fit, where the pools are not exact."""
        if not self.study.exact:
            self.study.grow(self.current.trial.utility)
        self.current = self._pursued(self.current.concepts, self.study.fit(self.current.concepts))
        yield self.current, self._info("done", 0)

    # --- bookkeeping ---

    def _pursued(self, concepts: Sequence[Concept], trial: Trial) -> Pursued:
        cost = sum(
            self.settings.kappa * max(c.complexity, 1) + self.settings.constant_cost * len(constants(c))
            for c in concepts
        )
        return Pursued(tuple(concepts), trial, (trial.tau(self.settings.tolerance), trial.fit.objective - cost))

    def _accept(self, found: Pursued) -> None:
        self.current = found
        if not self.study.exact or self.settings.objective != "likelihood":
            self.study.grow(found.trial.utility)
            self.current = self._pursued(found.concepts, self.study.fit(found.concepts))

    def _judge(self, stage: str, found: Pursued, taken: bool, grows: bool) -> None:
        gain = found.key[1] - self.current.key[1]
        if taken:
            reason = "tau grows" if found.key[0] > self.current.key[0] + SAME_TAU else "the posterior grows"
        elif grows:
            reason = "another candidate was better"
        else:
            reason = "neither tau nor the posterior grows"
        self._note(stage, str(found.concepts[-1]), taken, gain, reason, found.key[0])

    def _note(self, stage: str, concept: str, taken: bool, gain: float, reason: str, tau: float = 0.0) -> None:
        self.decisions.append(Decision(len(self.decisions) + 1, stage, concept, taken, tau, gain, reason))

    def _info(self, stage: str, tried: int) -> dict[str, Any]:
        return {
            "stage": stage,
            "tried": tried,
            "concepts": [str(c) for c in self.current.concepts],
            "tau": self.current.key[0],
            "objective": self.current.trial.fit.objective,
            "decisions": tuple(self.decisions),
        }


def _grows(new: Key, old: Key) -> bool:
    if new[0] > old[0] + SAME_TAU:
        return True
    return new[0] >= old[0] - SAME_TAU and new[1] > old[1] + LEAST_GAIN
