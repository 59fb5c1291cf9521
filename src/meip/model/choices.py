"""Demonstrations, replayed once: as plans in graphs, and as choices among what could have been done.

Demonstrations of the same problem share one graph; worlds are the same problem when they are equal or have equal
documents. Every demonstrated step is a choice, and so is stopping: possible and not done, and at the end done.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Bools, Floats, Ints
from meip.base.errors import DemonstrationError, LearningError
from meip.model.demonstrations import Correction, Plan, episodes_of, follow
from meip.model.domain import Domain
from meip.model.graph import StateGraph, state_graph
from meip.model.problems import problem_key
from meip.model.world import Action, Open, encode, offers

__all__ = ["Alternative", "Choices", "Corrected", "Replayed", "Walk", "alternatives", "choices", "replay_all"]

SEEDS = 7919  # between the worlds of one seed and those of the next


@dataclass(frozen=True)
class Walk:
    """A plan in a graph: the graph's number, the numbers of its states, and the actions between them."""

    graph: int
    states: tuple[int, ...]
    plan: Plan


@dataclass(frozen=True)
class Corrected:
    """A step of a plan that was wrong: the plan up to there, what is right, and what was done."""

    walk: Walk
    """Up to the state in which the step is corrected, without it."""
    right: Action | None
    """None: to stop."""
    rejected: Action | None
    """None: it stopped."""
    outcome: int
    """The state after the right step."""

    @property
    def state(self) -> int:
        return self.walk.states[-1]


@dataclass(frozen=True)
class Replayed:
    """All demonstrations: a graph for each problem, and a walk for each demonstration."""

    graphs: tuple[StateGraph, ...]
    walks: tuple[Walk, ...]
    corrections: tuple[Corrected, ...] = ()
    """They are not among the walks."""
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
        for number, walk in enumerate((*self.walks, *(one.walk for one in self.corrections))):
            world: Any = self.graphs[walk.graph].world
            graph = state_graph(world.with_proposal(proposal, alternatives=True, seed=SEEDS * seed + number))
            graphs.append(graph)
            walks.append(Walk(number, tuple(graph.intern(s) for s in walk.plan.states), walk.plan))
        whole = len(self.walks)
        corrections = tuple(
            dataclasses.replace(
                one, walk=walk, outcome=graphs[walk.graph].intern(self.graphs[one.walk.graph].states[one.outcome])
            )
            for one, walk in zip(self.corrections, walks[whole:], strict=True)
        )
        return Replayed(tuple(graphs), tuple(walks[:whole]), corrections, proposal)


def replay_all(given: Iterable[Any], tell: Callable[[int, int], None] | None = None) -> Replayed:
    """Replay every demonstration once; an illegal step is named with its place. `given`: see `episodes_of`; `tell`
    hears how many of all are replayed."""
    episodes = episodes_of(given)
    if not episodes:
        raise LearningError("there are no demonstrations to learn from: give at least one")
    graphs: list[StateGraph] = []
    known: dict[Any, int] = {}
    walks: list[Walk] = []
    corrections: list[Corrected] = []
    for number, episode in enumerate(episodes, start=1):
        if tell is not None:
            tell(number - 1, len(episodes))
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
            if shown.corrects is not None:
                corrections.append(_corrected(graph, walk, shown.corrects, where))
                continue
        walks.append(walk)
    if not walks:
        raise LearningError(
            "there are only corrections to learn from: they say what one step should have been, so give the "
            "demonstrations of the task as well"
        )
    if all(len(walk.states) == 1 for walk in walks):
        raise LearningError(
            f"there is nothing to learn from: none of the demonstrations ({len(walks)}) has a step; give at least one "
            "that has"
        )
    return Replayed(tuple(graphs), tuple(walks), tuple(corrections))


def _corrected(graph: StateGraph, walk: Walk, correction: Correction, where: str) -> Corrected:
    """A correction, replayed: the rejected step, too, must have been possible there."""
    plan, states, right = walk.plan, walk.states, None
    if not correction.stop:
        right = plan.actions[-1]
        states = states[:-1]
        plan = dataclasses.replace(
            plan,
            states=plan.states[:-1],
            actions=plan.actions[:-1],
            outcomes=plan.outcomes[:-1],
            probabilities=plan.probabilities[:-1],
            chance_failures=plan.chance_failures[:-1],
        )
    rejected = None
    if correction.rejected is not None:
        numbers = graph.action_numbers(states[-1])
        found = [a for a in map(graph.action, numbers) if encode(a) == correction.rejected]
        rejected = found[0] if found else graph.decoded(correction.rejected)
        if rejected is None:
            raise DemonstrationError(f"{where}: what was rejected, {correction.rejected!r}, is not possible there")
    return Corrected(Walk(walk.graph, states, plan), right, rejected, walk.states[-1])


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


def alternatives(
    graph: StateGraph, state: int, action: Action | None = None, also: Action | None = None
) -> list[Alternative]:
    """What could be done in a state where this action was shown, or, without one, where somebody stopped; `also` what
    the world may not list.

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
    if also is not None:
        extra = [*extra, _sorted(graph.outcomes_of(state, also))]
    for outcomes in extra:
        found.setdefault(outcomes, [])
    mass = 1 / (len(found) + 1)
    listed = [Alternative(tuple(m), o, mass, o == done) for o, m in found.items()]
    return [*listed, Alternative((), ((1.0, state),), mass, action is None, stop=True)]


def _sorted(outcomes: Sequence[tuple[float, int]]) -> tuple[tuple[float, int], ...]:
    return tuple(sorted((round(p, 12), s) for p, s in outcomes))


def _rejected(graph: StateGraph, one: Corrected) -> tuple[list[Alternative], Alternative | None]:
    """What could have been done instead of a wrong step, and that step; None where it comes to the same."""
    listed = alternatives(graph, one.state, one.right, one.rejected)
    done = None if one.rejected is None else _sorted(graph.outcomes_of(one.state, one.rejected))
    found = [each for each in listed if (each.stop if done is None else not each.stop and each.outcomes == done)]
    return listed, None if found[0].shown else found[0]


class Choices(NamedTuple):
    """All demonstrations as arrays: C choices with N alternatives; those of choice c are first[c]:first[c + 1]."""

    walk: Ints  # [C] the demonstration; after all of them, the corrections
    state: Ints  # [C] in the graph of the walk
    first: Ints  # [C + 1]
    mass: Floats  # [N] P0
    shown: Bools  # [N]
    stop: Bools  # [N]
    rejected: Bools  # [N] what a plan did instead
    outcomes: tuple[tuple[tuple[float, int], ...], ...]  # [N] probabilities, and states of the graph


def choices(replayed: Replayed) -> Choices:
    """Every demonstrated step with what else could have been done, and the stop at the end.

    Then every correction, as two choices: the right step among all that could have been done, and rather than what the
    plan did. Only the second is known for sure: others may have been as good as the right one.
    """
    rows = []
    for number, walk in enumerate(replayed.walks):
        graph = replayed.graphs[walk.graph]
        for state, action in zip(walk.states, (*walk.plan.actions, None), strict=True):
            rows.append((number, state, alternatives(graph, state, action)))
    rejected = [False] * sum(len(found) for _, _, found in rows)
    for number, one in enumerate(replayed.corrections, start=len(replayed.walks)):
        listed, wrong = _rejected(replayed.graphs[one.walk.graph], one)
        rows.append((number, one.state, listed))
        rejected += [False] * len(listed)
        if wrong is not None:
            right = next(each for each in listed if each.shown)
            rows.append((number, one.state, [right, wrong]))
            rejected += [False, True]
    flat = [one for _, _, found in rows for one in found]
    return Choices(
        np.array([walk for walk, _, _ in rows], np.int64),
        np.array([state for _, state, _ in rows], np.int64),
        np.cumsum([0, *(len(found) for _, _, found in rows)]).astype(np.int64),
        np.array([one.mass for one in flat], np.float64),
        np.array([one.shown for one in flat], np.bool_),
        np.array([one.stop for one in flat], np.bool_),
        np.array(rejected, np.bool_),
        tuple(one.outcomes for one in flat),
    )
