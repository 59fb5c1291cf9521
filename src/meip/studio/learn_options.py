"""The options of learning as the page offers them: those of `LearnOptions` that a person may want, in plain words."""

from __future__ import annotations

from typing import Any

from meip.base import documents
from meip.learning.options import LearnOptions

__all__ = ["OPTIONS", "chosen"]

OPTIONS: list[dict[str, Any]] = [
    {
        "name": "tolerance",
        "label": "Some may be wrong",
        "help": "Share of the demonstrations that may hold a slip. The oddest are then set aside. 0: all are right.",
        "kind": "number",
        "least": 0.0,
        "most": 0.9,
        "step": 0.05,
        "default": 0.0,
    },
    {
        "name": "order",
        "label": "Order",
        "help": "What always came first is kept first, also where nobody could have done otherwise.",
        "kind": "choice",
        "choices": [["closure", "learn it"], ["none", "leave it out"]],
        "default": "closure",
    },
    {
        "name": "objective",
        "label": "What is compared",
        "help": "Single steps with what else could have been done, or whole plans with others (slower; the paper's).",
        "kind": "choice",
        "choices": [
            ["auto", "single steps (usual)"],
            ["plans", "whole plans"],
            ["history", "steps by their history"],
            ["svm", "pairs of states (Ranking SVM)"],
            ["svm-literal", "pairs, as the paper labels them"],
        ],
        "default": "auto",
    },
    {
        "name": "view",
        "label": "Form of wishes",
        "help": "A few statements, or curves of quantities such as lengths and shares. Held-out choices can decide.",
        "kind": "choice",
        "choices": [["auto", "as held-out choices say"], ["sparse", "few statements"], ["curves", "curves"]],
        "default": "auto",
        "advanced": True,
    },
    {
        "name": "concepts",
        "label": "Only these concepts",
        "help": "One formula a line, e.g. all(torch@1). Then only what each counts is learned. Empty: all are tried.",
        "kind": "lines",
        "default": None,
        "advanced": True,
    },
    {
        "name": "committee",
        "label": "Members",
        "help": "Plans go by the mean of so many models, each of a part of the candidates. Empty: as many as is usual.",
        "kind": "integer",
        "least": 1,
        "most": 64,
        "default": None,
        "advanced": True,
    },
    {
        "name": "seed",
        "label": "Seed",
        "help": "The same seed and demonstrations give the same task, byte by byte.",
        "kind": "integer",
        "least": 0,
        "most": 2**31 - 1,
        "default": 0,
        "advanced": True,
    },
]


def chosen(given: dict[str, Any]) -> dict[str, Any]:
    """The options that differ from the defaults, found to be ones; kept as they are."""
    kept = {name: value for name, value in given.items() if value != getattr(LearnOptions, name, object)}
    documents.validate(LearnOptions, kept, where="options")
    return kept
