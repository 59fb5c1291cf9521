"""A committee: several utilities, each from its own random share of the concepts, whose mean tau is planned for.

Where alternatives are many and demonstrations few, one utility picks up what happens to hold on the problems that
were shown. Members that may not use the same concepts make different mistakes, and a plan that most of them rank
well is one for which there are several reasons.

A member is found greedily: at each round the gradient of the per-step likelihood (softmax of the increment
sum_{j<t} tanh(g(c) - g(s_j)) over the alternatives of each demonstrated step) says which concepts would help most,
those few are fitted, and the best is kept while it pays its price. The features of all candidates are computed once.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.base.errors import LearningError
from meip.base.parallel import Backend, parallel_map
from meip.concepts.bank import ConceptBank
from meip.concepts.grammar import Grammar
from meip.concepts.language import Composite, Concept
from meip.concepts.parser import parse_concept
from meip.learning.checkpoint import Checkpoint, Decision, Learned
from meip.learning.learner import Study, StudyOptions
from meip.learning.likelihood import Fit, Likelihood, LikelihoodOptions
from meip.learning.options import Progress
from meip.learning.ranking_svm import RankedPairs, combine, demonstration_pairs, first_deviation_pairs, fit_ranking
from meip.learning.selection import deduplicate, relevant
from meip.learning.shown import ChanceFailures, ShownPlans
from meip.model.choices import Replayed
from meip.model.demonstrations import Episode
from meip.search.pool import PoolOptions
from meip.utility.ordering import kendall_tau
from meip.utility.terms import KNOTS, Utility, UtilityTerm, features, with_weights

__all__ = ["Candidates", "CommitteeOptions", "learn_committee", "relative"]

ROUGH = 1e-2  # slope left over when candidates are compared


def relative(concept: Concept) -> Composite:
    """A concept relative to its value in the initial state of the problem (an extension of the paper's language)."""
    return Composite("-", (concept, Composite("initial", (concept,))))


@dataclass(frozen=True)
class CommitteeOptions:
    """How a committee is learned."""

    members: int = 40
    share: float = 0.2
    """Of the candidate concepts, for each member: small shares make members differ, so that their mistakes do."""
    most: int = 4
    """Concepts of a member, at most."""
    grammar: Grammar = field(default_factory=Grammar.shares)
    relative: bool = True
    """Also every level-1 concept relative to its initial value."""
    knots: int = KNOTS
    price: float = 0.25
    """Per primitive of a concept: what it must add to the objective at least."""
    screen: int = 6
    """Candidates per round that are fitted; the others are judged by the gradient."""
    selection: LikelihoodOptions = field(default_factory=lambda: LikelihoodOptions(plans=0.0, steps=1.0))
    """The objective that concepts are chosen by: the likelihood of steps."""
    weights: LikelihoodOptions | None = None
    """The objective that the weights are fitted by in the end, e.g. with whole plans; None: the same, or, where there
    are `branches`, the likelihood of steps and of whole plans."""
    branches: int = 0
    """Plans per demonstration that leave it half-way, and as many that have nothing to do with it: what whole plans
    are compared with in the end. 0: only steps are compared."""
    chance_failures: ChanceFailures = "non-modal"
    concepts: tuple[str, ...] | None = None
    """Only these, and all of them, as texts: nothing is selected, and there is one member."""
    objective: Literal["likelihood", "svm"] = "likelihood"
    """"svm": the weights of the chosen concepts by the Ranking SVM instead (ablation)."""
    seed: int = 0

    def __post_init__(self) -> None:
        if min(self.members, self.most, self.screen) < 1 or not 0 < self.share <= 1 or self.branches < 0:
            raise LearningError(f"a committee has at least one member with at least one concept, got {self}")
        if not self.selection.steps:
            raise LearningError("concepts of a committee are chosen by the likelihood of steps: selection.steps > 0")


@dataclass(frozen=True)
class Candidates:
    """Relevant concepts with different values, ready to be fitted: basis and features of each."""

    terms: tuple[UtilityTerm, ...]
    parts: tuple[Floats, ...]  # [rows, size of the term] each
    listed: int
    """Concepts that the grammar gave."""

    @classmethod
    def of(cls, study: Study, options: CommitteeOptions) -> Candidates:
        training = study.training
        if options.concepts is not None:
            return cls._given(study, options.concepts)
        concepts: list[Concept] = []
        for level, found, _ in ConceptBank(training.domain, options.grammar).levels():
            concepts += found
            if level == 1 and options.relative:
                concepts += [relative(c) for c in found]
        values, missing = training.matrix(concepts)
        moving = relevant(values, training.demonstrated_rows(), missing)
        kept = np.flatnonzero(moving)
        distinct = deduplicate([concepts[k] for k in kept], values[:, kept], missing[:, kept])
        chosen = kept[list(distinct.kept)]
        if not len(chosen):
            raise LearningError("no concept of the grammar changes within a demonstration: allow more of the grammar")
        return cls._fitted(study, [concepts[k] for k in chosen], values[:, chosen], missing[:, chosen], len(concepts))

    @classmethod
    def _given(cls, study: Study, texts: Sequence[str]) -> Candidates:
        concepts = [parse_concept(text, study.training.domain) for text in texts]
        return cls._fitted(study, concepts, *study.training.matrix(concepts), len(concepts))

    @classmethod
    def _fitted(
        cls, study: Study, concepts: Sequence[Concept], values: Floats, missing: Bools, listed: int
    ) -> Candidates:
        terms = [study.term(c, values[:, k], missing[:, k]) for k, c in enumerate(concepts)]
        parts = [features([term], values[:, [k]], missing[:, [k]]) for k, term in enumerate(terms)]
        return cls(tuple(terms), tuple(parts), listed)


def learn_committee(
    episodes: Sequence[Episode] | Replayed,
    options: CommitteeOptions | None = None,
    progress: Progress | None = None,
    *,
    jobs: int = 1,
    backend: Backend = "loky",
    checkpoint: Checkpoint | None = None,
) -> Learned:
    """Learn a committee, the same for any number of jobs; `progress` is told {"stage", "member", "members"}.

    `checkpoint` keeps the concepts of each member that is done.
    """
    options = options or CommitteeOptions()
    tell = progress or (lambda info: None)
    begun = time.perf_counter()
    training = ShownPlans(episodes, chance_failures=options.chance_failures, seed=options.seed)
    tell({"stage": "alternatives", "member": 0, "members": options.members})
    study = Study(training, StudyOptions("likelihood", options.selection, knots=options.knots, seed=options.seed))
    candidates = Candidates.of(study, options)
    prepared = time.perf_counter()
    found: list[tuple[list[int], tuple[Decision, ...]]] = [(list(range(len(candidates.terms))), ())]
    if options.concepts is None:
        found = parallel_map(
            _Selector(study.objective, candidates, options, checkpoint),
            range(options.members),
            jobs=jobs,
            backend=backend,
            progress=lambda done, total: tell({"stage": "members", "member": done, "members": total}),
        )
    chosen = [positions for positions, _ in found]
    utilities, taus = _weigh(study, candidates, chosen, options)
    evidence = {
        "demonstrations": len(training.shown),
        "concepts": candidates.listed,
        "candidates": len(candidates.terms),
        "alternatives": _alternatives(training),
        "chosen": [[str(candidates.terms[k].concept) for k in one] for one in chosen],
        "tau": taus,
        "seconds": {"prepare": prepared - begun, "learn": time.perf_counter() - prepared},
    }
    return Learned(utilities, evidence, found[0][1])


def _alternatives(training: ShownPlans) -> int:
    """States that demonstrated ones were compared with."""
    return sum(
        len(training.graphs[case.graph].successors(state)) for case, shown in training.shown for state in shown.intended
    )


@dataclass(frozen=True)
class _Selector:
    """Finds the concepts of one member; what it holds can be sent to another process."""

    objective: Likelihood
    candidates: Candidates
    options: CommitteeOptions
    checkpoint: Checkpoint | None

    def __call__(self, member: int, rng: np.random.Generator) -> tuple[list[int], tuple[Decision, ...]]:
        """Positions of the concepts, in the order in which they were taken, and the decisions."""
        kept = () if self.checkpoint is None else self.checkpoint.decisions(member)
        if kept:
            place = {str(term.concept): k for k, term in enumerate(self.candidates.terms)}
            return [place[decision.concept] for decision in kept], kept
        chosen, decisions = self._select(member)
        if self.checkpoint is not None:
            self.checkpoint.keep(member, decisions)
        return chosen, tuple(decisions)

    def _select(self, member: int) -> tuple[list[int], list[Decision]]:
        parts, options = self.candidates.parts, self.options
        rng = np.random.default_rng([options.seed, member])
        open_ = np.flatnonzero(rng.random(len(parts)) < options.share).tolist() or [0]
        chosen: list[int] = []
        decisions: list[Decision] = []
        matrix, weights = np.zeros((len(parts[0]), 0)), np.zeros(0)
        best = self.objective.evaluate(matrix, weights)[0]
        while open_ and len(chosen) < options.most:
            slopes = self.objective.slopes(matrix, weights)
            pull = np.array([_pull(parts[k], slopes) for k in open_])
            promising = [open_[int(at)] for at in np.argsort(-pull, kind="stable")[: options.screen]]
            gain, k, wider, fit = max((self._try(matrix, weights, k) for k in promising), key=lambda one: one[0])
            if gain <= best:
                break
            chosen.append(k)
            decisions.append(self._decision(member, k, wider @ fit.weights, gain - best, len(open_)))
            open_.remove(k)
            matrix, weights, best = wider, fit.weights, fit.objective
        return chosen, decisions

    def _try(self, matrix: Floats, weights: Floats, k: int) -> tuple[float, int, Floats, Fit]:
        """The objective with one more concept, its price paid."""
        part = self.candidates.parts[k]
        wider = np.hstack([matrix, part])
        fit = self.objective.fit(wider, np.concatenate([weights, np.zeros(part.shape[1])]), tolerance=ROUGH)
        cost = self.options.price * max(self.candidates.terms[k].concept.complexity, 1)
        return fit.objective - cost, k, wider, fit

    def _decision(self, member: int, k: int, g: Floats, gain: float, among: int) -> Decision:
        concept = str(self.candidates.terms[k].concept)
        tau = float(np.mean([kendall_tau(g[rows]) for rows in self.objective.demonstrated]))
        why = f"makes the demonstrated steps likeliest, of {among} concepts that this member could take"
        return Decision(1, f"member {member + 1}", concept, True, tau, float(gain), why)


def _pull(part: Floats, slopes: Floats) -> float:
    """How much a concept would help, to first order: its gradient, relative to how much it differs between states."""
    gradient = part.T @ slopes
    spread = part.std(axis=0).max()
    return float(np.sqrt((gradient**2).sum()) / max(spread, 1e-9) ** 0.5)


def _weigh(
    study: Study, candidates: Candidates, chosen: Sequence[Sequence[int]], options: CommitteeOptions
) -> tuple[tuple[Utility, ...], list[float]]:
    """Fit the weights of each member's concepts, by the final objective."""
    last = _plan_study(study, options) if options.weights or options.branches else study
    pairs = _step_pairs(study) if options.objective == "svm" else None
    utilities, taus = [], []
    for member in chosen:
        terms = [candidates.terms[k] for k in member]
        values, missing = last.training.matrix([term.concept for term in terms])
        matrix = features(terms, values, missing)
        if pairs is None:
            weights = last.objective.fit(matrix).weights
        else:
            weights = fit_ranking(matrix, pairs, margin=1.0).w
        g = matrix @ weights
        utilities.append(with_weights(terms, weights))
        taus.append(float(np.mean([kendall_tau(g[rows]) for rows in last.training.demonstrated_rows()])))
    return tuple(utilities), taus


def _plan_study(study: Study, options: CommitteeOptions) -> Study:
    """The same training set with pools of whole plans: half at random, half off the demonstrations' prefixes."""
    likelihood = options.weights or replace(options.selection, plans=1.0)
    pool = PoolOptions(exact_limit=1, rollouts=max(options.branches, 1), samples=0)
    chosen = StudyOptions("likelihood", likelihood, pool, options.knots, options.branches, options.seed)
    return Study(study.training, chosen)


def _step_pairs(study: Study) -> RankedPairs:
    """Pairs for the Ranking SVM: demonstrations in order, and every alternative of a demonstrated step ranks below the
    states on the way to it (it is the first deviation of a plan that leaves the demonstration there)."""
    training = study.training
    chains = []
    for case, shown in training.shown:
        states = np.array(shown.intended, np.int64)
        path = training.rows(case.graph, states)
        made = []
        for t, state in enumerate(shown.intended[:-1]):
            others = training.rows(case.graph, np.unique(training.graphs[case.graph].successors(state)))
            made += [[*path[: t + 1], other, *[-1] * (len(path) - t - 2)] for other in others]
        lengths = np.array([sum(row >= 0 for row in plan) for plan in made], np.int64)
        chains.append(demonstration_pairs(path[None, :], np.array([len(path)])))
        chains.append(first_deviation_pairs(path[None, :], np.array([len(path)]), np.array(made, np.int64), lengths))
    return combine(*chains)
