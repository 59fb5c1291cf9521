"""WL features of states (wlplan) as a peer: the same demonstrations, objective and searches, other features."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.learning.stepwise.objective import build_problem, fit
from meip.learning.stepwise.steps import Steps
from meip.model.demonstrations import Episode
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.planners import Score
from meip.worlds.pddl.world import goal_atoms

__all__ = ["available", "learn"]

STRENGTH = 0.01
ITERATIONS = 2


def available() -> bool:
    """Is wlplan installed?"""
    return find_spec("wlplan") is not None


def learn(
    episodes: Sequence[Episode], iterations: int = ITERATIONS, reading: str = "shown"
) -> Callable[[PddlWorld], Score]:
    """A score of packed states for any problem of the domain, from demonstrations (read as in `Steps`)."""
    from wlplan.data import DomainDataset, ProblemDataset
    from wlplan.feature_generator import init_feature_generator

    steps = Steps(episodes)
    demonstrations = steps.readings[reading]
    first: PddlWorld = episodes[0].world
    domain, predicates = _domain(first)
    generator = init_feature_generator("wl", domain, iterations=iterations)
    sets = []
    for number, graph in enumerate(steps.graphs):
        world: Any = graph.world
        numbers = [s for s, p in zip(steps.numbers, steps.problem_of, strict=True) if p == number]
        states = [_state(world, np.frombuffer(graph.states[n], np.uint64), predicates) for n in numbers]
        sets.append(ProblemDataset(problem=_problem(world, domain, predicates), states=states))
    data = DomainDataset(domain=domain, data=sets)
    generator.collect(data)
    values = np.array(generator.embed(data), dtype=np.float64)
    w = fit(build_problem(values, demonstrations, also=False), np.full(values.shape[1], STRENGTH))

    def score_of(world: PddlWorld) -> Score:
        problem = _problem(world, domain, predicates)

        def score(rows: NDArray[np.uint64]) -> NDArray[np.float64]:
            found = [_state(world, row, predicates) for row in rows]
            one = DomainDataset(domain=domain, data=[ProblemDataset(problem=problem, states=found)])
            return np.asarray(np.array(generator.embed(one), dtype=np.float64) @ w, dtype=np.float64)

        return score

    return score_of


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
