"""The outline of a garment's parts, by striking out the edges that they share; where real outlines are."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from meip.base.arrays import Floats
from meip.base.errors import WorldError
from meip.worlds.folding.cloth import Garment, Point


def outline(garment: Garment) -> Floats:
    """The outer polygon [n, 2] of the parts together, counter-clockwise.

    Sewn parts hold the same edge in opposite directions; what is left after striking those out is the outline.
    """
    edges = [
        (a, b) for part in garment.parts for a, b in zip(part.points, part.points[1:] + part.points[:1], strict=True)
    ]
    present = set(edges)
    following: dict[Point, Point] = {a: b for a, b in edges if (b, a) not in present}
    first = min(following)
    loop = [first]
    while (here := following[loop[-1]]) != first and len(loop) <= len(following):
        loop.append(here)
    if len(loop) != len(following):
        raise WorldError(
            f"garment {garment.name!r}: its parts do not form one outline; parts that are sewn together must share "
            "both end points of every seam edge exactly"
        )
    return np.array(loop)


def real_shirts() -> Path:
    folders = [os.environ.get("MEIP_DATA"), Path(__file__).parents[3] / "../shared/data"]
    for folder in folders:
        if folder and (path := Path(folder) / "artf" / "tshirts-train.xml").exists():
            return path
    pytest.skip("the labelled photographs (shared/data/artf) are not on this machine")
