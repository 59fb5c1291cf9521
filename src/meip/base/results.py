"""Results of experiments and benchmarks as tidy rows: one measured value per row, with the conditions beside it."""

from __future__ import annotations

import platform
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

from meip.base.documents import document

__all__ = ["Results", "versions"]

Cell = str | int | float | bool | None
LIBRARIES = ("meip", "numpy", "scipy", "numba")


def versions(more: Iterable[str] = ()) -> dict[str, str]:
    """What the results were computed with: Python, the machine, and the installed versions of libraries."""
    found = {"python": platform.python_version(), "machine": platform.machine()}
    for name in (*LIBRARIES, *more):
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


@document("results")
@dataclass(frozen=True)
class Results:
    """What a command measured. A row has at least a metric and its value, the rest are conditions."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    command: str
    rows: tuple[dict[str, Cell], ...]
    versions: dict[str, str]
    seed: int | None = None

    @classmethod
    def of(cls, command: str, rows: Iterable[Mapping[str, Any]], seed: int | None = None) -> Results:
        """Rows of a run that happened here and now; numpy numbers become plain ones."""
        plain = tuple({k: v.item() if hasattr(v, "item") else v for k, v in row.items()} for row in rows)
        return cls(command, plain, versions(), seed)
