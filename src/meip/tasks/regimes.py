"""Which regime of learning fits the demonstrations: by the length of plans, and by what a world can list."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal

from meip.concepts.grammar import Grammar
from meip.learning.training import TrainingSet
from meip.model.domain import Domain

__all__ = ["REGIMES", "Regime", "choose_regime", "default_grammar"]

Regime = Literal["auto", "exact", "stepwise", "committee"]
REGIMES = ("auto", "exact", "stepwise", "committee")
LONG_PLANS = 30  # states of a plan beyond which the exact regime has nothing good to compare with
MANY_ACTIONS = 1000  # per state, beyond which pools of whole plans hardly meet what was shown


def choose_regime(training: TrainingSet) -> tuple[Literal["exact", "stepwise", "committee"], str]:
    """Which regime fits the demonstrations, and why.

    Single steps where plans are long; a committee where actions are too many to list, so that whole plans cannot be
    compared and there is more to be said about a state than demonstrations can decide; else whole plans.
    """
    if any(f.goal_of for f in training.domain.fluents):
        return "stepwise", "the domain has goals: plans are as long as their problems are large"
    longest = max(case.horizon for case in training.cases)
    if longest > LONG_PLANS:
        return "stepwise", f"plans have up to {longest} states, more than {LONG_PLANS}"
    steps, listed, actions = _branching(training)
    if listed < steps:
        return "committee", (
            f"{steps - listed} of {steps} demonstrated steps are not among the actions that their worlds list: there "
            "are too many to list, so that whole plans cannot be compared"
        )
    if actions > MANY_ACTIONS * max(steps, 1):
        return "committee", f"there are more than {MANY_ACTIONS} actions per state: whole plans cannot be compared"
    return "exact", f"plans have at most {longest} states, so that whole plans can be compared"


def _branching(training: TrainingSet) -> tuple[int, int, int]:
    """Demonstrated steps, those of them that the world lists by itself, and the actions that it lists there."""
    steps = listed = actions = 0
    for case, shown in training.shown:
        graph = training.graphs[case.graph]
        for state, following in pairwise(shown.intended):
            steps += 1
            listed += following in graph.successors(state)
            actions += len(graph.action_numbers(state))
    return steps, listed, actions


def default_grammar(domain: Domain, regime: str = "exact") -> Grammar:
    """Roles and goals where the domain has goals; shares and extremes for committees; else the paper's, one fluent at
    a time."""
    if any(f.goal_of for f in domain.fluents):
        return Grammar.planning()
    if regime == "committee":
        from meip.learning.committee import share_grammar

        return share_grammar()
    return Grammar.paper(1)
