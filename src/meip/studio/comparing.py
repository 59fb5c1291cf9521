"""One step beside another: what each is worth to a task, and which statements make the difference.

Plans weigh many concepts of which several say nearly the same; what they add is told by the statement that they belong
to. Where a task compares whole plans, a step is worth what it adds to the Kendall tau of its history.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.concepts.english import english, forbidden
from meip.concepts.language import Concept
from meip.concepts.steps import is_about_steps, not_done
from meip.concepts.values.columns import Programs, values_at
from meip.learning.selection import precedence, unless
from meip.model.graph import StateGraph
from meip.model.world import encode
from meip.search.choosing import Chooser, Options, Outcomes
from meip.search.query import Clock, Query
from meip.studio.drawing import action_text
from meip.tasks.task import Task
from meip.utility.terms import UtilityTerm, features

__all__ = ["STOP", "Comparison", "Judge", "Place"]

RISK = 0.05
SAME = 1e-9
SHOWN = 0.05  # what makes less of a difference is not told
LITTLE = 0.05  # .. or makes so little of it
MOST_REASONS = 4
STOP, UNLISTED = -1, -2
LATER = "what can follow it"


@dataclass(frozen=True)
class Place:
    """Somewhere in a plan: the states so far, by number, and how many may follow."""

    history: tuple[int, ...]
    left: int

    @property
    def state(self) -> int:
        return self.history[-1]

    @property
    def seen(self) -> dict[int, int]:
        found: dict[int, int] = {}
        for state in self.history:
            found[state] = found.get(state, 0) + 1
        return found


@dataclass(frozen=True)
class Comparison:
    """What could be done at a place, and what each is worth; the last of `worth` is to stop, None where nobody may."""

    actions: list[int]
    outcomes: list[Outcomes]
    worth: Floats
    stop: float | None

    @property
    def best(self) -> int:
        """Its index among the actions; STOP."""
        top = int(np.argmax(self.worth)) if len(self.actions) else STOP
        return STOP if self.stop is not None and (top == STOP or self.stop > self.worth[top] + 1e-12) else top

    def value(self, index: int) -> float:
        return float(self.stop or 0.0) if index == STOP else float(self.worth[index])

    def index(self, graph: StateGraph, state: int, action: Any) -> int | None:
        """Of an action as the world calls it; actions with equal outcomes are one."""
        key = _merged(graph, state, action)
        return self.outcomes.index(key) if key in self.outcomes else None


class Judge:
    """What a task thinks of steps in a graph; `view`: as the model sees it that held a demonstration out; `ahead`: with
    the ways that begin with a step, as far as the task looks, else by itself alone."""

    def __init__(self, task: Task, graph: StateGraph, view: int = 0, *, ahead: bool = True) -> None:
        self.task, self.graph, self.view = task, graph, view
        clock = None if ahead else Clock(Query(seconds=0.0), graph)  # no time to look any further
        self.chooser = None if task.choosing is None else Chooser(graph, task.choosing, view, clock)
        self.domain = graph.domain
        how = task.preferences
        self._rules: list[tuple[Concept, str, float]] = []
        if how is not None:
            seen = [r.strength for r in how.never] if view == 0 else how.held_out[view - 1].never
            never = [(rule, strength) for rule, strength in zip(how.never, seen, strict=True) if not rule.step]
            self._rules = [(rule.concept, "never", strength) for rule, strength in never]
            self._rules += [(unless(pair.then, pair.first), "order", pair.strength) for pair in how.order]

    def compare(self, place: Place, shown: Any = None) -> Comparison:
        """Every alternative at a place; `shown`: an action that counts as one, also where it is not listed."""
        found = self._compared(place)
        if shown is None or found.index(self.graph, place.state, shown) is not None:
            return found
        outcomes = _merged(self.graph, place.state, shown)
        alone = self._added(place, outcomes) if self.chooser is None else self.chooser.worth(place.state, [outcomes])[0]
        worth = np.append(found.worth, alone)
        return Comparison([*found.actions, UNLISTED], [*found.outcomes, outcomes], worth, found.stop)

    def _compared(self, place: Place) -> Comparison:
        if self.chooser is not None:
            left = 1 if self.graph.has_goal else place.left
            found: Options = self.chooser.options(place.state, left, place.seen)
            stop = None if self.graph.has_goal else found.stop
            return Comparison(found.actions, found.outcomes, np.asarray(found.worth, np.float64), stop)
        known: dict[Outcomes, int] = {}
        for number, outcomes in zip(self.graph.action_numbers(place.state), self.graph.fan(place.state), strict=True):
            known.setdefault(tuple(sorted((round(p, 12), s) for p, s in outcomes)), number)
        worth = [self._added(place, outcomes) for outcomes in known]
        return Comparison(list(known.values()), list(known), np.array(worth, np.float64), None)

    def _added(self, place: Place, outcomes: Outcomes) -> float:
        """What a step adds to the pairs of its history that rise, the members' mean."""
        after = [s for _, s in outcomes]
        table = self.task.ranking(self.graph, [*place.history, *after])
        before = table[list(place.history)]
        signs = [np.sign(np.round(table[s] - before, 9)).sum(axis=0).mean() for s in after]
        return float(sum(p * sign for (p, _), sign in zip(outcomes, signs, strict=True)))

    # --- reasons ---

    @cached_property
    def _terms(self) -> list[tuple[UtilityTerm, float]]:
        """Every term with its share: of a committee the mean."""
        how = self.task.preferences
        members = self.task.members if how is None or not self.view else (how.held_out[self.view - 1].utility,)
        return [(term, 1 / len(members)) for member in members for term in member.terms]

    @cached_property
    def _owner(self) -> dict[str, Concept]:
        """The statement that a concept is told by."""
        found: dict[str, Concept] = {}
        told = () if self.task.preferences is None else self.task.preferences.statements
        for statement in (one for one in told if not one.step):
            for text in (str(statement.concept), *statement.leaning):
                found.setdefault(text, statement.concept)
        return found

    def reasons(self, before: int, one: Outcomes, other: Outcomes, difference: float) -> list[dict[str, Any]]:
        """Why one step is worth so much more (or less) than another: statements, the most telling first."""
        parts: dict[tuple[Concept, str], float] = {}
        telling = self._telling(one, other)
        for concept, kind, adds in self._differences(before, one, other):
            owner = concept if kind else self._owner.get(str(concept), concept)
            owner = owner if kind or owner in telling else concept
            parts[owner, kind] = parts.get((owner, kind), 0.0) + adds
        found = [
            {"text": str(c), "english": self._english(c, kind), "kind": kind, "adds": float(adds)}
            for (c, kind), adds in sorted(parts.items(), key=lambda item: -abs(item[1]))
            if abs(adds) > max(SHOWN, LITTLE * abs(difference))
        ][:MOST_REASONS]
        rest = difference - sum(parts.values())
        if self.chooser is not None and abs(rest) > SHOWN:
            found.append({"text": "", "english": LATER, "kind": "later", "adds": float(rest)})
        return found

    def _telling(self, one: Outcomes, other: Outcomes) -> set[Concept]:
        """The statements that the two steps differ in: only these can be the reason."""
        said = list(dict.fromkeys(self._owner.values()))
        if not said:
            return set()
        terms = [UtilityTerm(concept, "linear", (), (1.0,)) for concept in said]
        both = [_expected(self.graph, terms, each, np.ones(len(each))) for each in (one, other)]
        return {c for c, a, b in zip(said, *both, strict=True) if abs(a - b) > SAME}

    def _english(self, concept: Concept, kind: str) -> str:
        pair = precedence(concept)
        if kind == "order" and pair is not None:
            return f"{english(pair[0], self.domain)} before {english(pair[1], self.domain)}"
        if is_about_steps(concept, self.domain):
            return not_done(concept, self.domain) if kind == "never" else english(concept, self.domain)
        return forbidden(concept, self.domain) if kind == "never" else english(concept, self.domain)

    def _differences(self, before: int, one: Outcomes, other: Outcomes) -> list[tuple[Concept, str, float]]:
        """By concepts and rules (kinds: "never", "order")."""
        found: list[tuple[Concept, str, float]] = []
        share = np.array([s for _, s in self._terms])
        terms = [term for term, _ in self._terms]
        both = [_expected(self.graph, terms, each, np.ones(len(each))) for each in (one, other)]
        found += [(t.concept, "", float(a)) for t, a in zip(terms, (both[0] - both[1]) * share, strict=True)]
        both = [_expected(self.graph, self._done, each, self._over(each)) for each in (one, other)]
        found += [(t.concept, "", float(a)) for t, a in zip(self._done, both[0] - both[1], strict=True)]
        if self._rules:
            concepts = [concept for concept, _, _ in self._rules]
            broken = self._entered(concepts, before, other) - self._entered(concepts, before, one)
            found += [(c, kind, s * float(b)) for (c, kind, s), b in zip(self._rules, broken, strict=True) if b]
        if self.chooser is not None and self.chooser.ranking.of_steps:
            mine, its = self.chooser.step_costs(before, [one, other])
            kinds = ["never"] * len(self.chooser.step_never) + ["first"] * len(self.chooser.step_first)
            every = zip(self.chooser.ranking.of_steps, kinds, its - mine, strict=True)
            found += [(concept, kind, float(adds)) for concept, kind, adds in every if adds]
        return found

    @cached_property
    def _done(self) -> list[UtilityTerm]:
        """What everybody ended with, which counts where the world ends the episode."""
        how = self.task.preferences
        if how is None or self.graph.has_goal or how.by_itself:
            return []
        return list((how.done if not self.view else how.held_out[self.view - 1].done).terms)

    def _over(self, outcomes: Outcomes) -> Floats:
        return np.array([float(self.graph.over(s)) if self._done else 0.0 for _, s in outcomes])

    def _entered(self, concepts: Sequence[Concept], before: int, outcomes: Outcomes) -> Floats:
        """Which truths a step risks to bring about (0 or 1 each)."""
        risked = [s for p, s in outcomes if p > RISK]
        values, _ = values_at(self.graph, Programs(self.domain)(concepts), [before, *risked])
        true = values > 0.5
        return np.asarray((true[1:] & ~true[0]).any(axis=0), np.float64)

    # --- for people ---

    def text(self, comparison: Comparison, index: int) -> str:
        if index == STOP:
            return "stop here"
        return action_text(self.graph.world, self.graph.action(comparison.actions[index]))

    def why(self, place: Place, action: Any = None, most: int = 4) -> dict[str, Any]:
        """What was done (None: to stop) beside the best of what was not, and why it is worth more or less."""
        found = self.compare(place)
        chosen = STOP if action is None else found.index(self.graph, place.state, action)
        others = [k for k in range(len(found.actions)) if k != chosen]
        if found.stop is not None and chosen != STOP:
            others.append(STOP)
        others.sort(key=lambda k: -found.value(k))
        value = None if chosen is None or (chosen == STOP and found.stop is None) else found.value(chosen)
        return {
            "possible": len(found.actions) + (found.stop is not None),
            "worth": value,
            "others": [
                {
                    "action": self.text(found, k),
                    "value": None if k == STOP else encode(self.graph.action(found.actions[k])),
                    "worth": found.value(k),
                    "less": None if value is None else value - found.value(k),
                    "because": [] if value is None else self._because(found, place, chosen, k),
                }
                for k in others[:most]
            ],
        }

    def _because(self, found: Comparison, place: Place, chosen: int | None, other: int) -> list[dict[str, Any]]:
        if chosen is None or STOP in (chosen, other):  # to stop is worth what holds, not what is added
            return []
        difference = found.value(chosen) - found.value(other)
        return self.reasons(place.state, found.outcomes[chosen], found.outcomes[other], difference)


def _expected(graph: StateGraph, terms: Sequence[UtilityTerm], outcomes: Outcomes, counts: Floats) -> Floats:
    """What each term is worth after a step, by expectation over the outcomes that count."""
    if not terms:
        return np.zeros(0)
    states = [s for _, s in outcomes]
    values, missing = values_at(graph, Programs(graph.domain)([t.concept for t in terms]), states)
    parts = features(terms, values, missing) * np.concatenate([t.weights for t in terms])
    first = np.cumsum([0, *(t.size for t in terms[:-1])])
    odds = np.array([p for p, _ in outcomes]) * counts
    return np.asarray(odds @ np.add.reduceat(parts, first, axis=1), np.float64)


def _merged(graph: StateGraph, state: int, action: Any) -> Outcomes:
    """What an action leads to, equal outcomes added up."""
    merged: dict[int, float] = {}
    for p, s in graph.outcomes_of(state, action):
        merged[s] = merged.get(s, 0.0) + p
    return tuple(sorted((round(p, 12), s) for s, p in merged.items() if p > 0))
