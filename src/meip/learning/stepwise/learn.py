"""Learning from single choices: from a few demonstrations to a utility, or a committee of utilities.

For long plans and many actions. Candidate concepts are counts; a demonstrated step is a choice among the successors,
by the softmax of what they add to g; an L1 price times complexity selects. Held-out steps decide how demonstrations are
read and whether their order matters, and with it between one full model and a committee; held-out training problems,
walked greedily, choose the price.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import LearningError
from meip.concepts.check import kind
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.learning.checkpoint import Learned
from meip.learning.options import Progress
from meip.learning.stepwise.candidates import find_candidates, given_candidates
from meip.learning.stepwise.objective import Problem, build_problem, fit, log_likelihood
from meip.learning.stepwise.steps import ALTERNATIVES, Demonstrated, Steps
from meip.model.choices import Replayed, replay_all
from meip.model.demonstrations import Episode
from meip.model.graph import StateGraph
from meip.search import greedy
from meip.search.query import Query
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility, UtilityTerm

__all__ = ["StepwiseOptions", "Trial", "learn_stepwise"]


@dataclass(frozen=True)
class StepwiseOptions:
    """The constants of the recipe; the same for every domain."""

    grammar: Grammar = field(default_factory=Grammar.planning)
    concepts: tuple[str, ...] | None = None
    """Only these, as texts."""
    strengths: tuple[float, ...] = (0.01, 0.004)
    """Prices per primitive of a concept, to choose from."""
    margin: float = 0.5
    members: int = 32
    tried: int = 8
    """Members of a committee that is tried on held-out problems."""
    pairs: int = 4
    """Pairs of training problems that are joined to larger ones, where the world knows how to; see `combined`."""
    only_needed: bool | None = None
    """In a world with a goal, leave out steps that it does not need; None: if what is left is easier to predict."""
    starts: int = 3
    """Random states of a held-out problem that are walked from as well."""
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
MEMBER_PRICE = 1.5  # members average out, so each may be simpler than a model that stands alone
SIMPLE = 2  # the level of concepts that decide how demonstrations are read
SURPRISE = 0.25  # in log-likelihood of a step: what is foreseen worse by this much was read wrongly


def learn_stepwise(
    given: Sequence[Episode] | Replayed, options: StepwiseOptions | None = None, progress: Progress | None = None
) -> Learned:
    """Learn from single choices; the same seed gives the same result, and the evidence for each choice on the way."""
    options, tell = options or StepwiseOptions(), progress or (lambda info: None)
    episodes = given if isinstance(given, Replayed) else replay_all(given)
    steps = Steps(episodes, options.seed, options.alternatives, options.only_needed)
    simple = dataclasses.replace(options.grammar, max_level=min(SIMPLE, options.grammar.max_level))
    reading = _Study(steps, options, simple).survey()
    tell({"stage": "reading", **reading})
    pairs = 0 if reading["order"]["matters"] else options.pairs
    steps = Steps(episodes, options.seed, options.alternatives, reading["reading"] == "needed", pairs)
    study = _Study(steps, options, options.grammar)
    study.begin(reading)
    tell({"stage": "candidates", **study.material()})
    tried: list[Trial] = []
    for trial in study.trials():
        tried.append(trial)
        tell({"stage": "held-out", **trial.as_evidence()})
    winner = _winner(tried)
    utilities = study.fit_model(winner.model, study.demonstrations, winner.strength)
    tell({"stage": "fitted", "model": winner.model, "members": len(utilities)})
    chosen = {"model": winner.model, "strength": winner.strength}
    trials = [trial.as_evidence() for trial in tried]
    return Learned(tuple(utilities), {**reading, **study.material(), "trials": trials, **chosen})


@dataclass(frozen=True)
class Trial:
    """How a model with one price did on demonstrations that it was not fitted to."""

    model: str
    strength: float
    solved: int = 0
    """Held-out problems in which a greedy walk reached the goal."""
    of: int = 0
    length: float = 0.0
    """Mean length of the walks in multiples of what was shown; the limit where the goal was not reached."""
    likelihood: float = 0.0
    """Mean log-likelihood of held-out steps."""

    def as_evidence(self) -> dict[str, Any]:
        return dataclasses.asdict(self)


def _winner(tried: Sequence[Trial]) -> Trial:
    """The model that solves most held-out problems; of those the one under which held-out steps are likeliest.

    A committee's mean is no probability, so that of two committees the one with the higher price is taken.
    """
    if any(trial.of for trial in tried) and all(trial.model == "committee" for trial in tried):
        return max(tried, key=lambda t: (t.solved, t.strength))
    return max(tried, key=lambda t: (t.solved, t.likelihood, t.strength))


def _folds(demonstrations: Sequence[Demonstrated]) -> list[tuple[list[Demonstrated], list[Demonstrated]]]:
    """(to fit, to try): each problem held out once, and the longer half held out from the shorter one."""
    shown = [d for d in demonstrations if len(d.parts) == 1]
    problems = sorted({d.problem for d in shown})
    if len(problems) < 2:
        return []
    longest = {p: max(d.steps for d in shown if d.problem == p) for p in problems}
    by_length = sorted(problems, key=lambda p: (longest[p], p))
    held = [{p} for p in problems]
    if len(problems) > 3:
        held.append(set(by_length[(len(problems) + 1) // 2 :]))
    return [([d for d in demonstrations if not d.parts & out], [d for d in shown if d.problem in out]) for out in held]


def _starts(graph: StateGraph, number: int, steps: int, rng: np.random.Generator) -> list[int]:
    """The initial state, and others that some random steps lead to: more walks to judge a model by."""
    found = [int(graph.initial[0])]
    for _ in range(number):
        state = found[0]
        for _ in range(int(rng.integers(1, max(steps, 1) + 1))):
            following = graph.successors(state) if graph.action_numbers(state) else []
            if not following:
                break
            state = following[int(rng.integers(len(following)))]
        found.append(state)
    return found


class _Study:
    """Fits models to some of the demonstrations, and tries them on the others."""

    def __init__(self, steps: Steps, options: StepwiseOptions, grammar: Grammar) -> None:
        self.steps, self.options = steps, options
        if options.concepts is None:
            self.candidates = find_candidates(steps.denotation(), steps.problem_of, grammar)
        else:
            self.candidates = given_candidates(steps.denotation(), options.concepts)
        self.demonstrations: list[Demonstrated] = []
        self.folds: list[tuple[list[Demonstrated], list[Demonstrated]]] = []
        self.starts: dict[int, list[int]] = {}
        self.in_order = False

    def material(self) -> dict[str, Any]:
        """What there is to learn from, and the concepts to choose from."""
        some = next(iter(self.steps.readings.values()))
        return {
            "steps": sum(len(d.choices) for d in some),
            "states": self.steps.states,
            "joined": self.steps.joined,
            "concepts": len(self.candidates.concepts),
            "levels": [
                {"level": i.level, "concepts": i.concepts, "stopped": i.stopped} for i in self.candidates.levels
            ],
        }

    def survey(self) -> dict[str, Any]:
        """How to read the demonstrations: under which reading are held-out steps easier to foresee?

        Steps that the goal does not need are accidents where they come as a surprise, and a habit where they do not.
        """
        found = {name: self._predicted(shown, reordered=False) for name, shown in self.steps.readings.items()}
        reading = max(found, key=lambda name: found[name] + SURPRISE * (name == "needed"))
        order = self._order(self.steps.readings[reading], found[reading])
        left_out = self.steps.left_out if reading == "needed" else 0
        return {"reading": reading, "readings": found, "left_out": left_out, "order": order}

    def begin(self, reading: dict[str, Any]) -> None:
        """Take the demonstrations by a reading that a survey found."""
        self.demonstrations = self.steps.readings[reading["reading"]]
        self.in_order = reading["order"]["matters"]
        self.folds = _folds(self.demonstrations)
        rng = np.random.default_rng([self.options.seed, 23])
        self.starts = {
            d.problem: _starts(d.graph, self.options.starts, d.steps, rng)
            for d in self.demonstrations
            if len(d.parts) == 1
        }

    def _order(self, demonstrations: Sequence[Demonstrated], likelihood: float) -> dict[str, Any]:
        """Does the order shown matter? It does if it is hard to foresee once other orders count as right as well."""
        if not any(c.also for d in demonstrations for c in d.choices):
            return {"matters": False}
        reordered = self._predicted(demonstrations, reordered=True)
        return {"shown": likelihood, "reordered": reordered, "matters": reordered < likelihood - SURPRISE}

    def _predicted(self, demonstrations: Sequence[Demonstrated], reordered: bool) -> float:
        """The mean log-likelihood of the steps shown in held-out problems, by a single model of the others."""
        folds = _folds(demonstrations)
        total = 0.0
        for train, test in folds:
            ranking = UtilityRanking([self._single(train, reordered, max(self.options.strengths))])
            total += self._likelihood(ranking, test)
        return total / (len(folds) or 1)

    def trials(self) -> Iterator[Trial]:
        """Models with falling prices, until all held-out problems are solved or a lower price helps no more.

        Small problems tell little about large ones, and what members of a committee have by chance averages out: so a
        committee, where problems have goals, unless the order shown matters, which averaging would blur.
        """
        models: tuple[str, ...] = (self.options.choice,)
        if self.options.choice == "auto":
            goals = any(d.graph.has_goal for d in self.demonstrations)
            models = ("single",) if self.in_order else ("committee",) if goals else ("single", "committee")
        strengths = sorted(self.options.strengths, reverse=True)
        if not self.folds:
            yield Trial(models[-1], strengths[0])
            return
        for name in models:
            before = -1
            for strength in strengths:
                trial = self._held_out(name, strength)
                yield trial
                if trial.of and (trial.solved == trial.of or trial.solved <= before):
                    break
                before = trial.solved

    def _held_out(self, name: str, strength: float) -> Trial:
        """Walk greedily in each problem with what was learned from the others."""
        lengths: list[float] = []
        solved, likelihood = 0, 0.0
        for train, test in self.folds:
            utilities = self.fit_model(name, train, strength, self.options.tried)
            ranking = UtilityRanking(utilities)
            likelihood += self._likelihood(ranking, test) / len(self.folds)
            for shown in {d.problem: d for d in test}.values():
                if not shown.graph.has_goal:
                    continue
                limit = self.options.patience * shown.steps + 10
                for start in self.starts[shown.problem]:
                    query = Query(horizon=limit + 1, iterations=limit, seed=self.options.seed)
                    walk = greedy.search(shown.graph, ranking, [start], query)
                    reached = walk.stopped_by == "goal"
                    solved += reached
                    lengths.append((walk.expansions if reached else limit) / max(shown.steps, 1))
        mean = float(np.mean(lengths)) if lengths else 0.0
        return Trial(name, strength, solved, len(lengths), mean, likelihood)

    def _likelihood(self, ranking: UtilityRanking, demonstrations: Sequence[Demonstrated]) -> float:
        """Mean log-likelihood of the steps shown, under the mean of the utilities."""
        g = ranking.mean_of(self.steps.domain, self.steps.blocks)[:, None]
        return log_likelihood(build_problem(g, demonstrations, also=False), np.ones(1))

    def fit_model(
        self, name: str, demonstrations: Sequence[Demonstrated], strength: float, members: int | None = None
    ) -> list[Utility]:
        """The utilities of a model by name."""
        if name != "committee":
            return [self._single(demonstrations, name == "single-reordered", strength)]
        count = self.options.members if members is None else members
        return [self._member(m, demonstrations, strength) for m in range(count)]

    def _single(self, demonstrations: Sequence[Demonstrated], also: bool, strength: float) -> Utility:
        problem = build_problem(self.candidates.values, demonstrations, also)
        w = fit(problem, strength * self.candidates.prices, None, self.options.margin)
        return self._utility(self.candidates.concepts, w)

    def _member(self, number: int, demonstrations: Sequence[Demonstrated], strength: float) -> Utility:
        rng = np.random.default_rng([self.options.seed, number])
        count = len(self.candidates.concepts)
        some = np.sort(rng.choice(count, max(1, round(self.options.share * count)), replace=False))
        picks = [self.candidates.twins[k][int(rng.integers(len(self.candidates.twins[k])))] for k in some]
        also = number % 2 == 1
        problem = build_problem(np.ascontiguousarray(self.candidates.values[:, some]), demonstrations, also)
        prices = MEMBER_PRICE * strength * self.candidates.prices[some]
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
