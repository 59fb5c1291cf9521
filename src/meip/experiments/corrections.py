"""Correcting is teaching: everyday tasks learned from two demonstrations, a plan that breaks a rule, its first wrong
step corrected, learned again.

The first wrong step is the first after which somebody who knows the rules cannot keep all of them any more; they say
what would have been right there. Tasks whose plans keep every rule have nothing to correct and are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip import Correction, Demonstration, Episode, StateGraph, Step, Task, learn, problem_document
from meip.base.results import Row, mean_row, share_row
from meip.experiments import Experiment
from meip.experiments.gallery import TASKS, EverydayTask, demonstrate, everyday_task
from meip.model.graph import state_graph
from meip.model.world import encode
from meip.search.choosing import Chooser
from meip.search.query import Found, Query
from meip.tasks.plan import act, task_query
from meip.utility.preferences import ChoiceRanking

__all__ = ["NAME", "NOTES", "UNUSED", "run", "summary"]

NAME = "corrections"
SHOWN = 2  # demonstrations
SPLITS = ("changed", "same", "larger")
TRIED = 6  # worlds in which a wrong plan is looked for
FRESH = 2  # worlds of each split, for success before and after
TRIES = 4  # times that somebody tries to keep all rules from a state on, where chance has a say
TOLD = {
    "not_repeated": "the wrong step is not done again there",
    "among_best": "nothing is worth more there than the right step",
    "same_step": "the very step is done",
    "right": "a step is done after which all rules can be kept",
    "same_world": "the plan in the same world keeps every rule",
}
NOTES = (
    f"Learned from {SHOWN} demonstrations, one step of one plan corrected. Several steps may be right there.",
    "Success: the share of plans in fresh worlds (same, larger, changed) that keep every rule. Intervals of "
    "means are over cases (bootstrap), of shares Wilson's; cases of one task are alike, so that they are too narrow.",
)
UNUSED = {"data": "its worlds need no outside material"}


@dataclass(frozen=True)
class _Wrong:
    """A plan that breaks a rule, up to its first wrong step, and what is right there."""

    world: Any
    states: tuple[Any, ...]
    actions: tuple[Any, ...]
    rejected: Any
    """None: it stopped."""
    right: Any
    """None: to stop."""


def run(experiment: Experiment) -> list[Row]:
    """Every task of the gallery, so many times."""
    tasks = ("post", "seating") if experiment.quick else TASKS
    cases = [
        (task, experiment.seed + k) for task in tasks for k in range(experiment.seeds or (2 if experiment.quick else 9))
    ]

    def told(done: int, total: int) -> None:
        experiment.tell(f"{done} of {total} times shown, learned and corrected")

    found = experiment.map(_corrected, cases, told)
    kept = [(task, one) for (task, _), one in zip(cases, found, strict=True) if one is not None]
    rows: list[Row] = []
    for task in ("all", *dict.fromkeys(task for task, _ in kept)):
        own = [one for name, one in kept if task in ("all", name)]
        cell: Row = {"experiment": NAME, "task": task}
        for metric in TOLD if own else ():
            hits = sum(one[metric] for one in own)
            rows.append(share_row(hits, len(own), **cell, method="corrected", metric=metric))
        for method in ("as learned", "corrected") if own else ():
            rows.append(mean_row([one[method] for one in own], **cell, method=method, metric="success"))
    return rows


def summary(rows: Sequence[Row]) -> list[tuple[str, list[str], list[list[str]]]]:
    """What becomes of the corrected step, and of other worlds; then each task."""

    def value(row: Row) -> list[str]:
        return [f"{row['value']:.2f}", f"{row['low']:.2f}..{row['high']:.2f}", str(row["n"])]

    every = [row for row in rows if row["task"] == "all"]
    steps = [[TOLD[row["metric"]], *value(row)] for row in every if row["metric"] in TOLD]
    worlds = [[row["method"], *value(row)] for row in every if row["metric"] == "success"]
    own = [row for row in rows if row["task"] != "all" and row["metric"] in ("not_repeated", "success")]
    tasks = [[row["task"], row["metric"].replace("_", " "), row["method"], *value(row)] for row in own]
    numbers = ["value", "95 %", "n"]
    return [
        ("a corrected step", ["after it was learned from", *numbers], steps),
        ("success in fresh worlds", ["method", *numbers], worlds),
        ("each task", ["task", "metric", "method", *numbers], tasks),
    ]


def _corrected(case: tuple[str, int], rng: np.random.Generator) -> dict[str, float] | None:
    """What one correction did; None where no plan broke a rule."""
    name, seed = case
    task, own = everyday_task(name), np.random.default_rng([seed, TASKS.index(name)])
    shown = [demonstrate(task, own) for _ in range(SHOWN)]
    learned = learn(shown, seed=seed)
    wrong = _wrong(task, learned, own)
    if wrong is None:
        return None
    fresh = [task.make(split, own) for split in SPLITS for _ in range(FRESH)]
    again = learn([*shown, Episode(wrong.world, _correction(wrong))], seed=seed)
    before, after = (float(np.mean([_keeps(task, one, world) for world in fresh])) for one in (learned, again))
    return {**_there(task, again, wrong, own), "as learned": before, "corrected": after}


def _planned(task: Task, world: Any, states: Sequence[Any] = ()) -> tuple[StateGraph, Found]:
    """What a task does after these states, or from the beginning."""
    graph = state_graph(task.prepared(world))
    history = [graph.intern(state) for state in states] or [int(graph.initial[0])]
    return graph, act(task, graph, history, task_query(task, graph, Query()))


def _keeps(task: EverydayTask, learned: Task, world: Any) -> bool:
    graph, found = _planned(learned, world)
    return _kept(task, world, [graph.states[s] for s in found.states], [graph.action(a) for a in found.actions])


def _kept(task: EverydayTask, world: Any, states: Sequence[Any], actions: Sequence[Any]) -> bool:
    return all(task.kept(world, tuple(states), tuple(actions)).values())


def _wrong(task: EverydayTask, learned: Task, rng: np.random.Generator) -> _Wrong | None:
    """The first plan that breaks a rule."""
    for number in range(TRIED):
        world = task.make(SPLITS[number % len(SPLITS)], rng)
        graph, found = _planned(learned, world)
        states, actions = [graph.states[s] for s in found.states], [graph.action(a) for a in found.actions]
        if _kept(task, world, states, actions):
            continue
        ways = ((k, _can_keep(task, world, states[: k + 2], actions[: k + 1], rng)) for k in range(len(actions)))
        first = next((k for k, fine in ways if not fine), len(actions))
        right = task.show(world, states[first], rng)
        rejected = actions[first] if first < len(actions) else None
        if right != rejected:
            return _Wrong(world, tuple(states[: first + 1]), tuple(actions[:first]), rejected, right)
    return None


def _can_keep(
    task: EverydayTask, world: Any, states: Sequence[Any], actions: Sequence[Any], rng: np.random.Generator
) -> bool:
    """Can somebody who knows the rules go on from here and keep all of them?"""
    for _ in range(TRIES):
        way, done = list(states), list(actions)
        while len(way) < world.horizon and world.actions(way[-1]):
            action = task.show(world, way[-1], rng)
            if action is None:
                break
            odds, after = zip(*world.outcomes(way[-1], action), strict=True)
            way.append(after[int(rng.choice(len(odds), p=np.array(odds) / sum(odds)))])
            done.append(action)
        if _kept(task, world, way, done):
            return True
    return False


def _correction(wrong: _Wrong) -> Demonstration:
    """As the studio writes it: of the right step the likeliest outcome."""
    taken = list(zip(wrong.states[:-1], wrong.actions, wrong.states[1:], strict=True))
    steps = [Step(encode(action), _outcome(wrong.world, state, action, to)) for state, action, to in taken]
    if wrong.right is not None:
        steps.append(Step(encode(wrong.right), _outcome(wrong.world, wrong.states[-1], wrong.right)))
    rejected = None if wrong.rejected is None else encode(wrong.rejected)
    said = Correction(rejected, stop=wrong.right is None)
    return Demonstration(problem_document(wrong.world), tuple(steps), corrects=said)


def _outcome(world: Any, state: Any, action: Any, to: Any = None) -> int | None:
    listed = world.outcomes(state, action)
    if len(listed) == 1:
        return None
    if to is None:
        return max(range(len(listed)), key=lambda k: float(listed[k][0]))
    return next(k for k, (_, after) in enumerate(listed) if after == to)


def _there(task: EverydayTask, again: Task, wrong: _Wrong, rng: np.random.Generator) -> dict[str, float]:
    """What is done now where the step was corrected."""
    graph, found = _planned(again, wrong.world, wrong.states)
    done = graph.action(found.actions[0]) if found.actions else None
    if done is None:
        fine = _kept(task, wrong.world, wrong.states, wrong.actions)
    else:
        after = [*wrong.states, graph.states[found.states[len(wrong.states)]]]
        fine = _can_keep(task, wrong.world, after, [*wrong.actions, done], rng)
    return {
        "not_repeated": float(done != wrong.rejected),
        "among_best": float(_among_best(again, graph, wrong)),
        "same_step": float(done == wrong.right),
        "right": float(fine),
        "same_world": float(_keeps(task, again, wrong.world)),
    }


def _among_best(again: Task, graph: StateGraph, wrong: _Wrong) -> bool:
    assert again.preferences is not None
    chooser = Chooser(graph, ChoiceRanking(again.members[0], again.preferences))
    history = [graph.intern(state) for state in wrong.states]
    seen = {state: history.count(state) for state in history}
    options = chooser.options(history[-1], graph.horizon - len(history), seen)
    worth = options.stop
    if wrong.right is not None:
        merged: dict[int, float] = {}
        for p, state in wrong.world.outcomes(wrong.states[-1], wrong.right):
            merged[graph.intern(state)] = merged.get(graph.intern(state), 0.0) + p
        place = options.outcomes.index(tuple(sorted((round(p, 12), s) for s, p in merged.items() if p > 0)))
        worth = float(options.worth[place])
    return bool(worth >= max(float(options.worth.max(initial=options.stop)), options.stop) - 1e-9)
