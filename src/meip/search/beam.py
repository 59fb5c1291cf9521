"""Beam search over histories: the `width` best of each length are kept. What makes a history good is an argument.

`by_tau`: what a plan is worth by its tau so far. `by_steps`: the likelihood of its steps, each among what could have
been done instead, a softmax over the alternatives c of what they add to the history, d(c) = sum_{j<t} tanh(g(c) -
g(s_j)). Under that model a plan has the log likelihood sum_t [d(s_t) - log sum_c P0(c) exp d(c)], here the mean over
the members. All plans along which g rises have about the same tau, also those that do the last thing first; the second
asks at each step whether there was something better to do.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from meip.base.arrays import Floats
from meip.model.graph import StateGraph
from meip.search import tree_kernels as kernels
from meip.search.query import Clock, Found, Query, pair_sums
from meip.utility.ranking import Ranking

__all__ = ["History", "Move", "by_steps", "by_tau", "likeliest", "search", "step_log_likelihood"]


class History(NamedTuple):
    """A plan so far: what it is worth, its pair sums (soft, sign), its states, and the actions after what was given."""

    value: float
    soft: float
    sign: float
    states: tuple[int, ...]
    actions: tuple[int, ...]


class Move(NamedTuple):
    """A state that can come next, an action that leads to it, and its share in P0."""

    state: int
    action: int
    mass: float


Score = Callable[[Floats, History, Sequence[Move], int, Query], list[History]]


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """The plan with the best tau; chance is taken as its likeliest outcome."""
    return _search(graph, ranking, history, query, by_tau, "beam")


def likeliest(graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query) -> Found:
    """The longest plan with the likeliest steps; chance is taken as its likeliest outcome."""
    return _search(graph, ranking, history, query, by_steps, "likeliest")


def _search(
    graph: StateGraph, ranking: Ranking, history: Sequence[int], query: Query, score: Score, name: str
) -> Found:
    horizon, clock = query.length(graph, history), Clock(query, graph)
    rng = np.random.default_rng([query.seed, 4])
    past = tuple(int(s) for s in history)
    soft, sign = pair_sums(ranking(graph, past), past, query.scale)
    begun = query.worth(soft, sign, len(past), horizon) if score is by_tau else 0.0
    beam, finished = [History(begun, soft, sign, past, ())], list[History]()
    reason = ""
    while beam and not reason:
        moves: list[list[Move]] = []
        for one in beam:
            reason = clock.reason()
            if reason:
                break
            moves.append(_moves(graph, one.states[-1], rng) if len(one.states) < horizon else [])
            ranking(graph, [move.state for move in moves[-1]])  # now, between two looks at the clock
            clock.expansions += 1
        g = ranking(graph, sorted({s for one in beam for s in one.states} | {m.state for ms in moves for m in ms}))
        longer: list[History] = []
        for one, steps in zip(beam, moves, strict=False):
            if steps:
                longer += score(g, one, steps, horizon, query)
            else:
                finished.append(one)
        if reason:
            finished += beam
        beam = _best(longer, query.width, rng)
    finished += beam
    longest = max(len(one.states) for one in finished)
    chosen = [one for one in finished if score is by_tau or len(one.states) == longest]
    best = _best(chosen, 1, rng)[0]
    return Found(best.states, best.actions, best.value, reason or "finished", clock.expansions, clock.seconds, name)


def _best(histories: Sequence[History], count: int, rng: np.random.Generator) -> list[History]:
    """The best by value, equal ones at random."""
    order = np.lexsort((rng.random(len(histories)), np.array([-one.value for one in histories])))
    return [histories[k] for k in order[:count].tolist()]


def _moves(graph: StateGraph, state: int, rng: np.random.Generator) -> list[Move]:
    """What can come next, each state once; of actions that lead to the same state any stands for all."""
    leading: dict[int, list[int]] = {}
    for action, successor in graph.moves(state):
        leading.setdefault(successor, []).append(action)
    ways = [_different(graph, actions) for actions in leading.values()]
    total = sum(ways)
    return [
        Move(state, _any(actions, rng), count / total)
        for (state, actions), count in zip(leading.items(), ways, strict=True)
    ]


def _different(graph: StateGraph, actions: Sequence[int]) -> int:
    """How many of these actions differ in their outcomes: P0 counts equal ones once."""
    return 1 if len(actions) == 1 else len({frozenset(graph.outcomes(action)) for action in actions})


def _any(actions: Sequence[int], rng: np.random.Generator) -> int:
    return actions[int(rng.integers(len(actions)))] if len(actions) > 1 else actions[0]


def by_tau(g: Floats, one: History, steps: Sequence[Move], horizon: int, query: Query) -> list[History]:
    """A history with each of its next steps, by what it is then worth."""
    path = np.array(one.states, np.int64)
    found = []
    for move in steps:
        more_soft, more_sign = kernels.increment(g, path, len(path), move.state, query.scale)
        soft, sign = one.soft + more_soft, one.sign + more_sign
        value = query.worth(soft, sign, len(path) + 1, horizon)
        found.append(History(value, soft, sign, (*one.states, move.state), (*one.actions, move.action)))
    return found


def by_steps(g: Floats, one: History, steps: Sequence[Move], horizon: int, query: Query) -> list[History]:
    """A history with each of its next steps, by the likelihood of all steps so far."""
    mass = np.array([move.mass for move in steps], np.float64)
    logs = step_log_likelihood(g, list(one.states), [move.state for move in steps], mass)
    return [
        History(one.value + float(log), 0.0, 0.0, (*one.states, move.state), (*one.actions, move.action))
        for move, log in zip(steps, logs, strict=True)
    ]


def step_log_likelihood(g: Floats, past: list[int], successors: list[int], mass: Floats) -> Floats:
    """log P of each successor after a history, the members' mean; `mass` is P0 of each, g [states, members]."""
    added = np.tanh(g[successors][:, None, :] - g[past][None, :, :]).sum(axis=1)  # [successors, members]
    log_odds = np.log(mass)[:, None] + added
    top = log_odds.max(axis=0)
    return np.asarray((log_odds - top - np.log(np.exp(log_odds - top).sum(axis=0))).mean(axis=1), dtype=np.float64)
