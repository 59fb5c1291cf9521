"""The likeliest plan by its steps: each of them among what could have been done instead.

The committee regime learns the likelihood of each demonstrated step, a softmax over its alternatives c of what they add
to the history, d(c) = sum_{j<t} tanh(g(c) - g(s_j)). Under that model a plan has the log likelihood
sum_t [d(s_t) - log sum_c P0(c) exp d(c)], here the mean over the members. All plans along which g rises have about the
same tau, also those that do the last thing first; this asks at each step whether there was something better to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from meip.model.graph import StateGraph

__all__ = ["LikelyPlan", "likeliest_plan", "step_log_likelihood"]

Floats = NDArray[np.float64]
Ranking = Callable[[StateGraph], Floats]


@dataclass(frozen=True)
class LikelyPlan:
    """State and action numbers of a graph, the log likelihood, steps looked at, and why the search ended."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    log_likelihood: float
    looked: int = 0
    stopped_by: str = "finished"


def step_log_likelihood(g: Floats, past: list[int], successors: list[int], mass: Floats) -> Floats:
    """log P of each successor after a history, the members' mean; `mass` is P0 of each, g [states, members]."""
    added = np.tanh(g[successors][:, None, :] - g[past][None, :, :]).sum(axis=1)  # [successors, members]
    log_odds = np.log(mass)[:, None] + added
    top = log_odds.max(axis=0)
    return np.asarray((log_odds - top - np.log(np.exp(log_odds - top).sum(axis=0))).mean(axis=1), dtype=np.float64)


def likeliest_plan(
    graph: StateGraph, ranking: Ranking, past: list[int], horizon: int, width: int, seconds: float | None = None
) -> LikelyPlan:
    """Keep the `width` likeliest histories at each length; chance is taken as its likeliest outcome."""
    stop = None if seconds is None else time.monotonic() + seconds
    beam, ended = [LikelyPlan(tuple(past), (), 0.0)], list[LikelyPlan]()
    looked, reason = 0, "finished"
    for _ in range(horizon - len(past)):
        moves = []
        for one in beam:
            moves.append(_moves(graph, one.states[-1]))
            if stop is not None and time.monotonic() > stop:
                reason = "seconds"
                break
        g = ranking(graph)
        longer = [more for one, steps in zip(beam, moves, strict=False) for more in _longer(g, one, steps)]
        ended += [one for one, steps in zip(beam, moves, strict=False) if not steps]
        looked += len(longer)
        beam = sorted(longer, key=lambda one: -one.log_likelihood)[:width] or beam
        if not longer or reason == "seconds":
            break
    longest = max(len(one.states) for one in (*beam, *ended))
    best = max((one for one in (*beam, *ended) if len(one.states) == longest), key=lambda one: one.log_likelihood)
    return LikelyPlan(best.states, best.actions, best.log_likelihood, looked, reason)


def _moves(graph: StateGraph, state: int) -> dict[int, tuple[int, int]]:
    """Successor -> (the first action that leads to it, how many do), by the likeliest outcome of each action."""
    found: dict[int, tuple[int, int]] = {}
    for number in graph.action_numbers(state):
        successor = max(graph.outcomes(number), key=lambda outcome: outcome[0])[1]
        first, count = found.get(successor, (number, 0))
        found[successor] = (first, count + 1)
    return found


def _longer(g: Floats, one: LikelyPlan, steps: dict[int, tuple[int, int]]) -> list[LikelyPlan]:
    if not steps:
        return []
    successors = list(steps)
    mass = np.array([count for _, count in steps.values()], np.float64)
    logs = step_log_likelihood(g, list(one.states), successors, mass / mass.sum())
    return [
        LikelyPlan((*one.states, state), (*one.actions, steps[state][0]), one.log_likelihood + float(log))
        for state, log in zip(successors, logs, strict=True)
    ]
