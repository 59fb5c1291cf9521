"""The parse graph to look at, over the picture. `parse_tree` draws it as a tree."""

from __future__ import annotations

import numpy as np

from meip.worlds.folding.canvas import Canvas, Dot, Image, Shape, Text, fitted, load_cv2
from meip.worlds.folding.parse_graph import ParseGraph
from meip.worlds.folding.parse_image import Photo
from meip.worlds.folding.parse_tree import part_colour, told
from meip.worlds.folding.segment import colour_image

__all__ = ["backdrop", "overlay"]

ROOM = 11.0  # between the numbers of vertices, in pixels


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
        fill = Shape(graph.points(polygon) * scale, fill=part_colour(k), opacity=0.55 if photo is not None else 1.0)
        canvas.add([fill])
    canvas.add([Shape(np.array(graph.axis) * scale, stroke="muted", width=1, dash=(6.0, 5.0), closed=False)])
    for edge in graph.edges:
        ends = np.array([graph.vertices[edge.start], graph.vertices[edge.end]]) * scale
        dash = (5.0, 4.0) if edge.tag == "seam" else None
        canvas.add([Shape(ends, stroke=edge.tag, width=2.2 if edge.tag == "neck" else 1.6, dash=dash, closed=False)])
    canvas.add(_vertex_marks(graph, scale))
    canvas.add(lines)
    return canvas


def _vertex_marks(graph: ParseGraph, scale: float) -> list[Dot | Text]:
    """Dots, each with its number pushed out from the middle of the cloth, further where another number is."""
    points = np.array(graph.vertices) * scale
    middle = points.mean(axis=0)
    marks: list[Dot | Text] = []
    taken = np.empty((0, 2))
    for i, point in enumerate(points):
        away = (point - middle) / max(float(np.linalg.norm(point - middle)), 1e-9)
        aside = np.array([-away[1], away[0]])
        choices = [
            point + 11 * away,
            *(point + r * away + t * aside for r in (14, 22) for t in (-9, 9)),
            point + 22 * away,
        ]
        room = [min([ROOM, *np.hypot(*(taken - choice).T)]) for choice in choices]
        x, y = choices[int(np.argmax(room))]
        taken = np.vstack([taken, [[x, y]]])
        marks += [
            Dot(float(point[0]), float(point[1]), 2.6, "outline"),
            Text(float(x), float(y) + 3, str(i), 9, anchor="middle"),
        ]
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
        lines += [Dot(x + 6, y - 4, 6, part_colour(k)), Text(x + 20, y, label, 12)]
    y = 100.0 + 22 * len(graph.polygons)
    for choice in graph.choices:
        y += 18
        lines.append(Text(x, y, fitted(f"{choice.node.replace('_', ' ')}: {told(choice)}", 266, 11), 11))
    if graph.choices:
        lines.append(Text(x, y + 24, f"{graph.probability:.0%} sure of axis and parts", 12, bold=True))
        y += 24
    if graph.second is not None:
        lines.append(Text(x, y + 18, fitted(f"second best: {graph.instead}", 266, 11), 11, fill="muted"))
        y += 18
    if graph.doubt:
        lines.append(Text(x, y + 22, "not sure: see what meip fold parse asks", 11, fill="fold"))
    return lines
