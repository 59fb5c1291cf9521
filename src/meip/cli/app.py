"""The application object, and what all commands share: options, tables, machine-readable output."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Annotated, Any

import typer

from meip import __version__
from meip.base.text import UNSAFE, printable, say

__all__ = ["DomainOption", "JsonOption", "app", "console", "print_json"]

EXAMPLES = """
Examples:

  meip demo                             start here: learn, explain, plan
  meip learn demos.jsonl -o task.json   what do these demonstrations strive for?
  meip plan task.json problem.json      what would they do here?
  meip show ritual                      a world's states, actions and facts
  meip concepts ritual --level 2        what can be said about it
  meip check demos.jsonl problem.json   are these files right?
  meip schema demonstration             the JSON Schema of a kind of file

A WORLD is the name of a built-in one (ritual, didactic), a problem document (problem.json),
a PDDL problem (with --domain), or package.module:factory for a class of your own.
"""

app = typer.Typer(
    name="meip",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog=EXAMPLES.replace("\n\n", "\n\n\b\n"),
)

NARROWEST = 20  # columns; a terminal that says less (COLUMNS=0) does not know

DomainOption = Annotated[
    str | None, typer.Option("--domain", metavar="FILE", help="PDDL domain of a PDDL problem, if not beside it.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of tables for people.")]


def _version(wanted: bool) -> None:
    if wanted:
        say(f"meip {__version__}")
        raise typer.Exit


@app.callback()
def _meip(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show where an error came from, with any command and anywhere in it.")
    ] = False,
) -> None:
    """Learn what a person cares about from a few demonstrations, and plan with it elsewhere."""


def console() -> Any:
    """A rich console for tables; plain text where the output is not a terminal."""
    from rich.console import Console
    from rich.segment import Segment

    class Safe(Console):
        """Texts of files do not reach the terminal as commands to it; rich's own do."""

        def render(self, renderable: Any, options: Any = None) -> Iterator[Segment]:
            for one in super().render(renderable, options):
                yield one if one.control else Segment(printable(one.text), one.style)

    found = Safe(highlight=False, markup=False, emoji=False)
    return found if found.width >= NARROWEST else Safe(highlight=False, markup=False, emoji=False, width=80)


def print_json(value: Any) -> None:
    """JSON in which a terminal finds nothing to act on either."""
    text = json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False)
    say(UNSAFE.sub(lambda found: f"\\u{ord(found.group()):04x}", text))
