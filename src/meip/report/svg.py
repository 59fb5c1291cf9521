"""Small drawings of our own: curves of concepts, the learned order as layered boxes with arrows, sheets of pictures.

The first two are inline SVG that takes its colours from the page (classes and currentColor); all carry titles for
screen readers.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import escape
from textwrap import wrap

from meip.model.world import Picture
from meip.tasks.explain import Curve, Explanation, Reading, layers, reduced

__all__ = ["curve_svg", "order_svg", "sheet_svg"]

WIDTH, HEIGHT = 260.0, 96.0
LEFT, RIGHT, TOP, BOTTOM = 36.0, 12.0, 10.0, 20.0
BOX, GAP, RISE, LINE = 232.0, 28.0, 46.0, 17.0
CELL, MARGIN, LINES, HEAD = 220.0, 20.0, 38.0, 50.0  # of a sheet of pictures


def curve_svg(reading: Reading, low: float, high: float) -> str:
    """What a concept adds to g, over its value; `low` and `high` are shared by all plots, so that heights compare."""
    values = [x for curve in reading.curves for x, _ in curve]
    first, last = min(values), max(values)
    margin = 40.0 if reading.kind == "boolean" else 0.0
    spread, span = (last - first) or 1.0, (high - low) or 1.0

    def at(x: float, y: float) -> tuple[float, float]:
        across = LEFT + margin + (x - first) / spread * (WIDTH - LEFT - RIGHT - 2 * margin)
        return across, TOP + (high - y) / span * (HEIGHT - TOP - BOTTOM)

    zero = at(first, 0.0)[1]
    parts = [f'<line class="axis" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{zero:.1f}" y2="{zero:.1f}"/>']
    usual = _mean_or_first(reading)
    if len(reading.curves) == 1 or _comparable(reading):
        parts.append(_line(reading, [at(x, y) for x, y in usual], zero, "curve"))
    if len(reading.curves) > 1:
        parts += [_line(reading, [at(x, y) for x, y in curve], zero, "member") for curve in reading.curves]
    labels = ("no", "yes") if reading.kind == "boolean" else (f"{first:.3g}", f"{last:.3g}")
    anchors = ("middle", "middle") if margin else ("start", "end")
    parts += [
        _label(at(x, 0.0)[0], HEIGHT - 5, text, anchor)
        for x, text, anchor in zip((first, last), labels, anchors, strict=True)
    ]
    far = max((y for _, y in usual), key=abs)
    ticks = [0.0, far] if abs(at(first, far)[1] - zero) > 12 else [0.0]
    parts += [_label(LEFT - 6, at(first, y)[1] + 4, f"{y:+.1f}" if y else "0", "end") for y in ticks]
    title = f"{reading.english}: {', '.join(f'{x:.3g} adds {y:+.2f}' for x, y in usual)}"
    return _svg(WIDTH, HEIGHT, title, parts, "plot")


def _comparable(reading: Reading) -> bool:
    """Do the members' curves bend at the same values?"""
    return len({tuple(x for x, _ in c) for c in reading.curves}) == 1


def _mean(curves: Sequence[Curve]) -> Curve:
    """The mean of curves over the same values."""
    return tuple((points[0][0], sum(y for _, y in points) / len(points)) for points in zip(*curves, strict=True))


def _mean_or_first(reading: Reading) -> Curve:
    return _mean(reading.curves) if _comparable(reading) else reading.curves[0]


def _line(reading: Reading, points: Sequence[tuple[float, float]], zero: float, style: str) -> str:
    """A curve with its knots as dots; bars for booleans and tables, which have nothing in between."""
    if reading.kind in ("boolean", "table"):
        wide = "wide " if reading.kind == "boolean" else ""
        if style == "member":
            return "".join(f'<circle class="member" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points[-1:])
        return "".join(
            f'<line class="{style} {wide}bar" x1="{x:.1f}" x2="{x:.1f}" y1="{zero:.1f}" y2="{y:.1f}"/>'
            for x, y in points
        )
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    dots = "".join(f'<circle class="{style} dot" cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
    return f'<polyline class="{style}" points="{path}"/>' + (dots if style == "curve" else "")


def order_svg(found: Explanation) -> str:
    """Boxes in layers from top to bottom; an arrow says: only then. What follows from other arrows is left out."""
    edges = reduced(found.order)
    rows = layers(edges)
    texts = {str(c): wrap(found.english[str(c)], 28) for row in rows for c in row}
    width = max(len(row) for row in rows) * (BOX + GAP) - GAP + 4
    places: dict[str, tuple[float, float, float]] = {}  # left, top, height
    top = 2.0
    for row in rows:
        left = (width - (len(row) * (BOX + GAP) - GAP)) / 2
        height = max(len(texts[str(c)]) for c in row) * LINE + 18
        for number, concept in enumerate(row):
            places[str(concept)] = (left + number * (BOX + GAP), top, height)
        top += height + RISE
    parts = [
        '<defs><marker id="tip" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="8" markerHeight="8" orient="auto">'
        '<path class="tip" d="M0,0 L10,5 L0,10 z"/></marker></defs>'
    ]
    for edge in edges:
        label = f"{edge.confidence:.0%}" if found.members > 1 else ""
        parts.append(_arrow(places[str(edge.first)], places[str(edge.then)], label))
    for name, place in places.items():
        parts.append(_box(place, texts[name], name))
    told = "; ".join(f"{found.english[str(e.first)]}, and only then {found.english[str(e.then)]}" for e in edges)
    return _svg(width, top - RISE + 4, f"The learned order: {told}", parts, "order")


def _arrow(start: tuple[float, float, float], end: tuple[float, float, float], label: str) -> str:
    x1, y1 = start[0] + BOX / 2, start[1] + start[2]
    x2, y2 = end[0] + BOX / 2, end[1] - 2
    middle = (y1 + y2) / 2
    path = f"M{x1:.1f},{y1:.1f} C{x1:.1f},{middle:.1f} {x2:.1f},{middle:.1f} {x2:.1f},{y2:.1f}"
    text = _label((x1 + x2) / 2, middle + 4, label, "middle") if label else ""
    return f'<path class="arrow" d="{path}" marker-end="url(#tip)"/>{text}'


def _box(place: tuple[float, float, float], lines: Sequence[str], concept: str) -> str:
    left, top, height = place
    first = top + height / 2 - (len(lines) - 1) * LINE / 2 + 5
    spans = "".join(
        f'<tspan x="{left + BOX / 2:.1f}" y="{first + n * LINE:.1f}">{escape(line)}</tspan>'
        for n, line in enumerate(lines)
    )
    return (
        f"<g><title>{escape(concept)}</title>"
        f'<rect class="box" x="{left:.1f}" y="{top:.1f}" width="{BOX:g}" height="{height:.1f}" rx="8"/>'
        f'<text class="inside" text-anchor="middle">{spans}</text></g>'
    )


def _label(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text class="label" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(text)}</text>'


def _svg(width: float, height: float, title: str, parts: Sequence[str], style: str) -> str:
    return (
        f'<svg class="{style}" role="img" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )


def sheet_svg(pictures: Sequence[Picture], title: str, columns: int = 4) -> str:
    """Pictures of a world as one drawing: each in a cell of the same size, its caption and note below it."""
    columns = min(columns, len(pictures)) or 1
    width = MARGIN + columns * (CELL + MARGIN)
    tall = max((CELL * min(1.0, high / wide) for _, _, wide, high in map(_view, pictures)), default=CELL)
    parts = [_line_of(MARGIN, 30, title, 18, width - 2 * MARGIN, "600")]
    for k, picture in enumerate(pictures):
        x, y = MARGIN + (k % columns) * (CELL + MARGIN), HEAD + (k // columns) * (tall + LINES + MARGIN)
        parts.append(_placed(picture, x, y, tall))
        parts.append(_line_of(x, y + tall + 18, picture.caption, 13, CELL, "600"))
        parts.append(_line_of(x, y + tall + 34, picture.note, 11, CELL))
    height = HEAD + -(-len(pictures) // columns) * (tall + LINES + MARGIN)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" viewBox="0 0 {width:g} '
        f'{height:g}" role="img" font-family="system-ui, sans-serif"><title>{escape(title)}</title>'
        f'<rect width="100%" height="100%" fill="#ffffff"/>{"".join(parts)}</svg>\n'
    )


def _line_of(x: float, y: float, text: str, size: int, width: float, weight: str = "400") -> str:
    """A line of text, cut where it would be wider than this (a letter is a little more than half as wide as high)."""
    most = int(width / (0.58 * size))
    shown = text if len(text) <= most else text[: most - 1].rstrip() + "…"
    return f'<text x="{x:g}" y="{y:g}" font-size="{size}" font-weight="{weight}" fill="#1f2933">{escape(shown)}</text>'


def _head(svg: str) -> tuple[dict[str, str], str]:
    """The attributes of the outermost element of a drawing, and what comes after it."""
    found = re.search(r"<svg\b[^>]*>", svg)
    if found is None:
        return {}, ""
    quoted = re.findall(r"""([\w:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""", found.group())
    given = {name: double or single.replace('"', "&quot;") for name, double, single in quoted}
    return given, svg[found.end() :]


def _view(picture: Picture) -> tuple[float, float, float, float]:
    """What a drawing shows: its viewBox, else its size, else a square."""
    given, _ = _head(picture.svg)
    size = [re.sub(r"[^\d.]", "", given.get(side, "")) for side in ("width", "height")]
    numbers = re.findall(r"-?[\d.]+", given.get("viewBox", "")) or ["0", "0", *size]
    try:
        x, y, wide, high = map(float, numbers)
    except ValueError:
        return 0.0, 0.0, CELL, CELL
    return (x, y, wide, high) if wide > 0 and high > 0 else (0.0, 0.0, CELL, CELL)


def _placed(picture: Picture, x: float, y: float, tall: float) -> str:
    """A drawing inside another one, scaled to a cell; what else its outermost element says is kept."""
    given, rest = _head(picture.svg)
    if not rest:
        return ""
    given.update(x=f"{x:g}", y=f"{y:g}", width=f"{CELL:g}", height=f"{tall:g}")
    given["viewBox"] = " ".join(f"{number:g}" for number in _view(picture))
    said = [f'{name}="{text}"' for name, text in given.items() if name != "xmlns"]
    return f"<svg {' '.join(said)}>{rest}"
