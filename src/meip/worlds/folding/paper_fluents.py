"""The ten fluents of the paper's table, by name, beside the fifteen of `fluents` that replaced some of them.

Polygons are the layers, vertices their corners, edges those of the parsed visible outline; lengths are divided by the
root of the garment's area. Five are the same in both: length, parallel, perpendicular, on, inside.

======================================  ===================================================================
``length(edge)``                        Edge Length
``logo(polygon)``                       Logo: the share of the print that this layer shows on its upper side
``neck(polygon)``                       Neck: the length of the neckline on this layer
``vertex_distance(vertex, vertex)``     Vt2Vt Distance
``edge_distance(vertex, edge)``         Vt2Edge Distance: from a vertex to the nearest point of an edge
``parallel(edge, edge)``                Parallel
``perpendicular(edge, edge)``           Perpendicular
``on(vertex, edge)``                    Vertex on Edge
``along(edge, edge)``                   Edge on Edge: both ends of the first lie on the line of the second
``inside(vertex, polygon)``             Vertex in Polygon
======================================  ===================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.model.domain import Domain, FactBlock, function, predicate
from meip.worlds.folding.cloth import NECK, Cloth
from meip.worlds.folding.fluents import DOMAIN, ON_EDGE, fact_blocks
from meip.worlds.folding.folds import pile
from meip.worlds.folding.silhouette import parsed

__all__ = ["PAPER", "paper_blocks"]

GRID = 6  # a print is looked at in so many points a side
SAME = ("length", "parallel", "perpendicular", "on", "inside")

PAPER = Domain(
    "folding",
    tuple(one for one in DOMAIN.classes if one.name != "cloth"),
    (
        function("length", "edge", phrase="the length of {0}"),
        function("logo", "polygon", phrase="the share of the logo that is seen on {0}"),
        function("neck", "polygon", phrase="the length of the neckline of {0}"),
        function("vertex_distance", "vertex", "vertex", phrase="the distance of {0} and {1}"),
        function("edge_distance", "vertex", "edge", phrase="the distance of {0} from {1}"),
        predicate("parallel", "edge", "edge", phrase="{0} is parallel to {1}"),
        predicate("perpendicular", "edge", "edge", phrase="{0} is perpendicular to {1}"),
        predicate("on", "vertex", "edge", phrase="{0} lies on {1}"),
        predicate("along", "edge", "edge", phrase="{0} lies along {1}"),
        predicate("inside", "vertex", "polygon", phrase="{0} lies inside {1}"),
    ),
)


def paper_blocks(cloths: Sequence[Cloth], logo: Sequence[tuple[float, float]]) -> list[FactBlock]:
    """The facts of many cloths of a garment with this print, those with equal numbers of entities together."""
    blocks = []
    for block in fact_blocks(pile(cloths)) if cloths else []:
        more = [_more(cloths[int(s)], logo) for s in block.states]
        tables: dict[str, NDArray[Any]] = {name: block.tables[name] for name in SAME}
        tables |= {name: np.stack([one[name] for one in more]) for name in more[0]}
        counts = {name: n for name, n in block.counts.items() if name != "cloth"}
        blocks.append(FactBlock(block.states, counts, {f.name: tables[f.name] for f in PAPER.fluents}))
    return blocks


def _more(cloth: Cloth, logo: Sequence[tuple[float, float]]) -> dict[str, NDArray[Any]]:
    """The five that only the paper has, of one cloth."""
    starts = np.concatenate(parsed(cloth))
    ends = np.concatenate([np.roll(loop, -1, axis=0) for loop in parsed(cloth)])
    steps = ends - starts
    lengths = np.linalg.norm(steps, axis=1)
    from_start = cloth.xy[:, None] - starts  # [V, E, 2]
    share = np.clip((from_start * steps).sum(axis=-1) / lengths**2, 0.0, 1.0)
    gaps = np.linalg.norm(from_start - share[..., None] * steps, axis=-1)
    normal = np.column_stack([-steps[:, 1], steps[:, 0]]) / lengths[:, None]
    off = np.abs(((np.stack([starts, ends])[:, :, None] - starts) * normal).sum(axis=-1)).max(axis=0)  # [E, E]
    return {
        "logo": np.array([_shown(layer, logo) for layer in cloth]),
        "neck": np.array([_neckline(layer) / cloth.scale for layer in cloth]),
        "vertex_distance": np.linalg.norm(cloth.xy[:, None] - cloth.xy, axis=-1) / cloth.scale,
        "edge_distance": gaps / cloth.scale,
        "along": (off <= ON_EDGE * cloth.scale) & ~np.eye(len(starts), dtype=bool),
    }


def _neckline(layer: Any) -> float:
    steps = np.roll(layer.polygon, -1, axis=0) - layer.polygon
    return float(np.linalg.norm(steps, axis=1)[layer.tags == NECK].sum())


def _shown(layer: Any, logo: Sequence[tuple[float, float]]) -> float:
    """The share of the print that lies on this layer with its face up."""
    if not len(logo) or layer.face < 0:
        return 0.0
    corners = np.asarray(logo, dtype=np.float64) @ layer.affine[:, :2].T + layer.affine[:, 2]
    low, high = corners.min(axis=0), corners.max(axis=0)
    cells = (np.arange(GRID) + 0.5) / GRID
    spots = low + np.stack(np.meshgrid(cells, cells), axis=-1).reshape(-1, 2) * (high - low)
    printed = _within(corners, spots)
    return float((_within(layer.polygon, spots) & printed).sum() / max(int(printed.sum()), 1))


def _within(polygon: Floats, points: Floats) -> NDArray[np.bool_]:
    """Which points lie inside a polygon: crossings of the ray to the right."""
    (x0, y0), (x1, y1) = polygon.T[:, None], np.roll(polygon, -1, axis=0).T[:, None]
    x, y = points.T[..., None]
    between = (y0 > y) != (y1 > y)
    with np.errstate(divide="ignore", invalid="ignore"):
        right = x < x0 + (y - y0) / (y1 - y0) * (x1 - x0)
    found: NDArray[np.bool_] = (between & right).sum(axis=1) % 2 == 1
    return found
