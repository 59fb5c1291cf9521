"""From text to nested lists of words, each with its line and column, so that every error can point at its place."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from meip.base.errors import DocumentError

__all__ = ["Node", "Source", "read_nodes"]

_TOKEN = re.compile(r";[^\n]*|[()]|[^\s();]+|\n")
_LONG_WORD = re.compile(r"\S{80,}")
MAX_DEPTH = 200


@dataclass(frozen=True, slots=True)
class Node:
    """A word (lower case) or a list, and where it begins (both from 1)."""

    text: str | None  # None for a list
    items: tuple[Node, ...]
    line: int
    column: int

    @property
    def head(self) -> str:
        """The first word of a list; empty where there is none."""
        return (self.items[0].text or "") if self.items else ""

    def __str__(self) -> str:
        if self.text is not None:
            return self.text
        inside = " ".join(str(item) for item in self.items[:8])
        return f"({inside}{' ...' if len(self.items) > 8 else ''})"


@dataclass(frozen=True, slots=True)
class Source:
    """A named text; `error` makes the message that names the place."""

    name: str
    text: str = field(repr=False)

    def error(self, node: Node | tuple[int, int], message: str) -> DocumentError:
        line, column = node if isinstance(node, tuple) else (node.line, node.column)
        short = _LONG_WORD.sub(lambda word: f"{word.group()[:57]}...", message)  # names of files may be of any length
        return DocumentError(f"{self.name}:{line}:{column}: {short}")


def read_nodes(source: Source) -> list[Node]:
    """Every top-level list of the text. Comments run from ; to the end of the line; case does not count."""
    top: list[Node] = []
    open_lists: list[tuple[int, int, list[Node]]] = []
    line, start = 1, 0
    for match in _TOKEN.finditer(source.text):
        token = match.group()
        column = match.start() - start + 1
        if token == "\n":
            line, start = line + 1, match.end()
        elif token == "(":
            if len(open_lists) >= MAX_DEPTH:
                raise source.error((line, column), f"lists are nested more than {MAX_DEPTH} deep")
            open_lists.append((line, column, []))
        elif token == ")":
            if not open_lists:
                raise source.error((line, column), "this ')' closes nothing; remove it, or add the missing '('")
            at_line, at_column, items = open_lists.pop()
            (open_lists[-1][2] if open_lists else top).append(Node(None, tuple(items), at_line, at_column))
        elif not token.startswith(";"):
            (open_lists[-1][2] if open_lists else top).append(Node(token.lower(), (), line, column))
    if open_lists:
        at_line, at_column, items = open_lists[-1]
        name = f" of '({items[0].text}'" if items and items[0].text else ""
        count = len(open_lists)
        missing = "a ')' is" if count == 1 else f"{count} ')' are"
        raise source.error(
            (at_line, at_column), f"this '('{name} is never closed: {missing} missing at the end of the file"
        )
    return top
