"""Backward induction over histories: the optimum of a search that is small enough to look at every plan."""

from __future__ import annotations

from typing import Any

import numpy as np

from meip.base.kernels import kernel
from meip.search.tree import increment, worth

__all__ = ["best_history"]


@kernel
def best_history(graph: Any, g: Any, past: Any, soft: float, sign: float, options: Any) -> Any:
    """Backward induction over the tree of histories below `past`, without storing it.

    Returns the value of each first action, the states and actions of the optimal plan (the likeliest outcomes where
    chance decides), and the number of plans looked at. Every state on the way must be expanded.
    """
    horizon, scale, rule = int(options[0]), options[1], int(options[3])
    start = len(past)
    size = horizon + 1
    path = np.zeros(size, np.int64)
    path[:start] = past
    softs, signs = np.zeros(size), np.zeros(size)  # pair sums of the history of each length
    softs[start], signs[start] = soft, sign
    offset, outcome = np.zeros(size, np.int64), np.zeros(size, np.int64)
    mean, top = np.zeros(size), np.full(size, -np.inf)  # of the current action so far; of the best action
    plan, moves = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)  # best continuation per depth
    plan_length = np.zeros(size, np.int64)
    likely = np.full(size, -1.0)  # probability of the outcome whose continuation is kept for the current action
    tail, tail_moves = np.zeros((size, size), np.int64), np.zeros((size, size), np.int64)
    tail_length = np.zeros(size, np.int64)
    root_count = graph.action_count[past[start - 1]] if start < horizon else 0
    values = np.full(root_count, -np.inf)
    leaves = 0
    n = start
    while True:
        state = path[n - 1]
        count = graph.action_count[state]
        if n >= horizon or count == 0:
            leaves += 1
            top[n] = worth(softs[n], signs[n], n, rule, options[4], options[5], horizon)
            plan_length[n] = n
        elif offset[n] < count:
            action = graph.first_action[state] + offset[n]
            following = graph.outcome_state[graph.first_outcome[action] + outcome[n]]
            more_soft, more_sign = increment(g, path, n, following, scale)
            path[n] = following
            softs[n + 1], signs[n + 1] = softs[n] + more_soft, signs[n] + more_sign
            n += 1
            offset[n], outcome[n], mean[n], top[n], likely[n] = 0, 0, 0.0, -np.inf, -1.0
            continue
        if n == start:
            break
        # the subtree below path[:n] is done: give its value to the action above
        above = n - 1
        action = graph.first_action[path[above - 1]] + offset[above]
        chance = graph.outcome_probability[graph.first_outcome[action] + outcome[above]]
        mean[above] += chance * top[n]
        if chance > likely[above]:
            likely[above] = chance
            tail_length[above] = plan_length[n]
            tail[above, n : plan_length[n]] = plan[n, n : plan_length[n]]
            tail_moves[above, n : plan_length[n]] = moves[n, n : plan_length[n]]
            tail[above, above] = path[above]
        outcome[above] += 1
        if outcome[above] == graph.outcome_count[action]:
            if above == start:
                values[offset[above]] = mean[above]
            if mean[above] > top[above]:
                top[above] = mean[above]
                plan_length[above] = tail_length[above]
                plan[above, above : plan_length[above]] = tail[above, above : plan_length[above]]
                moves[above, above : plan_length[above]] = tail_moves[above, above : plan_length[above]]
                moves[above, above] = action
            offset[above] += 1
            outcome[above], mean[above], likely[above] = 0, 0.0, -1.0
        n = above
    states = np.concatenate((past, plan[start, start : plan_length[start]])) if root_count > 0 else past
    return values, states, moves[start, start : plan_length[start]], leaves
