"""The spatial And-Or graph's parse of one picture: cloth -> polygons -> edges -> vertices.

The cloth is a set of polygons (its parts), a polygon a ring of edges, an edge a pair of vertices. Two polygons that
are sewn together share the edge between them. Coordinates are the picture's: pixels, y down.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.documents import Strict, document
from meip.base.errors import WorldError
from meip.worlds.folding.canvas import Canvas, Dot, Shape, Text, fitted
from meip.worlds.folding.cloth import TAGS, Garment, Part
from meip.worlds.folding.cuts import Split, split_outline
from meip.worlds.folding.parse_image import find_mask, outline_of_mask, read_image
from meip.worlds.folding.planar import pairs

__all__ = ["ParseGraph", "ParsedEdge", "ParsedPolygon", "overlay", "parse_array", "parse_image", "to_garment"]

ROOT_AREA = 65.0
"""Pictures have no scale: a parsed garment has an area of 65 x 65 cm, a T-shirt's."""


@dataclass(frozen=True)
class ParsedEdge(Strict):
    """An edge between two vertices, by index, with its tag."""

    start: int
    end: int
    tag: str = "outline"


@dataclass(frozen=True)
class ParsedPolygon(Strict):
    """A part: its edges, by index, in order round it. A shared edge may run against the order."""

    name: str
    edges: tuple[int, ...]


@document("parse-graph")
@dataclass(frozen=True)
class ParseGraph:
    """What was seen in a picture."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "allow_inf_nan": False}

    source: str
    width: int
    height: int
    axis: tuple[tuple[float, float], tuple[float, float]]
    """The axis of symmetry, from the hem's end to the neck's."""
    polygons: tuple[ParsedPolygon, ...]
    edges: tuple[ParsedEdge, ...]
    vertices: tuple[tuple[float, float], ...]

    def __post_init__(self) -> None:
        for edge in self.edges:
            if not (0 <= edge.start < len(self.vertices) and 0 <= edge.end < len(self.vertices)):
                raise WorldError(f"edge {edge.start}-{edge.end}: there are only {len(self.vertices)} vertices")
            if edge.tag not in TAGS:
                raise WorldError(f"edge {edge.start}-{edge.end}: unknown tag {edge.tag!r}; known: {', '.join(TAGS)}")
        for polygon in self.polygons:
            self.ring(polygon)

    def ring(self, polygon: ParsedPolygon) -> list[int]:
        """The vertices round a polygon; `WorldError` where its edges do not form a ring."""
        if len(polygon.edges) < 3 or any(not 0 <= e < len(self.edges) for e in polygon.edges):
            raise WorldError(f"polygon {polygon.name!r}: expected the indices of at least 3 of {len(self.edges)} edges")
        ends = [(self.edges[e].start, self.edges[e].end) for e in polygon.edges]
        shared = [set(a) & set(b) for a, b in zip(ends[-1:] + ends[:-1], ends, strict=True)]
        if any(len(s) != 1 for s in shared) or len(set(polygon.edges)) < len(polygon.edges):
            raise WorldError(f"polygon {polygon.name!r}: its edges do not follow each other in a ring")
        return [s.pop() for s in shared]

    def points(self, polygon: ParsedPolygon) -> Floats:
        """The vertices round a polygon as an array [n, 2], in pixels."""
        return np.array([self.vertices[i] for i in self.ring(polygon)])

    @property
    def outline(self) -> Floats:
        """The vertices that lie on an edge of the outline, [n, 2], in pixels."""
        on = {i for edge in self.edges if edge.tag != "seam" for i in (edge.start, edge.end)}
        return np.array([self.vertices[i] for i in sorted(on)])


def parse_image(path: str | Path) -> ParseGraph:
    """Parse the picture of one garment on a plain background."""
    return parse_array(read_image(path), source=Path(path).name, where=str(path))


def parse_array(image: NDArray[np.uint8], *, source: str = "image", where: str | None = None) -> ParseGraph:
    """Parse an image [height, width(, channels)] as OpenCV has it (blue first)."""
    where = where or source
    outline = outline_of_mask(find_mask(image, where=where), where=where) * (1.0, -1.0)
    split = split_outline(outline)
    across = np.array([split.up[1], -split.up[0]])
    vertices = split.centre + split.polygon[:, :1] * across + split.polygon[:, 1:] * split.up
    low, high = (split.centre + v * split.up for v in (split.polygon[:, 1].min(), split.polygon[:, 1].max()))
    polygons, edges = _graph(split)
    height, width = image.shape[:2]
    hem, top = pairs(np.array([low, high]) * (1.0, -1.0))
    return ParseGraph(source, width, height, (hem, top), polygons, edges, pairs(vertices * (1.0, -1.0)))


def _graph(split: Split) -> tuple[tuple[ParsedPolygon, ...], tuple[ParsedEdge, ...]]:
    """Polygons and edges; an edge of two polygons is a seam and is listed once."""
    edges: list[ParsedEdge] = []
    index: dict[frozenset[int], int] = {}
    n = len(split.polygon)
    polygons = []
    for name, ring in split.parts.items():
        members = []
        for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
            key = frozenset((a, b))
            if key not in index:
                index[key] = len(edges)
                along = b == (a + 1) % n
                edges.append(ParsedEdge(a, b, "seam" if not along else "neck" if a in split.neck else "outline"))
            members.append(index[key])
        polygons.append(ParsedPolygon(name, tuple(members)))
    return tuple(polygons), tuple(edges)


def to_garment(graph: ParseGraph, name: str | None = None) -> Garment:
    """The parsed garment, upright, y up, with parts that share their seams exactly."""
    points = np.array(graph.vertices) * (1.0, -1.0)
    hem, top = (np.array(end) * (1.0, -1.0) for end in graph.axis)
    up = top - hem
    length = float(np.linalg.norm(up))
    if length == 0:
        raise WorldError("the axis of the parse graph has no length, so that up cannot be told")
    x, y = up / length
    upright = (points - hem) @ np.array([[y, x], [-x, y]])
    rings = {polygon.name: graph.ring(polygon) for polygon in graph.polygons}
    flat = [Part(part, pairs(upright[ring])) for part, ring in rings.items()]
    scaled = upright * (ROOT_AREA / sum(part.area for part in flat) ** 0.5)
    parts = tuple(
        Part(polygon.name, pairs(scaled[rings[polygon.name]]), tuple(graph.edges[e].tag for e in polygon.edges))
        for polygon in graph.polygons
    )
    return Garment(name or Path(graph.source).stem or "parsed", parts, template="image")


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
