"""What may be said about the demonstrations: a bank of concepts, in all forms that some choice tells apart.

    truth, a line, a curve with few bends       what is wanted or avoided
    = k, >= k                                   k from what demonstrations end with, or went through
    beyond anything shown                       limits
    b and not a, a and b, |a - b| > k           order, company, balance
    a > b, a = b, a <= b                        more than, as many as; enough
    stopped and f                               when it is done

Forms that no choice tells apart are one: the simplest stands for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from meip.base.arrays import Floats
from meip.base.distinct import column_prints
from meip.base.parallel import Shared, Workers
from meip.concepts.canonical import conjuncts
from meip.concepts.check import kind, signature
from meip.concepts.language import (
    Aggregated,
    Agreement,
    Concept,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Term,
    walk,
)
from meip.learning import forms
from meip.learning.evidence import Effects, Evidence
from meip.learning.forms import Form, Forms
from meip.learning.steps import Steps
from meip.learning.thresholds import number_between
from meip.model.domain import Domain
from meip.utility.preferences import beaten

__all__ = ["FEW_VALUES", "Offers", "Ranked", "offered", "quantity"]

ENDS, STEPS = 4, 4  # numbers of a count that are named: at the end, and on the way
FEW_VALUES = 8  # a function with no more values than this has steps as a count has
BENDS = (0.25, 0.5, 0.75)  # quantiles of what was shown
PAIRED = 80  # truths that are paired
BALANCED, UNBALANCED = 40, 2  # counts that are compared, and by how much they may differ
COMPARED = 16  # counts, and quantities, that are compared with each other
DONE = (forms.TRUTH, forms.EQUAL, forms.LEAST, forms.SAME)  # what may be a reason to stop
DIGITS = 9
PART = 500  # columns that are made together, so that there is no second table of all of them
AGREEMENT, AGREED = 1.1, 0.5  # what comes off a price for agreement with the goal, and the least that is left
RELATIVE = 2.5  # the price of a number that depends on the size of the world; of others it is 1


class Ranked(NamedTuple):
    """A quantity by whose value one alternative may come before another."""

    concept: Concept
    largest: bool
    """Does the largest come first?"""
    step: bool
    """Is it a quantity of steps? Else of the states that they lead to."""


@dataclass(frozen=True)
class Offers:
    """Candidates for statements, and what each alternative changes of them."""

    forms: Forms
    changes: Floats  # [N, F]
    done: Forms
    """True at the end of every demonstration: reasons to stop."""
    stopped: Floats  # [N, H] 1 where it is over after the alternative, or it is to stop, and the reason holds
    values: Floats  # [S, K] of the concepts, NaN where they are missing
    ranked: tuple[Ranked, ...]
    """By what one alternative may come before another."""
    beaten: Floats  # [N, Q] 1 where an alternative changes the value and another one would change it to a better one

    @property
    def prices(self) -> Floats:
        return self.forms.prices


def offered(
    evidence: Evidence,
    concepts: Sequence[Concept],
    values: Floats,
    *,
    numbers: bool = True,
    simple: bool = False,
    workers: Workers | None = None,
) -> Offers:
    """Every form of these concepts (values [S, K]) that matters to some choice; `simple`: truths and lines only.

    Without `numbers` none is named, and counts are lines by one.
    """
    kinds = [kind(c, evidence.domain) for c in concepts]
    made = _Prints(evidence.effects, values, workers or Workers())
    found = _alone(evidence, concepts, kinds, values, numbers)
    if simple:
        found = found.take([j for j, row in enumerate(found.rows) if row.form in (forms.TRUTH, forms.LINE)])
    keys = made(found)
    given = [row for row, key in zip(found.rows, keys, strict=True) if not key]
    kept = _distinct(found, keys)
    found, keys = found.take(kept), [keys[j] for j in kept]
    pairs = Forms(concepts, []) if simple else _paired(evidence, found, given, kinds, values, numbers)
    if len(pairs):
        found, keys = found + pairs, [*keys, *made(pairs)]
        found = found.take(_distinct(found, keys))
    done, stopped = _reasons(evidence, found, values, numbers and not simple)
    found, changes = _by_the_most_that_chance_allows(evidence, found, _changes(evidence, found, values))
    ranked, lost = _ranked(evidence, concepts, kinds, values) if not simple else ((), np.zeros((len(evidence.rows), 0)))
    return Offers(found, changes, done, stopped, values, ranked, lost)


class _Prints:
    """Short prints of what alternatives change of forms: the same for the same, empty for nothing at all. The columns
    are made some at a time, by all workers, and not kept."""

    def __init__(self, effects: Effects, values: Floats, workers: Workers) -> None:
        self.shared, self.workers = Shared((effects, values)), workers

    def __call__(self, found: Forms) -> list[bytes]:
        parts = [Forms((), found.rows[first : first + PART]) for first in range(0, len(found), PART)]
        return [key for part in self.workers.map_compiled(_prints_of, parts, self.shared) for key in part]


def _prints_of(found: Forms, shared: tuple[Effects, Floats]) -> list[bytes]:
    effects, values = shared
    return column_prints(effects.change(found.columns(values)), DIGITS)


def _changes(evidence: Evidence, found: Forms, values: Floats) -> Floats:
    """What each alternative changes of the forms [N, F]."""
    changes = np.empty((len(evidence.rows), len(found)))
    for first in range(0, len(found), PART):
        some = Forms((), found.rows[first : first + PART])
        changes[:, first : first + PART] = evidence.change(some.columns(values))
    return changes


def _distinct(found: Forms, keys: Sequence[bytes]) -> list[int]:
    """The place of one form for each different print that is not empty: the cheapest, then the first by its text."""
    groups: dict[bytes, list[int]] = {}
    for j, key in enumerate(keys):
        if key:
            groups.setdefault(key, []).append(j)
    kept = []
    for members in groups.values():
        least = min((found.rows[j].price, found.rows[j].given) for j in members)
        cheapest = [j for j in members if (found.rows[j].price, found.rows[j].given) == least]
        kept.append(
            min(cheapest, key=lambda j: str(found.concepts[found.rows[j].concept])) if cheapest[1:] else cheapest[0]
        )
    return sorted(kept)


def _by_the_most_that_chance_allows(evidence: Evidence, found: Forms, changes: Floats) -> tuple[Forms, Floats]:
    """Truths on which no choice has more than a small influence, because chance decides, by the largest influence that
    there is: what is to be had with a chance of one in twenty at most is not for that reason worth less to say."""
    if evidence.certain or not len(found):
        return found, changes
    start = evidence.start[:-1]
    most = (np.maximum.reduceat(changes, start, axis=0) - np.minimum.reduceat(changes, start, axis=0)).max(axis=0)
    scaled = np.isin(found.kinds, forms.TRUE_OR_FALSE) & (most > 1e-9) & (most < 1)
    scale = np.where(scaled, most, 1.0)
    rows = [row._replace(scale=float(s)) if on else row for row, s, on in zip(found.rows, scale, scaled, strict=True)]
    changes /= scale
    return Forms(found.concepts, rows), changes


def _alone(
    evidence: Evidence, concepts: Sequence[Concept], kinds: Sequence[str], values: Floats, numbers: bool
) -> Forms:
    """The forms of single concepts."""
    rows: list[Form] = []
    shown = values[evidence.shown_states]
    last = values[[path[-1] for path in evidence.paths]]
    after = values[evidence.after]
    for k, concept in enumerate(concepts):
        price = _price(concept, evidence.domain)
        if kinds[k] == "boolean":
            rows.append(Form(forms.TRUTH, k, price=price))
            continue
        column = after[:, k]
        column = column[np.isfinite(column)]
        spread = float(column.std()) if len(column) else 0.0
        if spread < 1e-9:
            continue
        scale = 1.0 if kinds[k] == "count" and not numbers else 2 * spread
        rows.append(Form(forms.LINE, k, number=float(column.mean()), scale=scale, price=price))
        if not numbers:
            continue
        share = kinds[k] == "real" and not quantity(concept, evidence)
        dearer = price + (RELATIVE if share or _negative(concept) else 1)
        rows += _numbered(k, kinds[k], dearer, column, spread, shown[:, k], last[:, k])
    return Forms(concepts, rows)


def _price(concept: Concept, domain: Domain) -> float:
    """Complexity; a predicate compared with its own goal copy is one idea, and the better bet: small problems often
    cannot tell "images taken" from "images taken that were asked for"."""
    ideas = sum(
        isinstance(node, Conjunction | Agreement) and _with_own_goal(node.left, node.right, domain)
        for node in walk(concept)
    )
    return float(max(concept.complexity - AGREEMENT * ideas, AGREED if ideas else 1.0))


def _with_own_goal(left: Term, right: Term, domain: Domain) -> bool:
    names = []
    for term in (left, right):
        while isinstance(term, Negation | Permutation):
            term = term.term
        if not isinstance(term, Primitive):
            return False
        names.append(term.name)
    return domain.fluent(names[0]).goal_of == names[1] or domain.fluent(names[1]).goal_of == names[0]


def _numbered(
    k: int, kind: str, dearer: float, column: Floats, spread: float, shown: Floats, last: Floats
) -> list[Form]:
    """The forms that name a number."""
    rows: list[Form] = []
    if kind == "count":
        ends = np.unique(last[np.isfinite(last)])[:ENDS]
        rows += [Form(forms.EQUAL, k, number=float(e), price=dearer) for e in ends]
    along = np.unique(shown[np.isfinite(shown)])
    if not len(along):
        return rows
    if kind == "count" or len(np.unique(np.round(column, DIGITS))) <= FEW_VALUES:
        rows += [Form(forms.LEAST, k, number=float(q), price=dearer) for q in along[1 : 1 + STEPS]]
    if kind != "count" and len(along) > 2:
        bends = np.unique(np.quantile(along, BENDS))
        rows += [Form(forms.BEND, k, number=float(q), scale=2 * spread, price=dearer) for q in bends]
    if column.max() > along[-1] + 1e-9:
        rows.append(Form(forms.ABOVE, k, number=float(along[-1]), price=dearer))
    if column.min() < along[0] - 1e-9:
        rows.append(Form(forms.BELOW, k, number=float(along[0]), price=dearer))
    return rows


def _negative(concept: Concept) -> bool:
    """Is it about how many are not so? Such a number depends on how many there are, and costs more."""
    value = getattr(concept, "value", None)
    return isinstance(value, Term) and all(isinstance(part, Negation) for part in conjuncts(value))


def _paired(
    evidence: Evidence, found: Forms, given: Sequence[Form], kinds: Sequence[str], values: Floats, numbers: bool
) -> Forms:
    """Order, company and balance of two concepts; `given`: those that nobody can change, which others may be like."""
    shown = values[evidence.shown_states]
    truths = [row for row in found.rows if row.form == forms.TRUTH][:PAIRED]
    truth = np.nan_to_num(shown[:, [row.concept for row in truths]]) > 0.5
    rows: list[Form] = []
    together = truth.T.astype(np.int64) @ truth.astype(np.int64)  # [i, j] states in which both hold
    alone = truth.sum(axis=0)[:, None] - together  # [i, j] i holds and j does not
    for i, b in enumerate(truths):
        for j, a in enumerate(truths):
            if i != j and together[i, i] and not alone[i, j]:
                rows.append(Form(forms.UNLESS, b.concept, a.concept, price=b.price + a.price))
    for i, b in enumerate(truths):
        for j, a in enumerate(truths[:i]):
            if together[i, j] and alone[i, j] and alone[j, i]:
                rows.append(Form(forms.BOTH, b.concept, a.concept, price=b.price + a.price))
    counts = [row for row in found.rows if row.form == forms.LINE and kinds[row.concept] == "count" and row.price <= 2]
    after = values[evidence.after]
    for i, b in enumerate(counts[:BALANCED] if numbers else ()):
        for a in counts[:i]:
            seen = float(np.nanmax(np.abs(shown[:, a.concept] - shown[:, b.concept])))
            most = float(np.nanmax(np.abs(after[:, a.concept] - after[:, b.concept])))
            if most > seen + 1e-9 and seen <= UNBALANCED:
                rows.append(Form(forms.APART, b.concept, a.concept, seen, price=b.price + a.price + 1))
    return Forms(found.concepts, [*rows, *(_compared(evidence, found, given, kinds) if numbers else ())])


def _compared(evidence: Evidence, found: Forms, given: Sequence[Form], kinds: Sequence[str]) -> list[Form]:
    """More than, and as many as: of two counts, of two shares, or of two quantities; a share is no quantity. One of the
    two may be given by the world ("as many cups as guests come"): then enough is a reason to stop, too."""

    def plain(rows: Sequence[Form], sort: str, share: bool, price: float = 1) -> list[Form]:
        of = [row for row in rows if row.form == forms.LINE and row.price == price and kinds[row.concept] == sort]
        return [row for row in of if quantity(found.concepts[row.concept], evidence) != share][:COMPARED]

    rows: list[Form] = []
    for sort, share in (("count", True), ("real", True), ("real", False)):
        same, fixed = plain(found.rows, sort, share), plain(given, sort, share)
        pairs = [(b, a) for i, b in enumerate(same) for a in (*same[:i], *fixed)]
        several = [forms.SAME] if sort == "count" else []
        for b, a in pairs:
            one = Form(forms.MORE, b.concept, a.concept, price=b.price + a.price, given=a in fixed)
            rows += [one, one._replace(concept=a.concept, other=b.concept)]
            rows += [one._replace(form=form) for form in several]
    return [*rows, *_as_many_of_each(found, plain(found.rows, "count", True, 2))]


def _as_many_of_each(found: Forms, counts: Sequence[Form]) -> list[Form]:
    """As many of one kind as of another: two counts that differ in one part. What they share is said once."""
    parts = [set(conjuncts(found.concepts[row.concept].value)) for row in counts]  # type: ignore[attr-defined]
    return [
        Form(forms.SAME, counts[i].concept, counts[j].concept, price=counts[i].price + 1, given=True)
        for i in range(len(counts))
        for j in range(i)
        if parts[i] & parts[j]
    ]


def _reasons(evidence: Evidence, found: Forms, values: Floats, numbers: bool) -> tuple[Forms, Floats]:
    """Stopping is worth more where f holds: f true where demonstrations stopped by themselves, or if none did, where
    the world ended them. Where people stop by themselves, that the world has no more to do is no reason of its own."""
    own = evidence.stopped
    usable = [row for row in found.rows if row.form in DONE]
    usable += [row._replace(form=forms.AT_MOST) for row in found.rows if row.form == forms.MORE]
    chosen = Forms(found.concepts, [*usable, *(_enough(evidence, found, values) if numbers else ())])
    none = chosen.take([]), np.zeros((len(evidence.rows), 0))
    ending: Floats = np.where(evidence.stop, 1.0, 0.0 if len(own) else evidence.over)
    if not len(chosen) or not ending.any():
        return none
    paths = [evidence.paths[d] for d in own] if len(own) else evidence.paths
    ends = chosen.columns(values[[path[-1] for path in paths]]) > 0.5
    chosen = chosen.take(np.flatnonzero(ends.all(axis=0)))
    if not len(chosen):
        return none
    held = chosen.columns(values)[evidence.after] * evidence.odds[:, None]
    table: Floats = np.add.reduceat(held, evidence.first, axis=0) * ending[:, None]
    kept = _distinct(chosen, column_prints(table, DIGITS))
    return chosen.take(kept), np.ascontiguousarray(table[:, kept])


def _enough(evidence: Evidence, found: Forms, values: Floats) -> list[Form]:
    """Quantities that were enough, or little enough, at every end that somebody chose, and nowhere before."""
    ends = [int(evidence.paths[d][-1]) for d in evidence.stopped]
    before = np.concatenate([evidence.paths[d][:-1] for d in evidence.stopped]) if ends else np.zeros(0, np.int64)
    rows: list[Form] = []
    for row in found.rows if ends else ():
        if row.form != forms.LINE or row.price > 2 or not quantity(found.concepts[row.concept], evidence):
            continue
        last, earlier = values[ends, row.concept], values[before, row.concept]
        if not (np.isfinite(last).all() and np.isfinite(earlier).any()):
            continue
        least, most = float(np.nanmin(earlier)), float(np.nanmax(earlier))
        if last.min() > most + 1e-9:
            rows.append(Form(forms.LEAST, row.concept, number=_shortest(most, last.min()), price=row.price + 1))
        elif last.max() < least - 1e-9:
            rows.append(Form(forms.BELOW, row.concept, number=-_shortest(-least, -last.max()), price=row.price + 1))
        elif row.price <= 1:
            rows += _partly(row, last, earlier[np.isfinite(earlier)])
    return rows


def _partly(row: Form, last: Floats, earlier: Floats) -> list[Form]:
    """What was not so everywhere before, but some of the time: up to halfway to the nearest value that was met on the
    way, and to the usual one."""
    larger, smaller = np.sort(earlier[earlier > last.max() + 1e-9]), np.sort(-earlier[earlier < last.min() - 1e-9])
    above = {number_between(float(last.max()), v) for v in (*larger[:1], *larger[len(larger) // 2 :][:1])}
    below = {number_between(-v, float(last.min())) for v in (*smaller[:1], *smaller[len(smaller) // 2 :][:1])}
    return [
        *(Form(forms.BELOW, row.concept, number=q, price=row.price + 1) for q in sorted(above)),
        *(Form(forms.LEAST, row.concept, number=q, price=row.price + 1) for q in sorted(below)),
    ]


def _shortest(above: float, to: float) -> float:
    """The number with the fewest digits that is above one number and at most another; of several the middle one."""
    for digits in range(-3, DIGITS):
        step = 10.0**-digits
        low, high = np.floor(above / step + 1e-9) + 1, np.floor(to / step + 1e-9)
        if low <= high:
            return float(round((low + (high - low) // 2) * step, max(digits, 0)))
    return float(to)


def _ranked(
    evidence: Evidence, concepts: Sequence[Concept], kinds: Sequence[str], values: Floats
) -> tuple[tuple[Ranked, ...], Floats]:
    """First by a quantity: for real concepts, of states and of steps, which alternatives are beaten by another one."""
    chosen = [k for k, kind in enumerate(kinds) if kind == "real" and quantity(concepts[k], evidence)]
    of_steps = Steps(evidence).quantities()
    found = [Ranked(concept, largest, True) for concept, largest, _ in of_steps]
    columns = [column for _, _, column in of_steps]
    known = {column.tobytes() for column in columns}
    for k in sorted(chosen, key=lambda k: (concepts[k].complexity, str(concepts[k]))):
        after = evidence.mean(values[:, k])
        before = values[evidence.at[evidence.group], k]
        for largest in (True, False):
            column = beaten(before, after if largest else -after, evidence.start, largest)
            key = column.tobytes()
            if column.any() and key not in known:
                known.add(key)
                found.append(Ranked(concepts[k], largest, False))
                columns.append(column)
    table = np.array(columns).T if columns else np.zeros((len(evidence.rows), 0))
    return tuple(found), table


def quantity(concept: Concept, evidence: Evidence) -> bool:
    """Is it about something that is measured, not counted?"""
    return any(isinstance(n, Aggregated) and signature(n.value, evidence.domain)[1] for n in walk(concept))
