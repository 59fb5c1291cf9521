"""Pictures as a phone takes them, of garments whose parts are known: for trying the parser on.

The cloth has a colour, threads, a print and shaded wrinkles, and lies a little out of shape; it throws a shadow on a
table with a grain; the light is uneven, the camera tilted and noisy.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.worlds.folding.canvas import Image, load_cv2
from meip.worlds.folding.cloth import Garment

__all__ = ["Photograph", "photograph"]

Mask = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class Photograph:
    """An image, where the parts of the garment are in it, and the direction of its top (degrees clockwise)."""

    image: Image
    parts: dict[str, Mask]
    up: float
    sheet: Floats | None = None  # [4, 2] the corners of a sheet of A4


def photograph(
    garment: Garment,
    rng: np.random.Generator,
    *,
    size: int = 720,
    contrast: float = 45.0,
    tilt: float = 0.16,
    sheet: bool = False,
) -> Photograph:
    """A photo-like picture of a garment lying at any angle; colours differ by at least `contrast` (in Lab units).

    With a `sheet` of A4 paper beside it, if there is room.
    """
    cv2 = load_cv2()
    turn = float(rng.uniform(0, 360))
    onto = _onto_the_picture(cv2, garment, turn, size, tilt, rng)
    bend = _waves(cv2, size, 0.22, rng) * 0.010 * size, _waves(cv2, size, 0.22, rng) * 0.010 * size
    parts = {part.name: _seen(cv2, onto(part.polygon), size, bend) for part in garment.parts}
    cover = np.maximum.reduce(list(parts.values()))
    table, cloth = _two_colours(cv2, rng, contrast)
    scene = _table(cv2, table, size, rng)
    scene *= 1 - 0.45 * _shadow(cv2, cover, size, rng)[..., None]
    weight = (cv2.GaussianBlur(cover, (0, 0), 0.8) / 255.0)[..., None]
    worn = _cloth(cv2, cloth, onto, garment, size, rng)
    scene = scene * (1 - weight) + worn * weight
    light = 1 + 0.16 * _waves(cv2, size, 0.6, rng)[..., None]
    noisy = cv2.GaussianBlur(scene * light, (0, 0), 0.7) + rng.normal(0, 3.0, scene.shape)
    paper = _paper(cv2, garment, onto, cover, rng) if sheet else None
    if paper is not None:
        cv2.fillPoly(noisy, [np.round(paper * 16).astype(np.int32)], (238, 240, 242), cv2.LINE_AA, 4)
    up = onto(np.array([[0.0, 1.0], [0.0, 0.0]]) * 20.0)
    dx, dy = up[0] - up[1]
    return Photograph(
        np.clip(noisy, 0, 255).astype(np.uint8), parts, float(np.degrees(np.arctan2(dx, -dy)) % 360), paper
    )


def _onto_the_picture(cv2: Any, garment: Garment, turn: float, size: int, tilt: float, rng: np.random.Generator) -> Any:
    """The map from the garment to pixels: turned, in the middle, seen by a tilted camera."""
    points = np.concatenate([part.polygon for part in garment.parts])
    a = np.radians(turn)
    turned = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    low, high = (points @ turned).min(axis=0), (points @ turned).max(axis=0)
    scale = size * rng.uniform(0.55, 0.75) / float((high - low).max())
    square = np.array([[0, 0], [size, 0], [size, size], [0, size]], dtype=np.float32)
    moved = (square + rng.uniform(-0.5, 0.5, (4, 2)) * tilt * size * 0.5).astype(np.float32)
    bent = cv2.getPerspectiveTransform(square, moved)

    def onto(where: Floats) -> Floats:
        flat = ((where @ turned) - (low + high) / 2) * (scale, -scale) + size / 2
        return np.asarray(cv2.perspectiveTransform(flat[None].astype(np.float64), bent)[0])

    return onto


def _waves(cv2: Any, size: int, length: float, rng: np.random.Generator) -> Floats:
    """Smooth noise with waves of about this length (as a share of the picture), between about -1 and 1."""
    small = rng.normal(0, 1, (64, 64))
    smooth = cv2.GaussianBlur(small, (0, 0), 64 * length / 2.5)
    wide = cv2.resize(smooth / (2 * smooth.std()), (size, size), interpolation=cv2.INTER_CUBIC)
    return np.asarray(wide, dtype=np.float64)


def _seen(cv2: Any, polygon: Floats, size: int, bend: tuple[Floats, Floats]) -> Mask:
    """A part's mask, its outline bent."""
    image = np.zeros((size, size), np.uint8)
    cv2.fillPoly(image, [np.round(polygon * 256).astype(np.int32)], 255, cv2.LINE_8, 8)
    y, x = np.mgrid[0:size, 0:size].astype(np.float32)
    moved = cv2.remap(image, x + bend[0].astype(np.float32), y + bend[1].astype(np.float32), cv2.INTER_LINEAR)
    return np.where(moved > 127, 255, 0).astype(np.uint8)


def _two_colours(cv2: Any, rng: np.random.Generator, contrast: float) -> tuple[Floats, Floats]:
    """Colours of a table and a cloth that differ."""
    while True:
        pair = rng.uniform(25, 235, (2, 1, 3)).astype(np.uint8)
        lab = cv2.cvtColor(pair, cv2.COLOR_BGR2LAB).astype(float)
        if np.linalg.norm(lab[0, 0] - lab[1, 0]) >= contrast:
            return pair[0, 0].astype(float), pair[1, 0].astype(float)


def _table(cv2: Any, colour: Floats, size: int, rng: np.random.Generator) -> Floats:
    """A plain, grained or tiled table."""
    grain = rng.normal(0, 1, (size, size))
    kind = rng.integers(3)
    if kind == 0:
        grain = cv2.GaussianBlur(grain, (0, 0), 1.0) * 6
    elif kind == 1:  # wood: long in one direction
        grain = cv2.GaussianBlur(grain, (0, 0), sigmaX=40, sigmaY=1.2)
        grain = 7 * grain / grain.std()
    else:
        y, x = np.mgrid[0:size, 0:size] // int(size / rng.integers(5, 9))
        grain = cv2.GaussianBlur(grain, (0, 0), 1.0) * 5 + 6 * ((x + y) % 2)
    return np.asarray(colour + grain[..., None], dtype=np.float64)


def _shadow(cv2: Any, cover: Mask, size: int, rng: np.random.Generator) -> Floats:
    """A soft shadow beside the cloth."""
    dx, dy = rng.uniform(-0.012, 0.012, 2) * size
    moved = cv2.warpAffine(cover, np.array([[1, 0, dx], [0, 1, dy]], dtype=np.float64), (size, size))
    return np.asarray(cv2.GaussianBlur(moved, (0, 0), 0.012 * size) / 255.0, dtype=np.float64)


def _cloth(cv2: Any, colour: Floats, onto: Any, garment: Garment, size: int, rng: np.random.Generator) -> Floats:
    """Threads, wrinkles that shade the cloth, stripes on some, a print on most."""
    shade = 1 + 0.10 * _waves(cv2, size, 0.05, rng) + 0.10 * _waves(cv2, size, 0.15, rng)
    threads = rng.normal(0, 2.5, (size, size))
    image = np.empty((size, size, 3))
    image[:] = colour
    if rng.random() < 0.25:
        stripes = (np.mgrid[0:size, 0:size][0] // max(int(size * rng.uniform(0.015, 0.04)), 2)) % 2
        image += (stripes * rng.uniform(-35, 35))[..., None]
    if garment.logo and rng.random() < 0.7:
        cv2.fillPoly(image, [np.round(onto(np.array(garment.logo))).astype(np.int32)], rng.uniform(0, 255, 3).tolist())
    return np.asarray(image * shade[..., None] + threads[..., None])


def _paper(cv2: Any, garment: Garment, onto: Any, cover: Mask, rng: np.random.Generator) -> Floats | None:
    """Where a sheet of A4 lies beside the garment."""
    points = np.concatenate([part.polygon for part in garment.parts])
    free = cv2.dilate(cover, np.ones((25, 25), np.uint8)) == 0
    size = len(cover)
    for _ in range(200):
        a = rng.uniform(0, np.pi)
        turned = np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
        middle = rng.uniform(points.min(axis=0) - 40, points.max(axis=0) + 40)
        corners = onto(middle + np.array([[-14.85, -10.5], [14.85, -10.5], [14.85, 10.5], [-14.85, 10.5]]) @ turned)
        place = np.zeros_like(cover)
        cv2.fillPoly(place, [np.round(corners).astype(np.int32)], 255)
        if corners.min() > 12 and corners.max() < size - 12 and free[place > 0].all():
            return np.asarray(corners)
    return None
