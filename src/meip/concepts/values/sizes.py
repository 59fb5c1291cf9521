"""What the instructions of a program speak of: inputs, sizes, and the sizes of one batch filled in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import NamedTuple

from meip.concepts.values.kernels import TILE, Code

__all__ = ["Bound", "Classes", "Digits", "Input", "Order", "Size", "Start", "measure"]

Classes = tuple[str, ...]
Order = tuple[int, ...]


class Input(NamedTuple):
    """What a program reads: the table of a predicate, or (without a name) which entities of a class there are."""

    name: str | None
    classes: Classes


@dataclass(frozen=True)
class Digits:
    """A size: how many binary digits the number of tuples over these classes has."""

    classes: Classes


@dataclass(frozen=True)
class Start:
    """A size: how many tuples the functions before this one have."""

    function: int


Size = Classes | Digits | Start
"""A size that instructions speak of; classes stand for the number of tuples over them."""


@dataclass(frozen=True, eq=False)
class Bound:
    """A program with the sizes of one batch filled in."""

    code: Code  # [I, 11]
    pool: Code
    inputs: int  # tuples of the inputs, the first in the arena
    tuples: int  # of the whole arena

    @property
    def nbytes(self) -> int:
        return self.tuples * TILE * 8


def measure(size: Size, counts: Mapping[str, int], functions: Sequence[int]) -> int:
    """The number that a size stands for; functions: the tuples of each."""
    if isinstance(size, Start):
        return sum(functions[: size.function])
    if isinstance(size, Digits):
        return prod([counts[c] for c in size.classes]).bit_length()
    return prod([counts[c] for c in size])
