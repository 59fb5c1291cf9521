"""Texts that others wrote, made safe to show: nothing in them moves a cursor, changes a colour or turns a line."""

from __future__ import annotations

import re
import sys

__all__ = ["UNSAFE", "plain", "printable", "say"]

# Control characters but for the tab and the end of a line, halves of surrogate pairs, and what changes the direction.
UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """The text with what a terminal would act on written as an escape, ``\\x1b``."""
    return UNSAFE.sub(lambda found: _escaped(found.group()), text)


def _escaped(character: str) -> str:
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def say(text: str, err: bool = False) -> None:
    """Print a line for people, on stderr on demand."""
    stream = sys.stderr if err else sys.stdout
    stream.write(printable(text) + "\n")
    stream.flush()


def plain(text: str, most: int = 60) -> str:
    """A name taken from a file for an error: short, on one line, and printable."""
    short = text if len(text) <= most else text[: most - 3] + "..."
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in short)
