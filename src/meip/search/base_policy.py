"""P0, what somebody without wishes does: uniform among the actions that differ in what they lead to.

Actions with the same outcomes are one transition (the paper's footnote to Definition 2): a world that lists one of them
three times is not another world.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Floats
from meip.model.graph import GraphArrays

__all__ = ["action_shares"]

DIGITS = 1e12  # probabilities that agree to so many are the same


def action_shares(graph: GraphArrays) -> Floats:
    """[A] the probability of each action in its state; actions with the same outcomes share that of one."""
    if not len(graph.first_outcome):
        return np.zeros(0)
    owner = _owners(graph)
    keys = np.stack([owner.astype(np.uint64), _fingerprints(graph)], axis=1)
    _, first, kind, copies = np.unique(keys, axis=0, return_index=True, return_inverse=True, return_counts=True)
    different = np.bincount(owner[first], minlength=len(graph.action_count))
    return 1.0 / (different[owner] * copies[kind.reshape(-1)])


def _owners(graph: GraphArrays) -> NDArray[np.int64]:
    """[A] the state of each action."""
    states = np.flatnonzero(graph.action_count > 0)
    states = states[np.argsort(graph.first_action[states])]
    return np.repeat(states, graph.action_count[states])


def _fingerprints(graph: GraphArrays) -> NDArray[np.uint64]:
    """[A] equal for equal sets of outcomes, in whatever order: a sum of scrambled states, times their probability."""
    mixed = graph.outcome_state.astype(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    weight = np.rint(graph.outcome_probability * DIGITS).astype(np.uint64)
    return np.add.reduceat(mixed * weight, graph.first_outcome)
