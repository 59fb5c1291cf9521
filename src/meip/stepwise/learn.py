"""The stepwise regime of the learner: from a few demonstrations to a utility, or a committee of utilities.

For long plans and many actions. Candidate concepts are counts; a demonstrated step is a choice among the successors,
by the softmax of what they add to g; an L1 price times complexity selects. Leave-one-demonstration-out chooses the
price; held-out training problems, walked greedily, choose between one full model and a committee.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.concepts.check import kind
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.errors import LearningError
from meip.stepwise.candidates import Candidates, find_candidates
from meip.stepwise.objective import Problem, build_problem, fit, log_likelihood
from meip.stepwise.score import UtilityScore, greedy_walk
from meip.stepwise.steps import ALTERNATIVES, Demonstrated, Steps
from meip.training import Episode
from meip.utility import Utility, UtilityTerm

__all__ = ["Progress", "Stage", "StepwiseOptions", "StepwiseResult", "learn_stepwise", "stepwise"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class StepwiseOptions:
    """The constants of the recipe; the same for every domain."""

    grammar: Grammar = field(default_factory=Grammar.planning)
    strengths: tuple[float, ...] = (0.0005, 0.001, 0.002, 0.005)
    """Prices per primitive of a concept, to choose from."""
    margin: float = 0.5
    members: int = 10
    share: float = 0.5
    """Of the candidate concepts, for each member of the committee."""
    alternatives: int = ALTERNATIVES
    """Of demonstrated steps, in all; longer demonstrations are thinned out."""
    patience: int = 4
    """A greedy walk in a held-out problem may take this many times as many steps as were shown there."""
    choice: str = "auto"
    """"auto", or one of the models by name: "single", "single-reordered", "committee"."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.choice not in ("auto", *MODELS):
            raise LearningError(f"choice={self.choice!r}: expected auto or one of {', '.join(MODELS)}")
        if not self.strengths or min(self.strengths) < 0:
            raise LearningError(f"strengths={self.strengths}: give at least one, none of them negative")


MODELS = ("single", "single-reordered", "committee")
LONGER = 1.25  # a committee generalises better than a single model unless its walks are longer than this


@dataclass(frozen=True)
class StepwiseResult:
    """What was learned, and the evidence for each choice on the way."""

    utilities: tuple[Utility, ...]
    evidence: dict[str, Any]


@dataclass(frozen=True)
class Stage:
    """What is carried on between the stages of learning."""

    name: str
    result: StepwiseResult | None = None


def learn_stepwise(
    episodes: Sequence[Episode], options: StepwiseOptions | None = None, progress: Progress | None = None
) -> StepwiseResult:
    """Learn by the stepwise regime; the same seed gives the same result."""
    result: StepwiseResult | None = None
    for state, info in stepwise(episodes, options or StepwiseOptions()):
        if progress is not None:
            progress(info)
        result = state.result
    if result is None:
        raise LearningError("the stepwise regime ended without a result")
    return result


def stepwise(episodes: Sequence[Episode], options: StepwiseOptions) -> Iterator[tuple[Stage, dict[str, Any]]]:
    """The stages as they happen: (what is carried on, what is only for looking at)."""
    steps = Steps(episodes, seed=options.seed, alternatives=options.alternatives)
    choices = sum(len(d.choices) for d in steps.demonstrations)
    yield Stage("steps"), {"stage": "steps", "steps": choices, "states": steps.states}
    candidates = find_candidates(steps.denotation(), steps.problem_of, options.grammar)
    levels = [{"level": i.level, "concepts": i.concepts, "stopped": i.stopped} for i in candidates.levels]
    yield Stage("candidates"), {"stage": "candidates", "concepts": len(candidates.concepts), "levels": levels}
    study = _Study(steps, candidates, options)
    strengths = {also: study.choose_strength(also) for also in (False, True)}
    yield Stage("strength"), {"stage": "strength", "strengths": [s for s, _ in strengths.values()]}
    tried: dict[str, dict[str, Any]] = {}
    chosen = {also: strength for also, (strength, _) in strengths.items()}
    for name in MODELS if options.choice == "auto" else (options.choice,):
        if options.choice == "auto":
            tried[name] = study.held_out(name, chosen)
            yield Stage("held-out"), {"stage": "held-out", "model": name, **tried[name]}
    winner = options.choice if options.choice != "auto" else _winner(tried)
    utilities = study.fit_model(winner, steps.demonstrations, chosen)
    evidence = {
        "regime": "stepwise",
        "concepts": len(candidates.concepts),
        "levels": levels,
        "strengths": {_order_name(also): {"chosen": s, "held_out": h} for also, (s, h) in strengths.items()},
        "models": tried,
        "model": winner,
        "seed": options.seed,
    }
    result = StepwiseResult(tuple(utilities), evidence)
    yield Stage("fitted", result), {"stage": "fitted", "model": winner, "members": len(utilities)}


def _order_name(also: bool) -> str:
    return "reordered" if also else "as shown"


def _winner(tried: dict[str, dict[str, Any]]) -> str:
    """Most held-out problems solved; the committee if it is among the best and its walks are not much longer."""
    most = max(one["solved"] for one in tried.values())
    best = [name for name, one in tried.items() if one["solved"] == most]
    shortest = min(tried[name]["length"] for name in best)
    if "committee" in best and tried["committee"]["length"] <= LONGER * shortest:
        return "committee"
    return min(best, key=lambda name: float(tried[name]["length"]))


class _Study:
    """Fits models to some of the demonstrations, and tries them on the others."""

    def __init__(self, steps: Steps, candidates: Candidates, options: StepwiseOptions) -> None:
        self.steps, self.candidates, self.options = steps, candidates, options
        self.complexity = np.array([c.complexity for c in candidates.concepts], np.float64)
        problems = sorted({d.problem for d in steps.demonstrations})
        self.folds = [
            (
                [d for d in steps.demonstrations if d.problem != held],
                [d for d in steps.demonstrations if d.problem == held],
            )
            for held in problems
        ]
        if len(problems) == 1:
            self.folds = []

    def choose_strength(self, also: bool) -> tuple[float, dict[str, float]]:
        """The price under which held-out steps are likeliest, and the mean log-likelihood by price."""
        strengths = sorted(self.options.strengths, reverse=True)
        if not self.folds:
            return strengths[len(strengths) // 2], {}
        found = np.zeros(len(strengths))
        values = self.candidates.values
        for train, test in self.folds:
            problem, held = build_problem(values, train, also), build_problem(values, test, also)
            w: Floats | None = None
            for n, strength in enumerate(strengths):
                w = fit(problem, strength * self.complexity, w, self.options.margin)
                found[n] += log_likelihood(held, w) / len(self.folds)
        best = strengths[int(np.argmax(found))]
        return best, {f"{s:g}": float(v) for s, v in zip(strengths, found, strict=True)}

    def held_out(self, name: str, strengths: dict[bool, float]) -> dict[str, Any]:
        """Walk greedily in each problem with what was learned from the others."""
        solved, length, ratios = 0, 0.0, []
        for train, test in self.folds:
            utilities = self.fit_model(name, train, strengths)
            score = UtilityScore(self.steps.domain, utilities)
            shown = test[0].steps
            limit = self.options.patience * shown + 10
            walk = greedy_walk(test[0].graph, score, limit)
            solved += walk.solved
            length += (walk.steps if walk.solved else limit) / max(shown, 1)
            ratios.append(walk.steps / max(shown, 1) if walk.solved else None)
        return {"solved": solved, "of": len(self.folds), "length": length / max(len(self.folds), 1), "walks": ratios}

    def fit_model(
        self, name: str, demonstrations: Sequence[Demonstrated], strengths: dict[bool, float]
    ) -> list[Utility]:
        """The utilities of a model by name."""
        if name != "committee":
            return [self._single(demonstrations, name == "single-reordered", strengths)]
        return [self._member(m, demonstrations, strengths) for m in range(self.options.members)]

    def _single(self, demonstrations: Sequence[Demonstrated], also: bool, strengths: dict[bool, float]) -> Utility:
        problem = build_problem(self.candidates.values, demonstrations, also)
        w = fit(problem, strengths[also] * self.complexity, None, self.options.margin)
        return self._utility(self.candidates.concepts, w)

    def _member(self, number: int, demonstrations: Sequence[Demonstrated], strengths: dict[bool, float]) -> Utility:
        rng = np.random.default_rng([self.options.seed, number])
        count = len(self.candidates.concepts)
        some = np.sort(rng.choice(count, max(1, round(self.options.share * count)), replace=False))
        picks = [self.candidates.twins[k][int(rng.integers(len(self.candidates.twins[k])))] for k in some]
        also = number % 2 == 1
        problem = build_problem(np.ascontiguousarray(self.candidates.values[:, some]), demonstrations, also)
        prices = strengths[also] * np.array([c.complexity for c, _ in picks], np.float64)
        w = fit(problem, prices, None, self.options.margin)
        w = w / _spread(problem, w) * np.array([sign for _, sign in picks])
        return self._utility([c for c, _ in picks], w)

    def _utility(self, concepts: Sequence[Concept], w: Floats) -> Utility:
        return Utility(
            tuple(
                UtilityTerm(concepts[k], _kind(concepts[k], self.steps), (), (float(w[k]),))
                for k in np.flatnonzero(w).tolist()
            )
        )


def _spread(problem: Problem, w: Floats) -> float:
    """How much the increments of a member differ, so that members have equal votes."""
    active = np.flatnonzero(w)
    if not len(active) or not problem.rises.shape[1]:
        return 1.0
    total = np.zeros(problem.rises.shape[1])
    for k in active:
        total += w[k] * problem.rises[k]
    return float(total.std()) or 1.0


def _kind(concept: Concept, steps: Steps) -> Any:
    return "boolean" if kind(concept, steps.domain) == "boolean" else "linear"
