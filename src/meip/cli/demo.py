"""``meip demo``: the whole way in one command: demonstrations, what was learned, a plan in a changed world."""

from __future__ import annotations

import time
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.files import writable
from meip.cli.app import app, console
from meip.cli.inputs import Seed, read_episodes
from meip.cli.progress import learning_progress

__all__ = ["demo"]


@app.command()
def demo(
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="TASK", callback=writable, help="Keep the task that was learned."),
    ] = None,
    seed: Seed = 0,
) -> None:
    """Learn a ritual from five demonstrations, explain it in English, and plan it in a changed world.

    \b
    Examples:
      meip demo
      meip demo -o task.json
    """
    from meip.report.text import explanation_text, plan_text

    out = console()
    shown = Path(str(files("meip") / "data" / "ritual.jsonl"))
    episodes = read_episodes([str(shown)])
    _title(out, 1, "Somebody shows a ritual five times")
    out.print(_shown_table(episodes))
    out.print("  At each stage objects of one type are offered. There were five of each type,")
    out.print("  and the order of the stages was fixed.")

    _title(out, 2, "What does this person care about?")
    task, seconds = _learned(episodes, seed)
    weighed = task.provenance.evidence["candidates"]
    out.print(f"  {weighed} candidates were weighed in {seconds:.1f} s.\n")
    out.print(explanation_text(task.explain()))

    _title(out, 3, "The same ritual in a world that nobody has shown")
    changed = _changed_world()
    out.print("  Now there are six objects of each type, and the stages may be visited in any")
    out.print(f"  order: {_plans(changed):,} different plans. A recording of the movements would offer")
    out.print("  five of the six torches. The task plans this:\n")
    out.print(plan_text(task.plan(changed, seed=seed)))
    if output is not None:
        task.save(output)
    _title(out, 4, "Go on from here")
    out.print(_next_steps(output))


def _title(out: Any, number: int, text: str) -> None:
    from rich.text import Text

    out.print()
    out.print(Text(f"{number}. {text}", style="bold green"))
    out.print()


def _shown_table(episodes: list[Any]) -> Any:
    from rich.padding import Padding
    from rich.table import Table

    table = Table(box=None, padding=(0, 3, 0, 0), show_edge=False, header_style="dim")
    table.add_column("")
    for stage in range(1, len(episodes[0].demonstration.steps) + 1):
        table.add_column(f"step {stage}")
    for number, episode in enumerate(episodes, start=1):
        steps = [f"stage {s.action[0]}: {s.action[2]} {s.action[1]}" for s in episode.demonstration.steps]
        table.add_row(f"demonstration {number}", *steps)
    return Padding(table, (0, 0, 1, 2))


def _learned(episodes: list[Any], seed: int) -> tuple[Any, float]:
    """The task, and the seconds it took; with a progress bar on a terminal."""
    from meip.tasks.learn import learn

    begun = time.monotonic()
    with learning_progress(lines=False) as tell:
        found = learn(episodes, seed=seed, progress=tell)
    return found, time.monotonic() - begun


def _changed_world() -> Any:
    from meip.model.problems import load_problem

    return load_problem(Path(str(files("meip") / "data" / "ritual-free.json")))


def _plans(world: Any) -> int:
    """How many there are."""
    from meip.model.graph import state_graph
    from meip.search.plans import history_count

    graph = state_graph(world)
    return history_count(graph, int(graph.initial[0]), graph.horizon, 1_000_000)


def _next_steps(output: Path | None) -> str:
    file = output or "task.json"
    rows = [
        ("meip demo -o task.json", "keep the task; it is readable JSON"),
        (f"meip explain {file} --why", "all that was considered, and why"),
        (f"meip explain {file} --html t.html", "the same as a page, with curves"),
        (f"meip plan {file} ritual", "plan in another world"),
        ("meip learn demos.jsonl -o my.json", "learn from your own demonstrations"),
        ("meip show ritual", "the world: states, actions and facts"),
    ]
    return "".join(f"  {command:36} {what}\n" for command, what in rows[output is not None :])
