"""Small worlds drawn at random, with chance, early ends and loops; and brute-force answers in plain Python."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from meip.model.domain import Domain, EntityClass, Facts, predicate
from meip.model.graph import StateGraph
from meip.search.find import find
from meip.search.query import Found, Query
from meip.utility.ranking import Ranking, ScoreRanking

THINGS = 3
DOMAIN = Domain("random", (EntityClass("thing"),), tuple(predicate(f"p{k}", "thing") for k in range(4)))


@dataclass(frozen=True)
class RandomWorld:
    """States 0, 1, ..; written without inheriting from World, as a user might."""

    seed: int
    states: int = 6
    horizon: int = 4
    choices: int = 3
    chance: bool = True
    starts: int = 1

    domain = DOMAIN

    def _rng(self, *place: int) -> np.random.Generator:
        return np.random.default_rng([self.seed, *place])

    def initial(self) -> list[tuple[float, int]]:
        return [(1 / self.starts, s) for s in range(self.starts)]

    @cache  # noqa: B019  (worlds of tests are few and small)
    def actions(self, state: int) -> list[str]:
        count = int(self._rng(1, state).integers(1 if state < self.starts else 0, self.choices + 1))
        return [f"act{k}" for k in range(count)]

    @cache  # noqa: B019
    def outcomes(self, state: int, action: str) -> list[tuple[float, int]]:
        rng = self._rng(2, state, int(action[3:]))
        count = int(rng.integers(1, 4)) if self.chance else 1
        odds = rng.dirichlet(np.ones(count))
        return [(float(p), int(rng.integers(self.states))) for p in odds]

    def facts(self, state: int) -> Facts:
        rng = self._rng(3, state)
        return Facts.build(DOMAIN, {"thing": THINGS}, {f"p{k}": rng.random(THINGS) < 0.5 for k in range(4)})


def ranks(seed: int, states: int, members: int = 1) -> np.ndarray:
    """g of each state of the world, with ties."""
    return np.random.default_rng([seed, 9]).integers(-3, 4, (states, members)) / 2.0


def ranking_of(table: np.ndarray) -> ScoreRanking:
    """A ranking by a table of g for the world's own states."""
    return ScoreRanking(lambda graph, states: table[[int(graph.states[n]) for n in states]], table.shape[1])


def by_number(g: np.ndarray) -> ScoreRanking:
    """A ranking by a table of g for the numbers of a graph."""
    return ScoreRanking(lambda graph, states: g[states], g.shape[1])


def search(graph: StateGraph, ranking: Ranking, history: Sequence[int] | None = None, **query: Any) -> Found:
    """From the first initial state, unless told otherwise."""
    return find(graph, ranking, [int(graph.initial[0])] if history is None else history, Query(**query))


def branches(world: Any, state: Any) -> list[list[tuple[float, Any]]]:
    """For each action its outcomes, equal states merged."""
    found = []
    for action in world.actions(state):
        merged: dict[Any, float] = {}
        for p, s in world.outcomes(state, action):
            merged[s] = merged.get(s, 0.0) + p
        found.append([(p, s) for s, p in merged.items()])
    return found


def all_plans(world: Any, path: tuple[Any, ...], horizon: int) -> Iterator[tuple[tuple[Any, ...], float]]:
    """Every plan that continues a path, with its P0 (actions with equal outcomes share that of one); one for each
    sequence of actions and outcomes."""
    moves = branches(world, path[-1]) if len(path) < horizon else []
    if not moves:
        yield path, 1.0
    kinds = [frozenset((round(p, 12), s) for p, s in outcomes) for outcomes in moves]
    for kind, outcomes in zip(kinds, moves, strict=True):
        for p, s in outcomes:
            for plan, q in all_plans(world, (*path, s), horizon):
                yield plan, p / len(set(kinds)) / kinds.count(kind) * q


def pair_mean(g: np.ndarray, plan: Sequence[int], scale: float) -> float:
    """Mean over pairs and members of tanh(scale * difference); of signs for scale 0."""
    pairs = [(a, b) for i, a in enumerate(plan) for b in plan[:i]]
    if not pairs:
        return 0.0
    differences = np.array([g[a] - g[b] for a, b in pairs])
    signs = np.tanh(scale * differences) if scale > 0 else np.sign(differences)
    return float(signs.mean())


def worth(g: np.ndarray, plan: Sequence[int], chance: str, scale: float, horizon: int, threshold: float) -> float:
    soft = pair_mean(g, plan, scale)
    if chance == "expectation":
        return soft
    if chance == "posterior":
        return math.exp(2 * (len(plan) - 1) * soft - 2 * (horizon - 1))
    return float(pair_mean(g, plan, 0.0) >= threshold - 1e-9) + 1e-3 * soft


def expectimax(world: Any, path: tuple[Any, ...], horizon: int, value: Any) -> tuple[float, list[float]]:
    """The best expected value of a history, and that of each of its actions."""
    moves = branches(world, path[-1]) if len(path) < horizon else []
    if not moves:
        return value(path), []
    means = [sum(p * expectimax(world, (*path, s), horizon, value)[0] for p, s in outcomes) for outcomes in moves]
    return max(means), means


def world_states(graph: StateGraph, numbers: Sequence[int]) -> tuple[Any, ...]:
    return tuple(graph.states[n] for n in numbers)
