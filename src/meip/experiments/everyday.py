"""Everyday tasks that a user could have written: how many demonstrations do they take, and what does a wrong one cost?

Each task of the gallery is shown 1 to 20 times, or five times with a sixth demonstration that breaks a rule. Success: a
plan keeps every rule of the task, in worlds like those shown, in larger ones (about twice the objects), and in changed
ones, where a constraint is gone or things go otherwise. Where chance plays a part, success is a probability.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from meip import Episode, Grammar, MeipError, Metric, StateGraph, Task, evaluate, learn
from meip.base.parallel import within
from meip.base.results import Row, mean_row, share_row
from meip.baselines.agents import LISTED, CloneAgent, GoalAgent, MaxEntAgent, RandomAgent
from meip.experiments import Experiment
from meip.experiments.gallery import TASKS, EverydayTask, demonstrate, everyday_task
from meip.search.query import Agent
from meip.tasks.evaluate import Behaviour

__all__ = ["NAME", "NOTES", "UNUSED", "run", "summary"]

T = TypeVar("T")
NAME = "everyday"
SPLITS = ("same", "larger", "changed")
COUNTS = (1, 2, 3, 5, 10, 20)
RIGHT = 5  # demonstrations beside a wrong one
TOLERANCE = 0.2
LEARN, PLAN = 60.0, 20.0  # seconds of computing
NOTES = (
    "Success: a plan keeps every rule. Intervals of all tasks are over what was learned (tasks and seeds, bootstrap), "
    "those of one task over its worlds.",
    f"Every method has {LEARN:.0f} s to learn and {PLAN:.0f} s for a plan; whatever fails or takes longer counts as a "
    f"failure, also of MaxEnt-IRL where there are more than {LISTED:,} states to list.",
    "meip-plans: objective='plans', our form of it; maxent-irl: on the concepts that meip learned; goal-count: "
    f"to what all demonstrations ended with; meip-tolerance: tolerance={TOLERANCE}, beside a wrong demonstration only.",
    "auroc: how often a right plan of meip is surer of itself than a wrong one, ties counting half. named: how often "
    "the first demonstration that is said to be unlike the others is the wrong one.",
)
UNUSED = {"data": "its worlds need no outside material"}
Table = tuple[str, list[str], list[list[str]]]
Successes = dict[tuple[str, str], list[float]]  # method and split -> a value for each world


class _Outcome(NamedTuple):
    """What came of one case."""

    success: Successes
    sure: list[tuple[float, float]]
    """How sure meip was of each plan, and whether it was right."""
    named: bool
    """Is the first demonstration that is said to be unlike the others the last one?"""


@dataclass(frozen=True)
class _Case:
    """One task, shown so often."""

    task: str
    number: int
    seed: int
    demonstrations: int
    wrong: int
    worlds: int

    def rng(self, part: int) -> np.random.Generator:
        """The same for any number of demonstrations, so that more of them are the same ones and some more."""
        return np.random.default_rng([self.seed, self.number, TASKS.index(self.task), part])


def run(experiment: Experiment) -> list[Row]:
    """Every task, as often shown as is asked for, learned and planned by every method."""
    seeds = experiment.seeds or (1 if experiment.quick else 2)
    shown = [(count, 0) for count in ((1, 5) if experiment.quick else COUNTS)] + [(RIGHT + 1, 1)]
    cases = [
        _Case(task, number, experiment.seed, count, wrong, 1 if experiment.quick else 4)
        for task in TASKS
        for count, wrong in shown
        for number in range(seeds)
    ]

    def told(done: int, total: int) -> None:
        experiment.tell(f"{done} of {total} times shown and learned")

    found = experiment.map(_outcome, cases, told)
    rows: list[Row] = []
    for count, wrong in shown:
        own = [o for o in zip(cases, found, strict=True) if (o[0].demonstrations, o[0].wrong) == (count, wrong)]
        rows += _success_rows([(case.task, outcome.success) for case, outcome in own], count, wrong, experiment.seed)
        cell: Row = {"experiment": NAME, "method": "meip", "task": "all", "demonstrations": count, "wrong": wrong}
        if wrong:
            rows.append(share_row(sum(o.named for _, o in own), len(own), metric="named", **cell))
        else:
            rows += _surer_rows([plan for _, outcome in own for plan in outcome.sure], experiment.seed, cell)
    return rows


def _success_rows(own: Sequence[tuple[str, Successes]], count: int, wrong: int, seed: int) -> list[Row]:
    """Of all tasks, and of each."""
    rows: list[Row] = []
    for method, split in own[0][1]:
        cell: Row = {"experiment": NAME, "method": method, "metric": "success", "task": "all", "split": split}
        cell |= {"demonstrations": count, "wrong": wrong}
        means = [float(np.mean(success[method, split])) for _, success in own]
        rows.append(mean_row(means, seed, **cell))
        for task in TASKS:
            values = [value for name, success in own if name == task for value in success[method, split]]
            rows.append(share_row(sum(values), len(values), **{**cell, "task": task}))
    return rows


def _surer_rows(plans: Sequence[tuple[float, float]], seed: int, cell: Row) -> list[Row]:
    """How well confidence tells wrong plans; nothing where none is wrong. The interval resamples wrong plans."""
    right = np.array([sure for sure, success in plans if success > 0.5])
    wrong = np.array([sure for sure, success in plans if success <= 0.5])
    if not (len(right) and len(wrong)):
        return []
    surer = [float(((right > one).sum() + (right == one).sum() / 2) / len(right)) for one in wrong]
    return [mean_row(surer, seed, metric="auroc", plans=len(plans), **cell)]


def summary(rows: Sequence[Row]) -> list[Table]:
    """All tasks by the number of demonstrations, beside a wrong one, and each task by itself."""
    every = [row for row in rows if row["task"] == "all" and row["metric"] == "success"]
    clean = [row for row in every if not row["wrong"]]
    tables = [
        _table(f"success in {split} worlds, by the number of demonstrations", of, "method", "demonstrations")
        for split in SPLITS
        if (of := [row for row in clean if row["split"] == split])
    ]
    tables.append(
        _table("five right demonstrations and a wrong one", [r for r in every if r["wrong"]], "method", "split")
    )
    own = [row for row in rows if row["task"] != "all" and (row["demonstrations"], row["wrong"]) == (RIGHT, 0)]
    for split in SPLITS:
        of = [row for row in own if row["split"] == split]
        tables.append(_table(f"each task in {split} worlds, five demonstrations", of, "task", "method", interval=False))
    others = [row for row in rows if row["metric"] in ("auroc", "named")]
    tables.append(_table("does meip know what is wrong? (n: wrong plans, or sets)", others, "metric", "demonstrations"))
    return tables


def _table(title: str, rows: Sequence[Row], down: str, across: str, interval: bool = True) -> Table:
    """A line for each value of one condition, a column for each of another."""
    columns = list(dict.fromkeys(row[across] for row in rows))
    cells = {
        (row[down], row[across]): f"{row['value']:.2f}" + f" ({row['low']:.2f}-{row['high']:.2f})" * interval
        for row in rows
    }
    lines = [[str(name), *(cells.get((name, c), "") for c in columns)] for name in dict.fromkeys(r[down] for r in rows)]
    return title, [down, *map(str, columns)], lines


def _outcome(case: _Case, rng: np.random.Generator) -> _Outcome:
    task = everyday_task(case.task)
    right, slips = case.rng(0), case.rng(1)
    episodes = [demonstrate(task, right) for _ in range(case.demonstrations - case.wrong)]
    episodes += [demonstrate(task, slips, wrong=True) for _ in range(case.wrong)]
    worlds = {split: _worlds(task, split, case) for split in SPLITS}
    found: Successes = {}
    agents = _agents(episodes, case)
    for method, agent in agents.items():
        for split, those in worlds.items():
            found[method, split] = [_success(task, agent, world, case.number) for world in those]
    own = agents["meip"]
    if not isinstance(own, Task):
        return _Outcome(found, [], False)
    plans = [
        (world, right) for split in SPLITS for world, right in zip(worlds[split], found["meip", split], strict=True)
    ]
    unlike = own.provenance.evidence["unlike_the_others"]
    sure = [(_sure(own, world, case.number), right) for world, right in plans]
    return _Outcome(found, sure, unlike[:1] == [case.demonstrations])


def _worlds(task: EverydayTask, split: str, case: _Case) -> list[Any]:
    rng = case.rng(2 + SPLITS.index(split))
    return [task.make(split, rng) for _ in range(case.worlds)]


def _agents(episodes: Sequence[Episode], case: _Case) -> dict[str, Agent | None]:
    """Every method, learned from the same demonstrations; None where it failed."""

    def learned(**options: Any) -> Task | None:
        return _in_time(lambda: learn(episodes, seed=case.number, **options))

    def on_the_same_concepts(task: Task) -> Agent:
        terms = {term.concept: term for member in task.members for term in member.terms}
        return MaxEntAgent(list(terms.values()), episodes)

    task = learned()
    found: dict[str, Agent | None] = {"meip": task}
    if case.wrong:
        found["meip-tolerance"] = learned(tolerance=TOLERANCE)
    found["clone"] = _in_time(lambda: CloneAgent(episodes, Grammar.paper(2)))
    found["meip-plans"] = learned(objective="plans")
    found["maxent-irl"] = None if task is None else _in_time(lambda: on_the_same_concepts(task))
    found["goal-count"] = _in_time(lambda: GoalAgent(episodes))
    return {**found, "random": RandomAgent()}


def _in_time(make: Callable[[], T]) -> T | None:
    try:
        return within(LEARN, make)
    except MeipError:
        return None


def _sure(task: Task, world: Any, seed: int) -> float:
    """How sure a task is of its plan; not at all of none."""
    try:
        return within(PLAN, lambda: task.plan(world, seed=seed)).confidence or 0.0
    except MeipError:
        return 0.0


def _success(task: EverydayTask, agent: Agent | None, world: Any, seed: int) -> float:
    """The probability that every rule is kept."""

    def kept(graph: StateGraph, way: Behaviour) -> float:
        states = tuple(graph.states[number] for number in way.states)
        actions = tuple(graph.action(number) for number in way.actions)
        return float(all(task.kept(world, states, actions).values()))

    if agent is None:
        return 0.0
    metric = Metric("success", kept, proportion=True)
    try:
        rows = within(PLAN, lambda: evaluate(agent, {"world": world}, [metric], searches=1, seed=seed))
    except MeipError:
        return 0.0
    return float(rows[0]["value"])
