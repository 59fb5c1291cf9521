"""What a world shows of itself, asked for safely: pictures of a state, a scene, a stroke, the parts of an action.

Where a world lacks the hook there is an answer all the same: an action's parts are those that it is written with.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from meip.base.errors import MeipError, WorldError
from meip.model.asking import actions_of, ask, asked, shown
from meip.model.scenes import Line, Scene, Stroke, TakesLines
from meip.model.world import Action, Draws, NamesParts, Picture, State, encode, offers, pictures

__all__ = ["action_parts", "last_pictures", "line_of", "scene_of", "shown_errors", "stroke_of"]


def action_parts(world: Any, action: Action) -> list[tuple[str, str]]:
    """What an action consists of: names and values, the first of which it is grouped by."""
    if not offers(world, NamesParts):
        return _written(encode(action))
    found = ask(world, "action_parts", action)
    parts = asked("action_parts()", lambda: [(str(name), str(value)) for name, value in found])
    return parts or _written(encode(action))


def _written(value: Any) -> list[tuple[str, str]]:
    """An action as it is written: a list by its items, a line by its words, an object by its fields."""
    if isinstance(value, dict):
        return [(str(name), _word(one)) for name, one in value.items()] or [("action", "{}")]
    words = value if isinstance(value, list) else value.strip("() ").split() if isinstance(value, str) else [value]
    return [("action" if i == 0 else "", _word(word)) for i, word in enumerate(words)] or [("action", str(value))]


def _word(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.4g}"
    return " ".join(map(_word, value)) if isinstance(value, list) else str(value)


def last_pictures(world: Any, states: Sequence[State], actions: Sequence[Action]) -> list[Picture]:
    """How the world draws the last of these states, perhaps with what the last action changed; [] if it does not."""
    if not offers(world, Draws):
        return []
    first = max(0, len(states) - 2)
    found = asked("draw()", lambda: pictures(world, states[first:], actions[first:]))
    kept = found[len(states) - 1 - first :]
    if not all(isinstance(one, Picture) for one in kept):
        raise WorldError(f"draw() must return pictures, got {shown(None, kept)}")
    return kept


def scene_of(world: Any, states: Sequence[State], actions: Sequence[Action]) -> Scene | None:
    """What lies there after these states and actions; None for a world over which no lines are drawn."""
    if not offers(world, TakesLines):
        return None
    found = asked("scene()", lambda: world.scene(states, actions))
    if not isinstance(found, Scene):
        raise WorldError(f"scene() must return a Scene, got {shown(None, found)}")
    return found


def stroke_of(world: Any, state: State, line: Line) -> Stroke:
    """What a line would do."""
    if not offers(world, TakesLines):
        raise WorldError(f"no lines are drawn in {type(world).__name__}: it does not offer the hook TakesLines")
    found = asked("stroke()", lambda: world.stroke(state, line))
    if not isinstance(found, Stroke):
        raise WorldError(f"stroke() must return a Stroke, got {shown(None, found)}")
    return found


def shown_errors(world: Any, state: State) -> Iterator[tuple[str, str]]:
    """What is wrong with what a world shows of a state: the hook, and the error."""
    try:
        last_pictures(world, [state], ())
    except MeipError as error:
        yield "Draws", str(error)
    try:
        for action in actions_of(world, state)[:1]:
            action_parts(world, action)
            line_of(world, action)
        scene = scene_of(world, [state], ())
        for guide in scene.guides[:1] if scene is not None else ():
            stroke_of(world, state, guide.line)
    except MeipError as error:
        yield "shows", str(error)


def line_of(world: Any, action: Action) -> Line | None:
    """The line that an action is; None where actions are no lines."""
    if not offers(world, TakesLines):
        return None
    return asked("line_of()", lambda: _line(world.line_of(action)))


def _line(ends: Any) -> Line:
    (x0, y0), (x1, y1) = ends
    return (float(x0), float(y0)), (float(x1), float(y1))
