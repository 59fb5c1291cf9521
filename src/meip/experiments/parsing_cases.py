"""Pictures whose parts are known, for trying the parser on: real outlines and templates as masks at any angle, as they
lie or with a trouble (a sleeve bent to the body or partly under it, wrinkles, halves that differ, a mirror image, a
tilted camera).

A trouble acts on the parts. What of a sleeve can be seen is what sticks out beside the body: a mask shows no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.cloth import Garment, signed_area
from meip.worlds.folding.cvat import LabelledImage, read_cvat
from meip.worlds.folding.planar import inserted, nearest_place

__all__ = ["AS_IT_LIES", "TROUBLES", "Case", "Laid", "drawn", "laid_garment", "laid_outline", "laid_outlines"]

Mask = NDArray[np.uint8]
PIECES = 150  # an outline to be bent has about so many points
LONG = 1.6  # times as long as its seam
GONE = 0.01  # of the shirt's area: a sleeve of which less can be seen is not there
AS_IT_LIES = "as it lies"


@dataclass(frozen=True, eq=False)
class Case:
    """A picture of one garment, the parts that can be seen in it, and where its top is (degrees clockwise from up)."""

    image: Mask
    parts: dict[str, Mask]
    up: float
    gone: tuple[str, ...] = ()
    """Sleeves that it has, and of which nothing is to be seen."""


@dataclass(frozen=True, eq=False)
class Laid:
    """A garment on a table, y up: its parts as polygons, the ends of each sleeve's seam, where its top is."""

    parts: dict[str, Floats]
    seams: dict[str, tuple[Floats, Floats]]
    """By sleeve: shoulder and armpit."""
    up: Floats
    outline: Floats | None = None
    """The real one, where there is one; else that of the parts together."""

    def moved(self, by: Callable[[Floats], Floats]) -> Laid:
        """With all points somewhere else."""
        parts = {name: by(_fine(part)) for name, part in self.parts.items()}
        seams = {name: (by(a[None])[0], by(b[None])[0]) for name, (a, b) in self.seams.items()}
        middle = np.concatenate([*self.parts.values()]).mean(axis=0)
        low, high = by(np.array([middle, middle + 0.1 * self.up]))
        outline = None if self.outline is None else by(_fine(self.outline))
        return Laid(parts, seams, 10 * (high - low), outline)

    def with_part(self, name: str, by: Callable[[Floats], Floats]) -> Laid:
        """With one part somewhere else."""
        return Laid({**self.parts, name: by(self.parts[name])}, self.seams, self.up)


def laid_garment(garment: Garment) -> Laid:
    """A template as it is."""
    points = {part.name: part.polygon for part in garment.parts}
    size = float(np.ptp(np.concatenate([*points.values()]), axis=0).max())
    seams = {}
    for name, polygon in points.items():
        if name.startswith("sleeve"):
            shared = polygon[(np.abs(polygon[:, None] - points["body"][None]).max(axis=2) < 1e-6 * size).any(axis=1)]
            seams[name] = (shared[shared[:, 1].argmax()], shared[shared[:, 1].argmin()])
    return Laid(points, seams, np.array([0.0, 0.1 * size]))


def laid_outlines(path: Path) -> list[Laid | None]:
    """The outlines of a CVAT file, in its order; None where the keypoints of the seams are not all there."""
    return [laid_outline(image) for image in read_cvat(path)]


def laid_outline(image: LabelledImage) -> Laid | None:
    """A labelled outline, cut at the shoulders and armpits; left and right as seen with the neck up."""
    names = [f"{stem}_{side}" for stem in ("shoulder", "armpit", "neck", "waist") for side in ("left", "right")]
    if len(image.polygons) != 1 or any(name not in image.points for name in names):
        return None
    outline: Floats = image.polygons[0] * (1.0, -1.0)
    outline = outline[(outline != np.roll(outline, 1, axis=0)).any(axis=1)]
    marks = {name: image.points[name] * (1.0, -1.0) for name in names}
    polygon, at = inserted(outline, {name: nearest_place(outline, mark)[0] for name, mark in marks.items()})
    n = len(polygon)
    up = (marks["neck_left"] + marks["neck_right"] - marks["waist_left"] - marks["waist_right"]) / 2
    parts, seams = {}, {}
    inner: set[int] = set()
    for side in ("left", "right"):
        a, b = at[f"armpit_{side}"], at[f"shoulder_{side}"]
        away = {at[f"waist_{side}"], at[f"neck_{side}"]}
        ring = [(a + k) % n for k in range((b - a) % n + 1)]
        if away & set(ring[1:-1]):
            ring = [(b + k) % n for k in range((a - b) % n + 1)]
        out = marks[f"shoulder_{side}"] - (marks["shoulder_left"] + marks["shoulder_right"]) / 2
        name = "sleeve_right" if out @ np.array([up[1], -up[0]]) > 0 else "sleeve_left"
        parts[name], seams[name] = polygon[ring], (polygon[b], polygon[a])
        inner |= set(ring[1:-1])
    if len(parts) < 2:
        return None
    body = polygon[[i for i in range(n) if i not in inner]]
    return Laid({"body": body, **parts}, seams, up, polygon)


Trouble = Callable[[Laid, np.random.Generator], Laid]


def _turn(points: Floats, about: Floats, degrees: float) -> Floats:
    a = np.radians(degrees)
    turned: Floats = (points - about) @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) + about
    return turned


def _one_sleeve(laid: Laid, rng: np.random.Generator) -> tuple[str, Floats, Floats, float]:
    """A sleeve at random, the ends of its seam, and which way round (in degrees) is towards the body's side."""
    name = sorted(laid.seams)[int(rng.integers(len(laid.seams)))]
    shoulder, armpit = laid.seams[name]
    return name, shoulder, armpit, 1.0 if name == "sleeve_left" else -1.0


def _bent(laid: Laid, rng: np.random.Generator) -> Laid:
    """A sleeve turned towards the body: all of it at the shoulder, or a long one at the elbow (either way)."""
    name, shoulder, armpit, way = _one_sleeve(laid, rng)
    sleeve, middle = laid.parts[name], (shoulder + armpit) / 2
    gaps = np.linalg.norm(sleeve - middle, axis=1)
    tip = sleeve[gaps >= 0.9 * gaps.max()].mean(axis=0)
    if gaps.max() < LONG * np.linalg.norm(shoulder - armpit) or rng.random() < 0.5:
        angle = way * rng.uniform(20, 60)
        return laid.with_part(name, lambda points: _turn(points, shoulder, angle))
    elbow, angle = (middle + tip) / 2, rng.uniform(25, 70) * rng.choice([-1.0, 1.0])

    def by(points: Floats) -> Floats:
        points = _fine(points)
        beyond = np.clip(((points - elbow) @ (tip - middle)) / ((tip - middle) @ (tip - middle)) / 0.3 + 0.5, 0, 1)
        turned = [_turn(point[None], elbow, angle * share)[0] for point, share in zip(points, beyond, strict=True)]
        return np.array(turned)

    return laid.with_part(name, by)


def _under(laid: Laid, rng: np.random.Generator) -> Laid:
    """A sleeve pushed under the body, by up to two thirds of its length."""
    name, shoulder, armpit, _ = _one_sleeve(laid, rng)
    seam = armpit - shoulder
    across = np.array([seam[1], -seam[0]]) / max(float(np.linalg.norm(seam)), 1e-9)
    reach = (laid.parts[name] - shoulder) @ across
    push = rng.uniform(0.25, 0.65) * reach[np.abs(reach).argmax()] * across
    return laid.with_part(name, lambda points: points - push)


def _wrinkled(laid: Laid, rng: np.random.Generator) -> Laid:
    """Waves of some centimetres all along the outline."""
    size = sum(abs(signed_area(part)) for part in laid.parts.values()) ** 0.5
    waves = [
        (rng.uniform(0.08, 0.4), rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi), rng.uniform(0, 2 * np.pi))
        for _ in range(12)
    ]

    def by(points: Floats) -> Floats:
        shift = np.zeros_like(points)
        for length, direction, across, phase in waves:
            along = points @ np.array([np.cos(direction), np.sin(direction)]) / (length * size) * 2 * np.pi
            shift += (length * size * 0.022) * np.sin(along + phase)[:, None] * [np.cos(across), np.sin(across)]
        return np.asarray(points + shift)

    return laid.moved(by)


def _asymmetric(laid: Laid, rng: np.random.Generator) -> Laid:
    """One half narrower, the whole slanted, a sleeve at another angle."""
    middle = laid.parts["body"].mean(axis=0)
    up = laid.up / np.linalg.norm(laid.up)
    out = np.array([up[1], -up[0]])
    narrow, slant, half = rng.uniform(0.72, 0.9), rng.uniform(-0.14, 0.14), rng.choice([-1.0, 1.0])

    def by(points: Floats) -> Floats:
        x, y = (points - middle) @ out, (points - middle) @ up
        x = np.where(x * half > 0, narrow * x, x) + slant * y
        return np.asarray(middle + x[:, None] * out + y[:, None] * up)

    changed = laid.moved(by)
    if not changed.seams:
        return changed
    name, shoulder, armpit, way = _one_sleeve(changed, rng)
    angle = -way * rng.uniform(5, 20)  # up, away from the body
    return changed.with_part(name, lambda points: _turn(points, (shoulder + armpit) / 2, angle))


def _mirrored(laid: Laid, rng: np.random.Generator) -> Laid:
    del rng
    flip = np.array([-1.0, 1.0])
    other = {"sleeve_left": "sleeve_right", "sleeve_right": "sleeve_left"}
    return Laid(
        {other.get(name, name): part * flip for name, part in laid.parts.items()},
        {other[name]: (a * flip, b * flip) for name, (a, b) in laid.seams.items()},
        laid.up * flip,
        None if laid.outline is None else laid.outline * flip,
    )


def _tilted(laid: Laid, rng: np.random.Generator) -> Laid:
    """Seen by a camera that looks at the table from aside: what is further off is smaller."""
    every = np.concatenate([*laid.parts.values()])
    middle, size = (every.min(axis=0) + every.max(axis=0)) / 2, float(np.ptp(every, axis=0).max())
    a, steep = rng.uniform(0, 2 * np.pi), rng.uniform(0.25, 0.5)
    far = np.array([np.cos(a), np.sin(a)])

    def by(points: Floats) -> Floats:
        away = (points - middle) / size
        return np.asarray(middle + size * away / (1 + steep * (away @ far))[:, None])

    return laid.moved(by)


TROUBLES: dict[str, Trouble] = {
    AS_IT_LIES: lambda laid, rng: laid,
    "mirrored": _mirrored,
    "bent sleeve": _bent,
    "partly under": _under,
    "wrinkled": _wrinkled,
    "asymmetric": _asymmetric,
    "tilted": _tilted,
}


def drawn(laid: Laid, rng: np.random.Generator) -> Case:
    """Painted as a mask, at any angle and of any size."""
    turn, size = float(rng.uniform(0, 360)), int(rng.integers(360, 900))
    turned = {name: _turn(part, np.zeros(2), -turn) for name, part in laid.parts.items()}
    every = np.concatenate([*turned.values()])
    low, high = every.min(axis=0), every.max(axis=0)
    scale = size * float(rng.uniform(0.6, 0.9)) / float((high - low).max())
    middle = (low + high) / 2

    def seen(polygon: Floats) -> Mask:
        return _painted((_turn(polygon, np.zeros(2), -turn) - middle) * (scale, -scale) + size / 2, size)

    parts = {name: seen(part) for name, part in laid.parts.items()}
    whole = np.maximum.reduce([*parts.values()]) if laid.outline is None else seen(laid.outline)
    if laid.outline is None and laid.seams:  # a sleeve may have been moved
        parts |= {name: np.where(parts["body"] > 0, 0, parts[name]).astype(np.uint8) for name in laid.seams}
    gone = tuple(name for name in laid.seams if np.count_nonzero(parts[name]) < GONE * np.count_nonzero(whole))
    up = float(np.degrees(np.arctan2(laid.up[0], laid.up[1]))) + turn
    return Case(whole, parts, up % 360, gone)


def _fine(polygon: Floats) -> Floats:
    """With points between its own, so that it can be bent."""
    steps = np.linalg.norm(np.roll(polygon, -1, axis=0) - polygon, axis=1)
    counts = np.maximum(1, np.ceil(steps / max(float(steps.sum()), 1e-9) * PIECES)).astype(int)
    return np.concatenate(
        [
            a + (b - a) * (np.arange(count) / count)[:, None]
            for a, b, count in zip(polygon, np.roll(polygon, -1, axis=0), counts, strict=True)
        ]
    )


def _painted(points: Floats, size: int) -> Mask:
    """A polygon in pixels as a mask."""
    image = np.zeros((size, size), np.uint8)
    load_cv2().fillPoly(image, [np.round((points - 0.5) * 256).astype(np.int32)], 255, 8, 8)
    return image
