"""The spatial And-Or graph of clothes, as data: which corners and edges follow each other round an outline.

A rule is an Or-node: alternatives with their probabilities. An alternative is an And-node: what it produces stands in
order round the outline, counter-clockwise seen with the neck up, as ``edge corner edge corner .. edge`` between two
corners; an edge that has a rule of its own is produced in its turn. ``<`` produces the mirror image: backwards, with
``right`` for ``left``. Corners have a place, and edges a shape, in the frame of the garment: its centre, its own
axis, the root of its area as the unit. The places are those of the garment templates (`styles`), with more room for
what lies less neatly on a table; the probabilities are ours.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["CORNERS", "EDGES", "KINDS", "RULES", "Alternative", "Corner", "Edge", "Kind"]


@dataclass(frozen=True)
class Corner:
    """Where a corner of the right half lies, how far off it may lie, and how much the outline turns there."""

    x: float
    y: float
    spread_x: float
    spread_y: float
    turn: float
    """Degrees; negative where the outline is hollow."""
    turn_spread: float
    odd: float = 4.0
    """What another turn costs at most."""


@dataclass(frozen=True)
class Edge:
    """How far the outline goes beyond the straight line between two corners, outwards and inwards."""

    outwards: float
    inwards: float
    spread: float
    fill: float = 0.0
    """The share of the box round it that a hollow fills: half for a V; 0: it does not matter."""
    wider: float = 0.0
    """How much longer it is than the places of its corners say."""


@dataclass(frozen=True)
class Alternative:
    """One way to produce a part of the outline: an And-node and its probability."""

    probability: float
    produces: str


@dataclass(frozen=True)
class Kind:
    """A kind of garment: its probability, its whole outline from one corner round to the same, its corners."""

    probability: float
    produces: str
    corners: str


RULES: dict[str, dict[str, Alternative]] = {
    "yoke": {
        "set-in sleeve": Alternative(0.74, "under cuff_bottom_right cuff cuff_top_right top shoulder_right slope"),
        "raglan sleeve": Alternative(0.05, "under cuff_bottom_right cuff cuff_top_right raglan"),
        "bent sleeve": Alternative(0.05, "under cuff_bottom_right cuff cuff_top_right top shoulder_right slope"),
        "tucked sleeve": Alternative(
            0.02, "under cuff_bottom_right cuff cuff_top_right top notch_right brim shoulder_right slope"
        ),
        "hidden sleeve": Alternative(0.05, "rest rim_right top shoulder_right slope"),
        "no sleeve": Alternative(0.09, "armhole shoulder_right slope"),
    },
    "neck": {
        "round neck": Alternative(0.40, "neck_round"),
        "V neck": Alternative(0.15, "neck_v"),
        "closed neck": Alternative(0.35, "neck_closed"),
        "collar": Alternative(0.10, "neck_collar"),
    },
    "scoop": {"round neck": Alternative(0.7, "scoop_round"), "V neck": Alternative(0.3, "scoop_v")},
    "hood": {"hood up": Alternative(0.7, "hood_up"), "hood spread": Alternative(0.3, "hood_spread")},
    "hem": {
        "straight hem": Alternative(0.65, "hem_straight"),
        "curved hem": Alternative(0.15, "hem_curved"),
        "flared hem": Alternative(0.20, "hem_flared"),
    },
}

_SHIRT = "waist_left hem waist_right side armpit_right yoke neck_right {} neck_left <yoke armpit_left side waist_left"

KINDS: dict[str, Kind] = {
    "tshirt": Kind(0.37, _SHIRT.format("neck"), "short"),
    "longsleeve": Kind(0.23, _SHIRT.format("neck"), "long"),
    "hoodie": Kind(0.15, _SHIRT.format("hood"), "hooded"),
    "sleeveless": Kind(
        0.05,
        "waist_left hem waist_right side armpit_right armhole shoulder_right slope neck_right neck "
        "neck_left slope shoulder_left armhole armpit_left side waist_left",
        "wide",
    ),
    "tanktop": Kind(
        0.08,
        "waist_left hem waist_right side armpit_right strap_hole shoulder_right strap neck_right scoop "
        "neck_left strap shoulder_left strap_hole armpit_left side waist_left",
        "straps",
    ),
    "trousers": Kind(
        0.12,
        "ankle_left cuff knee_left inseam crotch inseam knee_right cuff ankle_right outseam waist_right belt "
        "waist_left outseam ankle_left",
        "legs",
    ),
}

EDGES: dict[str, Edge] = {
    "hem_straight": Edge(0.02, 0.01, 0.025),
    "hem_curved": Edge(0.06, 0.00, 0.03),
    "hem_flared": Edge(0.02, 0.01, 0.025, wider=0.18),
    "side": Edge(0.01, 0.02, 0.025),
    "under": Edge(0.005, 0.005, 0.02),
    "cuff": Edge(0.015, 0.005, 0.025),
    "top": Edge(0.01, 0.015, 0.02),
    "slope": Edge(0.015, 0.005, 0.015),
    "brim": Edge(0.005, 0.01, 0.02),
    "rest": Edge(0.015, 0.01, 0.02),
    "raglan": Edge(0.01, 0.01, 0.02),
    "armhole": Edge(0.01, 0.03, 0.03),
    "strap_hole": Edge(0.00, 0.07, 0.03),
    "strap": Edge(0.00, 0.00, 0.02),
    "neck_round": Edge(0.00, 0.11, 0.04, fill=0.70),
    "neck_v": Edge(0.00, 0.13, 0.04, fill=0.50),
    "neck_closed": Edge(0.01, 0.01, 0.02),
    "neck_collar": Edge(0.05, 0.00, 0.03),
    "scoop_round": Edge(0.00, 0.27, 0.05, fill=0.70),
    "scoop_v": Edge(0.00, 0.27, 0.05, fill=0.50),
    "hood_up": Edge(0.40, 0.00, 0.08),
    "hood_spread": Edge(0.20, 0.00, 0.06),
    "inseam": Edge(0.01, 0.01, 0.03),
    "outseam": Edge(0.05, 0.01, 0.04),
    "belt": Edge(0.00, 0.03, 0.03),
}

CORNERS: dict[str, dict[str, Corner]] = {
    "short": {
        "waist": Corner(0.41, -0.57, 0.08, 0.08, 85, 22),
        "armpit": Corner(0.40, 0.13, 0.06, 0.09, -70, 28),
        "cuff_bottom": Corner(0.51, 0.12, 0.08, 0.10, 58, 32),
        "cuff_top": Corner(0.62, 0.34, 0.08, 0.10, 85, 25),
        "notch": Corner(0.42, 0.38, 0.06, 0.08, -65, 16, 12.0),
        "rim": Corner(0.48, 0.40, 0.08, 0.09, 65, 35),
        "shoulder": Corner(0.37, 0.48, 0.07, 0.07, 12, 18),
        "neck": Corner(0.15, 0.55, 0.06, 0.07, 35, 35),
        "cuff_bottom@bent sleeve": Corner(0.46, 0.10, 0.06, 0.09, 60, 40),
        "cuff_top@bent sleeve": Corner(0.53, 0.20, 0.07, 0.10, 80, 35),
        "shoulder@bent sleeve": Corner(0.40, 0.45, 0.06, 0.07, 50, 25),
        "shoulder@tucked sleeve": Corner(0.41, 0.46, 0.05, 0.07, 65, 18, 12.0),
    },
    "long": {
        "waist": Corner(0.38, -0.48, 0.06, 0.07, 85, 25),
        "armpit": Corner(0.40, 0.13, 0.06, 0.08, -90, 35),
        "cuff_bottom": Corner(0.78, -0.29, 0.14, 0.16, 80, 35),
        "cuff_top": Corner(0.89, -0.21, 0.13, 0.16, 80, 35),
        "notch": Corner(0.42, 0.36, 0.06, 0.08, -65, 16, 12.0),
        "rim": Corner(0.46, 0.38, 0.08, 0.09, 65, 35),
        "shoulder": Corner(0.36, 0.46, 0.06, 0.06, 20, 30),
        "neck": Corner(0.13, 0.51, 0.05, 0.06, 40, 35),
        "cuff_bottom@bent sleeve": Corner(0.47, -0.42, 0.10, 0.16, 80, 35),
        "cuff_top@bent sleeve": Corner(0.58, -0.38, 0.10, 0.16, 80, 35),
        "shoulder@bent sleeve": Corner(0.38, 0.44, 0.06, 0.06, 50, 25),
        "shoulder@tucked sleeve": Corner(0.39, 0.45, 0.05, 0.06, 65, 18, 12.0),
    },
    "hooded": {
        "waist": Corner(0.35, -0.49, 0.06, 0.07, 85, 25),
        "armpit": Corner(0.38, 0.01, 0.06, 0.08, -90, 35),
        "cuff_bottom": Corner(0.76, -0.40, 0.14, 0.16, 80, 35),
        "cuff_top": Corner(0.85, -0.33, 0.13, 0.16, 80, 35),
        "notch": Corner(0.40, 0.22, 0.06, 0.08, -65, 16, 12.0),
        "rim": Corner(0.43, 0.23, 0.08, 0.09, 65, 35),
        "shoulder": Corner(0.34, 0.31, 0.06, 0.06, 20, 30),
        "neck": Corner(0.13, 0.38, 0.05, 0.05, -70, 30),
        "cuff_bottom@bent sleeve": Corner(0.45, -0.50, 0.10, 0.16, 80, 35),
        "cuff_top@bent sleeve": Corner(0.55, -0.47, 0.10, 0.16, 80, 35),
        "shoulder@bent sleeve": Corner(0.36, 0.29, 0.06, 0.06, 50, 25),
        "shoulder@tucked sleeve": Corner(0.37, 0.30, 0.05, 0.06, 65, 18, 12.0),
    },
    "wide": {
        "waist": Corner(0.45, -0.55, 0.08, 0.08, 87, 20),
        "armpit": Corner(0.42, 0.06, 0.06, 0.08, -15, 20),
        "shoulder": Corner(0.51, 0.44, 0.06, 0.09, 70, 20),
        "neck": Corner(0.17, 0.58, 0.06, 0.07, 35, 30),
    },
    "straps": {
        "waist": Corner(0.46, -0.57, 0.06, 0.07, 85, 25),
        "armpit": Corner(0.45, 0.25, 0.05, 0.08, 60, 30),
        "shoulder": Corner(0.27, 0.75, 0.05, 0.06, 85, 25),
        "neck": Corner(0.15, 0.75, 0.05, 0.06, 85, 25),
    },
    "legs": {
        "ankle": Corner(0.40, -0.73, 0.07, 0.08, 85, 25),
        "knee": Corner(0.11, -0.76, 0.06, 0.08, 85, 25),
        "crotch": Corner(0.00, 0.32, 0.05, 0.09, -160, 30),
        "waist": Corner(0.31, 0.72, 0.06, 0.07, 85, 30),
    },
}
"""By the table that a kind names: the corners of the right half; those of the left are their mirror images.

``corner@alternative`` is where a corner lies if that alternative produced it.
"""
