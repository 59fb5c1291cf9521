"""When it is enough: how many steps are taken is learned like any other choice."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from line_world import Line
from meip import Task, learn, record
from meip.model.demonstrations import Episode


@dataclass(frozen=True)
class Road(Line):
    """A line whose things are called by what they are made of."""

    parts: tuple[str, ...] = ("wheel",)

    def made_of(self) -> tuple[str, ...]:
        return self.parts


@cache
def task() -> Task:
    """Somebody goes on by about one until the thing is past 3, wherever it began, and could go on for longer."""
    rng, found = np.random.default_rng(0), []
    for k in range(12):
        world, at = Road(begin=float(k % 3) + float(rng.uniform(0, 0.3)), horizon=8), 0.0
        moves: list[float] = []
        while world.begin + at < 3:
            moves.append(float(rng.uniform(0.9, 1.1)))
            at += moves[-1]
        found.append(Episode(world, record(world, moves)))
    return learn(found)


def test_what_is_nearly_there_needs_fewer_steps() -> None:
    for begin, steps in ((0.1, 3), (1.1, 2), (2.1, 1)):
        plan = task().plan(Road(begin=begin, horizon=8))
        assert (len(plan.steps), plan.stopped_by) == (steps, "stopped")


def test_how_far_is_far_enough_is_a_reason_to_stop() -> None:
    how = task().preferences
    assert how is not None and how.by_itself
    assert any("<= max(place)" in str(term.concept) for term in how.done.terms)


def test_a_plan_names_what_no_demonstration_had() -> None:
    assert task().made_of == ("wheel",)
    assert task().plan(Road(begin=2.1, horizon=8)).notes == ()
    notes = task().plan(Road(begin=2.1, horizon=8, parts=("wheel", "axle", "axle"))).notes
    assert notes == ("no demonstration had an axle: what to do with it was not learned",)
    assert learn([Episode(Line(horizon=3), record(Line(horizon=3), [1.0]))]).made_of is None
