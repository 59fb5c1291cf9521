"""Explanations and plans on a terminal, with rich; plain text where the output is no terminal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from meip.explanation import Explanation, Reading, layers, reduced
from meip.task import TaskPlan

__all__ = ["action_text", "explanation_text", "heading", "order_text", "plan_text", "why_text", "wishes_text"]

BAR = 16


def heading(text: str) -> Text:
    """A line above a section."""
    return Text(text, style="bold")


def explanation_text(found: Explanation) -> RenderableType:
    """The whole explanation."""
    parts: list[RenderableType] = [heading(f"What matters ({found.domain})"), _indented(Text(found.sentence))]
    parts += [Text(), heading("What is wanted, and how much of the utility it makes up"), wishes_text(found)]
    if found.order:
        parts += [Text(), heading("In which order"), order_text(found)]
    parts += [Text(), _indented(Text(_basis(found), style="dim"))]
    parts += [_indented(Text(note)) for note in found.notes]
    return Group(*parts)


def _basis(found: Explanation) -> str:
    """What all of this rests on."""
    shown = f"{found.demonstrations} demonstration{'s' * (found.demonstrations != 1)}"
    members = f", a committee of {found.members}" if found.members > 1 else ""
    return f"learned from {shown}{members}; the demonstrations' Kendall tau is {found.tau_demo:.3f} (1: g always rises)"


def wishes_text(found: Explanation) -> RenderableType:
    """A table of the concepts: English, formula, what they add to g, their share."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("share")
    table.add_column("adds to g", justify="right")
    if found.members > 1:
        table.add_column("agreement", justify="right")
    table.add_column("formula", style="cyan")
    for reading in found.readings:
        style = "" if not reading.is_order else "dim"
        cells: list[Any] = [Text(_told(found, reading), style=style), _bar(reading.share), _weight(reading)]
        if found.members > 1:
            cells.append(f"{reading.confidence:.0%}")
        table.add_row(*cells, reading.text)
    return _indented(table)


def _told(found: Explanation, reading: Reading) -> str:
    if reading.is_order:
        return f"before {_gerund(found, reading.then)}: {found.english[reading.first]}"
    return reading.english


def _gerund(found: Explanation, concept: str) -> str:
    return f'"{found.english[concept]}"'


def _bar(share: float) -> Text:
    full = round(share * BAR)
    return Text("█" * full + "░" * (BAR - full) + f" {share:4.0%}")


def _weight(reading: Reading) -> str:
    """The height of the curve at its end for booleans, its range else; the members' mean."""
    if reading.kind == "boolean":
        return f"{sum(c[-1][1] for c in reading.curves) / len(reading.curves):+.2f}"
    heights = [y for c in reading.curves for _, y in c]
    return f"{min(heights):+.2f}..{max(heights):+.2f}"


def order_text(found: Explanation) -> RenderableType:
    """The learned order as a tree: what must come first is at the top."""
    edges = reduced(found.order)
    roots = layers(edges)[0]
    told: set[str] = set()
    trees = []
    for root in roots:
        tree = Tree(Text(found.english[str(root)]))
        _grow(tree, found, str(root), edges, told)
        trees.append(tree)
    return _indented(Group(*trees))


def _grow(tree: Any, found: Explanation, concept: str, edges: Sequence[Any], told: set[str]) -> None:
    for edge in edges:
        if str(edge.first) != concept:
            continue
        sure = f"  ({edge.confidence:.0%} of the members)" if found.members > 1 else ""
        branch = tree.add(Text(f"then {found.english[str(edge.then)]}{sure}"))
        if str(edge.then) not in told:
            told.add(str(edge.then))
            _grow(branch, found, str(edge.then), edges, told)


def why_text(found: Explanation) -> RenderableType:
    """Every decision: what was considered, what it would have gained, and why it was taken or dropped."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("", "stage", "concept", "tau", "gain", "why"):
        table.add_column(name, justify="right" if name in ("tau", "gain") else "left")
    for d in found.decisions:
        style = "bold" if d.taken else "dim"
        row = ("took" if d.taken else "", d.stage, d.concept, f"{d.tau:.3f}", f"{d.gain:+.2f}", d.reason)
        table.add_row(*(Text(cell, style=style) for cell in row))
    parts: list[RenderableType] = [heading("What was considered, and why it was taken or dropped"), _indented(table)]
    if found.evidence:
        parts += [Text(), heading("Evidence for choices")]
        parts += [_indented(Text(f"{name}: {value}")) for name, value in found.evidence.items()]
    return Group(*parts)


def plan_text(plan: TaskPlan) -> RenderableType:
    """A plan step by step."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    names = ["", "do", "then", "g"]
    sure = any(step.confidence < 1 for step in plan.steps)
    chance = any(step.probability < 1 for step in plan.steps)
    names += ["agreement"] * sure + ["probability"] * chance
    for name in names:
        table.add_column(name, justify="left" if name in ("do", "then") else "right")
    table.add_row("0", "", plan.start)
    for number, step in enumerate(plan.steps, start=1):
        cells: list[RenderableType] = [
            str(number),
            Text(action_text(step.action), style="bold"),
            step.state,
            f"{step.utility:.2f}",
        ]
        cells += [f"{step.confidence:.0%}"] * sure
        cells += [f"{step.probability:g}"] * chance
        table.add_row(*cells)
    return Group(_indented(table), _indented(Text(_verdict(plan), style="dim")))


def _verdict(plan: TaskPlan) -> str:
    goal = {None: "", True: "; the goal is reached", False: "; the goal is NOT reached"}[plan.goal]
    stopped = "" if plan.stopped_by in ("finished", "iterations", "goal") else f" (stopped by {plan.stopped_by})"
    return f"Kendall tau {plan.tau:.3f} by {plan.method} search{stopped}{goal}"


def action_text(action: Any) -> str:
    """An action as words."""
    return " ".join(map(action_text, action)) if isinstance(action, list | tuple) else str(action)


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2))
