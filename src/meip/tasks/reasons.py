"""Why a plan does what it does, how sure that is, and where the task has nothing to say.

Each demonstration was held out once when the task was learned. A step is as sure as those models are: it is as likely
for them as their best one, and likelier than by chance. Margins and the votes of members say nothing about whether a
plan is right.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from meip.concepts.values.columns import Programs, values_at
from meip.model.graph import StateGraph
from meip.search.choosing import Chooser, Options
from meip.search.query import Clock, Found, Query
from meip.tasks.task import Reason
from meip.utility.preferences import ChoiceRanking
from meip.utility.terms import features

__all__ = ["Told", "explained"]

SAME = 1e-9
MOST = 3  # reasons for a step
LEAST = 0.2  # seconds for looking at the steps of a plan, where a search has used all of its time


class Told(NamedTuple):
    """What is to be said about a plan: for each step how sure it is, and why; for stopping; and about all of it."""

    confidence: list[float]
    why: list[tuple[Reason, ...]]
    stopping: float
    notes: tuple[str, ...]


def explained(graph: StateGraph, ranking: ChoiceRanking, found: Found, query: Query) -> Told:
    """Look at every step of a plan again, with the eyes of each held-out model; out of time, without looking ahead."""
    left_over = None if query.seconds is None else max(query.seconds - found.seconds, LEAST)
    clock = Clock(query.changed(seconds=left_over), graph)
    states, horizon = found.states, query.length(graph, found.states[:1])
    first = len(states) - len(found.actions) - 1
    views = range(1, ranking.preferences.judges + 1)
    choosers = [Chooser(graph, ranking, view, clock) for view in (0, *views)]
    seen: dict[int, int] = {}
    confidence: list[float] = []
    silent: list[int] = []
    for t, state in enumerate(states[:-1]):
        seen[state] = seen.get(state, 0) + 1
        if t < first:
            continue
        left = horizon - t - 1
        own, *others = [_options(chooser, state, left, seen) for chooser in choosers]
        place = _place(graph, own, found.actions[t - first])
        sure = [_sure(options, place, stops=not graph.has_goal) for options in others]
        confidence.append(float(np.mean(sure)) if sure else 1.0)
        if len(own.actions) > 1 and float(np.ptp(own.worth)) < SAME:
            silent.append(t - first + 1)
    stopping = _stopping(choosers, found, seen, horizon)
    return Told(confidence, _why(graph, ranking, found, first), stopping, _notes(silent, len(found.actions)))


def _options(chooser: Chooser, state: int, left: int, seen: dict[int, int]) -> Options:
    """Where a goal is searched for, single steps only: plans are long."""
    return chooser.options(state, 1 if chooser.has_goal else left, seen)


def _place(graph: StateGraph, options: Options, action: int) -> int | None:
    outcomes = tuple(sorted((round(p, 12), s) for p, s in graph.outcomes(action)))
    return options.outcomes.index(outcomes) if outcomes in options.outcomes else None


def _sure(options: Options, place: int | None, *, stops: bool = True) -> float:
    """How sure one model is of an alternative, by its place (-1: to stop): p / the best p, times n p / (1 + n p).

    Equals are no disagreement, but where a model has nothing to say, it is not sure of any.
    """
    worth = np.append(options.worth, options.stop) if stops else options.worth
    if place is None:
        return 0.0
    if len(worth) < 2:
        return 1.0
    log_p = float(worth[place] - np.logaddexp.reduce(worth))
    known = len(worth) * np.exp(log_p)
    return float(np.exp(worth[place] - worth.max()) * known / (1 + known))


def _stopping(choosers: list[Chooser], found: Found, seen: dict[int, int], horizon: int) -> float:
    """How sure the models are to stop where the plan does, by its own choice."""
    if found.stopped_by != "stopped" or len(choosers) < 2:
        return 1.0
    last = found.states[-1]
    others = [chooser.options(last, horizon - len(found.states), seen) for chooser in choosers[1:]]
    return float(np.mean([_sure(options, -1) for options in others]))


def _why(graph: StateGraph, ranking: ChoiceRanking, found: Found, first: int) -> list[tuple[Reason, ...]]:
    """The concepts that change most of g at each step."""
    how = ranking.preferences
    done = how.done
    terms = (*ranking.wishes.terms, *done.terms)
    if not terms:
        return [()] * len(found.actions)
    program = Programs(graph.domain)([term.concept for term in terms])
    parts = features(terms, *values_at(graph, program, found.states[first:]))
    parts *= np.concatenate([ranking.wishes.weights, done.weights])
    parts = np.add.reduceat(parts, np.cumsum([0, *(term.size for term in terms[:-1])]), axis=1)
    adds = np.diff(parts, axis=0)
    if done.terms:  # what everybody ended with counts where the episode is over
        adds[:, -len(done.terms) :] = 0.0
        if not (graph.has_goal or how.by_itself or len(graph.action_numbers(found.states[-1]))):
            adds[-1:, -len(done.terms) :] = parts[-1, -len(done.terms) :]
    why = []
    for row in adds:
        chosen = [k for k in np.argsort(-np.abs(row), kind="stable")[:MOST] if abs(row[k]) > SAME]
        why.append(tuple(Reason(str(terms[k].concept), float(row[k])) for k in chosen))
    return why


def _notes(silent: list[int], steps: int) -> tuple[str, ...]:
    if not silent:
        return ()
    if len(silent) == steps:
        return ("the task has nothing to say about this world: no statement tells the actions of any step apart",)
    listed = ", ".join(map(str, silent))
    return (f"no statement tells the actions apart at step{'s' * (len(silent) > 1)} {listed}",)
