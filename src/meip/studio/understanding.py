"""What was learned, for the page: the sentence and its figure, wishes with their curves, the order, what is never done,
what stands behind each of them, and edits by hand.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Body, Query

from meip.base import documents
from meip.base.errors import LearningError, MeipError
from meip.concepts.check import kind
from meip.concepts.english import english, forbidden
from meip.model.choices import Replayed, replay_all
from meip.model.demonstrations import Episode
from meip.model.graph import state_graph
from meip.studio.behind import behind, surprises
from meip.studio.edited import all_edits, edit_task, fitted_task, reset_task
from meip.studio.material import Shown, episodes, read_shown, set_aside
from meip.studio.project import Studio
from meip.tasks.explain import Explanation, Reading, explain
from meip.tasks.task import Task
from meip.utility.preferences import Statement
from meip.utility.terms import UtilityTerm, curve

__all__ = ["Taught", "routes", "understood"]

WISHES = ("wanted", "avoided", "late", "first", "done")
MOST_READINGS = 60


def understood(task: Task, fitted: Task) -> dict[str, Any]:
    """Everything that the page says about a task; `fitted` is the same before it was changed by hand."""
    told = explain(task)
    how = task.preferences
    return {
        "sentence": told.sentence,
        "domain": told.domain,
        "foreseen": None
        if how is None
        else {"count": how.foreseen, "choices": how.choices, "by_chance": how.by_chance, "text": told.foreseen},
        "tau": told.tau_demo,
        "members": told.members,
        "demonstrations": told.provenance.demonstrations,
        "wishes": _wishes(task, fitted, told),
        "readings": [_reading(r, fitted) for r in told.wishes[:MOST_READINGS]],
        "order": _order(task, told),
        "never": _never(task, told),
        "edits": [documents.to_json(edit) for edit in all_edits(task)],
        "warnings": list(task.warnings),
        "nothing": task.nothing_learned,
    }


def _wishes(task: Task, fitted: Task, told: Explanation) -> list[dict[str, Any]]:
    """The statements that are wishes, each with its curve now and as fitted, and its share of what plans go by."""
    if task.preferences is None or fitted.preferences is None:
        return []
    before = {(s.kind, str(s.concept)): s for s in fitted.preferences.statements}
    said = {(s.kind, s.text): s for s in told.statements}
    found = []
    for statement in task.preferences.statements:
        key = (statement.kind, str(statement.concept))
        if statement.kind in WISHES:
            first = before.get(key, statement)
            found.append(
                {
                    "id": key[1],
                    "kind": key[0],
                    "english": said[key].english,
                    "text": key[1],
                    "evidence": statement.evidence,
                    "possible": statement.possible,
                    "share": _share(task, statement),
                    "curve": [[0.0, 0.0], [1.0, statement.weight]],
                    "fitted": [[0.0, 0.0], [1.0, first.weight]],
                    "form": _form(task, first),
                    "along": len(statement.leaning),
                }
            )
    return found


def _form(task: Task, statement: Statement) -> str:
    if statement.kind == "done" and not statement.weight:
        return "ending"  # everybody ended so: told, with no weight to change
    return "boolean" if kind(statement.concept, task.domain) == "boolean" else "linear"


def _share(task: Task, statement: Statement) -> float:
    """How much of all that steps can gain is due to what a statement says, and to what says nearly the same."""
    along = {str(statement.concept), *statement.leaning}
    how = task.preferences
    terms: Sequence[UtilityTerm] = [*task.members[0].terms, *(how.done.terms if how is not None else ())]
    whole = sum(term.influence for term in terms)
    return sum(term.influence for term in terms if str(term.concept) in along) / whole if whole else 0.0


def _reading(reading: Reading, fitted: Task) -> dict[str, Any]:
    """A concept that plans go by, with its curve (the first member's) now and as fitted."""
    first = next((t for m in fitted.members for t in m.terms if str(t.concept) == reading.text), None)
    before = reading.curves[0] if first is None else list(zip(*(part.tolist() for part in curve(first)), strict=True))
    return {
        "id": reading.text,
        "kind": reading.direction,
        "english": reading.english,
        "text": reading.text,
        "share": reading.share,
        "confidence": reading.confidence,
        "curve": [list(point) for point in reading.curves[0]],
        "fitted": [list(point) for point in before],
        "members": [[list(point) for point in one] for one in reading.curves[1:12]],
        "form": reading.kind,
        "first": reading.first,
        "then": reading.then,
    }


def _order(task: Task, told: Explanation) -> dict[str, Any]:
    """Pairs with how sure each is: where single choices were learned from, by how often it could have been otherwise
    (`Before.sure`); else the share of the members."""
    names = dict(told.english)
    edges = []
    said = {(str(e.first), str(e.then)): e for e in task.order}
    if task.preferences is None:
        for edge in task.order:
            edges.append(_edge(str(edge.first), str(edge.then), edge.confidence, None, True))
    else:
        for pair in task.preferences.order:
            key = (str(pair.first), str(pair.then))
            names |= {str(c): english(c, task.domain) for c in (pair.first, pair.then)}
            edges.append(_edge(*key, pair.sure, pair.possible, key in said))
    used = {text for edge in edges for text in (edge["first"], edge["then"])}
    return {"names": {text: names[text] for text in sorted(used)}, "edges": edges}


def _edge(first: str, then: str, confidence: float, possible: int | None, told: bool) -> dict[str, Any]:
    return {
        "first": first,
        "then": then,
        "text": f"{then} and not {first}",
        "confidence": confidence,
        "possible": possible,
        "told": told,
    }


def _never(task: Task, told: Explanation) -> list[dict[str, Any]]:
    """Rules that are told, then those that plans keep to although little speaks for them."""
    found = [
        {"english": s.english, "text": s.text, "possible": s.possible, "evidence": s.evidence, "told": True}
        for s in told.statements
        if s.kind == "never"
    ]
    known = {row["text"] for row in found}
    for rule in () if task.preferences is None else task.preferences.never:
        if str(rule.concept) not in known:
            said, nats = f"never: {forbidden(rule.concept, task.domain)}", rule.evidence - rule.price
            text = str(rule.concept)
            found.append({"english": said, "text": text, "possible": rule.possible, "evidence": nats, "told": False})
    return found


class Taught:
    """The demonstrations that a task was learned from, replayed once as long as neither changes."""

    def __init__(self, studio: Studio) -> None:
        self.studio = studio
        self.busy = threading.Lock()
        self._kept: dict[str, tuple[Any, Replayed]] = {}

    def task(self, name: str) -> Task:
        return Task.load(self.studio.project.existing("tasks", f"{name}.json"))

    def shown(self, name: str, task: Task) -> list[Shown]:
        """Of the job that the task came from; else all of the project that are of its domain."""
        project = self.studio.project
        job = self.studio.jobs.table.learned(f"{name}.json")
        if job is not None:
            there = [file for file in job.spec["demonstrations"] if file in project.demonstrations()]
            if len(there) == len(job.spec["demonstrations"]):
                return read_shown(project, there)
        found = []
        for file in project.demonstrations():
            try:
                found += [one for one in read_shown(project, [file]) if not one.aside and self._fits(one, task)]
            except MeipError:
                continue
        return found

    def files(self, name: str) -> list[str]:
        return list(dict.fromkeys(s.file for s in self.shown(name, self.task(name))))

    def learn_again(self, name: str, files: list[str]) -> dict[str, Any]:
        """A job for the same task with the same options, from other demonstrations."""
        job = self.studio.jobs.table.learned(f"{name}.json")
        options = dict(job.spec["options"]) if job is not None else {}
        found: dict[str, Any] = self.studio.jobs.start(name, files, options).to_json()
        return found

    def _fits(self, one: Shown, task: Task) -> bool:
        return state_graph(self.studio.worlds.of_demonstration(one.demonstration)).domain == task.domain

    def episodes(self, name: str, task: Task) -> list[Episode]:
        return episodes(self.studio.worlds, self.shown(name, task))

    def replayed(self, name: str, task: Task) -> tuple[list[Shown], Replayed]:
        """The whole demonstrations with what else could have been done, as the learner saw them; corrections stand
        among the corrections of the replay."""
        shown = self.shown(name, task)
        if not shown:
            raise LearningError("the demonstrations that this task was learned from are not in this project")
        key = (task.provenance.seed, [(s.file, documents.canonical(documents.dump(s.demonstration))) for s in shown])
        if name not in self._kept or self._kept[name][0] != key:
            found = replay_all(episodes(self.studio.worlds, shown)).widened(task.provenance.seed)
            self._kept = {name: (key, found)}
        return [one for one in shown if one.demonstration.corrects is None], self._kept[name][1]


def routes(studio: Studio) -> APIRouter:
    """Under /api/understand."""
    router = APIRouter(prefix="/api/understand")
    taught = Taught(studio)

    def told(name: str) -> dict[str, Any]:
        task = taught.task(name)
        return {"task": name, **understood(task, fitted_task(studio.project, f"{name}.json", task))}

    @router.get("/{name}")
    def understand(name: str) -> dict[str, Any]:
        return told(name)

    @router.get("/{name}/behind")
    def stands_behind(name: str, text: str, as_: str = Query("wanted", alias="kind")) -> dict[str, Any]:
        with taught.busy:
            task = taught.task(name)
            shown, replayed = taught.replayed(name, task)
            return behind(task, replayed, [s.label for s in shown], text, as_) | {
                "files": [[s.file, s.place] for s in shown]
            }

    @router.get("/{name}/surprises")
    def surprising(name: str) -> list[dict[str, Any]]:
        with taught.busy:
            task = taught.task(name)
            shown, replayed = taught.replayed(name, task)
            found = surprises(task, replayed, [s.label for s in shown])
            for row in found:
                for one in row["demonstrations"]:
                    one["file"] = shown[one["number"]].file
            return found

    @router.post("/{name}/edits")
    def edit(
        name: str, text: str = Body(), weights: list[float] = Body(), note: str = Body(default="")
    ) -> dict[str, Any]:
        edit_task(studio.project, f"{name}.json", text, weights, note)
        return told(name)

    @router.post("/{name}/reset")
    def reset(name: str, text: str | None = Body(default=None, embed=True)) -> dict[str, Any]:
        reset_task(studio.project, f"{name}.json", text)
        return told(name)

    @router.post("/{name}/slip")
    def slip(name: str, files: list[str] = Body(), step: int = Body()) -> dict[str, Any]:
        """Set demonstrations aside, and learn again from the others."""
        known = taught.files(name)
        rest = [one for one in known if one not in files]
        if not files or not set(files) <= set(known):
            raise LearningError("this is not among the demonstrations of this task")
        if not rest:
            raise LearningError("nothing would be left to learn from: all demonstrations of the task do this")
        for file in files:
            set_aside(studio.project, file, f"a slip at step {step}")
        return taught.learn_again(name, rest)

    return router
