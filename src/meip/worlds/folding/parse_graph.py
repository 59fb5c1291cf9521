"""The parse graph of one picture: cloth -> polygons -> edges -> vertices, with the alternatives that were taken.

The cloth is a set of polygons (its parts), a polygon a ring of edges, an edge a pair of vertices. Two polygons that
are sewn together share the edge between them. At each Or-node of the grammar an alternative was chosen; the graph
records which, how likely it is, and the second-best parse. Coordinates are the picture's: pixels, y down.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.documents import Strict, document
from meip.base.errors import WorldError
from meip.worlds.folding.cloth import TAGS, Garment, Part
from meip.worlds.folding.derive import Derivation, derive
from meip.worlds.folding.grammar import KINDS, RULES
from meip.worlds.folding.parse_image import Photo, outline_of_mask, read_image
from meip.worlds.folding.parts import Parts, cut_into_parts, doubt
from meip.worlds.folding.planar import pairs
from meip.worlds.folding.segment import Box, find_mask
from meip.worlds.folding.sheet import View, straightened

__all__ = [
    "Choice",
    "Hints",
    "ParseGraph",
    "ParsedEdge",
    "ParsedPolygon",
    "Rival",
    "parse_array",
    "parse_image",
    "to_garment",
]

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


@dataclass(frozen=True)
class Choice(Strict):
    """What was chosen at an Or-node: how frequent it is, how likely here, and what it would be instead."""

    node: str
    alternative: str
    frequency: float
    probability: float
    instead: str = ""
    """The second-best alternative; empty where there is none."""
    instead_probability: float = 0.0


@dataclass(frozen=True)
class Rival(Strict):
    """The second-best parse: another kind, axis (from the hem's end, in pixels) or sleeves, else another choice."""

    kind: str
    axis: tuple[tuple[float, float], tuple[float, float]]
    probability: float
    choices: dict[str, str] = field(default_factory=dict)
    """The alternative at each Or-node."""


@dataclass(frozen=True)
class Hints:
    """What a person says about a picture: where the top is, what it is, where corners are (in pixels)."""

    up: float | None = None
    """Degrees clockwise from the picture's up: 0 up, 90 right, 180 down."""
    kind: str | None = None
    keypoints: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    rectangle: Box | None = None
    """Round the garment: x, y, width, height."""
    click: tuple[float, float] | None = None
    """A point on the garment."""
    sheet: tuple[tuple[float, float], ...] | None = None
    """The corners of a sheet of A4 paper, in order round it; an empty tuple: look for one."""


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
    corners: dict[str, int] = field(default_factory=dict)
    """The grammar's corners, by name: which vertex each is."""
    choices: tuple[Choice, ...] = ()
    probability: float = 1.0
    """How sure it is of the axis and the parts."""
    second: Rival | None = None
    doubt: str = ""
    """What it is not sure of, and what would help; empty where it is sure."""
    onto: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    """From these coordinates to pixels of the picture that was given: a homography, row by row."""
    centimetre: float = 0.0
    """The length of a unit in centimetres; 0 if nothing tells it."""

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

    @property
    def instead(self) -> str:
        """The second-best parse in words; empty where there is none."""
        if self.second is None:
            return ""
        kind, chosen = self.second.kind, {choice.node: choice.alternative for choice in self.choices}
        other = [name for node, name in self.second.choices.items() if chosen.get(node) != name]
        what = f"{kind} with {', '.join(other)}" if chosen.get("cloth") == kind and other else kind
        return f"{what} ({self.second.probability:.0%})"


def parse_image(path: str | Path, hints: Hints | None = None) -> ParseGraph:
    """Parse the picture of one garment."""
    return parse_array(read_image(path), source=Path(path).name, where=str(path), hints=hints)


def parse_array(
    image: NDArray[np.uint8] | Photo, *, source: str = "image", where: str | None = None, hints: Hints | None = None
) -> ParseGraph:
    """Parse an image [height, width(, channels)] as OpenCV has it (blue first)."""
    where, hints = where or source, hints or Hints()
    view = straightened(image if isinstance(image, Photo) else Photo(image), hints.sheet, where=where)
    rectangle, click, keypoints, up = _in_view(view, hints)
    mask = find_mask(view.pixels, where=where, rectangle=rectangle, click=click)
    outline = outline_of_mask(mask, where=where) * (1.0, -1.0)
    try:
        found = derive(outline, kind=hints.kind, up=up, keypoints=keypoints)
    except WorldError as error:
        raise WorldError(f"{where}: {error}") from None
    parts = cut_into_parts(outline, found[0])
    polygons, edges = _graph(parts)
    height, width = view.pixels.shape[:2]
    return ParseGraph(
        source, width, height, _axis(outline, found[0]), polygons, edges, pairs(parts.polygon * (1.0, -1.0)),
        parts.corners, _choices(found[0]), found[0].probability,
        _rival(outline, found[1]) if len(found) > 1 else None,
        doubt(outline, found, parts.rings, frozenset(keypoints), hints.kind),
        tuple(view.onto.ravel().tolist()), view.centimetre,
    )  # fmt: skip


def _in_view(
    view: View, hints: Hints
) -> tuple[Box | None, tuple[float, float] | None, dict[str, Floats], float | None]:
    """What a person said in pixels of the given picture, in the coordinates of what is parsed."""
    rectangle, click, up = None, None, None
    if hints.rectangle is not None:
        x, y, w, h = hints.rectangle
        ends = view.seen(np.array([[x, y], [x + w, y], [x, y + h], [x + w, y + h]]))
        low, size = ends.min(axis=0), np.ptp(ends, axis=0)
        rectangle = (float(low[0]), float(low[1]), float(size[0]), float(size[1]))
    if hints.click is not None:
        (x, y) = view.seen(np.array([hints.click]))[0]
        click = (float(x), float(y))
    if hints.up is not None:
        up = float(np.radians(90.0 - hints.up))
    points = {name: view.seen(np.array([at]))[0] * (1.0, -1.0) for name, at in hints.keypoints.items()}
    return rectangle, click, points, up


def _rival(outline: Floats, one: Derivation) -> Rival:
    return Rival(one.kind, _axis(outline, one), one.probability, one.choices)


def _axis(outline: Floats, one: Derivation) -> tuple[tuple[float, float], tuple[float, float]]:
    """From the hem's end to the neck's, along the garment's own axis through its middle, in pixels."""
    places = [outline[round(p) % len(outline)] for p in one.corners.values()]
    middle = np.mean(places, axis=0) if places else outline.mean(axis=0)
    up = _straightened(outline, one)
    along = (outline - middle) @ up
    hem, top = pairs(np.array([middle + t * up for t in (along.min(), along.max())]) * (1.0, -1.0))
    return hem, top


def _straightened(outline: Floats, one: Derivation) -> Floats:
    """The direction of the axis, finer than the directions that were tried: across what lies on both sides."""
    ends = {name: outline[round(place) % len(outline)] for name, place in one.corners.items()}
    across = np.zeros(2)
    for name, point in ends.items():
        if name.endswith("_right") and f"{name[:-6]}_left" in ends:
            across += point - ends[f"{name[:-6]}_left"]
    lifted = np.array([-across[1], across[0]])
    length = float(np.linalg.norm(lifted))
    if length == 0 or lifted @ one.up < 0.9 * length:  # one side lies very differently: the frame is as good
        return one.up
    return lifted / length


def _choices(one: Derivation) -> tuple[Choice, ...]:
    """The kind, then the alternative of each rule."""
    if one.kind not in KINDS:
        return ()
    frequencies = {"cloth": {kind: KINDS[kind].probability for kind in KINDS}}
    frequencies |= {
        node: {name: way.probability for name, way in RULES[node.partition("_")[0]].items()} for node in one.choices
    }
    found = []
    for node, taken in {"cloth": one.kind, **one.choices}.items():
        odds = one.odds.get(node, {taken: 1.0})
        others = {name: p for name, p in odds.items() if name != taken}
        instead = max(others, key=lambda name: others[name], default="")
        found.append(
            Choice(node, taken, frequencies[node][taken], odds[taken], instead, others[instead] if instead else 0.0)
        )
    return tuple(found)


def _graph(split: Parts) -> tuple[tuple[ParsedPolygon, ...], tuple[ParsedEdge, ...]]:
    """Polygons and edges; an edge of two polygons is a seam and is listed once."""
    edges: list[ParsedEdge] = []
    index: dict[frozenset[int], int] = {}
    n = len(split.polygon)
    polygons = []
    for name, ring in split.rings.items():
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


def to_garment(graph: ParseGraph, name: str | None = None, *, unsure: bool = False) -> Garment:
    """The parsed garment, upright, y up, with parts that share their seams exactly.

    A parse that is not sure is refused with its question, unless it may be `unsure`.
    """
    if graph.doubt and not unsure:
        raise WorldError(f"{graph.source}: {graph.doubt}")
    points = np.array(graph.vertices) * (1.0, -1.0)
    hem, top = (np.array(end) * (1.0, -1.0) for end in graph.axis)
    up = top - hem
    length = float(np.linalg.norm(up))
    if length == 0:
        raise WorldError("the axis of the parse graph has no length, so that up cannot be told")
    x, y = up / length
    turned = np.array([[y, x], [-x, y]])
    upright = (points - hem) @ turned
    rings = {polygon.name: graph.ring(polygon) for polygon in graph.polygons}
    flat = [Part(part, pairs(upright[ring])) for part, ring in rings.items()]
    scale = graph.centimetre or ROOT_AREA / sum(part.area for part in flat) ** 0.5
    scaled = upright * scale
    parts = tuple(
        Part(polygon.name, pairs(scaled[rings[polygon.name]]), tuple(graph.edges[e].tag for e in polygon.edges))
        for polygon in graph.polygons
    )
    back = np.eye(3)  # from the garment to the graph's coordinates, whose y points down
    back[:2, :2], back[:2, 2] = (turned / scale) * np.array([[1.0], [-1.0]]), hem * (1.0, -1.0)
    onto = np.array(graph.onto).reshape(3, 3) @ back
    return Garment(
        name or Path(graph.source).stem or "parsed", parts, template="image",
        onto=tuple(onto.ravel().tolist()), centimetre=1.0 if graph.centimetre else 0.0,
    )  # fmt: skip
