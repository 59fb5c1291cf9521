"""Tables of experiments in their own form: a title, headings and lines; on a terminal or in a page."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from meip.base.results import Row

__all__ = ["Table", "spread", "text_table"]


class Table(NamedTuple):
    """What is shown of some rows."""

    title: str
    headings: list[str]
    lines: list[list[str]]


def spread(row: Row) -> str:
    """A value with its interval, where it has one: .700 (.685-.715)."""
    if "low" not in row:
        return f"{row['value']:.3f}"
    return f"{row['value']:.3f} ({row['low']:.3f}..{row['high']:.3f})"


def text_table(title: str, rows: Sequence[Row], conditions: Sequence[str]) -> Table:
    """A line for each row: its method, these conditions, its value."""
    lines = [[row["method"], *(str(row.get(name, "")) for name in conditions), spread(row)] for row in rows]
    return Table(title, ["method", *conditions, "value"], lines)
