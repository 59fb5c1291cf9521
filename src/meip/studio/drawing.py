"""States and actions as the page shows them, by the world's hooks: pictures, scenes, facts, parts of actions.

``state_view(graph, states, actions)`` is what `web/state-view.js` draws: the last of the states, with what the last
action changed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from meip.base.errors import DemonstrationError
from meip.model.domain import Fluent
from meip.model.graph import StateGraph
from meip.model.showing import action_parts, last_pictures, line_of, scene_of, stroke_of
from meip.model.world import Action, Describes, encode, offers

__all__ = [
    "action_text", "action_view", "actions_view", "asked_stroke", "facts_view", "motion", "state_view", "stroke_view",
]  # fmt: skip

MOST_ACTIONS = 1000  # sent at once; a search finds the others
MOST_ENTRIES = 80  # of one fluent
Entry = tuple[int, ...]


def state_view(
    graph: StateGraph, states: Sequence[int], actions: Sequence[Action], *, facts: bool | None = None
) -> dict[str, Any]:
    """The last of these states (numbers of the graph). `facts`: with their table; None: where nothing is drawn."""
    seen = [graph.states[number] for number in states]
    scene = scene_of(graph.world, seen, actions)
    pictures = [] if scene is not None else last_pictures(graph.world, seen, actions)
    tabled = facts if facts is not None else scene is None and not pictures
    return {
        "words": graph.describe(states[-1]) if not tabled or offers(graph.world, Describes) else "",
        "pictures": [{"svg": one.svg, "html": one.html, "note": one.note} for one in pictures],
        "scene": None if scene is None else asdict(scene),
        "facts": facts_view(graph, states) if tabled else None,
    }


def motion(graph: StateGraph, state: int, action: Action) -> dict[str, Any] | None:
    """What an action moves and where to, where actions are lines: for an animation."""
    line = line_of(graph.world, action)
    return None if line is None else stroke_view(graph, state, line)


def stroke_view(graph: StateGraph, state: int, line: Any) -> dict[str, Any]:
    """What a line would do, as JSON."""
    found = stroke_of(graph.world, graph.states[state], line)
    return {**asdict(found), "action": encode(found.action), "legal": found.action is not None}


def asked_stroke(graph: StateGraph, state: int, line: Sequence[float] | None, action: Any) -> dict[str, Any]:
    """The same, as a page asks for it: by the ends of a line [x, y, x, y], or as an action."""
    if action is not None:
        decoded = graph.decoded(action)
        ends = None if decoded is None else line_of(graph.world, decoded)
    else:
        ends = ((line[0], line[1]), (line[2], line[3])) if line is not None and len(line) == 4 else None
    if ends is None:
        raise DemonstrationError("expected a line [x, y, x, y] or an action")
    return stroke_view(graph, state, ends)


# --- actions ---


def action_text(world: Any, action: Action) -> str:
    """An action in one line, by its parts."""
    return _text(action_parts(world, action))


def action_view(world: Any, action: Action) -> dict[str, Any]:
    parts = action_parts(world, action)
    return {"value": encode(action), "text": _text(parts), "parts": parts}


def actions_view(graph: StateGraph, state: int, search: str = "") -> dict[str, Any]:
    """What can be done in a state, as far as a page can bear it; `search` leaves those that have all of its words."""
    words = search.casefold().split()
    legal = graph.legal(state)
    found: list[dict[str, Any]] = []
    fitting = 0
    for action in legal:
        if words or fitting < MOST_ACTIONS:
            one = action_view(graph.world, action)
            if not all(word in one["text"].casefold() for word in words):
                continue
            if fitting < MOST_ACTIONS:
                found.append(one)
        fitting += 1
    return {"actions": found, "total": fitting, "legal": len(legal)}


def _text(parts: Sequence[tuple[str, str]]) -> str:
    if parts[0][0] in ("", "action"):
        return " ".join(value for _, value in parts)
    return ", ".join(f"{name} {value}" for name, value in parts)


# --- facts ---


def facts_view(graph: StateGraph, states: Sequence[int]) -> list[dict[str, Any]]:
    """The facts of the last state, fluent by fluent, with what is new, gone or another number since the one before."""
    now = _facts(graph, states[-1])
    before = _facts(graph, states[-2]) if len(states) > 1 else now
    rows = []
    for fluent in graph.domain.fluents:
        here, there = now.get(fluent.name, {}), before.get(fluent.name, {})
        entries = list(_entries(fluent, here, there))
        entries.sort(key=lambda entry: not entry["change"])
        rows.append(
            {
                "name": fluent.name,
                "static": fluent.static,
                "changed": any(entry["change"] for entry in entries),
                "entries": entries[:MOST_ENTRIES],
                "more": max(0, len(entries) - MOST_ENTRIES),
            }
        )
    return rows


def _entries(fluent: Fluent, now: dict[Entry, float], before: dict[Entry, float]) -> Iterator[dict[str, Any]]:
    for entry in sorted({*now, *before}):
        value, was = now.get(entry), before.get(entry)
        change = "" if value == was else "+" if was is None else "-" if value is None else "~"
        shown = value if value is not None else was
        yield {
            "text": _sentence(fluent, entry),
            "value": shown if fluent.real else None,
            "was": was if fluent.real and change == "~" else None,
            "change": change,
        }


def _sentence(fluent: Fluent, entry: Entry) -> str:
    names = [f"{cls} {number}" for cls, number in zip(fluent.classes, entry, strict=True)]
    if fluent.phrase:
        try:
            return fluent.phrase.format(*names)
        except (IndexError, KeyError, ValueError):
            pass
    return f"{fluent.name}({', '.join(names)})" if names else fluent.name


def _facts(graph: StateGraph, number: int) -> dict[str, dict[Entry, float]]:
    """What holds in a state: for each fluent the entities it is true of, or their numbers."""
    (block,) = graph.facts([number])
    found: dict[str, dict[Entry, float]] = {}
    for fluent in graph.domain.fluents:
        if fluent.name in block.tables:
            table = np.asarray(block.tables[fluent.name])
            table = table[0] if table.ndim > fluent.arity else table
            places = np.argwhere(~np.isnan(table) if fluent.real else table)
            found[fluent.name] = {tuple(int(i) for i in place): float(table[tuple(place)]) for place in places}
    return found
