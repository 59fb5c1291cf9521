"""Tables written into a page: what stands between two markers is replaced, the rest is left as it is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from meip.base.errors import DocumentError
from meip.base.files import write_text

__all__ = ["markdown", "write_between"]

END = "<!-- end -->"
Tables = Sequence[tuple[str, Sequence[str], Sequence[Sequence[str]]]]


def markdown(tables: Tables, command: str) -> str:
    """Tables with their titles, and the command that wrote them."""
    parts = [f"Written by `{command} --docs`."]
    for title, headings, lines in tables:
        rows = [list(headings), ["---"] * len(headings), *lines]
        parts.append(f"*{title}*")
        parts.append("\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows))
    return "\n\n".join(parts)


def write_between(page: Path, name: str, text: str) -> None:
    """Replace what a page has between ``<!-- meip: NAME -->`` and ``<!-- end -->``."""
    start = f"<!-- meip: {name} -->"
    try:
        old = page.read_text(encoding="utf-8")
    except OSError as error:
        raise DocumentError(f"{page}: {error.strerror}") from None
    before, found, rest = old.partition(start)
    _, ended, after = rest.partition(END)
    if not found or not ended:
        raise DocumentError(f"{page}: no lines {start} and {END} to write the tables of {name} between")
    write_text(page, f"{before}{start}\n{text}\n{END}{after}")
