"""Baselines by the names that people call them, as `meip evaluate --against` and the studio do."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from meip.base.errors import LearningError, did_you_mean
from meip.baselines.agents import CloneAgent, GoalAgent, MaxEntAgent, RandomAgent
from meip.learning.selection import precedence
from meip.model.demonstrations import Episode
from meip.search.query import Agent
from meip.tasks.task import Task

__all__ = ["NAMES", "baselines"]

NAMES = ("maxent-irl", "clone", "goal-count", "random")


def baselines(name: str, task: Task, episodes: Callable[[], Sequence[Episode]]) -> dict[str, Agent]:
    """The agents that go by a name; `episodes` is asked for what they learn from, where they learn.

    MaxEnt-IRL has the concepts of the task's first member, but those about order; of demonstrations it knows the sum
    over all states, or the last ones. Goals are counted where a domain has copies of its predicates for them, else
    what all demonstrations ended with.
    """
    if name not in NAMES:
        raise LearningError(f"unknown baseline {name!r}; {did_you_mean(name, NAMES)}")
    if name == "random":
        return {name: RandomAgent()}
    if name == "goal-count":
        return {name: GoalAgent() if task.domain.has_goals else GoalAgent(episodes())}
    if name == "clone":
        return {name: CloneAgent(episodes())}
    terms = [term for term in task.members[0].terms if precedence(term.concept) is None]
    shown = episodes()
    return {
        "maxent-irl (visits)": MaxEntAgent(terms, shown, "visits"),
        "maxent-irl (final)": MaxEntAgent(terms, shown, "final"),
    }
