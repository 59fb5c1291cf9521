"""A plan as one page: every state with its picture where the world has one, else in words."""

from __future__ import annotations

from html import escape
from typing import Any

from meip.demonstrations import replay
from meip.report.html import page
from meip.report.text import action_text
from meip.task import TaskPlan
from meip.world import unwrap

__all__ = ["plan_page"]


def plan_page(plan: TaskPlan, world: Any, title: str = "A plan") -> str:
    """The page; `world` is the one that was planned in."""
    states = replay(world, plan.demonstration()).states
    actions = ["", *(action_text(a) for a in plan.actions)]
    goal = {None: "", True: " The world's goal is reached.", False: " The world's goal is not reached."}[plan.goal]
    items = "".join(
        f'<li class="card"><h3>{escape(action) or "start"}</h3>{_picture(world, states, t)}{_facts(plan, t)}</li>'
        for t, action in enumerate(actions)
    )
    return page(
        title,
        f'<header><h1>{escape(title)}</h1><p class="lead">{len(plan.steps)} steps, Kendall tau {plan.tau:.3f}.{goal}'
        f'</p><p class="small">Found by {escape(plan.method)} search; chance: {escape(plan.chance)}.</p></header>'
        f'<ol class="cards">{items}</ol>',
    )


def _facts(plan: TaskPlan, t: int) -> str:
    if t == 0:
        return ""
    step = plan.steps[t - 1]
    chance = f"<span>with probability {step.probability:g}</span>" if step.probability < 1 else ""
    return (
        f'<div class="facts small"><span>utility {step.utility:.2f}</span>{chance}'
        f"<span>{step.confidence:.0%} see progress</span></div>"
    )


def _picture(world: Any, states: tuple[Any, ...], t: int) -> str:
    """The state as the world draws it."""
    own = unwrap(world)
    kind = getattr(type(own), "kind", None)
    if kind == "pddl":
        from meip.worlds.pddl.view import html_state

        return f'<div class="scroll">{html_state(own, states[t], states[t - 1] if t else None)}</div>'
    if kind == "folding":
        from meip.worlds.folding.render import render_svg

        return render_svg(states[t], size=280.0, view="back")
    return f"<p>{escape(world.describe(states[t]))}</p>"
