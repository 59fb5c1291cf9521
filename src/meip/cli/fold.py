"""``meip fold``: the commands of the folding world, mounted, and demonstrations of folding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from meip.base.errors import MeipError
from meip.cli.app import app
from meip.worlds.folding.commands import fold_app

__all__ = ["demonstrate", "write_problem"]

app.add_typer(fold_app, name="fold")


@fold_app.callback(help=fold_app.info.help)
def _known_documents() -> None:
    import meip.tasks.task  # noqa: F401  (registers plans, which can be drawn as well)


@fold_app.command()
def demonstrate(
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="JSON Lines file to append to.")],
    templates: Annotated[
        list[str] | None, typer.Option("--template", help="Kind of garment, once or more; default: shirts.")
    ] = None,
    garment: Annotated[
        Path | None, typer.Option("--garment", metavar="FILE", help="Fold this garment document instead.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many demonstrations.")] = 15,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which proportions and noise.")] = 0,
) -> None:
    """Make demonstrations with the scripted demonstrator: sleeves, then in half, with a person's noise.

    \b
    Examples:
      meip fold demonstrate -o demos.jsonl
      meip fold demonstrate -o demos.jsonl --template hoodie --count 5 --seed 1
    """
    import numpy as np

    from meip.base import documents
    from meip.base.errors import did_you_mean
    from meip.model.demonstrations import append_demonstration
    from meip.worlds.folding import demonstrate as scripted
    from meip.worlds.folding.garments import TEMPLATES

    rng = np.random.default_rng(seed)
    for name in templates or ():
        if name not in TEMPLATES:
            raise MeipError(f"no garment template {name!r}; {did_you_mean(name, TEMPLATES)}")
    if garment is not None:
        found = documents.read(garment, "garment")
        shown = [scripted.demonstrate(found, rng) for _ in range(count)]
    else:
        shown = scripted.random_demonstrations(count, rng, tuple(templates or ("tshirt", "longsleeve")))
    for one in shown:
        append_demonstration(output, one)
    typer.echo(f"{output}: {len(shown)} scripted demonstrations added")


@fold_app.command("problem")
def write_problem(
    garment: Annotated[str, typer.Argument(help="A template's name, or a garment document (.json).")],
    output: Annotated[Path, typer.Option("-o", "--output", metavar="FILE", help="The problem document (.json).")],
    folds: Annotated[int, typer.Option(min=1, help="How often it may be folded.")] = 3,
    candidates: Annotated[int, typer.Option(min=1, help="Folds that are considered in each state.")] = 40,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which of them.")] = 0,
) -> None:
    """Write a garment as a problem to plan in.

    \b
    Examples:
      meip fold problem hoodie -o hoodie.json
      meip plan folding.json hoodie.json -o plan.json
    """
    from meip.base import documents
    from meip.base.errors import did_you_mean
    from meip.base.files import write_text
    from meip.worlds import problem_document
    from meip.worlds.folding.garments import TEMPLATES, garment as template
    from meip.worlds.folding.world import Folding

    if Path(garment).suffix == ".json":
        chosen = documents.read(garment, "garment")
    elif garment in TEMPLATES:
        chosen = template(garment)
    else:
        raise MeipError(
            f"{garment}: neither a template ({did_you_mean(garment, TEMPLATES)}) nor a garment document (.json)"
        )
    found = problem_document(Folding(chosen, folds + 1, candidates=candidates, seed=seed))
    write_text(output, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    typer.echo(f"{output}: fold {chosen.name} up to {folds} times")
