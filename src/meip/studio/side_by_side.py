"""Two plans for one problem, on one clock: what the learned task would do, and what a baseline would."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from meip.base import documents
from meip.model.graph import StateGraph
from meip.report.text import verdict
from meip.search.query import Agent, Found, Query
from meip.studio.comparing import Judge, Place
from meip.studio.drawing import action_text, motion, state_view
from meip.tasks.plan import act, document, start_of, task_query
from meip.tasks.task import Task, TaskPlan

__all__ = ["Side", "followed", "planned", "shown"]

SECONDS = 20.0  # of a search


@dataclass(frozen=True)
class Side:
    """Who plans, and the plan: as a document, and as numbers of the graph."""

    who: str
    label: str
    plan: TaskPlan
    found: Found


def planned(task: Task, graph: StateGraph, others: dict[str, Agent], seed: int = 0) -> list[Side]:
    """The task's plan from the likeliest start, then those of the others, as long as the task's may be."""
    query = task_query(task, graph, Query(seed=seed, seconds=SECONDS))
    first = start_of(graph, seed)
    start = int(graph.initial[first])
    own = act(task, graph, [start], query)
    sides = [Side("meip", "learned task", document(task, graph, own, query, first), own)]
    for label, agent in others.items():
        found = followed(agent, graph, query.changed(method="auto"), start)
        sides.append(Side("baseline", label, document(task, graph, found, query, first), found))
    return sides


def followed(agent: Agent, graph: StateGraph, query: Query, start: int) -> Found:
    """What an agent does along the likeliest outcomes, asked again wherever it has nothing more planned."""
    states, actions = [start], list[int]()
    horizon = query.length(graph, states)
    ahead: tuple[int, ...] = ()
    reason, method = "horizon", ""
    while len(states) < horizon:
        if graph.has_goal and graph.goal(states[-1]):
            reason = "goal"
            break
        if not graph.action_numbers(states[-1]):
            reason = "finished"
            break
        if not ahead:
            asked = agent.act(graph, states, query.changed(seed=query.seed + 7919 * len(states)))
            ahead, method = asked.actions, asked.method or method
            if not ahead:
                reason = "stopped"
                break
        outcomes = graph.outcomes(ahead[0])
        actions.append(ahead[0])
        states.append(max(outcomes)[1])
        ahead = ahead[1:] if len(outcomes) == 1 else ()
    return Found(tuple(states), tuple(actions), 0.0, reason, method=method)


def shown(task: Task, graph: StateGraph, side: Side) -> dict[str, Any]:
    """A side as the page plays it: every state drawn, every action with why it and not another."""
    judge = Judge(task, graph)
    states, numbers = list(side.found.states), side.found.actions
    actions = [graph.action(number) for number in numbers]
    horizon = max(side.plan.horizon, len(states))
    frames = [state_view(graph, states[: t + 1], actions[:t]) for t in range(len(states))]
    steps = []
    for t, (action, step) in enumerate(zip(actions, side.plan.steps, strict=True)):
        steps.append(
            {
                "action": step.action,
                "outcome": step.outcome,
                "text": action_text(graph.world, action),
                "utility": step.utility,
                "confidence": step.confidence,
                "probability": step.probability,
                "why": judge.why(Place(tuple(states[: t + 1]), horizon - t - 1), action),
                "because": [{"text": r.concept, "adds": r.adds} for r in step.why],
                "motion": motion(graph, states[t], action),
            }
        )
    over = len(states) >= horizon or graph.over(states[-1])
    return {
        "who": side.who,
        "label": side.label,
        "initial": side.plan.initial,
        "frames": frames,
        "steps": steps,
        "stop": None if over or graph.has_goal else judge.why(Place(tuple(states), horizon - len(states))),
        "goal": side.plan.goal,
        "tau": side.plan.tau,
        "verdict": verdict(side.plan).rstrip("; "),
        "doubtful": side.plan.doubtful if side.plan.method == "choices" else None,
        "notes": list(side.plan.notes),
        "method": side.plan.method,
        "stopped_by": side.plan.stopped_by,
        "document": documents.dump(side.plan),
    }
