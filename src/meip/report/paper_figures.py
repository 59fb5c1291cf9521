"""Figures of the paper's first two experiments: bars with intervals, heat maps; told apart without colours, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from textwrap import wrap

import numpy as np

__all__ = ["Bar", "bars_with_intervals", "heat_maps", "page", "words"]

FILLS = ("#222", "url(#lines)", "#999", "url(#dots)", "#ddd", "url(#cross)", "#fff", "url(#bars)", "#555", "url(#back)")
TILES = {  # patterns, so that bars are told apart in black and white
    "lines": (6, '<path d="M0,6 L6,0" stroke="#222"/>'),
    "dots": (6, '<circle cx="3" cy="3" r="1.4" fill="#222"/>'),
    "cross": (7, '<path d="M0,0 L7,7 M7,0 L0,7" stroke="#777"/>'),
    "bars": (5, '<path d="M0,2.5 H5" stroke="#222"/>'),
    "back": (4, '<path d="M0,0 L4,4" stroke="#222" stroke-width="1.6"/>'),
}
PATTERNS = "".join(
    f'<pattern id="{name}" width="{size}" height="{size}" patternUnits="userSpaceOnUse"><rect width="{size}" '
    f'height="{size}" fill="#fff"/>{drawn}</pattern>'
    for name, (size, drawn) in TILES.items()
)
PATTERNS = f"<defs>{PATTERNS}</defs>"
Bar = tuple[float, float, float, float | None]  # value, low, high, a tick beside it
HIGH = 190.0
SIDE = 190.0  # of a heat map


def words(x: float, y: float, text: str, anchor: str = "start", size: int = 12, weight: str = "400") -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">'
        f"{escape(text)}</text>"
    )


def page(width: float, height: float, title: str, parts: Sequence[str], note: str = "") -> str:
    """A drawing with its title above and a note below, in as many lines as it takes; `height` is without the note."""
    told = wrap(note, int((width - 40) / 6))
    lower = [words(20, height + 14 + 15 * k, line, size=11) for k, line in enumerate(told)]
    height += 15 * len(told) + 12
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="system-ui, sans-serif" fill="#222"><title>{escape(title)}</title>{PATTERNS}'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>{words(20, 28, title, size=16, weight="600")}'
        f"{''.join((*parts, *lower))}</svg>\n"
    )


def bars_with_intervals(
    panels: Mapping[str, Mapping[str, Mapping[str, Bar]]],
    title: str,
    note: str,
    span: tuple[float, float] = (0.0, 1.0),
    lines: Mapping[tuple[str, str], float] | None = None,
    columns: int = 2,
) -> str:
    """Panel -> group -> bar; whiskers are intervals, ticks beside bars, dotted `lines` are of a (panel, group)."""
    names = list(dict.fromkeys(n for groups in panels.values() for bars in groups.values() for n in bars))
    group_width = max(22.0 * len(names) + 56, 160.0)
    wide = group_width * max(len(groups) for groups in panels.values())
    columns = min(columns, len(panels))
    parts: list[str] = []
    for k, (panel, groups) in enumerate(panels.items()):
        left, top = 50 + k % columns * (wide + 56), 66 + k // columns * (HIGH + 66)
        parts += [words(left, top - 12, panel, weight="600"), *_scale(left, left + wide, top, span)]
        for g, (group, bars) in enumerate(groups.items()):
            start = left + g * group_width + 10
            for name, bar in bars.items():
                parts.append(_bar(start + 22 * names.index(name), top, span, names.index(name), bar, name))
            parts.append(words(start + 11 * len(names), top + HIGH + 16, group, "middle"))
            if lines and (panel, group) in lines:
                y, end = _level(lines[panel, group], top, span), start + 22 * len(names) + 2
                parts.append(f'<path d="M{start - 4:.1f},{y:.1f} H{end:.1f}" stroke="#000" stroke-dasharray="2 3"/>')
                parts.append(words(end + 3, y + 4, f"{lines[panel, group]:g}", "start", 11))
    width, top = 50 + columns * (wide + 56) - 30, 66 + -(-len(panels) // columns) * (HIGH + 66) - 14
    beside = max(int((width - 50) // 230), 1)
    for k, name in enumerate(names):
        x, y = 50 + k % beside * (width - 50) / beside, top + k // beside * 18
        parts.append(f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="14" height="12" fill="{_fill(k)}" stroke="#222"/>')
        parts.append(words(x + 20, y, name))
    return page(width, top + -(-len(names) // beside) * 18 + 16, title, parts, note)


def _fill(k: int) -> str:
    return FILLS[k % len(FILLS)]


def _level(value: float, top: float, span: tuple[float, float]) -> float:
    return top + HIGH * (span[1] - value) / (span[1] - span[0])


def _scale(left: float, right: float, top: float, span: tuple[float, float]) -> list[str]:
    parts = []
    for k in range(5):
        value = span[0] + k / 4 * (span[1] - span[0])
        y = _level(value, top, span)
        colour = "#444" if abs(value) < 1e-9 else "#ddd"
        parts.append(f'<path d="M{left:.1f},{y:.1f} H{right:.1f}" stroke="{colour}"/>')
        parts.append(words(left - 6, y + 4, f"{value:g}", "end", 11))
    return parts


def _bar(x: float, top: float, span: tuple[float, float], k: int, bar: Bar, name: str) -> str:
    value, low, high, tick = bar
    zero, level = _level(0.0, top, span), _level(value, top, span)
    y1, y2 = _level(low, top, span), _level(high, top, span)
    box = f'x="{x:.1f}" y="{min(zero, level):.1f}" width="17" height="{max(abs(zero - level), 1.5):.1f}"'
    parts = [f'<rect {box} fill="{_fill(k)}" stroke="#222"><title>{escape(name)}: {value:.3f}</title></rect>']
    for colour, wide in (("#fff", 4), ("#000", 1.4)):
        parts.append(f'<path d="M{x + 8.5:.1f},{y1:.1f} V{y2:.1f}" stroke="{colour}" stroke-width="{wide}"/>')
    if tick is not None:
        y = _level(tick, top, span)
        parts.append(
            f'<path d="M{x - 2:.1f},{y:.1f} h21" stroke="#fff" stroke-width="5"/>'
            f'<path d="M{x - 2:.1f},{y:.1f} h21" stroke="#000" stroke-width="2.5"/>'
        )
    return "".join(parts)


def heat_maps(
    panels: Mapping[str, Mapping[tuple[float, float], float]],
    marks: Mapping[str, Sequence[float]],
    title: str,
    note: str,
    columns: int = 4,
    lines: Sequence[float] = (0.24, 0.85),
) -> str:
    """Panel -> (x, y) -> a share: the darker the more. Dots above: the x that are marked; dotted lines at some x.

    What stands behind a semicolon in the name of a panel is a second line.
    """
    parts = list[str]()
    for k, (panel, cells) in enumerate(panels.items()):
        left, top = 56 + k % columns * (SIDE + 52), 92 + k // columns * (SIDE + 92)
        parts += [words(left, top - 33 + 15 * n, line.strip(), weight="600") for n, line in enumerate(panel.split(";"))]
        parts += _heat_map(cells, marks.get(panel, ()), left, top, lines)
    rows = -(-len(panels) // columns)
    return page(56 + min(columns, len(panels)) * (SIDE + 52), 92 + rows * (SIDE + 92) - 44, title, parts, note)


def _heat_map(
    cells: Mapping[tuple[float, float], float], marks: Sequence[float], left: float, top: float, lines: Sequence[float]
) -> list[str]:
    xs, ys = (sorted({point[axis] for point in cells}) for axis in (0, 1))
    wide, high = SIDE / len(xs), SIDE / len(ys)
    parts = ['<g shape-rendering="crispEdges">']
    for (x, y), value in cells.items():
        place = f'x="{left + xs.index(x) * wide:.2f}" y="{top + SIDE - (ys.index(y) + 1) * high:.2f}"'
        grey = round(250 - 200 * value)
        box = f'width="{wide + 0.3:.2f}" height="{high + 0.3:.2f}" fill="rgb({grey},{grey},{grey})"'
        parts.append(f"<rect {place} {box}/>")
    parts.append(f'</g><rect x="{left}" y="{top}" width="{SIDE}" height="{SIDE}" fill="none" stroke="#444"/>')
    parts += [f'<circle cx="{left + (xs.index(x) + 0.5) * wide:.1f}" cy="{top - 6}" r="2"/>' for x in marks]
    ticks = [(left, f"{xs[0]:g}", "start"), (left + SIDE, f"{xs[-1]:g}", "end")]
    for x in lines:  # at their place among the columns, which need not be evenly spaced
        across = left + (float(np.interp(x, xs, range(len(xs)))) + 0.5) * wide
        for colour, dash in (("#fff", ""), ("#000", "3 3")):
            parts.append(f'<path d="M{across:.1f},{top} v{SIDE}" stroke="{colour}" stroke-dasharray="{dash}"/>')
        if all(abs(across - place) > 32 for place, _, _ in ticks[:2]):
            ticks.append((across, f"{x:g}", "middle"))
    parts += [words(place, top + SIDE + 13, text, anchor, 10) for place, text, anchor in ticks]
    parts += [words(left - 4, top + SIDE, f"{ys[0]:g}", "end", 10), words(left - 4, top + 9, f"{ys[-1]:g}", "end", 10)]
    parts += [words(left + SIDE / 2, top + SIDE + 27, "p of training", "middle", 11)]
    middle = f"translate({left - 30} {top + SIDE / 2}) rotate(-90)"
    parts.append(f'<text transform="{middle}" text-anchor="middle" font-size="11">p of testing</text>')
    return parts
