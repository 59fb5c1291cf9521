"""ShownPlans: replayed demonstrations as state numbers and rows, ready to be compared with other plans.

Demonstrations of the same problem share one graph. A *case* is a problem with one initial state: plans are only ever
compared within a case, and each case has its own log Z. Rows of feature matrices run over the states of all graphs
that are of interest: demonstrated ones, those of pools, and alternatives to a demonstrated step.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.concepts.language import Concept
from meip.concepts.values.columns import GraphColumns, Programs
from meip.model.choices import Replayed, Walk, replay_all
from meip.model.demonstrations import Episode, Plan
from meip.model.domain import Domain
from meip.model.graph import StateGraph
from meip.search.plans import enumerate_plans, history_count, roll_out

__all__ = ["Case", "ChanceFailures", "Shown", "ShownPlans"]

ChanceFailures = Literal["non-modal", "marked", "none"]
UNMEANT = -30.0  # log share of what happened where that cannot have been meant: it says nothing about what is wanted
FEW = 10
COMPLETIONS = 200  # continuations of an outcome that did not happen: listed up to here, else sampled


@dataclass(frozen=True)
class Shown:
    """A demonstration as the learner sees it: the plans that it may stand for, the recorded one first.

    There is one, unless chance intervened: then what else the demonstrator's action could have led to counts as well,
    with its probability; and instead of it, where what happened cannot have been meant.
    """

    plans: tuple[tuple[int, ...], ...]
    log_share: tuple[float, ...]
    actions: tuple[Any, ...]
    """Those of the recorded plan."""
    clean: int
    """How many states of the recorded plan precede the first chance failure: what came by intention."""

    @property
    def states(self) -> tuple[int, ...]:
        return self.plans[0]

    @property
    def intended(self) -> tuple[int, ...]:
        return self.plans[0][: self.clean]


@dataclass
class Case:
    """One problem from one initial state, with what was shown there."""

    graph: int
    start: int
    horizon: int
    shown: list[Shown] = field(default_factory=list)


class ShownPlans:
    """Episodes grouped into graphs and cases."""

    def __init__(
        self, episodes: Sequence[Episode] | Replayed, *, chance_failures: ChanceFailures = "non-modal", seed: int = 0
    ) -> None:
        given = episodes if isinstance(episodes, Replayed) else replay_all(episodes)
        self.graphs: list[StateGraph] = list(given.graphs)
        self.cases: list[Case] = []
        self._chancy = any(min(walk.plan.probabilities, default=1.0) < 1.0 for walk in given.walks)
        cases: dict[tuple[int, int], Case] = {}
        for number, walk in enumerate(given.walks, start=1):
            graph = self.graphs[walk.graph]
            shown = _shown(graph, walk, number, chance_failures, seed)
            case = cases.get((walk.graph, shown.states[0]))
            if case is None:
                case = cases[walk.graph, shown.states[0]] = Case(walk.graph, shown.states[0], graph.horizon)
                self.cases.append(case)
            case.shown.append(shown)
        for case in self.cases:
            case.horizon = _case_horizon(self.graphs[case.graph], case)
        programs = Programs(self.domain)
        self._tracked = [GraphColumns(graph, everything=False, programs=programs) for graph in self.graphs]
        self._demonstrated: tuple[tuple[int, ...], list[NDArray[np.int64]]] | None = None
        for case, shown in self.shown:
            self._tracked[case.graph].rows(np.array(shown.states, np.int64))

    @property
    def domain(self) -> Domain:
        return self.graphs[0].domain

    @property
    def shown(self) -> list[tuple[Case, Shown]]:
        """Every demonstration with its case."""
        return [(case, shown) for case in self.cases for shown in case.shown]

    @property
    def chancy(self) -> bool:
        """Could some demonstrated step have led elsewhere?"""
        return self._chancy

    def set_aside(self, numbers: Collection[int]) -> None:
        """Leave out demonstrations, by their place in `shown`, as if they had not been given."""
        kept = [pair for k, pair in enumerate(self.shown) if k not in numbers]
        for case in self.cases:
            case.shown = [shown for of, shown in kept if of is case]
        self._demonstrated = None

    def track(self, graph: int, states: NDArray[np.int64]) -> None:
        """These states will be asked for: give them rows. Rows given before move when an earlier graph gets more."""
        self._tracked[graph].rows(states)

    def rows(self, graph: int, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of states of a graph, which must be tracked; -1 (padding) stays -1."""
        offset = sum(len(columns) for columns in self._tracked[:graph])
        found = self._tracked[graph].rows(states)
        return np.where(found >= 0, found + offset, -1)

    @property
    def row_count(self) -> int:
        """How many states have rows."""
        return sum(len(columns) for columns in self._tracked)

    def matrix(self, concepts: Sequence[Concept]) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Values and missing marks [rows, K] over the tracked states of all graphs."""
        parts = [columns.matrix(concepts) for columns in self._tracked]
        return np.concatenate([values for values, _ in parts]), np.concatenate([missing for _, missing in parts])

    def demonstrated_rows(self) -> list[NDArray[np.int64]]:
        """The rows of each demonstration's intended states."""
        sizes = (*(len(columns) for columns in self._tracked), len(self.shown))
        if self._demonstrated is None or self._demonstrated[0] != sizes:  # rows move when more states are tracked
            rows = [self.rows(case.graph, np.array(shown.intended, np.int64)) for case, shown in self.shown]
            self._demonstrated = (sizes, rows)
        return self._demonstrated[1]


def _shown(graph: StateGraph, walk: Walk, number: int, rule: ChanceFailures, seed: int) -> Shown:
    plan, states = walk.plan, walk.states
    plans, shares = [states], [0.0]
    happened = 0.0  # log probability of the chance failures so far
    first: int | None = None
    for t in range(len(plan.actions)):
        rising = _rising(graph, plan, states[t], t, seed) if rule == "non-modal" else {}
        if not _failed(graph, plan, states, t, rule, rising):
            continue
        first = t if first is None else first
        hopeless = bool(rising) and any(rising.values()) and not rising[states[t + 1]]
        for probability, other in graph.outcomes_of(states[t], plan.actions[t]):
            if other == states[t + 1] or probability <= 0 or (hopeless and not rising[other]):
                continue
            for tail, log_share in _completions(graph, other, graph.horizon - t - 1, seed + 7919 * number + t):
                plans.append(states[: t + 1] + tail)
                shares.append(happened + np.log(probability) + log_share)
        happened += UNMEANT if hopeless else float(np.log(plan.probabilities[t]))
    shares[0] = happened
    return Shown(tuple(plans), tuple(shares), plan.actions, len(states) if first is None else first + 1)


def _failed(
    graph: StateGraph, plan: Plan, states: Sequence[int], t: int, rule: ChanceFailures, rising: dict[int, bool]
) -> bool:
    """Was the outcome of a step not what its action was for?

    A rare outcome may be an accident, or what was hoped for. Demonstrations are to rise all along, and no utility lets
    a plan rise that returns to a state. So what was meant is an outcome from which a plan can go on without returning;
    of those the likeliest.
    """
    if rule == "none":
        return False
    if plan.chance_failures[t] or rule == "marked":
        return bool(plan.chance_failures[t])
    if not rising:
        return False
    best = max((rising[s], p) for p, s in graph.outcomes_of(states[t], plan.actions[t]) if p > 0)
    return (rising[states[t + 1]], plan.probabilities[t]) < (best[0], best[1] - 1e-9)


def _rising(graph: StateGraph, plan: Plan, state: int, t: int, seed: int) -> dict[int, bool]:
    """For each outcome of a step that might have gone otherwise: can one go on without coming back to a state?"""
    outcomes = [s for p, s in graph.outcomes_of(state, plan.actions[t]) if p > 0]
    if len(set(outcomes)) == 1:
        return {}
    found = {}
    for start in outcomes:
        found[start] = any(
            state not in tail and len(set(tail)) == len(tail)
            for count in (FEW, COMPLETIONS)  # mostly one of the first does
            for tail, _ in _completions(graph, start, graph.horizon - t - 1, seed, count)
        )
    return found


def _completions(
    graph: StateGraph, start: int, length: int, seed: int, count: int = COMPLETIONS
) -> list[tuple[tuple[int, ...], float]]:
    """How an outcome that did not happen might have gone on, under P0: all ways, or so many samples of too many."""
    if length <= 1:
        return [((start,), 0.0)]
    if history_count(graph, start, length, COMPLETIONS) <= COMPLETIONS:
        plans = enumerate_plans(graph, start, length, COMPLETIONS)
        return [(plans.plan(i), float(plans.log_base[i])) for i in range(len(plans))]
    plans = roll_out(graph, start, length, count, seed)
    return [(plans.plan(i), -float(np.log(count))) for i in range(len(plans))]


def _case_horizon(graph: StateGraph, case: Case) -> int:
    """The world's horizon where it ended the episodes; the longest demonstration where people stopped by themselves."""
    longest = max(len(shown.states) for shown in case.shown)
    stopped = any(
        len(shown.states) < graph.horizon and len(graph.action_numbers(shown.states[-1])) > 0 for shown in case.shown
    )
    return longest if stopped else graph.horizon
