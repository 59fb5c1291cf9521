"""The paper's second experiment: the same ritual where the order of the stages is free, and with more objects.

Learn from five demonstrations in a world that enforces the order of the stages, or in one that leaves it free; plan
where it is free, with 5 and 6 objects. Are the right things offered, and in the right order?
"""

from __future__ import annotations

from typing import cast

from meip import Metric, StateGraph, Task, UtilityTerm, evaluate, learn, parse_concept
from meip.base.results import Row
from meip.baselines.agents import MaxEntAgent
from meip.baselines.tabular import Statistic
from meip.experiments import Experiment
from meip.experiments.rites import PAPER, grade, paper_demonstrations
from meip.tasks.evaluate import Behaviour
from meip.worlds.ritual import Ritual

__all__ = ["NAME", "NOTES", "PAPER_TAU", "UNUSED", "run"]

NAME = "structural-change"
PAPER_TAU = 0.9603
WORLDS = {"enforced-5": PAPER.world("enforced", 5), "free-5": PAPER.world("free", 5), "free-6": PAPER.world("free", 6)}
STATISTICS: tuple[Statistic, ...] = ("final", "visits")
NOTES = (
    "meip: the likelihood of whole plans, by tree search; meip-choices: what learn() and Task.plan do by default.",
    "The paper's figure is the Kendall tau of the stages' order in the free world.",
    "MaxEnt-IRL with visit sums orders the stages when it learned in the free world, and reverses them otherwise.",
)
UNUSED = {"data": "its worlds need no outside material"}


def run(experiment: Experiment) -> list[Row]:
    """Learn in either world, plan in all three, some tree searches per cell; the baselines beside it."""
    rows: list[Row] = []
    for trained in ("enforced", "free"):
        episodes = paper_demonstrations(trained)
        experiment.tell(f"learning in the {trained} world")
        task = learn(episodes, objective="plans", seed=experiment.seed)
        rows.append(_concepts_found(task, trained))
        same = [str(concept) for concept in task.concepts]
        tasks = {
            "meip": task,
            "meip-svm": learn(episodes, objective="svm", concepts=same, seed=experiment.seed),
            "meip-svm-literal": learn(episodes, objective="svm-literal", concepts=same, seed=experiment.seed),
        }
        terms = [UtilityTerm(parse_concept(text, task.domain), "boolean") for text in PAPER.concepts()]
        baselines = {statistic: MaxEntAgent(terms, episodes, statistic) for statistic in STATISTICS}
        experiment.tell(f"planning with what was learned in the {trained} world")
        rows += _planned(experiment, tasks, trained=trained)
        default = learn(episodes, seed=experiment.seed)
        rows += _planned(experiment, {"meip-choices": default}, "auto", trained=trained)
        for statistic, agent in baselines.items():
            rows += _planned(experiment, {"maxent-irl": agent}, trained=trained, statistic=statistic)
    for row in rows:
        if row["method"] == "meip" and row["metric"] == "order_tau" and row["world"] != "enforced-5":
            row["paper"] = PAPER_TAU
    return rows


def _planned(
    experiment: Experiment, agents: dict[str, Task] | dict[str, MaxEntAgent], method: str = "mcts", **conditions: str
) -> list[Row]:
    return evaluate(
        agents,
        WORLDS,
        METRICS,
        searches=experiment.seeds or (5 if experiment.quick else 20),
        run=experiment.run,
        conditions={"experiment": NAME, **conditions},
        method=method,
        seed=experiment.seed,
    )


def _graded(graph: StateGraph, way: Behaviour) -> tuple[float, float]:
    return grade(PAPER, cast(Ritual, graph.world), [graph.action(number) for number in way.actions])


METRICS = (
    Metric("order_tau", lambda graph, way: _graded(graph, way)[0]),
    Metric("match", lambda graph, way: _graded(graph, way)[1]),
)


def _concepts_found(task: Task, trained: str) -> Row:
    """How many of the three concepts of the demonstrator were found, without being told."""
    found = [str(concept) for concept in task.concepts]
    hits = sum(concept in found for concept in PAPER.concepts())
    conditions = {"experiment": NAME, "method": "meip", "metric": "concepts_found", "trained": trained}
    return {**conditions, "world": trained, "value": float(hits), "n": 1, "concepts": "; ".join(sorted(found))}
