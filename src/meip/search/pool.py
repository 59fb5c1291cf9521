"""Pool: plans with base weights, from which log Z and expectations under any utility are computed.

Where the plans can be listed the pool is exact. Else it is made of samples from several distributions, all kept, and
weighted by MBAR: each plan counts by how likely the mixture of all the distributions was to draw it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from meip.base.arrays import Floats
from meip.base.errors import BudgetError
from meip.model.graph import StateGraph, state_graph
from meip.search.plans import PlanSet, concatenate, enumerate_plans, history_count, roll_out, sample_model
from meip.utility.ordering import batch_relaxed
from meip.utility.ranking import Ranking

__all__ = ["Draw", "Drawn", "Pool", "PoolOptions", "drawn", "effective_sample_size", "relaxed_log_odds"]


@dataclass(frozen=True)
class PoolOptions:
    """How plans are gathered."""

    exact_limit: int = 60_000
    """List all plans where there are at most this many."""
    rollouts: int = 600
    samples: int = 100
    """Samples of the current model, added after each accepted concept and at the end."""


@dataclass
class _Source:
    """A distribution that plans were drawn from: log density relative to P0, up to its log normaliser."""

    count: int
    log_odds: Callable[[PlanSet], Floats]
    log_z: float
    known: bool  # is log_z exact?


class Draw(NamedTuple):
    """Samples of a model that are to be drawn, here or elsewhere."""

    world: Any
    start: Any
    """A state."""
    horizon: int
    samples: int
    seed: int


class Drawn(NamedTuple):
    """Samples of a model, by places in a list of states of their world."""

    plans: PlanSet
    states: list[Any]
    log_z: float


def drawn(wanted: Draw, ranking: Ranking) -> Drawn:
    """Draw them, in a graph of their own: look-ahead sees many states that are never drawn."""
    graph = state_graph(wanted.world)
    start = graph.intern(wanted.start)
    found, log_z = sample_model(graph, ranking, start, wanted.horizon, wanted.samples, wanted.seed)
    used = np.unique(found.states[found.states >= 0])
    places = np.where(found.states >= 0, np.searchsorted(used, found.states), -1)
    plans = PlanSet(places, np.full_like(places, -1), found.lengths, found.log_base)
    return Drawn(plans, [graph.states[int(s)] for s in used], log_z)


class Pool:
    """Plans of one case."""

    def __init__(self, graph: StateGraph, start: int, horizon: int, options: PoolOptions, seed: int = 0) -> None:
        self.graph, self.start, self.horizon, self.options = graph, start, horizon, options
        self._seed = np.random.SeedSequence(seed)
        self.exact = history_count(graph, start, horizon, options.exact_limit) <= options.exact_limit
        self._sources: list[_Source] = []
        self.plans: PlanSet
        self.log_weight: Floats
        if self.exact:
            self.plans = enumerate_plans(graph, start, horizon, options.exact_limit)
            self.log_weight = self.plans.log_base
            return
        if options.rollouts < 1:
            raise BudgetError(f"more than {options.exact_limit} plans: a pool needs rollouts, or a larger exact_limit")
        self.plans = roll_out(graph, start, horizon, options.rollouts, self._next_seed())
        self._sources = [_Source(options.rollouts, lambda plans: np.zeros(len(plans)), 0.0, known=True)]
        self._weigh()

    def __len__(self) -> int:
        return len(self.plans)

    def grow(self, ranking: Ranking, count: int | None = None) -> None:
        """Add samples of the current model; an exact pool has all plans already."""
        wanted = self.wanted(count)
        if wanted is not None:
            self.add(ranking, wanted, drawn(wanted, ranking))

    def wanted(self, count: int | None = None) -> Draw | None:
        """The samples to draw next, by whoever it may be; None where all plans are there already."""
        if self.exact:
            return None
        count = self.options.samples if count is None else count
        return Draw(self.graph.world, self.graph.states[self.start], self.horizon, count, self._next_seed())

    def add(self, ranking: Ranking, wanted: Draw, found: Drawn) -> None:
        """Add what was drawn by a ranking."""
        numbers = np.array([*(self.graph.intern(state) for state in found.states), -1], np.int64)
        states = numbers[found.plans.states]  # -1 stays
        plans = PlanSet(states, np.full_like(states, -1), found.plans.lengths, found.plans.log_base)
        self._add(_Source(wanted.samples, _log_odds(self.graph, ranking), found.log_z, known=False), plans)

    def branch(self, demonstration: tuple[int, ...], count: int) -> None:
        """Add plans that follow a demonstration for a while and then go their own way.

        P0 given a prefix has density 1 / P0(prefix) relative to P0 on the plans that share the prefix.
        """
        if self.exact:
            return
        steps = range(1, min(len(demonstration), self.horizon))
        for t in steps:
            log_prefix = self._log_base(demonstration[: t + 1])
            share = max(1, count // len(steps))
            drawn, _ = sample_model(
                self.graph, None, demonstration[t], self.horizon, share, self._next_seed(), prefix=demonstration[:t]
            )
            drawn = PlanSet(drawn.states, drawn.actions, drawn.lengths, drawn.log_base + log_prefix)
            self._add(_Source(share, _sharing(demonstration[: t + 1], log_prefix), 0.0, known=True), drawn)

    def log_z(self, log_odds: Floats) -> float:
        """log of the sum over plans of P0 exp(u), given u for each plan of the pool."""
        total = self.log_weight + log_odds
        top = total.max()
        return float(top + np.log(np.exp(total - top).sum()))

    def effective_size(self, log_odds: Floats) -> float:
        """How many equally weighted samples the pool is worth under this model."""
        return effective_sample_size(self.log_weight + log_odds)

    def _add(self, source: _Source, drawn: PlanSet) -> None:
        self.plans = concatenate([self.plans, drawn])
        self._sources.append(source)
        self._weigh()

    def _weigh(self) -> None:
        """MBAR: log weight = -log sum_k n_k exp(log_odds_k - log Z_k), with the unknown Z_k solved for."""
        odds = np.array([source.log_odds(self.plans) for source in self._sources])  # [K, N]
        counts = np.log([source.count for source in self._sources])
        log_z = np.array([source.log_z for source in self._sources])
        unknown = np.array([not source.known for source in self._sources])
        for _ in range(200):
            self.log_weight = -_log_sum(counts[:, None] + odds - log_z[:, None], axis=0)
            if not unknown.any():
                break
            solved = _log_sum(odds + self.log_weight[None, :], axis=1)
            change = np.abs(solved - log_z)[unknown].max()
            log_z[unknown] = solved[unknown]
            if change < 1e-9:
                break
        for source, value in zip(self._sources, log_z, strict=True):
            source.log_z = float(value)

    def _log_base(self, states: tuple[int, ...]) -> float:
        """log P0 of a sequence of states; a step that the world does not list counts as one more action."""
        total = 0.0
        for state, following in pairwise(states):
            ways = {tuple(sorted((round(p, 12), s) for p, s in fan)) for fan in self.graph.fan(state)}
            mass = sum(p for way in ways for p, s in way if s == following)
            total += float(np.log(mass / len(ways))) if mass > 0 else -float(np.log(len(ways) + 1))
        return total

    def _next_seed(self) -> int:
        return int(self._seed.spawn(1)[0].generate_state(1, np.uint64)[0])


def effective_sample_size(log_weight: Floats) -> float:
    weight = np.exp(log_weight - log_weight.max())
    return float(weight.sum() ** 2 / (weight**2).sum())


def relaxed_log_odds(plans: PlanSet, g: Floats) -> Floats:
    """u(plan) = lambda(h) * relaxed tau with lambda(h) = 2(h - 1), for each plan; a committee's mean for several g."""
    columns = g.reshape(len(g), -1)
    tau = [
        batch_relaxed(plans.states, plans.lengths, np.ascontiguousarray(columns[:, m])) for m in range(columns.shape[1])
    ]
    return np.asarray(2.0 * (plans.lengths - 1) * np.mean(tau, axis=0), dtype=np.float64)


def _log_odds(graph: StateGraph, ranking: Ranking) -> Callable[[PlanSet], Floats]:
    return lambda plans: relaxed_log_odds(plans, ranking(graph))


def _sharing(prefix: tuple[int, ...], log_prefix: float) -> Callable[[PlanSet], Floats]:
    def log_odds(plans: PlanSet) -> Floats:
        shares = (plans.states[:, : len(prefix)] == np.array(prefix)).all(axis=1)
        return np.where(shares, -log_prefix, -np.inf)

    return log_odds


def _log_sum(values: Floats, axis: int) -> Floats:
    top = values.max(axis=axis, keepdims=True)
    return np.asarray(np.squeeze(top, axis) + np.log(np.exp(values - top).sum(axis=axis)), dtype=np.float64)
