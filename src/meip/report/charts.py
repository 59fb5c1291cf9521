"""Line charts as plain SVG files: a handful of marks, themable, readable without a script."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["line_chart"]

WIDTH, HEIGHT = 640, 400
LEGEND = 30  # room below for a second row of names
LETTER = 7  # width of a letter, about
LEFT, RIGHT, TOP, BOTTOM = 60, 20, 50, 60
COLOURS = ("#1b6ca8", "#d1495b", "#2e8b57", "#8d6cab", "#c98a1b", "#4a4e69", "#5b8e9c", "#a05a2c")
DASHES = ("", "6 4", "2 3", "8 3 2 3", "1 4", "10 4", "4 2", "3 6")
MARKED = 12  # points of a line up to which each has a mark
SHAPES = (
    "M-4.5,0 a4.5,4.5 0 1,0 9,0 a4.5,4.5 0 1,0 -9,0",
    "M-4,-4 h8 v8 h-8 z",
    "M0,-5.5 L5,4 L-5,4 z",
    "M0,-6 L5,0 L0,6 L-5,0 z",
    "M0,5.5 L5,-4 L-5,-4 z",
    "M-1.5,-5 h3 v3.5 h3.5 v3 h-3.5 v3.5 h-3 v-3.5 h-3.5 v-3 h3.5 z",
)  # circle, square, triangle, diamond, triangle, cross
Points = Sequence[tuple[float, float]]
Sample = tuple[str, int | None]  # how a line is drawn ("": not), and the number of its marks


def line_chart(
    series: Mapping[str, Points], title: str, x: str, y: str, span: tuple[float, float] | None = None, log: bool = False
) -> str:
    """A line for each series; `span` is the range of y (default: that of the data).

    `log`: x is a few counts, some far apart, each with its own tick.
    """
    every = [point for points in series.values() for point in points]
    y0, y1 = span or (min(p[1] for p in every), max(p[1] for p in every))
    y1 = y1 if y1 > y0 else y0 + 1
    ticks = sorted({p[0] for p in every})
    if not log:
        x0, x1 = ticks[0], max(ticks[-1], ticks[0] + (len(ticks) == 1))
        ticks = [x0 + k / 5 * (x1 - x0) for k in range(6)]

    def scale(value: float) -> float:
        return math.log(value) if log else value

    low, high = scale(ticks[0]), scale(ticks[-1])

    def across(value: float) -> float:
        return LEFT + (scale(value) - low) / ((high - low) or 1.0) * (WIDTH - LEFT - RIGHT)

    def place(point: tuple[float, float]) -> tuple[float, float]:
        return across(point[0]), HEIGHT - BOTTOM - (point[1] - y0) / (y1 - y0) * (HEIGHT - TOP - BOTTOM)

    parts, samples = _axes([(across(tick), f"{tick:.3g}") for tick in ticks], (y0, y1), x, y), list[Sample]()
    for k, (name, points) in enumerate(series.items()):
        places, colour = [place(point) for point in points], COLOURS[k % 8]
        style = f'stroke="{colour}" stroke-dasharray="{DASHES[k % 8]}"'
        path = " ".join(f"{a:.1f},{b:.1f}" for a, b in places)
        marks = [_mark(k, a, b) for a, b in places] if len(places) <= MARKED else []
        parts.append(
            f'<g><title>{escape(name)}</title><polyline fill="none" stroke-width="2.2" {style} points="{path}"/>'
            f"{''.join(marks)}</g>"
        )
        samples.append((style if len(places) > 1 else "", k if marks else None))
    return _document(title, [*parts, *_legend(list(series), samples)])


def _mark(k: int, x: float, y: float) -> str:
    """The k-th shape, in the k-th colour, so that lines are told apart without colours, too."""
    shape, colour = SHAPES[k % len(SHAPES)], COLOURS[k % 8]
    return f'<path transform="translate({x:.1f} {y:.1f})" d="{shape}" fill="{colour}" stroke="#fff"/>'


def _axes(ticks: Sequence[tuple[float, str]], up: tuple[float, float], x: str, y: str) -> list[str]:
    bottom, right = HEIGHT - BOTTOM, WIDTH - RIGHT
    parts = []
    for k in range(6):
        level = bottom - k / 5 * (HEIGHT - TOP - BOTTOM)
        parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{level:.1f}" y2="{level:.1f}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 8, level + 4, f"{up[0] + k / 5 * (up[1] - up[0]):.3g}", "end"))
    parts += [_text(place, bottom + 18, tick, "middle") for place, tick in ticks]
    parts.append(f'<line x1="{LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}" stroke="#444"/>')
    parts.append(_text((LEFT + right) / 2, bottom + 36, x, "middle"))
    middle = (TOP + bottom) / 2
    parts.append(
        f'<text transform="translate(16 {middle}) rotate(-90)" text-anchor="middle" font-size="13">{escape(y)}</text>'
    )
    return parts


def _legend(names: Sequence[str], samples: Sequence[Sample]) -> list[str]:
    """Names with a sample of their line and mark, in as many rows as they need."""
    parts, left, level = [], float(LEFT), HEIGHT - 4
    for name, (style, shape) in zip(names, samples, strict=True):
        width = 27 + LETTER * len(name) + 16
        if left + width > WIDTH - RIGHT and left > LEFT:
            left, level = float(LEFT), level + 18
        line = (
            f'<line x1="{left:.1f}" x2="{left + 22:.1f}" y1="{level - 4}" y2="{level - 4}" stroke-width="3" {style}/>'
        )
        parts.append(line * bool(style) + ("" if shape is None else _mark(shape, left + 11, level - 4)))
        parts.append(_text(left + 27, level, name, "start"))
        left += width
    return parts


def _text(x: float, y: float, text: str, anchor: str) -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="12">{escape(text)}</text>'


def _document(title: str, parts: Sequence[str]) -> str:
    size = f'viewBox="0 0 {WIDTH} {HEIGHT + LEGEND}" width="{WIDTH}" height="{HEIGHT + LEGEND}"'
    head = f'<svg xmlns="http://www.w3.org/2000/svg" role="img" {size}'
    return (
        f'{head} font-family="system-ui, sans-serif" fill="#222"><title>{escape(title)}</title>'
        f'<rect width="{WIDTH}" height="{HEIGHT + LEGEND}" fill="#fff"/>'
        f'<text x="{LEFT}" y="28" font-size="16" font-weight="600">{escape(title)}</text>{"".join(parts)}</svg>\n'
    )
