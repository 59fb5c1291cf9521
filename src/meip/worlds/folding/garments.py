"""Garments to fold: the six templates by name and style, at random, and the outline of what lies on the table.

A shirt has a body and two sleeves, a hoodie also a hood (a part of its own, sewn to the neck), a tank top only a
body, trousers two legs. `styles` lists every parameter with its range.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from meip.worlds.folding.cloth import Garment, Part, Point
from meip.worlds.folding.styles import TEMPLATES, Style, make_style, parameters, random_style
from meip.worlds.folding.templates import draw, logo_corners

__all__ = [
    "TEMPLATES", "Style", "garment", "garment_of_style", "make_style", "parameters", "random_garment",
    "random_style", "scaled", "tailored",
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


def scaled(one: Garment, factor: float, name: str | None = None) -> Garment:
    """The same garment in another size; its style no longer describes it."""
    parts = tuple(dataclasses.replace(part, points=_scaled(part.points, factor)) for part in one.parts)
    return dataclasses.replace(one, name=name or one.name, parts=parts, logo=_scaled(one.logo, factor), style={})


def tailored(one: Garment, sleeves: float, flare: float) -> Garment:
    """A shirt with this share of its sleeves, so much wider at the hem; its style no longer describes it."""
    body = one.part("body")
    seam, height = set(body.points), max(y for _, y in body.points)

    def cut(part: Part) -> tuple[Point, ...]:
        """What is not sewn on comes nearer to the end of the seam beside it."""
        ends = [k for k, point in enumerate(part.points) if point in seam]
        found = []
        for k, (x, y) in enumerate(part.points):
            near = min(ends, key=lambda e: min(abs(e - k), len(part.points) - abs(e - k)))
            a, b = part.points[near]
            found.append((a + sleeves * (x - a), b + sleeves * (y - b)))
        return tuple(found)

    def flared(points: Sequence[Point]) -> tuple[Point, ...]:
        return tuple((x * (1 + flare * (1 - y / height)), y) for x, y in points)

    parts = tuple(
        dataclasses.replace(part, points=flared(cut(part) if part.name.startswith("sleeve") else part.points))
        for part in one.parts
    )
    return dataclasses.replace(one, parts=parts, logo=flared(one.logo), style={})


def _scaled(points: Sequence[tuple[float, float]], factor: float) -> tuple[tuple[float, float], ...]:
    return tuple((x * factor, y * factor) for x, y in points)
