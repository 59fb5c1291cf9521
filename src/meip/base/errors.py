"""The exception tree: everything that meip raises on purpose.

::

    MeipError                   catch this one to catch them all
    ├── DomainError             a domain, a fluent or a table of facts that contradicts itself
    ├── WorldError              a world that breaks the World protocol, or an illegal action
    ├── DocumentError           a file that cannot be read, or does not say what it should
    ├── ConceptError            a concept that does not parse or does not fit the domain
    ├── DemonstrationError      a demonstration that cannot be replayed
    ├── BudgetError             a limit on states, plans, seconds or memory was reached
    ├── Cancelled               somebody called the work off
    ├── NotFittedError          a learner used before `fit`
    ├── LearningError           demonstrations from which nothing can be learned, or a bad option
    └── WorkerError             worker processes were killed again and again

Each message says what was read, where, what was expected, and what to do about it.
"""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from meip.base.text import plain, printable

__all__ = [
    "BudgetError", "Cancelled", "ConceptError", "DemonstrationError", "DocumentError", "DomainError", "LearningError",
    "MeipError", "NotFittedError", "WorkerError", "WorldError", "did_you_mean",
]  # fmt: skip


class MeipError(ValueError):
    """Root of every error that meip raises on purpose. What it quotes from files is safe to print."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*(printable(one) if isinstance(one, str) else one for one in arguments))


class DomainError(MeipError):
    """A domain, a fluent or a table of facts contradicts itself."""


class WorldError(MeipError):
    """A world breaks the World protocol, or an action is not legal."""


class DocumentError(MeipError):
    """A file cannot be read, or does not say what it should."""


class ConceptError(MeipError):
    """A concept does not parse, or does not fit the domain."""


class DemonstrationError(MeipError):
    """A demonstration cannot be replayed in its world."""


class BudgetError(MeipError):
    """A limit on states, plans, seconds or memory was reached."""


class Cancelled(MeipError):
    """The work was called off."""


class NotFittedError(MeipError, AttributeError):
    """A learner was used before `fit`."""


class LearningError(MeipError):
    """Nothing can be learned from what was given, or an option is wrong."""


class WorkerError(MeipError):
    """Worker processes were killed again and again."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """The end of an error message about an unknown name: a suggestion, or the choices."""
    choices = sorted(known)
    close = get_close_matches(name, choices, n=1)
    if close:
        return f"did you mean {plain(close[0])!r}?"
    shown = ", ".join(plain(choice) for choice in choices[:12]) + (", ..." if len(choices) > 12 else "")
    return f"known: {shown}" if choices else "none are defined"
