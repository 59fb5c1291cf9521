"""Generalized planning: learn from five small problems of a PDDL domain, plan in larger ones.

Coverage, plan length and expansions against size, beside WL features with the same demonstrations, objective and
search, goal counting and blind search. With a folder of domains (each with ``domain.pddl`` and ``training/NAME.pddl``
and ``.plan``): five short plans drawn at random, tried on forty others.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from meip.base.errors import DocumentError
from meip.base.results import Progress, Row, no_progress, share_row
from meip.learning.stepwise import StepwiseOptions, StepwiseResult, UtilityScore, learn_stepwise
from meip.model.demonstrations import Episode
from meip.worlds.pddl import PddlWorld, read_problem
from meip.worlds.pddl.demonstrate import plan_demonstration, read_pair, solve
from meip.worlds.pddl.heuristics import blind, goal_count
from meip.worlds.pddl.planners import Found, Score, gbfs, greedy

__all__ = ["SIZES", "Lesson", "draw_lesson", "generated_lesson", "reproduce", "run", "run_folder", "utility_score"]

SEARCHES = ("greedy", "gbfs")
LESSONS = 5
OTHERS = 40
SHORT, LONG = 3, 20  # steps of the plans that are learned from
SECONDS = 30.0

SIZES: dict[str, Callable[[int], dict[str, int]]] = {
    "ferry": lambda n: {"cars": n, "landings": max(2, n)},
    "miconic": lambda n: {"people": n, "floors": n + 1},
    "spanner": lambda n: {"spanners": n, "nuts": max(1, n // 2), "places": n},
    "gripper": lambda n: {"balls": n},
    "blocksworld": lambda n: {"blocks": n + 1},
    "satellite": lambda n: {"satellites": max(1, n // 2), "modes": 2, "directions": n + 1, "images": n},
    "childsnack": lambda n: {"children": n, "trays": 2, "allergic": n // 2},
}
"""The generator's parameters by a size that means about as much in each domain."""
TRAINED = (2, 3, 3, 4, 4)
TRIED = (4, 6, 8, 12, 16)


@dataclass(frozen=True)
class Lesson:
    """What is learned from, and the problems it is then tried on, with the size of each."""

    domain: str
    episodes: tuple[Episode, ...]
    others: tuple[tuple[int, PddlWorld], ...]


def generated_lesson(domain: str, seed: int, sizes: Sequence[int] = TRIED, per_size: int = 5) -> Lesson:
    """Five small problems of a shipped domain with plans of our own, and larger ones."""
    episodes = []
    for number, size in enumerate(TRAINED):
        world = PddlWorld(domain, generate=SIZES[domain](size), seed=1000 * seed + number)
        episodes.append(Episode(world, plan_demonstration(world, solve(world)[0])))
    others = [
        (size, PddlWorld(domain, generate=SIZES[domain](size), seed=1000 * seed + 100 * size + k))
        for size in sizes
        for k in range(per_size)
    ]
    return Lesson(domain, tuple(episodes), tuple(others))


def draw_lesson(folder: Path, seed: int, others: int = OTHERS) -> Lesson:
    """Five problems with short plans of a folder, drawn at random, and others of it; size is the number of objects."""
    domain = folder / "domain.pddl"
    plans = sorted((folder / "training").glob("*.plan"))
    if not domain.is_file() or len(plans) < 2:
        raise DocumentError(f"{folder}: expected domain.pddl and training/NAME.pddl with training/NAME.plan beside it")
    rng = np.random.default_rng(seed)
    steps = {plan: sum(line.lstrip().startswith("(") for line in plan.read_text().splitlines()) for plan in plans}
    small = [plan for plan in plans if SHORT <= steps[plan] <= LONG] or plans
    chosen = sorted(rng.choice(len(small), min(LESSONS, len(small)), replace=False).tolist())
    shown = [small[i] for i in chosen]
    rest = [plan for plan in plans if plan not in shown]
    tried = sorted(rng.choice(len(rest), min(others, len(rest)), replace=False).tolist())
    episodes = tuple(
        Episode(read_problem(plan.with_suffix(".pddl"), domain), read_pair(plan.with_suffix(".pddl"), plan, domain))
        for plan in shown
    )
    worlds = [read_problem(rest[i].with_suffix(".pddl"), domain) for i in tried]
    return Lesson(folder.name, episodes, tuple((len(w.problem.objects), w) for w in worlds))


def utility_score(world: PddlWorld, learned: StepwiseResult) -> Score:
    """Learned utilities as a score of packed states."""
    score = UtilityScore(world.domain, learned.utilities)
    return lambda rows: score([world.fact_block(rows)])


def run(
    domains: Sequence[str] | None = None,
    seeds: int = 3,
    seed: int = 0,
    quick: bool = False,
    progress: Progress = no_progress,
) -> list[Row]:
    """Coverage, length and expansions against size in the shipped domains."""
    rows: list[Row] = []
    for domain in domains or (("ferry", "blocksworld") if quick else tuple(SIZES)):
        found: dict[tuple[str, str, int], list[Found]] = {}
        for number in range(1 if quick else seeds):
            sizes = TRIED[:2] if quick else TRIED
            lesson = generated_lesson(domain, seed + number, sizes, 2 if quick else 5)
            _try(lesson, seed + number, found, progress)
        rows += _rows(domain, found)
    return rows


def run_folder(
    folder: Path,
    domains: Sequence[str] | None = None,
    seeds: int = 3,
    seed: int = 0,
    others: int = OTHERS,
    progress: Progress = no_progress,
    peers: bool = True,
) -> list[Row]:
    """The same for a folder of domains: `seeds` draws of five problems, tried on others; all sizes together."""
    names = domains or sorted(p.name for p in folder.iterdir() if (p / "domain.pddl").is_file())
    if not names:
        raise DocumentError(f"{folder}: no folder with a domain.pddl in it")
    rows: list[Row] = []
    for domain in names:
        for number in range(seeds):
            found: dict[tuple[str, str, int], list[Found]] = {}
            lesson = draw_lesson(folder / domain, seed + number, others)
            _try(lesson, seed + number, found, progress, peers)
            together: dict[tuple[str, str, int], list[Found]] = {}
            for (method, search, _), plans in found.items():
                together.setdefault((method, search, 0), []).extend(plans)
            rows += [{**row, "draw": seed + number, "size": "all"} for row in _rows(domain, together)]
            for row in rows[-3 * len(together) :]:
                if row["metric"] == "solved":
                    progress(f"{domain} draw {row['draw']}: {row['method']} {row['search']} solved {row['value']:.3f}")
    return rows


def reproduce(
    *,
    seeds: int | None = None,
    quick: bool = False,
    seed: int = 0,
    data: Path | None = None,
    progress: Progress = no_progress,
    **_: Any,
) -> list[Row]:
    """What ``meip reproduce generalized-planning [--data FOLDER]`` runs."""
    if data is not None:
        return run_folder(
            data, seeds=seeds or (1 if quick else 3), seed=seed, others=5 if quick else OTHERS, progress=progress
        )
    return run(seeds=seeds or 3, seed=seed, quick=quick, progress=progress)


def _try(
    lesson: Lesson,
    seed: int,
    found: dict[tuple[str, str, int], list[Found]],
    progress: Progress,
    peers: bool = True,
) -> None:
    """Learn by each method and search in each problem; `found` is by method, search and size."""
    progress(f"learning {lesson.domain} from {len(lesson.episodes)} plans")
    learned = learn_stepwise(lesson.episodes, StepwiseOptions(seed=seed))
    progress(f"{lesson.domain}: {learned.evidence['model']}, {_summary(learned)}")
    methods: dict[str, Callable[[PddlWorld], Score]] = {"meip": partial(_flip, utility_score, learned)}
    if peers:
        methods |= {
            "goal-count": lambda world: partial(goal_count, world.engine),
            "blind": lambda world: blind,
        }
        from meip.experiments import wl_features

        if wl_features.available():
            methods["wl"] = wl_features.learn(lesson.episodes, reading=learned.evidence["reading"])
        else:
            progress("WL features are left out: wlplan is not installed (pip install wlplan)")
    for size, world in lesson.others:
        for method, score in methods.items():
            for search in SEARCHES if method != "blind" else ("gbfs",):
                plan = greedy if search == "greedy" else gbfs
                found.setdefault((method, search, size), []).append(plan(world.engine, score(world), seconds=SECONDS))


def _flip(make: Callable[[PddlWorld, StepwiseResult], Score], learned: StepwiseResult, world: PddlWorld) -> Score:
    return make(world, learned)


def _summary(learned: StepwiseResult) -> str:
    """The heaviest concepts of the first utility."""
    terms = sorted(learned.utilities[0].terms, key=lambda t: -abs(t.weights[0]))[:4]
    return "; ".join(f"{t.weights[0]:+.2f} {t.concept}" for t in terms)


def _rows(domain: str, found: dict[tuple[str, str, int], list[Found]]) -> list[Row]:
    rows: list[Row] = []
    for (method, search, size), plans in sorted(found.items()):
        cell = {"experiment": "generalized-planning", "method": method, "domain": domain, "search": search}
        solved = [plan for plan in plans if plan.solved]
        rows.append(share_row(len(solved), len(plans), **cell, metric="solved", size=size))
        if solved:
            lengths = [len(plan.steps) for plan in solved]
            work = [plan.expansions for plan in solved]
            rows.append({**cell, "metric": "length", "size": size, "value": float(np.mean(lengths)), "n": len(solved)})
            rows.append(
                {**cell, "metric": "expansions", "size": size, "value": float(np.median(work)), "n": len(solved)}
            )
    return rows
