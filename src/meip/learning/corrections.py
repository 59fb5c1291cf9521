"""Corrections: a step of a plan was wrong, and what would have been right.

A correction is two choices (`model.choices`): the right step among all that could have been done, which counts as any
demonstrated choice, and the right step rather than the wrong one. A rule that the wrong step breaks gains by what
somebody without the rule would have done, which is known: it is what the plan did (`rules.REJECTED`).

Among dozens of demonstrated choices two more need not change anything. But somebody who corrects a step expects that
it is not done again: so the weight of the second choice rises until what is learned would rather do the right step
there, no further, and only up to a bound. The first stays as it is: other steps may have been as good as the right one.
What cannot be followed even so is said in a warning.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from meip.base.arrays import Ints
from meip.learning.evidence import Evidence
from meip.model.choices import Corrected
from meip.search.choosing import Chooser
from meip.utility.preferences import ChoiceRanking

if TYPE_CHECKING:
    from meip.learning.choosing import LearnedChoices
    from meip.learning.study import Study

__all__ = ["WEIGHTS", "is_followed", "learned_from"]

WEIGHTS = (1.0, 4.0, 16.0, 64.0)
"""As how many demonstrated choices a correction counts; the least that is enough."""
SAME = 1e-9


def learned_from(study: Study, learned: Callable[[], LearnedChoices]) -> LearnedChoices:
    """What is learned, with the least weights of the corrections by which they are followed."""
    corrections = study.evidence.replayed.corrections
    found = learned()
    if not corrections:
        return found
    places = np.zeros(len(corrections), np.int64)
    behind = _behind(study.evidence, found)
    while len(again := behind[places[behind] < len(WEIGHTS) - 1]):
        places[again] += 1
        study.weigh_corrections(np.array(WEIGHTS)[places])
        study.say(stage="corrections", followed=len(corrections) - len(behind), corrections=len(corrections))
        found = learned()
        behind = _behind(study.evidence, found)
    weights = [WEIGHTS[k] for k in places]
    warnings = tuple(
        f"correction {k + 1} is not followed: even counted {WEIGHTS[-1]:g} times, nothing that can be said tells its "
        "right step from the wrong one well enough"
        for k in behind
    )
    evidence = {**found.evidence, "corrections": {"weights": weights, "not_followed": [int(k) + 1 for k in behind]}}
    return dataclasses.replace(found, evidence=evidence, warnings=(*found.warnings, *warnings))


def _behind(evidence: Evidence, found: LearnedChoices) -> Ints:
    """The places of the corrections that are not followed."""
    ranking = ChoiceRanking(found.utility, found.preferences)
    return np.array(
        [k for k, one in enumerate(evidence.replayed.corrections) if not is_followed(evidence, one, ranking)], np.int64
    )


def is_followed(evidence: Evidence, one: Corrected, ranking: ChoiceRanking) -> bool:
    """Is the right step worth more there than what the plan did?"""
    graph = evidence.replayed.graphs[one.walk.graph]
    chooser = Chooser(graph, ranking)
    seen: dict[int, int] = {}
    for state in one.walk.states:
        seen[state] = seen.get(state, 0) + 1
    options = chooser.options(one.state, graph.horizon - len(one.walk.states), seen)
    worth = np.append(options.worth, options.stop)
    right = _place(chooser, graph.outcomes_of(one.state, one.right) if one.right is not None else None, one.state)
    wrong = _place(chooser, graph.outcomes_of(one.state, one.rejected) if one.rejected is not None else None, one.state)
    if right is None:
        return True  # the world does not list it: no plan can do it
    return wrong is None or wrong == right or bool(worth[right] > worth[wrong] + SAME)


def _place(chooser: Chooser, outcomes: list[tuple[float, int]] | None, state: int) -> int | None:
    """Of what has these outcomes among the alternatives; the last one is to stop. None where it is not listed."""
    actions, listed = chooser.alternatives(state)
    if outcomes is None:
        return len(actions)
    merged: dict[int, float] = {}
    for p, s in outcomes:
        merged[s] = merged.get(s, 0.0) + p
    key = tuple(sorted((round(p, 12), s) for s, p in merged.items() if p > 0))
    return listed.index(key) if key in listed else None
