"""Which learner fits the demonstrations where none is asked for: by the length of plans, and by what worlds list."""

from __future__ import annotations

from typing import Literal

from meip.concepts.grammar import Grammar
from meip.learning.shown import ShownPlans
from meip.model.domain import Domain

__all__ = ["Compared", "choose_learner", "default_grammar"]

Compared = Literal["plans", "choices", "history"]
LONG_PLANS = 30  # states of a plan beyond which there is nothing good to compare whole plans with
MANY_ACTIONS = 1000  # per state, beyond which pools of whole plans hardly meet what was shown


def choose_learner(training: ShownPlans) -> tuple[Compared, str]:
    """What demonstrations are compared by, and why.

    Single choices where plans are long; what choices add to their history where actions are too many to list, so that
    whole plans cannot be compared and there is more to be said about a state than demonstrations can decide; else whole
    plans.
    """
    if any(f.goal_of for f in training.domain.fluents):
        return "choices", "the domain has goals: plans are as long as their problems are large"
    longest = max(case.horizon for case in training.cases)
    if longest > LONG_PLANS:
        return "choices", f"plans have up to {longest} states, more than {LONG_PLANS}"
    shown = training.choices
    steps = shown.shown & ~shown.stop
    unlisted = int((steps & ~shown.listed).sum())
    if unlisted:
        return "history", (
            f"{unlisted} of {int(steps.sum())} demonstrated steps are not among the actions that their worlds list: "
            "there are too many to list, so that whole plans cannot be compared"
        )
    if shown.listed.sum() > MANY_ACTIONS * max(int(steps.sum()), 1):
        return "history", f"there are more than {MANY_ACTIONS} actions per state: whole plans cannot be compared"
    return "plans", f"plans have at most {longest} states, so that whole plans can be compared"


def default_grammar(domain: Domain, learner: Compared) -> Grammar:
    """Roles and goals where the domain has goals; counts for single choices; shares and extremes for histories; else
    the paper's, one fluent at a time."""
    if any(f.goal_of for f in domain.fluents):
        return Grammar.planning()
    if learner == "choices":
        return Grammar.counts()
    return Grammar.shares() if learner == "history" else Grammar.paper(1)
