"""Demonstrations, replayed once: as plans in graphs, and as choices among what could have been done.

Demonstrations of the same problem share one graph; worlds are the same problem when they are equal or have equal
documents. Every demonstrated step is a choice, and so is stopping: possible and not done, and at the end done.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import LearningError
from meip.model.demonstrations import Episode, Plan, follow
from meip.model.domain import Domain
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import problem_key
from meip.model.world import Open, offers

__all__ = ["STOP", "Choices", "Replayed", "Walk", "choices", "replay_all"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
STOP = -1
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


def replay_all(episodes: Sequence[Episode]) -> Replayed:
    """Replay every demonstration once; an illegal step is named with its place."""
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
        given, where = episode.demonstration, episode.where or f"demonstration {number}"
        if isinstance(given, Plan):
            walk = Walk(known[key], tuple(graph.intern(s) for s in given.states), given)
        else:
            plan, states = follow(graph, given, where=where, whole=True)
            walk = Walk(known[key], states, plan)
        walks.append(walk)
    return Replayed(tuple(graphs), tuple(walks))


def _check_domain(graph: StateGraph, first: StateGraph, number: int) -> None:
    if graph.domain != first.domain:
        raise LearningError(
            f"demonstration {number} is in domain {graph.domain.name!r}, the first one in {first.domain.name!r}: what "
            "is learned is about one domain"
        )


class Choices(NamedTuple):
    """C choices with N alternatives in all; those of choice c are first[c]:first[c + 1]."""

    walk: Ints  # [C] the demonstration
    state: Ints  # [C] in the graph of the walk
    first: Ints  # [C + 1]
    move: (
        Ints  # [N] number of an action of the graph; STOP, to stop; below that, an action that the world does not list
    )
    mass: Floats  # [N] P0: the share of the actions with the same outcomes; of stopping, that of any one action
    shown: Bools  # [N]
    outcomes: tuple[tuple[tuple[float, int], ...], ...]  # [N] probabilities and states that it may lead to


def choices(replayed: Replayed) -> Choices:
    """Every demonstrated step with what else could have been done; actions with equal outcomes are one alternative."""
    rows: list[tuple[int, int, list[_Alternative]]] = []
    for number, walk in enumerate(replayed.walks):
        graph = replayed.graphs[walk.graph]
        for t, state in enumerate(walk.states):
            last = t == len(walk.states) - 1
            rows.append((number, state, _alternatives(graph, walk, t, last)))
    sizes = [len(found) for _, _, found in rows]
    flat = [one for _, _, found in rows for one in found]
    return Choices(
        np.array([walk for walk, _, _ in rows], np.int64),
        np.array([state for _, state, _ in rows], np.int64),
        np.cumsum([0, *sizes]).astype(np.int64),
        np.array([one.move for one in flat], np.int64),
        np.array([one.mass for one in flat], np.float64),
        np.array([one.shown for one in flat], np.bool_),
        tuple(one.outcomes for one in flat),
    )


class _Alternative(NamedTuple):
    move: int
    mass: float
    shown: bool
    outcomes: tuple[tuple[float, int], ...]


def _alternatives(graph: StateGraph, walk: Walk, t: int, last: bool) -> list[_Alternative]:
    """What could be done at step t; where the goal ended the episode, what could have been done nevertheless."""
    state, action = walk.states[t], None if last else walk.plan.actions[t]
    merged: dict[tuple[tuple[float, int], ...], list[int]] = {}
    done: tuple[tuple[float, int], ...] | None = None
    for move in graph.action_numbers(state):
        outcomes = tuple(sorted((round(p, 12), s) for p, s in graph.outcomes(move)))
        merged.setdefault(outcomes, []).append(move)
        if not last and graph.action(move) == action:
            done = outcomes
    if last:
        for number in graph.onward(state):
            merged.setdefault(((1.0, number),), []).append(STOP - 1)
    elif done is None:  # a move that the world does not list by itself
        done = tuple(sorted((round(p, 12), s) for p, s in graph.outcomes_of(state, action)))
        merged.setdefault(done, []).append(STOP - 1)
    total = sum(map(len, merged.values())) + 1
    found = [_Alternative(m[0], len(m) / total, outcomes == done, outcomes) for outcomes, m in merged.items()]
    return [*found, _Alternative(STOP, 1 / total, last, ((1.0, state),))]
