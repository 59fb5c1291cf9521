"""Rules: what was never done although it was possible, and what always came first.

A never-rule is true nowhere on a shown path and not risked by a shown step. Its evidence is what a person who likes
each kind of step as often as it was shown, and knows no rule, would have done differently; its price is its length.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.concepts.canonical import chain, conjuncts
from meip.concepts.check import kind, signature, slot
from meip.concepts.language import Concept, Quantified
from meip.learning import forms
from meip.learning.evidence import Evidence
from meip.learning.not_yet import NotYet
from meip.learning.offers import FEW_VALUES, Offers, quantity
from meip.learning.sparse import Problem, fit
from meip.learning.steps import Steps
from meip.learning.worth import EXCEPTION, HUNCH, LEAST, MANY, price_of, without_the_most_telling

__all__ = ["BOUNDS", "Never", "Nevers", "Shown", "always_first", "chosen_first", "worth_telling"]

MOST = 12  # rules
STRENGTH = 5.0
REJECTED = 0.95  # how likely what a plan did wrong was for somebody without the rule
CHOSEN = 0.7  # nats from which on an order is told that could have been otherwise
NULL_RIDGE = 0.02
NEVER_FORMS = (forms.TRUTH, forms.ABOVE, forms.BELOW, forms.APART, forms.UNLESS, forms.MORE)
BOUNDS = (forms.ABOVE, forms.BELOW, forms.APART)
NEARLY = 0.1  # of the range of what is measured: as good as met; counts and shares are met exactly
UNDONE, BY_ACCIDENT = 0.25, 0.4  # what more of the alternatives than this undo, or bring about, is no milestone ..
PUT_OFF = 8.0  # .. unless it was put off, although it was easy: in nats


@dataclass(frozen=True, eq=False)
class Never:
    """A rule with the evidence for it."""

    concept: Concept
    step: bool
    """Is it about steps, and what else could have been done? Else about states."""
    number: bool
    """Does it name a number?"""
    entered: Bools
    """[N] the alternatives that risk to break it."""
    evidence: float
    price: float
    possible: int
    """Choices at which it could have been broken."""
    broken: int = 0
    """Demonstrations in which it was."""

    @property
    def strength(self) -> float:
        """What a step that risks it pays."""
        return float(STRENGTH / (1 + np.exp(self.price - self.evidence)))


class Shown(NamedTuple):
    """What rules need of the evidence: the names are the same. It can be sent to other processes, worlds need not."""

    start: Ints
    group: Ints
    demo: Ints
    copies: Floats
    kinds: int
    fold_of: Ints


class Nevers:
    """What was possible and never done: candidates for rules, and those that are worth their price.

    `foreseen`: how likely each alternative [N] is by curves, where they count. Then what they say of states needs no
    rule. They say how much is too much, too: there are bounds of measured quantities only, and these have to stand out
    among all that are as long (log of how many, in nats). Of steps they say nothing.
    """

    def __init__(self, evidence: Evidence, offers: Offers, foreseen: Floats | None = None) -> None:
        self.choices = Shown(
            evidence.start, evidence.group, evidence.demo, evidence.copies, evidence.kinds, evidence.fold_of
        )
        self.usual = habits = _rejected(evidence, _habits(evidence, offers))
        chosen, entered, broken = _candidates(evidence, offers, foreseen is None)
        prices, bounds = price_of(offers.prices[chosen]), np.isin(offers.forms.kinds[chosen], BOUNDS)
        if foreseen is not None:
            self.usual = _rejected(evidence, foreseen)
            _, place, many = np.unique(prices[bounds], return_inverse=True, return_counts=True)
            prices[bounds] += np.log(many[place])
        deeds = Steps(evidence).rules(habits)
        named = _any_for_all(offers, [offers.forms.concept(int(j)) for j in chosen])
        self.concepts = [*named, *(deed.concept for deed in deeds)]
        self.states = len(chosen)
        """So many of the candidates are about states; the others are about steps."""
        self.entered = np.column_stack([entered, *(deed.done for deed in deeds)])
        self.broken = np.append(broken, [deed.broken for deed in deeds]).astype(np.int64)
        self.prices = np.append(prices, [deed.price for deed in deeds])
        self._bounds = np.append(bounds, np.zeros(len(deeds), np.bool_))
        self._last = NotYet(evidence, offers)
        self._leeway = np.where(self._bounds & (foreseen is not None), 0.0, HUNCH)
        """What each may lack of its price: curves say how much is too much."""
        by_habit = np.append(bounds, np.ones(len(deeds), np.bool_))
        self._usual = np.where(by_habit, habits[:, None], self.usual[:, None])  # [N, R]

    def found(self, without: int | None = None) -> list[Never]:
        """The rules, one after the other, as long as their evidence is worth their price; then hunches, which it is not
        quite: among equals it is better not to do what nobody did.

        What a rule explains is no evidence for the next. The demonstration that says most is left out of account, and
        so is the fold that nobody is to look at.
        """
        last = [
            Never(one.concept, False, one.number, one.entered, one.evidence, one.price, one.possible)
            for one in self._last.found(without)
        ]
        known = {rule.concept for rule in last}
        return [*(rule for rule in self._of_choices(without) if rule.concept not in known), *last]

    def _of_choices(self, without: int | None) -> list[Never]:
        evidence = self.choices
        if not self.concepts:
            return []
        hidden = -1 if without is None else without
        seen = np.where(evidence.fold_of[evidence.demo] == hidden, 0.0, 1.0)
        exception = (self.broken >= 0) & (evidence.fold_of[self.broken] != hidden)
        price = self.prices + EXCEPTION * exception
        offset = np.zeros(len(evidence.group))
        taken = np.zeros(len(self.concepts), np.bool_)
        rules: list[Never] = []
        while len(rules) < MOST:
            p = self._usual * np.exp(offset)[:, None]
            risked = np.add.reduceat(self.entered * p, evidence.start[:-1], axis=0)  # [C, R]
            risked /= np.add.reduceat(p, evidence.start[:-1], axis=0)
            gain = -np.log(np.maximum(1 - risked, 1e-9)) * (seen / evidence.copies)[:, None]
            gain[evidence.demo[:, None] == self.broken[None, :]] = 0.0
            worth = without_the_most_telling(gain, evidence)
            net = np.where(taken | (worth < LEAST) | (worth - price <= -self._leeway), -np.inf, worth - price)
            best = int(np.argmax(net))
            if not np.isfinite(net[best]):
                break
            taken[best] = True
            possible = int(np.logical_or.reduceat(self.entered[:, best], evidence.start[:-1]).sum())
            broken = int(exception[best])
            rules.append(
                Never(
                    self.concepts[best], best >= self.states, bool(self._bounds[best]), self.entered[:, best],
                    float(worth[best]), float(price[best]), possible, broken,
                )
            )  # fmt: skip
            offset -= min(float(np.logaddexp(0, net[best])), STRENGTH) * self.entered[:, best]
        return rules


def _candidates(evidence: Evidence, offers: Offers, counts: bool) -> tuple[Ints, Bools, Ints]:
    """Forms that were possible and never so, which alternatives would have made them so [N, R], and for each the kind
    of demonstrations in which it was so nevertheless (-1: none): where there are enough others, a rule survives one."""
    chosen = np.flatnonzero(np.isin(offers.forms.kinds, NEVER_FORMS))
    columns = offers.forms.take(chosen).columns(offers.values) > 0.5
    entered = evidence.entered(columns)
    wrong = np.zeros((len(evidence.fold_of), len(chosen)), np.bool_)
    for d, path in enumerate(evidence.paths):
        wrong[evidence.same[d]] |= columns[path].any(axis=0)
    for c, row in enumerate(evidence.chosen):
        wrong[evidence.demo[c]] |= entered[row]
    count = wrong.sum(axis=0)
    survives = (count == 1) & (evidence.kinds >= MANY) & ~wrong[evidence.kinds :].any(axis=0)  # no correction is a slip
    broken = np.where(survives, wrong.argmax(axis=0), -1)
    allowed = (count == 0) | survives
    for i in np.flatnonzero(allowed):
        row = offers.forms.rows[chosen[i]]
        if row.form == forms.UNLESS and not _is_milestone(evidence, offers.values[:, row.other]):
            allowed[i] = False
        if row.form in BOUNDS:
            often = len(evidence.paths) == 1 or _met(evidence, offers, row) > 1
            allowed[i] &= often and (counts or _is_measured(evidence, offers, row))
    other = entered & (evidence.demo[evidence.group][:, None] != broken[None, :])
    allowed &= other.any(axis=0)
    return chosen[allowed], entered[:, allowed], broken[allowed]


def _any_for_all(offers: Offers, rules: Sequence[Concept]) -> list[Concept]:
    """Where "all" and "some" of a kind came to the same, because there was one of it at most, a rule is about any: what
    is never done to all of them is not done to one, if there are more."""
    place = {concept: k for k, concept in enumerate(offers.forms.concepts)}
    true = np.nan_to_num(offers.values) > 0.5

    def named(rule: Concept) -> Concept:
        match rule:
            case Quantified("all", value, scope):
                parts = [*conjuncts(value), *(conjuncts(scope) if scope is not None else ())]
                other = Quantified("some", chain(parts))
                same = other in place and bool((true[:, place[other]] == true[:, place[rule]]).all())
                return other if same else rule
        return rule

    return [named(rule) for rule in rules]


def _is_counted(column: Floats) -> bool:
    """Is a quantity as good as a count: few whole numbers?"""
    found = np.unique(column[np.isfinite(column)])
    return len(found) <= FEW_VALUES and bool((found % 1 == 0).all())


def _is_measured(evidence: Evidence, offers: Offers, row: forms.Form) -> bool:
    return row.form != forms.APART and quantity(offers.forms.concepts[row.concept], evidence)


def _met(evidence: Evidence, offers: Offers, row: forms.Form) -> int:
    """In how many demonstrations a bound was met: found without either of two, it holds in it."""
    count = 0
    column = offers.values[:, row.concept]
    near = (
        1e-9
        if not _is_measured(evidence, offers, row) or _is_counted(column)
        else NEARLY * float(np.nanmax(column) - np.nanmin(column))
    )
    for path in evidence.paths:
        v = offers.values[path, row.concept]
        if row.form == forms.APART:
            v = np.abs(v - offers.values[path, row.other])
        v = v[np.isfinite(v)]
        if len(v):
            count += abs((v.min() if row.form == forms.BELOW else v.max()) - row.number) <= near
    return count


def _habits(evidence: Evidence, offers: Offers) -> Floats:
    """The probability of each alternative for a person who likes each kind of step as often as it was shown."""
    simple = list(_kinds_of_steps(offers).values())
    plain = [j for j, row in enumerate(offers.done.rows) if row.form == forms.TRUTH and row.price <= 1]
    stop = evidence.stop[:, None].astype(np.float64)
    columns = np.ascontiguousarray(np.hstack([offers.changes[:, simple], offers.stopped[:, plain], stop]))
    size = columns.shape[1]
    problem = Problem(
        columns,
        evidence.start,
        evidence.group,
        evidence.chosen,
        np.zeros(size),
        np.full(size, -9.0),
        np.full(size, 9.0),
        np.ones(len(columns)),
    )
    weights = fit(problem, 0.0, np.zeros(size), np.ones(evidence.count), NULL_RIDGE)
    return problem.foreseen(weights)[1]


def _rejected(evidence: Evidence, usual: Floats) -> Floats:
    """Where a plan was corrected, somebody without the rule would have done what the plan did."""
    wrong, pair = evidence.rejected, evidence.instead[evidence.group]
    return np.asarray(np.where(pair, np.where(wrong, REJECTED, 1 - REJECTED), usual), np.float64)


def _kinds_of_steps(offers: Offers) -> dict[Hashable, int]:
    """The places of the simplest forms, one for each fluent: how many, else how much, else whether."""
    rank = {"count": 0, "real": 1, "boolean": 2}
    found: dict[Hashable, int] = {}
    for j, row in enumerate(offers.forms.rows):
        if row.form not in (forms.TRUTH, forms.LINE) or row.price > 1:
            continue
        concept = offers.forms.concepts[row.concept]
        known = found.get(slot(concept))
        if known is None or rank[kind(concept)] < rank[kind(offers.forms.concepts[offers.forms.rows[known].concept])]:
            found[slot(concept)] = j
    return found


def always_first(evidence: Evidence, offers: Offers, weights: Floats) -> list[tuple[int, int]]:
    """(then, first): concepts of which one came true before the other wherever both did, and stayed so.

    Of those that are wanted, or are simple, and are milestones: at most a quarter of the alternatives undo them.
    """
    used = [
        row
        for row, weight in zip(offers.forms.rows, weights, strict=True)
        if row.form == forms.TRUTH and (weight > 1e-6 or row.price <= 1)
    ]
    used = [row for row in used if _is_milestone(evidence, offers.values[:, row.concept])]
    times = np.array([[_first_time(offers.values[path, row.concept]) for path in evidence.paths] for row in used])
    shown = np.nan_to_num(offers.values[evidence.shown_states]) > 0.5
    found = []
    for i, a in enumerate(used):
        for j, b in enumerate(used):
            met = np.isfinite(times[j])
            if i == j or met.sum() < min(2, evidence.kinds) or not (times[i] > 0).all():
                continue
            if (times[i][met] < times[j][met]).all() and not (shown[:, b.concept] & ~shown[:, a.concept]).any():
                found.append((b.concept, a.concept))
    return found


def worth_telling(
    evidence: Evidence, offers: Offers, pairs: Sequence[tuple[int, int]], usual: Floats, wanted: Collection[str] = ()
) -> list[tuple[int, float]]:
    """Places of the pairs (then, first) that say most, and what speaks for each, in nats as for a rule.

    What nobody could do otherwise is told where it is simple, or about what is wanted. What follows from others is
    not: "some before" from "all before", a before c from a before b and b before c. Of concepts that always came true
    together the simplest stands for all.
    """
    concepts = offers.forms.concepts
    nats = [_came_first(evidence, offers.values, pair, usual) for pair in pairs]
    every = {pair: place for place, pair in enumerate(pairs)}
    plain = {k for pair in pairs for k in pair if str(concepts[k]) in wanted or _is_plain(concepts[k], evidence)}
    known = {
        pair: place
        for pair, place in every.items()
        if slot(concepts[pair[0]]) != slot(concepts[pair[1]])  # "some before all" goes without saying
        and (nats[place] > CHOSEN if nats[place] else plain.issuperset(pair))
    }
    times = {k: np.array([_first_time(offers.values[p, k]) for p in evidence.paths]) for k in {*sum(known, ())}}
    simple = {k: (concepts[k].complexity, str(concepts[k])) for k in times}

    def instead(one: int, other: int, sign: int) -> bool:
        """Does one come true no earlier (sign 1) or later (-1) than the other, and is it the better of equals?"""
        mine, its = sign * times[one], sign * times[other]
        return bool((mine >= its).all() and ((mine > its).any() or simple[one] < simple[other]))

    def same(one: int, other: int) -> bool:
        return slot(concepts[one]) == slot(concepts[other]) or bool((times[one] == times[other]).all())

    found = []
    for (then, first), place in known.items():
        through, middle = (known, set(times)) if nats[place] else (every, plain)
        between = any((then, k) in through and (k, first) in through for k in middle)
        later = any((then, k) in known and same(k, first) and instead(k, first, 1) for k in times if k != first)
        earlier = any((k, first) in known and same(k, then) and instead(k, then, -1) for k in times if k != then)
        if not (between or later or earlier):
            found.append((place, nats[place]))
    return found


def _is_plain(concept: Concept, evidence: Evidence) -> bool:
    """All are so, or it is so: simple, and not true by the first of many."""
    whole = isinstance(concept, Quantified) and (
        concept.quantifier == "all" or not signature(concept.value, evidence.domain)[0]
    )
    return whole and concept.complexity == 1


def _came_first(evidence: Evidence, values: Floats, pair: tuple[int, int], usual: Floats) -> float:
    """How surprising it is that nobody did one before the other; 0 where there was no other way."""
    then, first = (np.nan_to_num(values[:, k]) > 0.5 for k in pair)
    entered = evidence.entered((then & ~first)[:, None])[:, 0]
    risked = np.add.reduceat(entered * usual, evidence.start[:-1])
    gain = -np.log(np.maximum(1 - risked, 1e-9)) / evidence.copies
    found = float(without_the_most_telling(gain[:, None], evidence)[0])
    return max(found, 1e-9) if entered.any() else 0.0


def _is_milestone(evidence: Evidence, column: Floats) -> bool:
    """Few alternatives undo it, and it does not come by accident: most alternatives do not make it true, or it was put
    off again and again."""
    true = np.nan_to_num(column) > 0.5
    steps = ~evidence.stop[evidence.alternative]
    before, after = true[evidence.at[evidence.group]][evidence.alternative], true[evidence.after]
    on, off = before & steps, ~before & steps
    undone = float((~after[on]).mean()) if on.any() else 0.0
    made = float(after[off].mean()) if off.any() else 0.0
    return undone <= UNDONE and (made <= BY_ACCIDENT or _put_off(evidence, true) > PUT_OFF)


def _put_off(evidence: Evidence, true: Bools) -> float:
    """How surprising it would be of chance that something did not come true earlier, in nats."""
    entered = evidence.entered(true[:, None])[:, 0]
    steps = np.add.reduceat((~evidence.stop).astype(np.float64), evidence.start[:-1])
    share = np.add.reduceat(entered.astype(np.float64), evidence.start[:-1]) / np.maximum(steps, 1.0)
    nats = -np.log(np.maximum(1 - share, 1e-9)) / evidence.copies
    return float(nats[~entered[evidence.chosen]].sum())


def _first_time(column: Floats) -> float:
    true = np.nan_to_num(column) > 0.5
    return float(true.argmax()) if true.any() else np.inf


def chosen_first(evidence: Evidence, then: Bools, first: Bools) -> int:
    """Choices at which the order could have been broken, and was not."""
    entered = evidence.entered((then & ~first)[:, None])[:, 0]
    return int(np.logical_or.reduceat(entered, evidence.start[:-1]).sum())
