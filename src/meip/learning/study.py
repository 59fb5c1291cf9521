"""The study of some demonstrations: their choices, the candidates, the fits to them, and which of them are odd."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats
from meip.base.errors import LearningError
from meip.base.parallel import Shared, Workers
from meip.base.running import digest, one_round
from meip.concepts.check import kind
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.learning.curves import SHARES, Curves, Weighed
from meip.learning.evidence import Evidence
from meip.learning.forms import Forms
from meip.learning.growth import BUDGET, Grown, Growth
from meip.learning.offers import offered
from meip.learning.options import View
from meip.learning.rules import Never, Nevers
from meip.learning.side_by_side import beside
from meip.learning.sparse import Problem, Strength, fit, softmax, strength_of
from meip.model.choices import Replayed
from meip.model.domain import Domain
from meip.utility.preferences import summed
from meip.utility.terms import KNOTS, Utility, UtilityTerm

__all__ = ["ChoiceOptions", "Model", "Study", "choice_grammar", "terms_of"]

MEMBERS, SHARE = 16, 0.5
WEIGHED = ("_fitted", "lesson", "strength", "_views", "_losses_without", "nevers", "rules", "_against_the_rules")
"""What depends on how often choices count."""
DONE_PRICE = 0.3
GIVEN = 1.5  # so many times dearer is a wish that compares with what the world gives: by chance many would do
SHOWN = 6  # wishes that are told of while the price is looked for
TOLERABLE = 1.1  # of the loss alone: small worlds left out need not show what weaving demonstrations is good for
SLIP = float(np.log(4))  # nats: a step that the others make four times less likely than by chance is a slip


@dataclass(frozen=True)
class ChoiceOptions:
    """The constants of the recipe; the same for every world."""

    grammar: Grammar
    concepts: tuple[str, ...] | None = None
    """Only these, as texts."""
    members: int = MEMBERS
    share: float = SHARE
    """Of the candidates, for each member."""
    order: bool = True
    """Keep first what always came first."""
    tolerance: float = 0.0
    """Share of the demonstrations that may be set aside."""
    view: View = "auto"
    knots: int = KNOTS
    score: str = "auto"
    """auto, choices or history: by what steps are compared."""
    relative: bool = True
    """Curves also of simple concepts relative to their value at the start."""
    seed: int = 0


def choice_grammar(domain: Domain, level: int = 3, most: int = BUDGET) -> Grammar:
    """What may be said: all about predicates of one argument, roles by restriction; where a domain declares copies of
    predicates for its goals, agreement with them."""
    if domain.has_goals:
        return Grammar.planning()
    return Grammar(
        predicate_mean=True,
        restriction=True,
        company=True,
        boolean_arity=1,
        closure=False,
        max_level=level,
        max_concepts=most,
    )


class Study:
    """Evidence, candidates and the fits to them."""

    def __init__(
        self,
        replayed: Replayed,
        options: ChoiceOptions,
        say: Callable[..., None],
        workers: Workers | None = None,
        numbers: Sequence[int] | None = None,
    ) -> None:
        self._numbers = numbers
        self.options, self.say, self.workers = options, say, workers or Workers()
        self.evidence = evidence = Evidence(replayed, options.seed)
        evidence.check()
        say(stage="choices", choices=evidence.count, alternatives=len(evidence.rows), states=evidence.size)
        self.levels: list[dict[str, Any]] = []
        self.cuts: list[str] = []
        self.thresholds: tuple[tuple[str, float], ...] = ()
        self.concepts = concepts = self._given() if options.concepts is not None else self._bank()
        say(stage="statements", concepts=len(concepts))
        values, missing = evidence.denotation.matrix(concepts)
        values = np.where(missing, np.nan, values)
        self.offers = offered(
            evidence,
            concepts,
            values,
            numbers=options.grammar.numbers,
            simple=options.concepts is not None,
            workers=self.workers,
        )
        chance = -float(np.log(np.diff(evidence.start)).sum())
        told = {"concepts": len(concepts), "candidates": len(self.offers.forms), "objective": chance}
        say(stage="candidates", choices=evidence.count, **told)
        self.problem = self._problem(concepts)

    @cached_property
    def _fitted(self) -> tuple[bool, dict[str, float], Strength]:
        """Are demonstrations also learned from side by side, what spoke for it, and the price."""
        folds, fold = self.evidence.folds, self.evidence.fold
        without = [self._lesson(d, False) for d in range(folds)] if folds > 1 else []
        alone = strength_of(self.problem, fold, without, self.workers, tell=self._priced)
        if not (self._adds_up and alone.losses):
            return False, {}, alone
        woven = [self._lesson(d, True) for d in range(folds)]
        both = strength_of(self.problem, fold, woven, self.workers, tell=self._priced)
        losses = {"alone": min(alone.losses), "side by side": min(both.losses)}
        better = losses["side by side"] <= TOLERABLE * losses["alone"]
        return better, losses, both if better else alone

    def _priced(self, strength: float, loss: float, found: Sequence[Floats]) -> None:
        """Tell what is wanted at a price, and how well demonstrations left out are foreseen by it, in nats."""
        mean = np.mean([weights[: self.size] for weights in found], axis=0)
        some = np.flatnonzero(np.abs(mean) > 1e-8)
        heavy = np.argsort(-np.abs(mean[some] * self.offers.changes[:, some].std(axis=0)), kind="stable")[:SHOWN]
        wanted = [(str(self.offers.forms.concept(int(j))), float(mean[j])) for j in some[heavy]]
        self.say(stage="price", strength=strength, objective=-loss, choices=self.evidence.count, wanted=wanted)

    @property
    def _adds_up(self) -> bool:
        """Does all that may be said add up over worlds side by side? It does where no numbers are named; but nobody
        stops in one of two worlds, or comes first in both."""
        options = self.options
        return not (options.grammar.numbers or options.concepts is not None or self.ranks or self.evidence.stop.any())

    def _lesson(self, without: int | None, side_by_side: bool) -> tuple[Problem, Floats]:
        evidence = self.evidence
        if not side_by_side:
            share = evidence.weight if without is None else evidence.weight * (evidence.fold != without)
            return self._as_dear(self.problem, share), share
        others = [d for d in range(evidence.kinds) if evidence.fold_of[d] != without]
        found = beside(self.problem, evidence.demo, others, self.options.seed, np.flatnonzero(evidence.corrected))
        share = np.ones(len(found.chosen))
        share[: evidence.corrected.sum()] = evidence.weight[evidence.corrected]
        return self._as_dear(found, share), share

    def weigh_corrections(self, weights: Floats) -> None:
        """Let right rather than wrong count as often as this for each correction, and fit again what depends on it."""
        evidence = self.evidence
        evidence.weight[evidence.instead] = weights[evidence.walk[evidence.instead] - len(evidence.paths)]
        for name in WEIGHED:
            self.__dict__.pop(name, None)

    @staticmethod
    def _as_dear(problem: Problem, share: Floats) -> Problem:
        """Where a choice counts more than once, statements cost what they did: the price is of the mean loss."""
        more = float(share.sum() - (share > 0).sum())
        return dataclasses.replace(problem, price=problem.price * (1 - more / share.sum())) if more else problem

    @cached_property
    def lesson(self) -> tuple[Problem, Floats]:
        """The choices to fit, and how much each counts; where that helps, also those of demonstrations side by side."""
        return self._lesson(None, self._fitted[0])

    @property
    def side_by_side(self) -> dict[str, float]:
        """How well demonstrations left out are foreseen without and with others side by side, in nats; or nothing."""
        return self._fitted[1]

    @cached_property
    def strength(self) -> Strength:
        """Of the price, by demonstrations left out."""
        found = self._fitted[2]
        self.say(stage="price", strength=found.value, side_by_side=self._fitted[0])
        return found

    @cached_property
    def _views(self) -> tuple[Curves | None, Weighed]:
        found = self._weighed(self.concepts)
        self.say(stage="curves", share=found[1].share)
        return found

    @property
    def curves(self) -> Curves | None:
        """Of real quantities, where they count."""
        return self._views[0]

    @property
    def weighed(self) -> Weighed:
        """How much curves count."""
        return self._views[1]

    def _given(self) -> list[Concept]:
        domain = self.evidence.domain
        found: list[Concept] = [parse_concept(text, domain) for text in self.options.concepts or ()]
        for concept in found:
            if kind(concept, domain) == "table":
                raise LearningError(f"{concept}: single choices are compared by sums, so that a table cannot be used")
        return found

    def _bank(self) -> list[Concept]:
        """The concepts to choose from. Growing the bank is a round of its own, of which the texts are kept."""
        evidence = self.evidence
        grown = one_round(
            lambda: "bank " + digest(evidence.start, evidence.chosen, evidence.walk),
            lambda: Growth(evidence, self.options.grammar, workers=self.workers, say=self.say).grown(),
            Grown.packed,
            lambda value: Grown.unpacked(value, evidence.domain),
        )
        self.levels, self.cuts, self.thresholds = grown.levels, grown.cuts, grown.thresholds
        return grown.concepts

    def _problem(self, concepts: Sequence[Concept]) -> Problem:
        """Forms, what comes first by a quantity, reasons to stop, and to stop, side by side."""
        evidence, offers = self.evidence, self.offers
        self.size, self.ranks, self.reasons = len(offers.forms), len(offers.ranked), len(offers.done)
        columns = np.hstack([offers.changes, offers.beaten, offers.stopped, evidence.stop[:, None].astype(np.float64)])
        self.offers = dataclasses.replace(offers, changes=columns[:, : self.size])  # one table of them is enough
        firsts = np.array([float(one.concept.complexity) for one in offers.ranked])
        self.complexity = np.concatenate([offers.prices, firsts, offers.done.prices, [0.0]])
        price = self.complexity * (self.options.concepts is None)
        price[self.size + self.ranks :] *= DONE_PRICE
        low, high = np.full(len(price), -np.inf), np.full(len(price), np.inf)
        high[self.size : self.size + self.ranks] = 0.0
        low[self.size + self.ranks : -1] = 0.0
        price[[j for j, row in enumerate(offers.forms.rows) if row.given]] *= GIVEN
        return Problem.of(evidence, columns, price, low, high)

    def _weighed(self, concepts: Sequence[Concept]) -> tuple[Curves | None, Weighed]:
        """The curves of real quantities, where there are any that change, and how much they count."""
        options, evidence, held_out = self.options, self.evidence, self.strength.held_out
        none = Weighed(0.0, 1.0, {})
        found = Curves(evidence, concepts, options.knots, start=options.relative, reasons=self.offers.stopped)
        if not len(found) or options.concepts is not None or not held_out:
            self._refuse_curves()
            return None, none
        if options.view == "sparse":
            return None, none
        found.fit(options.seed, self.workers)
        sparse = np.zeros(len(evidence.rows))
        for d, weights in enumerate(held_out):
            rows = (evidence.fold == d)[evidence.group]
            sparse[rows] = self.problem.columns[rows] @ weights
        weighed = found.weighed(sparse, (1.0,) if options.view == "curves" else SHARES)
        return (found if weighed.share else None), weighed

    def _refuse_curves(self) -> None:
        """Options of curves have no effect where there are none."""
        given = {name: getattr(self.options, name) for name in ("view", "knots", "relative")}
        for name, value in given.items():
            if value != getattr(ChoiceOptions, name):
                raise LearningError(
                    f"{name}={value!r} has no effect here: there are no curves where concepts are given, or no real "
                    "quantity changes, or there is one demonstration only; leave it out"
                )

    # --- which demonstrations ---

    def number(self, place: int) -> int:
        """The number of a demonstration among all that were given, from 1."""
        return 1 + (self._numbers[place] if self._numbers else place)

    @property
    def odds(self) -> Floats | None:
        """What alternatives count for beforehand; curves tell nearly all apart."""
        return self.problem.odds if self.curves is None else None

    def held_out_scores(self, d: int) -> Floats:
        """Of every alternative, by what the demonstrations of other folds taught."""
        found = (1 - self.weighed.share) * (self.problem.columns @ self.strength.held_out[d])
        if self.curves is not None:
            found += self.weighed.share * self.weighed.scale * (self.curves.changes @ self.curves.without(d))
        return np.asarray(found, np.float64)

    def foreseen(self) -> Floats:
        """How likely each alternative is by what the demonstrations of other kinds taught."""
        evidence = self.evidence
        found = np.zeros(len(evidence.rows))
        for d in range(evidence.folds):
            rows = (evidence.fold == d)[evidence.group]
            found[rows] = self.held_out_scores(d)[rows]
        return softmax(found, evidence.start, evidence.group, evidence.chosen, self.odds)[1]

    def loss_without(self, d: int) -> Floats:
        """Of every choice, by what the demonstrations of other folds taught."""
        return self._losses_without[d]

    @cached_property
    def _losses_without(self) -> list[Floats]:
        evidence, folds = self.evidence, range(len(self.strength.held_out))
        return [
            softmax(self.held_out_scores(d), evidence.start, evidence.group, evidence.chosen, self.odds)[0]
            for d in folds
        ]

    def held_out_loss(self) -> Floats:
        """Of each demonstration, by what the others taught: nats per choice."""
        evidence = self.evidence
        found = np.zeros(evidence.kinds)
        for d in range(evidence.kinds if self.strength.held_out else 0):
            mine = evidence.demo == d
            found[d] = self.loss_without(evidence.fold_of[d])[mine].mean() if mine.any() else 0.0
        return found[evidence.same]

    def slips(self) -> Floats:
        """Of each demonstration: how much less likely than by chance its oddest step is by what the others taught."""
        return np.array([self._oddest(d)[0] for d in range(self.evidence.kinds)])[self.evidence.same]

    def strange(self) -> list[tuple[int, int]]:
        """(demonstration, step) of those that the rest makes very unlikely, the strangest first; from 0."""
        few = len(self.evidence.paths) // 3  # where many are odd, none is unlike the others
        if len(self.evidence.paths) < 4:
            return []
        odd = self._oddest_first(few)
        slips = self.slips()
        return [(d, self._oddest(int(self.evidence.same[d]))[1]) for d in odd if slips[d] > SLIP]

    def _oddest_first(self, most: int) -> list[int]:
        """At most so many demonstrations, those with the oddest steps first; what is shown more often is not odd."""
        same, slips = self.evidence.same, self.slips()
        found: list[int] = []
        for each in dict.fromkeys(same[np.argsort(-slips, kind="stable")].tolist()):
            copies = np.flatnonzero(same == each).tolist()
            if len(found) + len(copies) <= most:
                found += copies
        return found

    def _oddest(self, kind: int) -> tuple[float, int]:
        """The surprise of the oddest step of a kind of demonstrations, in nats beyond chance, and its number."""
        evidence, first = self.evidence, self.evidence.representative(kind)
        mine = np.flatnonzero(evidence.walk == first)
        if not len(mine) or not self.strength.held_out:
            return 0.0, 0
        odds = np.ones(len(evidence.rows)) if self.odds is None else self.odds
        loss = self.loss_without(evidence.fold_of[kind]) - np.log(np.add.reduceat(odds, evidence.start[:-1]))
        loss = loss + self._against_the_rules
        place = mine[int(np.argmax(loss[mine]))]
        return float(loss[place]), int(np.flatnonzero(evidence.paths[first] == evidence.at[place])[0])

    @cached_property
    def nevers(self) -> Nevers:
        """What was possible and never done, or once."""
        return Nevers(self.evidence, self.offers, None if self.curves is None else self.foreseen())

    @cached_property
    def rules(self) -> list[Never]:
        """What of it is worth its price, and hunches; none where concepts are given."""
        return self.nevers.found() if self.options.concepts is None else []

    @cached_property
    def _against_the_rules(self) -> Floats:
        """Of each choice: what it cost somebody who keeps to the rules that only one demonstration broke."""
        broken = [rule.strength * rule.entered[self.evidence.chosen] for rule in self.rules if rule.broken]
        return np.sum(broken, axis=0) if broken else np.zeros(self.evidence.count)

    def to_set_aside(self) -> list[int]:
        """The demonstrations that the tolerance allows to leave out: those with the oddest steps."""
        count = len(self.evidence.paths)
        most = int(self.options.tolerance * count + 1e-9)
        found = self._oddest_first(most)
        if most and not found:
            raise LearningError(
                f"tolerance={self.options.tolerance:g} has no effect here: it allows to set {most} of {count} "
                "demonstrations aside, and each was shown more often than that; leave it out, or allow more"
            )
        return found

    # --- fits ---

    def members(self) -> Floats:
        """The mean of members on random halves of the candidates; reasons to stop are in all of them."""
        options, rng = self.options, np.random.default_rng([self.options.seed, 29])
        total = np.zeros(len(self.problem.price))
        rest = np.ones(len(total) - self.size, np.bool_)
        chosen = [np.append(rng.random(self.size) < options.share, rest) for _ in range(options.members)]
        found = self.workers.map_compiled(
            _fit_some,
            chosen,
            Shared((*self.lesson, self.strength.value)),
            progress=lambda done, members: self.say(stage="members", done=done, members=members),
        )
        for columns, weights in zip(chosen, found, strict=True):
            total[columns] += weights
        reached = -float(self.problem.foreseen(total / options.members)[0].sum())
        self.say(stage="members", done=options.members, members=options.members, objective=reached)
        return total / options.members

    def model(self, weights: Floats, curves: Floats | None) -> Model:
        """As much of the sparse view and of the curves as each counts."""
        weights, firsts = (1 - self.weighed.share) * weights, self.size + self.ranks
        bent = np.zeros(self.reasons + 1) if curves is None else self.weighed.share * self.weighed.scale * curves
        wishes, ending = weights[: self.size], weights[firsts:] + bent[len(bent) - self.reasons - 1 :]
        return Model(wishes, bent, weights[self.size : firsts], ending[:-1], float(ending[-1]))

    def without(self, d: int) -> Model:
        """What the demonstrations of other folds taught."""
        return self.model(self.strength.held_out[d], None if self.curves is None else self.curves.without(d))

    def utility(self, model: Model) -> Utility:
        curves = () if self.curves is None else self.curves.parts(model.bent)
        return summed([*terms_of(self.offers.forms, model.wishes), *curves])

    def gains(self, model: Model) -> Floats:
        """What each alternative adds to g [N]."""
        found = self.offers.changes @ model.wishes
        if self.curves is not None:
            bends = slice(self.curves.bends)
            found = found + self.curves.changes[:, bends] @ model.bent[bends]
        return found


def _fit_some(chosen: Bools, shared: tuple[Problem, Floats, float]) -> Floats:
    """A member, which sees some of the columns."""
    problem, every, strength = shared
    return fit(problem.only(chosen), strength, np.zeros(int(chosen.sum())), every)


class Model(NamedTuple):
    """Weights, each as much as its view counts."""

    wishes: Floats
    bent: Floats
    """Of the curves, of reasons to stop, and of stopping."""
    firsts: Floats
    """Of what comes first by a quantity."""
    reasons: Floats
    """Of what always held in the end."""
    stop: float


def terms_of(found: Forms, weights: Floats) -> list[UtilityTerm]:
    return [found.term(int(j), float(weights[j])) for j in np.flatnonzero(np.abs(weights) > 1e-8)]
