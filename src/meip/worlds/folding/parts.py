"""From a derivation to polygons: the outline is cut where parts are sewn together.

A sleeve is cut off from the armpit to the shoulder (raglan: to the neck), a hood from one side of the neck to the
other, trousers are cut into two legs from the crotch to the middle of the belt. What is left is the body.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from meip.base.arrays import Floats
from meip.worlds.folding.cloth import first_crossing, signed_area
from meip.worlds.folding.derive import Derivation, seams
from meip.worlds.folding.planar import chord_inside, crossings_with_line, inserted, piece, point_at, simplified, walked

__all__ = ["Parts", "cut_into_parts", "doubt"]

TOLERANCE = 0.005
"""Bends of less than this share of the diagonal are wrinkles."""
SMOOTH = 32  # an outline with so few corners has no wrinkles
SHIFT, SHIFTS = 0.02, 8  # a seam's ends may be moved by so many such steps (of the root of the area)
SNAP = 0.05  # of the root of the area: a cut ends at a corner this near
SEEN = 0.02  # of the root of the area: a neck that bends less cannot be seen
SURE = 0.7
ARMPIT = -22.0
"""An armpit turns at least this much: the outline beside a sleeve that lies under the body is straighter."""
COVERED = ("hidden sleeve", "tucked sleeve")
EVEN = 0.55
"""A sleeve that is laid out as it was taken to be with less probability than this, and else is not, is asked about."""
ALIKE = 3.5
"""One sleeve has at most this many times the area of the other, unless one of them is partly hidden."""
REACHES = 2.3
"""Nor does it reach out more than this many times as far."""
LOPSIDED = 0.9
"""So much (in logarithms) the lengths of the two seams and of the two shoulders may differ together."""


@dataclass(frozen=True)
class Parts:
    """The outline [n, 2] with vertices where cuts end, the parts as rings of indices, the corners by name."""

    polygon: Floats
    rings: dict[str, list[int]]
    corners: dict[str, int]
    neck: frozenset[int]
    """Edges (by their first vertex) round the neck."""


def cut_into_parts(polygon: Floats, one: Derivation) -> Parts:
    """Parts of a simple polygon, counter-clockwise. A seam that would leave the cloth is moved, or else not cut."""
    places = {name: _snapped(polygon, place) for name, place in one.corners.items()}
    if "crotch" in places:
        places["belt"] = _belt(polygon, places, one.up)
    cuts = seams(one)
    for part, (a, b) in seams(one).items():
        moved = _seam_inside(polygon, places[a], places[b])
        if moved is None:
            del cuts[part]
        else:
            places[a], places[b] = moved
    ends = {name for cut in cuts.values() for name in cut}
    kept = {
        name: place if name in ends or place % 1 == 0 else _nearest(polygon, place) for name, place in places.items()
    }
    whole, at = inserted(polygon, kept)
    whole, at = _smoothed(whole, at, cuts)
    return Parts(
        whole, _rings(len(whole), {p: (at[a], at[b]) for p, (a, b) in cuts.items()}), at, _neck(one, whole, at)
    )


def _seam_inside(polygon: Floats, p: float, q: float) -> tuple[float, float] | None:
    """The ends of a seam, moved along the outline as little as possible until it lies inside; None if it cannot."""
    unit = abs(signed_area(polygon)) ** 0.5
    steps = [0.0, *(sign * k * SHIFT * unit for k in range(1, SHIFTS) for sign in (1, -1))]
    for by, to in sorted(((s, t) for s in steps for t in steps), key=lambda move: abs(move[0]) + abs(move[1])):
        a, b = walked(polygon, p, by) if by else p, walked(polygon, q, to) if to else q
        if a != b and chord_inside(polygon, a, b):
            return a, b
    return None


def _nearest(polygon: Floats, place: float) -> float:
    return float(round(place) % len(polygon))


def _snapped(polygon: Floats, place: float) -> float:
    """The corner of the polygon at this place, if there is one near."""
    corner = _nearest(polygon, place)
    gap = float(np.linalg.norm(point_at(polygon, place) - polygon[int(corner)]))
    return corner if gap < SNAP * abs(signed_area(polygon)) ** 0.5 else place


def _belt(polygon: Floats, places: dict[str, float], up: Floats) -> float:
    """Where the line from the crotch along the axis meets the belt; else its middle."""
    n = len(polygon)
    a, b = places["waist_right"], places["waist_left"]
    crossing = crossings_with_line(polygon, point_at(polygon, places["crotch"]), up)
    on = [place for place in crossing if 0 < (place - a) % n < (b - a) % n]
    return _snapped(polygon, on[0] if on else (a + (b - a) % n / 2) % n)


def _smoothed(polygon: Floats, at: dict[str, int], cuts: dict[str, tuple[str, str]]) -> tuple[Floats, dict[str, int]]:
    """Without wrinkles: stretches between corners straightened, unless that makes the outline or a seam cross it."""
    stops = sorted(set(at.values()))
    if len(stops) < 2 or len(polygon) <= SMOOTH:
        return polygon, at
    tolerance = TOLERANCE * float(np.linalg.norm(np.ptp(polygon, axis=0)))
    kept: list[Floats] = []
    new: dict[int, int] = {}
    for a, b in zip(stops, stops[1:] + stops[:1], strict=True):
        chain = polygon[(a + np.arange((b - a) % len(polygon) + 1)) % len(polygon)]
        new[a] = len(kept)
        kept += list(simplified(chain, tolerance)[:-1])
    smooth, moved = np.array(kept), {name: new[i] for name, i in at.items()}
    straight = all(chord_inside(smooth, float(moved[a]), float(moved[b])) for a, b in cuts.values())
    return (smooth, moved) if straight and first_crossing(smooth) is None else (polygon, at)


def _rings(n: int, cuts: dict[str, tuple[int, int]]) -> dict[str, list[int]]:
    """The vertex rings of what the cuts take off, and of what remains (the body)."""
    taken = {name: [(a + k) % n for k in range((b - a) % n + 1)] for name, (a, b) in cuts.items()}
    inner = {i for ring in taken.values() for i in ring[1:-1]}
    legs = {"leg_left", "leg_right"} <= set(taken)
    rest = {} if legs else {"body": [i for i in range(n) if i not in inner]}
    return {**rest, **{name: taken[name] for name in sorted(taken, key=lambda part: part == "hood")}}


def _neck(one: Derivation, polygon: Floats, at: dict[str, int]) -> frozenset[int]:
    """The outline's edges between the two sides of a neck that can be seen; a straight top has none."""
    if not {"neck", "scoop"} & set(one.choices):
        return frozenset()
    n = len(polygon)
    ring = [(at["neck_right"] + k) % n for k in range((at["neck_left"] - at["neck_right"]) % n + 1)]
    chain = polygon[ring]
    bent = len(simplified(chain, SEEN * abs(signed_area(polygon)) ** 0.5)) > 2
    return frozenset(ring[:-1]) if bent else frozenset()


def doubt(
    polygon: Floats,
    found: list[Derivation],
    parts: Iterable[str],
    pointed: frozenset[str] = frozenset(),
    kind: str | None = None,
) -> str:
    """What the parse is not sure of, and what would help; empty if it is sure.

    `pointed` are corners that were given, `kind` what a person said that it is.
    """
    one = found[0]
    uncut = [part for part in seams(one) if part not in set(parts)]
    if not one.corners and one.probability < SURE:
        return "it looks like no garment of the grammar; say which it is (kind), or that it is just cloth (kind plain)"
    if one.probability < SURE:
        other = f"{found[1].kind} with its top {_clock(found[1].up)}" if len(found) > 1 else "something else"
        return (
            f"only {one.probability:.0%} sure that it is a {one.kind} with its top {_clock(one.up)}; it may be a "
            f"{other}: say where the top is (up) or what it is (kind), or name corners (keypoints)"
        )
    if uncut:
        name = uncut[0].replace("_", " ")
        return f"no straight seam cuts the {name} off: lay it flat beside the body, or name the corners of its seam"
    if one.kind == "sleeveless" and kind is None:
        return "no sleeve can be seen: do they lie under the body? Spread them out, or say that it is sleeveless (kind)"
    return _hidden_sleeve(one, pointed) or ("" if pointed else _lopsided(polygon, one))


def _hidden_sleeve(one: Derivation, pointed: frozenset[str]) -> str:
    """A question about a side on which no armpit, no sleeve or only a piece of one is to be seen."""
    for side in ("left", "right"):
        armpit, sleeve = f"armpit_{side}", one.choices.get(f"yoke_{side}")
        if sleeve is None or armpit in pointed:
            continue
        if one.turns[armpit] > ARMPIT:
            what = f"no armpit can be seen on the {side}: does the sleeve lie on or under the body?"
        elif sleeve == "no sleeve":
            what = f"no sleeve can be seen on the {side}: does it lie on or under the body?"
        elif sleeve in COVERED:
            what = f"the {side} sleeve seems to lie partly under the body:"
        elif _divided(one.odds.get(f"yoke_{side}", {}), sleeve):
            what = f"the {side} sleeve may be bent, or lie partly on or under the body:"
        else:
            continue
        return f"{what} spread it out, or name {armpit}"
    return ""


def _divided(odds: Mapping[str, float], sleeve: str) -> bool:
    """Is it hardly likelier than not that a sleeve is laid out as it was taken to be?"""
    other = max((name for name in odds if name != sleeve), key=lambda name: odds[name], default="")
    return other in (*COVERED, "bent sleeve") and odds[sleeve] < EVEN


def _lopsided(polygon: Floats, one: Derivation) -> str:
    """A question about sleeves or shoulders that differ too much: one of them is partly hidden, or taken wrongly."""
    sleeves = {
        part: piece(polygon, one.corners[a], one.corners[b])
        for part, (a, b) in seams(one).items()
        if part.startswith("sleeve")
    }
    if len(sleeves) < 2:
        return ""
    for measure, most in ((signed_area, ALIKE), (_reach, REACHES)):
        small, large = sorted(sleeves, key=lambda part: measure(sleeves[part]))
        if measure(sleeves[large]) > most * measure(sleeves[small]):
            name = small.replace("_", " ")
            return f"the {name} is much smaller than the other: spread it out, or name its armpit and shoulder"
    at = {name: point_at(polygon, place) for name, place in one.corners.items()}
    differ = 0.0
    for a, b in (("armpit", "shoulder"), ("shoulder", "neck")):
        ends = [(at.get(f"{a}_{side}"), at.get(f"{b}_{side}")) for side in ("left", "right")]
        lengths = [max(float(np.linalg.norm(p - q)), 1e-9) for p, q in ends if p is not None and q is not None]
        differ += abs(float(np.log(lengths[0] / lengths[1]))) if len(lengths) == 2 else 0.0
    if differ > LOPSIDED:
        return "its two shoulders differ much: lay it out evenly, or name the armpit and shoulder of each side"
    return ""


def _reach(sleeve: Floats) -> float:
    """How far a sleeve reaches beyond its seam, from its last point to its first."""
    seam = sleeve[-1] - sleeve[0]
    away = (sleeve - sleeve[0]) @ np.array([-seam[1], seam[0]])
    return float(np.abs(away).max()) / max(float(np.linalg.norm(seam)), 1e-9)


def _clock(up: Floats) -> str:
    """A direction in the picture, in words."""
    names = ("to the right", "at the upper right", "up", "at the upper left", "to the left", "at the lower left",
             "down", "at the lower right")  # fmt: skip
    return names[round(float(np.degrees(np.arctan2(up[1], up[0]))) / 45) % 8]
