"""``meip reproduce``: every table of the paper, and ours, as one command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError
from meip.cli.app import app, console

__all__ = ["Experiment", "reproduce"]

Rows = list[dict[str, Any]]


class Experiment(StrEnum):
    """What can be reproduced."""

    probability_shift = "probability-shift"
    structural_change = "structural-change"
    folding = "folding"
    generalized_planning = "generalized-planning"
    all = "all"


@app.command()
def reproduce(
    experiment: Annotated[Experiment, typer.Argument(help="Which experiment.")],
    seeds: Annotated[
        int | None, typer.Option(help="Seeds or searches per cell; default: the paper's 20, folding: 5.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and problems, for a first look.")] = False,
    held_out: Annotated[
        int | None, typer.Option("--held-out", metavar="N", help="structural-change: N random rituals instead.")
    ] = None,
    noisy: Annotated[bool, typer.Option("--noisy", help="With --held-out: one wrong demonstration among six.")] = False,
    seed: Annotated[int, typer.Option(help="Start of all random numbers.")] = 0,
    jobs: Annotated[int, typer.Option(help="Processes, where the work can be shared.")] = 1,
    data: Annotated[
        Path | None, typer.Option(help="Outside material: a folder of PDDL domains, or a CVAT file of garments.")
    ] = None,
    json_file: Annotated[Path | None, typer.Option("--json", metavar="FILE", help="Write tidy rows to a file.")] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for figures (SVG).")] = None,
) -> None:
    """Reproduce the paper's experiments: tables with seeds and 95 % intervals, the paper's figures beside ours.

    \b
    Examples:
      meip reproduce probability-shift
      meip reproduce structural-change --json rows.json --out figures
      meip reproduce structural-change --held-out 200 --seed 7 --jobs 2
      meip reproduce folding --jobs 2 --json rows.json --out sheets
      meip reproduce all --quick
    """
    from meip.base import documents
    from meip.base.results import Results

    rows: Rows = []
    with _progress() as tell:
        for name in _chosen(experiment):
            tell(f"{name} ...")
            options = {"seeds": seeds, "quick": quick, "seed": seed, "held_out": held_out, "noisy": noisy}
            found = RUNNERS[name]({**options, "jobs": jobs, "data": data, "out": out, "progress": tell})
            rows += found
    for name in _chosen(experiment):
        _show([row for row in rows if _belongs(row, name)], name)
    command = f"reproduce {experiment.value}"
    if json_file is not None:
        documents.write(json_file, Results.of(command, rows, seed))
        typer.echo(f"rows written to {json_file}")
    if out is not None:
        for path in (*_figures(rows, out), *_pages(out)):
            typer.echo(f"figure written to {path}")


def _chosen(experiment: Experiment) -> list[str]:
    return list(RUNNERS) if experiment is Experiment.all else [experiment.value]


def _belongs(row: dict[str, Any], name: str) -> bool:
    return bool(row["experiment"] == name or (row["experiment"] == "held-out" and name == "structural-change"))


def _probability_shift(o: dict[str, Any]) -> Rows:
    run = import_module("meip.experiments.probability_shift").run
    seeds = o["seeds"] or (5 if o["quick"] else 20)
    return list(run(seeds=seeds, seed=o["seed"], quick=o["quick"], progress=o["progress"]))


def _structural_change(o: dict[str, Any]) -> Rows:
    module = import_module("meip.experiments.structural_change")
    if o["held_out"] is not None:
        if o["held_out"] < 1:
            raise MeipError(f"--held-out takes the number of rituals, at least 1, got {o['held_out']}")
        return list(module.held_out(o["held_out"], o["seed"], o["noisy"], o["jobs"], o["progress"]))
    searches = o["seeds"] or (5 if o["quick"] else 20)
    return list(module.run(searches=searches, seed=o["seed"], quick=o["quick"], progress=o["progress"]))


def _folding(o: dict[str, Any]) -> Rows:
    run = import_module("meip.experiments.learning_to_fold").run
    chosen = {"seed": o["seed"], "artf": o["data"], "jobs": o["jobs"]}
    return list(run(o["quick"], o["seeds"], o["progress"], o["out"], **chosen))


def _generalized_planning(o: dict[str, Any]) -> Rows:
    return list(import_module("meip.experiments.generalized_planning").reproduce(**o))


RUNNERS: dict[str, Callable[[dict[str, Any]], Rows]] = {
    "probability-shift": _probability_shift,
    "structural-change": _structural_change,
    "folding": _folding,
    "generalized-planning": _generalized_planning,
}


def _pages(out: Path) -> list[Path]:
    """What was learned as a page with curves, beside each task that an experiment left."""
    from meip.base.files import write_text
    from meip.report.html import explanation_page
    from meip.tasks.task import Task

    pages = []
    for path in sorted(out.glob("*-task.json")):
        pages.append(path.with_suffix(".html"))
        write_text(pages[-1], explanation_page(Task.load(path).explain()))
    return pages


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the latest message on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda message: typer.echo(message, err=True)
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda message: status.update(message)


def _show(rows: Rows, title: str) -> None:
    """A table for each metric: a line per cell, its 95 % interval and the paper's figure beside it."""
    if title == "folding":
        _show_folding(rows)
        return
    for metric in dict.fromkeys(row["metric"] for row in rows):
        if metric != "desired_exact":  # a sweep is a figure, not a table
            typer.echo(f"{title}: {metric.replace('_', ' ')}")
            console().print(_metric_table([row for row in rows if row["metric"] == metric]))
    for note in NOTES.get(title, ()):
        typer.echo(note)


def _metric_table(rows: Rows) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    conditions = [c for c in dict.fromkeys(key for row in rows for key in row) if c not in FIXED]
    conditions = [c for c in conditions if len({str(row.get(c, "")) for row in rows}) > 1]
    numbers = ["value"] + ["95 %"] * any("low" in row for row in rows)
    numbers += ["paper"] * any(row.get("paper") is not None for row in rows)
    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for name in ("method", *conditions):
        table.add_column(SHORT.get(name, name), overflow="fold")
    for name in numbers:
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        cells = {
            "value": f"{row['value']:.3f}",
            "95 %": f"{row['low']:.3f}-{row['high']:.3f}" if "low" in row else "",
            "paper": f"{row['paper']:g}" if row.get("paper") is not None else "",
        }
        table.add_row(row["method"], *(str(row.get(c, "")) for c in conditions), *(cells[name] for name in numbers))
    return table


def _show_folding(rows: Rows) -> None:
    """One table per metric: garments side by side, a line per method and search, with the interval below."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    from meip.experiments.folding_report import summary

    for title, headings, lines in summary(rows):
        typer.echo(f"folding: {title}")
        table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        for heading in ("method, search", *headings[3:]):
            table.add_column(SHORT.get(heading, heading.replace(" ", "\n")), no_wrap=True)
        for method, search, trained, *cells in lines:
            learned = f"\non {trained}" if trained != "varied" else ""
            table.add_row(f"{method}\n{search}{learned}", *cells)
        console().print(table)
    for note in NOTES["folding"]:
        typer.echo(note)


SHORT = {
    "horizon": "h",
    "demonstrations": "demos",
    "longsleeve": "long-\nsleeve",
    "photographs": "photo-\ngraphs",
}  # headings that leave room for the numbers
FIXED = ("experiment", "method", "metric", "value", "low", "high", "n", "paper")
NOTES = {
    "probability-shift": (
        "Desired: the share of executions that go S0, S1, g; nobody can do better than 1 - p.",
        "With horizon 3 MaxEnt-IRL does not fail: the bad loop is then too short to matter.",
        "The paper's bound r < -0.48 for p = .3 should read r > +0.48; no bound exists at p = .2.",
        "Its limit of .85 appears under posterior semantics; with chance='probability' there is none below 1.",
    ),
    "folding": (
        "Default order: every sleeve lies on the body before the garment is halved, by a referee who sees no utility.",
        "Searches: exact, beam, mcts maximise tau; likeliest the likelihood of the steps, which is what was learned.",
        "random: folds from the uniform grid; random-proposed: any of the folds that the learned proposal brings up.",
        "There is no column for the paper: we know of no figure in it for these garments.",
    ),
    "structural-change": (
        "The paper's figure is the Kendall tau of the stages' order in the free world.",
        "MaxEnt-IRL with visit sums orders the stages when it learned in the free world, and reverses them otherwise.",
    ),
}


def _figures(rows: Rows, out: Path) -> list[Path]:
    from meip.report.figures import write_figures

    return write_figures(rows, out)
