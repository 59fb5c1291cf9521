"""The parse graph to look at: over the picture, and as a tree."""

from __future__ import annotations

import numpy as np

from meip.worlds.folding.canvas import Canvas, Dot, Shape, Text, fitted
from meip.worlds.folding.parse_graph import ParseGraph

__all__ = ["overlay"]


def overlay(graph: ParseGraph, *, width: float = 560.0) -> Canvas:
    """The parse graph as a picture: parts in colours, edges by tag, numbered vertices; beside it the list of nodes."""
    scale = width / max(graph.width, graph.height)
    canvas = Canvas(graph.width * scale + 250, max(graph.height * scale, 90 + 22 * len(graph.polygons)))
    canvas.title = f"parse graph of {graph.source}"
    for k, polygon in enumerate(graph.polygons):
        canvas.add([Shape(graph.points(polygon) * scale, fill=f"part{k % 4 + 1}")])
    canvas.add([Shape(np.array(graph.axis) * scale, stroke="muted", width=1, dash=(6.0, 5.0), closed=False)])
    for edge in graph.edges:
        ends = np.array([graph.vertices[edge.start], graph.vertices[edge.end]]) * scale
        dash = (5.0, 4.0) if edge.tag == "seam" else None
        canvas.add([Shape(ends, stroke=edge.tag, width=2.2 if edge.tag == "neck" else 1.6, dash=dash, closed=False)])
    canvas.add(_vertex_marks(graph, scale))
    canvas.add(_legend(graph, graph.width * scale + 16))
    return canvas


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
        Text(x, 28, fitted(graph.source, 226, 14), 14, bold=True),
        Text(x, 48, f"cloth: {len(graph.polygons)} polygon{'s' if len(graph.polygons) > 1 else ''}", 12),
        Text(x, 66, f"{len(graph.edges)} edges ({seams} seams), {len(graph.vertices)} vertices", 12, fill="muted"),
    ]
    for k, polygon in enumerate(graph.polygons):
        y = 92.0 + 22 * k
        label = fitted(f"{polygon.name}: {len(polygon.edges)} edges", 200, 12)
        lines += [Dot(x + 6, y - 4, 6, f"part{k % 4 + 1}"), Text(x + 20, y, label, 12)]
    return lines
