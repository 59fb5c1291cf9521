"""``meip learn``: from demonstrations to a task."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.cli.app import DomainOption, app, console
from meip.cli.inputs import OwnWorld, Seed, grammar as chosen_grammar, read_episodes
from meip.cli.progress import learning_progress

__all__ = ["learn"]

OBJECTIVES = ("likelihood", "svm", "svm-literal")


@app.command()
def learn(
    demos: Annotated[
        list[str] | None, typer.Argument(metavar="[DEMOS...]", help="Files of demonstrations (.jsonl).")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", metavar="TASK", help="Where to write the task (.json).")
    ] = None,
    objective: Annotated[
        str, typer.Option(help="likelihood; svm or svm-literal for the paper's Ranking SVM.")
    ] = "likelihood",
    tolerance: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Share of the demonstrations that may be wrong, e.g. 0.2.")
    ] = 0.0,
    grammar: Annotated[
        str | None,
        typer.Option(
            help="What may be said: paper; planning (roles and goals); shares (of entities, and extreme values). "
            "Default: by the domain and the regime."
        ),
    ] = None,
    level: Annotated[
        int | None, typer.Option("--level", min=1, help="Fluents per concept at most; default: by the grammar.")
    ] = None,
    regime: Annotated[
        str,
        typer.Option(
            help="exact: compare whole plans; stepwise: single steps with their alternatives (long plans); committee: "
            "so by many simple utilities (more actions than can be listed); auto: by length and branching."
        ),
    ] = "auto",
    committee: Annotated[
        int | None, typer.Option(min=1, help="Members; their agreement is shown as confidence. Default: by the regime.")
    ] = None,
    relative: Annotated[
        bool,
        typer.Option("--relative/--no-relative", help="committee: also concepts relative to their initial value."),
    ] = True,
    branches: Annotated[
        int,
        typer.Option(min=0, metavar="N", help="Compare with N plans that leave each demonstration half-way, too."),
    ] = 0,
    jobs: Annotated[int, typer.Option(min=-1, help="Processes for the members of a committee; -1: one per core.")] = 1,
    backend: Annotated[str, typer.Option(help="Where they run: loky (this machine), ray, dask.")] = "loky",
    checkpoint: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Keep decisions here; a run that was killed goes on from them.")
    ] = None,
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
      meip learn demos.jsonl -o task.json --world packing:Packing
      meip learn folds.jsonl -o folding.json --regime committee --jobs 2
      meip learn --domain domain.pddl --plans plans/ -o task.json
    """
    from meip.report.text import explanation_text
    from meip.tasks.learning import LearnOptions, learn as learn_task

    if output is None:
        raise MeipError("say where to write the task: -o TASK, e.g. -o task.json")
    if objective not in OBJECTIVES:
        raise MeipError(f"--objective: unknown {objective!r}; {did_you_mean(objective, OBJECTIVES)}")
    episodes = read_episodes(demos or (), world, domain, plans)
    options = LearnOptions(
        regime=regime,  # type: ignore[arg-type]
        objective=objective,  # type: ignore[arg-type]
        grammar=chosen_grammar(grammar, level, episodes[0].world.domain),
        tolerance=tolerance,
        committee=committee,
        relative=relative,
        branches=branches,
        seed=seed,
    )
    with learning_progress() as tell:
        found = learn_task(
            episodes,
            options,
            jobs=jobs,
            backend=backend,  # type: ignore[arg-type]
            checkpoint=checkpoint,
            progress=tell,
        )
    found.save(output)
    out = console()
    out.print(explanation_text(found.explain()))
    out.print(f"\n{output} is written. Next: meip explain {output} --why, or meip plan {output} PROBLEM")
