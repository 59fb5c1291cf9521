"""``meip fold parse``: what is in a picture, and the questions where it is not sure."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from meip.base.errors import MeipError
from meip.base.files import writable
from meip.base.text import say

__all__ = ["parse_picture"]

_Json = Annotated[bool, typer.Option("--json", help="Print JSON for programs instead of lines for people.")]


def parse_picture(
    image: Annotated[Path, typer.Argument(help="A picture of one garment.")],
    output: Annotated[
        Path | None, typer.Option("-o", "--output", callback=writable, help="Write the parse graph (.json).")
    ] = None,
    garment: Annotated[
        Path | None, typer.Option("--garment", callback=writable, help="Write the garment (.json or .fold).")
    ] = None,
    picture: Annotated[
        Path | None, typer.Option("--picture", callback=writable, help="Draw it over the picture: .svg or .png.")
    ] = None,
    tree: Annotated[
        Path | None, typer.Option("--tree", callback=writable, help="Draw the parse tree: .svg or .png.")
    ] = None,
    up: Annotated[
        str | None, typer.Option("--up", help="Where its top is: up, right, down, left, or degrees clockwise.")
    ] = None,
    kind: Annotated[str | None, typer.Option("--kind", help="What it is: tshirt, .., plain.")] = None,
    keypoints: Annotated[
        list[str] | None, typer.Option("--keypoint", metavar="NAME=X,Y", help="A corner, in pixels.")
    ] = None,
    rectangle: Annotated[
        str | None, typer.Option("--rectangle", metavar="X,Y,W,H", help="Round the garment, in pixels.")
    ] = None,
    click: Annotated[str | None, typer.Option("--click", metavar="X,Y", help="A point on the garment.")] = None,
    sheet: Annotated[
        str | None,
        typer.Option("--sheet", metavar="CORNERS", help="A4 paper beside it: X,Y,X,Y,X,Y,X,Y, or find; gives scale."),
    ] = None,
    as_json: _Json = False,
) -> None:
    """Parse a picture into polygons, edges and vertices; ask where it is not sure.

    \b
    Examples:
      meip fold parse shirt.png
      meip fold parse shirt.jpg -o graph.json --garment shirt.json --picture graph.svg --tree tree.svg
      meip fold parse shirt.jpg --up left --kind tshirt
    """
    from meip.base import documents
    from meip.worlds.folding.canvas import write_canvas
    from meip.worlds.folding.fold_format import write_fold
    from meip.worlds.folding.parse_graph import parse_array, to_garment
    from meip.worlds.folding.parse_image import read_image
    from meip.worlds.folding.parse_picture import backdrop, overlay
    from meip.worlds.folding.parse_tree import picture_tree

    photo = read_image(image)
    hints = _hints(up, kind, keypoints or [], rectangle, click, sheet)
    graph = parse_array(photo, source=image.name, where=str(image), hints=hints)
    if output is not None:
        documents.write(output, graph)
    if picture is not None:
        write_canvas(picture, overlay(graph, backdrop(graph, photo)))
    if tree is not None:
        write_canvas(tree, picture_tree(graph))
    if garment is not None and not graph.doubt:
        (write_fold if garment.suffix.lower() == ".fold" else documents.write)(garment, to_garment(graph))
    if as_json:
        say(json.dumps(documents.dump(graph), indent=2, ensure_ascii=False))
    else:
        _say(graph, image, [output, picture, tree, *([] if graph.doubt else [garment])])
    if graph.doubt:
        raise MeipError(f"{image}: not sure: {graph.doubt}")


def _say(graph: Any, image: Path, written: list[Path | None]) -> None:
    """A parse in words: its parts, what was chosen, how sure it is."""
    names = ", ".join(f"{polygon.name} ({len(polygon.edges)} edges)" for polygon in graph.polygons)
    say(f"{image}: {len(graph.polygons)} polygons: {names}; {len(graph.vertices)} vertices")
    chosen = ", ".join(f"{choice.alternative} ({choice.probability:.0%})" for choice in graph.choices)
    second = f"; second best: {graph.instead}" if graph.instead else ""
    say(f"{graph.probability:.0%} sure of axis and parts: {chosen or 'plain cloth'}{second}")
    for path in written:
        if path is not None:
            say(f"written: {path}")


_SIDES = {"up": 0.0, "right": 90.0, "down": 180.0, "left": 270.0}


def _hints(
    up: str | None, kind: str | None, keypoints: list[str], rectangle: str | None, click: str | None, sheet: str | None
) -> Any:
    """What the options say about a picture."""
    from meip.worlds.folding.parse_graph import Hints

    angle = None
    if up is not None:
        try:
            angle = _SIDES[up] if up in _SIDES else float(up)
        except ValueError:
            raise MeipError(f"--up {up}: expected {', '.join(_SIDES)}, or degrees clockwise from up") from None
    points = {}
    for text in keypoints:
        name, _, place = text.partition("=")
        points[name] = _numbers("--keypoint", place, 2, "NAME=X,Y, for example armpit_left=310,95")
    box = _numbers("--rectangle", rectangle, 4, "X,Y,WIDTH,HEIGHT") if rectangle else None
    at = _numbers("--click", click, 2, "X,Y") if click else None
    paper: Any = None
    if sheet is not None:
        flat = () if sheet == "find" else _numbers("--sheet", sheet, 8, "the four corners as X,Y,X,Y,X,Y,X,Y, or find")
        paper = tuple(zip(flat[::2], flat[1::2], strict=True))
    return Hints(angle, kind, points, box, at, paper)


def _numbers(option: str, text: str, count: int, expected: str) -> Any:
    try:
        found = tuple(float(number) for number in text.split(","))
    except ValueError:
        found = ()
    if len(found) != count or not all(abs(number) < 1e6 for number in found):
        raise MeipError(f"{option} {text}: expected {expected}")
    return found
