"""``meip plan``: what a task would do in a world."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.base.files import writable
from meip.cli.app import DomainOption, JsonOption, app, console, print_json
from meip.cli.inputs import Address, Backend, Memory, OwnWorld, Seed, read_world

__all__ = ["NOT_REACHED", "plan"]

NOT_REACHED = 3
EACH = "each"
CHANCES = ("expectation", "posterior", "probability")
METHODS = (
    "auto",
    "choices",
    "greedy",
    "gbfs",
    "beam",
    "likeliest",
    "exact",
    "mcts",
)  # `SEARCHES`, which takes long to load


@app.command()
def plan(
    task: Annotated[str, typer.Argument(metavar="TASK", help="A task that was learned.")],
    problem: Annotated[str, typer.Argument(metavar="PROBLEM", help="A problem file, a world's name, module:factory.")],
    search: Annotated[str, typer.Option(help=f"How to search: {', '.join(METHODS)}.")] = "auto",
    chance: Annotated[str, typer.Option(help=f"What to maximise where chance plays: {', '.join(CHANCES)}.")] = (
        "expectation"
    ),
    horizon: Annotated[
        int | None, typer.Option(min=1, help="States of the plan, with the first; default: the world's.")
    ] = None,
    iterations: Annotated[
        int | None,
        typer.Option(min=1, help="Simulations of mcts (default 3000), plans of exact, else states that are expanded."),
    ] = None,
    seconds: Annotated[float | None, typer.Option("--time", min=0.0, metavar="SECONDS", help="Time limit.")] = None,
    memory: Memory = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "-o", "--output", metavar="FILE", callback=writable, help="Write the plan: .json; .plan for planners."
        ),
    ] = None,
    render: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=writable,
            help="Show the plan: a page (.html); .svg where a world draws itself; .png of folds.",
        ),
    ] = None,
    start: Annotated[
        str | None,
        typer.Option(metavar="K", help="Where to start: an initial state, counted from 0; each: a plan for every one."),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Draw N plans in proportion to exp(lambda tau) instead.")
    ] = None,
    strength: Annotated[
        float | None,
        typer.Option("--lambda", metavar="L", help="With --samples: how much tau counts; default: 2 (states - 1)."),
    ] = None,
    jobs: Annotated[
        int, typer.Option("--jobs", metavar="N", help="Processes, with --start each; -1: one per core.")
    ] = 1,
    backend: Backend = "loky",
    address: Address = None,
    seed: Seed = 0,
    world: OwnWorld = None,
    domain: DomainOption = None,
    as_json: JsonOption = False,
) -> None:
    """Plan with a task, also in worlds that nobody has shown: other objects, other numbers of them, other chances.

    \b
    Examples:
      meip plan task.json ritual
      meip plan task.json problem.json --search mcts --time 5 -o plan.json
      meip plan task.json p01.pddl --search gbfs -o p01.plan --render p01.html
      meip plan folding.json hoodie.json --render folds.png            a garment is a problem, too
      meip plan task.json ritual --samples 100 --lambda 6              what else would this person do?
      meip plan task.json world.json --start each -o plans.jsonl       where one may start in several states

    A world with several initial states is planned in from the likeliest one.

    Exit code 0: the world's goal is reached, or it has none of its own; 3: not reached, the best plan is written.
    """
    from meip.base import documents
    from meip.learning.options import Run
    from meip.report.plan_page import write_plan
    from meip.report.text import plan_text
    from meip.tasks.task import Task

    _check(search, METHODS, "--search")
    _check(chance, CHANCES, "--chance")
    if strength is not None and samples is None:
        raise MeipError("--lambda is about plans that are drawn: give --samples N as well")
    if start != EACH and (jobs, backend, address) != (1, "loky", None):
        raise MeipError(f"--jobs, --backend and --address divide several plans: give --start {EACH} as well")
    run = Run(jobs, cast(Any, backend), address=address)
    planned_in = read_world(problem, world, domain)  # first: its module may register what the task speaks of
    learned = Task.load(task)
    if samples is not None:
        if (search, chance, iterations, seconds, memory, render, start) != ("auto", "expectation", *[None] * 5):
            raise MeipError("--samples draws plans, and where they start, and searches nothing: leave out --search, "
                            "--chance, --iterations, --time, --memory, --start and --render")  # fmt: skip
        _show_samples(learned.sample(planned_in, samples, strength, seed=seed, horizon=horizon), output, as_json)
        return
    query: dict[str, Any] = {
        "method": search,
        "chance": chance,
        "horizon": horizon,
        "iterations": iterations,
        "seconds": seconds,
        "memory": memory,
    }
    asked = {**{name: value for name, value in query.items() if value is not None}, "seed": seed}
    if start == EACH:
        if render is not None:
            raise MeipError(
                f"--start {EACH} makes several plans, --render shows one: name a start, or leave out --render"
            )
        _show_starts(learned.plans(planned_in, run=run, **asked), output, as_json)
        return
    found = learned.plan(planned_in, start=_start(start), **asked)
    if output is not None:
        _write(output, found, planned_in)
    if render is not None:
        write_plan(render, found, planned_in, f"{task} in {problem}")
    if as_json:
        print_json(documents.dump(found))
    else:
        console().print(plan_text(found))
    if found.goal is False:
        raise typer.Exit(NOT_REACHED)


def _start(text: str | None) -> int | None:
    if text is None or text.isdecimal():
        return None if text is None else int(text)
    raise MeipError(f"--start {text}: a number from 0, or {EACH}")


def _show_starts(plans: list[Any], output: Path | None, as_json: bool) -> None:
    """A plan for each initial state, one after the other."""
    from meip.report.text import plan_text

    _write_lines(plans, output, as_json)
    for plan in () if as_json else plans:
        console().print(f"start {plan.initial}, probability {plan.initial_probability:g}", highlight=False)
        console().print(plan_text(plan))
    if any(plan.goal is False for plan in plans):
        raise typer.Exit(NOT_REACHED)


def _show_samples(plans: list[Any], output: Path | None, as_json: bool) -> None:
    """Plans by how often they were drawn."""
    from meip.report.text import samples_text

    _write_lines(plans, output, as_json)
    if not as_json:
        console().print(samples_text(plans))


def _write_lines(plans: list[Any], output: Path | None, as_json: bool) -> None:
    """Several plans: a document per line in a file, a list on the screen."""
    from meip.base import documents

    if output is not None:
        documents.write_text(output, "".join(documents.canonical(documents.dump(plan)) + "\n" for plan in plans))
    if as_json:
        print_json([documents.dump(plan) for plan in plans])


def _write(path: Path, found: Any, world: Any) -> None:
    """A plan document; a plan file as the world writes it where the name ends in .plan."""
    from meip.base import documents
    from meip.model.world import plan_text

    if path.suffix == ".plan":
        documents.write_text(path, plan_text(world, found.actions))
    else:
        documents.write(path, found)


def _check(value: str, known: tuple[str, ...], option: str) -> None:
    if value not in known:
        raise MeipError(f"{option}: unknown {value!r}; {did_you_mean(value, known)}")
