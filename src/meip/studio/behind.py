"""What stands behind a statement: the demonstrated steps at which it made a difference, with what else could have been
done there; and the steps at which a task would have done something else.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from meip.base.errors import LearningError
from meip.concepts.check import kind
from meip.concepts.english import english
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.concepts.steps import is_about_steps
from meip.concepts.values.columns import Programs, values_at, values_of_steps
from meip.learning.selection import precedence
from meip.model.choices import Alternative, Replayed, Walk, alternatives
from meip.model.graph import StateGraph
from meip.model.steps import step_domain
from meip.model.world import encode
from meip.studio.comparing import STOP, Judge, Place
from meip.studio.drawing import action_text, state_view
from meip.tasks.task import Task

__all__ = ["behind", "surprises"]

MOST_STEPS, MOST_GROUPS = 40, 6
DISAGREES = 0.1  # in units of g: less is no disagreement
MOST_SURPRISES = 12
NEGATIVE = ("avoided", "never", "order")


def behind(task: Task, shown: Replayed, labels: Sequence[str], text: str, kind_: str = "wanted") -> dict[str, Any]:
    """The steps that tell something about a concept: what was done, what it made of the concept, what else would have.

    Steps that speak for the statement come first; `steps` counts all of them.
    """
    concept = parse_concept(text, shown.domain)
    if kind(concept, shown.domain) == "table":
        raise LearningError(f"{text}: nothing can be shown for a table")
    sign = -1.0 if kind_ in NEGATIVE else 1.0
    found = [
        row
        for number, walk in enumerate(shown.walks)
        for t in range(len(walk.states))
        if (row := _telling(shown.graphs[walk.graph], walk, t, concept, sign)) is not None
        for _ in [row.update(demonstration=number, label=labels[number])]
    ]
    if kind_ == "done":  # what is to be so in the end speaks against no step before
        for row in found:
            if row["step"] < len(shown.walks[row["demonstration"]].plan.actions):
                row["speaks"] = max(0.0, row["speaks"])
    ranked = sorted(_together(found), key=lambda row: (-row["speaks"], -len(row["demonstrations"])))
    pair = precedence(concept)
    return {
        "text": text,
        "english": english(concept, shown.domain),
        "boolean": kind(concept, shown.domain) == "boolean",
        "steps": len(found),
        "for": sum(row["speaks"] > 0 for row in found),
        "against": sum(row["speaks"] < 0 for row in found),
        "shown": ranked[:MOST_STEPS],
        "milestones": [] if pair is None else _milestones(shown, labels, pair),
    }


def _together(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Demonstrations in which the same was done in the same state are named together."""
    found: dict[str, dict[str, Any]] = {}
    for row in rows:
        key = repr((row["state"], row["action"], row["value"], row["others"]))
        known = found.setdefault(key, {**row, "demonstrations": []})
        known["demonstrations"].append({"number": row["demonstration"], "label": row["label"], "step": row["step"]})
    return list(found.values())


def _telling(graph: StateGraph, walk: Walk, t: int, concept: Concept, sign: float) -> dict[str, Any] | None:
    """One choice, if its alternatives differ in the concept."""
    state = walk.states[t]
    action = walk.plan.actions[t] if t < len(walk.plan.actions) else None
    if action is None and (graph.has_goal or len(walk.states) >= graph.horizon):
        return None
    listed = [one for one in alternatives(graph, state, action) if not (one.stop and graph.has_goal)]
    if len(listed) < 2:
        return None
    values = _values(graph, state, listed, concept)
    mine = next((k for k, one in enumerate(listed) if one.shown), None)
    others = [k for k in range(len(listed)) if k != mine and np.isfinite(values[k])]
    if mine is None or not others or not np.isfinite(values[mine]):
        return None
    difference = float(values[mine] - values[others].mean())
    if np.ptp(values[[mine, *others]]) < 1e-9:
        return None
    done = "stop" if action is None else action_text(graph.world, action)
    return {
        "step": t + 1,
        "action": done,
        "state": graph.describe(state),
        "value": float(values[mine]),
        "speaks": float(np.sign(np.round(sign * difference, 9))),
        "others": _grouped(graph, listed, values, others),
        "other_count": len(others),
    }


def _values(graph: StateGraph, state: int, listed: Sequence[Alternative], concept: Concept) -> Any:
    """Of the concept after each alternative, by expectation; NaN where it may be missing."""
    if is_about_steps(concept, graph.domain):
        after = [s for one in listed for _, s in one.outcomes]
        program = Programs(step_domain(graph.domain))([concept])
        values, missing = values_of_steps(graph, program, [(state, s) for s in after])
        of_step = dict(zip(after, np.where(missing[:, 0], np.nan, values[:, 0]).tolist(), strict=True))
        return np.array([np.nan if one.stop else sum(p * of_step[s] for p, s in one.outcomes) for one in listed])
    states = sorted({state, *(s for one in listed for _, s in one.outcomes)})
    values, missing = values_at(graph, Programs(graph.domain)([concept]), states)
    column = np.where(missing[:, 0], np.nan, values[:, 0])
    at = dict(zip(states, column.tolist(), strict=True))
    return np.array([sum(p * at[s] for p, s in one.outcomes) for one in listed], np.float64)


def _grouped(
    graph: StateGraph, listed: Sequence[Alternative], values: Any, others: Sequence[int]
) -> list[dict[str, Any]]:
    """The alternatives by what they would have made of the concept, the largest groups first."""
    groups: dict[float, list[int]] = {}
    for k in others:
        groups.setdefault(round(float(values[k]), 6), []).append(k)
    ranked = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))[:MOST_GROUPS]
    return [
        {"value": value, "count": len(rows), "examples": [_name(graph, listed[k]) for k in rows[:3]]}
        for value, rows in ranked
    ]


def _name(graph: StateGraph, one: Alternative) -> str:
    if one.stop:
        return "stop"
    return action_text(graph.world, graph.action(one.moves[0])) if one.moves else "something that is not listed"


def _milestones(shown: Replayed, labels: Sequence[str], pair: tuple[Concept, Concept]) -> list[dict[str, Any]]:
    """When each of two things came true in every demonstration; None where it never did, 0 where it was at first."""
    found = []
    for label, walk in zip(labels, shown.walks, strict=True):
        values, _ = values_at(shown.graphs[walk.graph], Programs(shown.domain)(list(pair)), walk.states)
        true = values > 0.5
        first, then = (int(np.argmax(true[:, k])) if true[:, k].any() else None for k in (0, 1))
        found.append({"label": label, "first": first, "then": then})
    return found


def surprises(task: Task, shown: Replayed, labels: Sequence[str]) -> list[dict[str, Any]]:
    """Steps at which the task would rather have done something else, the most surprising first.

    Each demonstration is judged by the model that did not see it, where the task kept it; single steps, as they were
    learned from.
    """
    found = []
    views = _views(task, len(shown.walks))
    for number, walk in enumerate(shown.walks):
        graph = shown.graphs[walk.graph]
        judge = Judge(task, graph, views[number], ahead=False)
        for t in range(len(walk.states) - (graph.has_goal or len(walk.states) >= graph.horizon)):
            row = _surprise(judge, graph, walk, t)
            if row is not None:
                found.append({**row, "demonstration": number, "label": labels[number], "unseen": views[number] > 0})
    return _merged(sorted(found, key=lambda row: -float(row["by"])))[:MOST_SURPRISES]


def _merged(rows: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Demonstrations in which the same was done are named together."""
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for row in rows:
        key = (row["state"], row["shown"], row["rather"])
        known = found.setdefault(key, {**row, "demonstrations": []})
        known["demonstrations"].append({"number": row["demonstration"], "label": row["label"], "step": row["step"]})
    return list(found.values())


def _views(task: Task, count: int) -> list[int]:
    """For each demonstration the model that did not see it; 0, the learned one, where there is none."""
    found = [0] * count
    how = task.preferences
    aside = set(task.provenance.evidence.get("set_aside", ()))
    if how is None or count != task.provenance.demonstrations:
        return found
    kept = [number for number in range(1, count + 1) if number not in aside]
    for view, held in enumerate(how.held_out, start=1):
        for place in held.without:
            if place <= len(kept):
                found[kept[place - 1] - 1] = view
    return found


def _surprise(judge: Judge, graph: StateGraph, walk: Walk, t: int) -> dict[str, Any] | None:
    place = Place(walk.states[: t + 1], graph.horizon - t - 1)
    action = walk.plan.actions[t] if t < len(walk.plan.actions) else None
    comparison = judge.compare(place, action)
    if not comparison.actions or (action is None and comparison.stop is None):
        return None
    mine = STOP if action is None else comparison.index(graph, place.state, action)
    best = comparison.best
    if mine is None or mine == best:
        return None
    by = comparison.value(best) - comparison.value(mine)
    if by <= DISAGREES:
        return None
    both = STOP not in (mine, best)
    done = walk.plan.actions[:t]
    after = _view(graph, place, done, walk.states[t + 1], action) if action is not None else None
    other = None
    if best != STOP:
        likeliest = max(comparison.outcomes[best])[1]
        other = _view(graph, place, done, likeliest, graph.action(comparison.actions[best]))
    return {
        "step": t + 1,
        "state": graph.describe(place.state),
        "shown": "stop here" if action is None else action_text(graph.world, action),
        "rather": judge.text(comparison, best),
        "rather_value": None if best == STOP else encode(graph.action(comparison.actions[best])),
        "by": by,
        "views": [state_view(graph, place.history, done), after, other],
        "because": judge.reasons(place.state, comparison.outcomes[best], comparison.outcomes[mine], by) if both else [],
    }


def _view(graph: StateGraph, place: Place, done: Sequence[Any], state: int, action: Any) -> dict[str, Any]:
    return state_view(graph, (*place.history, state), (*done, action))
