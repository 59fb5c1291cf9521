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
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.concepts.bank import ConceptBank
from meip.concepts.grammar import Grammar
from meip.concepts.language import Composite, Concept
from meip.concepts.selection import deduplicate, relevant
from meip.errors import LearningError
from meip.learner import Study, StudyOptions
from meip.likelihood import LikelihoodOptions
from meip.ordering import kendall_tau
from meip.pool import PoolOptions
from meip.ranksvm import Chains, combine, demonstration_pairs, first_deviation_pairs, fit_ranking
from meip.training import Episode, TrainingSet
from meip.utility import KNOTS, Utility, UtilityTerm, features, with_weights

__all__ = ["Candidates", "Committee", "CommitteeOptions", "learn_committee", "relative", "share_grammar"]

Floats = NDArray[np.float64]
Progress = Callable[[dict[str, Any]], None]
ROUGH = 1e-2  # slope left over when candidates are compared


def share_grammar(max_level: int = 2) -> Grammar:
    """Concepts by max, min and mean, where the mean of a predicate is the share of tuples that it is true of.

    Raw counts are left out: they grow with the number of entities and do not carry over to other problems. So are
    closures: on a problem with one more part they say something else (on hoodies every utility that used one failed).
    """
    return Grammar(quantifiers=(), predicate_mean=True, closure=False, max_level=max_level)


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
    grammar: Grammar = field(default_factory=share_grammar)
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
    """The objective that the weights are fitted by in the end, e.g. with whole plans; None: the same."""
    objective: Literal["likelihood", "svm"] = "likelihood"
    """"svm": the weights of the chosen concepts by the Ranking SVM instead (ablation)."""
    pool: PoolOptions = field(default_factory=lambda: PoolOptions(exact_limit=1, rollouts=100, samples=0))
    seed: int = 0

    def __post_init__(self) -> None:
        if self.members < 1 or self.most < 1 or self.screen < 1:
            raise LearningError(
                f"a committee has at least one member with at least one concept, got members={self.members}, "
                f"most={self.most}, screen={self.screen}"
            )
        if not 0 < self.share <= 1:
            raise LearningError(f"share of the concepts per member: above 0 and at most 1, got {self.share}")
        if not self.selection.steps:
            raise LearningError("concepts of a committee are chosen by the likelihood of steps: selection.steps > 0")


@dataclass(frozen=True)
class Committee:
    """What was learned, and what spoke for it."""

    utilities: tuple[Utility, ...]
    evidence: dict[str, Any]


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
        terms = [study.term(concepts[k], values[:, k], missing[:, k]) for k in chosen]
        parts = [features([term], values[:, [k]], missing[:, [k]]) for term, k in zip(terms, chosen, strict=True)]
        return cls(tuple(terms), tuple(parts), len(concepts))


def learn_committee(
    episodes: Sequence[Episode], options: CommitteeOptions | None = None, progress: Progress | None = None
) -> Committee:
    """Learn a committee; `progress` is told {"stage", "member", "members"} as it goes on."""
    options = options or CommitteeOptions()
    tell = progress or (lambda info: None)
    begun = time.perf_counter()
    training = TrainingSet(episodes, seed=options.seed)
    tell({"stage": "alternatives", "member": 0, "members": options.members})
    study = Study(training, StudyOptions("likelihood", options.selection, knots=options.knots, seed=options.seed))
    candidates = Candidates.of(study, options)
    prepared = time.perf_counter()
    chosen = []
    for member in range(options.members):
        chosen.append(_select(study, candidates, options, member))
        tell({"stage": "members", "member": member + 1, "members": options.members})
    utilities, taus = _weigh(study, candidates, chosen, options)
    evidence = {
        "demonstrations": len(training.shown),
        "concepts": candidates.listed,
        "candidates": len(candidates.terms),
        "chosen": [[str(candidates.terms[k].concept) for k in one] for one in chosen],
        "tau": taus,
        "seconds": {"prepare": prepared - begun, "learn": time.perf_counter() - prepared},
    }
    return Committee(utilities, evidence)


def _select(study: Study, candidates: Candidates, options: CommitteeOptions, member: int) -> list[int]:
    """Positions of a member's concepts, in the order in which they were taken."""
    rng = np.random.default_rng([options.seed, member])
    open_ = np.flatnonzero(rng.random(len(candidates.terms)) < options.share).tolist() or [0]
    chosen: list[int] = []
    rows = len(candidates.parts[0])
    matrix, weights = np.zeros((rows, 0)), np.zeros(0)
    best = study.objective.evaluate(matrix, weights)[0]
    while open_ and len(chosen) < options.most:
        slopes = study.objective.slopes(matrix, weights)
        pull = np.array([_pull(candidates.parts[k], slopes) for k in open_])
        tried = []
        for at in np.argsort(-pull, kind="stable")[: options.screen]:
            k = open_[int(at)]
            wider = np.hstack([matrix, candidates.parts[k]])
            start = np.concatenate([weights, np.zeros(candidates.parts[k].shape[1])])
            fit = study.objective.fit(wider, start, tolerance=ROUGH)
            cost = options.price * max(candidates.terms[k].concept.complexity, 1)
            tried.append((fit.objective - cost, k, wider, fit))
        gain, k, wider, fit = max(tried, key=lambda one: one[0])
        if gain <= best:
            break
        chosen.append(k)
        open_.remove(k)
        matrix, weights, best = wider, fit.weights, fit.objective
    return chosen


def _pull(part: Floats, slopes: Floats) -> float:
    """How much a concept would help, to first order: its gradient, relative to how much it differs between states."""
    gradient = part.T @ slopes
    spread = part.std(axis=0).max()
    return float(np.sqrt((gradient**2).sum()) / max(spread, 1e-9) ** 0.5)


def _weigh(
    study: Study, candidates: Candidates, chosen: Sequence[Sequence[int]], options: CommitteeOptions
) -> tuple[tuple[Utility, ...], list[float]]:
    """Fit the weights of each member's concepts, by the final objective."""
    last = study if options.weights is None else _plan_study(study, options)
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
    """The same training set with pools of whole plans."""
    return Study(
        study.training,
        StudyOptions("likelihood", options.weights or options.selection, options.pool, knots=options.knots),
    )


def _step_pairs(study: Study) -> Chains:
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
