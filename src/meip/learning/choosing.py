"""Learning from choices: the one learner, the same for every world.

    choices -> candidates -> a sparse softmax -> never-rules -> order -> members -> preferences

Every demonstrated step is a choice among what could have been done there, stopping included. What is worth saying is
chosen by its price, whose strength is the one under which demonstrations left out are foreseen best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.concepts.bank import ConceptBank
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.learning import forms
from meip.learning.evidence import Evidence
from meip.learning.forms import Forms
from meip.learning.offers import Offers, offered
from meip.learning.rules import Never, always_first, chosen_first, nevers
from meip.learning.sparse import Problem, Strength, fit, path, strength_of
from meip.learning.stepwise.candidates import _Pruner
from meip.model.choices import Replayed
from meip.model.domain import Domain
from meip.search.choosing import DISCOUNT, Chooser
from meip.utility.preferences import Before, ChoiceRanking, First, HeldOut, Preferences, Rule, summed
from meip.utility.terms import Utility, UtilityTerm

__all__ = ["ChoiceOptions", "LearnedChoices", "learn_choices"]

MEMBERS, SHARE = 16, 0.5
CLOSURE = 2.0
DONE_PRICE = 0.3
PACE, SLOWEST = 0.5, 0.05


@dataclass(frozen=True)
class ChoiceOptions:
    grammar: Grammar
    members: int = MEMBERS
    share: float = SHARE
    closure: float = CLOSURE
    keep: float = 0.0
    drawn: int = 1
    first_price: float = 1.0
    seed: int = 0


@dataclass(frozen=True)
class LearnedChoices:
    utility: Utility
    preferences: Preferences
    evidence: dict[str, Any]


def choice_grammar(domain: Domain, level: int = 3, most: int = 6000) -> Grammar:
    goals = any(f.goal_of is not None for f in domain.fluents)
    return Grammar(
        predicate_mean=True, restriction=True, boolean_arity=1, closure=goals, goal_agreement=goals,
        composition=goals, mix_goals=not goals, max_level=level, max_concepts=most,
    )  # fmt: skip


class _Study:
    """Evidence, candidates and the fits to them."""

    def __init__(self, replayed: Replayed, options: ChoiceOptions) -> None:
        self.options = options
        self.evidence = evidence = Evidence(replayed, options.seed)
        evidence.check()
        self.levels: list[dict[str, Any]] = []
        concepts = self._bank()
        values, missing = evidence.denotation.matrix(concepts)
        values = np.where(missing, np.nan, values)
        self.offers = offers = offered(evidence, concepts, values)
        self.size, self.ranks, self.reasons = len(offers.forms), len(offers.ranked), len(offers.done)
        columns = np.ascontiguousarray(
            np.hstack([offers.changes, offers.beaten, offers.stopped, evidence.stop[:, None].astype(np.float64)])
        )
        firsts = options.first_price * np.array([float(concepts[k].complexity) for k, _ in offers.ranked])
        price = np.concatenate([offers.prices, firsts, DONE_PRICE * offers.done.prices, [0.0]])
        low, high = np.full(len(price), -np.inf), np.full(len(price), np.inf)
        high[self.size : self.size + self.ranks] = 0.0
        low[self.size + self.ranks : -1] = 0.0
        self.problem = Problem(columns, evidence.start, evidence.group, evidence.chosen, price, low, high)

    def _bank(self) -> list[Concept]:
        pruner = _Pruner(self.evidence.denotation)
        found: list[Concept] = []
        for level, concepts, info in ConceptBank(self.evidence.domain, self.options.grammar, pruner).levels():
            found += concepts
            self.levels.append({"level": level, "concepts": info.concepts, "stopped": info.stopped})
        return found

    def members(self, strength: Strength) -> Floats:
        """The mean of members on random halves of the candidates; reasons to stop are in all of them."""
        rng = np.random.default_rng([self.options.seed, 29])
        every = np.ones(self.evidence.count)
        found: list[tuple[float, Floats]] = []
        for _ in range(self.options.members * self.options.drawn):
            chosen = np.append(rng.random(self.size) < self.options.share, np.ones(self.ranks + self.reasons + 1, np.bool_))
            chosen[: self.size] |= self.offers.prices <= self.options.keep
            part = self.problem.only(chosen)
            weights = np.zeros(len(chosen))
            weights[chosen] = fit(part, strength.value, np.zeros(int(chosen.sum())), every)
            cost = self.problem.foreseen(weights)[0].mean() + strength.value * self.problem.price @ np.abs(weights)
            found.append((float(cost), weights))
        found.sort(key=lambda one: one[0])
        return np.asarray(np.mean([w for _, w in found[: self.options.members]], axis=0), np.float64)

    def split(self, weights: Floats) -> tuple[Floats, Floats, Floats, float]:
        """Of wishes, of what comes first by a quantity, of reasons to stop, and of stopping."""
        firsts = self.size + self.ranks
        return weights[: self.size], weights[self.size : firsts], weights[firsts:-1], float(weights[-1])


def learn_choices(replayed: Replayed, options: ChoiceOptions) -> LearnedChoices:
    study = _Study(replayed, options)
    evidence, offers = study.evidence, study.offers
    rules = nevers(evidence, offers)
    strength = strength_of(study.problem, evidence.demo, evidence.kinds)
    whole = path(study.problem, strength.value, np.ones(evidence.count))
    share = 1 / evidence.kinds if options.members else 1.0
    mean = share * whole + (1 - share) * study.members(strength) if share < 1 else whole
    wishes, firsts, reasons, stop = study.split(mean)
    ranked = np.flatnonzero(np.abs(firsts) > 1e-8)
    first = tuple(First(offers.forms.concepts[offers.ranked[j][0]], offers.ranked[j][1], float(firsts[j])) for j in ranked)
    gained = (offers.changes @ wishes)[evidence.chosen][~evidence.stop[evidence.chosen]]
    gained = gained[gained > 1e-9]
    order = always_first(evidence, offers, study.split(whole)[0]) if options.closure else []
    closed = _ordered(evidence, offers, order, max(options.closure, float(gained.max()) if len(gained) else 0.0))
    utility = summed(_terms(offers.forms, wishes))
    done = summed(_terms(offers.done, reasons))
    never = tuple(_rule(offers, rule) for rule in rules)
    held = _held_out(study, strength, ranked)
    preferences = Preferences(
        never, closed, first, done, stop, _least(study, reasons, stop), max(SLOWEST, PACE * float(gained.mean())) if len(gained) else SLOWEST,
        0.0, held,
    )  # fmt: skip
    tried = _patience(study, utility, preferences)
    preferences = Preferences(
        never, closed, first, done, stop, preferences.least, preferences.pace, max(tried, key=lambda p: tried[p]), held
    )
    told = {
        "gain": [float(gained.mean()) if len(gained) else 0, float(gained.max()) if len(gained) else 0],
        "levels": study.levels, "candidates": study.size, "strength": strength.value,
        "held_out_loss": list(strength.losses), "patience": {str(k): v for k, v in tried.items()},
        "choices": evidence.count, "order": [[str(offers.forms.concepts[b]), str(offers.forms.concepts[a])] for b, a in order],
    }  # fmt: skip
    return LearnedChoices(utility, preferences, told)


def _terms(found: Forms, weights: Floats) -> list[UtilityTerm]:
    return [found.term(int(j), float(weights[j])) for j in np.flatnonzero(np.abs(weights) > 1e-8)]


def _ordered(
    evidence: Evidence, offers: Offers, order: Sequence[tuple[int, int]], strength: float
) -> tuple[Before, ...]:
    concepts, true = offers.forms.concepts, np.nan_to_num(offers.values) > 0.5
    return tuple(
        Before(concepts[a], concepts[b], strength, chosen_first(evidence, true[:, b], true[:, a])) for b, a in order
    )


def _rule(offers: Offers, rule: Never) -> Rule:
    return Rule(offers.forms.concept(rule.form), rule.strength, rule.evidence, rule.price, rule.possible)


def _least(study: _Study, reasons: Floats, stop: float) -> float | None:
    """The least worth of stopping where a demonstration stopped by itself."""
    evidence = study.evidence
    rows = evidence.chosen[evidence.stop[evidence.chosen]]
    if not len(rows):
        return None
    return float((stop + study.offers.stopped[rows] @ reasons).min())


def _held_out(study: _Study, strength: Strength, ranked: Ints) -> tuple[HeldOut, ...]:
    evidence, offers = study.evidence, study.offers
    found = []
    for kind, weights in enumerate(strength.held_out):
        wishes, firsts, reasons, stop = study.split(weights)
        without = tuple(int(d) + 1 for d in np.flatnonzero(evidence.same == kind))
        mine = evidence.demo == kind
        loss = float(study.problem.foreseen(weights)[0][mine].mean()) if mine.any() else 0.0
        utility = summed(_terms(offers.forms, wishes))
        found.append(HeldOut(without, loss, utility, summed(_terms(offers.done, reasons)), stop, tuple(firsts[ranked].tolist())))
    return tuple(found)


def _patience(study: _Study, utility: Utility, preferences: Preferences) -> dict[float, float]:
    """How well choices of demonstrations left out are foreseen by one step while one gains, and by looking ahead."""
    evidence = study.evidence
    tried = dict.fromkeys((0.0, DISCOUNT), 0.0)
    ranking = ChoiceRanking(utility, preferences)
    for kind in range(evidence.kinds):
        number = evidence.representative(kind)
        walk = evidence.replayed.walks[number]
        graph = evidence.replayed.graphs[walk.graph]
        chooser = Chooser(graph, ranking, kind + 1 if preferences.held_out else 0)
        chooser.how = _as_seen(study, preferences, kind)
        seen: dict[int, int] = {}
        for t, state in enumerate(walk.states):
            seen[state] = seen.get(state, 0) + 1
            shown = _shown(chooser, graph, walk, t)
            if shown is None:
                continue
            for patience in tried:
                options = chooser.options(state, graph.horizon - t - 1, seen, patience)
                worth = np.append(options.worth, options.stop)
                tried[patience] += float(worth[shown] - np.logaddexp.reduce(worth))
    return tried


def _as_seen(study: _Study, preferences: Preferences, kind: int) -> Preferences:
    """With the least worth of stopping as a held-out model sees it."""
    if not preferences.held_out:
        return preferences
    held = preferences.held_out[kind]
    weights = np.zeros(study.reasons)
    names = {str(study.offers.done.concept(j)): j for j in range(study.reasons)}
    for term in held.done.terms:
        weights[names[str(term.concept)]] = term.weights[0]
    least = _least(study, weights, held.stop)
    return Preferences(least=least, pace=preferences.pace)


def _shown(chooser: Chooser, graph: Any, walk: Any, t: int) -> int | None:
    """The place of what was done at a step among the alternatives; None where nothing was chosen."""
    actions, outcomes = chooser.alternatives(walk.states[t])
    if t == len(walk.states) - 1:
        free = actions and len(walk.states) < graph.horizon and not graph.has_goal
        return len(actions) if free else None
    done = graph.outcomes_of(walk.states[t], walk.plan.actions[t])
    key = tuple(sorted((round(p, 12), s) for p, s in done if p > 0))
    return outcomes.index(key) if key in outcomes else None
