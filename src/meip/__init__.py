"""Generalized inverse planning: learn what a person cares about, as readable concepts, and plan with it elsewhere.

This module is the table of contents. Names are loaded when they are first used, so that ``import meip`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

ROOMS = (
    "base", "model", "concepts", "utility", "search", "learning", "tasks", "baselines", "worlds", "report",
    "studio", "experiments", "bench", "cli",
)  # fmt: skip
"""The folders in the order of the data: a module imports from its own room and from those before it."""

# fmt: off
_CONTENTS: dict[str, tuple[str, ...]] = {
    "meip.base.errors": ("BudgetError", "Cancelled", "ConceptError", "DemonstrationError", "DocumentError",
        "DomainError", "LearningError", "MeipError", "NotFittedError", "WorkerError", "WorldError"),
    "meip.concepts.english": ("english",),
    "meip.concepts.grammar": ("Grammar",),
    "meip.concepts.parser": ("parse_concept",),
    "meip.learning.options": ("LearnOptions", "Run"),
    "meip.learning.pursuit": ("Pursuit",),
    "meip.model.check": ("check_world",),
    "meip.model.demonstrations": ("Correction", "Demonstration", "Episode", "Plan", "Step",
        "append_demonstration", "read_demonstrations", "read_episodes", "record", "replay"),
    "meip.model.domain": ("Domain", "EntityClass", "FactBlock", "Facts", "Fluent", "function", "predicate"),
    "meip.model.graph": ("StateGraph",),
    "meip.model.problems": ("load_problem", "problem_document"),
    "meip.model.world": ("Picture", "World"),
    "meip.search.query": ("Found", "Query"),
    "meip.tasks.evaluate": ("Metric", "evaluate"),
    "meip.tasks.learn": ("learn",),
    "meip.tasks.task": ("Task", "TaskPlan"),
    "meip.utility.terms": ("Utility", "UtilityTerm"),
}
# fmt: on
_HOME = {name: module for module, names in _CONTENTS.items() for name in names}
__all__ = ["__version__", *sorted(_HOME)]

# fmt: off
if TYPE_CHECKING:  # "as" tells type checkers that the name is meant for others
    from meip.base.errors import (
        BudgetError as BudgetError,
        Cancelled as Cancelled,
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
    from meip.concepts.english import english as english
    from meip.concepts.grammar import Grammar as Grammar
    from meip.concepts.parser import parse_concept as parse_concept
    from meip.learning.options import LearnOptions as LearnOptions, Run as Run
    from meip.learning.pursuit import Pursuit as Pursuit
    from meip.model.check import check_world as check_world
    from meip.model.demonstrations import (
        Correction as Correction,
        Demonstration as Demonstration,
        Episode as Episode,
        Plan as Plan,
        Step as Step,
        append_demonstration as append_demonstration,
        read_demonstrations as read_demonstrations,
        read_episodes as read_episodes,
        record as record,
        replay as replay,
    )
    from meip.model.domain import (
        Domain as Domain,
        EntityClass as EntityClass,
        FactBlock as FactBlock,
        Facts as Facts,
        Fluent as Fluent,
        function as function,
        predicate as predicate,
    )
    from meip.model.graph import StateGraph as StateGraph
    from meip.model.problems import load_problem as load_problem, problem_document as problem_document
    from meip.model.world import Picture as Picture, World as World
    from meip.search.query import Found as Found, Query as Query
    from meip.tasks.evaluate import Metric as Metric, evaluate as evaluate
    from meip.tasks.learn import learn as learn
    from meip.tasks.task import Task as Task, TaskPlan as TaskPlan
    from meip.utility.terms import Utility as Utility, UtilityTerm as UtilityTerm
# fmt: on


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'meip' has no attribute {name!r}")
    return getattr(import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return __all__
