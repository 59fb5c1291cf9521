"""Rows as tables, the same for a terminal, a report and a page of the documentation.

In such a page what stands between two markers is replaced.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meip.base.errors import DocumentError
from meip.base.files import write_text

__all__ = ["evaluation_tables", "markdown", "metric_tables", "write_between"]

END = "<!-- end -->"
FIXED = ("experiment", "method", "metric", "value", "low", "high", "n", "paper")
Rows = Sequence[dict[str, Any]]
Tables = Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]


def evaluation_tables(rows: Rows) -> Tables:
    """What `meip evaluate` measured: a line for each value."""
    headings = ["world", "method", "metric", "mean", "95 % interval", "n"]
    lines = []
    for row in rows:
        method = f"{row['method']} ({row['search']})" if row.get("search") else str(row["method"])
        interval = f"{row['low']:.3f} .. {row['high']:.3f}"
        lines.append([str(row["world"]), method, str(row["metric"]), f"{row['value']:.3f}", interval, str(row["n"])])
    return [("how it carries over", headings, lines)]


def metric_tables(rows: Rows, drawn: Sequence[str] = ()) -> Tables:
    """A table for each metric: a line per cell, its 95 % interval and the paper's figure beside it. What is `drawn` is
    a figure, not a table."""
    metrics = [metric for metric in dict.fromkeys(row["metric"] for row in rows) if metric not in drawn]
    return [
        (metric.replace("_", " "), *_metric_table([row for row in rows if row["metric"] == metric]))
        for metric in metrics
    ]


def _metric_table(rows: Rows) -> tuple[list[str], list[list[str]]]:
    conditions = [c for c in dict.fromkeys(key for row in rows for key in row) if c not in FIXED]
    conditions = [c for c in conditions if len({str(row.get(c, "")) for row in rows}) > 1]
    numbers = ["value"] + ["95 %"] * any("low" in row for row in rows)
    numbers += ["paper"] * any(row.get("paper") is not None for row in rows)
    lines = []
    for row in rows:
        cells = {
            "value": f"{row['value']:.3f}",
            "95 %": f"{row['low']:.3f}..{row['high']:.3f}" if "low" in row else "",
            "paper": f"{row['paper']:g}" if row.get("paper") is not None else "",
        }
        lines.append([row["method"], *(str(row.get(c, "")) for c in conditions), *(cells[name] for name in numbers)])
    return ["method", *conditions, *numbers], lines


def markdown(tables: Tables, command: str) -> str:
    """Tables with their titles, and the command that wrote them."""
    parts = [f"Written by `{command} --docs`."]
    for title, headings, lines in tables:
        rows = [list(headings), ["---"] * len(headings), *lines]
        parts.append(f"*{title}*")
        parts.append("\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows))
    return "\n\n".join(parts)


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what a page has between ``<!-- meip: NAME -->`` and ``<!-- end -->``."""
    start = f"<!-- meip: {name} -->"
    try:
        old = page.read_text(encoding="utf-8")
    except OSError as error:
        raise DocumentError(f"{page}: {error.strerror}") from None
    before, found, rest = old.partition(start)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise DocumentError(f"{page}: no lines {start} and {END} to write the tables of {name} between")
    write_text(page, f"{before}{start}\n{text}\n{END}{after}")
