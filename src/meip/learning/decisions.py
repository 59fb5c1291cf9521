"""Decisions of the learner, kept beside what was learned: what was considered, and why it was taken or dropped."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

__all__ = ["Decision"]


@dataclass(frozen=True)
class Decision:
    """One thing the pursuit considered, and what became of it."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    step: int
    stage: str
    """"level 1", "level 2", .., "order", "avoid", "simplify"."""
    concept: str
    taken: bool
    tau: float
    gain: float
    """By how much the posterior J - costs grew (or would have)."""
    reason: str
