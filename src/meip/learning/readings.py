"""How demonstrations are read: as shown, or only what the goal needs of them.

People and planners take steps that lead nowhere: an image nobody asked for, a block put aside and taken up again. In a
world with a goal such steps may not be what the demonstration is about, and learned from they mislead; or they are a
habit. A step is not needed if the goal is reached without it and without what then cannot be done any more. Choices of
demonstrations left out say whether it was an accident.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Hashable, Sequence

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.parallel import Shared, Workers
from meip.learning.sparse import Problem, fit
from meip.model.choices import Replayed, Walk
from meip.model.demonstrations import Plan
from meip.model.graph import StateGraph

__all__ = ["accidents", "crossed", "needed", "only_needed"]

STRENGTHS = (0.1, 0.05, 0.025, 0.012, 0.006)
SURPRISE = 0.3  # nats per choice: what is left and foreseen worse by this much was no accident
BETTER = 0.05  # nats per choice that leaving steps out has to gain
REPLAYED = 40_000  # steps that are replayed at most; the rest of a very long plan is taken as it is


def _next_state(graph: StateGraph, state: int, action: Hashable) -> int | None:
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
        following = _next_state(graph, states[-1], action)
        if following is not None:
            kept.append(action)
            states.append(following)
    return kept, states


def only_needed(replayed: Replayed) -> Replayed | None:
    """The demonstrations without steps that their goals do not need; None where all steps are needed."""
    plans = [needed(replayed.graphs[walk.graph], walk.plan) for walk in replayed.walks]
    if all(plan is walk.plan for plan, walk in zip(plans, replayed.walks, strict=True)):
        return None
    walks = [
        Walk(walk.graph, tuple(replayed.graphs[walk.graph].intern(s) for s in plan.states), plan)
        for walk, plan in zip(replayed.walks, plans, strict=True)
    ]
    return dataclasses.replace(replayed, walks=tuple(walks))


def crossed(problem: Problem, walk: Ints, shown: int, workers: Workers | None = None) -> Floats:
    """[2, 2] nats per choice of demonstrations left out, by readings learned from and foreseen: shown, needed.

    `walk` [C] is the demonstration of each choice; the needed readings of `shown` demonstrations follow them.
    """
    reading, demonstration = walk // shown, walk % shown
    total = np.zeros((len(STRENGTHS), 2, 2))
    places = [(d, learned) for d in range(shown) for learned in (0, 1)]
    found = (workers or Workers()).map_compiled(_foreseen, places, Shared((problem, reading, demonstration)))
    for (_, learned), losses in zip(places, found, strict=True):
        total[:, learned] += losses
    return np.asarray(total.min(axis=0) / np.maximum(np.bincount(reading, minlength=2), 1), np.float64)


def _foreseen(place: tuple[int, int], shared: tuple[Problem, Ints, Ints]) -> Floats:
    """[strengths, 2] the losses of a demonstration left out, in both readings, by the others in one of them."""
    (d, learned), (problem, reading, demonstration) = place, shared
    found = np.zeros((len(STRENGTHS), 2))
    weights = np.zeros(len(problem.price))
    share = ((reading == learned) & (demonstration != d)).astype(np.float64)
    for k, strength in enumerate(STRENGTHS if share.any() else ()):
        weights = fit(problem, strength, weights, share)
        losses = problem.foreseen(weights)[0] * (demonstration == d)
        found[k] = losses[reading == 0].sum(), losses[reading == 1].sum()
    return found


def accidents(losses: Floats) -> bool:
    """Were the steps that the goal does not need accidents? If what is left comes as no surprise, and is foreseen
    better by what is left of other demonstrations than by all of them."""
    return bool(losses[1, 1] < min(losses[0, 0] + SURPRISE, losses[0, 1] - BETTER))
