"""A sheet of paper beside the garment: its four corners say how the camera was tilted, and how long a centimetre is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.errors import WorldError
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.cloth import first_crossing, signed_area
from meip.worlds.folding.parse_image import Photo
from meip.worlds.folding.segment import colour_image

__all__ = ["View", "find_sheet", "straightened"]

LONG, SHORT = 29.7, 21.0  # A4, in centimetres
LARGEST = 1600  # pixels of a straightened picture
WHITE, PALE = 60, 22  # how much lighter than the picture's middle paper is, and how little colour it has


@dataclass(frozen=True, eq=False)
class View:
    """What is parsed: an image, the map from it to pixels of the given picture, and a unit's length if it is known."""

    pixels: NDArray[np.uint8]
    onto: Floats  # [3, 3]
    centimetre: float = 0.0

    def seen(self, points: Floats) -> Floats:
        """Points of the given picture [n, 2] in this view."""
        lifted = np.column_stack([points, np.ones(len(points))]) @ np.linalg.inv(self.onto).T
        return np.asarray(lifted[:, :2] / lifted[:, 2:])


def straightened(photo: Photo, sheet: tuple[tuple[float, float], ...] | None, *, where: str) -> View:
    """The picture as from straight above, the sheet painted over; as it is, where no sheet is spoken of.

    `sheet` are the corners of a sheet of A4 in pixels of the given picture; an empty tuple: find it.
    """
    cv2 = load_cv2()
    shrunk = np.diag([photo.shrunk, photo.shrunk, 1.0])
    if sheet is None:
        return View(photo.pixels, shrunk)
    image = colour_image(photo.pixels)
    corners = np.array(sheet, dtype=np.float64) / photo.shrunk if sheet else find_sheet(cv2, image)
    if corners is None:
        raise WorldError(f"{where}: no sheet of paper was found; give its corners, or leave it out")
    if corners.shape != (4, 2) or first_crossing(corners) is not None or abs(signed_area(corners)) < 16:
        raise WorldError(f"{where}: a sheet has four corners, in order round it")
    flat, scale = _flattening(cv2, corners, image.shape[1], image.shape[0])
    hidden = _without_sheet(cv2, image, corners)
    width, height = _extent(cv2, flat, image.shape[1], image.shape[0])
    view = cv2.warpPerspective(hidden, flat, (width, height), borderMode=cv2.BORDER_REPLICATE)
    return View(view, shrunk @ np.linalg.inv(flat), 1.0 / scale)


def find_sheet(cv2: Any, image: NDArray[np.uint8]) -> Floats | None:
    """The corners [4, 2] of a white quadrilateral, or None."""
    lab = cv2.cvtColor(cv2.GaussianBlur(image, (0, 0), 1.5), cv2.COLOR_BGR2LAB).astype(np.int16)
    bright = lab[..., 0] > min(max(int(np.median(lab[..., 0])) + WHITE, 150), 225)
    pale = np.abs(lab[..., 1:] - 128).max(axis=2) < PALE
    white = cv2.morphologyEx((bright & pale).astype(np.uint8), cv2.MORPH_OPEN, np.ones((5, 5), np.uint8))
    contours, _ = cv2.findContours(white, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    best, size = None, 0.004 * white.size
    for contour in contours:
        around = cv2.arcLength(contour, True)
        corners = cv2.approxPolyDP(contour, 0.03 * around, True)[:, 0].astype(np.float64)
        area = cv2.contourArea(contour)
        if len(corners) == 4 and size < area < 0.3 * white.size and area > 0.93 * abs(signed_area(corners)):
            best, size = corners, area
    return None if best is None else _sharpened(cv2, image, best)


def _sharpened(cv2: Any, image: NDArray[np.uint8], corners: Floats) -> Floats:
    """The corners to a fraction of a pixel: paper ends halfway between its own lightness and the table's."""
    grey = cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
    cover = np.zeros(grey.shape, np.uint8)
    cv2.fillPoly(cover, [np.round(corners).astype(np.int32)], 255)
    wide = cv2.dilate(cover, np.ones((13, 13), np.uint8))
    beside = (wide > 0) & (cv2.dilate(cover, np.ones((7, 7), np.uint8)) == 0)
    halfway = (float(np.median(grey[cover > 0])) + float(np.median(grey[beside]))) / 2
    paper = np.where((grey > halfway) & (wide > 0), 255, 0).astype(np.uint8)
    contours, _ = cv2.findContours(cv2.medianBlur(paper, 5), cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    rim = max(contours, key=cv2.contourArea)[:, 0].astype(np.float64) if contours else corners
    lines = [_side(rim, corners[k], corners[(k + 1) % 4]) for k in range(4)]
    fine = []
    for (p, d), (q, e) in zip(lines[-1:] + lines[:-1], lines, strict=True):
        cross = d[0] * e[1] - d[1] * e[0]
        t = ((q[0] - p[0]) * e[1] - (q[1] - p[1]) * e[0]) / cross if abs(cross) > 0.2 else 0.0
        fine.append(p + t * d)
    far = np.linalg.norm(np.array(fine) - corners, axis=1).max() > 10
    return corners if far else np.array(fine)


def _side(rim: Floats, a: Floats, b: Floats) -> tuple[Floats, Floats]:
    """The line through the rim's points beside a -> b, away from its ends: a point and a direction."""
    length = float(np.linalg.norm(b - a))
    along = (b - a) / length
    t, off = (rim - a) @ along, (rim - a) @ np.array([-along[1], along[0]])
    near = rim[(t > 0.12 * length) & (t < 0.88 * length) & (np.abs(off) < 8)]
    if len(near) < 8:
        return a, along
    middle = near.mean(axis=0)
    _, _, axes = np.linalg.svd(near - middle, full_matrices=False)
    outwards = np.sign(signed_area(np.array([a, b, rim.mean(axis=0)]))) * np.array([along[1], -along[0]])
    return middle + 0.5 * outwards, axes[0]


def _flattening(cv2: Any, corners: Floats, width: int, height: int) -> tuple[Floats, float]:
    """The homography to a picture from straight above, and its pixels per centimetre."""
    sides = np.linalg.norm(np.roll(corners, -1, axis=0) - corners, axis=1)
    a, b = (LONG, SHORT) if sides[0] + sides[2] > sides[1] + sides[3] else (SHORT, LONG)
    paper = np.array([[0, 0], [a, 0], [a, b], [0, b]], dtype=np.float32)
    if signed_area(corners) < 0:
        paper = paper * np.array([1, -1], dtype=np.float32)
    flat = cv2.getPerspectiveTransform(corners.astype(np.float32), paper)
    edge = np.array([[0, 0], [width, 0], [width, height], [0, height]], dtype=np.float64)
    lifted = np.column_stack([edge, np.ones(4)]) @ flat.T
    if (lifted[:, 2] * lifted[0, 2] <= 0).any():
        raise WorldError("the sheet's corners say that the camera looks along the table; check them")
    on_table = lifted[:, :2] / lifted[:, 2:]
    low, extent = on_table.min(axis=0), float(np.ptp(on_table, axis=0).max())
    scale = LARGEST / extent
    moved = np.array([[scale, 0, -scale * low[0]], [0, scale, -scale * low[1]], [0, 0, 1]]) @ flat
    return moved, scale


def _extent(cv2: Any, flat: Floats, width: int, height: int) -> tuple[int, int]:
    edge = np.array([[[0, 0], [width, 0], [width, height], [0, height]]], dtype=np.float64)
    far = np.ceil(cv2.perspectiveTransform(edge, flat)[0].max(axis=0)).astype(int)
    return int(far[0]), int(far[1])


def _without_sheet(cv2: Any, image: NDArray[np.uint8], corners: Floats) -> NDArray[np.uint8]:
    """The sheet painted over with the table beside it, or it would be a second garment."""
    cover = np.zeros(image.shape[:2], np.uint8)
    cv2.fillPoly(cover, [np.round(corners).astype(np.int32)], 255)
    reach = max(image.shape[:2]) // 60 | 1
    wide = cv2.dilate(cover, np.ones((reach, reach), np.uint8))
    beside = (cv2.dilate(wide, np.ones((reach, reach), np.uint8)) > 0) & (wide == 0)
    table = image[beside]
    painted = image.copy()
    spots = np.random.default_rng(0).integers(len(table), size=int((wide > 0).sum()))
    painted[wide > 0] = table[spots]
    return painted
