"""Folding problems with frozen trees of proposed folds: expanded once, then any number of utilities plan on them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import WorldError
from meip.model.demonstrations import SEEDS, Demonstration, Episode, replay
from meip.model.domain import FactBlock, Facts
from meip.model.graph import StateGraph
from meip.model.problems import load_problem
from meip.search.plans import PlanSet, enumerate_plans
from meip.search.search import Limits, Method, Options, search
from meip.search.tree import max_backup, random_rollout, uct
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.demonstrate import script_orders, scripted_folds
from meip.worlds.folding.fluents import fact_blocks
from meip.worlds.folding.folds import Fold, fold, pile
from meip.worlds.folding.proposal import Proposal, propose
from meip.worlds.folding.referee import Referee, Verdict
from meip.worlds.folding.world import WILD, Folding

__all__ = ["Edges", "FragmentEdges", "Lesson", "Problem", "Script", "random_folds"]

Floats = NDArray[np.float64]
Edges = Literal["silhouette", "fragments"]
HORIZON = 4
EXPLORATION = 1.0  # with .3 a good first fold is often missed
WIDENING = (2.0, 0.5)  # k = 2 sqrt(visits), where states are made as the search goes on
# Nothing is left to chance here, so a fold is worth the best plan seen behind it: the best of all 4,913 plans is then
# found by 86 % of the searches on tuning seeds; 61 % with mean returns, 44 % with those and widening.
RULES = (uct, random_rollout, max_backup)
WIDTH = 8  # of the beam
SCRIPT_ATTEMPTS = 5


@dataclass(frozen=True)
class FragmentEdges(Folding):
    """Folding with another universe of edges (ablation): the raw fragments of all polygons, hidden ones too."""

    def __reduce__(self) -> tuple[Any, ...]:
        return FragmentEdges, (self.garment, self.horizon, self.proposal, self.candidates, self.seed)

    def facts(self, state: Cloth) -> Facts:
        (block,) = fact_blocks(pile([state]), "fragments")
        return Facts(block.counts, {name: table[0] for name, table in block.tables.items()})

    def facts_batch(self, states: Sequence[Cloth]) -> list[FactBlock]:
        return fact_blocks(pile(states), "fragments") if states else []


@dataclass(frozen=True)
class Lesson:
    """Demonstrations, and the proposal that remembers their folds."""

    demonstrations: tuple[Demonstration, ...]
    proposal: Proposal
    trained: str
    edges: Edges = "silhouette"

    def world(self, garment: Garment, horizon: int, candidates: int, seed: int, *, wild: bool = False) -> Folding:
        """A garment with the folds that the proposal brings up; `wild`: many of them from the uniform grid."""
        kind = Folding if self.edges == "silhouette" else FragmentEdges
        return kind(garment, horizon, replace(self.proposal, uniform=WILD) if wild else self.proposal, candidates, seed)

    def episodes(self, candidates: int, seed: int) -> list[Episode]:
        """Each demonstration in a world that lists proposed folds beside the one that was shown.

        Many of them come from the uniform grid: what nobody showed has to be seen to be learned as worse.
        """
        found = []
        for number, one in enumerate(self.demonstrations):
            world = load_problem(one.problem)
            if not isinstance(world, Folding):
                raise WorldError(f"demonstration {number + 1} is of another world; expected one of folding")
            shown = replay(world, one, where=f"demonstration {number + 1}")
            wider = self.world(world.garment, len(shown), candidates, SEEDS * seed + number, wild=True)
            found.append(Episode(wider, one))
        return found


@dataclass(frozen=True)
class Script:
    """A scripted order of folds on a garment, as state numbers: good (sleeves first) or bad."""

    states: tuple[int, ...]
    good: bool


@dataclass
class Problem:
    """A garment with the frozen tree of its proposed folds."""

    kind: str
    garment: Garment
    graph: StateGraph
    scripts: tuple[Script, ...]
    _plans: PlanSet | None = field(default=None, repr=False)
    _verdicts: dict[tuple[int, ...], Verdict] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._referee = Referee(self.garment)

    @classmethod
    def frozen(cls, kind: str, garment: Garment, lesson: Lesson, candidates: int, seed: int) -> Problem:
        """Expand everything that can be folded within the horizon."""
        graph = StateGraph(lesson.world(garment, HORIZON, candidates, seed))
        graph.expand_all(max_seconds=600.0)
        return cls(kind, garment, graph, _scripts(garment, graph, seed))

    def plan(self, g: Floats, method: Method, scale: float, simulations: int, seed: int) -> tuple[int, ...]:
        """The best plan by the mean tau of the columns of g: by looking at all plans, by a beam, or by tree search; or
        the likeliest by its steps."""
        width = WIDTH if method == "beam" else Options.width
        options = Options(scale=scale, exploration=EXPLORATION, width=width, rules=RULES)
        found = search(
            self.graph,
            lambda graph: g,
            method=method,
            options=options,
            limits=Limits(iterations=simulations),
            seed=seed,
        )
        return found.best_states

    def best_by_visits(self, reward: Floats) -> tuple[int, ...]:
        """The plan with the greatest sum of rewards, as MaxEnt-IRL wants it."""
        plans = self.plans
        return plans.plan(int(np.argmax(np.where(plans.states >= 0, reward[plans.states], 0.0).sum(axis=1))))

    def random_plans(self, count: int, rng: np.random.Generator) -> list[tuple[int, ...]]:
        """Plans drawn from P0: any of the proposed folds, again and again."""
        found = []
        for _ in range(count):
            states = [int(self.graph.initial[0])]
            while len(states) < HORIZON and (following := self.graph.successors(states[-1])):
                states.append(following[int(rng.integers(len(following)))])
            found.append(tuple(states))
        return found

    @property
    def plans(self) -> PlanSet:
        """All plans of the tree."""
        if self._plans is None:
            self._plans = enumerate_plans(self.graph, int(self.graph.initial[0]), HORIZON)
        return self._plans

    def judge(self, states: tuple[int, ...]) -> Verdict:
        if states not in self._verdicts:
            self._verdicts[states] = self._referee.judge([self.graph.states[s] for s in states])
        return self._verdicts[states]

    def folds(self, states: Sequence[int]) -> list[Fold]:
        """The folds that lead from state to state."""
        found = []
        for state, following in pairwise(states):
            numbers = self.graph.action_numbers(state)
            found.append(next(self.graph.actions[n] for n in numbers if self.graph.outcomes(n)[0][1] == following))
        return found


def _scripts(garment: Garment, graph: StateGraph, seed: int) -> tuple[Script, ...]:
    """Good and bad orders of the same folds, to be ranked without any search."""
    found = []
    for good, orders in zip((True, False), script_orders(garment), strict=True):
        for number, order in enumerate(orders):
            cloths = _scripted(garment, order, seed * 100 + 10 * number + good)
            if cloths is not None:
                found.append(Script(tuple(graph.intern(c) for c in cloths), good))
    return tuple(found)


def _scripted(garment: Garment, order: Sequence[str], seed: int) -> list[Cloth] | None:
    rng = np.random.default_rng(seed)
    for _ in range(SCRIPT_ATTEMPTS):
        cloths = [Cloth.flat(garment)]
        try:
            for action in scripted_folds(garment, order, rng):
                cloths.append(fold(cloths[-1], action))
        except WorldError:
            continue  # the noise put an end of the segment inside the cloth
        return cloths
    return None


def random_folds(garment: Garment, count: int, rng: np.random.Generator) -> list[list[Cloth]]:
    """Plans of folds from the uniform grid, without any proposal."""
    nothing = Proposal()
    found = []
    for _ in range(count):
        cloths = [Cloth.flat(garment)]
        while len(cloths) < HORIZON:
            legal = propose(cloths[-1], nothing, 1, rng)
            if not legal:
                break
            cloths.append(legal[0][1])
        found.append(cloths)
    return found
