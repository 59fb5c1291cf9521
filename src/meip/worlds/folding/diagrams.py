"""Drawings that explain the folding world: what a garment consists of, what a fold is, which folds there are."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from meip.base.arrays import Floats
from meip.worlds.folding.canvas import Canvas, Dot, Shape, Text
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.fluents import fact_blocks
from meip.worlds.folding.folds import Fold, fold, fold_many, pile
from meip.worlds.folding.kernel import FOLDED
from meip.worlds.folding.proposal import (
    ALONG,
    ANGLES,
    BESIDE,
    CENTRES,
    LENGTHS,
    Proposal,
    box_frame,
    grid,
    propose,
    seam_frames,
)
from meip.worlds.folding.render import Placement, cloth_shapes, placement
from meip.worlds.folding.silhouette import parsed

__all__ = ["action_space", "entity_counts", "folding_line", "proposed_folds", "structures"]

PAD, HEAD = 20.0, 52.0
ROOM = 13.0  # between the numbers of edges, in pixels
REMEMBERED = 12  # folds that are drawn on top of them
SHOWN = 200  # proposed folds in a picture


def entity_counts(cloth: Cloth) -> dict[str, int]:
    """How many entities of each class a cloth has: polygons, edges of its outline, vertices."""
    (block,) = fact_blocks(pile([cloth]))
    return {name: int(n) for name, n in block.counts.items()}


def structures(garments: Sequence[Garment], columns: int = 3, cell: float = 300.0) -> Canvas:
    """Garments side by side: the edges of their outlines numbered, the vertices dotted; below, how many there are."""
    cloths = [Cloth.flat(one) for one in garments]
    counts = [entity_counts(cloth) for cloth in cloths]
    rows, tall = -(-len(garments) // columns), cell + 30
    bars = HEAD + rows * tall + 16
    canvas = Canvas(2 * PAD + columns * cell, bars + 44 + 22 * len(garments), "Edges and vertices of garments")
    canvas.add(
        [Text(PAD, 32, "What garments consist of: edges of the outline (numbered), vertices (dots)", 16, bold=True)]
    )
    for k, (one, cloth) in enumerate(zip(garments, cloths, strict=True)):
        left, top = PAD + k % columns * cell, HEAD + k // columns * tall
        place = _moved(placement(cloth, cell - 40, cell - 50), left + 20, top + 30)
        canvas.add(Shape(place(layer.polygon), fill="panel", stroke="muted", width=0.8) for layer in cloth)
        canvas.add(Dot(float(x), float(y), 2.4, "outline") for x, y in place(cloth.xy))
        canvas.add(_numbered(cloth, place))
        canvas.add([Text(left + cell / 2, top + 14, one.name, 13, anchor="middle", bold=True)])
    most = max(max(count["edge"], count["vertex"]) for count in counts)
    unit = (canvas.width - 2 * PAD - 300) / most
    for k, (one, count) in enumerate(zip(garments, counts, strict=True)):
        y = bars + 22 * k
        for n, (name, role) in enumerate((("edge", "muted"), ("vertex", "outline"))):
            box = _box(PAD + 110, y + 8 * n, unit * count[name], 7)
            canvas.add([Shape(box, fill=role)])
        told = f"{count['polygon']} polygons, {count['edge']} edges, {count['vertex']} vertices"
        canvas.add([Text(PAD, y + 13, one.name, 12)])
        canvas.add([Text(PAD + 118 + unit * most, y + 13, told, 11, fill="muted")])
    canvas.add(
        [Text(PAD, canvas.height - 16, "grey bars: edges; dark bars: vertices (of every polygon)", 11, fill="muted")]
    )
    return canvas


def _numbered(cloth: Cloth, place: Placement) -> list[Shape | Text]:
    """The edges of the visible outline with their numbers, inside of it where there is room."""
    items: list[Shape | Text] = []
    taken = np.empty((0, 2))
    for loop in parsed(cloth):
        points = place(loop)
        for a, b in zip(points, np.roll(points, -1, axis=0), strict=True):
            along = (b - a) / max(float(np.hypot(*(b - a))), 1e-9)
            choices = (a + b) / 2 + np.array([[-9.0], [10.0], [20.0]]) * np.array([-along[1], along[0]])
            room = [min([ROOM, *np.hypot(*(taken - choice).T)]) for choice in choices]
            x, y = choices[int(np.argmax(room))]
            taken = np.vstack([taken, [[x, y]]])
            items.append(Shape(np.stack([a, b]), stroke="outline", width=1.8, closed=False))
            items.append(Text(float(x), float(y) + 3, str(len(taken)), 9, anchor="middle"))
    return items


def folding_line(garment: Garment, action: Fold, size: float = 300.0) -> Canvas:
    """One fold: the segment (x, y, r, theta), what it moves (hatched), and the result from the front and the back."""
    flat = Cloth.flat(garment)
    after = fold(flat, action)
    canvas = Canvas(4 * PAD + 3 * size, size + 110, "A folding line")
    canvas.add([Text(PAD, 32, "A fold is a segment: centre (x, y), half its length r, angle theta", 16, bold=True)])
    place = _moved(placement(flat, size - 60, size - 60), PAD + 30, HEAD + 30)
    canvas.add(cloth_shapes(flat, place, garment.logo))
    for layer in after:
        if layer.face < 0:  # turned over: what it was on the flat cloth
            turn = np.linalg.inv(layer.affine[:, :2])
            canvas.add(_hatched(place((layer.polygon - layer.affine[:, 2]) @ turn.T)))
    x, y, r, theta = action
    ends, (cx, cy) = place(_ends(action)), place(np.array([[x, y]]))[0]
    canvas.add([Shape(ends, stroke="fold", width=2.4, dash=(7.0, 4.0), closed=False), Dot(cx, cy, 4, "fold")])
    level = np.array([[cx, cy], [cx + 46, cy]])
    arc = np.array([[cx + 30 * math.cos(a), cy - 30 * math.sin(a)] for a in np.linspace(0, theta, 20)])
    canvas.add([Shape(level, stroke="text", closed=False), Shape(arc, stroke="text", closed=False)])
    middle = (ends[1] + (cx, cy)) / 2
    canvas.add([
        Text(cx + 8, cy + 24, f"(x, y) = ({x:.3g}, {y:.3g})", 12, bold=True),
        Text(cx + 34, cy - 14, f"theta = {math.degrees(theta):.0f}°", 12, bold=True),
        Text(middle[0] + 8, middle[1], f"r = {r:.3g}", 12, bold=True),
    ])  # fmt: skip
    for k, view in enumerate(("front", "back"), start=1):
        left = PAD + k * (size + PAD)
        seen = _moved(placement(after, size - 60, size - 60, scale=place.scale, view=view), left + 30, HEAD + 30)
        canvas.add(cloth_shapes(after, seen, garment.logo))
        canvas.add([Text(left + size / 2, HEAD + size + 12, f"after, from the {view}", 12, anchor="middle")])
    told = f"{garment.name}, flat; hatched: the smaller side"
    canvas.add([Text(PAD + size / 2, HEAD + size + 12, told, 12, anchor="middle")])
    canvas.add(
        [Text(PAD, HEAD + size + 40, "The smaller side is turned to the back of the larger one.", 12, fill="muted")]
    )
    return canvas


def action_space(garment: Garment, size: float = 420.0) -> Canvas:
    """The grid over the bounding box; at one point of it, every angle and length; how many folds are left of it."""
    flat = Cloth.flat(garment)
    actions = grid(flat)
    codes, after = fold_many(pile([flat]), actions, np.zeros(len(actions), dtype=np.int64))
    legal = np.flatnonzero(codes == FOLDED)
    different = len(set(after.take(legal.tolist())))
    canvas = Canvas(size + 2 * PAD, size + 120, "The grid of folds")
    canvas.add([Text(PAD, 32, "(a) The grid of folds", 16, bold=True)])
    place = _moved(placement(flat, size - 60, size - 60), PAD + 30, HEAD + 30)
    canvas.add(cloth_shapes(flat, place, garment.logo))
    centres = np.unique(actions[:, :2], axis=0)
    canvas.add(Dot(float(x), float(y), 1.6, "text") for x, y in place(centres))
    one = centres[np.argmin(np.hypot(*(centres - centres.mean(axis=0)).T))]
    for action in actions[(actions[:, :2] == one).all(axis=1)]:
        shortened = place(_ends((*action[:2], min(action[2], 0.5 * flat.scale), action[3])))
        canvas.add([Shape(shortened, stroke="fold", width=0.9, closed=False)])
    told = f"{CENTRES} x {CENTRES} points, {ANGLES} angles, {len(LENGTHS)} lengths (short ones drawn): {len(actions):,}"
    canvas.add([
        Text(PAD, HEAD + size + 14, told, 12),
        Text(PAD, HEAD + size + 32, f"{len(legal):,} are legal, {different:,} have different results", 12),
    ])  # fmt: skip
    return canvas


def proposed_folds(garment: Garment, proposal: Proposal, seed: int = 0, size: float = 420.0) -> Canvas:
    """Samples of a learned proposal on a garment that nobody has shown, remembered folds on top of them."""
    flat = Cloth.flat(garment)
    rng = np.random.default_rng(seed)
    drawn = np.array([action for action, _ in propose(flat, proposal, SHOWN, rng)])
    known = box_frame(flat, proposal.frame).to_table(np.array(proposal.box))
    canvas = Canvas(size + 2 * PAD, size + 120, "Proposed folds")
    canvas.add([Text(PAD, 32, f"(b) Likely folds of a {garment.name} never shown", 16, bold=True)])
    place = _moved(placement(flat, size - 60, size - 60), PAD + 30, HEAD + 30)
    canvas.add(cloth_shapes(flat, place, garment.logo))
    room = _box(PAD, HEAD, size, size)
    for action in drawn:
        line = place(_ends(action))
        canvas.add([Shape(line, stroke="text", width=1.4, closed=False, opacity=0.16, clip=room)])
    for action in rng.permutation(known)[:REMEMBERED]:
        line = place(_ends(action))
        canvas.add([Shape(line, stroke="fold", width=1.6, dash=(6.0, 4.0), closed=False, clip=room)])
    near, wild = (_along_a_seam(flat, rows) for rows in (drawn, grid(flat)))
    told = f"thin: {len(drawn)} proposed folds; dashed: some of {len(known)} remembered ones"
    canvas.add([
        Text(PAD, HEAD + size + 14, told, 12),
        Text(PAD, HEAD + size + 32, f"along a sleeve's seam: {near:.0%} of the proposed, {wild:.0%} of the grid", 12),
    ])  # fmt: skip
    return canvas


def _along_a_seam(cloth: Cloth, actions: Floats) -> float:
    """The share of folds beside a seam, as a proposal remembers them."""
    found = np.zeros(len(actions), dtype=bool)
    for frame in seam_frames(cloth):
        local = frame.to_local(actions)
        angle = np.arctan2(np.abs(local[:, 3]), np.abs(local[:, 2]))
        found |= (np.hypot(local[:, 0], local[:, 1]) < BESIDE) & (angle < ALONG)
    return float(found.mean())


def _hatched(polygon: Floats) -> list[Shape]:
    low, high = polygon.min(axis=0), polygon.max(axis=0)
    tall = float(high[1] - low[1])
    starts = np.arange(float(low[0]) - tall, float(high[0]), 7.0)
    lines = [np.array([[x, high[1]], [x + tall, low[1]]]) for x in starts]
    return [Shape(line, stroke="outline", width=0.8, closed=False, clip=polygon) for line in lines]


def _ends(action: Sequence[float] | Floats) -> Floats:
    """The ends of a folding segment (x, y, r, theta), [2, 2]."""
    x, y, r, theta = action
    return np.array([x, y]) + r * np.array([[-1.0], [1.0]]) * (math.cos(theta), math.sin(theta))


def _moved(place: Placement, x: float, y: float) -> Placement:
    return replace(place, x=place.x + x, y=place.y + y)


def _box(x: float, y: float, wide: float, high: float) -> Floats:
    return np.array([[x, y], [x + wide, y], [x + wide, y + high], [x, y + high]])
