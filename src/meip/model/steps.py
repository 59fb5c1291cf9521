"""Steps: what one makes new, beside how things were before it.

Every fluent that changes has copies: `new-done` is true of what a step made done, `gone-here` of what it made no
longer so, `up-fuel` and `down-fuel` of what it raised and lowered; `old-here` and `old-fuel` are as they were before.
A concept that names one of them is about a step from one state to the next, and says nothing of a state alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Ints
from meip.model.domain import Domain, FactBlock

__all__ = ["step_blocks", "step_domain"]

TIE = 1e-9


@lru_cache(64)
def step_domain(domain: Domain) -> Domain:
    """A domain with the copies of all fluents that change."""
    return Domain(domain.name, domain.classes, (*domain.fluents, *domain.copies.values()))


def step_blocks(domain: Domain, blocks: Sequence[FactBlock], before: Ints, after: Ints) -> tuple[list[FactBlock], Ints]:
    """The facts of steps, each from the state at one position of a batch to that at another, and which steps have any.

    Where things come or go it is not known which is which: such steps have none.
    """
    size = 1 + max((int(block.states.max()) for block in blocks if len(block.states)), default=-1)
    home, row = np.full(size, -1, np.int64), np.zeros(size, np.int64)
    for number, block in enumerate(blocks):
        home[block.states], row[block.states] = number, np.arange(len(block.states))
    code = home[before] * len(blocks) + home[after]
    found: list[FactBlock] = []
    steps: list[Ints] = []
    count = 0
    for one, other in (divmod(int(pair), len(blocks)) for pair in np.unique(code)):
        if blocks[one].counts != blocks[other].counts:
            continue
        mine = np.flatnonzero(code == one * len(blocks) + other)
        tables = _tables(domain, blocks[one], row[before[mine]], blocks[other], row[after[mine]])
        found.append(FactBlock(np.arange(count, count + len(mine)), blocks[other].counts, tables))
        steps.append(mine)
        count += len(mine)
    return found, np.concatenate(steps) if steps else np.zeros(0, np.int64)


def _tables(domain: Domain, one: FactBlock, was: Ints, other: FactBlock, now: Ints) -> dict[str, NDArray[Any]]:
    tables: dict[str, NDArray[Any]] = {}
    for fluent in domain.fluents:
        new = tables[fluent.name] = _of(other, fluent.name, now)
        if fluent.static:
            continue
        old = _of(one, fluent.name, was)
        if fluent.real:
            with np.errstate(invalid="ignore"):
                made = (old, new > old + TIE, new < old - TIE)
        else:
            made = (old, new & ~old, old & ~new)
        copied = zip((copy.name for copy in fluent.copies), made, strict=False)
        tables |= {name: table for name, table in copied if name in domain.copies}
    return tables


def _of(block: FactBlock, name: str, rows: Ints) -> NDArray[Any]:
    """A table at some rows of a block; one that all of its states share is shared again."""
    table = block.tables[name]
    return table if len(table) == 1 else table[rows]
