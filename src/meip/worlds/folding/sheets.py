"""Contact sheets of what can be looked at: garments, cloths, demonstrations and plans, from files or from memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import cast

from meip.base import documents
from meip.base.errors import DocumentError, WorldError
from meip.model.demonstrations import Demonstration, read_demonstrations, replay
from meip.model.problems import import_documents, load_problem
from meip.worlds.folding.canvas import Canvas
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.fold_format import read_fold
from meip.worlds.folding.folds import Fold, fold
from meip.worlds.folding.parse_graph import ParseGraph, to_garment
from meip.worlds.folding.render import Frame, Row, contact_sheet, plan_row

__all__ = ["demonstration_row", "folds_row", "garment_sheet", "rows_of_file", "segment"]


def segment(action: Fold) -> tuple[tuple[float, float], tuple[float, float]]:
    """The ends of a folding segment (x, y, r, theta)."""
    x, y, r, theta = action
    dx, dy = r * math.cos(theta), r * math.sin(theta)
    return (x - dx, y - dy), (x + dx, y + dy)


def folds_row(title: str, garment: Garment, actions: Sequence[Fold]) -> Row:
    """A garment and the folds made on it, as a row of states."""
    states = [Cloth.flat(garment)]
    for action in actions:
        states.append(fold(states[-1], action))
    return plan_row(title, states, folds=[segment(action) for action in actions], logo=garment.logo)


def demonstration_row(demonstration: Demonstration, title: str | None = None, *, where: str = "demonstration") -> Row:
    """A recorded demonstration of folding as a row of states."""
    from meip.worlds.folding.world import Folding

    world = load_problem(demonstration.problem, where=where)
    if not isinstance(world, Folding):
        raise WorldError(f"{where}: this demonstration is of another world; only folds can be drawn as cloth")
    plan = replay(world, demonstration, where=where)
    states = [state for state in plan.states if isinstance(state, Cloth)]
    folds = [segment(cast(Fold, action)) for action in plan.actions]
    return plan_row(title or world.garment.name, states, folds=folds, logo=world.garment.logo)


def garment_sheet(garments: Sequence[Garment], *, title: str = "", columns: int = 6) -> Canvas:
    """Garments side by side, each laid flat and seen from the front, with its name."""
    rows = [Row("", [Frame(Cloth.flat(one), one.name, view="front")], one.logo) for one in garments]
    return contact_sheet(rows, title=title, columns=columns)


def rows_of_file(path: str | Path) -> list[Row]:
    """What a file holds, as rows: a garment, a parse graph, a .fold file, demonstrations or a plan of folding."""
    suffix = Path(path).suffix.lower()
    if suffix == ".fold":
        subject = read_fold(path)
        if isinstance(subject, Cloth):
            views = [Frame(subject, view, view=view) for view in ("front", "back")]
            return [Row(Path(path).stem, views)]
        return [_flat(subject)]
    if suffix == ".jsonl":
        shown = read_demonstrations(path)
        return [demonstration_row(one, where=f"{path}:{i}") for i, one in enumerate(shown, start=1)]
    import_documents(documents.kind_of(documents.read_json(path), str(path))[0])
    found = documents.read(path)
    if isinstance(found, Garment):
        return [_flat(found)]
    if isinstance(found, ParseGraph):
        return [_flat(to_garment(found))]
    if isinstance(found, Demonstration):
        return [demonstration_row(found, where=str(path))]
    if callable(getattr(found, "demonstration", None)):  # a plan; worlds do not know tasks
        return [demonstration_row(found.demonstration(), where=str(path))]
    raise DocumentError(
        f"{path}: expected a garment, a parse graph, a .fold file, or demonstrations or plans of folding"
    )


def _flat(garment: Garment) -> Row:
    cloth = Cloth.flat(garment)
    return Row(garment.name, [Frame(cloth, view, view=view) for view in ("front", "back")], garment.logo)
