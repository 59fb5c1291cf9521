"""The learned committee as files: a task to plan with, and its concepts in English with their curves."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from meip import __version__
from meip.base import documents
from meip.base.files import write_text
from meip.experiments.folding_problems import Lesson
from meip.learning.committee import Committee
from meip.tasks.explain import Reading
from meip.tasks.task import Provenance, Task
from meip.worlds.folding.cloth import Garment
from meip.worlds.folding.fluents import DOMAIN
from meip.worlds.folding.folds import Fold

__all__ = ["committee_task", "summary", "write_learned", "write_sheet"]


def committee_task(lesson: Lesson, committee: Committee, seed: int = 0) -> Task:
    """A committee as a task: to explain, to save and to plan with."""
    given = [documents.dump(one) for one in lesson.demonstrations]
    evidence = {k: v for k, v in committee.evidence.items() if k != "seconds"}
    provenance = Provenance(
        __version__,
        seed,
        "committee",
        {"members": len(committee.utilities)},
        len(given),
        documents.content_hash(given),
        max(len(one.steps) + 1 for one in lesson.demonstrations),
        True,
        (),
        evidence,
    )
    tau = float(np.mean(committee.evidence["tau"]))
    return Task(DOMAIN, committee.utilities, tau, provenance, proposal=documents.dump(lesson.proposal))


def write_learned(out: Path, lesson: Lesson, committee: Committee) -> None:
    """``folding-task.json`` (for `meip explain` and `meip plan`) and ``folding-concepts.md``."""
    task = committee_task(lesson, committee)
    task.save(out / "folding-task.json")
    told, members = task.explain(), len(committee.utilities)
    seconds = committee.evidence["seconds"]
    lines = [
        "# What was learned about folding",
        "",
        f"{len(lesson.demonstrations)} demonstrations, {members} members, {committee.evidence['candidates']} different "
        f"concepts of {committee.evidence['concepts']}; prepared in {seconds['prepare']:.1f} s, learned in "
        f"{seconds['learn']:.1f} s. Share: how much of the utility is due to a concept. Where a concept is relative to "
        "the initial state, that is our extension of the paper's language.",
        "",
        "| share | members | concept | in English | direction | first curve (value: utility) |",
        "|---|---|---|---|---|---|",
        *[_line(reading, members) for reading in told.readings],
        "",
    ]
    write_text(out / "folding-concepts.md", "\n".join(lines))


def write_sheet(path: Path, title: str, plans: Sequence[tuple[str, Garment, list[Fold]]], columns: int = 1) -> None:
    """A contact sheet as SVG and as PNG: a row per plan (its title, the garment, its folds)."""
    from meip.worlds.folding.canvas import write_canvas
    from meip.worlds.folding.render import contact_sheet, folds_row

    canvas = contact_sheet([folds_row(*plan) for plan in plans], title=title, columns=columns)
    for suffix in ("svg", "png"):
        write_canvas(path.with_suffix(f".{suffix}"), canvas)


def _line(reading: Reading, members: int) -> str:
    text = reading.text.replace("|", "\\|")
    label = f"{reading.english} (relative: extension)" if "initial[" in reading.text else reading.english
    points = ", ".join(f"{value:.3g}: {height:+.2f}" for value, height in reading.curves[0])
    cells = (
        f"{reading.share:.3f}",
        f"{len(reading.curves)} of {members}",
        f"`{text}`",
        label,
        reading.direction,
        points,
    )
    return f"| {' | '.join(cells)} |"


def summary(rows: Sequence[dict[str, Any]]) -> list[tuple[str, list[str], list[list[str]]]]:
    """The rows as tables to print, one per metric: title, headings, and a line per method and search."""
    tables = []
    for metric in dict.fromkeys(row["metric"] for row in rows):
        chosen = [row for row in rows if row["metric"] == metric]
        garments = list(dict.fromkeys(row["garment"] for row in chosen))
        cells: dict[tuple[str, str, str], dict[str, str]] = {}
        for row in chosen:
            text = f"{_short(row['value'])}\n{_short(row['low'])}-{_short(row['high'])}"
            cells.setdefault((row["method"], row["search"], row["trained"]), {})[row["garment"]] = text
        lines = [[*key, *(cell.get(one, "") for one in garments)] for key, cell in cells.items()]
        counts = sorted({row["n"] for row in chosen})
        title = f"{metric}, with 95 % intervals, n = {' or '.join(map(str, counts))}"
        tables.append((title, ["method", "search", "learned on", *garments], lines))
    return tables


def _short(value: float) -> str:
    """Two places, and no zero before the point: tables have to fit a terminal."""
    text = f"{value:.2f}".removeprefix("0")
    return text if text.startswith((".", "-")) else f"{value:.1f}"
