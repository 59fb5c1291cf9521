"""``meip fold``: garments, pictures, and the way from one to the other; an entry point of ``meip.commands``."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError, did_you_mean
from meip.base.files import make_folder, writable, writable_folder
from meip.base.text import say
from meip.worlds.folding.parse_command import parse_picture

__all__ = [
    "convert", "demonstrate", "fold_app", "import_shirts", "list_fluents", "list_garments", "parse_picture",
    "render_files", "write_problem",
]  # fmt: skip

fold_app = typer.Typer(
    name="fold",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
    help="Folding clothes: garments, pictures of them, and plans to look at.",
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of lines for people.")]
_Fluents = Annotated[str, typer.Option("--fluents", help="What can be said about a cloth: extended or paper.")]
_Theme = Annotated[str, typer.Option("--theme", help="light or dark.")]


@fold_app.command("garments")
def list_garments(
    template: Annotated[str | None, typer.Argument(help="One template; without it, all are listed.")] = None,
    style: Annotated[list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A style parameter.")] = None,
    random: Annotated[int, typer.Option("--random", min=0, max=10_000, help="Draw this many at random.")] = 0,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random draws.")] = 0,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", metavar="DIR", callback=writable_folder, help="Write documents here."),
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", callback=writable, help="Draw them: .svg or .png.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """List garment templates and their style parameters, or draw garments.

    \b
    Examples:
      meip fold garments                                   the templates
      meip fold garments tshirt                            its style parameters and their ranges
      meip fold garments tshirt --set chest=60 -o shirts   one garment document
      meip fold garments --random 5 --picture all.svg      five of each template, drawn
    """
    from meip.worlds.folding.garments import TEMPLATES, garment_of_style, make_style, parameters

    chosen = [template] if template else list(TEMPLATES)
    if style and not template:
        raise MeipError("--set needs a template, for example: meip fold garments tshirt --set chest=60")
    values = _style(style or [])
    garments = _drawn(chosen, random, seed) if random else [garment_of_style(make_style(n, **values)) for n in chosen]
    _keep(garments, output, picture)
    if as_json:
        say(json.dumps({name: {k: vars(p) for k, p in parameters(name).items()} for name in chosen}, indent=2))
    elif output is None and picture is None:
        for one in garments:
            parts = ", ".join(f"{part.name} ({len(part.points)} corners)" for part in one.parts)
            say(f"{one.name}: {parts}")
        for name, p in parameters(template).items() if template else ():
            say(f"  {name:14} {p.low:g} to {p.high:g}, by default {p.default:g}: {p.meaning}")


def _style(settings: list[str]) -> dict[str, float]:
    values = {}
    for setting in settings:
        name, _, text = setting.partition("=")
        try:
            values[name.strip()] = float(text)
        except ValueError:
            raise MeipError(f"--set {setting}: expected NAME=NUMBER") from None
    return values


def _drawn(templates: list[str], count: int, seed: int) -> list[Any]:
    import numpy as np

    from meip.worlds.folding.garments import random_garment

    rng = np.random.default_rng(seed)
    return [random_garment(t, rng, name=f"{t} {i}") for t in templates for i in range(1, count + 1)]


def _keep(garments: list[Any], folder: Path | None, picture: Path | None) -> None:
    """Write garment documents and a sheet of them, and say so."""
    from meip.base import documents

    if folder is not None:
        make_folder(folder)
        used: dict[str, int] = {}
        for one in garments:
            name = _file_name(one.name)
            used[name] = used.get(name, 0) + 1
            documents.write(folder / (f"{name}.json" if used[name] == 1 else f"{name}-{used[name]}.json"), one)
        say(f"{len(garments)} garment{'s' if len(garments) != 1 else ''} written to {folder}")
    if picture is not None:
        from meip.worlds.folding.canvas import write_canvas
        from meip.worlds.folding.render import garment_sheet

        write_canvas(picture, garment_sheet(garments, columns=max(1, min(12, round(len(garments) ** 0.5 * 1.4)))))
        say(f"drawn in {picture}")


def _file_name(name: str) -> str:
    return re.sub(r"[^\w.-]+", "-", name).strip("-.") or "garment"


@fold_app.command("fluents")
def list_fluents(as_json: _Json = False) -> None:
    """List what can be said about a cloth, beside the fluents of the paper's table.

    \b
    Examples:
      meip fold fluents
      meip fold fluents --json
    """
    from meip.worlds.folding.fluent_table import fluent_rows

    rows = fluent_rows()
    if as_json:
        say(json.dumps([row._asdict() for row in rows], indent=2))
        return
    say(f"{'paper':18} {'here':16} {'arity':>5}  {'type':10} {'of':18} {'flat':>8} {'folded':>8}")
    for row in rows:
        here = row.name + "*" * (not row.extended)
        numbers = f"{row.flat:8.3g} {row.folded:8.3g}"
        say(f"{row.paper or '-':18} {here:16} {row.arity:5}  {row.type:10} {row.of:18} {numbers}")
    say('* only with "fluents": "paper" in a problem, which has the first ten; by default those without a star.')
    say("Flat, folded: of the first demonstrated shirt; a function's mean, for how many a predicate is true.")


fold_app.command("parse")(parse_picture)


@fold_app.command("render")
def render_files(
    files: Annotated[list[Path], typer.Argument(metavar="FILE", help="Garments, .fold files, demonstrations.")],
    output: Annotated[Path, typer.Option("-o", "--output", callback=writable, help="The picture: .svg or .png.")],
    title: Annotated[str, typer.Option("--title", help="A heading.")] = "",
    columns: Annotated[int, typer.Option("--columns", min=1, max=20, help="Plans beside each other.")] = 1,
    tree: Annotated[
        Path | None, typer.Option("--tree", callback=writable, help="Parse trees of the first row's states.")
    ] = None,
    theme: _Theme = "light",
) -> None:
    """Draw garments, folded cloths and demonstrations as a contact sheet.

    \b
    Examples:
      meip fold render demos.jsonl -o folds.png --columns 2
      meip fold render shirt.json folded.fold -o look.svg --theme dark
      meip fold render plan.json -o plan.png --tree trees.svg
    """
    from meip.worlds.folding.canvas import DARK, LIGHT, write_canvas
    from meip.worlds.folding.render import contact_sheet, rows_of_file

    themes = {"light": LIGHT, "dark": DARK}
    if theme not in themes:
        raise MeipError(f"--theme: unknown {theme!r}; {did_you_mean(theme, themes)}")
    rows = [row for path in files for row in rows_of_file(path)]
    write_canvas(output, contact_sheet(rows, title=title, columns=columns, numbers=True), themes[theme])
    say(f"{len(rows)} rows drawn in {output}")
    if tree is not None:
        from meip.worlds.folding.parse_tree import cloth_trees

        write_canvas(tree, cloth_trees(rows[0]), themes[theme])
        say(f"parse trees of {rows[0].title} drawn in {tree}")


@fold_app.command("import")
def import_shirts(
    xml: Annotated[Path, typer.Argument(help="Labelled photographs: 'CVAT for images' XML.")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="DIR", callback=writable_folder, help="Write the garments here.")
    ],
    outline: Annotated[str, typer.Option("--outline", help="keypoints or mask.")] = "keypoints",
    picture: Annotated[
        Path | None, typer.Option("--picture", callback=writable, help="Draw them all: .svg or .png.")
    ] = None,
    as_json: _Json = False,
) -> None:
    """Import photographed shirts; what cannot be used is listed with the reason.

    \b
    Examples:
      meip fold import tshirts.xml -o shirts
      meip fold import tshirts.xml -o shirts --outline mask --picture shirts.png
    """
    from meip.worlds.folding.cvat import import_cvat

    result = import_cvat(xml, outline=outline)
    if not result.garments:
        raise MeipError(f"{xml}: no image gave a garment; the first: {result.rejected[0].reason}")
    if as_json:
        reasons = [vars(item) for item in result.rejected]
        taken = [{"name": g.name, "image": image} for g, image in zip(result.garments, result.images, strict=True)]
        say(json.dumps({"garments": taken, "rejected": reasons}, indent=2))
    else:
        for item in result.rejected:
            say(f"{xml}:{item.line}: {item.name}: left out: {item.reason}")
        for one, image in zip(result.garments, result.images, strict=True):
            if len(one.parts) < 3:
                say(f"{one.name} ({image}): without the sleeve that lies on the body")
        say(f"{len(result.garments)} garments, {len(result.rejected)} left out")
    _keep(list(result.garments), output, picture)


@fold_app.command("convert")
def convert(
    source: Annotated[Path, typer.Argument(help="A garment (.json) or a .fold file.")],
    target: Annotated[Path, typer.Argument(callback=writable, help="The other of the two.")],
) -> None:
    """Convert a garment document to the FOLD format, or a flat .fold file to a garment document.

    \b
    Examples:
      meip fold convert shirt.json shirt.fold
      meip fold convert pattern.fold pattern.json
    """
    import meip.worlds.folding.cloth  # noqa: F401  (registers the kind)
    from meip.base import documents
    from meip.worlds.folding.cloth import Garment
    from meip.worlds.folding.fold_format import read_fold, write_fold

    subject = read_fold(source) if source.suffix.lower() == ".fold" else documents.read(source, "garment")
    if not isinstance(subject, Garment) and target.suffix.lower() != ".fold":
        raise MeipError(f"{source}: a folded cloth is not a garment document; render it, or keep it as .fold")
    (write_fold if target.suffix.lower() == ".fold" else documents.write)(target, subject)
    say(f"written: {target}")


@fold_app.command()
def demonstrate(
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", callback=writable, help="JSON Lines file to append to.")
    ],
    templates: Annotated[
        list[str] | None,
        typer.Option("--template", help="Kind of garment, once or more, also 'small ..', 'short ..'; default: a mix."),
    ] = None,
    garment: Annotated[
        Path | None, typer.Option("--garment", metavar="FILE", help="Fold this garment document instead.")
    ] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, help="How many demonstrations.")] = 20,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which proportions and noise.")] = 0,
    fluents: _Fluents = "extended",
) -> None:
    """Make demonstrations with the scripted demonstrator: hood, sleeves, then in half, with a person's noise.

    What is small (a baby's) is not halved. By default T-shirts, long-sleeves and hoodies in turn, some of them small,
    some with short sleeves.

    \b
    Examples:
      meip fold demonstrate -o demos.jsonl
      meip fold demonstrate -o demos.jsonl --template hoodie --count 5 --seed 1
    """
    import numpy as np

    from meip.base import documents
    from meip.model.demonstrations import append_demonstration
    from meip.worlds.folding import demonstrate as scripted

    rng = np.random.default_rng(seed)
    for name in templates or ():
        _check_kind(name, scripted.template_of(name))
    if garment is not None:
        found = documents.read(garment, "garment")
        shown = [scripted.demonstrate(found, rng) for _ in range(count)]
    else:
        shown = scripted.random_demonstrations(count, rng, tuple(templates or scripted.SHOWN))
    _check_fluents(fluents)
    for one in shown:
        said = {} if fluents == "extended" else {"fluents": fluents}
        append_demonstration(output, replace(one, problem={**one.problem, **said}))
    say(f"{output}: {len(shown)} scripted demonstrations added")


def _check_kind(name: str, template: str) -> None:
    from meip.worlds.folding.garments import TEMPLATES, garment

    if template not in TEMPLATES:
        raise MeipError(f"no garment template {name!r}; {did_you_mean(name, TEMPLATES)}")
    if "short " in name and not any(part.name.startswith("sleeve") for part in garment(template).parts):
        raise MeipError(f"--template {name!r}: nothing of {template} can be cut short, it has no sleeves")


def _check_fluents(name: str) -> None:
    from meip.worlds.folding.world import FLUENTS

    if name not in FLUENTS:
        raise MeipError(f"--fluents: unknown {name!r}; {did_you_mean(name, FLUENTS)}")


@fold_app.command("problem")
def write_problem(
    garment: Annotated[str, typer.Argument(help="A template's name, or a garment document (.json).")],
    output: Annotated[
        Path, typer.Option("-o", "--output", metavar="FILE", callback=writable, help="The problem document (.json).")
    ],
    folds: Annotated[int, typer.Option(min=1, help="How often it may be folded at most.")] = 5,
    candidates: Annotated[int, typer.Option(min=1, help="Folds that are considered in each state.")] = 40,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which of them.")] = 0,
    fluents: _Fluents = "extended",
) -> None:
    """Write a garment as a problem to plan in.

    \b
    Examples:
      meip fold problem hoodie -o hoodie.json
      meip plan folding.json hoodie.json -o plan.json
    """
    from meip.base import documents
    from meip.base.files import write_text
    from meip.model.problems import problem_document
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
    _check_fluents(fluents)
    known: Any = fluents
    found = problem_document(Folding(chosen, folds + 1, candidates=candidates, seed=seed, fluents=known))
    write_text(output, json.dumps(found, indent=2, ensure_ascii=False) + "\n")
    say(f"{output}: fold {chosen.name} up to {folds} times")
