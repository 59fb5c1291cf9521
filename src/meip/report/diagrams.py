"""Diagrams of small worlds: states with arrows between them, and strips of marks, filled or empty."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from meip.report.paper_figures import page, words

__all__ = ["Arrow", "Mark", "states_and_arrows", "strip"]

RADIUS = 22.0
SHAPES = {  # in a square of 10 x 14 around 0, 0
    "flame": '<path d="M0,-8 C5,-3 5,1 2,3 L-2,3 C-5,1 -4,-3 0,-8 z"/><path d="M0,3 V8" stroke-width="2.6"/>',
    "stem": '<path d="M-2.2,-8 h4.4 v16 h-4.4 z M-2.2,-3 h4.4 M-2.2,3 h4.4"/>',
    "lump": '<ellipse cx="0" cy="1" rx="6" ry="4.5"/>',
    "dot": '<circle r="4.5"/>',
}


class Arrow(NamedTuple):
    """From one state to another; `bend` is how far it swerves to its left, `desired` ones are drawn green and thick."""

    start: str
    end: str
    label: str
    desired: bool = False
    bend: float = 0.0


def states_and_arrows(
    places: Mapping[str, tuple[float, float]],
    arrows: Sequence[Arrow],
    shaded: Sequence[str],
    title: str,
    lines: Sequence[str],
    note: str,
) -> str:
    """States at their places, shaded ones with a double rim, labelled arrows, and lines of text below."""
    parts = [
        *(f'<defs><marker id="{name}" viewBox="0 0 10 10" refX="9" refY="5" markerWidth="{size}" markerHeight="{size}" '
          f'orient="auto"><path d="M0,0 L10,5 L0,10 z" fill="{colour}"/></marker></defs>'
          for name, colour, size in (("tip", "#222", 7), ("green", "#2e7d32", 5))),
    ]  # fmt: skip
    for arrow in arrows:
        parts += _loop(places[arrow.start], arrow) if arrow.start == arrow.end else _arrow(places, arrow)
    for name, (x, y) in places.items():
        fill = "#ddd" if name in shaded else "#fff"
        parts.append(f'<circle cx="{x}" cy="{y}" r="{RADIUS}" fill="{fill}" stroke="#222" stroke-width="1.6"/>')
        if name in shaded:
            parts.append(f'<circle cx="{x}" cy="{y}" r="{RADIUS - 4}" fill="none" stroke="#222"/>')
        parts.append(words(x, y + 5, name, "middle", 14))
    below = max(y for _, y in places.values()) + RADIUS + 34
    parts += [words(20, below + 20 * k, line) for k, line in enumerate(lines)]
    width = max(max(x for x, _ in places.values()) + RADIUS + 60, 560.0)
    return page(width, below + 20 * len(lines), title, parts, note)


def _style(arrow: Arrow) -> str:
    colour, wide, tip = ("#2e7d32", 3.2, "green") if arrow.desired else ("#222", 1.5, "tip")
    return f'fill="none" stroke="{colour}" stroke-width="{wide}" marker-end="url(#{tip})"'


def _arrow(places: Mapping[str, tuple[float, float]], arrow: Arrow) -> list[str]:
    (x1, y1), (x2, y2) = places[arrow.start], places[arrow.end]
    long = math.hypot(x2 - x1, y2 - y1)
    ux, uy = (x2 - x1) / long, (y2 - y1) / long
    cx, cy = (x1 + x2) / 2 + uy * arrow.bend, (y1 + y2) / 2 - ux * arrow.bend
    ends = []
    for (x, y), other in (((x1, y1), (cx, cy)), ((x2, y2), (cx, cy))):
        reach = math.hypot(other[0] - x, other[1] - y)
        ends.append((x + (other[0] - x) / reach * (RADIUS + 3), y + (other[1] - y) / reach * (RADIUS + 3)))
    path = f"M{ends[0][0]:.1f},{ends[0][1]:.1f} Q{cx:.1f},{cy:.1f} {ends[1][0]:.1f},{ends[1][1]:.1f}"
    middle = ((x1 + x2) / 4 + cx / 2, (y1 + y2) / 4 + cy / 2)
    side = 1 if arrow.bend >= 0 else -1
    upright, beside = abs(uy) > 0.5, 12 if arrow.desired else 9
    anchor = ("start" if side * uy > 0 else "end") if upright else "middle"
    x, y = middle[0] + side * uy * 14, middle[1] - side * ux * beside + 3 * upright
    label = words(x, y, arrow.label, anchor)
    return [f'<path d="{path}" {_style(arrow)}/>', label]


def _loop(place: tuple[float, float], arrow: Arrow) -> list[str]:
    x, y = place
    path = f"M{x + 21:.1f},{y - 10:.1f} C{x + 62:.1f},{y - 30:.1f} {x + 62:.1f},{y + 30:.1f} {x + 23:.1f},{y + 11:.1f}"
    return [f'<path d="{path}" {_style(arrow)}/>', words(x + 58, y + 4, arrow.label)]


class Mark(NamedTuple):
    """So many marks of a shape, the first of them filled."""

    shape: str
    filled: int
    total: int


def strip(
    headings: Sequence[str],
    rows: Mapping[str, Sequence[Sequence[Mark]]],
    title: str,
    note: str,
    legend: Mapping[str, str],
) -> str:
    """Rows of cells, each with lines of marks; the legend says what a shape is."""
    most = max(mark.total for cells in rows.values() for cell in cells for mark in cell)
    left, wide, high = 36 + 7.0 * max(map(len, rows)), 16.0 * most + 34, 22.0
    tall = {name: high * max(len(cell) for cell in cells) + 18 for name, cells in rows.items()}
    parts = [words(left + k * wide, 62, text, weight="600") for k, text in enumerate(headings)]
    top = 76.0
    for name, cells in rows.items():
        parts.append(words(20, top + tall[name] / 2 + 1, name))
        parts.append(f'<path d="M20,{top - 4:.1f} H{left + len(headings) * wide - 20:.1f}" stroke="#ccc"/>')
        for k, cell in enumerate(cells):
            for n, mark in enumerate(cell):
                parts += _marks(mark, left + k * wide, top + 14 + n * high)
        top += tall[name]
    x = 20.0
    for shape, meaning in legend.items():
        parts += [*_marks(Mark(shape, 1, 1), x, top + 8), words(x + 18, top + 12, meaning)]
        x += 46 + 7 * len(meaning)
    return page(left + len(headings) * wide, top + 30, title, parts, note)


def _marks(mark: Mark, x: float, y: float) -> list[str]:
    drawn = []
    for k in range(mark.total):
        fill = "#222" if k < mark.filled else "#fff"
        colour = "#222" if k < mark.filled else "#aaa"
        place = f'transform="translate({x + 7 + 16 * k:.1f} {y:.1f})"'
        drawn.append(f'<g {place} fill="{fill}" stroke="{colour}">{SHAPES[mark.shape]}</g>')
    return drawn
