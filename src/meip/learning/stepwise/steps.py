"""Demonstrated steps with their alternatives: what the stepwise regime learns from.

Each step of a demonstration is a choice among the actions that were possible; where chance has a say, an action stands
for the mean over its outcomes. States of all problems are numbered in one batch, so that a concept is one column.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from meip.base.errors import LearningError
from meip.concepts.values.denotation import Denotation
from meip.learning.stepwise.combined import combine
from meip.learning.stepwise.needed import needed, next_state
from meip.model.choices import Alternative, Replayed, alternatives, replay_all
from meip.model.demonstrations import Episode, Plan
from meip.model.domain import Domain, FactBlock
from meip.model.graph import StateGraph

__all__ = ["Choice", "Demonstrated", "Steps"]

ALTERNATIVES = 4000  # in all; long demonstrations in large worlds are thinned out to this
REACH = 40  # how far ahead an action is looked for that could have come first
HINGE_STATES = 60  # states of one demonstration that are compared in pairs


@dataclass
class Choice:
    """One demonstrated step: the state, the actions that were possible, and which were right."""

    state: int
    outcomes: list[list[tuple[float, int]]]
    """For each action, probabilities and states (of the graph, later of the batch)."""
    shown: int
    """The demonstrated action."""
    also: list[int] = field(default_factory=list)
    """Later actions of the plan that could have come first, with everything between them unchanged."""
    free: bool = False
    """Are these as right as the shown one, whatever the model? (What the other of two interleaved plans would do.)"""


@dataclass
class Demonstrated:
    """One demonstration: its problem, its choices, and the states that are compared in pairs."""

    graph: StateGraph
    problem: int
    """The number of its graph."""
    parts: frozenset[int]
    """The problems it is about: its own, or the two that were joined."""
    choices: list[Choice]
    states: list[int]
    """Of the batch, in order of time."""
    steps: int


class Steps:
    """The choices of all demonstrations, and the states they are about in one batch.

    In worlds with a goal a demonstration can be read in two ways: as it was shown, or with only the steps that the
    goal needs. `readings` has the demonstrations by each; the second only where it differs and `only_needed` is not
    False. `pairs`: so many pairs of problems are joined to larger ones as well, where the world knows how to.
    """

    def __init__(
        self,
        episodes: Sequence[Episode] | Replayed,
        seed: int = 0,
        alternatives: int = ALTERNATIVES,
        only_needed: bool | None = None,
        pairs: int = 0,
    ) -> None:
        given = episodes if isinstance(episodes, Replayed) else replay_all(episodes)
        self.graphs: list[StateGraph] = list(given.graphs)
        shown, own = [walk.plan for walk in given.walks], [walk.graph for walk in given.walks]
        short = shown if only_needed is False else [needed(self.graphs[k], p) for p, k in zip(shown, own, strict=True)]
        self.left_out = sum(len(a.actions) - len(b.actions) for a, b in zip(shown, short, strict=True))
        plans = {"shown": shown, "needed": short} if self.left_out else {"shown": shown}
        if only_needed:
            plans = {"needed": short}
        self.joined = 0
        self.readings = {
            name: self._choose(read, own, pairs, alternatives, np.random.default_rng([seed, 17]))
            for name, read in plans.items()
        }
        if not any(d.choices for read in self.readings.values() for d in read):
            raise LearningError("no demonstration has a step: there is nothing to learn from plans of one state")
        self.blocks = self._number()
        self.states = sum(len(b.states) for b in self.blocks)

    def _choose(
        self, plans: Sequence[Plan], own: Sequence[int], pairs: int, alternatives: int, rng: np.random.Generator
    ) -> list[Demonstrated]:
        """The choices of each plan, and of pairs of them in joined problems."""
        joined = combine([self.graphs[p] for p in own], plans, pairs, rng) if pairs else []
        self.joined = len(joined)
        budget = alternatives // (len(plans) + len(joined))
        found = [
            _demonstrated(self.graphs[problem], problem, {problem}, plan, budget, rng)
            for plan, problem in zip(plans, own, strict=True)
        ]
        for pair in joined:
            self.graphs.append(pair.graph)
            parts = {own[part] for part in pair.parts}
            found.append(_demonstrated(pair.graph, len(self.graphs) - 1, parts, pair.plan, budget, rng, pair.also))
        return found

    @property
    def domain(self) -> Domain:
        return self.graphs[0].domain

    def denotation(self) -> Denotation:
        """An evaluator of concepts over the batch."""
        return Denotation(self.domain, self.blocks)

    def _number(self) -> list[FactBlock]:
        """Number the states of interest in one batch, problem by problem."""
        blocks: list[FactBlock] = []
        size = 0
        self.problem_of: list[int] = []
        self.numbers: list[int] = []  # of each state in its graph
        for number, graph in enumerate(self.graphs):
            place: dict[int, int] = {}
            for shown in (d for read in self.readings.values() for d in read):
                if shown.problem == number:
                    _renumber(shown, place, size)
            blocks += [dataclasses.replace(b, states=b.states + size) for b in graph.facts(list(place))]
            size += len(place)
            self.problem_of += [number] * len(place)
            self.numbers += place
        return blocks


def _renumber(shown: Demonstrated, place: dict[int, int], offset: int) -> None:
    def at(state: int) -> int:
        return offset + place.setdefault(state, len(place))

    shown.states = [at(s) for s in shown.states]
    for choice in shown.choices:
        choice.state = at(choice.state)
        choice.outcomes = [[(p, at(s)) for p, s in outcomes] for outcomes in choice.outcomes]


def _demonstrated(
    graph: StateGraph, problem: int, parts: set[int], plan: Plan, budget: int, rng: np.random.Generator, also:
    Sequence[Sequence[Hashable]] | None = None,
) -> Demonstrated:  # fmt: skip
    states = [graph.intern(s) for s in plan.states]
    order = list(range(len(states) - 1))
    if len(order) > 8:
        order = [int(t) for t in rng.permutation(order)]
    chosen: dict[int, Choice] = {}
    spent = 0
    for t in order:
        if spent >= budget:
            break
        choice = _choice(graph, plan, states, t, None if also is None else also[t])
        spent += len(choice.outcomes)
        chosen[t] = choice
    choices = [chosen[t] for t in sorted(chosen)] + _stopping(graph, states[-1])
    kept = np.unique(np.linspace(0, len(states) - 1, min(len(states), HINGE_STATES)).astype(np.int64))
    return Demonstrated(graph, problem, frozenset(parts), choices, [states[i] for i in kept], len(states) - 1)


def _stopping(graph: StateGraph, last: int) -> list[Choice]:
    """Where the goal was reached, to stop was a choice among what else could have been done."""
    found = alternatives(graph, last) if graph.goal(last) else []
    return [_chosen(last, found)] if len(found) > 1 else []


def _chosen(state: int, found: Sequence[Alternative]) -> Choice:
    return Choice(state, [list(one.outcomes) for one in found], [one.shown for one in found].index(True))


def _choice(
    graph: StateGraph, plan: Plan, states: Sequence[int], t: int, also: Sequence[Hashable] | None = None
) -> Choice:
    found = [one for one in alternatives(graph, states[t], plan.actions[t]) if not one.stop]
    choice = _chosen(states[t], found)
    place: dict[Hashable, int] = {graph.action(move): k for k, one in enumerate(found) for move in one.moves}
    if also is not None:
        choice.also, choice.free = [place[action] for action in also], True
        return choice
    choice.also = [k for k in _could_come_first(graph, plan, states, t, place) if k != choice.shown]
    return choice


def _could_come_first(
    graph: StateGraph, plan: Plan, states: Sequence[int], t: int, place: Mapping[Hashable, int]
) -> list[int]:
    """Alternatives at t by later actions of the plan that commute with all steps before them."""
    found = []
    seen: set[Hashable] = set()
    for later in range(t + 1, min(len(plan.actions), t + 1 + REACH)):
        action = plan.actions[later]
        if action in place and action not in seen and _commutes(graph, plan, states, t, later):
            found.append(place[action])
        seen.add(action)
    return found


def _commutes(graph: StateGraph, plan: Plan, states: Sequence[int], t: int, later: int) -> bool:
    """Does the plan with the later action moved to t go through legal steps to the same state?"""
    state = next_state(graph, states[t], plan.actions[later])
    for k in range(t, later):
        if state is None:
            return False
        state = next_state(graph, state, plan.actions[k])
    return state == states[later + 1]
