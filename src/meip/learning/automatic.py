"""What may be said where nothing is asked for."""

from __future__ import annotations

from meip.concepts.grammar import Grammar
from meip.learning.choosing import choice_grammar
from meip.learning.options import Compared
from meip.model.domain import Domain

__all__ = ["default_grammar", "has_goals"]


def has_goals(domain: Domain) -> bool:
    """Does the domain say what a goal is, by copies of its predicates?"""
    return any(f.goal_of is not None for f in domain.fluents)


def default_grammar(domain: Domain, learner: Compared) -> Grammar:
    """Roles and goals where the domain has goals; for choices everything to level 3; for the paper's pursuit, its own
    grammar, one fluent at a time."""
    if has_goals(domain):
        return Grammar.planning()
    return choice_grammar(domain) if learner == "choices" else Grammar.paper(1)
