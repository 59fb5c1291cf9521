"""The fifteen fluents of the folding world, for many cloths at once.

Half of the paper's table (length, parallel, perpendicular, on, inside) and ten of ours in place of the others; see
`meip fold fluents`. The classes are Cloth, Polygon, Edge and Vertex. Polygons are the layers and vertices their
corners; edges are those of the *parsed visible outline* (edges of raw layers do not carry over to other garments).
Lengths are divided by the root of the garment's area, areas by the area itself; only `height` is in centimetres: what
is small enough is a matter of shelves, not of proportions.

====================================  =====================================================================
``area(polygon)``                     of a layer
``length(edge)``                      of an edge of the visible outline
``angle(vertex)``                     of the visible outline there, in degrees; undefined where it has no corner
``beyond(vertex)``                    how far it lies outside of the largest layer
``extent(cloth)``                     area of table that is covered
``aspect(cloth)``                     height over width of the bounding box
``overhang(cloth)``                   how far it reaches beyond its largest layer
``fill(cloth)``                       the share of its bounding box that is covered
``height(cloth)``                     of the bounding box, in centimetres
``parallel(edge, edge)``              two different edges, within 7 degrees
``perpendicular(edge, edge)``         likewise
``outlying(polygon)``                 a corner of the layer, or what is 1 % inside of an edge, is outside the largest
``inside(vertex, polygon)``           the vertex of a layer lies strictly inside another layer
``on(vertex, edge)``                  the vertex is nearer to the edge than 2.5 % of the unit of length
``above(polygon, polygon)``           the first layer lies on the second: higher, and they overlap
====================================  =====================================================================
"""

from __future__ import annotations

from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.base.kernels import bare_kernel, kernel
from meip.model.domain import Domain, EntityClass, FactBlock, function, predicate
from meip.worlds.folding.folds import Pile
from meip.worlds.folding.silhouette import outlines

__all__ = ["DOMAIN", "ON_EDGE", "OUTLYING", "PARALLEL", "SCRAP", "fact_blocks"]

PARALLEL = 7.0  # degrees
ON_EDGE = 0.025
OUTLYING = 0.01
SCRAP = 0.003  # of the garment's area: what is smaller is not seen to stick out
STRICTLY = 1e-6
NUDGE = 1e-3

DOMAIN = Domain(
    "folding",
    (EntityClass("cloth"), EntityClass("polygon"), EntityClass("edge"), EntityClass("vertex", "vertices")),
    (
        function("area", "polygon", phrase="the area of {0}"),
        function("length", "edge", phrase="the length of {0}"),
        function("angle", "vertex", phrase="the angle of the outline at {0}"),
        function("beyond", "vertex", phrase="how far {0} lies outside of the largest polygon"),
        function("extent", "cloth", phrase="the area covered by {0}"),
        function("aspect", "cloth", phrase="the height of {0} over its width"),
        function("overhang", "cloth", phrase="how far {0} reaches beyond its largest polygon"),
        function("fill", "cloth", phrase="the share of its bounding box that {0} covers"),
        function("height", "cloth", phrase="the height of {0} in centimetres"),
        predicate("parallel", "edge", "edge", phrase="{0} is parallel to {1}"),
        predicate("perpendicular", "edge", "edge", phrase="{0} is perpendicular to {1}"),
        predicate("outlying", "polygon", phrase="{0} reaches beyond the largest polygon"),
        predicate("inside", "vertex", "polygon", phrase="{0} lies inside {1}"),
        predicate("on", "vertex", "edge", phrase="{0} lies on {1}"),
        predicate("above", "polygon", "polygon", phrase="{0} lies on {1}"),
    ),
)


@bare_kernel
def _strictly_inside(xy: Any, low: int, high: int, x: float, y: float, margin: float) -> bool:
    """Is the point inside the polygon xy[low:high], further than `margin` from its edges?"""
    inside = False
    x0, y0 = xy[high - 1, 0], xy[high - 1, 1]
    for i in range(low, high):
        x1, y1 = xy[i, 0], xy[i, 1]
        dx, dy, px, py = x1 - x0, y1 - y0, x - x0, y - y0
        square, across, along = dx * dx + dy * dy, dx * py - dy * px, dx * px + dy * py
        if across * across <= margin * margin * square:
            slack = margin * np.sqrt(square)
            if -slack <= along <= square + slack:
                return False
        if (y0 > y) != (y1 > y) and x < x0 + dx * py / dy:
            inside = not inside
        x0, y0 = x1, y1
    return inside


@bare_kernel
def _box(xy: Any, low: int, high: int) -> tuple[float, float, float, float]:
    x0 = y0 = np.inf
    x1 = y1 = -np.inf
    for i in range(low, high):
        x0, y0, x1, y1 = min(x0, xy[i, 0]), min(y0, xy[i, 1]), max(x1, xy[i, 0]), max(y1, xy[i, 1])
    return x0, y0, x1, y1


@bare_kernel
def _crossing(xy: Any, a0: int, a1: int, b0: int, b1: int, box: Any, margin: float) -> bool:
    """Do an edge of one polygon and an edge of another, with this box, properly cross?"""
    for i in range(a0, a1):
        j = i + 1 if i + 1 < a1 else a0
        if max(xy[i, 0], xy[j, 0]) < box[0] or min(xy[i, 0], xy[j, 0]) > box[2]:
            continue
        if max(xy[i, 1], xy[j, 1]) < box[1] or min(xy[i, 1], xy[j, 1]) > box[3]:
            continue
        dx, dy = xy[j, 0] - xy[i, 0], xy[j, 1] - xy[i, 1]
        slack = margin * np.sqrt(dx * dx + dy * dy)
        before = dx * (xy[b1 - 1, 1] - xy[i, 1]) - dy * (xy[b1 - 1, 0] - xy[i, 0])
        h = b1 - 1
        for k in range(b0, b1):
            here = dx * (xy[k, 1] - xy[i, 1]) - dy * (xy[k, 0] - xy[i, 0])
            if (before > slack and here < -slack) or (before < -slack and here > slack):
                ex, ey = xy[k, 0] - xy[h, 0], xy[k, 1] - xy[h, 1]
                room = margin * np.sqrt(ex * ex + ey * ey)
                p = ex * (xy[i, 1] - xy[h, 1]) - ey * (xy[i, 0] - xy[h, 0])
                q = ex * (xy[j, 1] - xy[h, 1]) - ey * (xy[j, 0] - xy[h, 0])
                if (p > room and q < -room) or (p < -room and q > room):
                    return True
            before, h = here, k
    return False


@bare_kernel
def _reaches_into(xy: Any, a0: int, a1: int, b0: int, b1: int, box: Any, nudge: float) -> bool:
    """Is a point just inside the middle of an edge of one polygon inside the other, with this box? (Decides coincident
    polygons.)"""
    for i in range(a0, a1):
        j = i + 1 if i + 1 < a1 else a0
        dx, dy = xy[j, 0] - xy[i, 0], xy[j, 1] - xy[i, 1]
        length = np.sqrt(dx * dx + dy * dy)
        if length > 4.0 * nudge:
            x = 0.5 * (xy[i, 0] + xy[j, 0]) - nudge * dy / length
            y = 0.5 * (xy[i, 1] + xy[j, 1]) + nudge * dx / length
            if box[0] <= x <= box[2] and box[1] <= y <= box[3] and _strictly_inside(xy, b0, b1, x, y, 0.0):
                return True
    return False


@kernel
def _polygons(start: Any, xy: Any, scale: float, area: Any, inside: Any, above: Any) -> None:
    """Tables of the layers of one cloth: area [P], inside [V * P], above [P * P], the last two flat."""
    layers, base = len(start) - 1, start[0]
    margin, nudge = STRICTLY * scale, NUDGE * scale
    boxes = np.empty((layers, 4))
    for p in range(layers):
        low, high = start[p], start[p + 1]
        boxes[p, 0], boxes[p, 1], boxes[p, 2], boxes[p, 3] = _box(xy, low, high)
        twice = 0.0
        for i in range(low, high):
            j = i + 1 if i + 1 < high else low
            ax, ay = xy[i, 0] - xy[low, 0], xy[i, 1] - xy[low, 1]
            twice += ax * (xy[j, 1] - xy[low, 1]) - ay * (xy[j, 0] - xy[low, 0])
        area[p] = 0.5 * twice / (scale * scale)
    for p in range(layers):
        a0, a1 = start[p], start[p + 1]
        for q in range(layers):
            b0, b1 = start[q], start[q + 1]
            apart = boxes[p, 2] <= boxes[q, 0] or boxes[q, 2] <= boxes[p, 0]
            apart |= boxes[p, 3] <= boxes[q, 1] or boxes[q, 3] <= boxes[p, 1]
            some = False
            for i in range(a0, a1):
                x, y = xy[i, 0], xy[i, 1]
                within = p != q and not apart and boxes[q, 0] < x < boxes[q, 2] and boxes[q, 1] < y < boxes[q, 3]
                within = within and _strictly_inside(xy, b0, b1, x, y, margin)
                inside[(i - base) * layers + q] = within
                some |= within
            above[p * layers + q] = some  # a vertex of p is inside q; what it means for `above` is decided below
    for p in range(layers):
        for q in range(p):
            a0, a1, b0, b1 = start[p], start[p + 1], start[q], start[q + 1]
            overlap = above[p * layers + q] or above[q * layers + p]
            apart = boxes[p, 2] <= boxes[q, 0] or boxes[q, 2] <= boxes[p, 0]
            apart |= boxes[p, 3] <= boxes[q, 1] or boxes[q, 3] <= boxes[p, 1]
            if not overlap and not apart:
                overlap = _crossing(xy, a0, a1, b0, b1, boxes[q], margin)
                overlap = overlap or _reaches_into(xy, a0, a1, b0, b1, boxes[q], nudge)
                overlap = overlap or _reaches_into(xy, b0, b1, a0, a1, boxes[p], nudge)
            above[p * layers + q], above[q * layers + p] = overlap, False


@bare_kernel
def _edges(loops: Any, points: Any, scale: float, edges: Any, length: Any, parallel: Any, perpendicular: Any) -> float:
    """Tables of one outline: edges [E, 6] (ends, direction), length [E], pairs [E * E], flat. Returns its area."""
    n, twice = 0, 0.0
    for k in range(len(loops) - 1):
        low, high = loops[k], loops[k + 1]
        for i in range(low, high):
            j = i + 1 if i + 1 < high else low
            dx, dy = points[j, 0] - points[i, 0], points[j, 1] - points[i, 1]
            size = np.sqrt(dx * dx + dy * dy)
            edges[n, 0], edges[n, 1], edges[n, 2], edges[n, 3] = points[i, 0], points[i, 1], points[j, 0], points[j, 1]
            edges[n, 4], edges[n, 5] = dx / size, dy / size
            length[n] = size / scale
            twice += points[i, 0] * points[j, 1] - points[j, 0] * points[i, 1]
            n += 1
    sine = np.sin(np.radians(PARALLEL))
    for a in range(n):
        for b in range(n):
            cross = edges[a, 4] * edges[b, 5] - edges[a, 5] * edges[b, 4]
            dot = edges[a, 4] * edges[b, 4] + edges[a, 5] * edges[b, 5]
            parallel[a * n + b] = a != b and abs(cross) <= sine
            perpendicular[a * n + b] = a != b and abs(dot) <= sine
    return 0.5 * twice


@bare_kernel
def _far(xy: Any, a: int, z: int, x: float, y: float) -> float:
    """How far a point lies outside of the polygon xy[a:z]; 0 inside, as most are."""
    inside = False
    x0, y0 = xy[z - 1, 0], xy[z - 1, 1]
    for i in range(a, z):
        x1, y1 = xy[i, 0], xy[i, 1]
        if (y0 > y) != (y1 > y) and x < x0 + (x1 - x0) * (y - y0) / (y1 - y0):
            inside = not inside
        x0, y0 = x1, y1
    if inside:
        return 0.0
    nearest = np.inf
    x0, y0 = xy[z - 1, 0], xy[z - 1, 1]
    for i in range(a, z):
        x1, y1 = xy[i, 0], xy[i, 1]
        dx, dy, px, py = x1 - x0, y1 - y0, x - x0, y - y0
        share = min(max((dx * px + dy * py) / max(dx * dx + dy * dy, 1e-300), 0.0), 1.0)
        nearest = min(nearest, (px - share * dx) ** 2 + (py - share * dy) ** 2)
        x0, y0 = x1, y1
    return float(np.sqrt(nearest))


@bare_kernel
def _outside(start: Any, xy: Any, scale: float, area: Any, beyond: Any, outlying: Any) -> float:
    """How far each vertex lies outside of the largest layer (of equal ones the lowest), 0 inside, and which layers
    reach beyond it, by a corner or by what is just inside of an edge; the most of it."""
    best, most = 0, 0.0
    for layer in range(len(start) - 1):
        if area[layer] > area[best] + 1e-9:
            best = layer
    a, z = start[best], start[best + 1]
    for layer in range(len(start) - 1):
        low, high = start[layer], start[layer + 1]
        reaches = False
        for v in range(low, high):
            far = _far(xy, a, z, xy[v, 0], xy[v, 1]) / scale
            beyond[v - start[0]] = far
            most = max(most, far)
            reaches |= far > OUTLYING
        for v in range(low, high):
            if reaches or layer == best:
                break
            w = v + 1 if v + 1 < high else low
            dx, dy = xy[w, 0] - xy[v, 0], xy[w, 1] - xy[v, 1]
            length = np.sqrt(dx * dx + dy * dy)
            if length > 4.0 * OUTLYING * scale:
                x = 0.5 * (xy[v, 0] + xy[w, 0]) - OUTLYING * scale * dy / length
                y = 0.5 * (xy[v, 1] + xy[w, 1]) + OUTLYING * scale * dx / length
                reaches = _far(xy, a, z, x, y) > 0.5 * OUTLYING * scale
        outlying[layer] = reaches and area[layer] > SCRAP
    return most


@bare_kernel
def _corner_angles(loops: Any, edges: Any, corner: Any) -> None:
    """The angle of the cloth at the start of each edge of the outline, in degrees."""
    base = loops[0]
    for k in range(len(loops) - 1):
        low, high = loops[k] - base, loops[k + 1] - base
        for i in range(low, high):
            h = i - 1 if i > low else high - 1
            cross = edges[h, 4] * edges[i, 5] - edges[h, 5] * edges[i, 4]
            dot = edges[h, 4] * edges[i, 4] + edges[h, 5] * edges[i, 5]
            corner[i] = 180.0 - np.degrees(np.arctan2(cross, dot))


@bare_kernel
def _vertices(xy: Any, low: int, high: int, scale: float, edges: Any, n: int, corner: Any, angle: Any, on: Any) -> None:
    """Tables of the vertices of one cloth: angle [V], on [V * E] flat."""
    near = (ON_EDGE * scale) ** 2
    for v in range(low, high):
        x, y = xy[v, 0], xy[v, 1]
        best = near
        angle[v - low] = np.nan
        for e in range(n):
            px, py = x - edges[e, 0], y - edges[e, 1]
            square = px * px + py * py
            if square <= best:
                best, angle[v - low] = square, corner[e]
            dx, dy = edges[e, 4], edges[e, 5]
            along = dx * px + dy * py
            end = dx * (edges[e, 2] - edges[e, 0]) + dy * (edges[e, 3] - edges[e, 1])
            across = dx * py - dy * px
            if along < 0.0:
                on[(v - low) * n + e] = square <= near
            elif along > end:
                on[(v - low) * n + e] = (along - end) ** 2 + across * across <= near
            else:
                on[(v - low) * n + e] = across * across <= near


@kernel
def _fill(
    first: Any, start: Any, xy: Any, scale: Any, ends: Any, loops: Any, points: Any, order: Any, unit: float,
    tables: Any,
) -> None:  # fmt: skip
    """All tables of all cloths, flat, in the given order; a unit of length has so many centimetres."""
    area, length, angle, beyond, extent, aspect, overhang, fill, height = tables[:9]
    parallel, perpendicular, outlying, inside, on, above = tables[9:]
    most = 1
    for s in order:
        most = max(most, loops[ends[s + 1]] - loops[ends[s]])
    edges, corner = np.empty((most, 6)), np.empty(most)
    p = e = v = ee = vp = ve = pp = 0
    for row in range(len(order)):
        s = order[row]
        a, z = first[s], first[s + 1]
        outline = loops[ends[s] : ends[s + 1] + 1]
        n, layers, low, high = loops[ends[s + 1]] - loops[ends[s]], z - a, start[a], start[z]
        _polygons(start[a : z + 1], xy, scale[s], area[p:], inside[vp:], above[pp:])
        covered = _edges(outline, points, scale[s], edges, length[e:], parallel[ee:], perpendicular[ee:])
        _corner_angles(outline, edges, corner)
        _vertices(xy, low, high, scale[s], edges, n, corner, angle[v:], on[ve:])
        overhang[row] = _outside(start[a : z + 1], xy, scale[s], area[p:], beyond[v:], outlying[p:])
        x0, y0, x1, y1 = _box(xy, low, high)
        extent[row], aspect[row], height[row] = covered / scale[s] ** 2, (y1 - y0) / (x1 - x0), unit * (y1 - y0)
        fill[row] = covered / ((x1 - x0) * (y1 - y0))
        p, e, v, ee = p + layers, e + n, v + (high - low), ee + n * n
        vp, ve, pp = vp + (high - low) * layers, ve + (high - low) * n, pp + layers * layers


def fact_blocks(
    cloths: Pile, edges: Literal["silhouette", "fragments"] = "silhouette", *, centimetre: float = 1.0
) -> list[FactBlock]:
    """The facts of many cloths, those with equal numbers of polygons, edges and vertices together.

    `edges`: those of the parsed visible silhouette, or (ablation) the raw fragments of all polygons, hidden or not;
    `centimetre`: the length of a unit.
    """
    outline = outlines(cloths)
    ends, loops, points = outline if edges == "silhouette" else (cloths.first, cloths.start, cloths.xy)
    sizes = np.stack([np.diff(cloths.first), np.diff(loops[ends]), np.diff(cloths.start[cloths.first])], axis=1).astype(
        np.int64
    )  # [S, 3] polygons, edges, vertices
    groups, group_of = np.unique(sizes, axis=0, return_inverse=True)
    order = np.argsort(group_of.reshape(-1), kind="stable")
    p, e, v = sizes.T
    one = np.ones_like(p)
    shapes: dict[str, NDArray[np.int64]] = {
        "area": p, "length": e, "angle": v, "beyond": v, "extent": one, "aspect": one, "overhang": one,
        "fill": one, "height": one, "parallel": e * e, "perpendicular": e * e,
        "outlying": p, "inside": v * p, "on": v * e, "above": p * p,
    }  # fmt: skip
    real = {f.name for f in DOMAIN.functions}
    flat: dict[str, NDArray[Any]] = {
        name: np.empty(int(n.sum()), np.float64 if name in real else np.bool_) for name, n in shapes.items()
    }
    outline_of = ends, loops, points
    _fill(
        cloths.first, cloths.start, cloths.xy, cloths.scale, *outline_of, order, float(centimetre), tuple(flat.values())
    )  # fmt: skip
    if edges == "fragments":  # what a cloth covers does not depend on what counts as an edge
        covered = _covered(*outline, cloths.scale)[order]
        flat["fill"] *= covered / flat["extent"]
        flat["extent"] = covered
    return _blocks(groups, np.bincount(group_of.reshape(-1)), order, flat)


def _covered(
    ends: NDArray[np.int64], loops: NDArray[np.int64], points: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The area inside the outline of each cloth, in units of its scale."""
    following = np.arange(1, len(points) + 1)
    following[loops[1:] - 1] = loops[:-1]
    twice = points[:, 0] * points[following, 1] - points[following, 0] * points[:, 1]
    return np.asarray(0.5 * np.add.reduceat(twice, loops[ends[:-1]]) / scale**2, dtype=np.float64)


def _blocks(
    groups: NDArray[np.int64], counts: NDArray[np.int64], order: NDArray[np.int64], flat: dict[str, NDArray[Any]]
) -> list[FactBlock]:
    """Cut the flat tables into one block per group; the tables are views."""
    blocks, row = [], 0
    columns = [(name, values, DOMAIN.fluent(name).classes) for name, values in flat.items()]
    at = [0] * len(columns)
    for (p, e, v), count in zip(groups.tolist(), counts.tolist(), strict=True):
        sizes = {"cloth": 1, "polygon": p, "edge": e, "vertex": v}
        tables: dict[str, NDArray[Any]] = {}
        for k, (name, values, classes) in enumerate(columns):
            shape = (count, *[sizes[c] for c in classes])
            end = at[k] + prod(shape)
            tables[name] = values[at[k] : end].reshape(shape)
            at[k] = end
        blocks.append(FactBlock(order[row : row + count], sizes, tables))
        row += count
    return blocks
