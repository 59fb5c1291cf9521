"""Demonstrations, replayed once: as plans in graphs, and as choices among what could have been done.

Demonstrations of the same problem share one graph; worlds are the same problem when they are equal or have equal
documents. Every demonstrated step is a choice, and so is stopping: possible and not done, and at the end done.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import LearningError
from meip.model.demonstrations import Plan, episodes_of, follow
from meip.model.domain import Domain
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import problem_key
from meip.model.world import Action, Open, offers

__all__ = ["Alternative", "Choices", "Replayed", "Walk", "alternatives", "choices", "replay_all"]

SEEDS = 7919  # between the worlds of one seed and those of the next


@dataclass(frozen=True)
class Walk:
    """A plan in a graph: the graph's number, the numbers of its states, and the actions between them."""

    graph: int
    states: tuple[int, ...]
    plan: Plan


@dataclass(frozen=True)
class Replayed:
    """All demonstrations: a graph for each problem, and a walk for each demonstration."""

    graphs: tuple[StateGraph, ...]
    walks: tuple[Walk, ...]
    proposal: dict[str, Any] | None = None
    """Which actions to bring up when planning, where a world has more than it can list (`Open`)."""

    @property
    def domain(self) -> Domain:
        return self.graphs[0].domain

    def widened(self, seed: int = 0) -> Replayed:
        """The same in worlds that list alternatives to what was shown, where they have more than they can list.

        Each demonstration gets a world of its own, which lists also what nobody would do (drawn with the seed): what
        was never seen cannot be learned to be worse. Else everything stays as it is.
        """
        first = self.graphs[0].world
        if not offers(first, Open):
            return self
        proposal = first.learn_proposal([walk.plan for walk in self.walks])
        graphs: list[StateGraph] = []
        walks: list[Walk] = []
        for number, walk in enumerate(self.walks):
            world: Any = self.graphs[walk.graph].world
            graph = state_graph(world.with_proposal(proposal, alternatives=True, seed=SEEDS * seed + number))
            graphs.append(graph)
            walks.append(Walk(number, tuple(graph.intern(s) for s in walk.plan.states), walk.plan))
        return Replayed(tuple(graphs), tuple(walks), proposal)


def replay_all(given: Iterable[Any]) -> Replayed:
    """Replay every demonstration once; an illegal step is named with its place. `given`: see `episodes_of`."""
    episodes = episodes_of(given)
    if not episodes:
        raise LearningError("there are no demonstrations to learn from: give at least one")
    graphs: list[StateGraph] = []
    known: dict[Any, int] = {}
    walks: list[Walk] = []
    for number, episode in enumerate(episodes, start=1):
        key = problem_key(episode.world)
        if key not in known:
            known[key] = len(graphs)
            graphs.append(state_graph(episode.world))
        graph = graphs[known[key]]
        _check_domain(graph, graphs[0], number)
        shown, where = episode.demonstration, episode.where or f"demonstration {number}"
        if isinstance(shown, Plan):
            walk = Walk(known[key], tuple(graph.intern(s) for s in shown.states), shown)
        else:
            plan, states = follow(graph, shown, where=where, whole=True)
            walk = Walk(known[key], states, plan)
        walks.append(walk)
    if all(len(walk.states) == 1 for walk in walks):
        raise LearningError(
            f"there is nothing to learn from: none of the demonstrations ({len(walks)}) has a step; give at least one "
            "that has"
        )
    return Replayed(tuple(graphs), tuple(walks))


def _check_domain(graph: StateGraph, first: StateGraph, number: int) -> None:
    if graph.domain != first.domain:
        raise LearningError(
            f"demonstration {number} is in domain {graph.domain.name!r}, the first one in {first.domain.name!r}: what "
            "is learned is about one domain"
        )


class Alternative(NamedTuple):
    """Something that could have been done: all actions with the same outcomes, or to stop."""

    moves: tuple[int, ...]
    """The actions' numbers in the graph; none for stopping, and for what the world does not list."""
    outcomes: tuple[tuple[float, int], ...]
    mass: float
    """P0: actions with the same outcomes count once, and to stop as one of them."""
    shown: bool
    stop: bool = False


def alternatives(graph: StateGraph, state: int, action: Action | None = None) -> list[Alternative]:
    """What could be done in a state where this action was shown, or, without one, where somebody stopped.

    Where the goal ended the episode, what could have been done nevertheless, if the world knows (`GoesOn`).
    """
    found: dict[tuple[tuple[float, int], ...], list[int]] = {}
    done: tuple[tuple[float, int], ...] | None = None
    for move in graph.action_numbers(state):
        outcomes = _sorted(graph.outcomes(move))
        found.setdefault(outcomes, []).append(move)
        if action is not None and graph.action(move) == action:
            done = outcomes
    extra = [_sorted([(1.0, number)]) for number in graph.onward(state)] if action is None else []
    if action is not None and done is None:
        done = _sorted(graph.outcomes_of(state, action))
        extra = [done]
    for outcomes in extra:
        found.setdefault(outcomes, [])
    mass = 1 / (len(found) + 1)
    listed = [Alternative(tuple(m), o, mass, o == done) for o, m in found.items()]
    return [*listed, Alternative((), ((1.0, state),), mass, action is None, stop=True)]


def _sorted(outcomes: Sequence[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted((round(p, 12), s) for p, s in outcomes))


class Choices(NamedTuple):
    """All demonstrations as arrays: C choices with N alternatives; those of choice c are first[c]:first[c + 1]."""

    walk: Ints  # [C] the demonstration
    state: Ints  # [C] in the graph of the walk
    first: Ints  # [C + 1]
    mass: Floats  # [N] P0
    shown: Bools  # [N]
    stop: Bools  # [N]
    outcomes: tuple[tuple[tuple[float, int], ...], ...]  # [N] probabilities, and states of the graph


def choices(replayed: Replayed) -> Choices:
    """Every demonstrated step with what else could have been done, and the stop at the end."""
    rows = []
    for number, walk in enumerate(replayed.walks):
        graph = replayed.graphs[walk.graph]
        for state, action in zip(walk.states, (*walk.plan.actions, None), strict=True):
            rows.append((number, state, alternatives(graph, state, action)))
    flat = [one for _, _, found in rows for one in found]
    return Choices(
        np.array([walk for walk, _, _ in rows], np.int64),
        np.array([state for _, state, _ in rows], np.int64),
        np.cumsum([0, *(len(found) for _, _, found in rows)]).astype(np.int64),
        np.array([one.mass for one in flat], np.float64),
        np.array([one.shown for one in flat], np.bool_),
        np.array([one.stop for one in flat], np.bool_),
        tuple(one.outcomes for one in flat),
    )
