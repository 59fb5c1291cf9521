"""WL features of states (wlplan) as a peer: the same demonstrations, objective and searches, other features."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from meip import Episode, Found, Query, StateGraph
from meip.learning.evidence import Evidence
from meip.learning.readings import only_needed
from meip.learning.sparse import Problem, path, strength_of
from meip.model.choices import replay_all
from meip.search.find import find
from meip.utility.ranking import ScoreRanking
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.graph import PackedGraph
from meip.worlds.pddl.world import goal_atoms

__all__ = ["WlAgent", "available"]

ITERATIONS = 2


def available() -> bool:
    """Is wlplan installed?"""
    return find_spec("wlplan") is not None


class WlAgent:
    """Searches by weights of WL features that were learned from choices, read as MEIP reads them."""

    def __init__(self, episodes: Sequence[Episode], iterations: int = ITERATIONS, reading: str = "shown") -> None:
        from wlplan.feature_generator import init_feature_generator

        self._given = (tuple(episodes), iterations, reading)
        replayed = replay_all(episodes)
        evidence = Evidence((only_needed(replayed) or replayed) if reading == "needed" else replayed)
        graphs = evidence.replayed.graphs
        first = cast(PackedGraph, graphs[0])
        self._domain, self._predicates = _domain(first.world)
        self._generator = init_feature_generator("wl", self._domain, iterations=iterations)
        self._problems: WeakKeyDictionary[StateGraph, Any] = WeakKeyDictionary()
        states = np.array(evidence.states, np.int64).reshape(-1, 2)
        data = [(cast(PackedGraph, g), states[states[:, 0] == k, 1]) for k, g in enumerate(graphs)]
        self._generator.collect(self._dataset(data))
        values = np.array(self._generator.embed(self._dataset(data)), dtype=np.float64)
        problem = Problem.of(evidence, evidence.change(values), np.ones(values.shape[1]))
        others = [(problem, np.where(evidence.demo != d, 1.0, 0.0)) for d in range(evidence.kinds)]
        strength = strength_of(problem, evidence.demo, others).value
        self.weights = path(problem, strength, np.ones(evidence.count))
        self.ranking = ScoreRanking(self._score)

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        return find(graph, self.ranking, history, query.changed(method="gbfs") if query.method == "auto" else query)

    def __reduce__(self) -> tuple[type[WlAgent], tuple[Any, ...]]:
        """Another process learns the same again: what wlplan made does not travel."""
        return WlAgent, self._given

    def _score(self, graph: StateGraph, states: NDArray[np.int64]) -> NDArray[np.float64]:
        found = self._generator.embed(self._dataset([(cast(PackedGraph, graph), states)]))
        return np.asarray(np.array(found, dtype=np.float64) @ self.weights, dtype=np.float64)

    def _dataset(self, data: Sequence[tuple[PackedGraph, NDArray[np.int64]]]) -> Any:
        """States of graphs as wlplan knows them."""
        from wlplan.data import DomainDataset, ProblemDataset

        sets = []
        for graph, numbers in data:
            if graph not in self._problems:
                self._problems[graph] = _problem(graph.world, self._domain, self._predicates)
            states = [_state(graph.world, row, self._predicates) for row in graph.rows(numbers)]
            sets.append(ProblemDataset(problem=self._problems[graph], states=states))
        return DomainDataset(domain=self._domain, data=sets)


def _domain(world: PddlWorld) -> tuple[Any, dict[str, Any]]:
    from wlplan.planning import Domain, Predicate

    own = [f for f in world.domain.predicates if f.goal_of is None and f.name in world.file.predicates]
    predicates = {f.name: Predicate(name=f.name, arity=f.arity) for f in own}
    ordered = [predicates[name] for name in sorted(predicates)]
    return Domain(
        name=world.domain.name, predicates=ordered, functions=[], schemata=[], constant_objects=[]
    ), predicates


def _problem(world: PddlWorld, domain: Any, predicates: dict[str, Any]) -> Any:
    from wlplan.planning import Atom, Problem

    changing = world.instance.words.changing
    statics = [Atom(predicates[a.name], list(a.args)) for a in world.problem.atoms if a.name not in changing]
    goals = [Atom(predicates[a.name], list(a.args)) for a in goal_atoms(world.instance, world.problem.goal)]
    objects = sorted(world.problem.all_objects(world.file))
    return Problem(
        domain=domain,
        objects=objects,
        statics=statics,
        fluents=[],
        fluent_values=[],
        positive_goals=goals,
        negative_goals=[],
        numeric_goals=[],
    )


def _state(world: PddlWorld, row: NDArray[np.uint64], predicates: dict[str, Any]) -> Any:
    from wlplan.planning import Atom, State

    facts = (text[1:-1].split() for text in world.engine.fact_texts(row))
    return State([Atom(predicates[words[0]], words[1:]) for words in facts if words[0] in predicates])
