"""``meip bench``: how fast is each part, and against its peers?"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.base.files import make_folder, writable, writable_folder
from meip.base.text import say
from meip.cli.app import app, console

__all__ = ["bench"]

SLOW = ("growth", "parallel")  # minutes each, or by the clock: only when asked for


@app.command()
def bench(
    names: Annotated[
        list[str] | None, typer.Argument(metavar="[NAME...]", help="Which benchmarks; default: all.")
    ] = None,
    peers: Annotated[bool, typer.Option("--peers", help="Compare with other libraries, in the same run.")] = False,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", callback=writable, help="Write tidy rows to a file.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", callback=writable_folder, help="Folder for figures (SVG), of growth.")
    ] = None,
) -> None:
    """Measure speed. Needs `pip install 'meip[bench]'` for the peers; those that are missing are named and skipped.

    Without names all are run but growth (minutes) and parallel (by the clock, on a machine that does nothing else).

    \b
    Examples:
      meip bench
      meip bench concepts --peers --json rows.json
      meip bench growth --json rows.json --out figures
      meip bench parallel
    """
    from meip.base import documents
    from meip.base.results import Results

    known = _benchmarks()
    for name in names or ():
        if name not in known:
            raise MeipError(f"no benchmark {name!r}; {did_you_mean(name, known)}")
    rows: list[dict[str, Any]] = []
    alone = []
    if out is not None:
        if not any(hasattr(import_module(f"meip.bench.{name}"), "draw") for name in names or ()):
            raise MeipError("--out has no effect here: of the benchmarks growth has figures; leave it out")
        make_folder(out)
    for name in names or (one for one in known if one not in SLOW):
        say(f"measuring {name} ...", err=True)
        found = import_module(f"meip.bench.{name}").run(peers=peers)
        rows += found
        if peers and not any(row.get("metric") == "ratio" for row in found):
            alone.append(name)
    console().print(_table(rows))
    for name in alone:
        say(f"{name}: its peer is not installed, these are our figures alone; pip install 'meip[bench]'")
    if out is not None:
        for name in names or ():
            for path in getattr(import_module(f"meip.bench.{name}"), "draw", _no_figures)(rows, out):
                say(f"figure written to {path}")
    if json_file is not None:
        documents.write(json_file, Results.of("bench", rows))


def _no_figures(rows: list[dict[str, Any]], folder: Path) -> list[Path]:
    return []


def _benchmarks() -> list[str]:
    """The modules of `meip.bench` that hold a benchmark; those with an underscore are their tools."""
    package = import_module("meip.bench")
    return sorted(m.name for m in pkgutil.iter_modules(package.__path__) if not m.name.startswith("_"))


def _table(rows: list[dict[str, Any]]) -> Any:
    """What was measured, whose figure it is, and what it should reach; every other condition is in the JSON rows."""
    from rich.table import Table

    table = Table()
    for heading in ("work", "of", "metric"):
        table.add_column(heading, overflow="fold")
    for heading in ("value", "target"):
        table.add_column(heading, justify="right", no_wrap=True)
    before = None
    for row in rows:
        work = str(row.get("work", ""))
        if before is not None and work != before:
            table.add_section()
        cells = (row.get("method"), row.get("metric"), row.get("value"), row.get("target"))
        table.add_row(work if work != before else "", *(_cell(cell) for cell in cells))
        before = work
    return table


def _cell(value: Any) -> str:
    return "" if value is None else f"{value:,.4g}" if isinstance(value, float) else str(value)
