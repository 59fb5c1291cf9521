"""The fluents of folding beside those of the paper's table, and what they are on a flat and on a folded shirt."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from meip.model.demonstrations import replay
from meip.model.domain import FactBlock
from meip.model.problems import load_problem
from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.fluents import DOMAIN, fact_blocks
from meip.worlds.folding.folds import pile
from meip.worlds.folding.paper_fluents import PAPER, paper_blocks
from meip.worlds.folding.world import Folding

__all__ = ["NAMES", "FluentRow", "fluent_rows"]

NAMES = (
    "Edge Length", "Logo", "Neck", "Vt2Vt Distance", "Vt2Edge Distance", "Parallel", "Perpendicular",
    "Vertex on Edge", "Edge on Edge", "Vertex in Polygon",
)  # fmt: skip
"""Of the paper's table, in its order, which is that of `PAPER`."""


class FluentRow(NamedTuple):
    """A line of the table; `flat` and `folded`: the mean of a function, of a predicate for how many it is true."""

    name: str
    arity: int
    type: str
    of: str
    """The classes of its arguments."""
    paper: str
    """Its name in the paper's table; empty: ours only."""
    extended: bool
    """Is it among those that are used by default? The others need `fluents="paper"`."""
    flat: float
    folded: float


def fluent_rows() -> list[FluentRow]:
    """The paper's fluents in its order, then those that are only ours; values on the first demonstrated shirt."""
    shown = bundled()[0]
    world = cast(Folding, load_problem(shown.problem))
    states = [cast(Cloth, state) for state in replay(world, shown).states]
    values = [_values(cloth, world.garment.logo) for cloth in (states[0], states[-1])]
    named = dict(zip((fluent.name for fluent in PAPER.fluents), NAMES, strict=True))
    ours = {fluent.name for fluent in DOMAIN.fluents}
    real = {fluent.name for domain in (PAPER, DOMAIN) for fluent in domain.functions}
    every = {fluent.name: fluent for fluent in (*PAPER.fluents, *DOMAIN.fluents)}
    rows = []
    for name, fluent in every.items():
        kind, of = "function" if name in real else "predicate", ", ".join(fluent.classes)
        flat, folded = (one[name] for one in values)
        rows.append(FluentRow(name, len(fluent.classes), kind, of, named.get(name, ""), name in ours, flat, folded))
    return rows


def _values(cloth: Cloth, logo: tuple[tuple[float, float], ...]) -> dict[str, float]:
    (extended,), (paper,) = fact_blocks(pile([cloth])), paper_blocks([cloth], logo)
    return {**_means(extended), **_means(paper)}


def _means(block: FactBlock) -> dict[str, float]:
    return {n: float(t.sum() if t.dtype == np.bool_ else np.nanmean(t)) for n, t in block.tables.items()}
