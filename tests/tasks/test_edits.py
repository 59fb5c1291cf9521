"""Edits by hand: a curve is bent knot by knot, and the models that held a demonstration out are bent along."""

from __future__ import annotations

import dataclasses

import pytest

from meip import Episode, LearningError, Task, learn, record
from meip.concepts.parser import parse_concept
from meip.utility.terms import Utility, UtilityTerm
from meip.worlds.ritual import Ritual

CURVED = "count(torch@1)"


def bent_task() -> Task:
    """A ritual, learned, with a curve of the torches in every model."""
    world = Ritual(objects=4)
    shown = [Episode(world, record(world, [(1, "torch", 4), (2, "bamboo", n), (3, "clay", 2)])) for n in (1, 2, 3, 4)]
    task = learn(shown)
    how = task.preferences
    assert how is not None
    curve = UtilityTerm(parse_concept(CURVED, task.domain), "count", (0.0, 2.0, 4.0), (0.0, 0.5, 1.0))

    def with_curve(utility: Utility) -> Utility:
        kept = tuple(term for term in utility.terms if str(term.concept) != CURVED)
        return dataclasses.replace(utility, terms=(*kept, curve))

    held = tuple(dataclasses.replace(one, utility=with_curve(one.utility)) for one in how.held_out)
    preferences = dataclasses.replace(how, held_out=held)
    return dataclasses.replace(task, members=(with_curve(task.members[0]),), preferences=preferences)


def curve_of(utility: Utility) -> tuple[float, ...]:
    return next(term.weights for term in utility.terms if str(term.concept) == CURVED)


def test_a_curve_is_bent_knot_by_knot_and_the_edit_is_recorded() -> None:
    task = bent_task().edit(CURVED, [0.0, 3.0, -1.0], note="two are best")
    assert curve_of(task.members[0]) == (0.0, 3.0, -1.0)
    (edit,) = task.members[0].edits
    assert (edit.concept, edit.before, edit.after) == (CURVED, (0.0, 0.5, 1.0), (0.0, 3.0, -1.0))
    assert task.preferences is not None
    assert {curve_of(held.utility) for held in task.preferences.held_out} == {(0.0, 3.0, -1.0)}


def test_a_bent_curve_changes_the_plan() -> None:
    task = bent_task()
    world = Ritual(objects=4)
    assert list(task.plan(world).actions[0]) == [1, "torch", 4]
    bent = task.edit(CURVED, [0.0, 60.0, -60.0])
    assert [1, "torch", 4] not in [list(action) for action in bent.plan(world).actions]


def test_a_curve_needs_a_weight_for_each_knot() -> None:
    with pytest.raises(LearningError, match="3 knots has 3 weights, got 2"):
        bent_task().edit(CURVED, [0.0, 1.0])
    with pytest.raises(LearningError, match="one weight, got 2"):
        bent_task().edit("all(torch@1)", [0.0, 1.0])
