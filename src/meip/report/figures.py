"""The figures of the experiments, drawn from their tidy rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meip.base.files import write_text
from meip.report.charts import bar_chart, line_chart

__all__ = ["write_figures"]

Rows = Sequence[dict[str, Any]]


def write_figures(rows: Rows, folder: Path) -> list[Path]:
    """Every figure that these rows allow, as SVG files in a folder."""
    found = {
        "probability-shift.svg": _sweep([r for r in rows if r["metric"] == "desired_exact"]),
        "structural-change.svg": _bars(
            [r for r in rows if r["metric"] == "order_tau" and r["experiment"] == "structural-change"]
        ),
        **_by_demonstrations([r for r in rows if r["experiment"] == "everyday"]),
        **_by_size([r for r in rows if r["experiment"] == "generalized-planning" and isinstance(r["size"], int)]),
    }
    written = []
    for name, text in found.items():
        if text:
            write_text(folder / name, text)
            written.append(folder / name)
    return written


def _sweep(rows: Rows) -> str:
    if not rows:
        return ""
    names = [r.get("chance") or r["method"] for r in rows]
    series = {"best possible": [(r["p"], 1 - r["p"]) for r, name in zip(rows, names, strict=True) if name == names[0]]}
    for wanted in dict.fromkeys(names):
        series[wanted] = [(r["p"], r["value"]) for r, name in zip(rows, names, strict=True) if name == wanted]
    return line_chart(series, "Desired behaviour when the short way fails more often", "p", "probability", (0.0, 1.0))


def _bars(rows: Rows) -> str:
    groups: dict[str, dict[str, float]] = {}
    for row in rows:
        method = row["method"] + (f" ({row['statistic']})" if row.get("statistic") else "")
        if row["world"] == "free-6":
            groups.setdefault(f"learned {row['trained']}", {})[method] = row["value"]
    title = "Order of the stages in the free world with 6 objects"
    return bar_chart(groups, title, "Kendall tau", (-1.0, 1.0)) if groups else ""


def _by_demonstrations(rows: Rows) -> dict[str, str]:
    """Success in everyday tasks against the number of demonstrations, one figure per kind of world."""
    found: dict[str, str] = {}
    shown = [r for r in rows if r["task"] == "all" and not r["wrong"]]
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
