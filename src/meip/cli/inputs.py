"""What learning commands read: demonstrations with their worlds, problems to plan in, and options that they share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError, did_you_mean

__all__ = ["GRAMMARS", "Address", "Backend", "Memory", "OwnWorld", "Seed", "grammar", "read_episodes", "read_world"]

GRAMMARS = ("paper", "planning", "counts", "shares")
OwnWorld = Annotated[
    str | None,
    typer.Option("--world", metavar="MODULE:FACTORY", help="Your own world, for files that were recorded in it."),
]
Backend = Annotated[str, typer.Option("--backend", help="Where the work is done: loky (this machine), ray, dask.")]
Address = Annotated[
    str | None,
    typer.Option(
        "--address", metavar="HOST:PORT", help="Of a Ray or Dask cluster that runs already; all of it is used."
    ),
]
Seed = Annotated[int, typer.Option("--seed", min=0, help="The same seed gives the same result, to the last bit.")]

Memory = Annotated[
    float | None, typer.Option("--memory", min=1.0, metavar="MB", help="Memory limit of each process, in megabytes.")
]


def read_episodes(
    files: Sequence[str], own: str | None = None, domain: str | None = None, plans: str | None = None
) -> list[Any]:
    """The demonstrations of files (and of a folder of plan files), each with its world, replayed and found legal."""
    from meip.model.demonstrations import read_episodes as read

    if not files and plans is None:
        raise MeipError("nothing to learn from: give files of demonstrations (.jsonl), or --domain and --plans")
    return read(files, own=own, domain=domain, plans=plans)


def read_world(problem: str, own: str | None = None, domain: str | None = None) -> Any:
    """A world to plan in: a problem document, a PDDL problem, a name, or module:factory."""
    from meip.model.problems import load_problem, resolve_world

    if Path(problem).suffix == ".json":
        return load_problem(problem, own=own)
    return resolve_world(problem, domain=domain)


def grammar(name: str | None, level: int | None) -> Any:
    """The grammar that a person asked for; None where nothing was asked: then the learner decides."""
    from meip.concepts.grammar import Grammar

    if name is None and level is None:
        return None
    if name is None:
        raise MeipError(f"--level needs --grammar as well: one of {', '.join(GRAMMARS)}")
    if name not in GRAMMARS:
        raise MeipError(f"--grammar: unknown {name!r}; {did_you_mean(name, GRAMMARS)}")
    if name == "paper":
        return Grammar.paper(level or 1)
    made: Any = {"planning": Grammar.planning, "counts": Grammar.counts, "shares": Grammar.shares}[name]
    return made() if level is None else made(level)
