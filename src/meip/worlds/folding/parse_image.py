"""From an image to the outline of the one garment in it, to a fraction of a pixel.

The background is estimated from the border (colour, and its slow change across the picture); what differs from it is
cloth. OpenCV follows the contour, approxPolyDP finds its corners, and each side is then fitted to all of its contour
pixels: corners are where neighbouring sides meet.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.errors import DocumentError, WorldError
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.cloth import first_crossing, signed_area
from meip.worlds.folding.image_size import check_pixels
from meip.worlds.folding.planar import turns

__all__ = ["find_mask", "outline_of_mask", "read_image"]

MAX_BYTES = 64 * 2**20
LARGEST_SIDE = 2048
CORNER = 0.003
"""Bends of less than this share of the diagonal are not corners."""
BORDER_TOLERANCE = 14.0
"""How much a plain background may vary, in Lab units."""


def read_image(path: str | Path) -> NDArray[np.uint8]:
    """An image file as an array; larger ones are scaled down to 2048 pixels."""
    cv2 = load_cv2()
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path}: larger than {MAX_BYTES // 2**20} MB; save a smaller picture")
        data = np.frombuffer(Path(path).read_bytes(), dtype=np.uint8)
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from None
    check_pixels(data, path)
    try:
        image = cv2.imdecode(data, cv2.IMREAD_UNCHANGED) if len(data) else None
    except cv2.error:
        image = None
    if image is None or image.ndim not in (2, 3) or image.dtype not in (np.uint8, np.uint16):
        raise DocumentError(f"{path}: not an image that OpenCV can read; save it as PNG or JPEG")
    if image.dtype == np.uint16:
        image = (image // 257).astype(np.uint8)
    largest = max(image.shape[:2])
    if largest > LARGEST_SIDE:
        image = cv2.resize(
            image, None, fx=LARGEST_SIDE / largest, fy=LARGEST_SIDE / largest, interpolation=cv2.INTER_AREA
        )
    found: NDArray[np.uint8] = image
    return found


def find_mask(image: NDArray[np.uint8], *, where: str = "image") -> NDArray[np.uint8]:
    """255 on the one garment in the picture, 0 elsewhere."""
    cv2 = load_cv2()
    if min(image.shape[:2]) < 32:
        raise WorldError(f"{where}: {image.shape[1]} x {image.shape[0]} pixels are too few; expected at least 32 x 32")
    if image.ndim == 3 and image.shape[2] == 4 and (_border(image[..., 3]) < 128).mean() > 0.5:
        rough = np.where(image[..., 3] >= 128, 255, 0).astype(np.uint8)
    else:
        rough = _differs_from_border(cv2, image, where)
    return _largest_piece(cv2, rough, where)


def _border(plane: NDArray[Any]) -> NDArray[Any]:
    """The pixels along the border of an image, a hundredth of its size wide: [n] or [n, channels]."""
    w = max(min(plane.shape[:2]) // 100, 2)
    sides = (plane[:w], plane[-w:], plane[w:-w, :w], plane[w:-w, -w:])
    return np.concatenate([part.reshape(-1, *plane.shape[2:]) for part in sides])


def _differs_from_border(cv2: Any, image: NDArray[np.uint8], where: str) -> NDArray[np.uint8]:
    """Pixels whose colour is not the background's: a plane through the border's colours in Lab."""
    lab = cv2.cvtColor(
        cv2.cvtColor(image, cv2.COLOR_GRAY2BGR) if image.ndim == 2 else image[..., :3], cv2.COLOR_BGR2LAB
    )
    height, width = lab.shape[:2]
    colour = lab.astype(np.float32)
    across = (np.arange(width, dtype=np.float32) / width - 0.5)[None, :]
    down = (np.arange(height, dtype=np.float32) / height - 0.5)[:, None]
    ones = np.ones((height, width), dtype=np.float32)
    rows = np.stack([_border(ones), _border(ones * across), _border(ones * down)], axis=1)
    values = _border(colour)
    keep = np.linalg.norm(values - np.median(values, axis=0), axis=1) <= 3 * BORDER_TOLERANCE
    if keep.mean() < 0.8:
        raise WorldError(_no_background(where))
    plane, *_ = np.linalg.lstsq(rows[keep], values[keep], rcond=None)
    gaps = np.linalg.norm(values - rows @ plane, axis=1)
    if (gaps <= BORDER_TOLERANCE).mean() < 0.85:
        raise WorldError(_no_background(where))
    noise = float(np.sqrt(np.mean(np.minimum(gaps, BORDER_TOLERANCE) ** 2)))
    for channel, (level, slope_x, slope_y) in enumerate(plane.T.astype(np.float32)):
        colour[..., channel] -= level + slope_x * across + slope_y * down
    distance = cv2.sqrt(cv2.transform(colour * colour, np.ones((1, 3), dtype=np.float32)))
    if noise > 1:
        distance = cv2.GaussianBlur(distance, (0, 0), 1.2)
    clipped = np.clip(distance, 0, 255).astype(np.uint8)
    split, _ = cv2.threshold(clipped, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    threshold = min(max(split, 8.0, 4 * noise), 48.0)
    return np.where(distance > threshold, 255, 0).astype(np.uint8)


def _no_background(where: str) -> str:
    return (
        f"{where}: no plain background: the colours along the border differ too much; lay the garment on a cloth or "
        "table of one colour, all of it inside the picture, or cut it out (transparent PNG)"
    )


def _largest_piece(cv2: Any, rough: NDArray[np.uint8], where: str) -> NDArray[np.uint8]:
    """The one large connected piece, its holes filled."""
    contours, _ = cv2.findContours(rough, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    areas = np.array([cv2.contourArea(c) for c in contours])
    if not len(areas) or areas.max() < 0.004 * rough.size:
        raise WorldError(f"{where}: no garment: nothing in the picture differs from its background")
    large = np.nonzero(areas > 0.05 * areas.max())[0]
    if len(large) > 1:
        raise WorldError(f"{where}: {len(large)} garments in one picture; crop it so that it shows one")
    best = int(large[0])
    x, y, w, h = cv2.boundingRect(contours[best])
    if x == 0 or y == 0 or x + w == rough.shape[1] or y + h == rough.shape[0]:
        raise WorldError(f"{where}: the garment runs out of the picture; leave some background on every side")
    clean = np.zeros_like(rough)
    cv2.drawContours(clean, contours, best, 255, cv2.FILLED)
    return clean


def outline_of_mask(mask: NDArray[np.uint8], *, where: str = "image") -> Floats:
    """The corners [n, 2] of the mask's one piece in pixels, y down, clockwise to the eye (counter-clockwise, y up)."""
    cv2 = load_cv2()
    contours, _ = cv2.findContours(mask, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if not contours:
        raise WorldError(f"{where}: no garment: the mask is empty")
    contour = max(contours, key=cv2.contourArea)[:, 0].astype(np.float64)
    if signed_area(contour) > 0:  # y points down here
        contour = contour[::-1]
    tolerance = CORNER * float(np.linalg.norm(np.ptp(contour, axis=0)))
    corners = _corner_indices(cv2, contour, max(tolerance, 1.3))
    if len(corners) < 3:
        raise WorldError(f"{where}: the garment is too small or too thin to have an outline")
    polygon = _without_flat_corners(_without_bevels(_refined(contour, corners, tolerance)))
    if len(polygon) < 3 or first_crossing(polygon) is not None:
        polygon = contour[corners] + 0.5  # rounding spoiled a very thin place: pixel accuracy will do
    if first_crossing(polygon) is not None:
        raise WorldError(f"{where}: the garment's outline crosses itself; take a picture with more pixels")
    return polygon


def _corner_indices(cv2: Any, contour: Floats, tolerance: float) -> NDArray[np.int64]:
    """Where approxPolyDP sees corners, in the contour's order."""
    approx = cv2.approxPolyDP(contour.astype(np.int32)[:, None], tolerance, True)[:, 0]
    place = {(int(x), int(y)): i for i, (x, y) in enumerate(contour)}
    return np.array(sorted({place[int(x), int(y)] for x, y in approx}), dtype=np.int64)


def _refined(contour: Floats, corners: NDArray[np.int64], tolerance: float) -> Floats:
    """Corners as the meeting points of lines fitted to the contour pixels between them.

    Contours run through the centres of the outermost pixels, so that the true edge lies half a pixel further out.
    """
    n, k = len(contour), len(corners)
    lines = []
    for a, b in zip(corners, np.roll(corners, -1), strict=True):
        count = int((b - a) % n)
        trim = max(int(0.12 * count), 1)
        chain = contour[(a + np.arange(trim, count - trim + 1)) % n]
        ends = contour[[a, b % n]]
        lines.append(_fitted_line(chain if len(chain) >= 5 else ends, ends[1] - ends[0]))
    polygon = contour[corners] + 0.5
    for i in range(k):
        (p, d), (q, e) = lines[i - 1], lines[i]
        cross = d[0] * e[1] - d[1] * e[0]
        if abs(cross) > 0.07:  # about 4 degrees: flatter corners stay where they are
            t = ((q[0] - p[0]) * e[1] - (q[1] - p[1]) * e[0]) / cross
            meet = p + t * d
            if np.linalg.norm(meet - polygon[i]) <= 2.5 * tolerance + 1.5:
                polygon[i] = meet
    return polygon


def _fitted_line(chain: Floats, along: Floats) -> tuple[Floats, Floats]:
    """Total least squares: a point and a unit direction, moved half a pixel outwards (to the left, y down)."""
    middle = chain.mean(axis=0)
    _, _, axes = np.linalg.svd(chain - middle, full_matrices=False)
    direction = axes[0] if axes[0] @ along > 0 else -axes[0]
    outwards = np.array([-direction[1], direction[0]])
    # From the outermost pixel centres to the edge: half a pixel along an axis, less measured across a slant.
    return middle + 0.5 + outwards * 0.5 * float(np.abs(direction).max()), direction


def _without_bevels(polygon: Floats) -> Floats:
    """Replace the two ends of a very short side by the corner that its neighbours would make without it.

    Pictures with a drawn edge, and worn or blurred ones, have rounded corners.
    """
    reach = 0.012 * float(np.linalg.norm(np.ptp(polygon, axis=0)))
    points = [*polygon]
    i = 0
    while i < len(points) and len(points) > 4:
        n = len(points)
        a, b, c, d = (points[(i + k) % n] for k in range(4))
        before, after = b - a, c - d
        cross = before[0] * after[1] - before[1] * after[0]
        if np.linalg.norm(c - b) < reach and abs(cross) > 0.1 * np.linalg.norm(before) * np.linalg.norm(after):
            t = ((d[0] - a[0]) * after[1] - (d[1] - a[1]) * after[0]) / cross
            corner = a + t * before
            if t > 1 and np.linalg.norm(corner - (b + c) / 2) < reach:
                points[(i + 1) % n] = corner
                del points[(i + 2) % n]
                continue
        i += 1
    return np.array(points)


def _without_flat_corners(polygon: Floats) -> Floats:
    """Drop corners at which the outline does not turn."""
    keep = np.abs(turns(polygon)) > 2.5
    return polygon[keep] if keep.sum() >= 3 else polygon
