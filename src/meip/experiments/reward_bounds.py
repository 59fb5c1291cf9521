"""Which Markovian rewards make the short way of the didactic MDP the better one, computed from the world.

The paper's example: discount .8, 1 for reaching the goal, r in a bad place. What the two ways are worth is linear in r,
so the bound is where the lines cross; on which side of it the short way wins depends on p. The paper says r < -0.48 for
p = .3; it is r > +0.48, and at p = .2 there is no bound at all.
"""

from __future__ import annotations

import numpy as np

from meip import StateGraph
from meip.worlds.didactic import Didactic

__all__ = ["bound", "bound_text", "worth"]

DISCOUNT = 0.8
GOAL = 1.0
FLAT = 1e-9


def worth(p: float, first: str, r: float) -> float:
    """The discounted return of taking `first` in S0, for ever; a reward is got on arriving."""
    graph = StateGraph(Didactic(p))
    graph.expand_all()
    n = len(graph)
    reward = np.array([{"g": GOAL, "b1": r, "b2": r}.get(str(state), 0.0) for state in graph.states])
    moves = np.zeros((n, n))
    for state in range(n):
        numbers = list(graph.action_numbers(state))
        chosen = [a for a in numbers if graph.action(a) == first] or numbers[:1]
        for action in chosen:  # none at the goal, where nothing more is got
            for probability, after in graph.outcomes(action):
                moves[state, after] += probability
    value = np.linalg.solve(np.eye(n) - DISCOUNT * moves, moves @ reward)
    return float(value[int(graph.initial[0])])


def bound(p: float) -> tuple[str, float] | None:
    """("<", -.16): the short way is better for every r below -.16. None: for no r, or for every one."""
    at_zero, at_one = (worth(p, "a1", r) - worth(p, "a2", r) for r in (0.0, 1.0))
    slope = at_one - at_zero
    if abs(slope) < FLAT:
        return None
    return "<" if slope < 0 else ">", -at_zero / slope


def bound_text(p: float) -> str:
    """The same as a line to read."""
    found = bound(p)
    if found is None:
        return f"p = {p:g}: the short way is never the better one, whatever r is"
    return f"p = {p:g}: the short way is the better one for r {found[0]} {found[1]:+.2f}"
