"""Best-first search over single states, each action with its likeliest outcome. With a cost of the path it is A*."""

from __future__ import annotations

import dataclasses
import heapq
import math
from collections.abc import Sequence
from itertools import repeat

import numpy as np

from meip.model.graph import StateGraph
from meip.search import greedy
from meip.search.greedy import EXPANSIONS, PlateauPenalty, by_falling
from meip.search.query import Clock, Found, Query
from meip.utility.ranking import Ranking

__all__ = ["best_first", "search"]

TIES = 2  # successors of one state with equal utility that are kept; more only widen plateaus
TIE = 1e-9
EXPANDED = 1.0  # how fast values that were expanded lose
ROUND = 9
AHEAD = 15  # open states that A* expands along with the best one, since it will most likely need them
Came = tuple[int, int, int]  # how a state was reached: its parent, the action, and the steps to it


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """Greedy best-first search; with the last half of the expansions a greedy walk, where it has not got there.

    Best-first search goes back whenever a step down is needed; a walk takes it.
    """
    most = query.iterations or EXPANSIONS
    found = best_first(graph, ranking, history, query.changed(iterations=max(1, most - most // 2)))
    left = None if query.seconds is None else query.seconds - found.seconds
    if found.stopped_by in ("goal", "seconds", "memory", "cancelled") or most == 1 or (left is not None and left <= 0):
        return found
    rest = query.changed(iterations=most - found.expansions, seconds=left)
    walk = greedy.search(graph, ranking, history, rest) if graph.has_goal and most > found.expansions else found
    better = walk if walk.stopped_by == "goal" else found
    expansions = found.expansions + (walk.expansions if walk is not found else 0)
    return dataclasses.replace(
        better, expansions=expansions, seconds=found.seconds + (walk.seconds if walk is not found else 0), method="gbfs"
    )


def best_first(
    graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query, *, path: float = 0.0, ties: int = TIES
) -> Found:
    """Expand the state with the best value, less `path` times the steps to it, until the goal or a limit.

    `path=0`: each state is opened once, of a parent's successors with equal value at most `ties` (0: all), and values
    that were expanded before lose, so that a plateau does not hold the search up. `path=1` with values of minus the
    steps that are left is A*: a state is opened again where a shorter way is found, and where the estimate is never
    too high the plan is a shortest one. States of value -inf are dead ends. Without a goal: the best state seen.
    """
    return _Search(graph, ranking, history, query, path, ties).run()


class _Search:
    """What is open, how states were reached, and the limits."""

    def __init__(
        self, graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query, path: float, ties: int
    ) -> None:
        self.graph, self.ranking, self.history, self.path, self.ties = graph, ranking, history, path, ties
        self.longest = query.length(graph, history) - len(history)
        self.clock = Clock(query, graph, EXPANSIONS)
        self.rng = np.random.default_rng([query.seed, 3])
        self.penalty = PlateauPenalty(EXPANDED)
        start = history[-1]
        self.came: dict[int, Came] = {start: (-1, -1, 0)}
        self.value = {start: round(float(ranking.mean(graph, [start])[0]), ROUND)}
        self.heap = [(-self.value[start], 0.0, 0.0, 0, start)]  # priority, two tie-breaks, depth, state
        self.best = start
        self.ahead = set[int]()  # states whose successors have a value

    def run(self) -> Found:
        if self.graph.goal(self.history[-1]):
            return self.found(self.history[-1], "goal")
        while self.heap:
            reason = self.clock.reason()
            if reason:
                return self.found(self.best, reason)
            *_, depth, state = heapq.heappop(self.heap)
            if depth > self.came[state][2]:
                continue  # reached by a shorter way since
            if self.path and self.graph.goal(state):
                return self.found(state, "goal")
            if self.value[state] > self.value[self.best]:
                self.best = state
            self.clock.expansions += 1
            if depth < self.longest and self.path:
                self.open_shorter(state, depth)
            elif depth < self.longest:
                goal = self.open_fresh(state, depth)
                if goal is not None:
                    return self.found(goal, "goal")
        return self.found(self.best, "dead end" if self.graph.has_goal else "finished")

    def open_shorter(self, state: int, depth: int) -> None:
        """A*: open successors that are new or were reached by a longer way; of equal ones those near the goal first."""
        if state not in self.ahead:
            self.look_ahead(state)
        moves = self.graph.moves(state)
        for (action, successor), chance in zip(moves, self.rng.random(len(moves)).tolist(), strict=True):
            known = self.came.get(successor)
            if known is None or depth + 1 < known[2]:
                self.came[successor] = (state, action, depth + 1)
                left = -self.value[successor]
                if left < math.inf:
                    priority = self.path * (depth + 1) + left
                    heapq.heappush(self.heap, (priority, left, chance, depth + 1, successor))

    def look_ahead(self, state: int) -> None:
        """Expand and value what will soon be needed along with a state: many at once are hardly slower than one."""
        soon = [state, *{entry[-1] for entry in self.heap[:AHEAD]}.difference(self.ahead)]
        self.ahead.update(soon)
        self.graph.expand_many(soon)
        states = list({after for one in soon for after in self.graph.successors(one)}.difference(self.value))
        values = np.round(self.ranking.mean(self.graph, states), ROUND).tolist() if states else []
        self.value.update(zip(states, values, strict=True))

    def open_fresh(self, state: int, depth: int) -> int | None:
        """Open the successors that are new, or return a goal among them."""
        self.penalty.met(self.value[state])
        fresh: dict[int, int] = {}
        for action, successor in self.graph.moves(state):
            if successor not in self.came:
                fresh.setdefault(successor, action)
        if not fresh:
            return None
        states = list(fresh)
        values = np.round(self.ranking.mean(self.graph, states), ROUND)
        self.came.update(zip(states, zip(repeat(state), fresh.values(), repeat(depth + 1)), strict=False))
        self.value.update(zip(states, values.tolist(), strict=True))
        if self.graph.has_goal:
            done = np.flatnonzero(self.graph.reached(states))
            if len(done):
                return states[int(self.rng.choice(done))]
        reduced = self.penalty.reduced(values).tolist()
        chances = self.rng.random(len(reduced)).tolist()
        for k in self.kept(reduced):
            heapq.heappush(self.heap, (-reduced[k], chances[k], 0.0, depth + 1, states[k]))
        return None

    def kept(self, values: Sequence[float]) -> list[int]:
        """Positions by falling value, with at most `ties` of each; no dead ends."""
        found: list[int] = []
        same, before = 0, math.nan
        for k in by_falling(np.asarray(values), self.rng):
            same = same + 1 if before == values[k] or before - values[k] <= TIE else 1
            before = values[k]
            if math.isfinite(before) and (self.ties == 0 or same <= self.ties):
                found.append(k)
        return found

    def found(self, state: int, reason: str) -> Found:
        states, actions = [state], list[int]()
        while self.came[states[-1]][0] >= 0:
            parent, action, _ = self.came[states[-1]]
            states.append(parent)
            actions.append(action)
        plan = (*self.history[:-1], *reversed(states))
        clock, name = self.clock, "astar" if self.path else "gbfs"
        return Found(
            plan, tuple(reversed(actions)), self.value[state], reason, clock.expansions, clock.seconds, name,
            goal_search=self.graph.has_goal,
        )  # fmt: skip
