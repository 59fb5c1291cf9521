"""Two demonstrated problems side by side are a larger problem, whose demonstrations are known: any interleaving.

Small problems cannot show what larger ones are like: that other things are still to be done while one is being done.
Where a world can be joined with another one (the hook `Joins`), pairs of training problems are, with both plans
interleaved at random. What either plan would do next is right.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from meip.learning.stepwise.needed import next_state
from meip.model.demonstrations import Plan
from meip.model.graph import StateGraph

__all__ = ["Combined", "combine"]

ATTEMPTS = 5  # interleavings of two plans that are tried: some lead into a dead end
LONGEST = 60  # steps of both plans


@dataclass(frozen=True)
class Combined:
    """A joined problem with an interleaved plan."""

    graph: StateGraph
    plan: Plan
    also: tuple[tuple[Hashable, ...], ...]
    """For each step what the other plan would have done next, where that was possible."""
    parts: tuple[int, int]
    """The numbers of the plans."""


def combine(
    graphs: Sequence[StateGraph], plans: Sequence[Plan], number: int, rng: np.random.Generator
) -> list[Combined]:
    """Up to `number` pairs of plans in joined problems; none where these would be unlike every problem shown."""
    pairs = [
        (i, j)
        for i, j in combinations(range(len(plans)), 2)
        if graphs[i] is not graphs[j] and len(plans[i].actions) + len(plans[j].actions) <= LONGEST
    ]
    singles = _always_one(graphs)
    found: list[Combined] = []
    for k in rng.permutation(len(pairs)).tolist():
        if len(found) == number:
            break
        i, j = pairs[k]
        joined = graphs[i].together(graphs[j])
        if joined is None:
            break
        graph, of_first, of_second = joined
        if any(_numbers(graph).get(name, 1) != 1 for name in singles):
            break
        parts = [[of_first(a) for a in plans[i].actions], [of_second(a) for a in plans[j].actions]]
        for _ in range(ATTEMPTS):
            woven = _interleaved(graph, parts, rng)
            if woven is not None:
                found.append(Combined(graph, *woven, (i, j)))
                break
    return found


def _numbers(graph: StateGraph) -> dict[Any, int]:
    """How many entities of each class there are at first, and how many tuples each predicate is true of."""
    block = graph.facts([int(graph.initial[0])])[0]
    counts: dict[Any, int] = {("class", name): count for name, count in block.counts.items()}
    for fluent in graph.domain.predicates:
        if fluent.arity:
            counts["predicate", fluent.name] = int(np.count_nonzero(block.tables[fluent.name][0]))
    return counts


def _always_one(graphs: Sequence[StateGraph]) -> set[Any]:
    """What there is one of in every problem: the place of the only lift, say. Two of it would be another world."""
    numbers = [_numbers(g) for g in graphs]
    return {name for name in numbers[0] if all(n.get(name) == 1 for n in numbers)}


def _interleaved(
    graph: StateGraph, parts: Sequence[Sequence[Hashable]], rng: np.random.Generator
) -> tuple[Plan, tuple[tuple[Hashable, ...], ...]] | None:
    """Both plans woven into one that reaches the goal; None where this weaving does not."""
    states, actions, also = [int(graph.initial[0])], list[Hashable](), list[tuple[Hashable, ...]]()
    done = [0, 0]
    while not graph.goal(states[-1]):
        ways = []
        for which, part in enumerate(parts):
            if done[which] < len(part):
                following = next_state(graph, states[-1], part[done[which]])
                if following is not None:
                    ways.append((which, part[done[which]], following))
        if not ways:
            return None
        which, action, following = ways[int(rng.integers(len(ways)))]
        also.append(tuple(other for w, other, _ in ways if w != which))
        actions.append(action)
        states.append(following)
        done[which] += 1
    count = len(actions)
    plan = Plan(tuple(graph.states[s] for s in states), tuple(actions), (0,) * count, (1.0,) * count, (False,) * count)
    return plan, tuple(also)
