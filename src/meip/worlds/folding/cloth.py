"""Garments and cloths: what is folded, and what it looks like after some folds.

A `Garment` is a document: flat parts (body, sleeves, hood, legs) that share their seams. A `Cloth` is a state: layers
from bottom to top, each a simple polygon on the table that knows which part it was, which face it shows and the map
that took it from the garment to the table. Nothing here needs numba; folding itself is in `kernel`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.documents import document
from meip.base.errors import WorldError, did_you_mean
from meip.base.text import plain

__all__ = [
    "CREASE", "NECK", "OUTLINE", "ROUNDING", "SEAM", "TAGS", "Cloth", "Garment", "Layer", "Part", "first_crossing",
    "signed_area",
]  # fmt: skip

MAX_POINTS = 4000  # of a part
MAX_PARTS = 1000
TAGS = ("outline", "seam", "crease", "neck")
OUTLINE, SEAM, CREASE, NECK = range(4)

Point = tuple[float, float]
Ints = NDArray[np.int32]

ROUNDING = 1e-6
"""Cloths whose vertices agree to this (times the root of the garment's area) are the same state."""


def signed_area(polygon: Floats) -> float:
    """Area of a polygon [n, 2], positive if its vertices run counter-clockwise."""
    x, y = polygon[:, 0], polygon[:, 1]
    return 0.5 * float(np.dot(x, np.roll(y, -1)) - np.dot(np.roll(x, -1), y))


@dataclass(frozen=True)
class Part:
    """One flat piece of a garment: a simple polygon, counter-clockwise, with a tag per edge.

    Edge i runs from point i to point i + 1. A seam is an edge that another part of the garment has as well (from its
    own side, hence in the other direction); a neck edge is the part of the outline round the neck.
    """

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "allow_inf_nan": False}

    name: str
    points: tuple[Point, ...]
    tags: tuple[str, ...] = ()
    """One of `TAGS` per edge; by default every edge is outline."""

    def __post_init__(self) -> None:
        points = tuple((float(x), float(y)) for x, y in self.points)
        tags = tuple(self.tags) or ("outline",) * len(points)
        _check_outline(self.name, points, tags)
        if signed_area(np.array(points)) < 0:  # reversed: the edge before point i becomes the edge after it
            points = points[::-1]
            tags = tags[:-1][::-1] + tags[-1:]
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "tags", tags)

    @property
    def polygon(self) -> Floats:
        """The points as an array [n, 2]."""
        return np.array(self.points, dtype=np.float64)

    @property
    def area(self) -> float:
        return signed_area(self.polygon)


@document("garment")
@dataclass(frozen=True)
class Garment:
    """A garment laid flat: parts whose union is the outline. y points up; the unit of length is free."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid", "allow_inf_nan": False}
    stands_for: ClassVar[tuple[str, str]] = ("folding", "garment")

    name: str
    parts: tuple[Part, ...]
    template: str = ""
    """The kind of garment (t-shirt, long-sleeve, sweater, hoodie, tank-top, trousers), or how it was imported."""
    logo: tuple[Point, ...] = ()
    """A polygon printed on the front; empty for none."""
    style: dict[str, float] = field(default_factory=dict)
    """The template's parameters, where it came from one."""
    onto: tuple[float, ...] = field(default=(), metadata={"omit_default": True})
    """From its coordinates to pixels of the picture that it came from: a homography, row by row; empty for none."""
    centimetre: float = field(default=0.0, metadata={"omit_default": True})
    """The length of a unit in centimetres; 0 if nothing tells it."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", tuple(self.parts))
        object.__setattr__(self, "logo", tuple((float(x), float(y)) for x, y in self.logo))
        object.__setattr__(self, "onto", tuple(float(number) for number in self.onto))
        if len(self.onto) not in (0, 9) or (self.onto and abs(np.linalg.det(np.reshape(self.onto, (3, 3)))) < 1e-12):
            raise WorldError(f"garment {self.name!r}: onto is a homography: nine numbers, not degenerate, or none")
        if self.centimetre < 0:
            raise WorldError(f"garment {self.name!r}: a unit cannot be {self.centimetre} cm long")
        if not self.parts:
            raise WorldError(f"garment {self.name!r} has no parts; it needs at least a body")
        if len(self.parts) > MAX_PARTS:
            raise WorldError(f"garment {plain(self.name)!r} has {len(self.parts):,} parts; {MAX_PARTS} at most")
        names = [part.name for part in self.parts]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise WorldError(f"garment {self.name!r} has two parts called {twice[0]!r}; give each its own name")

    def __hash__(self) -> int:
        return hash((self.name, self.template, self.parts))

    @property
    def area(self) -> float:
        return sum(part.area for part in self.parts)

    def part(self, name: str) -> Part:
        """The part of this name, or an error that lists them."""
        for part in self.parts:
            if part.name == name:
                return part
        known = [part.name for part in self.parts]
        raise WorldError(f"garment {self.name!r} has no part {name!r}; {did_you_mean(name, known)}")


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer of a cloth, to look at."""

    polygon: Floats  # [n, 2] on the table, counter-clockwise
    tags: NDArray[np.uint8]  # [n] index into TAGS: edge i runs from vertex i to vertex i + 1
    part: str
    face: int
    """+1 if the side that was up on the flat garment is up, -1 if it is turned over."""
    affine: Floats  # [2, 3] garment -> table


class Cloth:
    """A state: layers from bottom to top, as a struct of arrays. Immutable, hashable, equal by (rounded) content."""

    __slots__ = ("_key", "label", "maps", "parts", "scale", "start", "tag", "xy")

    def __init__(
        self, start: Ints, xy: Floats, tag: NDArray[np.uint8], label: Ints, maps: Floats, parts: tuple[str, ...],
        scale: float,
    ) -> None:  # fmt: skip
        self.start = start  # [L + 1] where each layer's vertices start
        self.xy = xy  # [V, 2] on the table, counter-clockwise within a layer
        self.tag = tag  # [V] of the edge that starts at the vertex
        self.label = label  # [L, 2] index into parts, face
        self.maps = maps  # [L, 2, 3] garment -> table (isometries)
        self.parts = parts
        self.scale = scale  # root of the garment's area: the unit of length of everything that is learned
        self._key: bytes | None = None
        start.flags.writeable = xy.flags.writeable = tag.flags.writeable = False
        label.flags.writeable = maps.flags.writeable = False

    @classmethod
    def flat(cls, garment: Garment) -> Cloth:
        """The garment as it lies on the table before the first fold."""
        parts = garment.parts
        sizes = [len(part.points) for part in parts]
        maps = np.zeros((len(parts), 2, 3))
        maps[:, 0, 0] = maps[:, 1, 1] = 1.0
        return cls(
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int32),
            np.concatenate([part.polygon for part in parts]),
            np.array([TAGS.index(tag) for part in parts for tag in part.tags], dtype=np.uint8),
            np.array([[i, 1] for i in range(len(parts))], dtype=np.int32),
            maps,
            tuple(part.name for part in parts),
            float(np.sqrt(garment.area)),
        )

    def __len__(self) -> int:
        return len(self.label)

    def __getitem__(self, i: int) -> Layer:
        """Layer i, counted from the bottom (negative: from the top)."""
        i = range(len(self))[i]
        low, high = self.start[i], self.start[i + 1]
        part, face = self.label[i]
        return Layer(self.xy[low:high], self.tag[low:high], self.parts[part], int(face), self.maps[i])

    def __iter__(self) -> Iterator[Layer]:
        return (self[i] for i in range(len(self)))

    @property
    def areas(self) -> Floats:
        """The area of each layer, [L]."""
        following = np.arange(1, len(self.xy) + 1)
        following[self.start[1:] - 1] = self.start[:-1]
        x, y = (self.xy - np.repeat(self.xy[self.start[:-1]], np.diff(self.start), axis=0)).T
        areas: Floats = 0.5 * np.add.reduceat(x * y[following] - x[following] * y, self.start[:-1])
        return areas

    @property
    def area(self) -> float:
        """Summed area of the layers; no fold changes it."""
        return float(self.areas.sum())

    @property
    def bounds(self) -> tuple[float, float, float, float]:
        """Smallest x, smallest y, largest x, largest y."""
        low, high = self.xy.min(axis=0), self.xy.max(axis=0)
        return float(low[0]), float(low[1]), float(high[0]), float(high[1])

    @property
    def largest(self) -> int:
        """The index of the layer with the largest area (the lowest such layer)."""
        return int(np.argmax(np.round(self.areas / self.scale**2, 9)))

    @property
    def key(self) -> bytes:
        """The content, rounded: equal for equal states."""
        if self._key is None:
            return self.know_key(np.round(self.xy * (1.0 / (ROUNDING * self.scale))).astype(np.int64))
        return self._key

    def know_key(self, rounded: NDArray[np.int64]) -> bytes:
        """Make the key from the rounded vertices [V, 2]."""
        parts = self.start.tobytes(), rounded.tobytes(), self.tag.tobytes(), self.label.tobytes()
        self._key = b"".join(parts)
        return self._key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Cloth) and self.key == other.key and self.parts == other.parts

    def __hash__(self) -> int:
        return hash(self.key)

    def __reduce__(self) -> tuple[Any, ...]:
        """Through the constructor, so that arrays are read-only again in another process."""
        return Cloth, (self.start, self.xy, self.tag, self.label, self.maps, self.parts, self.scale)

    def __repr__(self) -> str:
        return f"Cloth({len(self)} layers of {', '.join(self.parts)})"


def _check_outline(name: str, points: Sequence[Point], tags: Sequence[str]) -> None:
    """A part must be a simple polygon with known tags."""
    if len(points) < 3:
        raise WorldError(f"part {name!r} has {len(points)} points; a polygon needs at least 3")
    if len(points) > MAX_POINTS:
        raise WorldError(f"part {name!r} has {len(points):,} points; {MAX_POINTS:,} at most: straighten its outline")
    if len(tags) != len(points):
        raise WorldError(f"part {name!r} has {len(points)} edges but {len(tags)} tags; give one tag per edge")
    for tag in tags:
        if tag not in TAGS:
            raise WorldError(f"part {name!r}: unknown edge tag {tag!r}; {did_you_mean(tag, TAGS)}")
    polygon = np.array(points)
    if not np.isfinite(polygon).all():
        raise WorldError(f"part {name!r} has a point that is not finite")
    crossing = first_crossing(polygon)
    if crossing is not None:
        i, j = crossing
        raise WorldError(
            f"part {name!r}: its outline crosses itself: the edge from point {i} meets the edge from point {j}; "
            "list the points in order round the outline"
        )
    if abs(signed_area(polygon)) < 1e-12 * float(np.ptp(polygon, axis=0).max()) ** 2:
        raise WorldError(f"part {name!r} has no area: its points lie on a line")


def first_crossing(polygon: Floats) -> tuple[int, int] | None:
    """The first two edges of a polygon [n, 2] that touch without being neighbours, or None if it is simple."""
    n = len(polygon)
    a, b = polygon, np.roll(polygon, -1, axis=0)
    if (a == b).all(axis=1).any():
        i = int(np.argmax((a == b).all(axis=1)))
        return i, (i + 1) % n

    def side(p: Floats, q: Floats, r: Floats) -> Floats:
        return np.sign(
            (q[..., 0] - p[..., 0]) * (r[..., 1] - p[..., 1]) - (q[..., 1] - p[..., 1]) * (r[..., 0] - p[..., 0])
        )

    rows = max(1, 2**18 // n)  # so many edges at a time, each with all
    for first in range(0, n, rows):
        p, q, r, s = a[first : first + rows, None], b[first : first + rows, None], a[None], b[None]
        split = (side(p, q, r) * side(p, q, s) <= 0) & (side(r, s, p) * side(r, s, q) <= 0)
        boxes = ((np.maximum(p, q) >= np.minimum(r, s)) & (np.maximum(r, s) >= np.minimum(p, q))).all(axis=-1)
        gap = np.abs(np.arange(first, first + len(p))[:, None] - np.arange(n)[None])
        meets = split & boxes & (gap > 1) & (gap < n - 1)
        if meets.any():
            i, j = divmod(int(np.argmax(meets)), n)
            return first + i, j
    return None
