"""Photographed shirts: outlines and keypoints labelled with CVAT, as garments.

An image of the XML file holds one polygon (the mask) and named points (neck, shoulder, sleeve, armpit, waist; left
and right). The outline is the ring of keypoints, or on request the mask's own, wrinkles and all. It is cut from
shoulder to armpit into a body and two sleeves, turned upright and scaled. A sleeve that was photographed lying on the
body is no part of the outline: the shirt is then taken without it. What cannot be used is left out with the reason.
The XML is read with document types refused, so entities cannot expand.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from xml.parsers import expat

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import DocumentError, WorldError, did_you_mean
from meip.base.files import read_bytes
from meip.base.text import plain
from meip.worlds.folding.cloth import Garment, Part, first_crossing, signed_area
from meip.worlds.folding.planar import chord_inside, inserted, nearest_place, pairs, simplified

__all__ = ["CvatImport", "LabelledImage", "Rejection", "garment_of_image", "import_cvat", "read_cvat"]

OUTLINES = ("keypoints", "mask")
MAX_BYTES = 64 * 2**20
MAX_POINTS = 4000
LARGEST = 1e7  # pixels
BODY_LENGTH = 70.0
"""Photographs have no scale: every shirt is made 70 cm from the hem to the neck."""
REACH = 0.12
"""A keypoint further than this share of the diagonal from the outline does not belong to it."""

_ROUND = (
    "waist_left", "waist_right", "armpit_right", "sleeve_right_bottom", "sleeve_right_top", "shoulder_right",
    "neck_right", "neck_left", "shoulder_left", "sleeve_left_top", "sleeve_left_bottom", "armpit_left",
)  # fmt: skip
"""The keypoints in the order in which they follow each other round a shirt."""
_OPTIONAL = frozenset(name for name in _ROUND if name.startswith("sleeve_"))


@dataclass
class LabelledImage:
    """What one image of the file says: outlines and named points, y down, in pixels."""

    name: str
    line: int
    polygons: list[Floats] = field(default_factory=list)
    points: dict[str, Floats] = field(default_factory=dict)


@dataclass(frozen=True)
class Rejection:
    """An image that gives no garment, and why."""

    name: str
    line: int
    reason: str


@dataclass(frozen=True)
class CvatImport:
    """The garments of a file, the images they came from, and the images that were left out."""

    garments: tuple[Garment, ...]
    rejected: tuple[Rejection, ...]
    images: tuple[str, ...]


def import_cvat(path: str | Path, *, outline: str = "keypoints", tolerance: float = 0.008) -> CvatImport:
    """Every shirt of a CVAT file, with the ring of its keypoints or its mask for an outline.

    Bends of a mask smaller than `tolerance` times its diagonal are straightened.
    """
    if outline not in OUTLINES:
        raise WorldError(f"no outline is called {outline!r}; {did_you_mean(outline, OUTLINES)}")
    garments, rejected, images = [], [], []
    for number, image in enumerate(read_cvat(path), start=1):
        try:
            found = garment_of_image(image, outline=outline, tolerance=tolerance)
            garments.append(replace(found, name=f"shirt {number}"))  # a camera's file names say nothing to people
            images.append(image.name)
        except WorldError as error:
            rejected.append(Rejection(image.name, image.line, str(error)))
    return CvatImport(tuple(garments), tuple(rejected), tuple(images))


def read_cvat(path: str | Path) -> list[LabelledImage]:
    """The labelled images of a CVAT XML file."""
    data = read_bytes(path, MAX_BYTES)
    reader = _Reader(str(path))
    try:
        reader.parser.Parse(data, True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise DocumentError(
            f"{path}: line {error.lineno}, column {error.offset + 1}: not well-formed XML ({what}); was it cut off?"
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that the parser does not know, or of several bytes
        if isinstance(error, DocumentError):
            raise
        raise DocumentError(f"{path}: line 1: its encoding cannot be read ({error}); save it as UTF-8") from None
    if reader.root != "annotations":
        raise DocumentError(f"{path}: expected CVAT for images (root <annotations>), got <{plain(reader.root)}>")
    if not reader.images:
        raise DocumentError(f"{path}: holds no <image>; export the task from CVAT as 'CVAT for images'")
    return reader.images


class _Reader:
    """Collects polygons and points from the start tags; nothing else in the file matters."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.root = ""
        self.images: list[LabelledImage] = []
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._refuse
        self.parser.StartElementHandler = self._start

    def _refuse(self, *_: object) -> None:
        raise DocumentError(
            f"{self.path}: line {self.parser.CurrentLineNumber}: a document type is declared; CVAT writes none, and "
            "entities are not expanded: remove it"
        )

    def _start(self, tag: str, attributes: dict[str, str]) -> None:
        self.root = self.root or tag
        if tag == "image":
            name = attributes.get("name", f"image {len(self.images)}")
            self.images.append(LabelledImage(name, self.parser.CurrentLineNumber))
        elif tag in ("polygon", "points") and self.images:
            points = self._points(attributes.get("points", ""))
            if tag == "polygon":
                self.images[-1].polygons.append(points)
            elif len(points):
                self.images[-1].points[attributes.get("label", "").rpartition(".")[2]] = points[0]

    def _points(self, text: str) -> Floats:
        try:
            pairs = [[float(number) for number in pair.split(",")] for pair in text.split(";") if pair.strip()]
            found = np.array(pairs, dtype=np.float64).reshape(len(pairs), 2)
            if (np.abs(found) < LARGEST).all():
                return found
        except ValueError:
            pass
        raise DocumentError(
            f'{self.path}: line {self.parser.CurrentLineNumber}: expected points="x,y;x,y;..", got {text[:40]!r}'
        )


def garment_of_image(image: LabelledImage, *, outline: str = "keypoints", tolerance: float = 0.008) -> Garment:
    """Body and sleeves from an outline and its keypoints, upright, or `WorldError` with the reason."""
    mask = _outline(image) if image.polygons or outline == "mask" else None
    optional = _OPTIONAL if outline == "mask" else frozenset()
    missing = [name for name in _ROUND if name not in image.points and name not in optional]
    if missing:
        raise WorldError(f"keypoint {missing[0]!r} is missing; it is needed to tell body and sleeves apart")
    marks = {name: image.points[name] * (1.0, -1.0) for name in _ROUND if name in image.points}
    if mask is not None and outline == "mask":
        polygon, at = _ordered(*_with_keypoints(mask, marks))
    else:
        polygon, at = _ring(marks)
    polygon = _upright(polygon, at)
    sleeves = ["left", "right"]
    for side in tuple(sleeves):
        try:
            polygon, at = _with_seam(polygon, at, side)
        except WorldError:
            if outline == "mask" or len(sleeves) == 1:
                raise
            polygon, at = _without_sleeve(polygon, at, side)
            sleeves.remove(side)
    size = float(np.linalg.norm(np.ptp(polygon, axis=0)))
    return _cut(image.name, polygon, at, sleeves, tolerance * size if outline == "mask" else 0.0)


def _ring(marks: dict[str, Floats]) -> tuple[Floats, dict[str, int]]:
    """The polygon through the keypoints; turned over where they run clockwise (the shirt lies on its front)."""
    polygon = np.array([marks[name] for name in _ROUND])
    crossing = first_crossing(polygon)
    if crossing is not None:
        raise WorldError(
            f"the outline through the keypoints crosses itself (after {_ROUND[crossing[0]]} and after "
            f"{_ROUND[crossing[1]]}): the shirt is folded or crumpled"
        )
    if signed_area(polygon) < 0:
        polygon = polygon * (-1.0, 1.0)
    return polygon, {name: i for i, name in enumerate(_ROUND)}


def _outline(image: LabelledImage) -> Floats:
    """The image's one simple outline with y up, counter-clockwise."""
    if len(image.polygons) != 1:
        raise WorldError(f"expected one outline polygon, found {len(image.polygons)}")
    polygon: Floats = image.polygons[0] * (1.0, -1.0)
    polygon = polygon[(polygon != np.roll(polygon, 1, axis=0)).any(axis=1)]
    if len(polygon) < 8 or len(polygon) > MAX_POINTS:
        raise WorldError(f"the outline has {len(polygon)} different points; expected 8 to {MAX_POINTS}")
    crossing = first_crossing(polygon)
    if crossing is not None:
        raise WorldError(f"the outline crosses or touches itself (its edges {crossing[0]} and {crossing[1]})")
    return polygon if signed_area(polygon) > 0 else polygon[::-1]


def _with_keypoints(polygon: Floats, marks: dict[str, Floats]) -> tuple[Floats, dict[str, int]]:
    """The outline with a vertex inserted at the place nearest to each keypoint, and the vertices' indices."""
    diagonal = float(np.linalg.norm(np.ptp(polygon, axis=0)))
    places: dict[str, float] = {}  # edge index + position along it
    for name, mark in marks.items():
        places[name], gap = nearest_place(polygon, mark)
        if gap > REACH * diagonal:
            raise WorldError(f"keypoint {name!r} is {100 * gap / diagonal:.0f} % of the diagonal away from the outline")
    if len(set(places.values())) < len(places):
        raise WorldError("two keypoints fall on the same point of the outline")
    return inserted(polygon, places)


def _with_seam(polygon: Floats, at: dict[str, int], side: str) -> tuple[Floats, dict[str, int]]:
    """Shoulder and armpit moved along the outline, as little as possible, until a straight seam joins them inside.

    Where a sleeve lies partly under the shirt the line between the labelled points leaves the outline.
    """
    n = len(polygon)
    ring = [name for name in _ROUND if name in at]

    def options(name: str) -> list[tuple[float, float]]:
        k = ring.index(name)
        ahead = (at[ring[(k + 1) % len(ring)]] - at[name]) % n
        behind = (at[name] - at[ring[k - 1]]) % n
        shares = [i / 20 for i in range(1, 19)]
        moved = [(f, at[name] + f * ahead) for f in shares] + [(f, at[name] - f * behind) for f in shares]
        return [(0.0, float(at[name])), *moved]

    shoulders, armpits = options(f"shoulder_{side}"), options(f"armpit_{side}")
    choices = sorted((f + g, p % n, q % n) for f, p in shoulders for g, q in armpits)
    for _, p, q in choices:
        if chord_inside(polygon, p, q):
            return inserted(polygon, {**at, f"shoulder_{side}": p, f"armpit_{side}": q})
    raise WorldError(
        f"no straight seam from shoulder to armpit cuts the {side} sleeve off: it lies on or under the body"
    )


def _without_sleeve(polygon: Floats, at: dict[str, int], side: str) -> tuple[Floats, dict[str, int]]:
    """The outline without a sleeve that lies on the body: straight from the armpit to the shoulder."""
    gone = {f"sleeve_{side}_top", f"sleeve_{side}_bottom"}
    dropped = {at[name] for name in gone}
    kept = [i for i in range(len(polygon)) if i not in dropped]
    rest = polygon[kept]
    if first_crossing(rest) is not None or signed_area(rest) <= 0:
        raise WorldError(f"the {side} sleeve lies on the body, and the outline without it crosses itself")
    return rest, {name: kept.index(i) for name, i in at.items() if name not in gone}


def _ordered(polygon: Floats, at: dict[str, int]) -> tuple[Floats, dict[str, int]]:
    """The outline turned over where the keypoints run clockwise (the shirt lies on its front)."""
    n = len(polygon)
    expected = [name for name in _ROUND if name in at]

    def runs(places: dict[str, int]) -> bool:
        offsets = [(places[name] - places[expected[0]]) % n for name in expected]
        return offsets == sorted(offsets)

    if runs(at):  # left to right along the hem, counter-clockwise: the labels' left is the picture's
        return polygon, at
    turned = {name: n - 1 - i for name, i in at.items()}
    if runs(turned):
        return polygon[::-1] * (-1.0, 1.0), turned
    raise WorldError("the keypoints do not follow each other round the outline in the order of a shirt's")


def _upright(polygon: Floats, at: dict[str, int]) -> Floats:
    """Hem to neck along +y, hem at y = 0, 70 cm long."""
    hem = polygon[[at["waist_left"], at["waist_right"]]].mean(axis=0)
    neck = polygon[[at["neck_left"], at["neck_right"]]].mean(axis=0)
    up = neck - hem
    length = float(np.linalg.norm(up))
    if length < 1e-6 * float(np.ptp(polygon)):
        raise WorldError("the neck's keypoints lie on the hem's, so that up cannot be told")
    x, y = up / length
    turned: Floats = (polygon - hem) @ np.array([[y, x], [-x, y]]) * (BODY_LENGTH / length)
    return turned


def _cut(name: str, polygon: Floats, at: dict[str, int], sleeves: Sequence[str], tolerance: float) -> Garment:
    """Body and sleeves: chains of the outline between keypoints, straightened, and the seams between them."""

    def chain(start: str, *stops: str) -> Floats:
        """From one keypoint through others to the last, each stretch straightened; the last point left out."""
        legs = []
        for a, b in zip((start, *stops), stops, strict=False):
            step = (at[b] - at[a]) % len(polygon)
            legs.append(simplified(polygon[(at[a] + np.arange(step + 1)) % len(polygon)], tolerance)[:-1])
        return np.concatenate(legs)

    def sleeve(side: str, *names: str) -> Part:
        stops = [f"{part}_{side}" if part in ("armpit", "shoulder") else f"sleeve_{side}_{part}" for part in names]
        edge = chain(*[stop for stop in stops if stop in at])
        points = np.concatenate([edge, polygon[[at[stops[-1]]]]])
        return Part(f"sleeve_{side}", pairs(points), ("outline",) * len(edge) + ("seam",))

    right = chain("waist_right", "armpit_right")
    right_shoulder, collar = chain("shoulder_right", "neck_right"), chain("neck_right", "neck_left")
    left_shoulder = chain("neck_left", "shoulder_left")
    left = chain("armpit_left", "waist_left", "waist_right")
    edge_left, edge_right = ("seam" if side in sleeves else "outline" for side in ("left", "right"))
    pieces = [
        (right, "outline"), (polygon[[at["armpit_right"]]], edge_right), (right_shoulder, "outline"), (collar, "neck"),
        (left_shoulder, "outline"), (polygon[[at["shoulder_left"]]], edge_left), (left, "outline"),
    ]  # fmt: skip
    body = Part(
        "body",
        pairs(np.concatenate([points for points, _ in pieces])),
        tuple(tag for points, tag in pieces for _ in range(len(points))),
    )
    ways = {"left": ("shoulder", "top", "bottom", "armpit"), "right": ("armpit", "bottom", "top", "shoulder")}
    others = [sleeve(side, *ways[side]) for side in sleeves]
    if abs(body.area + sum(part.area for part in others) - signed_area(polygon)) > 0.05 * body.area:
        raise WorldError("body and sleeves overlap: the shirt is crumpled")
    return Garment(Path(name).stem or name, (body, *others), template="cvat")
