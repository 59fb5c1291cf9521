"""``meip evaluate``: how well does a task carry over to other worlds?"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.cli.app import DomainOption, app, console
from meip.cli.inputs import OwnWorld, Seed, read_episodes, read_world

__all__ = ["evaluate"]

BASELINES = ("maxent-irl",)


@app.command()
def evaluate(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task that was learned.")],
    problems: Annotated[list[str], typer.Argument(metavar="PROBLEM...", help="Worlds to plan in.")],
    searches: Annotated[int, typer.Option(min=1, help="Searches in each world, with different seeds.")] = 20,
    search: Annotated[str, typer.Option(help="How to search: mcts, exact, beam, greedy, auto.")] = "mcts",
    chance: Annotated[str, typer.Option(help="expectation, posterior or probability.")] = "expectation",
    iterations: Annotated[int, typer.Option(min=1, help="Of each tree search.")] = 3000,
    against: Annotated[
        str | None,
        typer.Option(metavar="maxent-irl", help="Also evaluate a baseline on the same concepts; see --demos."),
    ] = None,
    demos: Annotated[
        list[str] | None, typer.Option("--demos", metavar="FILE", help="Demonstrations for the baseline to learn from.")
    ] = None,
    json_file: Annotated[str | None, typer.Option("--json", metavar="FILE", help="Write tidy rows to a file.")] = None,
    seed: Seed = 0,
    world: OwnWorld = None,
    domain: DomainOption = None,
) -> None:
    """Evaluate a task: plan in each world a number of times, and measure goal, tau, wishes and order.

    \b
    Metrics: goal (the world's own), tau (does g rise along the plan?), match (wishes that hold at
    the end), order (learned order that is kept), length (steps). Chance is followed exactly.

    \b
    Examples:
      meip evaluate task.json ritual problem.json
      meip evaluate task.json ritual --against maxent-irl --demos demos.jsonl --json rows.json
    """
    from meip.base import documents
    from meip.base.results import Results
    from meip.tasks.evaluation import evaluate as measure, task_metrics
    from meip.tasks.task import Task

    if against is not None and against not in BASELINES:
        raise MeipError(f"--against: unknown {against!r}; {did_you_mean(against, BASELINES)}")
    if against is not None and not demos:
        raise MeipError("--against needs the demonstrations that the baseline is to learn from: --demos FILE")
    learned = Task.load(task)
    worlds = {problem: read_world(problem, world, domain) for problem in problems}
    say = _progress()
    rows = measure(
        learned,
        worlds,
        searches=searches,
        method=search,  # type: ignore[arg-type]
        chance=chance,  # type: ignore[arg-type]
        iterations=iterations,
        seed=seed,
        progress=say,
    )
    if against is not None:
        episodes = read_episodes(demos or (), world)
        for statistic in ("visits", "final"):
            planner = _baseline(learned, episodes, statistic)
            rows += measure(
                planner, worlds, task_metrics(learned), searches=searches, seed=seed, name=against,
                statistic=statistic, progress=say,
            )  # fmt: skip
    console().print(_table(rows))
    if json_file is not None:
        documents.write(Path(json_file), Results.of("evaluate", rows, seed))


def _baseline(task: Any, episodes: list[Any], statistic: Any) -> Any:
    """MaxEnt-IRL on the concepts of the task's first member, without those that are about order."""
    from meip.baselines.planner import maxent_planner
    from meip.tasks.task import precedence

    terms = [term for term in task.members[0].terms if precedence(term.concept) is None]
    return maxent_planner(terms, episodes, statistic)


def _progress() -> Any:
    """Lines on stderr where it is a terminal, each over the last; nothing where nobody looks."""
    import sys

    if not sys.stderr.isatty():
        return None
    return lambda text: typer.echo(f"\r\033[K{text}" if not text.endswith("\n") else text, err=True, nl=False)


def _table(rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("world", "method", "metric", "mean", "95 % interval", "n"):
        table.add_column(name, justify="right" if name in ("mean", "95 % interval", "n") else "left")
    for row in rows:
        method = f"{row['method']} ({row['statistic']})" if "statistic" in row else str(row["method"])
        interval = f"{row['low']:.3f} .. {row['high']:.3f}"
        table.add_row(row["world"], method, row["metric"], f"{row['value']:.3f}", interval, str(row["n"]))
    return table
