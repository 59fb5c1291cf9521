"""What `learn` takes: episodes, or pairs of a world and what was done in it; something must have been done."""

from __future__ import annotations

import pytest

from meip import DemonstrationError, Episode, LearningError, learn, record
from meip.worlds.ritual import Ritual

WORLD = Ritual(stages=2, types=("torch", "bamboo"), objects=2)
ACTIONS = [(1, "torch", 2), (2, "bamboo", 1)]


def test_a_pair_is_learned_from_as_its_episode_is() -> None:
    shown = record(WORLD, ACTIONS)
    task = learn([Episode(WORLD, shown)], committee=2)
    assert learn([(WORLD, shown)], committee=2) == task
    assert learn([(WORLD, ACTIONS)], committee=2).members == task.members


def test_nothing_is_learned_from_nothing() -> None:
    with pytest.raises(LearningError, match=r"none of the demonstrations \(2\) has a step"):
        learn([Episode(WORLD, record(WORLD, []))] * 2)


def test_a_demonstration_without_its_world_is_asked_for_it() -> None:
    with pytest.raises(DemonstrationError, match=r"a pair \(world, demonstration\), got a Demonstration"):
        learn([record(WORLD, ACTIONS)])
