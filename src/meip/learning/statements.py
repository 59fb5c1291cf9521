"""What is told: statements of a small model, rules and order, and how many choices they foresee."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.concepts.check import slot
from meip.concepts.language import Concept
from meip.learning import forms
from meip.learning.endings import always_in_the_end, with_endings
from meip.learning.rules import Never, worth_telling
from meip.learning.selection import unless
from meip.learning.study import Model, Study
from meip.learning.told import Small, small_model
from meip.utility.preferences import Before, Rule, Statement

__all__ = ["told"]

LEANING = 0.4  # correlation from which on a term says nearly what a statement says
GUESSES = 2  # statements where none is worth its price
UNTOLD = (forms.UNLESS, forms.BEND)  # an order is told as such; "how far above 29 %" nobody wants to read
SURE = 2.0  # nats of net evidence above which a rule that names a number is told


def told(
    study: Study,
    rules: Sequence[Never],
    pairs: Sequence[tuple[int, int]],
    order: Sequence[Before],
    model: Model,
    usual: Floats,
    enforced: Sequence[Rule] = (),
) -> dict[str, Any]:
    """Statements, and how many choices they foresee."""
    evidence, offers, wishes = study.evidence, study.offers, model.wishes
    offset = np.zeros(len(evidence.rows))
    true = np.nan_to_num(offers.values) > 0.5
    for (b, a), pair in zip(pairs, order, strict=True):
        offset -= pair.strength * evidence.entered((true[:, b] & ~true[:, a])[:, None])[:, 0]
    sure = [rule for rule in rules if rule.evidence - rule.price > SURE]
    small = _small(study, sure, offset)
    firm = [*sure, *_besides(study, small, [rule for rule in rules if rule not in sure])]
    small = _small(study, firm, offset) if len(firm) > len(sure) else small
    taken = list(zip(small.columns, small.weights, small.worth, strict=True))
    if not taken and not firm:  # nothing is worth its price: then what plans go by most, as a guess
        heaviest = np.argsort(-np.abs(wishes * offers.changes.std(axis=0)), kind="stable")[:GUESSES]
        taken = [(int(j), float(wishes[j]), 0.0) for j in heaviest if abs(wishes[j]) > 1e-8]
    found = [_statement(study, j, w, n, model) for j, w, n in taken]
    aims = [statement.concept for statement in found if statement.kind == "wanted"]
    if study.options.concepts is None:
        ends = always_in_the_end(evidence, offers.forms.concepts, offers.values)
        found, aims = with_endings(found, ends, SURE), [*aims, *ends]
    chosen = worth_telling(evidence, offers, pairs, usual, {str(concept) for concept in aims})
    ordered = [
        Statement("order", unless(order[k].then, order[k].first), -order[k].strength, nats, order[k].possible)
        for k, nats in chosen
    ]
    said = {str(statement.concept) for statement in ordered}
    found += [
        Statement("never", rule.concept, -rule.strength, rule.evidence - rule.price, rule.possible, step=rule.step)
        for rule in firm
        if str(rule.concept) not in said
    ]
    found += ordered
    found += [Statement("never", rule.concept, -rule.strength, SURE) for rule in enforced]
    return {
        "statements": tuple(found), "foreseen": small.foreseen, "by_chance": small.by_chance,
        "choices": evidence.count,
    }  # fmt: skip


def _small(study: Study, rules: Sequence[Never], offset: Floats) -> Small:
    """The small model beside rules."""
    found = study.offers.forms
    if rules:
        offset = offset - np.column_stack([r.entered for r in rules]) @ np.array([r.strength for r in rules])
    count = len(study.problem.price) - 1
    usable = [j for j in range(count) if j >= study.size or found.rows[j].form not in UNTOLD]

    def tell(taken: Sequence[int], weights: Floats, loss: float, foreseen: float) -> None:
        wishes = [(str(found.concept(j)), float(w)) for j, w in zip(taken, weights, strict=False) if j < study.size]
        study.say(stage="told", wanted=wishes, objective=-loss, foreseen=foreseen, choices=study.evidence.count)

    return small_model(study.evidence, study.problem, offset, study.complexity, usable, tell)


def _besides(study: Study, small: Small, rules: Sequence[Never]) -> list[Never]:
    """Of rules with little evidence those that name no number, and are not about what is wanted for sure: of
    "just four" and "never all five" the first is told."""
    concept = study.offers.forms.concept
    aims = {
        slot(concept(j))
        for j, weight, worth in zip(small.columns, small.weights, small.worth, strict=True)
        if j < study.size and weight > 0 and worth >= SURE
    }
    return [rule for rule in rules if not rule.number and slot(rule.concept) not in aims]


def _statement(study: Study, j: int, weight: float, worth: float, model: Model) -> Statement:
    offers = study.offers
    column = study.problem.columns[:, j]
    possible = int(np.logical_or.reduceat(np.abs(column) > 1e-9, study.evidence.start[:-1]).sum())
    leaning = _leaning(study, column, model, offers.forms.concept(j) if j < study.size else None)
    if j < study.size:
        term = offers.forms.term(j, weight)
        wanted = "late" if _is_late(study, j, weight) else "wanted" if weight > 0 else "avoided"
        return Statement(wanted, term.concept, term.weights[0], worth, possible, leaning)  # type: ignore[arg-type]
    if j < study.size + study.ranks:
        one = offers.ranked[j - study.size]
        signed = weight if one.largest else -weight
        return Statement("first", one.concept, signed, worth, possible, leaning, step=one.step)
    concept = offers.done.concept(j - study.size - study.ranks)
    return Statement("done", concept, weight, worth, possible)


def _is_late(study: Study, j: int, weight: float) -> bool:
    """Does every demonstration end with more of what is avoided than it began with, or less of what is wanted?"""
    column = study.offers.forms.take([j]).columns(study.offers.values)[:, 0]
    ends, starts = (column[[path[k] for path in study.evidence.paths]] for k in (-1, 0))
    return bool(((ends - starts) * np.sign(weight) < -1e-9).all())


def _leaning(study: Study, column: Floats, model: Model, concept: Concept | None) -> tuple[str, ...]:
    """The concepts of the utility that change along with this column, where it tells alternatives apart, and those
    that differ from this concept by their quantifier or a number only."""
    start = study.evidence.start[:-1]
    varies = np.maximum.reduceat(column, start) - np.minimum.reduceat(column, start) > 1e-9
    rows = varies[study.evidence.group]
    used = np.flatnonzero(np.abs(model.wishes) > 1e-8)
    concepts, others = [study.offers.forms.concept(int(j)) for j in used], study.offers.changes[rows][:, used]
    if study.curves is not None:
        concepts += [term.concept for term in study.curves.terms]
        others = np.hstack([others, study.curves.each(model.bent)[rows]])
    own, others = column[rows] - column[rows].mean(), others - others.mean(axis=0)
    norm = np.sqrt((own**2).sum() * (others**2).sum(axis=0))
    alike = np.abs(own @ others) >= LEANING * np.maximum(norm, 1e-12)
    if concept is not None:
        alike |= np.array([slot(other) == slot(concept) for other in concepts], np.bool_)
    return tuple(dict.fromkeys(str(c) for c, along in zip(concepts, alike, strict=True) if along))
