"""The parse graph to look at: over the picture, and as a tree from the cloth down to the vertices."""

from __future__ import annotations

import numpy as np

from meip.worlds.folding.canvas import Canvas, Dot, Image, Shape, Text, fitted, load_cv2
from meip.worlds.folding.parse_graph import Choice, ParsedPolygon, ParseGraph
from meip.worlds.folding.parse_image import Photo
from meip.worlds.folding.segment import colour_image

__all__ = ["backdrop", "overlay", "tree"]

ROW, COLUMN = 74.0, 30.0  # of the tree, per level and per edge


def backdrop(graph: ParseGraph, photo: Photo) -> Image:
    """The picture as it was parsed: smaller than the file's, and straightened if there was a sheet of paper."""
    cv2 = load_cv2()
    to_file = np.array(graph.onto).reshape(3, 3)
    back = np.linalg.inv(to_file) @ np.diag([photo.shrunk, photo.shrunk, 1.0])
    seen: Image = cv2.warpPerspective(colour_image(photo.pixels), back, (graph.width, graph.height))
    return seen


def overlay(graph: ParseGraph, photo: Image | None = None, *, width: float = 560.0) -> Canvas:
    """Parts in colours over the picture, edges by tag, numbered vertices; beside it the choices and the nodes."""
    scale = width / max(graph.width, graph.height)
    lines = _legend(graph, graph.width * scale + 16)
    canvas = Canvas(graph.width * scale + 290, max(graph.height * scale, 30.0 + max(line.y for line in lines)))
    canvas.title = f"parse graph of {graph.source}"
    if photo is not None:  # pale, so that dark lines are seen on dark pictures
        canvas.photo, canvas.photo_scale = (140 + 0.45 * photo).astype(np.uint8), scale
    for k, polygon in enumerate(graph.polygons):
        fill = Shape(graph.points(polygon) * scale, fill=_colour(k), opacity=0.55 if photo is not None else 1.0)
        canvas.add([fill])
    canvas.add([Shape(np.array(graph.axis) * scale, stroke="muted", width=1, dash=(6.0, 5.0), closed=False)])
    for edge in graph.edges:
        ends = np.array([graph.vertices[edge.start], graph.vertices[edge.end]]) * scale
        dash = (5.0, 4.0) if edge.tag == "seam" else None
        canvas.add([Shape(ends, stroke=edge.tag, width=2.2 if edge.tag == "neck" else 1.6, dash=dash, closed=False)])
    canvas.add(_vertex_marks(graph, scale))
    canvas.add(lines)
    return canvas


def _colour(k: int) -> str:
    return f"part{k % 4 + 1}"


def _vertex_marks(graph: ParseGraph, scale: float) -> list[Dot | Text]:
    """Dots, each with its number pushed out from the middle of the cloth."""
    points = np.array(graph.vertices) * scale
    middle = points.mean(axis=0)
    marks: list[Dot | Text] = []
    for i, (x, y) in enumerate(points):
        away = np.array([x, y]) - middle
        dx, dy = 11 * away / max(float(np.linalg.norm(away)), 1e-9)
        marks += [Dot(x, y, 2.6, "outline"), Text(x + dx, y + dy + 3, str(i), 9, anchor="middle")]
    return marks


def _legend(graph: ParseGraph, x: float) -> list[Dot | Text]:
    seams = sum(edge.tag == "seam" for edge in graph.edges)
    lines: list[Dot | Text] = [
        Text(x, 28, fitted(graph.source, 266, 14), 14, bold=True),
        Text(x, 48, f"cloth: {len(graph.polygons)} polygon{'s' if len(graph.polygons) > 1 else ''}", 12),
        Text(x, 66, f"{len(graph.edges)} edges ({seams} seams), {len(graph.vertices)} vertices", 12, fill="muted"),
    ]
    for k, polygon in enumerate(graph.polygons):
        y = 92.0 + 22 * k
        label = fitted(f"{polygon.name}: {len(polygon.edges)} edges", 240, 12)
        lines += [Dot(x + 6, y - 4, 6, _colour(k)), Text(x + 20, y, label, 12)]
    y = 100.0 + 22 * len(graph.polygons)
    for choice in graph.choices:
        y += 18
        lines.append(Text(x, y, fitted(_said(choice), 266, 11), 11))
    if graph.choices:
        lines.append(Text(x, y + 24, f"{graph.probability:.0%} sure", 12, bold=True))
        y += 24
    if graph.second is not None:
        other = f"second best: {graph.second.kind}, {graph.second.probability:.0%}"
        lines.append(Text(x, y + 18, fitted(other, 266, 11), 11, fill="muted"))
        y += 18
    if graph.doubt:
        lines.append(Text(x, y + 22, "not sure: see what meip fold parse asks", 11, fill="fold"))
    return lines


def _said(choice: Choice) -> str:
    return f"{choice.node.replace('_', ' ')}: {choice.alternative} ({choice.probability:.0%})"


def tree(graph: ParseGraph) -> Canvas:
    """Cloth (And) - polygons (And) - what was taken at Or-nodes - edges - vertices, in the overlay's colours."""
    columns = [max(len(polygon.edges), 4) for polygon in graph.polygons]
    canvas = Canvas(40 + COLUMN * sum(columns) + 14 * len(columns), 70 + 4 * ROW, f"parse tree of {graph.source}")
    middle = canvas.width / 2
    kind = next((choice for choice in graph.choices if choice.node == "cloth"), None)
    left = 20.0
    for k, (polygon, width) in enumerate(zip(graph.polygons, columns, strict=True)):
        x = left + COLUMN * width / 2
        _branch(canvas, (middle, 46), (x, 46 + ROW))
        _polygon_node(canvas, graph, polygon, k, x, left)
        left += COLUMN * width + 14
    canvas.add([Dot(middle, 46, 7, "outline")])
    text = f"cloth: {_said(kind).partition(': ')[2]}" if kind else "cloth"
    canvas.add([Text(middle, 30, f"{text}, {graph.probability:.0%} sure", 13, anchor="middle", bold=True)])
    return canvas


def _polygon_node(canvas: Canvas, graph: ParseGraph, polygon: ParsedPolygon, k: int, x: float, left: float) -> None:
    """A polygon, its Or-nodes, and its edges with their vertices below."""
    y = 46 + ROW
    taken = [choice for choice in graph.choices if _belongs(choice.node, polygon.name, graph)]
    _branch(canvas, (x, y), (x, y + ROW))
    for n, choice in enumerate(taken):
        text = f"{choice.alternative} {choice.probability:.0%}"
        canvas.add([Text(x + 8, y + ROW - 8 - 13 * (len(taken) - 1 - n), text, 10, fill="muted")])
    for e, index in enumerate(polygon.edges):
        edge = graph.edges[index]
        at = left + COLUMN * (e + 0.5 + max(0.0, (4 - len(polygon.edges)) / 2))
        _branch(canvas, (x, y + ROW), (at, y + 2 * ROW))
        canvas.add(
            [Shape(np.array([[at - 9, y + 2 * ROW], [at + 9, y + 2 * ROW]]), stroke=edge.tag, width=4, closed=False)]
        )
        for dx, vertex in ((-7, edge.start), (7, edge.end)):
            _branch(canvas, (at, y + 2 * ROW), (at + dx, y + 2.6 * ROW))
            canvas.add([Dot(at + dx, y + 2.6 * ROW, 2.2, "outline")])
            canvas.add([Text(at + dx, y + 2.6 * ROW + 13, str(vertex), 8, anchor="middle")])
    canvas.add([Dot(x, y, 7, _colour(k)), Dot(x, y + ROW, 4, "panel"), Dot(x, y + ROW, 3, _colour(k))])
    canvas.add([Text(x + 11, y + 4, polygon.name.replace("_", " "), 12)])


def _belongs(node: str, part: str, graph: ParseGraph) -> bool:
    """Which polygon an Or-node is about: a yoke about its sleeve, or, if there is none, about the body."""
    rule, _, side = node.partition("_")
    if rule == "yoke":
        sleeve = f"sleeve_{side}"
        return part == (sleeve if any(polygon.name == sleeve for polygon in graph.polygons) else "body")
    return part == ("hood" if rule == "hood" else "body") and rule != "cloth"


def _branch(canvas: Canvas, start: tuple[float, float], end: tuple[float, float]) -> None:
    canvas.add([Shape(np.array([start, end]), stroke="muted", width=0.8, closed=False)])
