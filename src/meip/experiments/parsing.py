"""Reading pictures of garments: how often the parse is right, asks, or is wrong without asking.

Three kinds of pictures: templates of fresh proportions as masks, as they lie and with troubles; photo-like renders of
them; and with a CVAT file real outlines as masks, as they lie, mirrored and with the same troubles, for each third of
the file (so that one can work on one third and be honest about another).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import MeipError
from meip.base.results import Row, share_row
from meip.experiments import Experiment
from meip.experiments.parsing_cases import AS_IT_LIES, TROUBLES, Case, drawn, laid_garment, laid_outlines
from meip.experiments.tables import Table
from meip.worlds.folding.canvas import load_cv2
from meip.worlds.folding.garments import TEMPLATES, random_garment
from meip.worlds.folding.parse_graph import ParseGraph, parse_array
from meip.worlds.folding.photo import photograph

__all__ = ["NAME", "NOTES", "UNUSED", "Grade", "Item", "grade", "rows_of", "run", "summary"]

NAME = "parsing"
UNUSED = {"out": "it has no figures"}
NOTES = (
    "Right: each part overlaps by more than half with the true one, the axis is within 25 degrees; asking or not.",
    "Silent: wrong, and nothing was asked. Seen: right, where a sleeve of which nothing is to be seen counts as none.",
    "Sleeves bent to the body or pushed under it at random are partly hidden: what is seen of them is the truth.",
    "Real outlines: photographed T-shirts, drawn at any angle and size; a third of the file: every third from its "
    "first, second or third on. Photo-like: renders, not photographs. Intervals: Wilson's.",
)
AXIS = 25.0
METRICS = ("right", "seen", "asks", "silent")
MASKS, PHOTOS, QUICK = 30, 200, 6
PHOTO = "photo-like"


@dataclass(frozen=True)
class Grade:
    """What came of one picture."""

    right: bool
    seen: bool
    """Right, where a sleeve of which nothing is to be seen counts as none."""
    asks: bool

    @property
    def silent(self) -> bool:
        return not self.seen and not self.asks


@dataclass(frozen=True)
class Item:
    """One picture to draw: which, with which trouble."""

    source: str
    trouble: str
    make: Callable[[np.random.Generator], Case]


def run(experiment: Experiment) -> list[Row]:
    """Shares by source of the pictures and kind of trouble."""
    items = [*_templates(experiment), *_photographs(experiment)]
    if experiment.data is not None:
        items += _outlines(experiment.data, experiment)
    grades = experiment.map(_graded, items, lambda n, total: experiment.tell(f"{n} of {total} pictures"))
    cells = dict.fromkeys((item.source, item.trouble) for item in items)
    rows: list[Row] = []
    for source, trouble in cells:
        same = [g for item, g in zip(items, grades, strict=True) if (item.source, item.trouble) == (source, trouble)]
        rows += rows_of(same, source, trouble)
    return rows


def rows_of(grades: Sequence[Grade], source: str, trouble: str) -> list[Row]:
    """A row for each metric of some pictures of a kind."""
    cell = {"experiment": NAME, "method": "meip", "pictures": source, "trouble": trouble}
    return [share_row(sum(getattr(g, m) for g in grades), len(grades), **cell, metric=m) for m in METRICS]


def summary(rows: Sequence[Row]) -> list[Table]:
    """One table: a line for each kind of pictures."""
    cells = dict.fromkeys((row["pictures"], row["trouble"], row["n"]) for row in rows)
    lines = []
    for source, trouble, n in cells:
        own = {row["metric"]: row for row in rows if (row["pictures"], row["trouble"]) == (source, trouble)}
        shown = [f"{own[m]['value']:.3f} ({own[m]['low']:.2f}..{own[m]['high']:.2f})" for m in METRICS]
        lines.append([source, trouble, str(n), *shown])
    return [Table("pictures of garments, read", ["pictures", "trouble", "n", *METRICS], lines)]


def _graded(item: Item, rng: np.random.Generator) -> Grade:
    return grade(item.make(rng))


def grade(case: Case) -> Grade:
    """Parse a picture and compare with the truth; a refusal is a question."""
    try:
        graph = parse_array(case.image)
    except MeipError:
        return Grade(False, False, True)
    there = {name: part for name, part in case.parts.items() if name not in case.gone}
    straight = _straight(graph, case.up)
    right = straight and _fits(graph, case.parts)
    return Grade(right, right or (straight and _fits(graph, there)), bool(graph.doubt))


def _straight(graph: ParseGraph, up: float) -> bool:
    (x0, y0), (x1, y1) = graph.axis
    return abs((float(np.degrees(np.arctan2(x1 - x0, y0 - y1))) - up + 180) % 360 - 180) < AXIS


def _fits(graph: ParseGraph, truth: dict[str, NDArray[np.uint8]]) -> bool:
    """Are they the same parts, each overlapping by more than half with the true one?"""
    if {polygon.name for polygon in graph.polygons} != set(truth):
        return False
    for polygon in graph.polygons:
        seen = np.zeros_like(truth[polygon.name])
        load_cv2().fillPoly(seen, [np.round(graph.points(polygon)).astype(np.int32)], 255)
        both, either = seen & truth[polygon.name], seen | truth[polygon.name]
        if np.count_nonzero(both) <= 0.5 * np.count_nonzero(either):
            return False
    return True


@dataclass(frozen=True)
class _Template:
    trouble: str
    number: int

    def __call__(self, rng: np.random.Generator) -> Case:
        kinds = TEMPLATES if self.trouble in WITHOUT_SLEEVES else SLEEVED
        laid = laid_garment(random_garment(kinds[self.number % len(kinds)], rng))
        return drawn(TROUBLES[self.trouble](laid, rng), rng)


WITHOUT_SLEEVES = (AS_IT_LIES, "wrinkled", "tilted")
SLEEVED = tuple(template for template in TEMPLATES if template not in ("tanktop", "trousers"))


def _templates(experiment: Experiment) -> Iterator[Item]:
    for trouble in TROUBLES:
        if trouble != "mirrored":  # templates are symmetric
            for number in range(experiment.seeds or (QUICK if experiment.quick else MASKS)):
                yield Item("templates", trouble, _Template(trouble, number))


@dataclass(frozen=True)
class _Photograph:
    number: int

    def __call__(self, rng: np.random.Generator) -> Case:
        taken = photograph(random_garment(TEMPLATES[self.number % len(TEMPLATES)], rng), rng)
        return Case(taken.image, taken.parts, taken.up)


def _photographs(experiment: Experiment) -> Iterator[Item]:
    for number in range(experiment.seeds or (QUICK if experiment.quick else PHOTOS)):
        yield Item(PHOTO, "all of it", _Photograph(number))


@dataclass(frozen=True)
class _Outline:
    path: Path
    number: int
    trouble: str

    def __call__(self, rng: np.random.Generator) -> Case:
        laid = laid_outlines(self.path)[self.number]
        assert laid is not None
        return drawn(TROUBLES[self.trouble](laid, rng), rng)


def _outlines(path: Path, experiment: Experiment) -> Iterator[Item]:
    """Every outline with every trouble, by thirds of the file; as it lies twice."""
    count = experiment.seeds or (QUICK if experiment.quick else None)
    there = [number for number, laid in enumerate(laid_outlines(path)) if laid is not None]
    for third in range(3):
        for trouble in TROUBLES:
            for number in [n for n in there if n % 3 == third][:count]:
                yield Item(f"real outlines, third {third + 1}", trouble, _Outline(path, number, trouble))
