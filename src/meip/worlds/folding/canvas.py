"""A small drawing: shapes and texts in pixels, y down, written as SVG or painted with OpenCV, both alike.

Colours are roles of a theme. In SVG each role is a CSS variable (``--meip-front``) with the theme's colour as its
default, so that a page can restyle a picture that it embeds.
"""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape, quoteattr
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.base.errors import DocumentError, MeipError
from meip.base.files import write_bytes, write_text

__all__ = ["DARK", "LIGHT", "Canvas", "Dot", "Image", "Shape", "Text", "Theme", "fitted", "load_cv2", "to_image"]
__all__ += ["to_svg", "write_canvas", "write_image"]

Image = NDArray[np.uint8]  # [height, width, 3], blue first as OpenCV has it

LETTER = 0.56
"""Width of an average letter, as a share of the font size; texts are cut to fit by it."""


@dataclass(frozen=True)
class Theme:
    """A colour for each role, as #rrggbb."""

    background: str = "#ffffff"
    panel: str = "#f3f4f6"
    front: str = "#7fb0e0"
    back: str = "#d9e4ef"
    outline: str = "#1f2d3d"
    crease: str = "#4a6076"
    seam: str = "#5d87b0"
    neck: str = "#c2410c"
    logo: str = "#f5b82e"
    fold: str = "#d6336c"
    text: str = "#1f2933"
    muted: str = "#66727f"
    part1: str = "#7fb0e0"
    part2: str = "#f2a27e"
    part3: str = "#8ccf9b"
    part4: str = "#c9a6e4"


LIGHT = Theme()
DARK = Theme(
    background="#14181d", panel="#1e242b", front="#4f86bd", back="#2f4357", outline="#e6edf3", crease="#9fb3c8",
    seam="#86aed6", neck="#ff9a5c", logo="#f5c451", fold="#ff6fa3", text="#e6edf3", muted="#9aa7b4",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Shape:
    """A polygon or a polyline. `fill` and `stroke` are roles; `clip` is a polygon outside which nothing shows."""

    points: Floats  # [n, 2]
    fill: str = ""
    stroke: str = ""
    width: float = 1.0
    dash: tuple[float, float] | None = None
    closed: bool = True
    clip: Floats | None = None
    opacity: float = 1.0


@dataclass(frozen=True)
class Dot:
    """A filled circle."""

    x: float
    y: float
    radius: float
    fill: str


@dataclass(frozen=True)
class Text:
    """One line of text; y is its base line. `anchor` is start, middle or end."""

    x: float
    y: float
    text: str
    size: float = 12.0
    fill: str = "text"
    anchor: str = "start"
    bold: bool = False


@dataclass
class Canvas:
    """A picture of this size: what is drawn, in order."""

    width: float
    height: float
    title: str = ""
    items: list[Shape | Dot | Text] = field(default_factory=list)
    photo: Image | None = None
    """A photograph under everything else, from the upper left corner on, `photo_scale` units to the pixel."""
    photo_scale: float = 1.0

    def add(self, items: Iterable[Shape | Dot | Text]) -> None:
        self.items.extend(items)


def fitted(text: str, width: float, size: float) -> str:
    """The text, cut with an ellipsis where it would be wider than `width`."""
    room = max(int(width / (LETTER * size)), 1)
    text = " ".join(text.split())
    return text if len(text) <= room else text[: max(room - 3, 0)].rstrip() + "..."


def to_svg(canvas: Canvas, theme: Theme = LIGHT) -> str:
    """The canvas as a self-contained SVG document."""
    colours = asdict(theme)

    def paint(**roles: str) -> str:
        """The theme's colours as attributes, for readers that know no variables, and as a style for those that do."""
        plain = "".join(f' {name}="{colours[role] if role else "none"}"' for name, role in roles.items())
        named = ";".join(f"{n}:{f'var(--meip-{r}, {colours[r]})' if r else 'none'}" for n, r in roles.items())
        return f'{plain} style="{named}"'

    body: list[str] = []
    clips: dict[str, str] = {}
    for item in canvas.items:
        if isinstance(item, Text):
            weight = ' font-weight="600"' if item.bold else ""
            body.append(
                f'<text x="{_n(item.x)}" y="{_n(item.y)}" font-size="{_n(item.size)}" text-anchor="{item.anchor}"'
                f"{weight}{paint(fill=item.fill)}>{escape(_printable(item.text))}</text>"
            )
        elif isinstance(item, Dot):
            place = f'cx="{_n(item.x)}" cy="{_n(item.y)}" r="{_n(item.radius)}"'
            body.append(f"<circle {place}{paint(fill=item.fill)}/>")
        else:
            clip = ""
            if item.clip is not None:
                outline = _path(item.clip, True)  # named by the drawing, too: pages hold several
                name = f"c{crc32(repr((canvas.title, outline)).encode('ascii', 'backslashreplace')):08x}"
                clip = f' clip-path="url(#{name})"'
                clips[name] = f'<clipPath id="{name}"><path d="{outline}"/></clipPath>'
            painted = paint(fill=item.fill if item.closed else "", stroke=item.stroke)
            body.append(_shape_svg(item, painted, clip))
    title = escape(_printable(canvas.title))
    size = (
        f'width="{_n(canvas.width)}" height="{_n(canvas.height)}" viewBox="0 0 {_n(canvas.width)} {_n(canvas.height)}"'
    )
    head = f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-label={quoteattr(title)}'
    defs = f"<defs>{''.join(clips.values())}</defs>\n" if clips else ""
    backdrop = f'<rect width="100%" height="100%"{paint(fill="background")}/>'
    backdrop += _photo_svg(canvas)
    font = 'font-family="system-ui, -apple-system, Segoe UI, Roboto, sans-serif"'
    return f"{head} {font}>\n<title>{title}</title>\n{defs}{backdrop}\n" + "\n".join(body) + "\n</svg>\n"


def _photo_svg(canvas: Canvas) -> str:
    if canvas.photo is None:
        return ""
    height, width = (side * canvas.photo_scale for side in canvas.photo.shape[:2])
    _, data = load_cv2().imencode(".jpg", canvas.photo)
    code = b64encode(data.tobytes()).decode("ascii")
    return f'<image width="{_n(width)}" height="{_n(height)}" href="data:image/jpeg;base64,{code}"/>'


def _shape_svg(shape: Shape, painted: str, clip: str) -> str:
    dash = f' stroke-dasharray="{_n(shape.dash[0])} {_n(shape.dash[1])}"' if shape.dash else ""
    faint = f' opacity="{_n(shape.opacity)}"' if shape.opacity < 1 else ""
    lines = f' stroke-width="{_n(shape.width)}" stroke-linejoin="round" stroke-linecap="round"' if shape.stroke else ""
    return f'<path d="{_path(shape.points, shape.closed)}"{painted}{lines}{dash}{faint}{clip}/>'


def _path(points: Floats, closed: bool) -> str:
    return "M" + "L".join(f"{_n(x)} {_n(y)}" for x, y in points) + ("Z" if closed else "")


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def _printable(text: str) -> str:
    return "".join(c for c in text if c.isprintable() and not "\ud800" <= c <= "\udfff")


def load_cv2() -> Any:
    """OpenCV, or a message that says how to get it. Only pictures need it."""
    os.environ.setdefault("OPENCV_IO_MAX_IMAGE_PIXELS", str(2**26))  # for formats whose size we do not read ourselves
    try:
        import cv2
    except ImportError:
        raise MeipError("pictures need OpenCV, which is not installed; run: pip install 'meip[folding]'") from None
    return cv2


def to_image(canvas: Canvas, theme: Theme = LIGHT, scale: float = 2.0) -> Image:
    """The canvas painted with OpenCV, `scale` pixels to the unit; drawn twice as large and averaged down."""
    cv2 = load_cv2()
    height, width = max(round(canvas.height * scale), 1), max(round(canvas.width * scale), 1)
    if height * width > 2**26:
        raise MeipError(f"a picture of {width} x {height} pixels is too large; draw fewer plans or a smaller scale")
    painter = _Painter(cv2, np.empty((2 * height, 2 * width, 3), dtype=np.uint8), asdict(theme), 2 * scale)
    painter.image[:] = painter.colour("background")
    if canvas.photo is not None:
        sides = [max(round(side * canvas.photo_scale * 2 * scale), 1) for side in canvas.photo.shape[:2]]
        photo = cv2.resize(canvas.photo, sides[::-1], interpolation=cv2.INTER_AREA)[: 2 * height, : 2 * width]
        painter.image[: photo.shape[0], : photo.shape[1]] = photo
    for item in canvas.items:
        painter.paint(item)
    image: Image = cv2.resize(painter.image, (width, height), interpolation=cv2.INTER_AREA)
    return image


@dataclass
class _Painter:
    """Paints items at `scale` pixels to the unit."""

    cv2: Any
    image: Image
    colours: dict[str, str]
    scale: float

    def colour(self, role: str) -> tuple[int, int, int]:
        text = self.colours[role]
        return int(text[5:7], 16), int(text[3:5], 16), int(text[1:3], 16)

    def fixed(self, points: Floats) -> NDArray[np.int32]:
        """Pixel centres with four fractional bits, as OpenCV's `shift` takes them."""
        return np.round((points * self.scale - 0.5) * 16).astype(np.int32)

    def paint(self, item: Shape | Dot | Text) -> None:
        if isinstance(item, Text):
            self._text(item)
        elif isinstance(item, Dot):
            centre = self.fixed(np.array([[item.x, item.y]]))[0]
            radius = round(item.radius * self.scale * 16)
            place = (int(centre[0]), int(centre[1]))
            self.cv2.circle(self.image, place, radius, self.colour(item.fill), -1, self.cv2.LINE_AA, 4)
        elif item.clip is None and item.opacity >= 1:
            self._shape(item, self.image)
        else:
            self._blend(item)

    def _blend(self, shape: Shape) -> None:
        """A clipped or faint shape: painted on a copy of its surroundings, of which a share is then taken over."""
        room = shape.width + 1
        size = np.array([self.image.shape[1], self.image.shape[0]])
        low = np.clip(np.floor((shape.points.min(axis=0) - room) * self.scale), 0, size).astype(int)
        high = np.clip(np.ceil((shape.points.max(axis=0) + room) * self.scale), 0, size).astype(int)
        if (high <= low).any():
            return
        part = self.image[low[1] : high[1], low[0] : high[0]]
        shift = low / self.scale
        drawn = part.copy()
        self._shape(replace(shape, points=shape.points - shift), drawn)
        share = np.full(part.shape[:2], 0 if shape.clip is not None else 255, dtype=np.uint8)
        if shape.clip is not None:
            self.cv2.fillPoly(share, [self.fixed(shape.clip - shift)], 255, self.cv2.LINE_AA, 4)
        weight = share[..., None].astype(np.float32) * (shape.opacity / 255)
        part[:] = np.round(part + weight * (drawn.astype(np.float32) - part)).astype(np.uint8)

    def _shape(self, shape: Shape, image: Image) -> None:
        if shape.fill and shape.closed:
            self.cv2.fillPoly(image, [self.fixed(shape.points)], self.colour(shape.fill), self.cv2.LINE_AA, 4)
        if shape.stroke:
            width = max(round(shape.width * self.scale), 1)
            chains = _dashes(shape) if shape.dash else [shape.points]
            closed = shape.closed and shape.dash is None
            for chain in chains:
                line = [self.fixed(chain)]
                self.cv2.polylines(image, line, closed, self.colour(shape.stroke), width, self.cv2.LINE_AA, 4)

    def _text(self, text: Text) -> None:
        """Hershey letters, sized so that capitals have the height that SVG gives them (0.7 of the font size)."""
        font = self.cv2.FONT_HERSHEY_SIMPLEX
        size = text.size * self.scale * 0.7 / 22
        thick = max(round(text.size * self.scale * (0.1 if text.bold else 0.065)), 1)
        line = "".join(c if 32 <= ord(c) < 127 else _ASCII.get(c, "?") for c in text.text)
        (width, _), _ = self.cv2.getTextSize(line, font, size, thick)
        room = LETTER * text.size * self.scale * max(len(line), 1)
        if width > room:
            size, width = size * room / width, room
        left = text.x * self.scale - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.anchor] * width
        place = (round(left), round(text.y * self.scale))
        self.cv2.putText(self.image, line, place, font, size, self.colour(text.fill), thick, self.cv2.LINE_AA)


_ASCII = {"–": "-", "—": "-", "×": "x", "…": "...", "’": "'", "→": ">", "°": " deg", "≥": ">=", "≤": "<="}


def _dashes(shape: Shape) -> list[Floats]:
    """The dashes of a line, as chains of their own."""
    on, off = shape.dash or (1.0, 0.0)
    points = np.concatenate([shape.points, shape.points[:1]]) if shape.closed else shape.points
    chains: list[Floats] = []
    for a, b in pairwise(points):
        length = float(np.linalg.norm(b - a))
        for start in np.arange(0.0, length, on + off):
            shares = np.array([start, min(start + on, length)]) / max(length, 1e-9)
            chains.append(a + shares[:, None] * (b - a))
    return chains


def write_canvas(path: str | Path, canvas: Canvas, theme: Theme = LIGHT) -> None:
    """Write a picture: .svg or .png, by the file's name."""
    suffix = Path(path).suffix.lower()
    if suffix == ".svg":
        write_text(path, to_svg(canvas, theme))
    elif suffix == ".png":
        write_image(path, to_image(canvas, theme))
    else:
        raise DocumentError(f"{path}: pictures are written as .svg or .png, not {suffix or 'without an ending'}")


def write_image(path: str | Path, image: NDArray[np.uint8]) -> None:
    """Write an image or a mask as PNG."""
    _, data = load_cv2().imencode(".png", image)
    write_bytes(path, data.tobytes())
