"""Mutants: documents, texts and files with a few things wrong, and examples to begin with."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

from meip import Correction, Domain, EntityClass, function, predicate, record
from meip.base import documents
from meip.base.results import Results
from meip.concepts.parser import parse_concept
from meip.learning.checkpoint import CheckpointDocument, Decision, KeptRound
from meip.model.problems import import_documents, load_problem, problem_document
from meip.report.whole import KeptReport
from meip.tasks.task import PlanStep, Provenance, Reason, Task, TaskPlan
from meip.utility.terms import Utility, UtilityTerm
from meip.worlds.didactic import Didactic
from meip.worlds.folding.cloth import Garment, Part
from meip.worlds.folding.garments import garment
from meip.worlds.folding.parse_graph import parse_array
from meip.worlds.folding.proposal import Proposal
from meip.worlds.folding.render import render_image
from meip.worlds.ritual import Ritual

__all__ = ["READERS", "VALID", "damaged", "mutate"]

import_documents()

MEASURED = Results.of(
    "bench", [{"metric": "ratio", "value": 1.5, "n": 7, "peer": None}], 3, [("t", ["a", "b"], [["1", "2"]])], ["a note"]
)
RESULTS = documents.dump(MEASURED)
VALID: dict[str, list[dict[str, Any]]] = {
    "domain": [
        documents.dump(
            Domain(
                "blocks",
                (EntityClass("block"),),
                (predicate("on", "block", "block"), predicate("clear", "block"), function("weight", "block")),
            ).with_goals()
        )
    ],
    "demonstration": [
        documents.dump(record(Ritual(), [(1, "torch", 5), (2, "bamboo", 1), (3, "clay", 4)], by="x", note="y")),
        documents.dump(record(Didactic(), ["a1", "a1"], [1, None])),
        documents.dump(replace(record(Didactic(), ["a1", "a1"], [1, None]), corrects=Correction("a2"))),
    ],
    "results": [RESULTS],
    "report": [
        documents.dump(KeptReport("a report", ({"domain": "x"},), ({"title": "a plan", "by": "meip"},), (MEASURED,)))
    ],
    "utility": [
        documents.dump(
            Utility(
                (
                    UtilityTerm(parse_concept("all(p) and not some(q)"), "boolean", (), (1.5,)),
                    UtilityTerm(parse_concept("max(f | p)"), "real", (0.0, 0.5, 1.0), (0.0, -1.25, 2.0)),
                )
            )
        )
    ],
    "task": [
        documents.dump(
            Task(
                Ritual().domain,
                (
                    Utility(
                        (
                            UtilityTerm(parse_concept("all(torch@1)"), "boolean", (), (1.5,)),
                            UtilityTerm(parse_concept("count(clay@2)"), "count", (0.0, 1.0), (0.0, -1.25)),
                        )
                    ),
                ),
                0.75,
                Provenance("0.1", 3, "plans", "plans", {"tolerance": 0.2}, 5, "sha256:0", 4, False, ({"world": "x"},)),
                (Decision(1, "level 1", "all(torch@1)", True, 0.75, 1.5, "tau grows"),),
                ("a note",),
            )
        )
    ],
    "plan": [
        documents.dump(
            TaskPlan(
                "start",
                (PlanStep([1, "torch"], "next", 1.5, 0.5, (Reason("some(p)", 0.5),), 0.25, 1),),
                1.0,
                0.9,
                None,
                "mcts",
                "expectation",
                4,
                "iterations",
                0,
                problem_document(Ritual()),
            )
        )
    ],
    "checkpoint": [
        documents.dump(CheckpointDocument("sha256:0", (KeptRound("fit 1", {"size": 3, "at": [1], "values": [0.5]}),)))
    ],
    "garment": [documents.dump(Garment("square", (Part("body", ((0.0, 0.0), (1.0, 0.0), (1.0, 1.0), (0.0, 1.0))),)))],
    "proposal": [documents.dump(Proposal(box=((0.1, 0.2, 0.3, 0.4),), seams=((0.0, 0.5, 0.1, 0.0),)))],
    "parse-graph": [documents.dump(parse_array(render_image(garment("tshirt"))))],
    "problem": [problem_document(Ritual(order=(2, 1, 3))), problem_document(Didactic())],
}
READERS: dict[str, Callable[[Any, str], Any]] = {"problem": lambda data, where: load_problem(data, where=where)}
STRANGE: list[Any] = [
    None, True, False, 0, -1, 3, 10**6, -(10**30), 10**400, 1.5, -0.0, 1e308, "", "x", "ritual", "\u0000", "\ud800",
    "🙂" * 50, "meip.domain/1", "../../etc/passwd", "os:system", [], {}, [[]], {"": {}}, ["block"] * 5,
    {"__class__": "x"},
]  # fmt: skip


def strange(rng: random.Random) -> Any:
    return deepcopy(rng.choice(STRANGE))


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The path of every value below the root."""
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [p for key, child in children for p in [(*path, key), *places(child, (*path, key))]]


def mutate(document: dict[str, Any], rng: random.Random) -> str:
    """The text of a document with one to three things wrong (or, now and then, still right)."""
    data = json.loads(json.dumps(document))
    for _ in range(rng.randint(1, 3)):
        where = rng.choice(places(data) or [("format",)])
        parent = data
        for key in where[:-1]:
            parent = parent[key]
        kind = rng.randrange(6)
        if kind == 0:
            del parent[where[-1]]
        elif kind == 1:
            parent[where[-1]] = strange(rng)
        elif kind == 2 and isinstance(parent, dict):
            parent[f"{where[-1]}{rng.choice(['', 's', '_', ' '])}"] = strange(rng)
        elif kind == 3 and isinstance(parent, dict):
            parent[str(strange(rng))] = parent.pop(where[-1])
        elif kind == 4 and isinstance(parent, list):
            parent.insert(where[-1], deepcopy(parent[where[-1]]))
        else:
            parent[where[-1]] = [parent.get(where[-1])] if isinstance(parent, dict) else {"x": parent[where[-1]]}
    return damage(json.dumps(data), rng)


def damage(text: str, rng: random.Random) -> str:
    """Sometimes, break the text itself."""
    at = rng.randrange(len(text))
    kind = rng.randrange(12)
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text[:at] + rng.choice('{}[]:,"\\0\x00') + text[at + 1 :]
    if kind == 2:
        return re.sub(r"\d+", lambda _: rng.choice(["NaN", "Infinity", "1e999", "-0", "9" * 5000]), text, count=1)
    if kind == 3:
        return text[:-1] + ', "format": "meip.domain/1"}'  # a key twice
    if kind == 4:
        deep = rng.choice([70, 5000])
        return text[:-1] + ', "steps": ' + "[" * deep + "]" * deep + "}"
    return text


NUMBERS = ("0", "-1", "1e9", "1e308", "-1e-320", "1e999", "nan", "inf", "9" * 400, "2147483648", "0.1", "1,2", "x")
PIECES = (
    '"',
    "<",
    ">",
    "&",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    ";",
    ",",
    ":",
    "\\",
    "\0",
    "\ud7ff",
    "\u202e",
    "é",
    "🙂",
    " ",
    "\n",
    "-",
)


def damaged(text: str, rng: random.Random) -> str:
    """A text with one to four things wrong: pieces lost, doubled, swapped, numbers and characters changed."""
    for _ in range(rng.randint(1, 4)):
        a, b = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
        b = min(b, a + rng.choice([1, 3, 20, 300]))
        kind = rng.randrange(8)
        if kind == 0:
            text = text[:a] + text[b:]
        elif kind == 1:
            text = text[:b] + text[a:]
        elif kind == 2:
            text = text[:a] + rng.choice(PIECES) + text[b:]
        elif kind in (3, 4):
            found = list(re.finditer(r"-?\d+\.?\d*", text))
            if found:
                one = rng.choice(found)
                text = text[: one.start()] + rng.choice(NUMBERS) + text[one.end() :]
        elif kind == 5:
            text = text[:a] + text[a:b] * rng.choice([2, 50]) + text[b:]
        elif kind == 6:
            words = list(re.finditer(r"[A-Za-z_@?:-]+", text))
            if len(words) > 1:
                one, other = rng.sample(words, 2)
                text = text[: one.start()] + other.group() + text[one.end() :]
        else:
            text = text[: max(1, a)] if rng.random() < 0.3 else text[:a] + rng.choice(PIECES) + text[a:]
        text = text[:200_000] or " "
    return text
