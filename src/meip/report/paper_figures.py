"""Figures of the paper's first two experiments: bars with intervals, heat maps; told apart without colours, too."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

__all__ = ["Bar", "bars_with_intervals", "heat_maps", "page", "words"]

FILLS = ("#222", "url(#lines)", "#999", "url(#dots)", "#ddd", "url(#cross)", "#fff")
PATTERNS = (
    '<defs><pattern id="lines" width="6" height="6" patternUnits="userSpaceOnUse"><rect width="6" height="6" '
    'fill="#fff"/><path d="M0,6 L6,0" stroke="#222"/></pattern><pattern id="dots" width="6" height="6" '
    'patternUnits="userSpaceOnUse"><rect width="6" height="6" fill="#fff"/><circle cx="3" cy="3" r="1.4" fill="#222"/>'
    '</pattern><pattern id="cross" width="7" height="7" patternUnits="userSpaceOnUse"><rect width="7" height="7" '
    'fill="#fff"/><path d="M0,0 L7,7 M7,0 L0,7" stroke="#777"/></pattern></defs>'
)
Bar = tuple[float, float, float, float | None]  # value, low, high, a tick beside it
HIGH = 190.0


def words(x: float, y: float, text: str, anchor: str = "start", size: int = 12, weight: str = "400") -> str:
    """A line of text."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size}" font-weight="{weight}">'
        f"{escape(text)}</text>"
    )


def page(width: float, height: float, title: str, parts: Sequence[str], note: str = "") -> str:
    """A drawing with its title above and a note below."""
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" font-family="system-ui, sans-serif" fill="#222"><title>{escape(title)}</title>{PATTERNS}'
        f'<rect width="{width:g}" height="{height:g}" fill="#fff"/>{words(20, 28, title, size=16, weight="600")}'
        f"{''.join(parts)}{words(20, height - 12, note, size=11)}</svg>\n"
    )


def bars_with_intervals(
    panels: Mapping[str, Mapping[str, Mapping[str, Bar]]],
    title: str,
    note: str,
    span: tuple[float, float] = (0.0, 1.0),
    lines: Mapping[tuple[str, str], float] | None = None,
) -> str:
    """Panel -> group -> bar; whiskers are intervals, triangles the ticks, dotted `lines` are of a (panel, group)."""
    names = list(dict.fromkeys(n for groups in panels.values() for bars in groups.values() for n in bars))
    group_width, left = 22.0 * len(names) + 26, 50.0
    width = left + 20 + group_width * max(len(groups) for groups in panels.values())
    width = max(width, 640.0)
    parts: list[str] = []
    for k, (panel, groups) in enumerate(panels.items()):
        top = 62 + k * (HIGH + 62)
        parts += [words(left, top - 10, panel, weight="600"), *_scale(left, width - 20, top, span)]
        for g, (group, bars) in enumerate(groups.items()):
            start = left + g * group_width + 13
            for name, bar in bars.items():
                parts.append(_bar(start + 22 * names.index(name), top, span, names.index(name), bar, name))
            parts.append(words(start + group_width / 2 - 13, top + HIGH + 16, group, "middle"))
            if lines and (panel, group) in lines:
                y, end = _level(lines[panel, group], top, span), start + group_width - 26
                parts.append(f'<path d="M{start:.1f},{y:.1f} H{end:.1f}" stroke="#000" stroke-dasharray="2 3"/>')
                parts.append(words(end, y - 4, f"{lines[panel, group]:g}", "end", 11))
    top = 62 + len(panels) * (HIGH + 62) - 20
    for k, name in enumerate(names):
        x, y = left + (k % 2) * width / 2, top + k // 2 * 18
        parts.append(f'<rect x="{x:.1f}" y="{y - 10:.1f}" width="14" height="12" fill="{FILLS[k]}" stroke="#222"/>')
        parts.append(words(x + 20, y, name))
    return page(width, top + (len(names) + 1) // 2 * 18 + 30, title, parts, note)


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
    parts = [f'<rect {box} fill="{FILLS[k]}" stroke="#222"><title>{escape(name)}: {value:.3f}</title></rect>']
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
    """Panel -> (x, y) -> a share: the darker the more. Dots above: the x that are marked; dotted lines at some x."""
    size, parts = 190.0, list[str]()
    for k, (panel, cells) in enumerate(panels.items()):
        left, top = 56 + k % columns * (size + 44), 72 + k // columns * (size + 74)
        xs, ys = (sorted({point[axis] for point in cells}) for axis in (0, 1))
        wide, high = size / len(xs), size / len(ys)
        for (x, y), value in cells.items():
            place = f'x="{left + xs.index(x) * wide:.2f}" y="{top + size - (ys.index(y) + 1) * high:.2f}"'
            grey = round(250 - 200 * value)
            box = f'width="{wide + 0.3:.2f}" height="{high + 0.3:.2f}" fill="rgb({grey},{grey},{grey})"'
            parts.append(f"<rect {place} {box}/>")
        parts.append(f'<rect x="{left}" y="{top}" width="{size}" height="{size}" fill="none" stroke="#444"/>')
        parts += [
            f'<circle cx="{left + (xs.index(x) + 0.5) * wide:.1f}" cy="{top - 6}" r="2"/>' for x in marks.get(panel, ())
        ]
        for x in lines:
            across = left + (x - xs[0]) / (xs[-1] - xs[0]) * (size - wide) + wide / 2
            for colour, dash in (("#fff", ""), ("#000", "3 3")):
                parts.append(f'<path d="M{across:.1f},{top} v{size}" stroke="{colour}" stroke-dasharray="{dash}"/>')
            parts.append(words(across, top + size + 13, f"{x:g}", "middle", 10))
        parts += [words(left, top - 16, panel, size=12, weight="600")]
        parts += [words(left, top + size + 13, f"{xs[0]:g}", size=10)]
        parts += [words(left + size, top + size + 13, f"{xs[-1]:g}", "end", 10)]
        parts += [
            words(left - 4, top + size, f"{ys[0]:g}", "end", 10),
            words(left - 4, top + 9, f"{ys[-1]:g}", "end", 10),
        ]
        parts += [words(left + size / 2, top + size + 27, "p of training", "middle", 11)]
        middle = f"translate({left - 30} {top + size / 2}) rotate(-90)"
        parts.append(f'<text transform="{middle}" text-anchor="middle" font-size="11">p of testing</text>')
    rows = -(-len(panels) // columns)
    return page(56 + columns * (size + 44), 72 + rows * (size + 74) + 10, title, parts, note)
