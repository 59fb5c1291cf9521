"""The paper's second experiment: the same ritual where the order of the stages is free, and with more objects.

Learn from five demonstrations in a world that enforces the order of the stages, or in one that leaves it free; plan
where it is free, with 5 and 6 objects. Are the right things offered, and in the right order?
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from meip.base.parallel import parallel_map
from meip.base.results import Progress, Row, mean_row, no_progress, share_row
from meip.baselines.maxent_irl import MaxEntIRL
from meip.baselines.tabular import TabularWorld
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.concepts.values.columns import GraphColumns
from meip.experiments.rites import PAPER, Rite, demonstrate, grade, paper_demonstrations, random_rite
from meip.learning.learner import Learner, Objective
from meip.learning.pursuit import Pursuit
from meip.model.demonstrations import Episode
from meip.model.graph import StateGraph
from meip.search.search import search
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility

__all__ = ["PAPER_TAU", "held_out", "run"]

NAME = "structural-change"
PAPER_TAU = 0.9603
WORLDS = {"enforced-5": ("enforced", 5), "free-5": ("free", 5), "free-6": ("free", 6)}
TEST_OBJECTS = (4, 5, 6, 7)


def run(searches: int = 20, seed: int = 0, quick: bool = False, progress: Progress = no_progress) -> list[Row]:
    """Learn in either world, plan in all three, `searches` tree searches per cell; the baselines beside it."""
    rows: list[Row] = []
    for trained in ("enforced", "free"):
        episodes = paper_demonstrations(trained)
        progress(f"pursuing concepts in the {trained} world")
        pursued = Pursuit(seed=seed).fit(episodes)
        rows.append(_recovery(trained, pursued.concepts_))
        rows += _planned("meip", trained, pursued.utility_, searches, seed)
        for objective in ("svm", "svm-literal"):
            progress(f"the Ranking SVM ({objective}) in the {trained} world")
            rows += _planned(f"meip-{objective}", trained, _svm(objective, episodes, pursued.concepts_), searches, seed)
        for statistic in ("final", "visits"):
            progress(f"MaxEnt-IRL with {statistic} in the {trained} world")
            rows += _baseline(trained, statistic, episodes, searches, seed)
    for row in rows:
        if row["method"] == "meip" and row["metric"] == "order_tau" and row["world"] != "enforced-5":
            row["paper"] = PAPER_TAU
    return rows


def _svm(objective: Objective, episodes: Sequence[Episode], concepts: Sequence[Concept]) -> Utility:
    return Learner(tuple(concepts), objective=objective).fit(episodes).utility_


def _recovery(trained: str, concepts: Sequence[Concept]) -> Row:
    """How many of the three concepts of the demonstrator were found, without being told."""
    found = {str(c) for c in concepts}
    hits = sum(c in found for c in PAPER.concepts())
    conditions = {"experiment": NAME, "method": "meip", "metric": "concepts_found", "trained": trained}
    return {**conditions, "world": trained, "value": float(hits), "n": 1, "concepts": "; ".join(sorted(found))}


def _planned(method: str, trained: str, utility: Utility, searches: int, seed: int) -> list[Row]:
    rows = []
    ranking = UtilityRanking([utility])
    for name, (order, objects) in WORLDS.items():
        graph = StateGraph(PAPER.world(order, objects))
        graph.expand_all()
        plans = [search(graph, ranking, method="mcts", seed=1000 * seed + k).best_states for k in range(searches)]
        rows += _graded(PAPER, graph, plans, seed, method=method, trained=trained, world=name, search="mcts")
    return rows


def _graded(rite: Rite, graph: StateGraph, plans: Sequence[Sequence[int]], seed: int, **conditions: Any) -> list[Row]:
    grades = [grade(rite, graph, plan) for plan in plans]
    base = {"experiment": NAME, **conditions}
    return [
        mean_row([g[0] for g in grades], seed, **base, metric="order_tau"),
        mean_row([g[1] for g in grades], seed, **base, metric="match"),
    ]


def _baseline(trained: str, statistic: str, episodes: Sequence[Episode], searches: int, seed: int) -> list[Row]:
    """MaxEnt-IRL on the demonstrator's own three concepts; plans are drawn from its optimal policy, ties at random."""
    world, graph = _tabular(episodes[0].world)
    shown = [[graph.intern(s) for s in _states(episode)] for episode in episodes]
    fitted = MaxEntIRL(statistic=statistic).fit(world, shown)  # type: ignore[arg-type]
    rows = []
    for name, (order, objects) in WORLDS.items():
        test, test_graph = _tabular(PAPER.world(order, objects))
        plans = fitted.sample(test, searches, seed=seed)
        conditions = {"method": "maxent-irl", "statistic": statistic, "trained": trained, "world": name}
        rows += _graded(PAPER, test_graph, plans, seed, **conditions, search="policy")
    return rows


def _states(episode: Episode) -> tuple[Any, ...]:
    from meip.model.demonstrations import Plan, replay

    given = episode.demonstration
    return given.states if isinstance(given, Plan) else replay(episode.world, given).states


def _tabular(world: Any) -> tuple[TabularWorld, StateGraph]:
    graph = StateGraph(world)
    graph.expand_all()
    concepts = [parse_concept(c, graph.world.domain) for c in PAPER.concepts()]
    return TabularWorld.from_graph(graph, GraphColumns(graph).matrix(concepts)[0]), graph


def held_out(
    count: int = 200, seed: int = 0, noisy: bool = False, jobs: int = 1, progress: Progress = no_progress
) -> list[Row]:
    """Random rituals: 3-5 stages, 3-5 types, random quantifiers and numbers; two distractor fluents in every other one.

    Perfect: right order and every want met in the free world with 4, 5, 6 and 7 objects. `noisy`: one of six
    demonstrations is a random plan.
    """
    done = 0

    def tell(*_: Any) -> None:
        nonlocal done
        done += 1
        progress(f"{done} of {count} rituals")

    items = [(seed, k, noisy) for k in range(count)]
    cases = parallel_map(_held_out_case, items, seed=seed, jobs=jobs, progress=tell)
    rows: list[Row] = []
    for trained in ("enforced", "free"):
        found = [case[trained] for case in cases]
        base: Row = {"experiment": "held-out", "method": "meip", "trained": trained, "stages": "3-5", "types": "3-5"}
        base |= {"noisy": int(noisy), "world": "free-4..7"}
        perfect = sum(all(g == (1.0, 1.0) for g in grades) for grades in found)
        rows.append(share_row(perfect, count, **base, metric="perfect"))
        rows.append(mean_row([float(np.mean([g[0] for g in grades])) for grades in found], **base, metric="order_tau"))
        rows.append(mean_row([float(np.mean([g[1] for g in grades])) for grades in found], **base, metric="match"))
    return rows


def _held_out_case(item: tuple[int, int, bool], rng: np.random.Generator) -> dict[str, list[tuple[float, float]]]:
    """One random ritual, learned in either world, planned with other numbers of objects."""
    seed, k, noisy = item
    stages, types = int(rng.integers(3, 6)), int(rng.integers(3, 6))
    rite = random_rite(rng, stages, types, distractors=2 * (k % 2))
    found = {}
    for trained in ("enforced", "free"):
        episodes = demonstrate(rite, trained, rng, count=6 if noisy else 5, wrong=int(noisy))
        utility = Pursuit(tolerance=0.2 if noisy else 0.0, seed=seed + k).fit(episodes).utility_
        found[trained] = [_grade_free(rite, objects, utility, k) for objects in TEST_OBJECTS]
    return found


def _grade_free(rite: Rite, objects: int, utility: Utility, seed: int) -> tuple[float, float]:
    graph = StateGraph(rite.world("free", objects))
    plan = search(graph, UtilityRanking([utility]), seed=seed)
    return grade(rite, graph, plan.states)
