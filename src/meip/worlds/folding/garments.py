"""Garments to fold: the six templates by name and style, at random, and the outline of what lies on the table.

A shirt has a body and two sleeves, a hoodie also a hood (a part of its own, sewn to the neck), a tank top only a
body, trousers two legs. `styles` lists every parameter with its range.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import WorldError
from meip.worlds.folding.cloth import Garment, Point
from meip.worlds.folding.styles import TEMPLATES, Style, make_style, parameters, random_style
from meip.worlds.folding.templates import draw, logo_corners

__all__ = [
    "TEMPLATES", "Style", "garment", "garment_of_style", "make_style", "outline", "parameters", "random_garment",
    "random_style",
]  # fmt: skip


def garment(template: str, *, name: str | None = None, **style: float) -> Garment:
    """A garment by template name and style parameters; those left out have their defaults."""
    return garment_of_style(make_style(template, **style), name)


def garment_of_style(style: Style, name: str | None = None) -> Garment:
    """The garment that a style describes."""
    return Garment(
        name=name or style.template,
        parts=tuple(draw(style)),
        template=style.template,
        logo=logo_corners(style),
        style={key: float(value) for key, value in dataclasses.asdict(style).items()},
    )


def random_garment(template: str, rng: np.random.Generator, name: str | None = None) -> Garment:
    """A garment of this template with every proportion drawn at random."""
    return garment_of_style(random_style(template, rng), name)


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
