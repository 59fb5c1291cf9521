"""The paper's third experiment: learn to fold from a few recorded folds, and fold clothes never seen.

For each demonstration seed: twenty scripted demonstrations on T-shirts, long-sleeves and hoodies of varied
proportions, some of them small, a task learned from them (`folding_lessons`), and garments to fold (`folding_trials`):
the templates, freshly proportioned and small ones, photographed ones. A referee, who never sees a utility, says whether
the default order was kept (every sleeve before the half fold), whether it is neat, and whether it was folded often
enough. Intervals are by seeds: problems of one seed share what was learned.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from meip import Task
from meip.base.results import Row, grouped_row
from meip.experiments import Experiment
from meip.experiments.folding_figures import draw
from meip.experiments.folding_lessons import (
    ABLATIONS,
    METHODS,
    PAPER,
    PHOTOGRAPHED,
    ClothFrame,
    FragmentEdges,
    Lesson,
    Method,
    PaperFluents,
    Scale,
    learned,
    reward,
)  # fmt: skip
from meip.experiments.folding_report import summary, write
from meip.experiments.folding_trials import NAME, folded, problems, row

__all__ = ["NAME", "NOTES", "ClothFrame", "FragmentEdges", "Method", "PaperFluents", "Scale", "draw", "run", "summary"]
__all__ += ["tried"]

NOTES: tuple[str, ...] = (
    "Default order: every sleeve lies on the body before the garment is halved, by a referee who sees no utility.",
    "Neat: sleeve folds upright, the last across, no slivers, sleeves and hood on the body, a rectangle; same referee.",
    "Enough: folded as often as people do, once for each sleeve and the hood, in half what is higher than 45 cm.",
    "Intervals: the bootstrap over demonstration seeds; with one seed, Wilson's or the bootstrap over problems.",
    "meip, paper-fluents by choices: as a user plans, 40 folds per state, when to stop included. The others: a garment",
    "of each kind, in trees that all share, with as many folds as the demonstrator makes.",
    "Ablations, other searches and baselines: first seed only; paper-fluents: the first two.",
    "Learned on shirts: T-shirts and long-sleeves only; no demonstration had a hood, or was small.",
    "Searches: choices is what was learned, and the default; exact, beam, mcts maximise tau of g; likeliest: by tanh.",
    "random: folds from the uniform grid; random-proposed: any of the folds that the learned proposal brings up.",
    "Rank accuracy: how often a scripted good order of folds is likelier than a bad one; equal ones count half.",
    "meip-sparse, meip-curves: one view of the choices alone, instead of as much of both as held-out choices say.",
    "Seconds are processor time: of learning, and of one Task.plan, as a user calls it.",
    "There is no column for the paper: we know of no figure in it for these garments.",
)
T = TypeVar("T")
R = TypeVar("R")
SHARES = ("default_order", "neat", "enough", "rank_accuracy")  # metrics that are proportions
FULL, QUICK = Scale(), Scale(seeds=1, problems=2, few=1, ablations=False, candidates=12, simulations=1000)


def run(experiment: Experiment) -> list[Row]:
    """Tidy rows of the whole experiment; contact sheets, concepts and curves go to its folder.

    `data` names a CVAT file of photographed shirts: twenty of them are demonstrated, others are folded. The rows are
    the same for any number of jobs, but for the seconds.
    """
    return tried(experiment, QUICK if experiment.quick else FULL)


def tried(experiment: Experiment, scale: Scale) -> list[Row]:
    """The same with another scale."""
    seeds = range(experiment.seed, experiment.seed + (experiment.seeds or scale.seeds))
    lessons = [
        Lesson(seed, method, scale, experiment.data)
        for number, seed in enumerate(seeds)
        for method in _who(number, scale, experiment)
    ]
    experiment.tell(f"learning {len(lessons)} tasks")
    taught = _shared(experiment, learned, lessons, "tasks learned")
    tasks: dict[int, dict[Method, Task]] = {seed: {} for seed in seeds}
    for lesson, (task, _) in zip(lessons, taught, strict=True):
        tasks[lesson.seed][lesson.method] = task
    first = [(one, tasks[one.seed][one.method]) for one in lessons if one.method == METHODS[0]][: scale.compared]
    rewards = dict(zip(seeds, _shared(experiment, reward, first, "rewards learned"), strict=False))
    clothes = [
        problem for seed in seeds for problem in problems(seed, tasks[seed], rewards.get(seed), scale, experiment)
    ]
    plans = _shared(experiment, folded, clothes, "garments folded")
    if experiment.out is not None:
        write(experiment.out, taught[0][0], [plan for _, found in plans for plan in found])
    spent = [
        row(lesson.method.name, "none", lesson.method.trained, "all", "learning_seconds", seconds, seed=lesson.seed)
        for lesson, (_, seconds) in zip(lessons, taught, strict=True)
    ]
    return _gathered([*(one for rows, _ in plans for one in rows), *spent])


def _who(number: int, scale: Scale, experiment: Experiment) -> Sequence[Method]:
    """Who learns with a seed, by its number."""
    if scale.ablations and number < scale.compared:
        return (*METHODS, *ABLATIONS, *(PHOTOGRAPHED if experiment.data else ()))
    return (METHODS[0], PAPER) if number < scale.paper else METHODS[:1]


def _shared(
    experiment: Experiment, work: Callable[[T, np.random.Generator], R], items: Sequence[T], done: str
) -> list[R]:
    """The work on all items, by as many processes as there are; each item has its own seed."""
    return experiment.map(work, items, lambda n, total: experiment.tell(f"{n} of {total} {done}"))


def _gathered(rows: Iterable[Row]) -> list[Row]:
    """Rows about the same, of all seeds and garments of a kind, as one with its interval by seeds."""
    cells: dict[tuple[Any, ...], dict[int, list[Row]]] = {}
    for one in rows:
        cell = tuple(item for item in one.items() if item[0] not in ("value", "n", "seed"))
        cells.setdefault(cell, {}).setdefault(one["seed"], []).append(one)
    return [
        grouped_row(
            [[(r["value"], r["n"]) for r in same] for same in seeds.values()],
            proportion=dict(cell)["metric"] in SHARES,
            **dict(cell),
        )
        for cell, seeds in cells.items()
    ]
