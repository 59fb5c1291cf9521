"""A plan as one page: every state with its picture where the world draws itself (the hook `Draws`), else in words."""

from __future__ import annotations

import re
from html import escape
from pathlib import Path
from typing import Any

from meip.base.errors import DocumentError
from meip.base.files import write_text
from meip.model.demonstrations import Plan, replay
from meip.model.world import Draws, Picture, offers, paint, pictures
from meip.report.html import page
from meip.report.svg import sheet_svg
from meip.report.text import action_text, verdict
from meip.tasks.task import PlanStep, TaskPlan

__all__ = ["plan_body", "plan_page", "write_plan"]

XMLNS = ' xmlns="http://www.w3.org/2000/svg"'


def plan_page(plan: TaskPlan, world: Any, title: str = "A plan") -> str:
    """The page; `world` is the one that was planned in."""
    return page(title, plan_body(plan, world, title))


def plan_body(plan: TaskPlan, world: Any, title: str = "A plan", level: int = 1) -> str:
    """The same without the frame, for pages that say more; `level` of its heading."""
    items = "".join(_card(picture, _facts(plan, t)) for t, picture in enumerate(_pictures(plan, world)))
    goal = {None: "", True: " The world's goal is reached.", False: " The world's goal is not reached."}[plan.goal]
    chance = f"; chance: {escape(plan.chance)}" if any(step.probability < 1 for step in plan.steps) else ""
    return (
        f'<header><h{level}>{escape(title)}</h{level}><p class="lead">{len(plan.steps)} steps, Kendall tau '
        f'{plan.tau:.3f}.{goal}</p><p class="small">{escape(verdict(plan))}found by {escape(plan.method)}{chance}.'
        f"{' The goal itself was searched for.' if plan.goal_search else ''}</p>{_notes(plan)}</header>"
        f'<ol class="cards">{items}</ol>'
    )


def _notes(plan: TaskPlan) -> str:
    return "".join(f"<p>{escape(note[:1].upper() + note[1:])}.</p>" for note in plan.notes)


def write_plan(path: str | Path, plan: TaskPlan, world: Any, title: str = "A plan") -> None:
    """The page (.html), or one picture: .svg where the world draws itself, other formats where it paints them."""
    suffix = Path(path).suffix.lower()
    if suffix in (".html", ".htm"):
        write_text(path, plan_page(plan, world, title))
        return
    if not offers(world, Draws):
        raise DocumentError(f"{path}: this world draws no pictures (the hook Draws); write a page: .html")
    way = _replayed(plan, world)
    if paint(world, path, way.states, way.actions, title):
        return
    drawn = pictures(world, way.states, way.actions)
    if suffix != ".svg" or not all(picture.svg for picture in drawn):
        formats = ".svg, or on a page: .html" if all(picture.svg for picture in drawn) else "a page: .html"
        raise DocumentError(f"{path}: plans in this world are drawn as {formats}")
    write_text(path, sheet_svg(drawn, title))


def _replayed(plan: TaskPlan, world: Any) -> Plan:
    return replay(world, plan.demonstration())


def _pictures(plan: TaskPlan, world: Any) -> list[Picture]:
    way = _replayed(plan, world)
    if offers(world, Draws):
        return pictures(world, way.states, way.actions)
    names = ["start", *(action_text(a) for a in plan.actions)]
    return [Picture(n, note=p.note) for n, p in zip(names, pictures(world, way.states, way.actions), strict=True)]


def _card(picture: Picture, facts: str) -> str:
    drawing = picture.svg.replace(XMLNS, "", 1) or picture.html  # inside a page the name space says nothing
    small = ' class="small"' if drawing else ""
    note = f"<p{small}>{escape(picture.note)}</p>" if picture.note else ""
    wide = " wide" if _is_wide(picture.svg) else ""
    return f'<li class="card{wide}"><h3>{escape(picture.caption)}</h3>{drawing}{note}{facts}</li>'


def _is_wide(svg: str) -> bool:
    """Is a drawing much wider than high (two beside each other)? Then its card takes a row of its own."""
    found = re.match(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    return found is not None and float(found[1]) > 1.5 * float(found[2])


def _facts(plan: TaskPlan, t: int) -> str:
    if t == 0 or t > len(plan.steps):
        return ""
    step = plan.steps[t - 1]
    chance = f"<span>with probability {step.probability:g}</span>" if step.probability < 1 else ""
    measured = any(one.confidence < 1 for one in plan.steps)  # not so where a baseline plans
    sure = f"<span>{step.confidence:.0%} sure</span>" if measured else ""
    return f'<div class="facts small"><span>utility {step.utility:.2f}</span>{chance}{sure}</div>{_why(step)}'


def _why(step: PlanStep) -> str:
    if not step.why:
        return ""
    reasons = "".join(f"<li><code>{escape(r.concept)}</code> {r.adds:+.2f}</li>" for r in step.why)
    return f'<ul class="small">{reasons}</ul>'
