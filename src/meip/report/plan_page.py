"""A plan as one page: every state with its picture where the world has one, else in words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from html import escape
from pathlib import Path
from typing import Any

from meip.base.errors import DocumentError
from meip.base.files import write_text
from meip.model.demonstrations import replay
from meip.model.world import unwrap
from meip.report.html import page
from meip.report.text import action_text
from meip.tasks.task import TaskPlan

__all__ = ["plan_page", "write_plan"]

XMLNS = ' xmlns="http://www.w3.org/2000/svg"'


def plan_page(plan: TaskPlan, world: Any, title: str = "A plan") -> str:
    """The page; `world` is the one that was planned in."""
    if _kind(world) == "folding":
        items = "".join(_fold_cards(plan, world))
    else:
        states = replay(world, plan.demonstration()).states
        names = ["start", *(action_text(a) for a in plan.actions)]
        items = "".join(_card(name, _picture(world, states, t), _facts(plan, t)) for t, name in enumerate(names))
    goal = {None: "", True: " The world's goal is reached.", False: " The world's goal is not reached."}[plan.goal]
    chance = f"; chance: {escape(plan.chance)}" if any(step.probability < 1 for step in plan.steps) else ""
    return page(
        title,
        f'<header><h1>{escape(title)}</h1><p class="lead">{len(plan.steps)} steps, Kendall tau {plan.tau:.3f}.{goal}'
        f'</p><p class="small">Found by {escape(plan.method)} search{chance}.</p></header>'
        f'<ol class="cards">{items}</ol>',
    )


def write_plan(path: str | Path, plan: TaskPlan, world: Any, title: str = "A plan") -> None:
    """The page (.html); folds also as a picture (.svg, .png)."""
    suffix = Path(path).suffix.lower()
    if suffix not in (".svg", ".png"):
        write_text(path, plan_page(plan, world, title))
        return
    if _kind(world) != "folding":
        raise DocumentError(f"{path}: only plans of folds are drawn as .svg or .png; write a page: .html")
    from meip.worlds.folding.canvas import write_canvas
    from meip.worlds.folding.render import contact_sheet

    write_canvas(path, contact_sheet([_folds(plan, world)], title=title))


def _kind(world: Any) -> str | None:
    return getattr(type(unwrap(world)), "kind", None)


def _card(name: str, picture: str, facts: str) -> str:
    return f'<li class="card"><h3>{escape(name)}</h3>{picture}{facts}</li>'


def _facts(plan: TaskPlan, t: int) -> str:
    if t == 0 or t > len(plan.steps):
        return ""
    step = plan.steps[t - 1]
    chance = f"<span>with probability {step.probability:g}</span>" if step.probability < 1 else ""
    return (
        f'<div class="facts small"><span>utility {step.utility:.2f}</span>{chance}'
        f"<span>{step.confidence:.0%} see progress</span></div>"
    )


def _folds(plan: TaskPlan, world: Any) -> Any:
    """The plan as a row of cloths."""
    from meip.worlds.folding.sheets import folds_row

    return folds_row(unwrap(world).garment.name, unwrap(world).garment, plan.actions)


def _fold_cards(plan: TaskPlan, world: Any) -> Iterator[str]:
    """Every cloth from the back with its next fold, and the last one turned over as well."""
    from meip.worlds.folding.canvas import to_svg
    from meip.worlds.folding.render import frame_pictures

    row = _folds(plan, world)
    for t, (frame, canvas) in enumerate(zip(row.frames, frame_pictures(row), strict=True)):
        segment = ""
        if 0 < t <= len(plan.steps):
            x, y, r, theta = plan.actions[t - 1]
            segment = (
                f'<p class="small">along ({x:.3g}, {y:.3g}), {2 * r:.3g} long, {math.degrees(theta):.0f} degrees</p>'
            )
        drawing = to_svg(canvas).replace(XMLNS, "")  # inside a page it says nothing
        yield _card(frame.caption, drawing, segment + _facts(plan, t))


def _picture(world: Any, states: tuple[Any, ...], t: int) -> str:
    """The state as the world draws it."""
    if _kind(world) == "pddl":
        from meip.worlds.pddl.view import html_state

        return f'<div class="scroll">{html_state(unwrap(world), states[t], states[t - 1] if t else None)}</div>'
    return f"<p>{escape(world.describe(states[t]))}</p>"
