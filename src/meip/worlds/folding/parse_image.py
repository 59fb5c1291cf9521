"""Image files, and the outline of a mask to a fraction of a pixel.

OpenCV follows the contour, approxPolyDP finds its corners, and each side is then fitted to all of its contour
pixels: corners are where neighbouring sides meet.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.errors import DocumentError, WorldError
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.cloth import first_crossing, signed_area
from meip.worlds.folding.planar import turns
from meip.worlds.folding.png_pieces import check_pieces

__all__ = ["Photo", "outline_of_mask", "read_image"]

MAX_BYTES = 64 * 2**20
LARGEST_SIDE = 2048
MAX_PIXELS = 52_000_000  # a phone's largest pictures, with room
CORNER = 0.003
"""Bends of less than this share of the diagonal are not corners."""


@dataclass(frozen=True, eq=False)
class Photo:
    """An image [height, width(, channels)] as OpenCV has it (blue first), perhaps smaller than the file's."""

    pixels: NDArray[np.uint8]
    shrunk: float = 1.0
    """Pixels of the file to one of these."""


def read_image(path: str | Path) -> Photo:
    """An image file; larger ones are scaled down to 2048 pixels."""
    cv2 = load_cv2()
    try:
        if Path(path).stat().st_size > MAX_BYTES:
            raise DocumentError(f"{path}: larger than {MAX_BYTES // 2**20} MB; save a smaller picture")
        data = Path(path).read_bytes()
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from None
    width, height = _announced(data)
    if width * height > MAX_PIXELS:  # checked before a pixel is decoded
        raise DocumentError(
            f"{path}: {width} x {height} pixels are more than {MAX_PIXELS // 10**6} million; save a smaller picture"
        )
    check_pieces(data, path)
    try:
        raw = np.frombuffer(data, dtype=np.uint8)
        image = cv2.imdecode(raw, cv2.IMREAD_UNCHANGED) if width * height else None
    except cv2.error:
        image = None
    if image is None or image.ndim not in (2, 3) or image.dtype not in (np.uint8, np.uint16):
        raise DocumentError(f"{path}: not an image that can be read; save it as PNG or JPEG")
    largest = max(image.shape[:2])
    if largest > LARGEST_SIDE:
        factor = LARGEST_SIDE / largest
        image = cv2.resize(image, None, fx=factor, fy=factor, interpolation=cv2.INTER_AREA)
    if image.dtype == np.uint16:
        image = (image // 257).astype(np.uint8)
    if image.ndim == 3 and image.shape[2] == 2:  # grey with transparency
        image = np.dstack([image[..., :1]] * 3 + [image[..., 1:]])
    return Photo(image, max(1.0, largest / LARGEST_SIDE))


def _announced(data: bytes) -> tuple[int, int]:
    """Width and height as the head of a PNG, JPEG, BMP or WebP file says them; (0, 0) for anything else."""
    if data[:8] == b"\x89PNG\r\n\x1a\n" and len(data) >= 24:
        return int.from_bytes(data[16:20], "big"), int.from_bytes(data[20:24], "big")
    if data[:2] == b"BM" and len(data) >= 26:
        return int.from_bytes(data[18:22], "little"), abs(int.from_bytes(data[22:26], "little", signed=True))
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP" and len(data) >= 30:
        return _webp(data)
    at = 2 if data[:2] == b"\xff\xd8" else len(data)
    while at + 9 <= len(data):  # JPEG: segments, until the one that starts the frame
        marker, length = data[at + 1], int.from_bytes(data[at + 2 : at + 4], "big")
        if 0xC0 <= marker <= 0xCF and marker not in (0xC4, 0xC8, 0xCC):
            return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")
        at += 1 if marker == 0xFF else 2 + length
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    if data[12:16] == b"VP8X":
        return 1 + int.from_bytes(data[24:27], "little"), 1 + int.from_bytes(data[27:30], "little")
    if data[12:16] == b"VP8L":
        bits = int.from_bytes(data[21:25], "little")
        return 1 + (bits & 0x3FFF), 1 + (bits >> 14 & 0x3FFF)
    return int.from_bytes(data[26:28], "little") & 0x3FFF, int.from_bytes(data[28:30], "little") & 0x3FFF


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
