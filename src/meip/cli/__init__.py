"""The command line: a thin layer over the library. One module per group of commands; each loads what it needs late."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from meip import __version__
from meip.errors import MeipError

__all__ = ["app", "main"]

BAD_INPUT = 2
INTERRUPTED = 130
# Recent typers carry their own copy of click and older ones import it; this is the base class of usage errors in both.
_UsageError: Any = typer.BadParameter.__mro__[2]

app = typer.Typer(
    name="meip",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"meip {__version__}")
        raise typer.Exit


@app.callback()
def _meip(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Learn what a person cares about from a few demonstrations, and plan with it elsewhere."""


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Bad input ends with one message and exit code 2, Ctrl-C quietly with 130."""
    sys.exit(_run(sys.argv[1:] if arguments is None else list(arguments)))


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments, prog_name="meip", standalone_mode=False)
    except MeipError as error:
        typer.echo(f"error: {error}", err=True)
        return BAD_INPUT
    except _UsageError as error:
        error.show()
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # `meip ... | head`: the reader has seen enough
        sys.stderr.close()
        return 0
    return code if isinstance(code, int) else 0
