"""The likeliest derivation of an outline, how sure it is, and the second best.

Every kind of garment is tried in every direction. Derivations that mean the same (the axis within 25 degrees, the
same arms and legs) add up: the meaning with the largest share is taken, and that share is how sure the parse is. How
likely an alternative of an Or-node is, is told by the cheapest ways round with each of its alternatives; those with
another sleeve on a side, which may mean something else, count among the derivations. The second best is the likeliest
derivation that means something else; if nothing else is likely at all, the likeliest with another alternative.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import WorldError, did_you_mean
from meip.worlds.folding.chart import CORNER_GAIN, EDGE_CAP, Ring, cheapest_way, network, ring_of
from meip.worlds.folding.grammar import KINDS, RULES

__all__ = ["PLAIN", "Derivation", "derive", "seams"]

PLAIN = "plain"
"""What is no kind of the grammar: one polygon."""
STEP = 10.0  # degrees between the directions that are tried
TEMPERATURE = 3.0  # the terms of a cost are not independent: a sum of them is worth less
SAME_AXIS, SAME_PART = np.cos(np.radians(25.0)), 0.6
COUNTS = 1e-3  # a derivation this much less likely than the best does not count
LIKELY = 0.05  # less likely meanings are named as the second best only where no alternative is likelier
NEAR = 0.08  # a corner that was pointed at is this near (in root areas)
BLUNT = ("shoulder_left", "shoulder_right")
"""Corners at which the outline hardly turns: their place is a mean over the derivations that mean the same."""
COMPARED = 30.0  # what an odd edge costs at most where alternatives of a node are compared
GUIDED = 35.0  # degrees by which a direction that was given may be off


@dataclass(frozen=True, eq=False)
class Derivation:
    """One way to derive an outline from the grammar."""

    kind: str
    up: Floats  # [2] unit vector
    corners: dict[str, float]
    """Places on the polygon by name."""
    choices: dict[str, str]
    """The alternative that was taken, by rule (with its side)."""
    turns: dict[str, float]
    """How much the outline turns at each corner, in degrees."""
    cost: float
    probability: float = 1.0
    odds: dict[str, dict[str, float]] = field(default_factory=dict)
    """By node: how likely each of its alternatives is, among the derivations that mean the same."""


def derive(
    polygon: Floats, *, kind: str | None = None, up: float | None = None, keypoints: Mapping[str, Floats] | None = None
) -> list[Derivation]:
    """The likeliest derivation of a simple polygon (counter-clockwise, y up), and the second best if there is one.

    `up` is the direction of the neck in radians, if it is known; `keypoints` are corners that somebody pointed at.
    """
    if kind is not None and kind not in KINDS and kind != PLAIN:
        raise WorldError(f"no kind of garment is called {kind!r}; {did_you_mean(kind, [*KINDS, PLAIN])}")
    corners = sorted({name for one in KINDS for name in network(one).states})
    for name in keypoints or {}:
        if name not in corners:
            raise WorldError(f"no corner is called {name!r}; {did_you_mean(name, corners)}")
    ring = ring_of(polygon)
    pointed = _pointed(ring, keypoints or {})
    directions = np.radians(np.arange(0, 360, STEP))
    if up is not None:
        directions = directions[np.cos(directions - up) > np.cos(np.radians(GUIDED))]
    kinds = [k for k in KINDS if kind in (None, k)]
    found: list[Derivation] = []
    for k in kinds:
        found += _derivations(ring, k, directions, pointed, min((one.cost for one in found), default=np.inf))
    if not found:
        if kinds and (kind is not None or pointed):
            raise WorldError(f"the outline cannot be read as {kind or 'a garment with these keypoints'}")
        upwards = np.array([np.cos(up), np.sin(up)]) if up is not None else np.array([0.0, 1.0])
        return [Derivation(PLAIN, upwards, {}, {}, {}, 0.0, float(kind == PLAIN))]
    first, *others = _shares(ring, [*found, *_variants(ring, found, pointed)])
    first, variant = _weighed(ring, first, pointed)
    if variant is not None and all(other.probability < LIKELY for other in others):
        others = [variant]
    return [first, *others]


def _pointed(ring: Ring, keypoints: Mapping[str, Floats]) -> dict[str, Floats]:
    """For each keypoint the ring's places near it, as a mask [N]."""
    near = {}
    for name, point in keypoints.items():
        gaps = np.linalg.norm(ring.points - (np.asarray(point) - ring.centre) / ring.unit, axis=1)
        near[name] = gaps <= max(NEAR, float(gaps.min()) * 1.01)
    return near


def _derivations(
    ring: Ring, kind: str, directions: Floats, pointed: Mapping[str, Floats], cheapest: float
) -> list[Derivation]:
    """The likeliest derivation of this kind in each direction, without those that are too unlikely to count."""
    found: list[Derivation] = []
    for angle in directions:
        least = min([cheapest, *(one.cost for one in found)])
        one = _derivation(ring, kind, float(angle), pointed, limit=least - TEMPERATURE * float(np.log(COUNTS)))
        found += [] if one is None else [one]
    return found


def _derivation(
    ring: Ring,
    kind: str,
    angle: float,
    pointed: Mapping[str, Floats],
    taken: tuple[str, str] | None = None,
    limit: float = np.inf,
    cap: float = COMPARED,
) -> Derivation | None:
    """The likeliest derivation of this kind in this direction, if it costs less than the limit.

    With one alternative of one node `taken`.
    """
    net = network(kind)
    by_kind = (CORNER_GAIN - 2.0) * (net.usual - 8) - float(np.log(KINDS[kind].probability))
    if any(name not in net.states for name in pointed):
        return None
    allowed = np.array([pointed.get(name, np.ones(len(ring.at), bool)) for name in net.states], dtype=np.bool_)
    if taken is None:
        cost, at, by = cheapest_way(ring, net, angle, allowed, limit=limit - by_kind)
    else:
        node, wanted = taken
        barred = np.array([any(n == node and a != wanted for n, a in begins) for begins in net.choices])
        cost, at, by = cheapest_way(ring, net, angle, allowed, barred, cap, limit - by_kind)
    if np.isinf(cost):
        return None
    places = {net.states[s]: int(at[s]) for s in range(len(at) - 1) if at[s] >= 0}
    if any(name not in places for name in pointed):
        return None
    return Derivation(
        kind,
        np.array([np.cos(angle), np.sin(angle)]),
        {name: float(ring.at[i]) for name, i in places.items()},
        dict(choice for t in by if t >= 0 for choice in net.choices[t]),
        {name: float(ring.turn[i]) for name, i in places.items()},
        cost + by_kind,
    )


def _variants(ring: Ring, found: list[Derivation], pointed: Mapping[str, Floats]) -> list[Derivation]:
    """The likeliest derivations that mean something else, in the same directions: with another sleeve on a side."""
    least = min(one.cost for one in found)
    limit = least - TEMPERATURE * float(np.log(COUNTS))
    ways = []
    for one in found:
        if one.cost < limit:
            angle = float(np.arctan2(one.up[1], one.up[0]))
            ways += [
                _derivation(ring, one.kind, angle, pointed, (node, name), limit=limit, cap=EDGE_CAP)
                for node, chosen in one.choices.items()
                for name in RULES[node.partition("_")[0]]
                if name != chosen and node.startswith("yoke")
            ]
    return [way for way in ways if way is not None]


def _weighed(ring: Ring, one: Derivation, pointed: Mapping[str, Floats]) -> tuple[Derivation, Derivation | None]:
    """A derivation with the odds of all alternatives of its nodes, and the likeliest that differs from it in one."""
    angle = float(np.arctan2(one.up[1], one.up[0]))
    odds, variants = dict(one.odds), []
    for node, chosen in one.choices.items():
        ways = {
            name: way
            for name in RULES[node.partition("_")[0]]
            if (way := _derivation(ring, one.kind, angle, pointed, (node, name))) is not None
        }
        least = ways[chosen].cost
        share = np.exp([(least - max(way.cost, least)) / TEMPERATURE for way in ways.values()])
        odds[node] = dict(zip(ways, (share / share.sum()).tolist(), strict=True))
        variants += [replace(way, probability=odds[node][name]) for name, way in ways.items() if name != chosen]
    return replace(one, odds=odds), max(variants, key=lambda way: way.probability, default=None)


def _shares(ring: Ring, found: list[Derivation]) -> list[Derivation]:
    """The meaning with the largest share, and the likeliest other one, with their probabilities."""
    found = sorted(found, key=lambda one: one.cost)[:200]
    share = np.exp(-(np.array([one.cost for one in found]) - found[0].cost) / TEMPERATURE)
    kept = share > COUNTS
    found, share = [one for one, k in zip(found, kept, strict=True) if k], share[kept] / share[kept].sum()
    same = _same(ring, found)
    mass = same @ share
    first = int(np.argmax(same[np.argmax(mass)]))  # the likeliest of those that mean so: they are sorted by cost
    others = np.nonzero(~same[first])[0]
    chosen = [first, *([int(others[0])] if len(others) else [])]
    return [_with_odds(ring, found, share, same[k], k, float(mass[k])) for k in chosen]


def _same(ring: Ring, found: list[Derivation]) -> Floats:
    """[D, D] Do two derivations mean the same: the axis, and the parts that stand out?"""
    steps = np.linalg.norm(np.roll(ring.points, -1, axis=0) - ring.points, axis=1)
    parts = np.array([_parts(ring, one) for one in found]) * steps  # [D, 3, N]
    both = np.minimum(parts[:, None], parts[None]).sum(axis=-1)
    either = np.maximum(parts[:, None], parts[None]).sum(axis=-1)
    alike = np.where(either > 0, both / np.maximum(either, 1e-9), 1.0).min(axis=-1) > SAME_PART
    ups = np.array([one.up for one in found])
    return np.asarray((ups @ ups.T > SAME_AXIS) & alike)


def _parts(ring: Ring, one: Derivation) -> Floats:
    """[3, N] The places on the left and the right sleeve or leg, and on the hood."""
    n = len(ring.at)
    index = {name: int(np.searchsorted(ring.at, place)) for name, place in one.corners.items()}
    marks = np.zeros((3, n))
    for part, (a, b) in seams(one).items():
        first, last = (index["waist_left" if end == "belt" else end] for end in (a, b))
        row = 2 if part == "hood" else int(part.endswith("_right"))
        marks[row, (first + np.arange((last - first) % n)) % n] = 1.0
    return marks


def seams(one: Derivation) -> dict[str, tuple[str, str]]:
    """The two corners between which each part is cut off, in the order in which the part lies between them."""
    found = {}
    for side in ("left", "right"):
        if one.choices.get(f"yoke_{side}", "no sleeve") != "no sleeve":
            top = next(name for stem in ("notch", "shoulder", "neck") if (name := f"{stem}_{side}") in one.corners)
            bottom = f"armpit_{side}"
            found[f"sleeve_{side}"] = (bottom, top) if side == "right" else (top, bottom)
    if "hood" in one.choices:
        found["hood"] = ("neck_right", "neck_left")
    if "crotch" in one.corners:
        found["leg_left"], found["leg_right"] = ("belt", "crotch"), ("crotch", "belt")
    return found


def _with_odds(ring: Ring, found: list[Derivation], share: Floats, same: Floats, k: int, mass: float) -> Derivation:
    """One derivation with its share, how likely each kind is among those that mean the same, and blunt corners."""
    one = found[k]
    alike = [(other, float(p)) for other, p, s in zip(found, share, same, strict=True) if s]
    kinds: dict[str, float] = {}
    for other, p in alike:
        kinds[other.kind] = kinds.get(other.kind, 0.0) + p / max(mass, 1e-12)
    among = [(other, p) for other, p in alike if other.kind == one.kind]
    corners = one.corners | {name: _mean_place(ring, name, one, among) for name in one.corners if name in BLUNT}
    return replace(one, corners=corners, probability=min(mass, 1.0), odds={"cloth": kinds})


def _mean_place(ring: Ring, name: str, one: Derivation, among: list[tuple[Derivation, float]]) -> float:
    """The mean place of a corner over derivations, along the ring, near that of one of them."""
    steps = np.linalg.norm(np.roll(ring.points, -1, axis=0) - ring.points, axis=1)
    start = np.concatenate([[0.0], np.cumsum(steps)])

    def beyond(place: Floats) -> Floats:
        gap = place - start[np.searchsorted(ring.at, one.corners[name])]
        return np.asarray((gap + start[-1] / 2) % start[-1] - start[-1] / 2)

    others = [
        (float(start[np.searchsorted(ring.at, other.corners[name])]), p) for other, p in among if name in other.corners
    ]
    places, weights = np.array(others).T
    mean = float(beyond(places) @ weights / weights.sum())
    return float(ring.at[np.argmin(np.abs(beyond(start[:-1]) - mean))])
