"""Parse graphs as trees: the cloth at the top, its polygons, what was taken at Or-nodes, edges, vertices.

Of a picture, and of a cloth after some folds: its polygons are then its layers from the table up, those that cannot be
seen as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.worlds.folding.canvas import Canvas, Dot, Shape, Text, fitted
from meip.worlds.folding.cloth import TAGS, Cloth
from meip.worlds.folding.parse_graph import Choice, ParseGraph
from meip.worlds.folding.render import Row, cloth_shapes, placement

__all__ = ["Twig", "cloth_trees", "part_colour", "picture_tree", "told"]

ROW, COLUMN = 74.0, 30.0  # per level and per edge
FEWEST = 8  # edges for whose columns there is always room
SIZE = 330.0  # of the cloth beside its tree
ROOM = 10.5  # between the numbers of vertices
NEAR = 1e-4  # of the root of the area: vertices of two layers this near have one number


@dataclass(frozen=True)
class Twig:
    """A polygon of a tree: its edges as (tag, vertex, vertex), and what was taken at its Or-nodes."""

    name: str
    colour: str
    edges: Sequence[tuple[str, str, str]]
    taken: Sequence[str] = ()


def part_colour(k: int) -> str:
    return f"part{k % 4 + 1}"


def told(choice: Choice) -> str:
    """A choice with how likely it is, and what it would be instead."""
    likely = f"{choice.alternative} {choice.probability:.0%}"
    return (
        f"{likely} ({choice.instead} {choice.instead_probability:.0%})"
        if choice.instead_probability >= 0.01
        else likely
    )


def picture_tree(graph: ParseGraph) -> Canvas:
    """The parse graph of a picture, in the colours of its overlay."""
    kind = next((choice for choice in graph.choices if choice.node == "cloth"), None)
    head = f"cloth: {told(kind)}, {graph.probability:.0%} sure" if kind else f"cloth, {graph.probability:.0%} sure"
    twigs = [
        Twig(
            polygon.name.replace("_", " "),
            part_colour(k),
            [(graph.edges[e].tag, str(graph.edges[e].start), str(graph.edges[e].end)) for e in polygon.edges],
            [
                line
                for choice in graph.choices
                if _belongs(choice.node, polygon.name, graph)
                for line in told(choice).replace(" (", "\n(").splitlines()
            ],
        )
        for k, polygon in enumerate(graph.polygons)
    ]
    canvas = Canvas(_width(twigs), 80 + 4 * ROW, f"parse tree of {graph.source}")
    _grow(canvas, twigs, head)
    if graph.second is not None:
        canvas.add([Text(20, canvas.height - 14, f"second best: {graph.instead}", 11, fill="muted")])
    return canvas


def cloth_trees(row: Row) -> Canvas:
    """Every state of a plan as hands see it, its vertices numbered, beside the tree of its layers."""
    frames = [frame for frame in row.frames if frame.view == row.frames[0].view]  # not the other side of the last
    numbered = [_layers(frame.cloth) for frame in frames]
    tall = max(SIZE, 80 + 4 * ROW)
    width = SIZE + max(_width(twigs) for _, _, twigs in numbered)
    canvas = Canvas(width, tall * len(frames) + 20, f"parse trees: {row.title}")
    for k, (frame, (corners, number, twigs)) in enumerate(zip(frames, numbered, strict=True)):
        fitting = placement(frame.cloth, SIZE - 70, SIZE - 70, view="over")
        place = replace(fitting, x=fitting.x + 30, y=fitting.y + 45 + k * tall)
        canvas.add(cloth_shapes(frame.cloth, place, row.logo))
        first = [int(np.argmax(number == n)) for n in range(int(number.max()) + 1)]
        canvas.add(_marks(place(corners[first])))
        count = f"{len(twigs)} polygon{'s' if len(twigs) > 1 else ''}, {int(number.max()) + 1} vertices"
        _grow(canvas, twigs, f"{row.title}, {frame.caption}: {count}", SIZE, k * tall)
    return canvas


def _layers(cloth: Cloth) -> tuple[Floats, NDArray[np.int64], list[Twig]]:
    """The corners of all layers [n, 2], their numbers [n], and the layers as twigs, from the table up."""
    layers = list(cloth)[::-1]  # a fold turns to the back; hands lay what they fold on top
    corners = np.concatenate([layer.polygon for layer in layers])
    number = _numbers(corners, NEAR * cloth.scale)
    twigs, start = [], 0
    for k, layer in enumerate(layers):
        names = [str(n) for n in number[start : start + len(layer.polygon)]]
        start += len(names)
        edges = [(TAGS[int(tag)], a, b) for tag, a, b in zip(layer.tags, names, names[1:] + names[:1], strict=True)]
        side = "face up" if layer.face > 0 else "turned over"
        twigs.append(Twig(layer.part.replace("_", " "), part_colour(k), edges, [f"layer {k + 1}", side]))
    return corners, number, twigs


def _marks(points: Floats) -> list[Dot | Text]:
    """Dots with their numbers beside them, where there is room."""
    marks: list[Dot | Text] = []
    taken = np.empty((0, 2))
    for n, point in enumerate(points):
        choices = [point + np.array([dx, dy]) for dy in (-4, 12, -15, 23) for dx in (4, -15, 17)]
        room = [min([ROOM, *np.abs((taken - choice) / (1.4, 1.0)).max(axis=1)]) for choice in choices]
        x, y = choices[int(np.argmax(room))]
        taken = np.vstack([taken, [[x, y]]])
        marks += [Dot(float(point[0]), float(point[1]), 2.2, "outline"), Text(float(x), float(y), str(n), 8)]
    return marks


def _numbers(points: Floats, near: float) -> NDArray[np.int64]:
    """[n] A number for each point; points as near as this to each other have the same."""
    found = np.full(len(points), -1, dtype=np.int64)
    for i, point in enumerate(points):
        if found[i] < 0:
            found[(found < 0) & (np.hypot(*(points - point).T) <= near)] = found.max() + 1
    return found


def _width(twigs: Sequence[Twig]) -> float:
    return 40 + sum(COLUMN * max(len(twig.edges), FEWEST) + 14 for twig in twigs)


def _grow(canvas: Canvas, twigs: Sequence[Twig], head: str, left: float = 0.0, top: float = 0.0) -> None:
    """The tree, from this place to the right and down: the cloth over its polygons."""
    middle = left + _width(twigs) / 2
    left += 20
    canvas.add([Text(middle, top + 30, fitted(head, _width(twigs), 13), 13, anchor="middle", bold=True)])
    for twig in twigs:
        width = COLUMN * max(len(twig.edges), FEWEST)
        _branch(canvas, (middle, top + 46), (left + width / 2, top + 46 + ROW))
        _twig(canvas, twig, left, top, width)
        left += width + 14
    canvas.add([Dot(middle, top + 46, 7, "outline")])


def _twig(canvas: Canvas, twig: Twig, left: float, top: float, width: float) -> None:
    """A polygon, its Or-nodes, and its edges with their vertices below."""
    x, y = left + width / 2, top + 46 + ROW
    _branch(canvas, (x, y), (x, y + ROW))
    for n, text in enumerate(twig.taken):
        line = fitted(text, width / 2 - 4, 10)
        canvas.add([Text(x + 8, y + ROW - 8 - 13 * (len(twig.taken) - 1 - n), line, 10, fill="muted")])
    for e, (tag, *ends) in enumerate(twig.edges):
        at = x + COLUMN * (e + 0.5 - len(twig.edges) / 2)
        _branch(canvas, (x, y + ROW), (at, y + 2 * ROW))
        bar = np.array([[at - 9, y + 2 * ROW], [at + 9, y + 2 * ROW]])
        canvas.add([Shape(bar, stroke=tag, width=4, closed=False)])
        for dx, vertex in zip((-7, 7), ends, strict=True):
            _branch(canvas, (at, y + 2 * ROW), (at + dx, y + 2.6 * ROW))
            canvas.add([Dot(at + dx, y + 2.6 * ROW, 2.2, "outline")])
            canvas.add([Text(at + dx, y + 2.6 * ROW + 13, vertex, 8, anchor="middle")])
    canvas.add([Dot(x, y, 7, twig.colour), Dot(x, y + ROW, 4, "panel"), Dot(x, y + ROW, 3, twig.colour)])
    canvas.add([Text(x + 11, y + 4, twig.name, 12)])


def _belongs(node: str, part: str, graph: ParseGraph) -> bool:
    """Which polygon an Or-node is about: a yoke about its sleeve, or, if there is none, about the body."""
    rule, _, side = node.partition("_")
    if rule == "yoke":
        sleeve = f"sleeve_{side}"
        return part == (sleeve if any(polygon.name == sleeve for polygon in graph.polygons) else "body")
    return part == ("hood" if rule == "hood" else "body") and rule != "cloth"


def _branch(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    canvas.add([Shape(np.array([start, end]), stroke="muted", width=0.8, closed=False)])
