"""The figures of the experiments, drawn from their tidy rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meip.base.files import make_folder, write_text
from meip.report.charts import line_chart

__all__ = ["write_figures"]

Rows = Sequence[dict[str, Any]]


def write_figures(rows: Rows, folder: Path) -> list[Path]:
    """Every figure that these rows allow, as SVG files in a folder."""
    found = {
        **_by_demonstrations([r for r in rows if r["experiment"] == "everyday"]),
        **_by_size([r for r in rows if r["experiment"] == "generalized-planning" and isinstance(r["size"], int)]),
    }
    make_folder(folder)
    written = []
    for name, text in found.items():
        if text:
            write_text(folder / name, text)
            written.append(folder / name)
    return written


def _by_demonstrations(rows: Rows) -> dict[str, str]:
    """Success in everyday tasks against the number of demonstrations, one figure per kind of world."""
    found: dict[str, str] = {}
    shown = [r for r in rows if r["task"] == "all" and r["metric"] == "success" and not r["wrong"]]
    for split in dict.fromkeys(r["split"] for r in shown):
        series: dict[str, list[tuple[float, float]]] = {}
        for row in shown:
            if row["split"] == split:
                series.setdefault(row["method"], []).append((float(row["demonstrations"]), float(row["value"])))
        title = f"Everyday tasks in {split} worlds: all rules kept"
        found[f"everyday-{split}.svg"] = line_chart(series, title, "demonstrations", "success", (0.0, 1.0), log=True)
    return found


def _by_size(rows: Rows) -> dict[str, str]:
    """Coverage and plan length against the size of the problem, one figure per domain."""
    found: dict[str, str] = {}
    for domain in dict.fromkeys(r["domain"] for r in rows):
        for metric, label in (("solved", "share solved"), ("length", "steps")):
            series: dict[str, list[tuple[float, float]]] = {}
            for row in rows:
                if (row["domain"], row["metric"]) == (domain, metric):
                    name = f"{row['method']}, {row['search']}"
                    series.setdefault(name, []).append((float(row["size"]), float(row["value"])))
            if series:
                top = max(y for points in series.values() for _, y in points)
                limits = (0.0, 1.0 if metric == "solved" else max(top, 1.0))
                title = f"{domain}: {label} against size"
                found[f"generalized-planning-{domain}-{metric}.svg"] = line_chart(series, title, "size", label, limits)
    return found
