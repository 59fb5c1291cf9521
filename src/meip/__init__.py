"""Generalized inverse planning: learn what a person cares about, as readable concepts, and plan with it elsewhere.

This module is the table of contents. Names are loaded when they are first used, so that ``import meip`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_CONTENTS: dict[str, tuple[str, ...]] = {
    "meip.errors": (
        "BudgetError",
        "ConceptError",
        "DemonstrationError",
        "DocumentError",
        "DomainError",
        "LearningError",
        "MeipError",
        "NotFittedError",
        "WorkerError",
        "WorldError",
    ),
    "meip.domain": ("Domain", "EntityClass", "FactBlock", "Facts", "Fluent", "function", "predicate"),
    "meip.world": ("World",),
    "meip.check": ("check_world",),
    "meip.graph": ("StateGraph",),
    "meip.demonstrations": (
        "Demonstration",
        "Plan",
        "Step",
        "append_demonstration",
        "read_demonstrations",
        "record",
        "replay",
    ),
    "meip.training": ("Episode",),
    "meip.learning": ("LearnOptions", "learn"),
    "meip.task": ("Task", "TaskPlan"),
}
_HOME = {name: module for module, names in _CONTENTS.items() for name in names}
__all__ = ["__version__", *sorted(_HOME)]

if TYPE_CHECKING:  # "as" tells type checkers that the name is meant for others
    from meip.check import check_world as check_world
    from meip.demonstrations import (
        Demonstration as Demonstration,
        Plan as Plan,
        Step as Step,
        append_demonstration as append_demonstration,
        read_demonstrations as read_demonstrations,
        record as record,
        replay as replay,
    )
    from meip.domain import (
        Domain as Domain,
        EntityClass as EntityClass,
        FactBlock as FactBlock,
        Facts as Facts,
        Fluent as Fluent,
        function as function,
        predicate as predicate,
    )
    from meip.errors import (
        BudgetError as BudgetError,
        ConceptError as ConceptError,
        DemonstrationError as DemonstrationError,
        DocumentError as DocumentError,
        DomainError as DomainError,
        LearningError as LearningError,
        MeipError as MeipError,
        NotFittedError as NotFittedError,
        WorkerError as WorkerError,
        WorldError as WorldError,
    )
    from meip.graph import StateGraph as StateGraph
    from meip.learning import LearnOptions as LearnOptions, learn as learn
    from meip.task import Task as Task, TaskPlan as TaskPlan
    from meip.training import Episode as Episode
    from meip.world import World as World


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'meip' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
