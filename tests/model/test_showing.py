"""What a world shows of itself is asked for by hooks; where one is missing there is an answer all the same."""

from __future__ import annotations

from typing import Any

import pytest

from meip.base.errors import WorldError
from meip.model.check import check_world
from meip.model.problems import resolve_world
from meip.model.scenes import Scene, Stroke
from meip.model.showing import action_parts, last_pictures, line_of, scene_of, stroke_of
from meip.model.world import Picture
from meip.worlds.ritual import Ritual


class Mute:
    """A world without hooks."""


class Talks:
    def action_parts(self, action: Any) -> list[tuple[str, Any]]:
        return [("verb", action[0]), ("how often", action[1])]

    def draw(self, states: Any, actions: Any) -> list[Picture]:
        return [Picture(f"{len(states)} states, {state}") for state in states] + [Picture("behind")]


class Wrong:
    def scene(self, states: Any, actions: Any) -> Any:
        return "a scene"

    def stroke(self, state: Any, line: Any) -> Any:
        raise RuntimeError("oh")

    def line_of(self, action: Any) -> Any:
        return ((0, 0), (1, 1))

    def draw(self, states: Any, actions: Any) -> Any:
        return ["a picture"]


@pytest.mark.parametrize(
    ("action", "parts"),
    [
        ("(sail l1 l2)", [("action", "sail"), ("", "l1"), ("", "l2")]),
        ("water 0", [("action", "water"), ("", "0")]),
        (("plant", 3), [("action", "plant"), ("", "3")]),
        ({"verb": "go", "far": 1.5}, [("verb", "go"), ("far", "1.5")]),
        (7, [("action", "7")]),
        ("", [("action", "")]),
        ((), [("action", "[]")]),
    ],
)
def test_an_action_without_names_for_its_parts_is_taken_apart_as_it_is_written(action: Any, parts: Any) -> None:
    assert action_parts(Mute(), action) == parts


def test_a_world_names_the_parts_of_its_actions() -> None:
    assert action_parts(Talks(), ("jump", 3)) == [("verb", "jump"), ("how often", "3")]
    assert action_parts(resolve_world("ritual"), (2, "clay", 0)) == [
        ("stage", "2"),
        ("type", "nothing"),
        ("number", "0"),
    ]


def test_the_last_state_is_drawn_with_the_one_before_it_and_whatever_comes_after() -> None:
    assert last_pictures(Mute(), [1], []) == []
    assert [one.caption for one in last_pictures(Talks(), [1], [])] == ["1 states, 1", "behind"]
    assert [one.caption for one in last_pictures(Talks(), [1, 2, 3], "ab")] == ["2 states, 3", "behind"]


def test_what_a_hook_does_wrong_is_named() -> None:
    for asked, what in (
        (lambda: scene_of(Wrong(), [0], []), r"scene\(\) must return a Scene"),
        (lambda: stroke_of(Wrong(), 0, ((0, 0), (1, 1))), r"stroke\(\) failed: RuntimeError: oh"),
        (lambda: stroke_of(Mute(), 0, ((0, 0), (1, 1))), "does not offer the hook TakesLines"),
        (lambda: last_pictures(Wrong(), [0], []), r"draw\(\) must return pictures"),
    ):
        with pytest.raises(WorldError, match=what):
            asked()
    assert scene_of(Mute(), [0], []) is None and line_of(Mute(), 0) is None


def test_folding_offers_all_of_it() -> None:
    world = resolve_world("folding")
    flat = world.initial()[0][1]
    assert isinstance(scene_of(world, [flat], []), Scene)
    stroke = stroke_of(world, flat, ((-15, -10), (-15, 90)))
    assert isinstance(stroke, Stroke) and line_of(world, stroke.action) == (
        pytest.approx((-15, -10)),
        pytest.approx((-15, 90)),
    )


def test_check_world_draws_and_reports_what_goes_wrong() -> None:
    class Drawn(Ritual):
        def draw(self, states: Any, actions: Any) -> Any:
            raise KeyError("colour")

        def action_parts(self, action: Any) -> Any:
            return [("only a name",)]

    errors = "\n".join(check_world(Drawn()))
    assert "draw() failed: KeyError" in errors and "action_parts() failed: ValueError" in errors
