"""The style parameters of the six garment templates: what may vary, by how much, and what it means.

Lengths are centimetres, angles degrees. Each field carries its range; `random_style` draws every parameter uniformly
from it and rejects the few draws whose pieces would touch, so that hundreds of different garments can be made.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any, ClassVar, cast

import numpy as np

from meip.base.errors import WorldError, did_you_mean

__all__ = [
    "STYLES", "TEMPLATES", "HoodieStyle", "LongsleeveStyle", "Parameter", "ShirtStyle", "Style", "SweaterStyle",
    "TanktopStyle", "TrousersStyle", "TshirtStyle", "make_style", "parameters", "random_style",
]  # fmt: skip


@dataclass(frozen=True)
class Parameter:
    """One style parameter: default, range and meaning."""

    default: float
    low: float
    high: float
    meaning: str


def _ranged(default: float, low: float, high: float, meaning: str) -> Any:
    return dataclasses.field(default=default, metadata={"range": Parameter(default, low, high, meaning)})


@dataclass(frozen=True)
class Style:
    """What every template has: a logo, which may be absent (size 0)."""

    template: ClassVar[str] = ""

    logo_size: float = _ranged(9, 0, 14, "side of the logo, cm; below 4 there is none")
    logo_height: float = _ranged(0.62, 0.45, 0.66, "height of the logo's centre, as a share of the body's")
    logo_offset: float = _ranged(0, -0.12, 0.12, "sideways shift of the logo, as a share of the chest")

    def problem(self) -> str | None:
        """Why these numbers, each in its range, still make no garment (None: they do)."""
        return None


@dataclass(frozen=True)
class ShirtStyle(Style):
    """A body with two sleeves. The sleeve's top edge starts at the shoulder, its lower edge at the armpit."""

    chest: float = _ranged(52, 44, 64, "width from armpit to armpit, cm")
    hem: float = _ranged(1.0, 0.92, 1.08, "width at the hem, as a share of the chest")
    length: float = _ranged(70, 62, 78, "from the hem to the neck point, cm")
    shoulder: float = _ranged(0.88, 0.8, 0.96, "width between the shoulder points, as a share of the chest")
    slope: float = _ranged(15, 9, 20, "fall of the shoulder line, degrees below the horizontal")
    armhole: float = _ranged(21, 18, 25, "height of the shoulder point above the armpit, cm")
    neck_width: float = _ranged(18, 15, 21, "width of the neckline, cm")
    neck_depth: float = _ranged(9, 6, 13, "depth of the neckline, cm")
    neck_points: int = _ranged(3, 1, 3, "corners of the neckline: 1 is a V, 3 is round")
    sleeve: float = _ranged(22, 17, 27, "length of the sleeve's top edge, cm")
    sleeve_angle: float = _ranged(35, 24, 44, "fall of the sleeve, degrees below the horizontal")
    cuff: float = _ranged(17, 15, 19, "width of the sleeve's opening, cm")

    def problem(self) -> str | None:
        return self._shoulder_problem() or self._armpit_problem(self.sleeve, self.sleeve_angle, self.cuff)

    def _shoulder_problem(self) -> str | None:
        if self.sleeve_angle - self.slope < 9:
            return "the sleeve must fall at least 9 degrees more steeply than the shoulder line, or they are one line"
        return None

    def _armpit_problem(self, reach: float, angle: float, width: float, turn: float = 0.0) -> str | None:
        """The lower edge of the sleeve must leave the body, so that an armpit can be seen.

        `reach` and `angle` lead from the shoulder along the upper edge, `width` across, turned by `turn` degrees.
        """
        a, b = math.radians(angle), math.radians(angle + turn)
        x = self.chest * self.shoulder / 2 + reach * math.cos(a) - width * math.sin(b)
        y = -reach * math.sin(a) - width * math.cos(b) + self.armhole
        outside = x - self.chest / 2
        if outside <= 0 or math.degrees(math.atan2(outside, -y)) < 16:
            return "the sleeve lies on the body: lower sleeve_angle, or take a longer sleeve or a narrower cuff"
        if x < self.chest * max(1.0, self.hem) / 2 + 3:
            return "the cuff lies on the hem: lower sleeve_angle or hem"
        return None


@dataclass(frozen=True)
class TshirtStyle(ShirtStyle):
    """Short straight sleeves."""

    template: ClassVar[str] = "tshirt"


@dataclass(frozen=True)
class LongsleeveStyle(ShirtStyle):
    """Long sleeves with an elbow."""

    template: ClassVar[str] = "longsleeve"

    neck_depth: float = _ranged(8, 6, 12, "depth of the neckline, cm")
    sleeve: float = _ranged(58, 51, 66, "length of the sleeve's top edge, cm")
    sleeve_angle: float = _ranged(45, 32, 54, "fall of the upper arm, degrees below the horizontal")
    elbow: float = _ranged(14, 9, 20, "how much more steeply the forearm falls, degrees")
    cuff: float = _ranged(10.5, 9, 13, "width of the sleeve's opening, cm")

    def problem(self) -> str | None:
        middle, bend = self.sleeve_angle + self.elbow / 2, self.elbow / 2
        return self._shoulder_problem() or self._armpit_problem(self.sleeve, middle, self.cuff, bend)


@dataclass(frozen=True)
class SweaterStyle(ShirtStyle):
    """Wide sleeves gathered by ribbed cuffs, and a ribbed hem."""

    template: ClassVar[str] = "sweater"

    chest: float = _ranged(57, 50, 68, "width from armpit to armpit, cm")
    hem: float = _ranged(1.02, 0.96, 1.08, "width above the ribbing, as a share of the chest")
    length: float = _ranged(67, 60, 75, "from the hem to the neck point, cm")
    armhole: float = _ranged(23, 20, 27, "height of the shoulder point above the armpit, cm")
    neck_depth: float = _ranged(8, 6, 11, "depth of the neckline, cm")
    sleeve: float = _ranged(56, 50, 63, "length of the sleeve's top edge down to the ribbing, cm")
    sleeve_angle: float = _ranged(48, 36, 60, "fall of the sleeve, degrees below the horizontal")
    cuff: float = _ranged(15, 13, 17, "width of the sleeve above the ribbing, cm")
    rib: float = _ranged(6.5, 5, 8, "height of the ribbing at cuffs and hem, cm")
    cuff_gather: float = _ranged(0.6, 0.52, 0.68, "width of the cuff's ribbing, as a share of the sleeve above it")
    hem_gather: float = _ranged(0.9, 0.84, 0.93, "width of the hem's ribbing, as a share of the body above it")


@dataclass(frozen=True)
class HoodieStyle(SweaterStyle):
    """A sweater with a hood, which is a part of its own and lies above the neck."""

    template: ClassVar[str] = "hoodie"

    slope: float = _ranged(18, 13, 24, "fall of the shoulder line, degrees below the horizontal")
    neck_width: float = _ranged(20, 18, 23, "width of the hood's seam, cm")
    neck_depth: float = _ranged(7, 5, 9, "how far the hood's seam dips, cm")
    hood_width: float = _ranged(28, 25, 33, "greatest width of the hood, cm")
    hood_height: float = _ranged(31, 27, 35, "height of the hood, cm")
    hood_top: float = _ranged(0.55, 0.45, 0.65, "width of the hood's top, as a share of its greatest width")

    def problem(self) -> str | None:
        if self.hood_width < self.neck_width + 3:
            return "the hood must be at least 3 cm wider than its seam"
        return super().problem()


@dataclass(frozen=True)
class TanktopStyle(Style):
    """A body with two straps; it has no other part."""

    template: ClassVar[str] = "tanktop"

    logo_height: float = _ranged(0.45, 0.38, 0.5, "height of the logo's centre, as a share of the body's")
    chest: float = _ranged(46, 38, 56, "width from armpit to armpit, cm")
    hem: float = _ranged(1.02, 0.92, 1.12, "width at the hem, as a share of the chest")
    length: float = _ranged(68, 58, 76, "from the hem to the top of the straps, cm")
    strap: float = _ranged(6, 4, 9, "width of the straps, cm")
    straps_apart: float = _ranged(0.62, 0.54, 0.7, "outer distance of the straps, as a share of the chest")
    armhole: float = _ranged(25, 21, 29, "height of the strap's top above the armpit, cm")
    neck_depth: float = _ranged(15, 10, 19, "depth of the neckline, cm")
    neck_points: int = _ranged(3, 2, 3, "corners of the neckline")
    armhole_points: int = _ranged(3, 2, 3, "corners of each armhole")

    def problem(self) -> str | None:
        if self.chest * self.straps_apart - 2 * self.strap < 7:
            return "the straps leave no room for a neck: make them narrower or set them further apart"
        return None


@dataclass(frozen=True)
class TrousersStyle(Style):
    """Two legs, joined by the seam from the waist to the crotch."""

    template: ClassVar[str] = "trousers"

    logo_size: float = _ranged(5, 0, 7, "side of the logo on one hip, cm; below 4 there is none")
    waist: float = _ranged(40, 34, 48, "width at the waist, cm")
    hip: float = _ranged(1.24, 1.14, 1.34, "width at the hip, as a share of the waist")
    rise: float = _ranged(27, 23, 32, "from the waist to the crotch, cm")
    waist_dip: float = _ranged(3, 2.2, 4.5, "how much lower the waist is in the middle, cm")
    inseam: float = _ranged(74, 62, 84, "from the crotch to the hem, cm")
    ankle: float = _ranged(19, 15, 25, "width of a leg at the hem, cm")
    splay: float = _ranged(5, 3.5, 9, "angle of the inner seam to the vertical, degrees")

    def problem(self) -> str | None:
        outer = self.inseam * math.tan(math.radians(self.splay)) + self.ankle
        if outer < 0.4 * self.waist * self.hip:
            return "the legs taper to less than the hip's width lets them: widen ankle or splay"
        above = math.atan2(self.waist * (self.hip - 1) / 2, 0.72 * self.rise)
        below = math.atan2(outer - self.waist * self.hip / 2, self.inseam + 0.28 * self.rise)
        if math.degrees(above - below) < 8:
            return "the hip is no corner: make it wider, or narrow ankle or splay"
        return None


STYLES: dict[str, type[Style]] = {
    cls.template: cls for cls in (TshirtStyle, LongsleeveStyle, SweaterStyle, HoodieStyle, TanktopStyle, TrousersStyle)
}
TEMPLATES: tuple[str, ...] = tuple(STYLES)


def _style_class(template: str) -> type[Style]:
    if template not in STYLES:
        raise WorldError(f"no garment template is called {template!r}; {did_you_mean(template, STYLES)}")
    return STYLES[template]


def parameters(template: str) -> dict[str, Parameter]:
    """The style parameters of a template by name."""
    return {f.name: f.metadata["range"] for f in dataclasses.fields(_style_class(template))}


def make_style(template: str, **values: float) -> Style:
    """A checked style: known names, finite numbers within their ranges, and pieces that do not touch."""
    known = parameters(template)
    for name, value in values.items():
        if name not in known:
            raise WorldError(f"{template} has no style parameter {name!r}; {did_you_mean(name, known)}")
        p = known[name]
        if isinstance(value, bool) or not isinstance(value, int | float) or not p.low <= value <= p.high:
            raise WorldError(f"{template}: {name} = {value!r}: expected {p.low:g} to {p.high:g} ({p.meaning})")
        if isinstance(p.default, int) and name.endswith("_points") and int(value) != value:
            raise WorldError(f"{template}: {name} = {value!r}: expected a whole number")
    style = STYLES[template](**cast(Any, values))
    problem = style.problem()
    if problem is not None:
        raise WorldError(f"{template}: these style parameters do not fit together: {problem}")
    return style


def random_style(template: str, rng: np.random.Generator) -> Style:
    """A style drawn uniformly from the ranges, given that it makes a garment."""
    known = parameters(template)
    while True:  # at least a third of the draws fit, for every template
        values: dict[str, float] = {
            name: int(rng.integers(int(p.low), int(p.high) + 1))
            if name.endswith("_points")
            else float(rng.uniform(p.low, p.high))
            for name, p in known.items()
        }
        style = STYLES[template](**cast(Any, values))
        if style.problem() is None:
            return style
