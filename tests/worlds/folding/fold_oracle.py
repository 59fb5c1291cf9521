"""The same fold by other means: shapely, half-planes and a graph of pieces. Slow, and written without the kernel."""

from __future__ import annotations

from dataclasses import dataclass

import networkx as nx
import numpy as np
from shapely import affinity
from shapely.geometry import LineString, Polygon
from shapely.ops import unary_union

from meip.worlds.folding.cloth import Cloth

TOLERANCE = 1e-6


@dataclass
class Piece:
    polygon: Polygon
    source: int
    part: str
    face: int
    matrix: np.ndarray  # type: ignore[type-arg]
    side: int = 0


def layers_of(cloth: Cloth) -> list[Piece]:
    return [Piece(Polygon(one.polygon), i, one.part, one.face, one.affine) for i, one in enumerate(cloth)]


def _chords(silhouette: Polygon, line: LineString) -> list[LineString]:
    # closed over the seams, then a hair smaller: a line along the outline is not inside
    found = silhouette.buffer(-2e-7, join_style="mitre").intersection(line)
    parts = getattr(found, "geoms", [found])
    return [part for part in parts if part.geom_type == "LineString" and part.length > 1e-5]


def _side(polygon: Polygon, centre: np.ndarray, normal: np.ndarray) -> int:  # type: ignore[type-arg]
    distances = (np.array(polygon.exterior.coords) - centre) @ normal
    return 1 if distances[np.argmax(np.abs(distances))] > 0 else -1


def _in_garment(piece: Piece) -> Polygon:
    (a, b, x), (c, d, y) = piece.matrix
    inverse = np.linalg.inv([[a, b], [c, d]])
    shift = -inverse @ [x, y]
    return affinity.affine_transform(piece.polygon, [*inverse.ravel(), *shift])


def _components(pieces: list[Piece], chords: list[LineString]) -> list[set[int]]:
    """Pieces that hang together in the garment other than across a folded chord."""
    graph = nx.Graph()
    graph.add_nodes_from(range(len(pieces)))
    shapes = [_in_garment(piece) for piece in pieces]
    creases = unary_union(chords).buffer(1e-5)
    for i in range(len(pieces)):
        for j in range(i):
            if shapes[i].distance(shapes[j]) > 1e-7:
                continue
            shared = shapes[i].exterior.intersection(shapes[j].exterior.buffer(1e-7))
            (a, b, x), (c, d, y) = pieces[i].matrix
            on_table = affinity.affine_transform(shared, [a, b, c, d, x, y])
            if on_table.difference(creases).length > 1e-4:
                graph.add_edge(i, j)
    return [set(component) for component in nx.connected_components(graph)]


def fold(cloth: Cloth, action: tuple[float, float, float, float]) -> list[Piece] | str:
    """The folded layers bottom to top, or why not: "misses", "ends inside", "tears"."""
    x, y, r, theta = action
    centre = np.array([x, y])
    u = np.array([np.cos(theta), np.sin(theta)])
    normal = np.array([-u[1], u[0]])
    far = 10 * cloth.scale
    line = LineString([centre - far * u, centre + far * u])
    layers = layers_of(cloth)
    chords = _chords(unary_union([piece.polygon.buffer(1e-7, join_style="mitre") for piece in layers]), line)
    kept = []
    for chord in chords:
        low, high = sorted((np.array(chord.coords)[[0, -1]] - centre) @ u)
        if low >= -r - TOLERANCE * cloth.scale and high <= r + TOLERANCE * cloth.scale:
            kept.append(chord)
        elif high > -r + TOLERANCE * cloth.scale and low < r - TOLERANCE * cloth.scale:
            return "ends inside"
    if not kept:
        return "misses"
    pieces = _cut(layers, kept, u)
    everything = len(kept) == len(chords)
    if everything:
        for piece in pieces:
            piece.side = _side(piece.polygon, centre, normal)
    elif not _spread(pieces, kept, centre, normal):
        return "tears"
    return _turn(pieces, centre, u, normal)


def _cut(layers: list[Piece], kept: list[LineString], u: np.ndarray) -> list[Piece]:  # type: ignore[type-arg]
    pieces = []
    for layer in layers:
        blades = [LineString([np.array(c.coords[0]) - 1e-4 * s * u, np.array(c.coords[-1]) + 1e-4 * s * u])
                  for c in kept for s in [np.sign((np.array(c.coords[-1]) - c.coords[0]) @ u)]]  # fmt: skip
        rest = layer.polygon.difference(unary_union([blade.buffer(1e-9, cap_style="flat") for blade in blades]))
        for part in getattr(rest, "geoms", [rest]):
            if part.area > 1e-6:
                pieces.append(Piece(part, layer.source, layer.part, layer.face, layer.matrix))
    return pieces


def _spread(
    pieces: list[Piece],
    kept: list[LineString],
    centre: np.ndarray,  # type: ignore[type-arg]
    normal: np.ndarray,  # type: ignore[type-arg]
) -> bool:
    for component in _components(pieces, kept):
        sides = set()
        for k in component:
            for chord in kept:
                middle = np.array(chord.interpolate(0.5, normalized=True).coords[0])
                touching = pieces[k].polygon.exterior.intersection(chord.buffer(1e-6)).length > 1e-3
                if touching:
                    near = pieces[k].polygon.intersection(chord.buffer(1e-2, cap_style="flat"))
                    at = np.array(near.centroid.coords[0]) - middle
                    sides.add(1 if at @ normal > 0 else -1)
        if len(sides) > 1:
            return False
        for k in component:
            pieces[k].side = sides.copy().pop() if sides else 0
    return True


def _turn(
    pieces: list[Piece],
    centre: np.ndarray,  # type: ignore[type-arg]
    u: np.ndarray,  # type: ignore[type-arg]
    normal: np.ndarray,  # type: ignore[type-arg]
) -> list[Piece] | str:
    area = {s: sum(piece.polygon.area for piece in pieces if piece.side == s) for s in (-1, 1)}
    if min(area.values()) == 0:
        return "misses"
    mover = 1 if area[1] < area[-1] - 1e-9 * sum(area.values()) else -1
    mirror = np.outer(u, u) - np.outer(normal, normal)
    shift = centre - mirror @ centre
    moved = []
    for piece in pieces:
        if piece.side == mover:
            matrix = mirror @ piece.matrix
            matrix[:, 2] += shift
            shape = affinity.affine_transform(piece.polygon, [*mirror.ravel(), *shift])
            moved.append(Piece(shape, piece.source, piece.part, -piece.face, matrix, piece.side))
    return moved[::-1] + [piece for piece in pieces if piece.side != mover]
