"""Which pixels of a picture are cloth.

On a plain background what differs from the border's colour is cloth. On a table with a grain, under uneven light or
with a shadow, the border's colours and those far from them seed GrabCut, which then cuts where colours change. A
rectangle round the garment, or a click on it, replaces what is guessed from the border. Where both sides of the cut
look alike, the picture is refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.errors import WorldError
from meip.worlds.folding.canvas import load_cv2

__all__ = ["Box", "colour_image", "find_mask"]

Mask = NDArray[np.uint8]
Box = tuple[float, float, float, float]  # x, y, width, height

TOLERANCE = 14.0
"""How much a plain background may vary, in Lab units."""
WORK = 420  # GrabCut works on pictures with this longest side
LIGHT = 0.55  # lightness counts less than colour, so that shadows count less
COLOURS = 5  # the border's colours are summed up by so many
FAR = 3.0  # cloth is so many times further from the table's colours than they are from each other
CLEAR = 2.5  # the two sides of the cut differ at least so many times as much as neighbours on the table do
ROUNDS = 4
PRINT = 0.04  # a smaller share of the picture may be a print on something that is cut off
CROSSES = 30.0  # Lab units between a table and something that lies across the border


def colour_image(image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """The image with three channels, blue first."""
    found: NDArray[np.uint8] = (
        load_cv2().cvtColor(image, load_cv2().COLOR_GRAY2BGR) if image.ndim == 2 else image[..., :3].copy()
    )
    return found


def find_mask(
    image: NDArray[np.uint8],
    *,
    where: str = "image",
    rectangle: Box | None = None,
    click: tuple[float, float] | None = None,
) -> Mask:
    """255 on the one garment in the picture, 0 elsewhere."""
    cv2 = load_cv2()
    if min(image.shape[:2]) < 32:
        raise WorldError(f"{where}: {image.shape[1]} x {image.shape[0]} pixels are too few; expected at least 32 x 32")
    if image.ndim == 3 and image.shape[2] == 4 and (_border(image[..., 3]) < 128).mean() > 0.5:
        return _largest_piece(cv2, np.where(image[..., 3] >= 128, 255, 0).astype(np.uint8), where)
    lab = cv2.cvtColor(colour_image(image), cv2.COLOR_BGR2LAB)
    plain = _differs_from_border(cv2, lab) if rectangle is None and click is None else None
    if plain is not None:
        return _largest_piece(cv2, plain, where)
    crosses = rectangle is None and _something_crosses(cv2, lab)  # the garment, or only the table's edge
    try:
        found = _largest_piece(cv2, _cut(cv2, lab, rectangle, click, where), where, click)
    except WorldError:
        if crosses:
            raise WorldError(_cut_off(where)) from None
        raise
    if crosses and (found > 0).mean() < PRINT:
        raise WorldError(_cut_off(where))
    return found


def _border(plane: NDArray[Any]) -> NDArray[Any]:
    """The pixels along the border of an image, a hundredth of its size wide: [n] or [n, channels]."""
    w = max(min(plane.shape[:2]) // 100, 2)
    sides = (plane[:w], plane[-w:], plane[w:-w, :w], plane[w:-w, -w:])
    return np.concatenate([part.reshape(-1, *plane.shape[2:]) for part in sides])


def _something_crosses(cv2: Any, lab: NDArray[np.uint8]) -> bool:
    """Is one stretch of the border of quite another colour than the rest, with sharp ends?"""
    w = max(min(lab.shape[:2]) // 60, 2)
    sides = lab[:w].mean(axis=0), lab[:, -w:].mean(axis=1), lab[-w:].mean(axis=0)[::-1], lab[:, :w].mean(axis=1)[::-1]
    round_it = np.concatenate(sides).astype(np.float32)  # [n, 3], once round the picture
    n = len(round_it)
    step = max(n // 100, 1)
    level = cv2.blur(np.concatenate([round_it] * 3)[None], (step | 1, 1))[0][n : 2 * n]
    rule = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 12, 0.5)
    cv2.setRNGSeed(1)
    _, labels, centres = cv2.kmeans(level, 2, None, rule, 3, cv2.KMEANS_PP_CENTERS)
    ends = np.nonzero(labels[:, 0] != np.roll(labels[:, 0], 1))[0]
    if len(ends) != 2 or np.linalg.norm(centres[0] - centres[1]) < CROSSES:
        return False
    jumps = [np.linalg.norm(level[(e + step) % n] - level[(e - step) % n]) for e in ends]
    return bool(min(jumps) > 0.5 * CROSSES)


def _differs_from_border(cv2: Any, lab: NDArray[np.uint8]) -> Mask | None:
    """Pixels whose colour is not the background's, a plane through the border's colours; None if it is not plain."""
    height, width = lab.shape[:2]
    colour = lab.astype(np.float32)
    across = (np.arange(width, dtype=np.float32) / width - 0.5)[None, :]
    down = (np.arange(height, dtype=np.float32) / height - 0.5)[:, None]
    ones = np.ones((height, width), dtype=np.float32)
    rows = np.stack([_border(ones), _border(ones * across), _border(ones * down)], axis=1)
    values = _border(colour)
    keep = np.linalg.norm(values - np.median(values, axis=0), axis=1) <= 3 * TOLERANCE
    if keep.mean() < 0.8:
        return None
    plane, *_ = np.linalg.lstsq(rows[keep], values[keep], rcond=None)
    gaps = np.linalg.norm(values - rows @ plane, axis=1)
    if (gaps <= TOLERANCE).mean() < 0.85:
        return None
    noise = float(np.sqrt(np.mean(np.minimum(gaps, TOLERANCE) ** 2)))
    for channel, (level, slope_x, slope_y) in enumerate(plane.T.astype(np.float32)):
        colour[..., channel] -= level + slope_x * across + slope_y * down
    distance = cv2.sqrt(cv2.transform(colour * colour, np.ones((1, 3), dtype=np.float32)))
    if noise > 1:
        distance = cv2.GaussianBlur(distance, (0, 0), 1.2)
    clipped = np.clip(distance, 0, 255).astype(np.uint8)
    split, _ = cv2.threshold(clipped, 0, 255, cv2.THRESH_BINARY + cv2.THRESH_OTSU)
    threshold = min(max(split, 8.0, 4 * noise), 48.0)
    return np.where(distance > threshold, 255, 0).astype(np.uint8)


def _cut(
    cv2: Any, lab: NDArray[np.uint8], rectangle: Box | None, click: tuple[float, float] | None, where: str
) -> Mask:
    """GrabCut on a small picture in which lightness counts less."""
    height, width = lab.shape[:2]
    scale = min(1.0, WORK / max(height, width))
    small = cv2.resize(lab, None, fx=scale, fy=scale, interpolation=cv2.INTER_AREA)
    small = cv2.bilateralFilter(small, 7, 25, 5)
    small[..., 0] = np.round(small[..., 0] * LIGHT)
    seeds = _seeds(cv2, small, scale, rectangle, click)
    if not (seeds & 1).any():
        raise WorldError(_alike(where))
    models = np.zeros((1, 65)), np.zeros((1, 65))
    try:
        cv2.setRNGSeed(1)
        cv2.grabCut(small, seeds, None, *models, ROUNDS, cv2.GC_INIT_WITH_MASK)
    except cv2.error:
        raise WorldError(_alike(where)) from None
    cloth = (seeds & 1).astype(np.uint8)
    if not _clear(cv2, small, cloth):
        raise WorldError(_alike(where))
    cloth = cv2.morphologyEx(cloth, cv2.MORPH_OPEN, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (5, 5)))
    wide = cv2.resize(cloth.astype(np.float32), (width, height), interpolation=cv2.INTER_CUBIC)
    smooth = cv2.GaussianBlur(wide, (0, 0), 1.0 / scale)
    return np.where(smooth > 0.5, 255, 0).astype(np.uint8)


def _seeds(
    cv2: Any, small: NDArray[np.uint8], scale: float, rectangle: Box | None, click: tuple[float, float] | None
) -> Mask:
    """What is surely and probably table and cloth, in GrabCut's numbers (odd: cloth; 0 and 1: surely)."""
    height, width = small.shape[:2]
    table = np.zeros((height, width), dtype=bool)
    if rectangle is None:
        w = max(min(height, width) // 40, 2)
        table[:w] = table[-w:] = table[:, :w] = table[:, -w:] = True
    else:
        x, y, w, h = (round(v * scale) for v in rectangle)
        table[:] = True
        table[max(y, 0) : y + h, max(x, 0) : x + w] = False
    distance = _from_table(cv2, small, small[table].astype(np.float32))
    seeds = np.where(distance > 1.0, 3, 2).astype(np.uint8)
    seeds[table] = 0
    if click is not None:
        x, y = (round(v * scale) for v in click)
        cv2.circle(seeds, (x, y), max(width // 60, 2), 1, -1)
    sure = cv2.erode((distance > 1.6).astype(np.uint8), np.ones((9, 9), np.uint8)) > 0
    seeds[sure & ~table & (seeds != 0)] = 1
    return seeds


def _from_table(cv2: Any, small: NDArray[np.uint8], samples: Floats) -> Floats:
    """[h, w] How far each pixel is from the nearest colour of the table; from 1 on it may be cloth."""
    rule = (cv2.TERM_CRITERIA_EPS + cv2.TERM_CRITERIA_MAX_ITER, 12, 0.5)
    cv2.setRNGSeed(1)
    k = min(COLOURS, max(len(samples) // 20, 1))
    _, labels, centres = cv2.kmeans(samples, k, None, rule, 2, cv2.KMEANS_PP_CENTERS)
    nearest = np.full(small.shape[:2], np.inf, dtype=np.float32)
    for i, centre in enumerate(centres):
        spread = float(np.sqrt(((samples[labels[:, 0] == i] - centre) ** 2).sum(axis=1).mean()))
        gap = np.linalg.norm(small.astype(np.float32) - centre, axis=2)
        nearest = np.minimum(nearest, gap / (FAR * max(spread, 2.5)))
    return np.asarray(nearest)


def _clear(cv2: Any, small: NDArray[np.uint8], cloth: Mask) -> bool:
    """Do the colours on the two sides of the cut differ more than those on the table do?"""
    disc = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (9, 9))
    inner = (cloth > 0) & (cv2.erode(cloth, disc) == 0)
    outer = (cloth == 0) & (cv2.dilate(cloth, disc) > 0)
    rest = (cloth == 0) & ~outer
    if min(inner.sum(), outer.sum(), rest.sum()) < 30:
        return False
    blurred = cv2.blur(small.astype(np.float32), (9, 9))
    noise = np.linalg.norm(small.astype(np.float32) - blurred, axis=2)[rest].mean()
    step = np.linalg.norm(np.median(small[inner], axis=0) - np.median(small[outer], axis=0))
    return bool(step > CLEAR * max(float(noise), 1.5))


def _cut_off(where: str) -> str:
    return f"{where}: the garment runs out of the picture; leave some background on every side"


def _alike(where: str) -> str:
    return (
        f"{where}: garment and table cannot be told apart; lay the garment on a table of another colour, or show where "
        "it is (a rectangle round it, a click on it), or cut it out (transparent PNG)"
    )


def _largest_piece(cv2: Any, rough: Mask, where: str, click: tuple[float, float] | None = None) -> Mask:
    """The one large connected piece (or the one that was clicked on), its holes filled."""
    contours, _ = cv2.findContours(rough, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    if click is not None:
        contours = [c for c in contours if cv2.pointPolygonTest(c, click, False) >= 0] or contours
    areas = np.array([cv2.contourArea(c) for c in contours])
    if not len(areas) or areas.max() < 0.004 * rough.size:
        raise WorldError(f"{where}: no garment: nothing in the picture differs from its background")
    large = np.nonzero(areas > 0.05 * areas.max())[0]
    largest = int(areas.argmax())
    if len(large) > 1 and _at_border(cv2.boundingRect(contours[largest]), rough):
        raise WorldError(_cut_off(where))
    if len(large) > 1:
        raise WorldError(
            f"{where}: {len(large)} garments in one picture; crop it so that it shows one, or click on it; if "
            "one is a sheet of paper, say so (sheet)"
        )
    best = int(large[0])
    if _at_border(cv2.boundingRect(contours[best]), rough):
        raise WorldError(_cut_off(where))
    clean = np.zeros_like(rough)
    cv2.drawContours(clean, contours, best, 255, cv2.FILLED)
    return clean


def _at_border(box: tuple[int, int, int, int], mask: Mask) -> bool:
    x, y, w, h = box
    return x == 0 or y == 0 or x + w == mask.shape[1] or y + h == mask.shape[0]
