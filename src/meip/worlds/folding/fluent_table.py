"""The fluents of folding beside those of the paper's table, and what they are on a flat and on a folded shirt."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from meip.model.demonstrations import replay
from meip.model.problems import load_problem
from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.fluents import DOMAIN, fact_blocks
from meip.worlds.folding.folds import pile

__all__ = ["PAPER", "FluentRow", "fluent_rows"]

PAPER = {  # its name for a fluent, arity and type -> ours; where there is none of that name, it is not here
    "Edge Length": (1, "function", "length"),
    "Logo": (1, "function", "logo"),
    "Neck": (1, "function", "neck"),
    "Vt2Vt Distance": (2, "function", "distance"),
    "Vt2Edge Distance": (2, "function", "clearance"),
    "Parallel": (2, "predicate", "parallel"),
    "Perpendicular": (2, "predicate", "perpendicular"),
    "Vertex on Edge": (2, "predicate", "on"),
    "Edge on Edge": (2, "predicate", "edge_on"),
    "Vertex in Polygon": (2, "predicate", "inside"),
}


class FluentRow(NamedTuple):
    """A line of the table; `flat` and `folded`: the mean of a function, of a predicate for how many it is true."""

    name: str
    """Ours; empty: the paper's only."""
    arity: int
    type: str
    of: str
    """The classes of its arguments."""
    paper: str
    """Its name in the paper's table; empty: ours only."""
    flat: float | None
    folded: float | None


def fluent_rows() -> list[FluentRow]:
    """The paper's fluents in its order, then those that are only here; values on the first demonstrated shirt."""
    shown = bundled()[0]
    states = replay(load_problem(shown.problem), shown).states
    values = [_values(state) for state in (states[0], states[-1]) if isinstance(state, Cloth)]
    named = {ours: paper for paper, (_, _, ours) in PAPER.items()}
    fluents = {fluent.name: fluent for fluent in DOMAIN.fluents}
    real = {fluent.name for fluent in DOMAIN.functions}
    rows = []
    for paper, (arity, kind, ours) in PAPER.items():
        if ours in fluents:
            rows.append(_row(fluents[ours].classes, ours, ours in real, paper, values))
        else:
            rows.append(FluentRow("", arity, kind, "", paper, None, None))
    rows += [_row(fluents[name].classes, name, name in real, "", values) for name in fluents if name not in named]
    return rows


def _row(classes: Sequence[str], name: str, real: bool, paper: str, values: Sequence[dict[str, float]]) -> FluentRow:
    flat, folded = (one.get(name) for one in values)
    kind = "function" if real else "predicate"
    return FluentRow(name, len(classes), kind, ", ".join(classes), paper, flat, folded)


def _values(cloth: Cloth) -> dict[str, float]:
    (block,) = fact_blocks(pile([cloth]))
    return {n: float(t.sum() if t.dtype == np.bool_ else np.nanmean(t)) for n, t in block.tables.items()}
