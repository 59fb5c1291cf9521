"""The command line: a thin layer over the library, which knows no world but those that are registered. Each module adds
its commands and loads what it needs late.

app        the application, and what all commands share
inputs     what commands read, and options that several have
progress   bars and lines on long work
demo  learn  explain  plan  evaluate  reproduce  show  concepts  check  bench  studio      a command each
"""

from __future__ import annotations

import os
import sys
import traceback
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

import typer

from meip.base.errors import MeipError
from meip.base.signals import Ended
from meip.base.text import say
from meip.cli import bench, check, concepts, demo, evaluate, explain, learn, plan, reproduce, show, studio  # noqa: F401  (importing a module adds its commands)
from meip.cli.app import app
from meip.model.problems import load_object, registered

__all__ = ["app", "main", "run"]

BAD_INPUT = 2
INTERNAL = 1
# The way of a newcomer; commands that are not named come after these.
ORDER = ("demo", "studio", "learn", "explain", "plan", "evaluate", "reproduce", "show", "concepts", "check", "schema")
INTERRUPTED = 130
# Recent typers carry their own copy of click and older ones import it; this is the base class of usage errors in both.
_UsageError: Any = typer.BadParameter.__mro__[2]


def _mount() -> None:
    """Add the commands that worlds and other packages register (``meip.commands``); one that fails is only named."""
    for name, target in registered("meip.commands").items():
        try:
            found = load_object(target, name)
        except MeipError as error:
            say(f"warning: the command {name!r} is left out: {error}", err=True)
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
    """Run the command line, and leave Python."""
    sys.exit(run(sys.argv[1:] if arguments is None else list(arguments)))


def run(arguments: list[str]) -> int:
    """Run a command: its exit code. Bad input ends with one message and 2, Ctrl-C quietly with 130.

    ``--debug``, anywhere, shows where an error came from: the user's own code, or ours.
    """
    debug = "--debug" in arguments
    try:
        return _invoke([argument for argument in arguments if argument != "--debug"])
    except MeipError as error:
        hint = "" if debug or not _by_user(error) else "; with --debug it says where"
        return _tell(f"error: {error}{hint}", BAD_INPUT, error if debug else None)
    except BrokenPipeError:  # `meip ... | head`: the reader has seen enough
        _close_output()
        return 0
    except KeyboardInterrupt as error:
        return error.code if isinstance(error, Ended) else INTERRUPTED
    except OSError as error:
        _close_output()
        return _tell(f"error: {error.filename or 'the output'}: {error.strerror}", BAD_INPUT, error if debug else None)
    except MemoryError as error:
        return _tell(
            "error: out of memory; give a smaller problem or a lower limit", BAD_INPUT, error if debug else None
        )
    except Exception as error:
        where = "" if debug else "; with --debug it says where"
        return _tell(f"error inside meip: {type(error).__name__}: {error}{where}", INTERNAL, error if debug else None)


def _invoke(arguments: list[str]) -> int:
    """Run a command as click does in `main`, which would turn errors of ours into errors of its own."""
    command = typer.main.get_command(app)
    try:
        with command.make_context("meip", arguments) as context:
            command.invoke(context)
    except typer.Exit as ended:
        code = ended.exit_code
    except _UsageError as error:
        error.show()
        code = BAD_INPUT
    else:
        code = 0
    sys.stdout.flush()
    return code


def _by_user(error: BaseException | None) -> bool:
    """Did an error begin in code of the user's?"""
    while isinstance(error, MeipError):
        error = error.__cause__
    return error is not None


def _tell(message: str, code: int, shown: BaseException | None) -> int:
    """Say what went wrong, on a line of its own, with the traceback if it was asked for."""
    with suppress(OSError, ValueError):  # nobody listens
        if shown is not None:
            say("".join(traceback.format_exception(shown)).rstrip(), err=True)
        say(message, err=True)
    return code


def _close_output() -> None:
    """Nothing more can be written: Python must not try it at exit, and complain."""
    with suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
