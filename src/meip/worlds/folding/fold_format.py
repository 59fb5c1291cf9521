"""Garments and folded cloths as FOLD files (.fold), the exchange format of origami software, and back.

A layer is a face. Its vertices are listed counter-clockwise as seen from the garment's front, so that a face that is
turned over runs clockwise in the folded form. Vertices are shared where the cloth hangs together. What FOLD has no
word for (parts, seams, necklines, maps) goes into properties of our own, ``faces_meip:part`` and so on; files
without them are read too.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.base.documents import write_text
from meip.base.errors import DocumentError, WorldError
from meip.base.files import decoded, load_json, read_bytes
from meip.worlds.folding.cloth import (
    CREASE,
    MAX_PARTS,
    MAX_POINTS,
    OUTLINE,
    SEAM,
    TAGS,
    Cloth,
    Garment,
    Layer,
    Part,
    signed_area,
)
from meip.worlds.folding.planar import pairs

__all__ = ["cloth_from_fold", "fold_of_cloth", "fold_of_garment", "garment_from_fold", "read_fold", "write_fold"]

MAX_BYTES = 64 * 2**20
LARGEST = 1e9
SAME = 1e-6
"""Vertices closer than this, times the root of the area, are one vertex."""


def fold_of_garment(garment: Garment) -> dict[str, Any]:
    """A garment as a FOLD object: its flat parts are the faces of a crease pattern."""
    data = fold_of_cloth(Cloth.flat(garment), title=garment.name)
    data["frame_classes"] = ["creasePattern"]
    data["meip:template"] = garment.template
    data["meip:logo"] = [list(point) for point in garment.logo]
    data["meip:style"] = dict(garment.style)
    del data["faces_meip:map"]
    return data


def fold_of_cloth(cloth: Cloth, *, title: str = "folded cloth") -> dict[str, Any]:
    """A folded cloth as a FOLD object: its layers are the faces of a folded form, with their order."""
    layers = list(cloth)
    index: dict[tuple[int, ...], int] = {}
    coords: list[list[float]] = []
    faces: list[list[int]] = []
    tags: list[list[str]] = []
    for layer in layers:
        ring = _ring(layer, cloth.scale, index, coords)
        names = [TAGS[tag] for tag in layer.tags]
        if layer.face < 0:  # reversed, so that the edge before a vertex is the one after it
            ring, names = ring[::-1], names[:-1][::-1] + names[-1:]
        faces.append(ring)
        tags.append(names)
    edges, assignment = _edges(faces, [layer.face for layer in layers])
    return {
        "file_spec": 1.2,
        "file_creator": "meip",
        "file_classes": ["singleModel"],
        "frame_title": title,
        "frame_classes": ["foldedForm"],
        "frame_attributes": ["2D"],
        "vertices_coords": coords,
        "edges_vertices": edges,
        "edges_assignment": assignment,
        "faces_vertices": faces,
        "faceOrders": _orders(layers),
        "faces_meip:part": [layer.part for layer in layers],
        "faces_meip:tags": tags,
        "faces_meip:map": [layer.affine.tolist() for layer in layers],
        "meip:parts": list(cloth.parts),
        "meip:scale": cloth.scale,
    }


def _ring(layer: Layer, scale: float, index: dict[tuple[int, ...], int], coords: list[list[float]]) -> list[int]:
    """The layer's vertices; one is shared with an earlier layer if it is the same point of cloth and of table."""
    material = (layer.polygon - layer.affine[:, 2]) @ layer.affine[:, :2]  # isometry: the transpose inverts it
    keys = np.round(np.hstack([layer.polygon, material]) / (SAME * scale)).astype(np.int64)
    ring = []
    for point, key in zip(layer.polygon, keys, strict=True):
        name = tuple(int(k) for k in key)
        if name not in index:
            index[name] = len(coords)
            coords.append([float(point[0]), float(point[1])])
        ring.append(index[name])
    return ring


def _edges(faces: Sequence[Sequence[int]], up: Sequence[int]) -> tuple[list[list[int]], list[str]]:
    """Edges and their assignment. Valley: the fronts of the two faces look at each other; layers go bottom to top."""
    incident: dict[tuple[int, int], list[int]] = {}
    for f, ring in enumerate(faces):
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
            incident.setdefault((min(a, b), max(a, b)), []).append(f)
    assignment = []
    for members in incident.values():
        if len(members) == 1:
            assignment.append("B")
        elif len(members) > 2:
            assignment.append("U")
        elif up[members[0]] == up[members[1]]:
            assignment.append("F")
        else:
            assignment.append("V" if up[min(members)] > 0 else "M")
    return [list(edge) for edge in incident], assignment


def _orders(layers: Sequence[Layer]) -> list[list[int]]:
    """[f, g, s]: face f is on the side of g that g's front looks to (s = 1) or on the other; boxes that are apart
    have no order."""
    boxes = [(layer.polygon.min(axis=0), layer.polygon.max(axis=0)) for layer in layers]
    orders = []
    for g, f in combinations(range(len(layers)), 2):  # f lies above g
        if (boxes[f][0] < boxes[g][1]).all() and (boxes[g][0] < boxes[f][1]).all():
            orders.append([f, g, 1 if layers[g].face > 0 else -1])
    return orders


def write_fold(path: str | Path, subject: Garment | Cloth) -> None:
    """Write a garment or a cloth as a .fold file."""
    data = fold_of_garment(subject) if isinstance(subject, Garment) else fold_of_cloth(subject, title=Path(path).stem)
    write_text(path, json.dumps(data, indent=1, ensure_ascii=False, allow_nan=False) + "\n")


def read_fold(path: str | Path) -> Garment | Cloth:
    """Read a .fold file: a folded form as a cloth, anything else as a garment whose parts are the faces."""
    data = load_json(decoded(read_bytes(path, MAX_BYTES), path), str(path))
    if isinstance(data, dict) and _is_folded(data):
        return cloth_from_fold(data, where=str(path))
    return garment_from_fold(data, where=str(path))


def _is_folded(data: dict[str, Any]) -> bool:
    classes = data.get("frame_classes")
    return isinstance(classes, list) and "foldedForm" in classes


def garment_from_fold(data: Any, *, where: str = "fold") -> Garment:
    """The flat faces of a FOLD object as the parts of a garment."""
    coords, faces = _mesh(data, where)
    names, tags = _names(data, faces, where), _tags(data, faces, where)
    title = str(data.get("frame_title") or data.get("file_title") or "fold")
    try:
        parts = tuple(
            Part(name, pairs(coords[ring]), kinds) for name, ring, kinds in zip(names, faces, tags, strict=True)
        )
        logo, style = data.get("meip:logo", []), data.get("meip:style", {})
        return Garment(
            title,
            parts,
            template=str(data.get("meip:template", "fold")),
            logo=tuple((float(x), float(y)) for x, y in logo),
            style={str(key): float(value) for key, value in style.items()},
        )
    except WorldError as error:
        raise DocumentError(f"{where}: {error}") from None
    except (TypeError, ValueError, AttributeError, OverflowError):
        raise DocumentError(
            f"{where}: meip:logo must be a list of points and meip:style an object of numbers"
        ) from None


def cloth_from_fold(data: Any, *, where: str = "fold") -> Cloth:
    """A folded form as a cloth: layers from the face orders, maps by unfolding along shared edges."""
    coords, faces = _mesh(data, where)
    names, tags = _names(data, faces, where, unique=False), _tags(data, faces, where)
    up = [1 if signed_area(coords[ring]) > 0 else -1 for ring in faces]
    maps = _maps(data, coords, faces, up, where)
    known = data.get("meip:parts")
    listed = isinstance(known, list) and all(isinstance(name, str) for name in known) and set(known) >= set(names)
    parts = tuple(known) if listed and known else tuple(dict.fromkeys(names))
    starts, xy, kinds = [0], [], []
    order = _bottom_to_top(data, len(faces), up, where)
    for f in order:
        ring, names_of_edges = faces[f], list(tags[f])
        if up[f] < 0:
            ring, names_of_edges = ring[::-1], names_of_edges[:-1][::-1] + names_of_edges[-1:]
        try:
            Part(names[f], pairs(coords[ring]), tuple(names_of_edges))
        except WorldError as error:
            raise DocumentError(f"{where}: faces_vertices[{f}]: {error}") from None
        xy.append(coords[ring])
        kinds += [TAGS.index(name) for name in names_of_edges]
        starts.append(starts[-1] + len(ring))
    area = sum(abs(signed_area(coords[ring])) for ring in faces)
    scale = data.get("meip:scale")
    return Cloth(
        np.array(starts, dtype=np.int32),
        np.concatenate(xy),
        np.array(kinds, dtype=np.uint8),
        np.array([[parts.index(names[f]), up[f]] for f in order], dtype=np.int32),
        np.array([maps[f] for f in order]),
        parts,
        float(scale) if isinstance(scale, int | float) and 0 < scale < 1e12 else float(area**0.5),
    )


def _mesh(data: Any, where: str) -> tuple[Floats, list[list[int]]]:
    """Vertices [n, 2] and faces, checked."""
    if not isinstance(data, dict):
        raise DocumentError(f"{where}: $: expected a FOLD object (JSON object)")
    try:
        coords = np.array(data["vertices_coords"], dtype=np.float64)
        if coords.ndim != 2 or coords.shape[1] not in (2, 3) or not (np.abs(coords) < LARGEST).all():
            raise ValueError
    except KeyError:
        raise DocumentError(f"{where}: $.vertices_coords is missing") from None
    except (TypeError, ValueError, OverflowError):
        raise DocumentError(f"{where}: $.vertices_coords: expected a list of [x, y], numbers below 1e9") from None
    if coords.shape[1] == 3 and np.ptp(coords[:, 2]) > 0:
        raise DocumentError(f"{where}: $.vertices_coords: the model is not flat: its z coordinates differ")
    faces = data.get("faces_vertices")
    if not isinstance(faces, list) or not faces:
        raise DocumentError(f"{where}: $.faces_vertices is missing or empty; have your software write the faces too")
    if len(faces) > MAX_PARTS:
        raise DocumentError(f"{where}: $.faces_vertices: {len(faces):,} faces; {MAX_PARTS} at most")
    for f, ring in enumerate(faces):
        whole = isinstance(ring, list) and all(isinstance(v, int) and 0 <= v < len(coords) for v in ring)
        if not whole or len(ring) < 3:
            raise DocumentError(
                f"{where}: $.faces_vertices[{f}]: expected at least 3 indices of {len(coords)} vertices"
            )
        if len(ring) > MAX_POINTS:
            raise DocumentError(f"{where}: $.faces_vertices[{f}]: {len(ring):,} vertices; {MAX_POINTS:,} at most")
    return coords[:, :2], faces


def _names(data: dict[str, Any], faces: list[list[int]], where: str, *, unique: bool = True) -> list[str]:
    names = data.get("faces_meip:part", [f"face{f}" for f in range(len(faces))])
    if not isinstance(names, list) or len(names) != len(faces) or not all(isinstance(n, str) for n in names):
        raise DocumentError(f"{where}: $.faces_meip:part: expected one name per face")
    return names if unique or "faces_meip:part" in data else ["cloth"] * len(faces)


def _tags(data: dict[str, Any], faces: list[list[int]], where: str) -> list[tuple[str, ...]]:
    """Ours where the file has them; else outline for edges of one face, seam or crease for shared ones."""
    given = data.get("faces_meip:tags")
    if given is not None:
        fits = isinstance(given, list) and len(given) == len(faces)
        if not fits or any(not isinstance(t, list) or len(t) != len(r) for t, r in zip(given, faces, strict=True)):
            raise DocumentError(f"{where}: $.faces_meip:tags: expected one list per face, one tag per edge")
        if any(not isinstance(tag, str) or tag not in TAGS for row in given for tag in row):
            raise DocumentError(f"{where}: $.faces_meip:tags: expected the tags {', '.join(TAGS)}")
        return [tuple(row) for row in given]
    inner = TAGS[CREASE if _is_folded(data) else SEAM]
    count: dict[frozenset[int], int] = {}
    sides = [[frozenset(edge) for edge in zip(ring, [*ring[1:], ring[0]], strict=True)] for ring in faces]
    for edge in (edge for row in sides for edge in row):
        count[edge] = count.get(edge, 0) + 1
    return [tuple(inner if count[edge] > 1 else TAGS[OUTLINE] for edge in row) for row in sides]


def _maps(data: dict[str, Any], coords: Floats, faces: list[list[int]], up: list[int], where: str) -> list[Floats]:
    """Garment to table for each face: as written, or by unfolding: a fold mirrors what lies beyond it."""
    given = data.get("faces_meip:map")
    if given is not None:
        try:
            maps = np.array(given, dtype=np.float64).reshape(len(faces), 2, 3)
            if not (np.abs(maps) < LARGEST).all():
                raise ValueError
        except (TypeError, ValueError, OverflowError):
            raise DocumentError(f"{where}: $.faces_meip:map: expected a 2 x 3 matrix per face") from None
        square = maps[:, :, :2]
        if not np.allclose(square @ square.transpose(0, 2, 1), np.eye(2), atol=1e-6):
            raise DocumentError(f"{where}: $.faces_meip:map: expected rotations and reflections")
        return list(maps)
    owners: dict[frozenset[int], list[int]] = {}
    for f, ring in enumerate(faces):
        for a, b in zip(ring, [*ring[1:], ring[0]], strict=True):
            owners.setdefault(frozenset((a, b)), []).append(f)
    found: dict[int, Floats] = {}
    for start in range(len(faces)):
        if start not in found:
            found[start] = np.array([[float(up[start]), 0.0, 0.0], [0.0, 1.0, 0.0]])
            _unfold(start, found, owners, coords, up)
    return [found[f] for f in range(len(faces))]


def _unfold(
    start: int, found: dict[int, Floats], owners: dict[frozenset[int], list[int]], coords: Floats, up: list[int]
) -> None:
    """Carry the map of one face over to all faces that hang together with it."""
    waiting = [start]
    while waiting:
        f = waiting.pop()
        for edge, members in owners.items():
            for g in members if f in members and len(edge) == 2 else ():
                if g in found:
                    continue
                a, b = (coords[v] for v in edge)
                unit = (b - a) / max(float(np.linalg.norm(b - a)), 1e-300)
                flip = 2 * np.outer(unit, unit) - np.eye(2) if up[f] != up[g] else np.eye(2)
                moved = found[f].copy()
                moved[:, :2], moved[:, 2] = flip @ found[f][:, :2], flip @ (found[f][:, 2] - a) + a
                found[g] = moved
                waiting.append(g)


def _bottom_to_top(data: dict[str, Any], count: int, up: list[int], where: str) -> list[int]:
    """An order of the faces that agrees with every face order; as listed where nothing is said."""
    above: list[set[int]] = [set() for _ in range(count)]
    below = [0] * count
    orders = data.get("faceOrders", [])
    if not isinstance(orders, list):
        raise DocumentError(f"{where}: $.faceOrders: expected a list of [f, g, s]")
    for k, order in enumerate(orders):
        right = isinstance(order, list) and len(order) == 3 and all(isinstance(v, int) for v in order)
        if not right or not (0 <= order[0] < count and 0 <= order[1] < count and order[2] in (-1, 0, 1)):
            raise DocumentError(f"{where}: $.faceOrders[{k}]: expected [f, g, s] with two faces and s = -1, 0 or 1")
        f, g, s = order
        low, high = (g, f) if s * up[g] > 0 else (f, g)
        if s and high not in above[low]:
            above[low].add(high)
            below[high] += 1
    ready = [f for f in range(count) if below[f] == 0]
    sequence: list[int] = []
    while ready:
        f = min(ready)
        ready.remove(f)
        sequence.append(f)
        for g in above[f]:
            below[g] -= 1
            if below[g] == 0:
                ready.append(g)
    if len(sequence) < count:
        raise DocumentError(f"{where}: $.faceOrders: the faces lie above each other in a circle")
    return sequence
