"""The greedy walk: always by the action that is best on average, to its likeliest outcome that was not visited yet.

A walk that only avoids states it has been in can still stay for ever among states that its utility cannot tell apart
(five satellites that turn to and fro). So each step to a value met before lowers what it is worth (`PlateauPenalty`),
and in the end even a step down is worth more than another one on the plateau.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np

from meip.base.arrays import Floats
from meip.model.graph import StateGraph
from meip.search import tree_kernels as kernels
from meip.search.query import Clock, Found, Query
from meip.utility.ranking import Ranking

__all__ = ["EXPANSIONS", "PlateauPenalty", "by_falling", "extend_by_tau", "search", "without_loops"]

EXPANSIONS = 2000  # where there is a goal to look for and nothing else is said
RATE = 0.07
ROUND = 9  # digits to which equal values are equal


class PlateauPenalty:
    """Counts the values and states a walk has been at; the unit is how much the alternatives of a step differ."""

    def __init__(self, rate: float = RATE) -> None:
        self.rate = rate
        self._met: Counter[float] = Counter()
        self._visited: Counter[int] = Counter()
        self._spread, self._steps = 0.0, 0

    def reduced(self, values: Floats) -> Floats:
        """The values of a step's alternatives, less what they have lost; equal ones are equal to 9 digits."""
        rounded: Floats = np.round(np.asarray(values, dtype=np.float64), ROUND).astype(np.float64)
        finite = rounded[np.isfinite(rounded)]
        self._spread += float(finite.std()) if len(finite) else 0.0
        self._steps += 1
        unit = self.rate * self._spread / self._steps
        met = np.array([self._met[v] for v in rounded.tolist()], dtype=np.float64)
        reduced: Floats = np.round(rounded - unit * met, ROUND)
        return reduced

    def met(self, value: float) -> None:
        """The walk went on to a state of this value."""
        self._met[round(float(value), ROUND)] += 1

    def at(self, state: int) -> None:
        """The walk is at this state."""
        self._visited[state] += 1

    def step(
        self, values: Floats, outcomes: Sequence[Sequence[tuple[float, int]]], rng: np.random.Generator
    ) -> tuple[int, int] | None:
        """The action to take and which of its outcomes (probability, state) to count on; None where there is none.

        By the best value, to the likeliest outcome that was not visited yet; where all were, back to the one visited
        least. `values` are those of the actions; equal ones fall at random.
        """
        if not len(outcomes):
            return None
        order = by_falling(self.reduced(values), rng)
        for action in order:
            fresh = [k for k, (_, state) in enumerate(outcomes[action]) if state not in self._visited]
            if fresh:
                break
        else:
            action = min(order, key=lambda a: self._visited[outcomes[a][0][1]])
            fresh = list(range(len(outcomes[action])))
        chosen = max(fresh, key=lambda k: outcomes[action][k][0])
        self.met(float(values[action]))
        self.at(outcomes[action][chosen][1])
        return action, chosen


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """Walk by the utility of single states, to the world's goal where it has one; the plan is without loops."""
    horizon, clock = query.length(graph, history), Clock(query, graph, EXPANSIONS if graph.has_goal else None)
    rng = np.random.default_rng([query.seed, 2])
    states, actions = [history[-1]], list[int]()
    penalty = PlateauPenalty()
    penalty.at(states[0])
    while not graph.goal(states[-1]):
        reason = "horizon" if len(history) + len(actions) >= horizon else clock.reason()
        move = None
        if not reason:
            numbers = graph.action_numbers(states[-1])
            outcomes = graph.fan(states[-1])
            clock.expansions += 1
            move = penalty.step(_means(graph, ranking, outcomes), outcomes, rng)
        if move is None:
            ended = "finished" if not graph.has_goal else "dead end"
            return _walked(graph, ranking, history, states, actions, reason or ended, clock)
        actions.append(numbers[move[0]])
        states.append(outcomes[move[0]][move[1]][1])
    return _walked(graph, ranking, history, states, actions, "goal", clock)


def _means(graph: StateGraph, ranking: Ranking, outcomes: Sequence[Sequence[tuple[float, int]]]) -> Floats:
    """The mean utility of each action over its outcomes; a goal is better than anything."""
    flat = [state for choices in outcomes for _, state in choices]
    if not flat:
        return np.zeros(0)
    values = ranking.mean(graph, flat)
    if graph.has_goal:
        values = np.where(graph.reached(flat), np.inf, values)
    if len(flat) == len(outcomes):
        return values
    first = np.cumsum([0, *(len(choices) for choices in outcomes[:-1])])
    odds = np.array([p for choices in outcomes for p, _ in choices])
    return np.asarray(np.add.reduceat(values * odds, first), dtype=np.float64)


def _walked(
    graph: StateGraph, ranking: Ranking, history: Sequence[int], states: Sequence[int], actions: Sequence[int],
    reason: str, clock: Clock,
) -> Found:  # fmt: skip
    kept = without_loops(states)
    plan = (*history[:-1], *(states[i] for i in kept))
    value = float(ranking.mean(graph, plan[-1:])[0])
    chosen = tuple(actions[i - 1] for i in kept[1:])
    return Found(plan, chosen, value, reason, clock.expansions, clock.seconds, "greedy")


def without_loops(states: Sequence[Hashable]) -> list[int]:
    """The positions of a walk that are left when it is cut short wherever it came back to a state."""
    kept: list[int] = []
    at: dict[Hashable, int] = {}
    for position, state in enumerate(states):
        if state in at:
            for gone in kept[at[state] + 1 :]:
                del at[states[gone]]
            del kept[at[state] + 1 :]
        else:
            at[state] = len(kept)
            kept.append(position)
    return kept


def by_falling(values: Floats, rng: np.random.Generator) -> list[int]:
    """Positions by falling value, equal ones in any order."""
    found: list[int] = np.lexsort((rng.random(len(values)), -values)).tolist()
    return found


def extend_by_tau(
    graph: StateGraph, ranking: Ranking, states: list[int], actions: list[int], horizon: int, query: Query, rng:
    np.random.Generator, clock: Clock,
) -> None:  # fmt: skip
    """Complete a plan by what adds most to the tau of its history, again and again; new states before old ones."""
    while len(states) < horizon and not clock.late:
        moves = graph.moves(states[-1])
        if not moves:
            return
        visited = set(states)
        fresh = [m for m in moves if m[1] not in visited] or moves
        g = ranking(graph, [*states, *(state for _, state in fresh)])
        path = np.array(states, np.int64)
        gains = np.array([kernels.increment(g, path, len(states), state, query.scale)[0] for _, state in fresh])
        number, state = fresh[by_falling(gains, rng)[0]]
        actions.append(number)
        states.append(state)
