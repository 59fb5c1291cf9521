"""Learning from choices: the one learner, the same for every world.

    choices -> candidates -> a sparse softmax, and curves -> never-rules -> order -> members -> preferences

Every demonstrated step is a choice among what could have been done there, stopping included. What is worth saying is
chosen by its price, whose strength is the one under which demonstrations left out are foreseen best. Planning uses the
mean of many members; what is told is a small model of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.errors import LearningError
from meip.concepts.check import kind, slot
from meip.concepts.grammar import Grammar
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.learning import forms
from meip.learning.curves import SHARES, Curves, Weighed
from meip.learning.endings import always_in_the_end, with_endings
from meip.learning.evidence import Evidence
from meip.learning.forms import Forms
from meip.learning.growth import BUDGET, Growth
from meip.learning.offers import offered
from meip.learning.options import View
from meip.learning.readings import accidents, crossed, only_needed
from meip.learning.rules import BOUNDS, Never, Nevers, always_first, chosen_first, worth_telling
from meip.learning.selection import unless
from meip.learning.sparse import GRID, Problem, Strength, fit, once, path, softmax, strength_of
from meip.learning.told import Small, small_model
from meip.model.choices import Replayed, Walk
from meip.model.domain import Domain
from meip.model.graph import StateGraph
from meip.search.choosing import DISCOUNT, Chooser
from meip.utility.preferences import Before, ChoiceRanking, First, HeldOut, Preferences, Rule, Statement, summed
from meip.utility.terms import KNOTS, Utility, UtilityTerm

__all__ = ["ChoiceOptions", "LearnedChoices", "choice_grammar", "learn_choices"]


MEMBERS, SHARE = 16, 0.5
CLOSURE = 2.0  # what an order is worth at least
DONE_PRICE = 0.3
PACE, SLOWEST = 0.5, 0.05
LEANING = 0.4  # correlation from which on a term says nearly what a statement says
GUESSES = 2  # statements where none is worth its price
UNTOLD = (forms.UNLESS, forms.BEND)  # an order is told as such; "how far above 29 %" nobody wants to read
SURE = 2.0  # nats of net evidence above which a rule that names a number is told
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
    relative: bool = True
    """Curves also of simple concepts relative to their value at the start."""
    seed: int = 0


@dataclass(frozen=True)
class LearnedChoices:
    """What was learned, what spoke for choices on the way, and what a user should know."""

    utility: Utility
    preferences: Preferences
    evidence: dict[str, Any]
    warnings: tuple[str, ...]


def choice_grammar(domain: Domain, level: int = 3, most: int = BUDGET) -> Grammar:
    """What may be said: all about predicates of one argument, roles by restriction; where a domain declares copies of
    predicates for its goals, agreement with them."""
    if domain.has_goals:
        return Grammar.planning()
    return Grammar(
        predicate_mean=True, restriction=True, boolean_arity=1, closure=False, max_level=level, max_concepts=most
    )


def learn_choices(
    replayed: Replayed, options: ChoiceOptions, tell: Callable[..., None] | None = None
) -> LearnedChoices:
    """Learn from every choice that was shown; the same seed gives the same result."""
    say = tell or _silent
    replayed, reading = _read(replayed, options, say)
    study = _Study(replayed, options, say)
    strange = study.strange()
    aside = study.to_set_aside()
    if aside:
        rest = [walk for number, walk in enumerate(replayed.walks) if number not in aside]
        study = _Study(dataclasses.replace(replayed, walks=tuple(rest)), options, say)
    found = study.learned(strange, aside)
    return dataclasses.replace(found, evidence={**reading, **found.evidence})


def _read(replayed: Replayed, options: ChoiceOptions, say: Callable[..., None]) -> tuple[Replayed, dict[str, Any]]:
    """The demonstrations as shown, or what their goals need of them, and what spoke for it."""
    short = only_needed(replayed)
    count = len(replayed.walks)
    if short is None or count < 2:
        return replayed, {}
    both = _Study(dataclasses.replace(replayed, walks=(*replayed.walks, *short.walks)), options, _silent)
    losses = crossed(both.problem, both.evidence.walk, count)
    left_out = sum(len(a.states) - len(b.states) for a, b in zip(replayed.walks, short.walks, strict=True))
    taken = "needed" if accidents(losses) else "shown"
    names = ("shown", "needed")
    table = {f"{a} by {b}": float(losses[j, i]) for i, a in enumerate(names) for j, b in enumerate(names)}
    say(stage="reading", reading=taken, unneeded=left_out)
    return short if taken == "needed" else replayed, {"reading": taken, "unneeded": left_out, "readings": table}


class _Study:
    """Evidence, candidates and the fits to them."""

    def __init__(self, replayed: Replayed, options: ChoiceOptions, say: Callable[..., None]) -> None:
        self.options, self.say = options, say
        self.evidence = evidence = Evidence(replayed, options.seed)
        evidence.check()
        self.levels: list[dict[str, Any]] = []
        self.cuts: list[str] = []
        self.concepts = concepts = self._given() if options.concepts is not None else self._bank()
        values, missing = evidence.denotation.matrix(concepts)
        values = np.where(missing, np.nan, values)
        self.offers = offers = offered(
            evidence, concepts, values, numbers=options.grammar.numbers, simple=options.concepts is not None
        )
        say(stage="candidates", choices=evidence.count, concepts=len(concepts), candidates=len(offers.forms))
        self.problem = self._problem(concepts)

    @cached_property
    def strength(self) -> Strength:
        """Of the price, by demonstrations left out."""
        found = strength_of(self.problem, self.evidence.demo, self.evidence.kinds)
        self.say(stage="price", strength=found.value)
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
        growth = Growth(self.evidence, self.options.grammar)
        found = growth.grow()
        self.levels, self.cuts = growth.levels, growth.cuts
        return found

    def _problem(self, concepts: Sequence[Concept]) -> Problem:
        """Forms, what comes first by a quantity, reasons to stop, and to stop, side by side."""
        evidence, offers = self.evidence, self.offers
        self.size, self.ranks, self.reasons = len(offers.forms), len(offers.ranked), len(offers.done)
        columns = np.ascontiguousarray(
            np.hstack([offers.changes, offers.beaten, offers.stopped, evidence.stop[:, None].astype(np.float64)])
        )
        firsts = np.array([float(concepts[k].complexity) for k, _ in offers.ranked])
        self.complexity = np.concatenate([offers.prices, firsts, offers.done.prices, [0.0]])
        price = self.complexity * (self.options.concepts is None)
        price[self.size + self.ranks :] *= DONE_PRICE
        low, high = np.full(len(price), -np.inf), np.full(len(price), np.inf)
        high[self.size : self.size + self.ranks] = 0.0
        low[self.size + self.ranks : -1] = 0.0
        odds = once(columns, evidence.group)
        return Problem(columns, evidence.start, evidence.group, evidence.chosen, price, low, high, odds)

    def _weighed(self, concepts: Sequence[Concept]) -> tuple[Curves | None, Weighed]:
        """The curves of real quantities, where there are any that change, and how much they count."""
        options, evidence, held_out = self.options, self.evidence, self.strength.held_out
        none = Weighed(0.0, 1.0, {})
        found = Curves(evidence, concepts, options.knots, start=options.relative)
        if not len(found) or options.concepts is not None or not held_out:
            self._refuse_curves()
            return None, none
        if options.view == "sparse":
            return None, none
        found.fit(options.seed)
        sparse = np.zeros(len(evidence.rows))
        for d, weights in enumerate(held_out):
            rows = (evidence.demo == d)[evidence.group]
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

    @property
    def odds(self) -> Floats | None:
        """What alternatives count for beforehand; curves tell nearly all apart."""
        return self.problem.odds if self.curves is None else None

    def held_out_scores(self, d: int) -> Floats:
        """Of every alternative, by what the demonstrations of other kinds taught."""
        found = (1 - self.weighed.share) * (self.problem.columns @ self.strength.held_out[d])
        if self.curves is not None:
            found += self.weighed.share * self.weighed.scale * (self.curves.changes @ self.curves.without(d))
        return np.asarray(found, np.float64)

    def foreseen(self) -> Floats:
        """How likely each alternative is by what the demonstrations of other kinds taught."""
        evidence = self.evidence
        found = np.zeros(len(evidence.rows))
        for d in range(evidence.kinds):
            rows = (evidence.demo == d)[evidence.group]
            found[rows] = self.held_out_scores(d)[rows]
        return softmax(found, evidence.start, evidence.group, evidence.chosen, self.odds)[1]

    def loss_without(self, d: int) -> Floats:
        """Of every choice, by what the demonstrations of other kinds taught."""
        evidence = self.evidence
        return softmax(self.held_out_scores(d), evidence.start, evidence.group, evidence.chosen, self.odds)[0]

    def held_out_loss(self) -> Floats:
        """Of each demonstration, by what the others taught: nats per choice."""
        evidence = self.evidence
        found = np.zeros(evidence.kinds)
        for d in range(len(self.strength.held_out)):
            mine = evidence.demo == d
            found[d] = self.loss_without(d)[mine].mean() if mine.any() else 0.0
        return found[evidence.same]

    def slips(self) -> Floats:
        """Of each demonstration: how much less likely than by chance its oddest step is by what the others taught."""
        return np.array([self._oddest(d)[0] for d in range(self.evidence.kinds)])[self.evidence.same]

    def strange(self) -> list[tuple[int, int]]:
        """(demonstration, step) of those that the rest makes very unlikely, the strangest first; from 0."""
        if self.evidence.kinds < 4:
            return []
        slips = self.slips()
        odd = [int(d) for d in np.argsort(-slips, kind="stable") if slips[d] > SLIP]
        few = len(slips) // 3  # where many are odd, none is unlike the others
        return [(d, self._oddest(int(self.evidence.same[d]))[1]) for d in odd[:few]]

    def _oddest(self, kind: int) -> tuple[float, int]:
        """The surprise of the oddest step of a kind of demonstrations, in nats beyond chance, and its number."""
        evidence, first = self.evidence, self.evidence.representative(kind)
        mine = np.flatnonzero(evidence.walk == first)
        if not len(mine) or not self.strength.held_out:
            return 0.0, 0
        odds = np.ones(len(evidence.rows)) if self.odds is None else self.odds
        loss = self.loss_without(kind) - np.log(np.add.reduceat(odds, evidence.start[:-1]))
        place = mine[int(np.argmax(loss[mine]))]
        return float(loss[place]), int(np.flatnonzero(evidence.paths[first] == evidence.at[place])[0])

    def to_set_aside(self) -> list[int]:
        """The demonstrations that the tolerance allows to leave out: those with the oddest steps."""
        count = int(self.options.tolerance * len(self.evidence.paths) + 1e-9)
        return [int(d) for d in np.argsort(-self.slips(), kind="stable")[:count]] if count else []

    # --- fits ---

    def members(self) -> Floats:
        """The mean of members on random halves of the candidates; reasons to stop are in all of them."""
        options, rng = self.options, np.random.default_rng([self.options.seed, 29])
        every = np.ones(self.evidence.count)
        total = np.zeros(len(self.problem.price))
        rest = np.ones(len(total) - self.size, np.bool_)
        for number in range(options.members):
            chosen = np.append(rng.random(self.size) < options.share, rest)
            total[chosen] += fit(self.problem.only(chosen), self.strength.value, np.zeros(int(chosen.sum())), every)
            self.say(stage="members", done=number + 1, members=options.members)
        return total / options.members

    def model(self, weights: Floats, curves: Floats | None) -> _Model:
        """As much of the sparse view and of the curves as each counts."""
        weights, firsts = (1 - self.weighed.share) * weights, self.size + self.ranks
        bent = np.zeros(1) if curves is None else self.weighed.share * self.weighed.scale * curves
        wishes, stop = weights[: self.size], float(weights[-1] + bent[-1])
        return _Model(wishes, bent, weights[self.size : firsts], weights[firsts:-1], stop)

    def without(self, d: int) -> _Model:
        """What the demonstrations of other kinds taught."""
        return self.model(self.strength.held_out[d], None if self.curves is None else self.curves.without(d))

    def utility(self, model: _Model) -> Utility:
        curves = () if self.curves is None else self.curves.parts(model.bent)
        return summed([*_terms(self.offers.forms, model.wishes), *curves])

    def gains(self, model: _Model) -> Floats:
        """What each alternative adds to g [N]."""
        found = self.offers.changes @ model.wishes
        return found if self.curves is None else found + self.curves.changes[:, :-1] @ model.bent[:-1]

    # --- what was learned ---

    def learned(self, strange: Sequence[tuple[int, int]], aside: Sequence[int]) -> LearnedChoices:
        evidence, offers = self.evidence, self.offers
        whole = path(self.problem, self.strength.value, np.ones(evidence.count))
        share = 1 / evidence.kinds if self.options.members > 1 and self.options.concepts is None else 1.0
        mean = share * whole + (1 - share) * self.members() if share < 1 else whole
        model = self.model(mean, None if self.curves is None else self.curves.weights)
        candidates = Nevers(evidence, offers, None if self.curves is None else self.foreseen())
        rules = candidates.found() if self.options.concepts is None else []
        gained = self.gains(model)[evidence.chosen][~evidence.stop[evidence.chosen]]
        gained = gained[gained > 1e-9]
        pairs = always_first(evidence, offers, whole[: self.size]) if self.options.order else []
        order = self._ordered(pairs, max(CLOSURE, float(gained.max()) if len(gained) else 0.0))
        ranked = np.flatnonzero(np.abs(model.firsts) > 1e-8)
        preferences = Preferences(
            never=tuple(self._rule(rule) for rule in rules),
            order=order,
            first=tuple(
                First(offers.forms.concepts[k], largest, float(model.firsts[j]))
                for j in ranked
                for k, largest in [offers.ranked[j]]
            ),
            done=summed(_terms(offers.done, model.reasons)),
            stop=model.stop,
            least=self.least(model),
            by_itself=bool(len(evidence.stopped)),
            pace=max(SLOWEST, PACE * float(gained.mean())) if len(gained) else SLOWEST,
            held_out=self._held_out(candidates, rules, ranked),
        )
        utility = self.utility(model)
        tried = self._patience(utility, preferences)
        self.say(stage="planning", patience=max(tried, key=lambda p: tried[p]))
        told = self._told(rules, pairs, order, model, candidates.usual)
        preferences = dataclasses.replace(preferences, patience=max(tried, key=lambda p: tried[p]), **told)
        warnings = self._warnings(strange, aside, utility, preferences)
        return LearnedChoices(utility, preferences, self._report(tried, strange, aside), warnings)

    def _report(
        self, tried: dict[float, float], strange: Sequence[tuple[int, int]], aside: Sequence[int]
    ) -> dict[str, Any]:
        evidence = self.evidence
        losses = self.strength.losses
        return {
            "choices": evidence.count,
            "alternatives": len(evidence.rows),
            "alternatives_left_out": evidence.dropped,
            "levels": self.levels,
            "candidates": self.size,
            "strength": self.strength.value,
            "strengths": dict(zip(map(str, GRID), losses, strict=False)),
            "look_ahead": {"single steps": tried[0.0], "ways": tried[DISCOUNT]},
            "views": self.weighed.report,
            "nats_per_choice_by_the_others": [round(float(x), 6) for x in self.held_out_loss()],
            "oddest_step_beyond_chance": [round(float(x), 6) for x in self.slips()],
            "unlike_the_others": [d + 1 for d, _ in strange],
            "set_aside": [d + 1 for d in aside],
        }

    def _warnings(
        self, strange: Sequence[tuple[int, int]], aside: Sequence[int], utility: Utility, how: Preferences
    ) -> tuple[str, ...]:
        evidence = self.evidence
        found = []
        for d, step in strange:
            done = " It was set aside." if d in aside else " Set it aside with tolerance, if it was a slip."
            found.append(f"demonstration {d + 1} is unlike the others at step {step + 1}.{done}")
        if evidence.kinds < 3:
            shown = "one demonstration" if evidence.kinds == 1 else "two demonstrations"
            more = "" if len(evidence.paths) == evidence.kinds else ", the others show the same"
            found.append(f"there is only {shown} to learn from{more}: what is chance and what is meant is a guess")
        if not (utility.terms or how.never or how.first or how.done.terms):
            found.append("nothing was found that tells shown steps from others")
        found += [f"the bank of concepts was cut: {cut}" for cut in self.cuts]
        if evidence.dropped:
            found.append(f"{evidence.dropped} alternatives were not looked at: there were too many")
        return tuple(found)

    def _rule(self, rule: Never) -> Rule:
        concept = self.offers.forms.concept(rule.form)
        return Rule(concept, rule.strength, rule.evidence, rule.price, rule.possible, rule.broken)

    def _ordered(self, pairs: Sequence[tuple[int, int]], strength: float) -> tuple[Before, ...]:
        concepts, true = self.offers.forms.concepts, np.nan_to_num(self.offers.values) > 0.5
        return tuple(
            Before(concepts[a], concepts[b], strength, chosen_first(self.evidence, true[:, b], true[:, a]))
            for b, a in pairs
        )

    def least(self, model: _Model) -> float | None:
        """The least worth of stopping where a demonstration stopped by itself."""
        evidence = self.evidence
        rows = evidence.chosen[evidence.stop[evidence.chosen]]
        return float((model.stop + self.offers.stopped[rows] @ model.reasons).min()) if len(rows) else None

    def _held_out(self, candidates: Nevers, rules: Sequence[Never], ranked: Ints) -> tuple[HeldOut, ...]:
        evidence, offers = self.evidence, self.offers
        found = []
        for d in range(len(self.strength.held_out)):
            model = self.without(d)
            mine = evidence.demo == d
            loss = float(self.loss_without(d)[mine].mean()) if mine.any() else 0.0
            others = {rule.form: rule.strength for rule in candidates.found(without=d)} if rules else {}
            found.append(
                HeldOut(
                    tuple(int(k) + 1 for k in np.flatnonzero(evidence.same == d)),
                    loss,
                    self.utility(model),
                    summed(_terms(offers.done, model.reasons)),
                    model.stop,
                    tuple(others.get(rule.form, 0.0) for rule in rules),
                    tuple(model.firsts[ranked].tolist()),
                )
            )
        return tuple(found)

    # --- how far to look ahead ---

    def _patience(self, utility: Utility, preferences: Preferences) -> dict[float, float]:
        """How well choices of demonstrations left out are foreseen by single steps, and by looking ahead, in nats."""
        evidence = self.evidence
        tried = dict.fromkeys((0.0, DISCOUNT), 0.0)
        ranking = ChoiceRanking(utility, preferences)
        for d in range(evidence.kinds):
            walk = evidence.replayed.walks[evidence.representative(d)]
            graph = evidence.replayed.graphs[walk.graph]
            chooser = Chooser(graph, ranking, d + 1 if preferences.held_out else 0)
            if preferences.held_out:
                chooser.least = self.least(self.without(d))
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

    # --- what is told ---

    def _told(
        self,
        rules: Sequence[Never],
        pairs: Sequence[tuple[int, int]],
        order: Sequence[Before],
        model: _Model,
        usual: Floats,
    ) -> dict[str, Any]:
        """Statements, and how many choices they foresee."""
        evidence, offers, wishes = self.evidence, self.offers, model.wishes
        offset = np.zeros(len(evidence.rows))
        true = np.nan_to_num(offers.values) > 0.5
        for (b, a), pair in zip(pairs, order, strict=True):
            offset -= pair.strength * evidence.entered((true[:, b] & ~true[:, a])[:, None])[:, 0]
        sure = [rule for rule in rules if rule.evidence - rule.price > SURE]
        small = self._small(sure, offset)
        firm = [*sure, *self._besides(small, [rule for rule in rules if rule not in sure])]
        small = self._small(firm, offset) if len(firm) > len(sure) else small
        taken = list(zip(small.columns, small.weights, small.worth, strict=True))
        if not taken and not firm:  # nothing is worth its price: then what plans go by most, as a guess
            heaviest = np.argsort(-np.abs(wishes * offers.changes.std(axis=0)), kind="stable")[:GUESSES]
            taken = [(int(j), float(wishes[j]), 0.0) for j in heaviest if abs(wishes[j]) > 1e-8]
        found = [self._statement(j, w, n, model) for j, w, n in taken]
        aims = [statement.concept for statement in found if statement.kind == "wanted"]
        if self.options.concepts is None:
            ends = always_in_the_end(evidence, offers.forms.concepts, offers.values)
            found, aims = with_endings(found, ends, SURE), [*aims, *ends]
        chosen = worth_telling(evidence, offers, pairs, usual, {str(concept) for concept in aims})
        ordered = [
            Statement("order", unless(order[k].then, order[k].first), -order[k].strength, nats, order[k].possible)
            for k, nats in chosen
        ]
        said = {str(statement.concept) for statement in ordered}
        never = [(rule, offers.forms.concept(rule.form)) for rule in firm]
        found += [
            Statement("never", concept, -rule.strength, rule.evidence - rule.price, rule.possible)
            for rule, concept in never
            if str(concept) not in said
        ]
        found += ordered
        return {
            "statements": tuple(found), "foreseen": small.foreseen, "by_chance": small.by_chance,
            "choices": evidence.count,
        }  # fmt: skip

    def _small(self, rules: Sequence[Never], offset: Floats) -> Small:
        """The small model beside rules."""
        found = self.offers.forms
        if rules:
            truth = found.take([rule.form for rule in rules]).columns(self.offers.values) > 0.5
            offset = offset - self.evidence.entered(truth) @ np.array([rule.strength for rule in rules])
        count = len(self.problem.price) - 1
        usable = [j for j in range(count) if j >= self.size or found.rows[j].form not in UNTOLD]
        return small_model(self.evidence, self.problem, offset, self.complexity, usable)

    def _besides(self, small: Small, rules: Sequence[Never]) -> list[Never]:
        """Of rules with little evidence those that name no number, and are not about what is wanted for sure: of
        "just four" and "never all five" the first is told."""
        concept = self.offers.forms.concept
        aims = {
            slot(concept(j))
            for j, weight, worth in zip(small.columns, small.weights, small.worth, strict=True)
            if j < self.size and weight > 0 and worth >= SURE
        }
        named = [self.offers.forms.rows[rule.form].form in BOUNDS for rule in rules]
        return [r for r, number in zip(rules, named, strict=True) if not number and slot(concept(r.form)) not in aims]

    def _statement(self, j: int, weight: float, worth: float, model: _Model) -> Statement:
        offers = self.offers
        column = self.problem.columns[:, j]
        possible = int(np.logical_or.reduceat(np.abs(column) > 1e-9, self.evidence.start[:-1]).sum())
        leaning = self._leaning(column, model, offers.forms.concept(j) if j < self.size else None)
        if j < self.size:
            term = offers.forms.term(j, weight)
            wanted = "late" if self._is_late(j, weight) else "wanted" if weight > 0 else "avoided"
            return Statement(wanted, term.concept, term.weights[0], worth, possible, leaning)  # type: ignore[arg-type]
        if j < self.size + self.ranks:
            k, largest = offers.ranked[j - self.size]
            concept = offers.forms.concepts[k]
            return Statement("first", concept, weight if largest else -weight, worth, possible, leaning)
        concept = offers.done.concept(j - self.size - self.ranks)
        return Statement("done", concept, weight, worth, possible)

    def _is_late(self, j: int, weight: float) -> bool:
        """Does every demonstration end with more of what is avoided than it began with, or less of what is wanted?"""
        column = self.offers.forms.take([j]).columns(self.offers.values)[:, 0]
        ends, starts = (column[[path[k] for path in self.evidence.paths]] for k in (-1, 0))
        return bool(((ends - starts) * np.sign(weight) < -1e-9).all())

    def _leaning(self, column: Floats, model: _Model, concept: Concept | None) -> tuple[str, ...]:
        """The concepts of the utility that change along with this column, where it tells alternatives apart, and those
        that differ from this concept by their quantifier or a number only."""
        start = self.evidence.start[:-1]
        varies = np.maximum.reduceat(column, start) - np.minimum.reduceat(column, start) > 1e-9
        rows = varies[self.evidence.group]
        used = np.flatnonzero(np.abs(model.wishes) > 1e-8)
        concepts, others = [self.offers.forms.concept(int(j)) for j in used], self.offers.changes[rows][:, used]
        if self.curves is not None:
            concepts += [term.concept for term in self.curves.terms]
            others = np.hstack([others, self.curves.each(model.bent)[rows]])
        own, others = column[rows] - column[rows].mean(), others - others.mean(axis=0)
        norm = np.sqrt((own**2).sum() * (others**2).sum(axis=0))
        alike = np.abs(own @ others) >= LEANING * np.maximum(norm, 1e-12)
        if concept is not None:
            alike |= np.array([slot(other) == slot(concept) for other in concepts], np.bool_)
        return tuple(dict.fromkeys(str(c) for c, along in zip(concepts, alike, strict=True) if along))


class _Model(NamedTuple):
    """Weights, each as much as its view counts."""

    wishes: Floats
    bent: Floats
    """Of the curves, and of stopping."""
    firsts: Floats
    """Of what comes first by a quantity."""
    reasons: Floats
    """Of what always held in the end."""
    stop: float


def _terms(found: Forms, weights: Floats) -> list[UtilityTerm]:
    return [found.term(int(j), float(weights[j])) for j in np.flatnonzero(np.abs(weights) > 1e-8)]


def _shown(chooser: Chooser, graph: StateGraph, walk: Walk, t: int) -> int | None:
    """The place of what was done at a step among the alternatives; None where nothing was chosen."""
    actions, outcomes = chooser.alternatives(walk.states[t])
    if t == len(walk.states) - 1:
        free = actions and len(walk.states) < graph.horizon and not graph.has_goal
        return len(actions) if free else None
    merged: dict[int, float] = {}
    for p, s in graph.outcomes_of(walk.states[t], walk.plan.actions[t]):
        merged[s] = merged.get(s, 0.0) + p
    key = tuple(sorted((round(p, 12), s) for s, p in merged.items() if p > 0))
    return outcomes.index(key) if key in outcomes else None


def _silent(**info: Any) -> None:
    """Nobody listens."""
