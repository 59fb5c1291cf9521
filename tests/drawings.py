"""What is wrong with a drawing that one would see at a glance: texts that leave it, or lie on one another."""

from __future__ import annotations

from itertools import combinations
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"
LETTER = 0.5  # width of a letter as a share of its size, at the narrow end: what is found is really wrong
Box = tuple[float, float, float, float]


def text_boxes(svg: str) -> list[tuple[str, Box]]:
    """Every upright text with its place: left, top, right, bottom."""
    found = []
    for text in ElementTree.fromstring(svg).iter(f"{SVG}text"):
        said = "".join(text.itertext())
        if "transform" in text.attrib or not said:
            continue
        x, y, size = (float(text.get(name, "12")) for name in ("x", "y", "font-size"))
        wide = LETTER * size * len(said)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[text.get("text-anchor", "start")] * wide
        found.append((said, (left, y - 0.7 * size, left + wide, y)))
    return found


def misplaced(svg: str) -> list[str]:
    """Texts that leave the drawing, and pairs of texts that overlap."""
    root = ElementTree.fromstring(svg)
    width, height = float(root.get("width", "0")), float(root.get("height", "0"))
    boxes = text_boxes(svg)
    outside = [said for said, (a, b, c, d) in boxes if a < 0 or b < 0 or c > width or d > height]
    pairs = [
        f"{one!r} on {other!r}"
        for (one, (a, b, c, d)), (other, (e, f, g, h)) in combinations(boxes, 2)
        if min(c, g) - max(a, e) > 1 and min(d, h) - max(b, f) > 1
    ]
    return outside + pairs
