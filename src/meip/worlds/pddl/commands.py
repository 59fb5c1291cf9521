"""``meip demonstrate`` and ``meip generate``: commands about PDDL, entry points of ``meip.commands``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from meip.base.errors import DocumentError
from meip.base.files import writable
from meip.base.text import say

__all__ = ["demonstrate", "generate"]

Output = Annotated[
    str | None,
    typer.Option("-o", "--output", metavar="FILE", callback=writable, help="Where to write; default: print."),
]


def demonstrate(
    domain: Annotated[str, typer.Argument(help="A domain.pddl, or the name of a shipped domain.")],
    problem: Annotated[str, typer.Argument(help="A problem.pddl of that domain.")],
    output: Output = None,
    seconds: Annotated[float, typer.Option("--time", metavar="SECONDS", help="How long to search.")] = 30.0,
) -> None:
    """Make a plan for a PDDL problem: with a planner that unified-planning finds installed, else with our own A*.

    \b
    Examples:
      meip demonstrate domain.pddl p01.pddl -o p01.plan
      meip demonstrate ferry p01.pddl
    """
    from meip.worlds.pddl.demonstrate import plan_demonstration, solve
    from meip.worlds.pddl.plans import step_text, write_plan
    from meip.worlds.pddl.world import read_problem

    world = read_problem(problem, domain)
    steps, planner = solve(world, seconds)
    plan_demonstration(world, steps, where=problem)
    if output is None:
        for step in steps:
            say(step_text(step))
    else:
        write_plan(output, steps, comment=f"found by {planner}")
    say(f"{len(steps)} steps, found by {planner}", err=True)


def generate(
    domain: Annotated[str, typer.Argument(help="The name of a shipped domain.")],
    size: Annotated[
        list[str] | None, typer.Option("--size", metavar="NAME=NUMBER", help="A size, e.g. blocks=8; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The same seed and sizes give the same problem.")] = 0,
    output: Output = None,
    domain_output: Annotated[
        str | None,
        typer.Option(
            "--domain-output", metavar="FILE", callback=writable, help="Write the domain itself to this file, too."
        ),
    ] = None,
) -> None:
    """Write a random, solvable problem of a shipped domain.

    \b
    Examples:
      meip generate ferry --size cars=6 --size landings=4 --seed 1 -o p01.pddl
      meip generate blocksworld --size blocks=8 -o p02.pddl --domain-output domain.pddl
    """
    from meip.base.documents import write_text
    from meip.worlds.pddl.generators import generate as make, size_parameters
    from meip.worlds.pddl.world import load_domain
    from meip.worlds.pddl.writer import domain_text

    sizes = dict(_size(domain, text, list(size_parameters(domain))) for text in size or ())
    text = make(domain, seed, **sizes)
    if domain_output is not None:
        write_text(Path(domain_output), domain_text(load_domain(domain)))
    if output is None:
        say(text.rstrip("\n"))
    else:
        write_text(Path(output), text)


def _size(domain: str, text: str, known: list[str]) -> tuple[str, int]:
    name, _, number = text.partition("=")
    try:
        return name, int(number)
    except ValueError:
        raise DocumentError(
            f"--size {text}: expected NAME=NUMBER with a name of {domain}: {', '.join(known)}"
        ) from None
