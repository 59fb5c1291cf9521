"""Pages that load nothing from anywhere, so that they can be mailed and opened offline; and an explanation on one."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

from meip.report.svg import curve_svg, order_svg
from meip.tasks.explain import Explanation, Reading

__all__ = ["explanation_body", "page"]

MOST_CARDS = 24
STYLE = """
:root { color-scheme: light dark; --ink: #1f2933; --soft: #5f6c7b; --paper: #ffffff; --card: #f6f8fa; --edge: #d8dee6;
  --accent: #1a7f6b; --faint: #9fcfc4; --warn: #b4552d; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ee; --soft: #9aa7b6; --paper: #14181d; --card: #1d232b;
  --edge: #343d49; --accent: #4ec3a8; --faint: #2f6b5e; --warn: #e39a72; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 2.5rem 1.5rem 4rem; max-width: 62rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; }
h1 { font-size: 1.6rem; line-height: 1.3; margin: 0 0 .4rem; }
h2 { font-size: 1.1rem; margin: 2.4rem 0 .8rem; }
p.lead { font-size: 1.2rem; margin: .6rem 0; max-width: 48rem; }
p.small, .small { color: var(--soft); font-size: .88rem; }
code { font: .86em ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; color: var(--accent);
  overflow-wrap: anywhere; }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(19rem, 1fr)); gap: 1rem; padding: 0; margin: 0;
  list-style: none; }
.card { background: var(--card); border: 1px solid var(--edge); border-radius: 10px; padding: 1rem 1.1rem; }
.card.wide { grid-column: 1 / -1; }
@media (min-width: 44rem) {
  .card.wide { display: grid; grid-template-columns: 3fr 2fr; column-gap: 1.5rem; grid-auto-rows: max-content; }
  .card.wide h3 { grid-column: 1 / -1; }
  .card.wide > svg { grid-row: 2 / span 9; }
}
.card h3 { font-size: 1rem; margin: 0 0 .2rem; }
.card h3 + svg { margin-top: .6rem; }
.card p { margin: .6rem 0 .3rem; }
.share { height: 6px; border-radius: 3px; background: var(--edge); margin: .7rem 0 .3rem; overflow: hidden; }
.share span { display: block; height: 100%; background: var(--accent); }
.facts { display: flex; justify-content: space-between; gap: 1rem; }
svg, figure img { max-width: 100%; height: auto; display: block; }
figure { margin: 1.4rem 0; }
figure img { background: #ffffff; }
svg text { fill: var(--ink); font-family: inherit; }
svg .label { fill: var(--soft); font-size: 11px; }
svg.order .label { paint-order: stroke; stroke: var(--paper); stroke-width: 6px; }
svg .inside { font-size: 14px; }
svg .axis { stroke: var(--edge); stroke-width: 1; }
svg .curve { stroke: var(--accent); stroke-width: 2.2; fill: none; }
svg .member { stroke: var(--faint); stroke-width: 1.2; fill: none; }
svg .bar { stroke-width: 7; }
svg .wide { stroke-width: 34; }
svg .dot { fill: var(--accent); stroke: none; }
svg .box { fill: var(--card); stroke: var(--accent); stroke-width: 1.4; }
svg .arrow { stroke: var(--soft); stroke-width: 1.6; fill: none; }
svg .tip { fill: var(--soft); }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
th, td { text-align: left; padding: .3rem .7rem .3rem 0; border-bottom: 1px solid var(--edge); vertical-align: top; }
td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; }
tr.dropped td { color: var(--soft); }
summary { cursor: pointer; font-weight: 600; }
.scroll { overflow-x: auto; }
@media print { :root { color-scheme: light; --ink: #1f2933; --soft: #5f6c7b; --paper: #ffffff; --card: #ffffff;
  --edge: #d8dee6; --accent: #1a7f6b; --faint: #9fcfc4; --warn: #b4552d; }
  body { padding: 0; max-width: none; font-size: 10.5pt; } .card, tr, svg, figure { break-inside: avoid; }
  h1, h2, h3 { break-after: avoid; } .scroll { overflow: visible; } .share span, svg * { print-color-adjust: exact;
  -webkit-print-color-adjust: exact; } }
"""


def page(title: str, body: str) -> str:
    """A complete page; the policy forbids it to load or run anything."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; img-src data:; '
        "style-src 'unsafe-inline'\">\n"
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def explanation_body(found: Explanation) -> str:
    """The explanation of a task."""
    sections = [_head(found), _statements(found), _wishes(found)]
    if found.order:
        sections.append(_order(found))
    sections += [_why(found), _provenance(found)]
    return "\n".join(sections)


def _head(found: Explanation) -> str:
    notes = "".join(f"<p>{escape(note)}</p>" for note in found.notes)
    return (
        f"<header><h1>What matters in {escape(found.domain)}</h1>"
        f'<p class="lead">{escape(found.sentence)}</p>{notes}</header>'
    )


def _statements(found: Explanation) -> str:
    if not found.statements:
        return ""
    rows = "".join(
        f"<tr><td>{escape(s.kind)}</td><td>{escape(_capital(s.english))}<br><code>{escape(s.text)}</code></td>"
        f'<td class="number">{f"{s.evidence:.1f}" if s.evidence else ""}</td>'
        f'<td class="number">{s.possible or ""}</td></tr>'
        for s in found.statements
    )
    head = '<th scope="col"></th><th scope="col"></th><th scope="col" class="number">nats</th>'
    return (
        f'<section><h2>What was learned</h2><p class="small">It {escape(found.foreseen)}. Nats: what speaks for it, '
        "beyond its price; the last column: choices at which it could have been otherwise.</p>"
        f'<div class="scroll"><table><thead><tr>{head}<th scope="col" class="number">choices</th></tr></thead>'
        f"<tbody>{rows}</tbody></table></div></section>"
    )


def _wishes(found: Explanation) -> str:
    shown = found.wishes[:MOST_CARDS]
    heights = [y for reading in shown for curve in reading.curves for _, y in curve] or [0.0]
    low, high = min(0.0, *heights), max(0.0, *heights)
    cards = "".join(_card(found, reading, low, high) for reading in shown)
    rest = [(r.text, f"{r.share:.1%}, {r.english}") for r in found.wishes[MOST_CARDS:]]
    more = f"<details><summary>{len(rest)} more with smaller shares</summary>{_table(rest)}</details>" if rest else ""
    return (
        f"<section><h2>{'What plans go by' if found.statements else 'What is wanted'}</h2>"
        '<p class="small">Each drawing shows what a concept adds to the utility, all on the same scale; the bar is its '
        f'share of the whole.</p><ul class="cards">{cards}</ul>{more}</section>'
    )


def _card(found: Explanation, reading: Reading, low: float, high: float) -> str:
    sure = f"<span>{reading.confidence:.0%} of {found.members} agree</span>" if found.members > 1 else ""
    return (
        f'<li class="card"><h3>{escape(_capital(reading.english))}</h3><code>{escape(reading.text)}</code>'
        f'<div class="share"><span style="width:{reading.share:.1%}"></span></div>'
        f'<div class="facts small"><span>{reading.share:.0%} of the utility</span>{sure}</div>'
        f"{curve_svg(reading, low, high)}</li>"
    )


def _order(found: Explanation) -> str:
    share = sum(found.order_share(edge) for edge in found.order)
    whole = "" if found.foreseen else f" The order makes up {share:.0%} of the utility."
    return (
        "<section><h2>In which order</h2>"
        f'<p class="small">An arrow means: only then.{whole}</p>'
        f'<div class="scroll">{order_svg(found)}</div></section>'
    )


def _why(found: Explanation) -> str:
    if not found.decisions:
        return ""
    rows = "".join(
        f'<tr class="{"taken" if d.taken else "dropped"}"><td>{"taken" if d.taken else ""}</td>'
        f"<td>{escape(d.stage)}</td><td><code>{escape(d.concept)}</code></td>"
        f'<td class="number">{d.tau:.3f}</td><td class="number">{d.gain:+.2f}</td><td>{escape(d.reason)}</td></tr>'
        for d in found.decisions
    )
    names = ("", "stage", "concept", "tau", "gain", "why")
    head = "".join(f'<th scope="col"{_right(n)}>{n}</th>' for n in names)
    return (
        f"<section><h2>Why</h2><details><summary>{len(found.decisions)} decisions</summary>"
        '<p class="small">What was considered, the Kendall tau of the demonstrations with it, by how much it would '
        "raise the posterior, and what became of it.</p>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></div>'
        "</details></section>"
    )


def _right(name: str) -> str:
    return ' class="number"' if name in ("tau", "gain") else ""


def _provenance(found: Explanation) -> str:
    given = found.provenance
    facts: list[tuple[str, Any]] = [
        ("demonstrations", given.demonstrations),
        ("their hash", given.demonstrations_hash),
        ("their Kendall tau", f"{found.tau_demo:.3f}"),
        ("members", found.members),
        ("objective", given.objective),
        ("seed", given.seed),
        ("meip", given.meip),
        *((f"evidence: {name}", value) for name, value in given.evidence.items()),
        *((name, value) for name, value in given.options.items() if name != "seed"),
    ]
    return (
        "<section><h2>Where it comes from</h2><details><summary>Options and evidence</summary>"
        f"{_table(facts)}</details></section>"
    )


def _table(rows: Sequence[tuple[str, Any]]) -> str:
    cells = "".join(f'<tr><th scope="row">{escape(k)}</th><td>{escape(str(v))}</td></tr>' for k, v in rows)
    return f'<div class="scroll"><table><tbody>{cells}</tbody></table></div>'


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
