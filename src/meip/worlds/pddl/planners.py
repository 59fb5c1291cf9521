"""Planners over packed states, guided by any score of states: greedy, greedy best-first, A*.

A score takes rows [K, width] and gives [K] numbers, higher for better states. Ties go to the action that comes first,
so that the same problem and score give the same plan.
"""

from __future__ import annotations

import dataclasses
import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from meip.search.weariness import Weariness, without_loops
from meip.worlds.pddl.engine import BaseEngine, Successors
from meip.worlds.pddl.plans import Step
from meip.worlds.pddl.states import StateTable

__all__ = ["Found", "Score", "astar", "gbfs", "greedy", "likeliest"]

Ints = NDArray[np.int64]
Words = NDArray[np.uint64]
Reals = NDArray[np.float64]
Score = Callable[[Words], Reals]
TIE = 1e-9
EXPANDED = 1.0  # how fast scores wear out in best-first search


@dataclass(frozen=True)
class Found:
    """A plan, complete or the best so far, and what it took."""

    steps: tuple[Step, ...]
    solved: bool
    reason: str
    """goal, dead end, step limit, expansion limit or time limit."""
    expansions: int
    generated: int
    seconds: float
    states: Words = field(repr=False)  # [steps + 1, width]


def likeliest(after: Successors) -> Successors:
    """Only the likeliest outcome of each action: what `gbfs` and `astar` plan with where chance has a say."""
    if not len(after.actions) or float(after.probabilities.min()) == 1.0:
        return after
    state = after.parents
    order = np.lexsort((np.arange(len(state)), -after.probabilities, after.actions, state))
    first = np.ones(len(order), dtype=bool)
    first[1:] = (np.diff(after.actions[order]) != 0) | (np.diff(state[order]) != 0)
    kept = np.sort(order[first])
    offsets = np.searchsorted(state[kept], np.arange(len(after.offsets))).astype(np.int64)
    return Successors(offsets, after.actions[kept], after.states[kept], after.probabilities[kept])


@dataclass
class _Search:
    """What the searches share: states by id, how each was reached, and the limits."""

    engine: BaseEngine
    max_expansions: int
    seconds: float
    began: float = field(default_factory=time.monotonic)
    expansions: int = 0
    generated: int = 0

    def __post_init__(self) -> None:
        self.table = StateTable(self.engine.width)
        self.table.add(self.engine.initial)
        self.parent = [-1]
        self.action = [-1]

    def limit(self) -> str | None:
        if self.expansions >= self.max_expansions:
            return "expansion limit"
        return "time limit" if time.monotonic() - self.began > self.seconds else None

    def expand(self, state: int) -> tuple[Successors, Ints, NDArray[np.bool_]]:
        """The successors of a state, their ids, and which are new."""
        after = likeliest(self.engine.successors(self.table.states[state].copy()))
        self.expansions += 1
        self.generated += len(after.states)
        ids, fresh = self.table.add(after.states)
        self.parent += [state] * int(fresh.sum())
        self.action += after.actions[fresh].tolist()
        return after, ids, fresh

    def found(self, state: int, solved: bool, reason: str) -> Found:
        chain = [state]
        while self.parent[chain[-1]] >= 0:
            chain.append(self.parent[chain[-1]])
        chain.reverse()
        steps = tuple(self.engine.step(self.action[s]) for s in chain[1:])
        seconds = time.monotonic() - self.began
        return Found(steps, solved, reason, self.expansions, self.generated, seconds, self.table.states[chain])


def greedy(engine: BaseEngine, score: Score, max_steps: int = 1000, seconds: float = 60.0) -> Found:
    """Always to the best successor that was not visited yet; values met before wear out (`meip.search.weariness`).

    Where all were visited, back to the one visited least; the plan is without such loops.

    Where chance has a say: by the action that is best on average, to its likeliest outcome.
    """
    search = _Search(engine, max_steps, seconds)
    states, actions = [engine.initial], list[int]()
    weariness = Weariness()
    weariness.at(engine.initial.tobytes())

    def stop(reason: str) -> Found:
        kept = without_loops([row.tobytes() for row in states])
        steps = tuple(engine.step(actions[after - 1]) for after in kept[1:])
        took = time.monotonic() - search.began
        rows = np.stack([states[i] for i in kept])
        return Found(steps, reason == "goal", reason, search.expansions, search.generated, took, rows)

    while not engine.reached(states[-1])[0]:
        reason = search.limit()
        if reason is not None:
            return stop("step limit" if reason == "expansion limit" else reason)
        after = engine.successors(states[-1])
        search.expansions += 1
        search.generated += len(after.states)
        chosen = _best(engine, after, score, weariness)
        if chosen is None:
            return stop("dead end")
        actions.append(int(after.actions[chosen]))
        states.append(after.states[chosen])
    return stop("goal")


def _best(engine: BaseEngine, after: Successors, score: Score, weariness: Weariness) -> int | None:
    """The outcome to go to, as `Weariness.step` decides by the mean scores of the actions."""
    if not len(after.actions):
        return None
    first = np.flatnonzero(np.diff(after.actions, prepend=-1))
    weighted = np.asarray(score(after.states), dtype=np.float64)
    weighted = np.where(engine.reached(after.states), np.inf, weighted)  # the goal, where one step leads to it
    means = np.add.reduceat(weighted * after.probabilities, first)
    outcomes = [(float(p), row.tobytes()) for p, row in zip(after.probabilities, after.states, strict=True)]
    ends = np.append(first[1:], len(after.actions)).tolist()
    move = weariness.step(means, [outcomes[low:high] for low, high in zip(first.tolist(), ends, strict=True)])
    return None if move is None else int(first[move[0]]) + move[1]


def gbfs(engine: BaseEngine, score: Score, max_expansions: int = 2000, seconds: float = 60.0, ties: int = 2) -> Found:
    """Greedy best-first search; with the last half of the expansions a greedy walk, where it has not got there.

    Best-first search goes back whenever a step down is needed; a walk takes it. Of a parent's successors with equal
    score at most `ties` are kept (0: all).
    """
    search = _Search(engine, max_expansions - max_expansions // 2, seconds)
    found = _best_first(search, score, ties)
    left = seconds - found.seconds
    if found.solved or found.reason == "time limit" or left <= 0:
        return found
    walk = greedy(engine, score, max_expansions - found.expansions, left)
    return dataclasses.replace(
        walk if walk.solved else found,
        expansions=found.expansions + walk.expansions,
        generated=found.generated + walk.generated,
        seconds=found.seconds + walk.seconds,
    )


def _best_first(search: _Search, score: Score, ties: int) -> Found:
    """Scores that were expanded before wear out, so that a plateau does not hold the search up."""
    engine = search.engine
    if engine.reached(engine.initial)[0]:
        return search.found(0, True, "goal")
    first = float(score(engine.initial[None])[0])
    weariness = Weariness(EXPANDED)
    heap = [(-first, 0, first)]
    best = (-first, 0)
    while heap:
        reason = search.limit()
        if reason is not None:
            return search.found(best[1], False, reason)
        _, state, value = heapq.heappop(heap)
        best = min(best, (-value, state))
        weariness.went(value)
        after, ids, fresh = search.expand(state)
        if not fresh.any():
            continue
        rows, numbers = after.states[fresh], ids[fresh]
        done = engine.reached(rows)
        if done.any():
            return search.found(int(numbers[np.argmax(done)]), True, "goal")
        values = np.asarray(score(rows), dtype=np.float64)
        worn = weariness.worn(values)
        for i in _few_ties(worn, ties):
            heapq.heappush(heap, (-float(worn[i]), int(numbers[i]), float(values[i])))
    return search.found(best[1], False, "dead end")


def _few_ties(values: Reals, ties: int) -> list[int]:
    """Positions by falling value, with at most `ties` of each."""
    kept: list[int] = []
    same = 0
    order = np.argsort(-values, kind="stable")
    for position, i in enumerate(order):
        before = values[order[position - 1]] if position else np.nan
        same = same + 1 if before == values[i] or before - values[i] <= TIE else 1
        if np.isfinite(values[i]) and (ties == 0 or same <= ties):
            kept.append(int(i))
    return kept


def astar(
    engine: BaseEngine,
    heuristic: Score,
    weight: float = 1.0,
    max_expansions: int = 200_000,
    seconds: float = 60.0,
) -> Found:
    """A* over steps: f = g + weight * h, where h estimates the steps left (inf: a dead end).

    With weight 1 and an h that never estimates too much the plan is a shortest one.
    """
    search = _Search(engine, max_expansions, seconds)
    first = float(heuristic(engine.initial[None])[0])
    heap = [(weight * first, first, 0, 0)]
    steps = {0: 0}
    estimate = {0: first}
    best = (first, 0)
    while heap:
        _, h, depth, state = heapq.heappop(heap)
        if depth > steps[state]:
            continue  # reached by a shorter way since
        if engine.reached(search.table.states[state])[0]:
            return search.found(state, True, "goal")
        best = min(best, (h, state))
        reason = search.limit()
        if reason is not None:
            return search.found(best[1], False, reason)
        after, ids, fresh = search.expand(state)
        if fresh.any():
            estimate.update(zip(ids[fresh].tolist(), heuristic(after.states[fresh]).tolist(), strict=True))
        for number, action in zip(ids.tolist(), after.actions.tolist(), strict=True):
            if depth + 1 < steps.get(number, 2**62) and np.isfinite(estimate[number]):
                steps[number] = depth + 1
                search.parent[number], search.action[number] = state, action
                h = estimate[number]
                heapq.heappush(heap, (depth + 1 + weight * h, h, depth + 1, number))
    return search.found(best[1], False, "dead end")
