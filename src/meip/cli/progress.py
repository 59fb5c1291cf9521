"""Progress of long work: a bar on a terminal, plain lines where the output goes to a file. Always on stderr."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from meip.base.text import say

__all__ = ["learning_progress"]

TOLD = (
    "model", "replayed", "demonstrations", "level", "terms", "found", "solved", "steps", "states", "choices",
    "alternatives", "concepts", "candidates", "strength", "followed", "corrections", "patience",
)  # fmt: skip


@contextmanager
def learning_progress(lines: bool = True) -> Iterator[Any]:
    """A callback for `learn`; `lines`: whether to say anything where there is no terminal."""
    if not sys.stderr.isatty():
        yield lambda info: say(_line(info), err=True) if lines else None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(20), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        bar = progress.add_task("listing plans and concepts", total=None)

        def tell(info: dict[str, Any]) -> None:
            many = info.get("members", 1) > 1 and ("done" in info or "member" in info)
            total = info["members"] if many else None
            progress.update(bar, description=_line(info), total=total, completed=_completed(info) if many else 0)

        yield tell


def _completed(info: dict[str, Any]) -> int:
    return int(info["done"]) if "done" in info else int(info["member"]) - (info["stage"] != "done")


def _line(info: dict[str, Any]) -> str:
    if "tried" not in info and "done" not in info:
        more = [f"{name} {info[name]}" for name in TOLD if name in info]
        more += [f"{'wanted' if weight > 0 else 'avoided'} {text}" for text, weight in info.get("impressions", ())[:2]]
        return f"{info['stage']}: {', '.join(more)}" if more else str(info["stage"])
    if "done" in info:
        return f"{info['done']} of {info['members']} members learned"
    who = f"member {info['member']} of {info['members']}, " if info["members"] > 1 else ""
    tried = f", {info['tried']} tried" if info["tried"] else ""
    stage = "last fit" if info["stage"] == "done" else info["stage"]
    count = len(info["concepts"])
    return f"{who}{stage}: {count} concept{'s' * (count != 1)}{tried}, tau of the demonstrations {info['tau']:.3f}"
