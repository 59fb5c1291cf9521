"""``meip evaluate``: how well does a task carry over to other worlds?"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.base.files import writable
from meip.cli.app import DomainOption, app, console
from meip.cli.inputs import Address, Backend, Memory, OwnWorld, Seed, read_episodes, read_world

__all__ = ["evaluate"]

BASELINES = ("maxent-irl", "clone", "goal-count", "random")


@app.command()
def evaluate(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task that was learned.")],
    problems: Annotated[list[str], typer.Argument(metavar="PROBLEM...", help="Worlds to plan in.")],
    searches: Annotated[int, typer.Option(min=1, help="Searches in each world, with different seeds.")] = 20,
    search: Annotated[str, typer.Option(help="How to search, as in meip plan; default: as the task does.")] = "auto",
    chance: Annotated[str, typer.Option(help="expectation, posterior or probability.")] = "expectation",
    iterations: Annotated[int | None, typer.Option(min=1, help="Of each search, as in meip plan.")] = None,
    seconds: Annotated[float | None, typer.Option("--time", min=0.0, help="Time limit of each search.")] = None,
    memory: Memory = None,
    against: Annotated[
        str | None, typer.Option(metavar="NAME", help=f"Also evaluate a baseline: {', '.join(BASELINES)}; see --demos.")
    ] = None,
    demos: Annotated[
        list[str] | None, typer.Option("--demos", metavar="FILE", help="Demonstrations for the baseline to learn from.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes that share the worlds; -1: one per core.")] = 1,
    backend: Backend = "loky",
    address: Address = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", metavar="FILE", callback=writable, help="Write tidy rows to a file.")
    ] = None,
    seed: Seed = 0,
    world: OwnWorld = None,
    domain: DomainOption = None,
) -> None:
    """Evaluate a task: plan in each world a number of times, and compare with the demonstrations and the task.

    \b
    Metrics: demonstrated_match (what came about in the demonstrations and holds at the end),
    demonstrated_order (Kendall tau with the order that was shown), goal (the world's own); and of
    what was learned: tau (does g rise along the plan?), match (wishes that hold at the end), order
    (learned order that is kept); length (steps). Chance is followed exactly.

    \b
    Examples:
      meip evaluate task.json ritual problem.json
      meip evaluate task.json ritual --against maxent-irl --demos demos.jsonl --json rows.json
    """
    from meip.base import documents
    from meip.base.results import Results
    from meip.learning.options import Run
    from meip.report.page_tables import evaluation_tables
    from meip.tasks.evaluate import evaluate as measure
    from meip.tasks.task import Task

    if against is not None and against not in BASELINES:
        raise MeipError(f"--against: unknown {against!r}; {did_you_mean(against, BASELINES)}")
    if against in ("maxent-irl", "clone") and not demos:
        _shown((), world, against)
    worlds = {problem: read_world(problem, world, domain) for problem in problems}
    learned = Task.load(task)
    agents: dict[str, Any] = {"meip": learned}
    if against is not None:
        from meip.baselines.named import baselines

        agents |= baselines(against, learned, lambda: _shown(demos or (), world, against))
    limits = {"iterations": iterations, "seconds": seconds, "memory": memory}
    asked = {"method": search, "chance": chance, **limits, "seed": seed}
    run = Run(jobs, cast(Any, backend), progress=_progress(), address=address)
    rows = measure(agents, worlds, None, searches=searches, run=run, **asked)  # type: ignore[arg-type]
    tables = evaluation_tables(rows)
    console().print(_table(*tables[0][1:]))
    if json_file is not None:
        documents.write(json_file, Results.of("evaluate", rows, seed, tables))


def _shown(demos: Sequence[str], own: str | None, name: str) -> list[Any]:
    """What the baseline is to learn from."""
    if not demos:
        raise MeipError(f"--against {name} needs the demonstrations that the baseline is to learn from: --demos FILE")
    return read_episodes(demos, own)


def _progress() -> Any:
    """Lines on stderr where it is a terminal, each over the last; nothing where nobody looks."""
    import sys

    if not sys.stderr.isatty():
        return None
    return lambda info: typer.echo(
        f"\r\033[K{info['done']} of {info['of']} {info['stage']}", err=True, nl=info["done"] == info["of"]
    )


def _table(headings: Sequence[str], lines: Sequence[Sequence[str]]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in headings:
        table.add_column(name, justify="right" if name in ("mean", "95 % interval", "n") else "left")
    for line in lines:
        table.add_row(*line)
    return table
