"""The six garment templates: a style becomes simple polygons that share their seams exactly and do not overlap.

Coordinates are centimetres, x to the right, y up, the middle of the hem (trousers: of the waist) at x = 0; left and
right are the picture's. Every polygon runs counter-clockwise. Parts that are sewn together use the very same points, so
that the outline of the whole is what remains when every edge that occurs in both directions is struck out.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from meip.worlds.folding.cloth import Part, Point
from meip.worlds.folding.styles import (
    HoodieStyle,
    LongsleeveStyle,
    ShirtStyle,
    Style,
    SweaterStyle,
    TanktopStyle,
    TrousersStyle,
)

__all__ = ["Point", "draw", "logo_corners", "mirrored"]


def mirrored(points: Sequence[Point]) -> tuple[Point, ...]:
    """The mirror image in the vertical axis, turned round so that it runs the same way."""
    return tuple((-x, y) for x, y in reversed(points))


def draw(style: Style) -> list[Part]:
    """The parts of this garment, the body (trousers: the right leg) first."""
    return _DRAW[style.template](style)


def logo_corners(style: Style) -> tuple[Point, ...]:
    """The square logo's corners, counter-clockwise; empty where there is none."""
    if style.logo_size < 4:
        return ()
    half = style.logo_size / 2
    if isinstance(style, TrousersStyle):
        x, y = style.waist * (0.25 + style.logo_offset / 2), -style.rise * (1 - style.logo_height)
    else:
        shirt = cast(ShirtStyle, style)
        x, y = shirt.chest * style.logo_offset, shirt.length * style.logo_height
    return ((x - half, y - half), (x + half, y - half), (x + half, y + half), (x - half, y + half))


def _towards(start: Point, length: float, degrees: float) -> Point:
    """The point this far from start, on a ray that falls so many degrees below the horizontal."""
    a = math.radians(degrees)
    return (start[0] + length * math.cos(a), start[1] - length * math.sin(a))


def _neckline(half: float, y: float, depth: float, corners: int) -> tuple[Point, ...]:
    """Corners of half an ellipse between the neck points, from right to left, neck points left out."""
    angles = [math.pi * i / (corners + 1) for i in range(1, corners + 1)]
    return tuple((half * math.cos(a) if 2 * a != math.pi else 0.0, y - depth * math.sin(a)) for a in angles)


@dataclass(frozen=True)
class _Frame:
    """The points of the right half of a shirt's body, which sleeves and hood are sewn to."""

    hem: tuple[Point, ...]
    armpit: Point
    shoulder: Point
    neck: Point
    neckline: tuple[Point, ...]


def _frame(style: ShirtStyle) -> _Frame:
    neck = (style.neck_width / 2, style.length)
    reach = style.chest * style.shoulder / 2
    shoulder = (reach, style.length - (reach - neck[0]) * math.tan(math.radians(style.slope)))
    armpit = (style.chest / 2, shoulder[1] - style.armhole)
    wide = style.chest * style.hem / 2
    hem: tuple[Point, ...] = ((wide, 0.0),)
    if isinstance(style, SweaterStyle):
        hem = ((wide * style.hem_gather, 0.0), (wide, style.rib))
    neckline = _neckline(neck[0], neck[1], style.neck_depth, style.neck_points)
    return _Frame(hem, armpit, shoulder, neck, neckline)


def _body(frame: _Frame, collar: str) -> Part:
    right = (*frame.hem, frame.armpit, frame.shoulder, frame.neck)
    points = (*right, *frame.neckline, *mirrored(right))
    side, across = len(frame.hem), len(frame.neckline) + 1
    half = ("outline",) * side + ("seam", "outline")
    return Part("body", points, (*half, *(collar,) * across, *reversed(half), "outline"))


def _sleeves(frame: _Frame, lower: Sequence[Point], upper: Sequence[Point]) -> list[Part]:
    """Both sleeves: lower edge outwards from the armpit, then the upper edge back to the shoulder."""
    points = (frame.armpit, *lower, *upper, frame.shoulder)
    tags = ("outline",) * (len(points) - 1) + ("seam",)
    return [Part("sleeve_left", mirrored(points), _turned(tags)), Part("sleeve_right", points, tags)]


def _across(top: Point, width: float, degrees: float) -> Point:
    """The other end of an opening of this width, at a right angle to a sleeve that falls by these degrees."""
    return _towards(top, width, degrees + 90)


def _tshirt(style: Style) -> list[Part]:
    shirt = cast(ShirtStyle, style)
    frame = _frame(shirt)
    top = _towards(frame.shoulder, shirt.sleeve, shirt.sleeve_angle)
    return [_body(frame, "neck"), *_sleeves(frame, [_across(top, shirt.cuff, shirt.sleeve_angle)], [top])]


def _longsleeve(style: Style) -> list[Part]:
    shirt = cast(LongsleeveStyle, style)
    frame = _frame(shirt)
    forearm = shirt.sleeve_angle + shirt.elbow
    elbow = _towards(frame.shoulder, shirt.sleeve / 2, shirt.sleeve_angle)
    wrist = _towards(elbow, shirt.sleeve / 2, forearm)
    opening = _across(wrist, shirt.cuff, forearm)
    # The lower edge bends at its middle, by the elbow's angle, towards the upper edge.
    (x, y), (dx, dy) = frame.armpit, (opening[0] - frame.armpit[0], opening[1] - frame.armpit[1])
    bend = math.tan(math.radians(shirt.elbow / 2)) / 2
    inner = (x + dx / 2 - bend * dy, y + dy / 2 + bend * dx)
    return [_body(frame, "neck"), *_sleeves(frame, [inner, opening], [wrist, elbow])]


def _gathered(frame: _Frame, shirt: SweaterStyle) -> list[Part]:
    """Straight sleeves that end in a narrower ribbing."""
    fall = shirt.sleeve_angle
    top = _towards(frame.shoulder, shirt.sleeve, fall)
    bottom = _across(top, shirt.cuff, fall)
    inset = shirt.cuff * (1 - shirt.cuff_gather) / 2
    rib_top = _across(_towards(top, shirt.rib, fall), inset, fall)
    rib_bottom = _across(rib_top, shirt.cuff * shirt.cuff_gather, fall)
    return _sleeves(frame, [bottom, rib_bottom], [rib_top, top])


def _sweater(style: Style) -> list[Part]:
    shirt = cast(SweaterStyle, style)
    frame = _frame(shirt)
    return [_body(frame, "neck"), *_gathered(frame, shirt)]


def _hoodie(style: Style) -> list[Part]:
    shirt = cast(HoodieStyle, style)
    frame = _frame(shirt)
    x, y = shirt.hood_width / 2, shirt.length
    right = (frame.neck, (x, y + 0.42 * shirt.hood_height), (x * shirt.hood_top, y + shirt.hood_height))
    points = (*right, *mirrored(right), *reversed(frame.neckline))
    tags = ("outline",) * 5 + ("seam",) * (len(points) - 5)
    return [_body(frame, "seam"), *_gathered(frame, shirt), Part("hood", points, tags)]


def _tanktop(style: Style) -> list[Part]:
    top = cast(TanktopStyle, style)
    outer = (top.chest * top.straps_apart / 2, top.length)
    inner = (outer[0] - top.strap, top.length)
    armpit = (top.chest / 2, top.length - top.armhole)
    steps = [math.pi / 2 * i / (top.armhole_points + 0.5) for i in range(1, top.armhole_points + 1)]
    # A quarter of an ellipse around (armpit x, strap top): horizontal at the armpit, vertical along the strap.
    hole = [
        (armpit[0] + (outer[0] - armpit[0]) * math.sin(a), outer[1] + (armpit[1] - outer[1]) * math.cos(a))
        for a in steps
    ]
    right = ((top.chest * top.hem / 2, 0.0), armpit, *hole, outer, inner)
    neckline = _neckline(inner[0], top.length, top.neck_depth, top.neck_points)
    half = ("outline",) * (len(right) - 1)
    points = (*right, *neckline, *mirrored(right))
    return [Part("body", points, (*half, *("neck",) * (len(neckline) + 1), *half, "outline"))]


def _trousers(style: Style) -> list[Part]:
    cut = cast(TrousersStyle, style)
    middle, crotch = (0.0, -cut.waist_dip), (0.0, -cut.rise)
    inside = (cut.inseam * math.tan(math.radians(cut.splay)), -cut.rise - cut.inseam)
    ankle = _towards(inside, cut.ankle, -cut.splay)
    hip = (cut.waist * cut.hip / 2, -0.72 * cut.rise)
    right = (middle, crotch, inside, ankle, hip, (cut.waist / 2, 0.0))
    tags = ("seam", *("outline",) * 5)
    return [Part("leg_right", right, tags), Part("leg_left", mirrored(right), _turned(tags))]


def _turned(tags: Sequence[str]) -> tuple[str, ...]:
    """The tags of a mirrored piece: vertex i of the mirror image is vertex n-1-i, so its edge is edge n-2-i."""
    n = len(tags)
    return tuple(tags[(n - 2 - i) % n] for i in range(n))


_DRAW: dict[str, Callable[[Style], list[Part]]] = {
    "tshirt": _tshirt,
    "longsleeve": _longsleeve,
    "sweater": _sweater,
    "hoodie": _hoodie,
    "tanktop": _tanktop,
    "trousers": _trousers,
}
