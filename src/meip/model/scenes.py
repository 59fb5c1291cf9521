"""Scenes: states that are looked at as sheets on a table, and actions that are lines drawn over them.

A world whose actions are lines offers the hook `TakesLines`; whoever shows it (a page with a mouse) needs to know
nothing else: what lies there, what a line would do, and which numbers a line is written as.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

__all__ = ["Guide", "Line", "Outline", "Quantity", "Scene", "Sheet", "Stroke", "TakesLines"]

Point: TypeAlias = tuple[float, float]
Outline: TypeAlias = tuple[Point, ...]
Line: TypeAlias = tuple[Point, Point]


@dataclass(frozen=True)
class Sheet:
    """One layer: a polygon, which side of it is up, what its edges are, and what is printed on it."""

    points: Outline
    """y points up."""
    name: str = ""
    side: str = "front"
    """``front`` or ``back``."""
    edges: tuple[str, ...] = ()
    """Of each edge, from point i to point i + 1, what it is: ``outline``, ``seam``, ``crease`` or ``neck``."""
    prints: tuple[Outline, ...] = ()


@dataclass(frozen=True)
class Guide:
    """A line that somebody may well want to draw."""

    name: str
    line: Line


@dataclass(frozen=True)
class Quantity:
    """One of the numbers that an action consists of: its name, and how people would rather read it."""

    name: str
    unit: str = ""
    factor: float = 1.0
    """Number times factor is what people read, such as degrees."""


@dataclass(frozen=True)
class Scene:
    """What lies there, and what helps to draw a line over it."""

    sheets: tuple[Sheet, ...]
    """The lowest first."""
    box: tuple[float, float, float, float]
    """Smallest x and y, largest x and y: what should be in view, the same for all states of an episode."""
    guides: tuple[Guide, ...] = ()
    quantities: tuple[Quantity, ...] = ()
    """What an action's numbers are."""


@dataclass(frozen=True)
class Stroke:
    """What a line would do."""

    line: Line
    action: Any = None
    """None: nothing, and `problem` says why."""
    problem: str = ""
    moves: tuple[Outline, ...] = ()
    """What would move, as it lies now .."""
    lands: tuple[Outline, ...] = ()
    """.. and where each of them comes to lie."""
    crease: Line | None = None
    """As much of the line as there is something below."""
    note: str = ""


@runtime_checkable
class TakesLines(Protocol):
    """Actions are lines drawn over a picture of the state.

    scene    what lies there after these states and actions
    stroke   what a line would do in a state; never an error: where it is not legal, the stroke says why
    line_of  the line that an action is
    """

    def scene(self, states: Sequence[Any], actions: Sequence[Any]) -> Scene: ...

    def stroke(self, state: Any, line: Line) -> Stroke: ...

    def line_of(self, action: Any) -> Line: ...
