"""Learning to fold, to look at: tables, contact sheets, and the learned concepts in English with their curves."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from meip import Demonstration, Task
from meip.base.files import make_folder, write_text
from meip.base.results import Row
from meip.tasks.explain import Reading

__all__ = ["Planned", "summary", "write"]

SHEET_ROWS = 4  # plans per garment on a contact sheet, of different seeds
MOST_FAILURES = 24  # plans on the sheet of what went wrong


class Planned(NamedTuple):
    """A plan, and what the referee said about it."""

    kind: str
    number: int
    """Of the garment, within its kind and seed."""
    seed: int
    search: str
    plan: Demonstration
    wrong: tuple[str, ...]
    """What a person's eyes would mind; empty if it keeps the default order and is neat."""

    @property
    def title(self) -> str:
        wrong = f" ({'; '.join(self.wrong)})" if self.wrong else ""
        return f"{self.kind} {self.number + 1}, seed {self.seed}{wrong}"


def summary(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
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


def write(out: Path, task: Task, plans: Sequence[Planned]) -> None:
    """Contact sheets of what was planned and of what went wrong, and the learned task with its concepts and curves."""
    make_folder(out)
    for kind in dict.fromkeys(one.kind for one in plans):
        chosen = [one for one in plans if one.kind == kind and one.number == 0 and one.search == "choices"]
        _sheet(out / f"folding-{kind.replace(' ', '-')}", f"Planned folds: {kind}", chosen[:SHEET_ROWS])
    failures = [one for one in plans if one.wrong]
    if failures:
        title = f"Not the default order, or not neat: {len(failures)} of {len(plans)} plans"
        _sheet(out / "folding-failures", title, failures[:MOST_FAILURES], columns=2)
    task.save(out / "folding-task.json")
    write_text(out / "folding-concepts.md", _concepts(task))


def _sheet(path: Path, title: str, plans: Sequence[Planned], columns: int = 1) -> None:
    """A contact sheet as SVG, and as PNG where there is OpenCV: a row per plan."""
    from meip.worlds.folding.canvas import write_canvas
    from meip.worlds.folding.render import contact_sheet, demonstration_row

    canvas = contact_sheet([demonstration_row(one.plan, one.title) for one in plans], title=title, columns=columns)
    for suffix in ("svg", "png") if find_spec("cv2") else ("svg",):
        write_canvas(path.with_suffix(f".{suffix}"), canvas)


def _concepts(task: Task) -> str:
    told, evidence = task.explain(), task.provenance.evidence
    lines = [
        "# What was learned about folding",
        "",
        told.sentence,
        "",
        f"{task.provenance.demonstrations} demonstrations, {evidence['candidates']} candidates for statements. Below: "
        "what plans go by, with the share of the utility that is due to each concept; where one is relative to the "
        "initial state, that is our extension of the paper's language.",
        "",
        "| share | concept | in English | direction | curve (value: utility) |",
        "|---|---|---|---|---|",
        *[_concept(reading) for reading in told.readings],
        "",
    ]
    return "\n".join(lines)


def _concept(reading: Reading) -> str:
    text = reading.text.replace("|", "\\|")
    label = f"{reading.english} (relative: extension)" if "initial[" in reading.text else reading.english
    points = ", ".join(f"{value:.3g}: {height:+.2f}" for value, height in reading.curves[0])
    return f"| {' | '.join((f'{reading.share:.3f}', f'`{text}`', label, reading.direction, points))} |"
