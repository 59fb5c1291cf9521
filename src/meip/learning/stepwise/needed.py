"""What of a demonstration the goal needs.

People and planners take steps that lead nowhere: an image nobody asked for, a block put aside and taken up again. In a
world with a goal such steps are not what the demonstration is about, and learned from they mislead. A step is left out
if the goal is reached without it and without what then cannot be done any more.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence

from meip.model.demonstrations import Plan
from meip.model.graph import StateGraph

__all__ = ["needed", "next_state"]

REPLAYED = 40_000  # steps that are replayed at most; the rest of a very long plan is taken as it is


def next_state(graph: StateGraph, state: int, action: Hashable) -> int | None:
    """Where an action leads for certain; None where it is not possible or up to chance."""
    for number in graph.action_numbers(state):
        if graph.action(number) == action:
            outcomes = graph.outcomes(number)
            return outcomes[0][1] if len(outcomes) == 1 else None
    return None


def needed(graph: StateGraph, plan: Plan) -> Plan:
    """The plan without steps that the goal does not need; the same plan where there is no goal, or chance has a say."""
    if not plan.actions or not graph.goal(graph.intern(plan.states[-1])) or min(plan.probabilities) < 1.0:
        return plan
    actions = list(plan.actions)
    states = [graph.intern(s) for s in plan.states]
    t, spent = 0, 0
    while t < len(actions) and spent < REPLAYED:
        kept, reached = _without(graph, states[t], actions[t + 1 :])
        spent += len(actions) - t
        if graph.goal(reached[-1]):
            actions[t:] = kept
            states[t:] = reached
        else:
            t += 1
    if len(actions) == len(plan.actions):
        return plan
    count = len(actions)
    return dataclasses.replace(
        plan,
        states=tuple(graph.states[s] for s in states),
        actions=tuple(actions),
        outcomes=(0,) * count,
        probabilities=(1.0,) * count,
        chance_failures=(False,) * count,
    )


def _without(graph: StateGraph, state: int, actions: Sequence[Hashable]) -> tuple[list[Hashable], list[int]]:
    """The actions that can still be done from here on, up to the goal, and the states they lead through."""
    kept: list[Hashable] = []
    states = [state]
    for action in actions:
        if graph.goal(states[-1]):
            break
        following = next_state(graph, states[-1], action)
        if following is not None:
            kept.append(action)
            states.append(following)
    return kept, states
