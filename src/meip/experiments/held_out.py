"""Rituals that nobody looked at: random wishes for 3-6 stages in a random order, 3-5 types of objects, two distractor
fluents in every other one; learned with defaults, planned with other numbers of objects.

Perfect: right order and every wish met in the free world with 4, 5, 6 and 7 objects. Noisy: one of six demonstrations
is a random plan.
"""

from __future__ import annotations

import numpy as np

from meip import learn
from meip.base.results import Row, mean_row, share_row
from meip.experiments import Experiment
from meip.experiments.rites import Order, demonstrate, grade, random_rite

__all__ = ["NAME", "NOTES", "UNUSED", "run"]

NAME = "held-out"
TRAINED: tuple[Order, ...] = ("enforced", "free")
OBJECTS = (4, 5, 6, 7)
NOTES = ("Perfect: right order and every wish met, in the free world with 4, 5, 6 and 7 objects.",)
UNUSED = {"data": "its worlds need no outside material"}
Grades = list[tuple[float, float]]


def run(experiment: Experiment) -> list[Row]:
    """Learn every ritual in either world; how many are perfect, how many wishes are met, and in which order."""
    count = experiment.seeds or (5 if experiment.quick else 50)
    items = [(number, experiment.noisy) for number in range(count)]

    def told(done: int, total: int) -> None:
        experiment.tell(f"{done} of {total} rituals")

    cases = experiment.map(_one_ritual, items, told)
    rows: list[Row] = []
    for trained in TRAINED:
        found = [case[trained] for case in cases]
        cell: Row = {"experiment": NAME, "method": "meip", "trained": trained, "stages": "3-6", "types": "3-5"}
        cell |= {"noisy": int(experiment.noisy), "world": "free-4..7"}
        perfect = sum(all(grade == (1.0, 1.0) for grade in grades) for grades in found)
        rows.append(share_row(perfect, count, **cell, metric="perfect"))
        for metric, values in zip(("order_tau", "match"), np.mean(found, axis=1).T, strict=True):
            rows.append(mean_row(values, experiment.seed, **cell, metric=metric))
    return rows


def _one_ritual(item: tuple[int, bool], rng: np.random.Generator) -> dict[str, Grades]:
    """One random ritual, learned in either world: (order tau, match) for each number of objects."""
    number, noisy = item
    stages, types = int(rng.integers(3, 7)), int(rng.integers(3, 6))
    rite = random_rite(rng, stages, types, distractors=2 * (number % 2)).shuffled(rng)
    found: dict[str, Grades] = {}
    for trained in TRAINED:
        episodes = demonstrate(rite, trained, rng, count=6 if noisy else 5, wrong=int(noisy))
        task = learn(episodes, tolerance=0.2 if noisy else 0.0, seed=number)
        worlds = [rite.world("free", objects) for objects in OBJECTS]
        found[trained] = [grade(rite, world, task.plan(world, seed=number).actions) for world in worlds]
    return found
