"""Pictures of cloths: one state, a plan as a row of states, many plans in a grid; masks for the parser; files as rows.

Layers are painted from the table up. Seen from the back, the cloth is turned over sideways: x is mirrored and the
layers come in the other order. A plan is shown as hands carry it out: what is folded comes to lie on top, left stays
left; each fold with its crease, where it is grasped and where it is laid down. At the end the other side is shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from meip.base import documents
from meip.base.arrays import Floats
from meip.base.errors import DocumentError, WorldError
from meip.model.demonstrations import Demonstration, read_demonstrations, replay
from meip.model.problems import import_documents, load_problem
from meip.worlds.folding.canvas import LIGHT, Canvas, Dot, Image, Shape, Text, Theme, fitted, load_cv2, to_image, to_svg
from meip.worlds.folding.carry_out import Carried, carried, numbers
from meip.worlds.folding.cloth import CREASE, NECK, OUTLINE, SEAM, Cloth, Garment, Layer
from meip.worlds.folding.fold_format import read_fold
from meip.worlds.folding.folds import Fold
from meip.worlds.folding.parse_graph import ParseGraph, to_garment

__all__ = [
    "Frame", "Placement", "Row", "cloth_shapes", "contact_sheet", "demonstration_row",
    "frame_pictures", "garment_sheet", "mask", "picture", "placement", "plan_row", "render_image", "render_svg",
    "rows_of_file",
]  # fmt: skip

WIDE, LINE = 176.0, 12.0  # a cell with numbers below it, and a line of them
VIEWS = {"front": (False, False), "back": (True, True), "over": (False, True)}
"""Is x mirrored, and do layers come in the other order? Over: what a fold turns to the back is laid on top instead."""
_STROKES = {OUTLINE: ("outline", 1.4), SEAM: ("seam", 0.9), CREASE: ("crease", 1.1), NECK: ("neck", 2.0)}


@dataclass(frozen=True)
class Placement:
    """From the table (y up) to a picture (y down): pixel = origin + scale * (x, -y), x mirrored in the back view."""

    scale: float
    x: float
    y: float
    mirror: bool = False
    reverse: bool = False
    """The lowest layer is painted last."""

    def __call__(self, points: Floats) -> Floats:
        sign = -1.0 if self.mirror else 1.0
        placed: Floats = np.asarray(points) * (sign * self.scale, -self.scale) + (self.x, self.y)
        return placed


@dataclass(frozen=True)
class Frame:
    """One state of a plan: the cloth, a caption below it, and how it will be folded next."""

    cloth: Cloth
    caption: str = ""
    fold: Carried | None = None
    view: str = "over"
    numbers: tuple[str, ...] = ()
    """The fold in numbers."""


@dataclass(frozen=True)
class Row:
    """A plan: a title, its frames, and the garment's logo (see `Garment.logo`)."""

    title: str
    frames: Sequence[Frame]
    logo: tuple[tuple[float, float], ...] = ()


def placement(
    cloth: Cloth, width: float, height: float, *, scale: float | None = None, view: str = "front"
) -> Placement:
    """The cloth in the middle of a box of this size; as large as fits, unless a scale is given."""
    if view not in VIEWS:
        raise WorldError(f"a cloth is seen from one of {', '.join(VIEWS)}, not from {view!r}")
    low_x, low_y, high_x, high_y = cloth.bounds
    if scale is None:
        scale = min(width / (high_x - low_x), height / (high_y - low_y))
    mirror, reverse = VIEWS[view]
    sign = -1.0 if mirror else 1.0
    x, y = width / 2 - sign * scale * (low_x + high_x) / 2, height / 2 + scale * (low_y + high_y) / 2
    return Placement(scale, x, y, mirror, reverse)


def cloth_shapes(cloth: Cloth, place: Placement, logo: Sequence[tuple[float, float]] = ()) -> list[Shape]:
    """The layers as shapes, lowest first in this view."""
    layers = list(cloth)
    shapes: list[Shape] = []
    for layer in reversed(layers) if place.reverse else layers:
        shapes += _layer_shapes(layer, place, logo)
    return shapes


def _layer_shapes(layer: Layer, place: Placement, logo: Sequence[tuple[float, float]]) -> list[Shape]:
    polygon = place(layer.polygon)
    front = (layer.face > 0) != place.mirror
    side = "front" if front else "back"
    # A hairline in the layer's own colour closes the gap that anti-aliasing leaves along seams.
    shapes = [Shape(polygon, fill=side, stroke=side, width=0.6)]
    if front and logo:
        printed = np.asarray(logo) @ layer.affine[:, :2].T + layer.affine[:, 2]
        shapes.append(Shape(place(printed), fill="logo", clip=polygon))
    for i in np.argsort([_STROKES[int(tag)][1] for tag in layer.tags], kind="stable"):
        role, width = _STROKES[int(layer.tags[i])]
        dash = (3.0, 3.0) if role == "seam" else None
        edge = polygon[[i, (i + 1) % len(polygon)]]
        shapes.append(Shape(edge, stroke=role, width=width, dash=dash, closed=False))
    return shapes


def picture(subject: Cloth | Garment, *, size: float = 320.0, view: str = "front", caption: str = "") -> Canvas:
    """One cloth, or a garment laid flat, in a square."""
    cloth, logo = (Cloth.flat(subject), subject.logo) if isinstance(subject, Garment) else (subject, ())
    foot = 26.0 if caption else 0.0
    place = _moved(placement(cloth, size - 24, size - 24, view=view), 12, 12)
    canvas = Canvas(size, size + foot, title=caption or "a piece of clothing")
    canvas.add(cloth_shapes(cloth, place, logo))
    if caption:
        canvas.add([Text(size / 2, size + 12, fitted(caption, size - 16, 13), 13, anchor="middle")])
    return canvas


def render_svg(subject: Cloth | Garment, *, size: float = 320.0, view: str = "front", theme: Theme = LIGHT) -> str:
    """One cloth or garment as SVG."""
    return to_svg(picture(subject, size=size, view=view), theme)


def render_image(subject: Cloth | Garment, *, size: int = 640, view: str = "front", theme: Theme = LIGHT) -> Image:
    """One cloth or garment as a coloured image of `size` pixels square."""
    return to_image(picture(subject, size=320.0, view=view), theme, size / 320.0)


def mask(
    subject: Cloth | Garment, *, size: int = 1024, margin: float = 0.06, turn: float = 0.0
) -> tuple[NDArray[np.uint8], Placement]:
    """The silhouette without any stroke: 255 where at least half of a pixel is covered, else 0.

    `turn` rotates the cloth on the table by so many degrees first; the placement then maps the turned cloth.
    """
    cv2 = load_cv2()
    cloth = Cloth.flat(subject) if isinstance(subject, Garment) else subject
    a = np.radians(turn)
    xy = cloth.xy @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]])
    low, high = xy.min(axis=0), xy.max(axis=0)
    scale = size * (1 - 2 * margin) / float((high - low).max())
    middle = (low + high) / 2
    place = Placement(scale, size / 2 - scale * middle[0], size / 2 + scale * middle[1])
    fine = 4
    image = np.zeros((size * fine, size * fine), dtype=np.uint8)
    for i in range(len(cloth)):
        pixels = place(xy[cloth.start[i] : cloth.start[i + 1]]) * fine - 0.5
        cv2.fillPoly(image, [np.round(pixels * 256).astype(np.int32)], 255, cv2.LINE_8, 8)
    cover = cv2.resize(image, (size, size), interpolation=cv2.INTER_AREA)
    return np.where(cover >= 128, 255, 0).astype(np.uint8), place


def plan_row(
    title: str,
    states: Sequence[Cloth],
    *,
    garment: Garment,
    captions: Sequence[str] = (),
    folds: Sequence[Fold] = (),
    turn_over: bool = True,
) -> Row:
    """A plan as a row: every state with its next fold, then the other side of the last one."""
    if not states:
        raise WorldError(f"plan {title!r} has no states to draw")
    names = list(captions) or ["flat", *(f"fold {i}" for i in range(1, len(states)))]
    frames = [Frame(state, name) for state, name in zip(states, names, strict=False)]
    for k, (before, fold, after) in enumerate(zip(states, folds, states[1:], strict=False)):
        lines = tuple(numbers(garment, before, fold, after))
        frames[k] = replace(frames[k], fold=carried(before, fold, after), numbers=lines)
    if turn_over:
        frames.append(Frame(states[-1], "other side", view="front"))
    return Row(title, frames, garment.logo)


def demonstration_row(demonstration: Demonstration, title: str | None = None, *, where: str = "demonstration") -> Row:
    """A recorded demonstration of folding as a row of states."""
    from meip.worlds.folding.world import Folding

    world = load_problem(demonstration.problem, where=where)
    if not isinstance(world, Folding):
        raise WorldError(f"{where}: this demonstration is of another world; only folds can be drawn as cloth")
    plan = replay(world, demonstration, where=where)
    states = [state for state in plan.states if isinstance(state, Cloth)]
    folds = [cast(Fold, action) for action in plan.actions]
    return plan_row(title or world.garment.name, states, folds=folds, garment=world.garment)


def contact_sheet(
    rows: Sequence[Row], *, title: str = "", cell: float = 132.0, columns: int = 1, numbers: bool = False
) -> Canvas:
    """Plans in a grid: `columns` plans beside each other, each a titled row of states at one scale.

    With `numbers`: below each state its next fold in numbers.
    """
    if not rows or not all(row.frames for row in rows):
        raise WorldError("a contact sheet needs at least one plan, and every plan at least one state")
    lines = max(len(frame.numbers) for row in rows for frame in row.frames) if numbers else 0
    cell = max(cell, WIDE) if lines else cell
    pad, head, foot, gap = 16.0, 26.0, 24.0 + LINE * lines, 24.0
    top = pad + (30.0 if title else 0.0)
    longest = max(len(row.frames) for row in rows)
    step_x, step_y = longest * cell + gap, head + cell + foot
    across = min(columns, len(rows))
    tall = top + -(-len(rows) // columns) * step_y + pad
    canvas = Canvas(2 * pad + across * step_x - gap, tall, title or rows[0].title)
    if title:
        canvas.add([Text(pad, pad + 16, fitted(title, canvas.width - 2 * pad, 18), 18, bold=True)])
    for i, row in enumerate(rows):
        x, y = pad + (i % columns) * step_x, top + (i // columns) * step_y
        canvas.add([Text(x + 4, y + 16, fitted(row.title, step_x - gap - 8, 13), 13, bold=True)])
        _draw_row(canvas, row, x, y + head, cell, lines)
    return canvas


def garment_sheet(garments: Sequence[Garment], *, title: str = "", columns: int = 6) -> Canvas:
    """Garments side by side, each laid flat and seen from the front, with its name."""
    rows = [Row("", [Frame(Cloth.flat(one), one.name, view="front")], one.logo) for one in garments]
    return contact_sheet(rows, title=title, columns=columns)


def frame_pictures(row: Row, size: float = 280.0) -> list[tuple[str, Canvas]]:
    """The steps of a plan one by one at one scale, with their captions: a fold as the cloth before and after it."""
    found = []
    for k, frame in enumerate(row.frames):
        before = row.frames[k - 1] if k and row.frames[k - 1].fold is not None else None
        canvas = Canvas(size * (2 if before else 1), size, title=f"{row.title}, {frame.caption}")
        if before is not None:
            _draw_frame(canvas, row, before, 0.0, 0.0, size)
        _draw_frame(canvas, row, replace(frame, fold=None), size if before else 0.0, 0.0, size)
        found.append((frame.caption, canvas))
    return found


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
        return [_flat(to_garment(found, unsure=True))]
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


def _draw_row(canvas: Canvas, row: Row, x: float, y: float, cell: float, lines: int = 0) -> None:
    """One plan, each state with its caption and so many lines about its next fold."""
    for k, frame in enumerate(row.frames):
        left = x + k * cell
        _draw_frame(canvas, row, frame, left, y, cell)
        caption = fitted(frame.caption, cell - 8, 11)
        canvas.add([Text(left + cell / 2, y + cell + 11, caption, 11, fill="muted", anchor="middle")])
        for n, line in enumerate(frame.numbers[:lines]):
            place = left + cell / 2, y + cell + 11 + LINE * (n + 1)
            canvas.add([Text(*place, fitted(line, cell - 2, 9), 9, anchor="middle")])


def _draw_frame(canvas: Canvas, row: Row, frame: Frame, left: float, top: float, cell: float) -> None:
    """One state and its next fold; the scale is that of the plan's largest state."""
    room = cell - 20
    scale = min(placement(one.cloth, room, room).scale for one in row.frames)
    box = _box(left + 2, top + 2, cell - 4)
    canvas.add([Shape(box, fill="panel")])
    place = _moved(placement(frame.cloth, room, room, scale=scale, view=frame.view), left + 10, top + 10)
    canvas.add(cloth_shapes(frame.cloth, place, row.logo))
    if frame.fold is not None:
        canvas.add(_fold_marks(frame.fold, place, box))


def _fold_marks(fold: Carried, place: Placement, box: Floats) -> list[Shape | Dot | Text]:
    """The crease, and an arrow from each point that is grasped to where it is laid down."""
    a, b = place(fold.crease)
    over = 0.04 * (b - a)
    marks: list[Shape | Dot | Text] = [
        Shape(np.array([a - over, b + over]), stroke="fold", width=1.6, dash=(5.0, 4.0), closed=False, clip=box)
    ]
    for start, end in zip(place(fold.grasps), place(fold.places), strict=True):
        way = end - start
        length = max(float(np.linalg.norm(way)), 1e-9)
        unit = way / length
        side = np.array([-unit[1], unit[0]])
        head = np.array([end, end - 7 * unit + 3 * side, end - 7 * unit - 3 * side])
        marks.append(Shape(np.array([start, end - 5 * unit]), stroke="neck", width=1.2, closed=False, clip=box))
        marks += [Shape(head, fill="neck", clip=box), Dot(float(start[0]), float(start[1]), 3.2, "neck")]
    return marks


def _moved(place: Placement, x: float, y: float) -> Placement:
    return Placement(place.scale, place.x + x, place.y + y, place.mirror, place.reverse)


def _box(x: float, y: float, side: float) -> Floats:
    return np.array([[x, y], [x + side, y], [x + side, y + side], [x, y + side]])
