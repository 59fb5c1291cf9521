"""The command line: a thin layer over the library, which knows no world but those that are registered. Each module adds
its commands and loads what it needs late.

app        the application, and what all commands share
inputs     what commands read, and options that several have
progress   bars and lines on long work
demo  learn  explain  plan  evaluate  reproduce  show  concepts  check  bench      a command each
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer

from meip.base.errors import MeipError
from meip.cli import bench, check, concepts, demo, evaluate, explain, learn, plan, reproduce, show  # noqa: F401  (importing a module adds its commands)
from meip.cli.app import app
from meip.model.problems import load_object, registered

__all__ = ["app", "main"]

BAD_INPUT = 2
# The way of a newcomer; commands that are not named come after these.
ORDER = ("demo", "learn", "explain", "plan", "evaluate", "reproduce", "show", "concepts", "check", "schema")
INTERRUPTED = 130
# Recent typers carry their own copy of click and older ones import it; this is the base class of usage errors in both.
_UsageError: Any = typer.BadParameter.__mro__[2]


def _mount() -> None:
    """Add the commands that worlds and other packages register (``meip.commands``); one that fails is only named."""
    for name, target in registered("meip.commands").items():
        try:
            found = load_object(target, name)
        except MeipError as error:
            typer.echo(f"warning: the command {name!r} is left out: {error}", err=True)
            continue
        if isinstance(found, typer.Typer):
            app.add_typer(found, name=name)
        else:
            app.command(name)(found)


_mount()
app.registered_commands.sort(
    key=lambda c: ORDER.index(n) if (n := getattr(c.callback, "__name__", "")) in ORDER else 99
)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line. Bad input ends with one message and exit code 2, Ctrl-C quietly with 130."""
    sys.exit(_run(sys.argv[1:] if arguments is None else list(arguments)))


def _run(arguments: list[str]) -> int:
    try:
        code = app(arguments, prog_name="meip", standalone_mode=False)
        sys.stdout.flush()
    except MeipError as error:
        typer.echo(f"error: {error}", err=True)
        return BAD_INPUT
    except _UsageError as error:
        error.show()
        return BAD_INPUT
    except (typer.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:  # `meip ... | head`: the reader has seen enough, and Python must not complain at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return code if isinstance(code, int) else 0
