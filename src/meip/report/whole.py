"""A report: what was learned, what it plans, and what was measured, as one page that opens from disk, and as JSON.

`meip explain --html`, `meip reproduce --out` and the studio all write this.
"""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from meip.base import documents
from meip.base.documents import document
from meip.base.files import write_text
from meip.base.results import Results, Table
from meip.report.html import explanation_body, page
from meip.report.page_tables import metric_tables
from meip.report.plan_page import plan_body
from meip.tasks.explain import Explanation
from meip.tasks.task import TaskPlan

__all__ = ["KeptReport", "Planned", "Report", "report_json", "report_page", "write_report"]

NUMBERS = ("value", "mean", "95 %", "95 % interval", "n", "paper")


@dataclass(frozen=True)
class Planned:
    """A plan, whose it is, and the world that it is for."""

    title: str
    by: str
    plan: TaskPlan
    world: Any


@dataclass(frozen=True)
class Report:
    """What a report is made of; any part may be missing."""

    title: str
    told: tuple[Explanation, ...] = ()
    plans: tuple[Planned, ...] = ()
    results: tuple[Results, ...] = ()

    @classmethod
    def of(cls, told: Explanation, plans: Sequence[Planned] = (), results: Sequence[Results] = ()) -> Report:
        """About a task."""
        return cls(f"What matters in {told.domain}", (told,), tuple(plans), tuple(results))


def report_page(report: Report) -> str:
    """The page. Nothing is loaded, nothing runs; figures are in it."""
    parts = [] if report.told else [f"<header><h1>{escape(report.title)}</h1></header>"]
    parts += [explanation_body(told) for told in report.told]
    parts += [f"<section>{plan_body(one.plan, one.world, one.title, level=2)}</section>" for one in report.plans]
    parts += [_measured(results) for results in report.results]
    return page(report.title, "\n".join(parts))


def report_json(report: Report) -> dict[str, Any]:
    """The same for programs: a document of kind ``report``."""
    plans = [{"title": one.title, "by": one.by, "plan": documents.dump(one.plan)} for one in report.plans]
    return documents.dump(
        KeptReport(report.title, tuple(told.to_json() for told in report.told), tuple(plans), report.results)
    )


@document("report")
@dataclass(frozen=True)
class KeptReport(documents.Strict):
    """A report as JSON."""

    title: str
    explanations: tuple[dict[str, Any], ...] = ()
    """As `meip explain --json` prints them."""
    plans: tuple[dict[str, Any], ...] = ()
    """Each with its title, whose it is (by), and the document of the plan."""
    results: tuple[Results, ...] = ()


def write_report(report: Report, folder: Path, name: str) -> tuple[Path, Path]:
    """NAME.html and NAME.json in a folder."""
    html, data = folder / f"{name}.html", folder / f"{name}.json"
    write_text(html, report_page(report))
    write_text(data, json.dumps(report_json(report), indent=2, ensure_ascii=False) + "\n")
    return html, data


def _measured(results: Results) -> str:
    """What a command measured: its tables, its notes, its figures."""
    tables = results.tables or tuple(
        Table(title, tuple(headings), tuple(map(tuple, lines)))
        for title, headings, lines in metric_tables(results.rows)
    )
    parts = [f"<section><h2>meip {escape(results.command)}</h2>"]
    parts += [f"<p>{escape(note)}</p>" for note in results.notes]
    parts += [_table(table) for table in tables]
    parts += [_figure(name, svg) for name, svg in results.figures.items()]
    told = ", ".join(f"{name} {version}" for name, version in results.versions.items())
    seed = "" if results.seed is None else f"; seed {results.seed}"
    return "\n".join([*parts, f'<p class="small">{escape(told + seed)}</p></section>'])


def _table(table: Table) -> str:
    title = escape(table.title[:1].upper() + table.title[1:])
    head = _row(table.headings, table.headings, 'th scope="col"')
    body = "".join(_row(table.headings, line, "td") for line in table.lines)
    return f'<h3>{title}</h3><div class="scroll"><table><thead>{head}</thead><tbody>{body}</tbody></table></div>'


def _row(headings: Sequence[str], cells: Sequence[str], tag: str) -> str:
    end = tag.partition(" ")[0]
    number = [' class="number"' if heading in NUMBERS else "" for heading in headings]
    found = [f"<{tag}{kind}>{escape(cell)}</{end}>" for kind, cell in zip(number, cells, strict=False)]
    return f"<tr>{''.join(found)}</tr>"


def _figure(name: str, svg: str) -> str:
    """As a picture, so that nothing in it can run or change the page."""
    data = b64encode(svg.encode()).decode()
    said = escape(name.replace("-", " "), quote=True)
    return f'<figure><img alt="{said}" src="data:image/svg+xml;base64,{data}"></figure>'
