"""``meip reproduce``: the experiments of the paper, and ours, each as one command."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Annotated, Any, cast

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.base.files import make_folder, writable, writable_folder
from meip.base.text import say
from meip.cli.app import app, console
from meip.cli.inputs import Address, Backend

__all__ = ["RUNNERS", "Name", "reproduce"]

Rows = list[dict[str, Any]]
RUNNERS = {
    "probability-shift": "meip.experiments.probability_shift",
    "structural-change": "meip.experiments.structural_change",
    "held-out": "meip.experiments.held_out",
    "everyday": "meip.experiments.everyday",
    "corrections": "meip.experiments.corrections",
    "folding": "meip.experiments.folding",
    "parsing": "meip.experiments.parsing",
    "generalized-planning": "meip.experiments.generalized_planning",
}
SHORT = {
    "horizon": "h",
    "demonstrations": "demos",
    "longsleeve": "long-\nsleeve",
    "photographs": "photo-\ngraphs",
}  # headings that leave room for the numbers


class Name(StrEnum):
    """What can be reproduced."""

    probability_shift = "probability-shift"
    structural_change = "structural-change"
    held_out = "held-out"
    everyday = "everyday"
    corrections = "corrections"
    folding = "folding"
    parsing = "parsing"
    generalized_planning = "generalized-planning"
    all = "all"


@app.command()
def reproduce(
    name: Annotated[str, typer.Argument(metavar="EXPERIMENT", help=f"One of {', '.join(Name)}.")],
    seeds: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Seeds, searches, rituals or pictures per cell; default: the paper's 20, held-out: 50, folding: 5, "
            "everyday: 2, corrections: 9, parsing: all outlines, 30 masks, 200 photo-like pictures.",
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer seeds and problems, for a first look.")] = False,
    held_out: Annotated[
        int | None, typer.Option("--held-out", metavar="N", min=1, help="structural-change: N random rituals instead.")
    ] = None,
    noisy: Annotated[bool, typer.Option("--noisy", help="Held-out rituals: one wrong demonstration of six.")] = False,
    seed: Annotated[int, typer.Option(min=0, help="Start of all random numbers.")] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes; -1: one per core.")] = 1,
    backend: Backend = "loky",
    address: Address = None,
    data: Annotated[
        Path | None, typer.Option(help="Outside material: a folder of PDDL domains, or a CVAT file of garments.")
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", callback=writable, help="Write tidy rows to a file.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            callback=writable_folder, help="Folder for figures (SVG), and report.html and report.json of all."
        ),
    ] = None,
    docs: Annotated[
        Path | None,
        typer.Option(metavar="FILE", callback=writable, help="Write the tables into a page, between its markers."),
    ] = None,
) -> None:
    """Reproduce the paper's experiments, and ours: tables with seeds and 95 % intervals, rows and figures.

    \b
    Examples:
      meip reproduce probability-shift
      meip reproduce structural-change --json rows.json --out figures
      meip reproduce structural-change --docs docs/experiments.md
      meip reproduce structural-change --held-out 200 --seed 7 --jobs 2
      meip reproduce everyday --jobs 2 --json rows.json --out figures
      meip reproduce folding --jobs 2 --json rows.json --out sheets
      meip reproduce parsing --data tshirts.xml
      meip reproduce all --quick
    """
    from meip.base import documents
    from meip.base.results import Results
    from meip.experiments import Experiment

    experiment = _named(name)
    names = _chosen(experiment, held_out, {"--seeds": seeds is not None, "--quick": quick})
    if noisy and names != [Name.held_out]:
        raise MeipError(f"--noisy has no effect on {experiment}: it is about held-out rituals; give --held-out N")
    modules = {one: import_module(RUNNERS[one]) for one in names}
    _check_unused(modules, {"data": data, "out": out})
    _check_page(docs, names)
    if out is not None:
        make_folder(out)
    found: dict[str, Rows] = {}
    with _progress() as tell:
        asked = Experiment(held_out or seeds, seed, quick, jobs, data, out, noisy, tell, cast(Any, backend), address)
        for one, module in modules.items():
            tell(f"{one} ...")
            found[one] = module.run(asked)
    for one, module in modules.items():
        _show(one, module, found[one])
    rows = [row for own in found.values() for row in own]
    if docs is not None:
        for one, module in modules.items():
            _write_tables(docs, one, module, found[one], asked)
        say(f"tables written to {docs}")
    drawn = [] if out is None else _drawn(modules, rows, out)
    figures = {path.stem: path.read_text(encoding="utf-8") for path in drawn if path.suffix == ".svg"}
    tables = [table for one, module in modules.items() for table in _tables(module, found[one])]
    notes = [note for module in modules.values() for note in module.NOTES]
    results = Results.of(f"reproduce {experiment}", rows, seed, tables, notes, figures)
    if json_file is not None:
        documents.write(json_file, results)
        say(f"rows written to {json_file}")
    if out is not None:
        _report(results, out)


def _named(name: str) -> Name:
    try:
        return Name(name)
    except ValueError:
        raise MeipError(f"unknown experiment {name!r}; {did_you_mean(name, map(str, Name))}") from None


def _chosen(experiment: Name, held_out: int | None, counts: Mapping[str, bool]) -> list[str]:
    """The experiments to run; --held-out stands for another one, and says how much of it."""
    if held_out is None:
        return list(RUNNERS) if experiment is Name.all else [experiment.value]
    if experiment not in (Name.structural_change, Name.held_out):
        raise MeipError(f"--held-out has no effect on {experiment}: random rituals replace those of structural-change")
    for option, given in counts.items():
        if given:
            raise MeipError(f"{option} has no effect beside --held-out {held_out}, which says how many rituals")
    return [Name.held_out.value]


def _check_unused(modules: Mapping[str, ModuleType], given: Mapping[str, Any]) -> None:
    """Refuse an option that none of the experiments has a use for, or that means something else to each."""
    for option, value in given.items():
        reasons = {name: getattr(module, "UNUSED", {}).get(option) for name, module in modules.items()}
        if value is not None and all(reasons.values()):
            name, reason = next(iter(reasons.items()))
            raise MeipError(f"--{option} has no effect on {name}: {reason}; leave it out")
    if given["data"] is not None and len(modules) > 1:
        raise MeipError("--data is another material for each experiment; run them one by one")


def _check_page(docs: Path | None, names: Sequence[str]) -> None:
    """Before hours of work: has the page a place for every experiment?"""
    if docs is None:
        return
    text = docs.read_text(encoding="utf-8") if docs.is_file() else ""
    for name in names:
        if f"<!-- meip: {name} -->" not in text:
            raise MeipError(f"--docs {docs}: it has no line <!-- meip: {name} --> to write the tables of {name} after")


def _write_tables(docs: Path, name: str, module: ModuleType, rows: Rows, asked: Any) -> None:
    from meip.report.page_tables import markdown, write_between

    given = {"--seeds": asked.seeds, "--seed": asked.seed or None}
    options = "".join(f" {option} {value}" for option, value in given.items() if value is not None)
    switches = " --quick" * asked.quick + " --noisy" * asked.noisy
    command = f"meip reproduce {name}{options}{switches}"
    write_between(docs, name, markdown(_tables(module, rows), command))


def _tables(module: ModuleType, rows: Rows) -> Any:
    from meip.report.page_tables import metric_tables

    if hasattr(module, "summary"):
        return module.summary(rows)
    return metric_tables(rows, getattr(module, "FIGURES", ()))  # a sweep is a figure, not a table


@contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A spinner with the latest message on a terminal, plain lines elsewhere."""
    if not sys.stderr.isatty():
        yield lambda message: say(message, err=True)
        return
    from rich.console import Console

    with Console(stderr=True).status("starting") as status:
        yield lambda message: status.update(message)


def _show(name: str, module: ModuleType, rows: Rows) -> None:
    """The tables of an experiment: in its own form if it has one, else one for each metric; and its notes."""
    for title, headings, lines in _tables(module, rows):
        say(f"{name}: {title}")
        console().print(_table(headings, lines))
    for note in module.NOTES:
        say(note)


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Any:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=0)
    for heading in headings:
        number = heading in ("value", "95 %", "paper")
        shown = heading if number else SHORT.get(heading, heading.replace(" ", "\n"))
        table.add_column(shown, justify="right" if number else "left", no_wrap=number, overflow="fold")
    for line in lines:
        table.add_row(*line)
    return table


def _drawn(modules: Mapping[str, ModuleType], rows: Rows, out: Path) -> list[Path]:
    """Every figure that these rows allow."""
    from meip.report.figures import write_figures

    drawn = [path for module in modules.values() if hasattr(module, "draw") for path in module.draw(rows, out)]
    drawn += write_figures(rows, out)
    for path in drawn:
        say(f"figure written to {path}")
    return drawn


def _report(results: Any, out: Path) -> None:
    """All of it as one page and as JSON, with what was learned by each task that an experiment left."""
    from meip.report.whole import Report, write_report
    from meip.tasks.task import Task

    told = tuple(Task.load(path).explain() for path in sorted(out.glob("*-task.json")))
    for path in write_report(Report(f"meip {results.command}", told, results=(results,)), out, "report"):
        say(f"report written to {path}")
