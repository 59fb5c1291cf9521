"""Where an outline falls into parts: short cuts from reflex vertices, in the frame of the garment's axis of symmetry.

A sleeve is cut off from the armpit to the shoulder, a hood from one side of the neck to the other, trousers are cut
into two legs from the crotch to the waist. A strap is no part: it does not reach beyond the body's side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from meip.base.arrays import Floats
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.cloth import signed_area
from meip.worlds.folding.planar import chord_inside, crossings_with_line, inserted, piece, point_at, turns

__all__ = ["Split", "split_outline", "symmetry_axes"]

ARMPIT = -35.0
"""An armpit or the foot of a hood turns at least this much; an elbow or a wrinkle does not."""
FLAT = 1.0
"""Degrees that an outline may turn where it is straight."""


@dataclass(frozen=True)
class Split:
    """An outline [n, 2] in the upright frame with vertices added where cuts end, and the parts as rings of indices."""

    polygon: Floats
    parts: dict[str, list[int]]
    neck: frozenset[int]
    """Outline edges (by their first vertex) round the neck."""
    centre: Floats  # a point of the axis, in the coordinates that were given
    up: Floats  # its direction there, a unit vector


def split_outline(outline: Floats) -> Split:
    """Parts of a simple outline, counter-clockwise with y up."""
    centre, ups = symmetry_axes(outline)
    up, polygon, cuts = _best_axis(outline, centre, ups)
    if _upside_down(polygon, cuts):
        up, polygon = -up, -polygon
    places = {f"{name}{end}": place for name, cut in cuts.items() for end, place in zip("ab", cut, strict=True)}
    whole, at = inserted(polygon, places)
    parts = _rings(whole, {name: (at[f"{name}a"], at[f"{name}b"]) for name in cuts})
    neck = frozenset() if "leg" in cuts or "hood" in parts else _neckline(whole)
    return Split(whole, parts, neck, centre, up)


def _best_axis(
    outline: Floats, centre: Floats, ups: list[Floats]
) -> tuple[Floats, Floats, dict[str, tuple[float, float]]]:
    """The best axis of symmetry with sleeves on both sides of it, or with legs; else the best of all."""
    found = []
    for up in ups:
        polygon = _in_frame(outline, centre, up)
        legs = _leg_cut(polygon)
        cuts = {"leg": legs} if legs else _shirt_cuts(polygon)
        if legs or {"sleeve_left", "sleeve_right"} <= set(cuts):
            return up, polygon, cuts
        found.append((up, polygon, cuts))
    return found[0]


def symmetry_axes(polygon: Floats) -> tuple[Floats, list[Floats]]:
    """A point and directions of lines in which the polygon is most like its mirror image, the best first.

    A crumpled shirt may be more alike across than along: every direction that is nearly as good is worth a look.
    """
    cv2 = load_cv2()
    area = signed_area(polygon)
    x, y = polygon.T
    cross = x * np.roll(y, -1) - np.roll(x, -1) * y
    middle = ((polygon + np.roll(polygon, -1, axis=0)) * cross[:, None]).sum(axis=0) / (6 * area)
    local = (polygon - middle) * (60.0 / float(np.linalg.norm(polygon - middle, axis=1).max()))

    def painted(points: Floats) -> Floats:
        canvas = np.zeros((128, 128), dtype=np.uint8)
        cv2.fillPoly(canvas, [np.round((points + 64) * 256).astype(np.int32)], 1, cv2.LINE_8, 8)
        return canvas.astype(np.float64)

    def likeness(angle: float) -> float:
        c, s = np.cos(2 * angle), np.sin(2 * angle)
        image = painted(local @ np.array([[c, s], [s, -c]]))
        return float((image * still).sum() / np.maximum(image, still).sum())

    still = painted(local)
    degrees = np.arange(0, 180, 3.0)
    scores = np.array([likeness(a) for a in np.radians(degrees)])
    peaks = (scores >= np.roll(scores, 1)) & (scores >= np.roll(scores, -1)) & (scores > 0.85 * scores.max())
    best = sorted(np.nonzero(peaks)[0], key=lambda i: -scores[i])[:3]
    ups = []
    for i in best:
        fine = np.radians(degrees[i] + np.arange(-2.5, 2.6, 0.5))
        angle = float(fine[np.argmax([likeness(a) for a in fine])])
        up = np.array([np.cos(angle), np.sin(angle)])
        ups.append(up if up[1] >= 0 else -up)
    return middle, ups


def _in_frame(points: Floats, centre: Floats, up: Floats) -> Floats:
    """Coordinates across and along the axis."""
    framed: Floats = (points - centre) @ np.array([[up[1], up[0]], [-up[0], up[1]]])
    return framed


def _leg_cut(polygon: Floats) -> tuple[float, float] | None:
    """From a reflex vertex on the axis, deep inside the hull (the crotch), along the axis to the waist."""
    width, height = np.ptp(polygon, axis=0)
    for i in np.nonzero((turns(polygon) < ARMPIT) & (np.abs(polygon[:, 0]) < 0.08 * width))[0]:
        corner = polygon[i]
        near = np.abs(polygon[:, 0]) < 0.06 * width
        options = [float(j) for j in np.nonzero(near)[0] if j != i]
        options += crossings_with_line(polygon, corner, np.array([0.0, 1.0]))
        for place in options:
            across = point_at(polygon, place)
            deep = (polygon[:, 1].max() - corner[1]) if across[1] < corner[1] else (corner[1] - polygon[:, 1].min())
            if deep > 0.4 * height and chord_inside(polygon, float(i), place, 0.3):
                return float(i), place
    return None


def _shirt_cuts(polygon: Floats) -> dict[str, tuple[float, float]]:
    cuts: dict[str, tuple[float, float]] = {}
    for name, sign in (("sleeve_left", -1.0), ("sleeve_right", 1.0)):
        cut = _sleeve_cut(polygon, sign)
        if cut is not None:
            cuts[name] = cut
    hood = _hood_cut(polygon, {int(place) for cut in cuts.values() for place in cut})
    if hood is not None:
        cuts["hood"] = hood
    return cuts


def _sleeve_cut(polygon: Floats, sign: float) -> tuple[float, float] | None:
    """The shortest cut, for the size of what it cuts off, that takes a sleeve off on this side."""
    across = sign * polygon[:, 0]
    best, least = None, np.inf
    for r in np.nonzero((turns(polygon) < ARMPIT) & (across > 0.15 * across.max()))[0]:
        place = _shoulder(polygon, int(r), sign)
        if place is None:
            continue
        cut = _smaller_side_first(polygon, float(r), place)
        sleeve = piece(polygon, *cut)
        area, whole = signed_area(sleeve), signed_area(polygon)
        length = float(np.linalg.norm(polygon[r] - point_at(polygon, place)))
        sticks_out = (sign * sleeve[:, 0]).max() > 1.08 * across[r]
        short = length < 0.5 * np.ptp(polygon[:, 1])
        if short and sticks_out and 0.02 * whole < area < 0.3 * whole and length / area**0.5 < least:
            best, least = cut, length / area**0.5
    return best


def _shoulder(polygon: Floats, armpit: int, sign: float) -> float | None:
    """The place opposite an armpit, up along the body: the nearest convex corner, else straight across."""
    n, reach = len(polygon), sign * polygon[armpit, 0]
    across = sign * polygon[:, 0]
    corners = (turns(polygon) > 2) & (across > 0.6 * reach) & (across < 1.15 * reach)
    beside = {(armpit - 1) % n, armpit, (armpit + 1) % n}
    for options in (
        [float(i) for i in np.nonzero(corners)[0] if i not in beside],
        [p for p in crossings_with_line(polygon, polygon[armpit], np.array([0.0, 1.0])) if int(p) not in beside],
    ):
        seen = [place for place in options if chord_inside(polygon, float(armpit), place)]
        if seen:
            gaps = [float(np.linalg.norm(point_at(polygon, place) - polygon[armpit])) for place in seen]
            return seen[int(np.argmin(gaps))]
    return None


def _hood_cut(polygon: Floats, taken: set[int]) -> tuple[float, float] | None:
    """Between two mirrored reflex vertices beyond which the outline widens again, on the axis."""
    width, height = np.ptp(polygon, axis=0)
    reflex = [int(i) for i in np.nonzero(turns(polygon) < ARMPIT)[0] if i not in taken]
    for i in (k for k in reflex if polygon[k, 0] < 0):
        for j in (k for k in reflex if polygon[k, 0] > 0):
            gap = polygon[j] - polygon[i]
            if abs(gap[1]) > 0.06 * height or gap[0] > 0.5 * width or abs(polygon[i, 0] + polygon[j, 0]) > 0.4 * gap[0]:
                continue
            if not chord_inside(polygon, float(i), float(j)):
                continue
            cut = _smaller_side_first(polygon, float(i), float(j))
            hood = piece(polygon, *cut)
            share = signed_area(hood) / signed_area(polygon)
            if 0.03 < share < 0.3 and np.ptp(hood[:, 0]) > 1.06 * gap[0]:
                return cut
    return None


def _smaller_side_first(polygon: Floats, p: float, q: float) -> tuple[float, float]:
    """The two places in the order in which the smaller side lies between them."""
    return (p, q) if signed_area(piece(polygon, p, q)) < signed_area(piece(polygon, q, p)) else (q, p)


def _upside_down(polygon: Floats, cuts: dict[str, tuple[float, float]]) -> bool:
    """Sleeves and hoods are at the top, a crotch below the waist, a neckline at the top; else as in the picture."""
    if "leg" in cuts:
        crotch, waist = (point_at(polygon, place)[1] for place in cuts["leg"])
        return bool(crotch > waist)
    seams = [point_at(polygon, place)[1] for cut in cuts.values() for place in cut]
    if seams:
        return bool(np.mean(seams) < 0)
    middle = np.abs(polygon[:, 0]) < 0.3 * np.ptp(polygon[:, 0])
    notches = polygon[(turns(polygon) < -10) & middle, 1]
    return len(notches) > 0 and bool(notches.mean() < 0)


def _neckline(polygon: Floats) -> frozenset[int]:
    """The outline's edges between the two convex corners that enclose the notch at the top of the axis."""
    n, turn = len(polygon), turns(polygon)
    tops = crossings_with_line(polygon, np.zeros(2), np.array([0.0, 1.0]))
    top = int(max(tops, key=lambda place: float(point_at(polygon, place)[1])))
    first, last = top, (top + 1) % n
    for _ in range(n):
        if turn[first] > FLAT:
            break
        first = (first - 1) % n
    for _ in range(n):
        if turn[last] > FLAT:
            break
        last = (last + 1) % n
    edges = [(first + k) % n for k in range((last - first) % n)]
    notched = any(turn[i] < -FLAT for i in edges[1:])  # a straight top has no neck
    return frozenset(edges) if notched else frozenset()


def _rings(polygon: Floats, cuts: dict[str, tuple[int, int]]) -> dict[str, list[int]]:
    """The vertex rings of what the cuts take off, and of what remains (the body)."""
    n = len(polygon)

    def between(a: int, b: int) -> list[int]:
        return [(a + k) % n for k in range((b - a) % n + 1)]

    if "leg" in cuts:
        a, b = cuts["leg"]
        rings = (between(a, b), between(b, a))
        left = int(np.argmin([polygon[ring, 0].mean() for ring in rings]))
        return {"leg_left": rings[left], "leg_right": rings[1 - left]}
    taken = {name: between(a, b) for name, (a, b) in cuts.items()}
    inner = {i for ring in taken.values() for i in ring[1:-1]}
    body = [i for i in range(n) if i not in inner]
    named = {"body": body}
    for name, ring in taken.items():
        middle = polygon[ring, 0].mean()
        named["hood" if name == "hood" else "sleeve_left" if middle < 0 else "sleeve_right"] = ring
    return named
