"""``meip learn``: from demonstrations to a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, cast

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.base.files import writable, writable_folder
from meip.cli.app import DomainOption, app, console
from meip.cli.inputs import Address, Backend, Memory, OwnWorld, Seed, grammar as chosen_grammar, read_episodes
from meip.cli.progress import learning_progress

__all__ = ["learn"]

NOTHING_LEARNED = 3
OBJECTIVES = ("auto", "plans", "choices", "history", "svm", "svm-literal")


@app.command()
def learn(
    demos: Annotated[
        list[str] | None, typer.Argument(metavar="[DEMOS...]", help="Files of demonstrations (.jsonl).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="TASK", callback=writable, help="Where to write the task (.json)."),
    ] = None,
    objective: Annotated[
        str,
        typer.Option(
            help="What is compared: choices (steps by what they add), history (by what they add to all before); auto: "
            "the one of these that foresees held-out choices; plans: whole ones, by the paper's pursuit; svm, "
            "svm-literal: a Ranking SVM, with our labels, with the paper's."
        ),
    ] = "auto",
    paper: Annotated[
        bool,
        typer.Option(
            "--paper", help="The paper's method as printed: its labels, plans of a tree, the last round, its pursuit."
        ),
    ] = False,
    given: Annotated[
        list[str] | None,
        typer.Option("--given", metavar="CONCEPT", help="Only this concept, and others given so: Algorithm 1."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Share of the demonstrations that may be wrong, e.g. 0.2.")
    ] = 0.0,
    grammar: Annotated[
        str | None,
        typer.Option(
            help="What may be said: paper; planning (roles and goals); counts; shares (of entities, and extreme "
            "values). Default: by the domain and the objective."
        ),
    ] = None,
    level: Annotated[
        int | None, typer.Option("--level", min=1, help="Fluents per concept at most; needs --grammar.")
    ] = None,
    order: Annotated[
        str | None,
        typer.Option(help="How the order is learned: closure (what always came first), none. Default: closure."),
    ] = None,
    pursuit: Annotated[
        str | None,
        typer.Option(
            help="How concepts are pursued over whole plans: tau-first, literal (Algorithm 2 as printed). Default: "
            "tau-first."
        ),
    ] = None,
    threshold: Annotated[
        float | None, typer.Option(min=0.0, help="Of the literal pursuit: the gain above which a concept is taken.")
    ] = None,
    committee: Annotated[
        int | None,
        typer.Option(min=1, help="Members, each fitted on a random share of the candidates. Default: by objective."),
    ] = None,
    relative: Annotated[
        bool, typer.Option("--relative/--no-relative", help="Curves also of concepts relative to their initial value.")
    ] = True,
    view: Annotated[
        str,
        typer.Option(help="Of choices: sparse (few statements), curves (of real quantities), auto: by held-out ones."),
    ] = "auto",
    branches: Annotated[
        int, typer.Option(min=0, metavar="N", help="Compare with N plans that leave each demonstration half-way, too.")
    ] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes, or threads; -1: one per core.")] = 1,
    backend: Backend = "loky",
    address: Address = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            callback=writable_folder,
            help="Keep finished rounds here; a run that was killed or cut goes on from them, to the same bytes.",
        ),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option(
            "--time", min=0.0, metavar="SECONDS", help="After this long, the best so far; see also --checkpoint."
        ),
    ] = None,
    memory: Memory = None,
    seed: Seed = 0,
    world: OwnWorld = None,
    domain: DomainOption = None,
    plans: Annotated[
        str | None, typer.Option(metavar="DIR", help="PDDL: every NAME.plan here belongs to the NAME.pddl beside it.")
    ] = None,
) -> None:
    """Learn a task: what the demonstrations strive for, and in which order.

    \b
    Examples:
      meip learn demos.jsonl -o task.json
      meip learn demos.jsonl -o task.json --committee 5 --jobs 2 --tolerance 0.2
      meip learn demos.jsonl -o task.json --given "all(torch@1)" --given "some(bamboo@2)"
      meip learn demos.jsonl -o task.json --backend ray --address 10.0.0.1:6379
      meip learn demos.jsonl -o task.json --paper
      meip learn demos.jsonl -o task.json --time 60 --memory 2000 --checkpoint kept
      meip learn demos.jsonl -o task.json --world packing:Packing
      meip learn folds.jsonl -o folding.json --view curves
      meip learn --domain domain.pddl --plans plans/ -o task.json

    An option that would have no effect is refused, with the reason. Exit code 3: nothing was learned.
    """
    from meip.learning.options import LearnOptions, Run
    from meip.report.text import explanation_text
    from meip.tasks.learn import learn as learn_task

    if output is None:
        raise MeipError("say where to write the task: -o TASK, e.g. -o task.json")
    if objective not in OBJECTIVES:
        raise MeipError(f"--objective: unknown {objective!r}; {did_you_mean(objective, OBJECTIVES)}")
    if paper and objective != "auto":
        raise MeipError(f"--objective {objective} has no effect beside --paper, which is svm-literal; leave one out")
    episodes = read_episodes(demos or (), world, domain, plans)
    asked: dict[str, Any] = {
        "objective": None if paper else objective,
        "concepts": None if given is None else tuple(given),
        "grammar": chosen_grammar(grammar, level),
        "order": order,
        "pursuit": pursuit,
        "threshold": threshold,
        "committee": committee,
    }
    asked = {name: value for name, value in asked.items() if value is not None}
    asked |= {"tolerance": tolerance, "relative": relative, "view": view, "branches": branches, "seed": seed}
    options = LearnOptions.paper(**asked) if paper else LearnOptions(**asked)
    with learning_progress() as tell:
        run = Run(jobs, cast(Any, backend), checkpoint, tell, address, seconds, memory)
        found = learn_task(episodes, options, run=run)
    found.save(output)
    out = console()
    out.print(explanation_text(found.explain()))
    if found.nothing_learned:
        out.print(f"\n{output} is written, but nothing was learned: see the remarks above.")
        raise typer.Exit(NOTHING_LEARNED)
    out.print(f"\n{output} is written. Next: meip explain {output} --why, or meip plan {output} PROBLEM")
