"""What demonstrations are compared by where nothing is asked for, and what may then be said."""

from __future__ import annotations

from typing import Literal

from meip.concepts.grammar import Grammar
from meip.learning.choosing import choice_grammar
from meip.learning.shown import ShownPlans
from meip.model.domain import Domain

__all__ = ["Compared", "choose_learner", "default_grammar", "has_goals"]

Compared = Literal["plans", "choices", "history"]


def choose_learner(training: ShownPlans) -> tuple[Compared, str]:
    """What demonstrations are compared by, and why: single choices, or what choices add to their history where what was
    shown is not among what worlds list, so that the alternatives are drawn."""
    shown = training.choices
    steps = shown.shown & ~shown.stop
    unlisted = int((steps & ~shown.listed).sum())
    if unlisted:
        return "history", (
            f"{unlisted} of {int(steps.sum())} demonstrated steps are not among the actions that their worlds list: "
            "alternatives have to be drawn"
        )
    return "choices", f"every one of {int(steps.sum())} steps is a choice among what its world lists"


def has_goals(domain: Domain) -> bool:
    """Does the domain say what a goal is, by copies of its predicates?"""
    return any(f.goal_of is not None for f in domain.fluents)


def default_grammar(domain: Domain, learner: Compared) -> Grammar:
    """For choices everything to level 3, or goals where the domain has them; shares and extremes for histories; for
    whole plans the paper's, one fluent at a time."""
    if learner == "choices":
        return choice_grammar(domain)
    return Grammar.shares() if learner == "history" else Grammar.paper(1)
