"""Scores of packed states for the planners: goal counting, none at all, and delete-relaxed distances."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, cast

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.base.kernels import kernel
from meip.utility.ranking import ScoreRanking
from meip.worlds.pddl.engine import BaseEngine, Engine

if TYPE_CHECKING:
    from meip.worlds.pddl.graph import PackedGraph

__all__ = ["RelaxedDistance", "blind", "goal_count", "relaxed_distances", "score_of"]


def score_of(score: Callable[[Words], Floats]) -> ScoreRanking:
    """A score of packed states as a ranking of the states of a `PackedGraph`."""
    return ScoreRanking(lambda graph, states: score(cast("PackedGraph", graph).rows(states)))


def blind(states: Words) -> Floats:
    """Every state is as good as any other."""
    return np.zeros(len(states))


def goal_count(engine: BaseEngine, states: Words) -> Floats:
    """Minus the number of goal literals that do not hold."""
    return -engine.unmet(states).astype(np.float64)


@kernel
def relaxed_distances(
    bits: Bools,  # [K, facts]
    need_start: Ints,  # [A + 1]
    need_fact: Ints,
    used_start: Ints,  # [facts + 1] the actions that need each fact
    used_action: Ints,
    add_start: Ints,  # [A + 1]
    add_fact: Ints,
    free: Ints,  # actions that need nothing
    goal: Ints,
    add: bool,
) -> Floats:
    """h_add (sums) or h_max (maxima) of each state with unit costs, by label correction; inf where out of reach."""
    facts = bits.shape[1]
    result = np.empty(bits.shape[0])
    queue = np.empty(facts + 1, dtype=np.int64)  # a ring
    waiting = np.zeros(facts, dtype=np.bool_)
    for k in range(bits.shape[0]):
        cost = np.full(facts, np.inf)
        head = tail = 0
        for f in range(facts):
            if bits[k, f]:
                cost[f] = 0.0
                queue[tail] = f
                tail += 1
                waiting[f] = True
        for a in free:
            for j in range(add_start[a], add_start[a + 1]):
                f = add_fact[j]
                if cost[f] > 1.0:
                    cost[f] = 1.0
                    queue[tail] = f
                    tail += 1
                    waiting[f] = True
        while head != tail:
            fact = queue[head]
            head = (head + 1) % (facts + 1)
            waiting[fact] = False
            for i in range(used_start[fact], used_start[fact + 1]):
                a = used_action[i]
                price = 1.0
                for j in range(need_start[a], need_start[a + 1]):
                    c = cost[need_fact[j]]
                    price = price + c if add else max(price, 1.0 + c)
                if price == np.inf:
                    continue
                for j in range(add_start[a], add_start[a + 1]):
                    f = add_fact[j]
                    if price < cost[f]:
                        cost[f] = price
                        if not waiting[f]:
                            waiting[f] = True
                            queue[tail] = f
                            tail = (tail + 1) % (facts + 1)
        total = 0.0
        for f in goal:
            total = total + cost[f] if add else max(total, cost[f])
        result[k] = total
    return result


class RelaxedDistance:
    """Steps to the goal if nothing were ever deleted: summed over goals (add) or the farthest (max, never too many)."""

    def __init__(self, engine: Engine, combine: Literal["add", "max"] = "add") -> None:
        self._engine, self._add = engine, combine == "add"
        table, facts = engine.table, engine.layout.words * 64
        owners, needed = engine.needed
        self._need_start = np.searchsorted(owners, np.arange(table.actions + 1)).astype(np.int64)
        self._need = needed.astype(np.int64)
        order = np.argsort(needed, kind="stable")
        self._used = owners[order].astype(np.int64)
        self._used_start = np.searchsorted(needed[order], np.arange(facts + 1)).astype(np.int64)
        self._free = np.flatnonzero(np.diff(self._need_start) == 0).astype(np.int64)
        self._add_start, self._adds = _additions(engine)
        self._goal = np.array([f.bit for f in engine.goal_facts if f.positive], dtype=np.int64)

    def __call__(self, states: Words) -> Floats:
        rows = self._engine.rows(states)
        bits = np.unpackbits(
            np.ascontiguousarray(rows[:, : self._engine.layout.words]).view(np.uint8), axis=1, bitorder="little"
        ).view(np.bool_)
        return relaxed_distances(
            bits,
            self._need_start,
            self._need,
            self._used_start,
            self._used,
            self._add_start,
            self._adds,
            self._free,
            self._goal,
            self._add,
        )


def _additions(engine: Engine) -> tuple[Ints, Ints]:
    """For each action the facts that any of its outcomes, under whatever condition, makes true."""
    table = engine.table
    action_of = np.repeat(np.arange(table.actions), np.diff(table.outcome_start))
    patched = np.repeat(np.arange(len(table.probability)), np.diff(table.patch_start))
    bits = np.unpackbits(np.ascontiguousarray(table.patch_set[:, None]).view(np.uint8), axis=1, bitorder="little")
    patch, bit = np.nonzero(bits)
    when = np.repeat(np.arange(len(table.probability)), np.diff(table.when_start))[table.when_add == 1]
    owners = np.concatenate([action_of[patched[patch]], action_of[when]])
    facts = np.concatenate([table.patch_word[patch] * 64 + bit, table.when_fact[table.when_add == 1]])
    pairs = np.unique(np.stack([owners, facts], axis=1), axis=0)
    starts = np.searchsorted(pairs[:, 0], np.arange(table.actions + 1)).astype(np.int64)
    return starts, np.ascontiguousarray(pairs[:, 1])
