"""``meip explain``: what a task is about."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from meip.base.files import writable
from meip.cli.app import JsonOption, app, console, print_json

__all__ = ["explain"]


@app.command()
def explain(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task that was learned.")],
    html: Annotated[
        Path | None,
        typer.Option(
            "--html", metavar="FILE", callback=writable, help="Write a page with curves and the order as a graph."
        ),
    ] = None,
    why: Annotated[bool, typer.Option("--why", help="Also list everything that was considered, and why.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Explain a task: concepts in English, formulas, curves, shares, and the learned order.

    \b
    Examples:
      meip explain task.json
      meip explain task.json --why
      meip explain task.json --html task.html
    """
    from meip.base import documents
    from meip.report.text import explanation_text, why_text
    from meip.report.whole import Report, report_page
    from meip.tasks.task import Task

    found = Task.load(task).explain()
    if html is not None:
        documents.write_text(html, report_page(Report.of(found)))
    if as_json:
        print_json(found.to_json())
        return
    out = console()
    out.print(explanation_text(found))
    if why:
        out.print()
        out.print(why_text(found))
    if html is not None:
        out.print(f"\n{html} is written.")
