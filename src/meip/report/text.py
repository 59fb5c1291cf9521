"""Explanations and plans on a terminal, with rich; plain text where the output is no terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text
from rich.tree import Tree

from meip.tasks.explain import Explanation, Reading, layers, reduced
from meip.tasks.task import Precedence, TaskPlan

__all__ = [
    "action_text", "explanation_text", "heading", "order_text", "plan_text", "samples_text",
    "statements_text", "verdict", "why_text", "wishes_text",
]  # fmt: skip

BAR = 10
MOST_WISHES = 10
MOST_SAMPLES = 20  # different plans that are listed
LONG_PLAN = 12  # steps beyond which only the actions are told


def heading(text: str) -> Text:
    """A line above a section."""
    return Text(text, style="bold")


def explanation_text(found: Explanation) -> RenderableType:
    """The whole explanation."""
    parts: list[RenderableType] = [heading("What matters"), _indented(Text(found.sentence))]
    if found.foreseen:
        parts += [Text(), heading("What was learned"), statements_text(found)] if found.statements else []
    else:
        parts += [Text(), heading("What is wanted"), wishes_text(found)]
    if found.order:
        parts += [Text(), heading("In which order"), order_text(found)]
    parts += [Text(), _indented(Text(_basis(found), style="dim"))]
    parts += [_indented(Text(note)) for note in found.notes]
    return Group(*parts)


def _basis(found: Explanation) -> str:
    """What all of this rests on."""
    count = found.provenance.demonstrations
    members = f", a committee of {found.members}" if found.members > 1 else ""
    return (
        f"From {count} demonstration{'s' * (count != 1)}{members}. Along them the utility "
        + ("always rises" if found.tau_demo == 1 else "mostly rises" if found.tau_demo > 0 else "does not rise")
        + f" (Kendall tau {found.tau_demo:.3f})."
    )


def statements_text(found: Explanation) -> RenderableType:
    """A table of the statements: what kind, in English and as a formula, and how much speaks for them."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("")
    table.add_column("nats", justify="right", no_wrap=True)
    for said in found.statements:
        told = Text.assemble(said.english, "\n", (f"  {said.text}", "cyan"))
        table.add_row(Text(said.kind, style="dim"), told, f"{said.evidence:.1f}" if said.evidence else "")
    more = f"It {found.foreseen}. Plans weigh {len(found.readings)} concepts; --html or --json lists them."
    return _indented(Group(table, Text(more, style="dim")))


def wishes_text(found: Explanation) -> RenderableType:
    """A table of the concepts: English and formula, their share of the utility, what they add to it."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    table.add_column("")
    table.add_column("share of g", no_wrap=True)
    table.add_column("adds", justify="right", no_wrap=True)
    if found.members > 1:
        table.add_column("agree", justify="right", no_wrap=True)
    for reading in found.wishes[:MOST_WISHES]:
        told = Text.assemble(reading.english, "\n", (f"  {reading.text}", "cyan"))
        cells: list[RenderableType] = [told, _Bar(reading.share), _weight(reading)]
        if found.members > 1:
            cells.append(f"{reading.confidence:.0%}")
        table.add_row(*cells)
    more = len(found.wishes) - MOST_WISHES
    note = (
        [Text(f"and {more} more with smaller shares; --html or --json lists them all", style="dim")] if more > 0 else []
    )
    return _indented(Group(table, *note))


class _Bar:
    """A share as a bar, in plain characters where the output has no others."""

    def __init__(self, share: float) -> None:
        self.share = share

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[RenderableType]:
        full, empty = "#." if options.ascii_only else "█░"
        length = round(self.share * BAR)
        yield Text(f"{full * length}{empty * (BAR - length)} {self.share:4.0%}", no_wrap=True)

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(BAR + 5, BAR + 5)


def _weight(reading: Reading) -> str:
    """The weight of a boolean, the slope of a line (the members' means), the range of a curve."""
    if reading.kind in ("boolean", "linear"):
        each = " each" if reading.kind == "linear" else ""
        return f"{sum(c[-1][1] for c in reading.curves) / len(reading.curves):+.2f}{each}"
    heights = [y for c in reading.curves for _, y in c]
    return f"{min(heights):+.2f}..{max(heights):+.2f}"


def order_text(found: Explanation) -> RenderableType:
    """The learned order as a tree: what must come first is at the top."""
    edges = reduced(found.order)
    told: set[str] = set()
    parts: list[RenderableType] = []
    for root in layers(edges)[0]:
        tree = Tree(Text(found.english[str(root)]))
        _grow(tree, found, str(root), edges, told)
        parts.append(tree)
    if not found.foreseen:
        share = sum(found.order_share(edge) for edge in found.order)
        parts.append(Text(f"The order makes up {share:.0%} of the utility.", style="dim"))
    return _indented(Group(*parts))


def _grow(tree: Tree, found: Explanation, concept: str, edges: Sequence[Precedence], told: set[str]) -> None:
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
    parts: list[RenderableType] = []
    if found.decisions:
        parts = [heading("What was considered, and why it was taken or dropped"), _indented(_decisions(found))]
    if found.provenance.evidence:
        parts += [Text()] * bool(parts) + [heading("Evidence for choices")]
        parts += [_indented(Text(line)) for line in _evidence(found.provenance.evidence)]
    return Group(*parts)


def _decisions(found: Explanation) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("", "stage", "concept", "tau", "gain", "why"):
        table.add_column(name, justify="right" if name in ("tau", "gain") else "left")
    for d in found.decisions:
        style = "bold" if d.taken else "dim"
        row = ("took" if d.taken else "", d.stage, d.concept, f"{d.tau:.3f}", f"{d.gain:+.2f}", d.reason)
        table.add_row(*(Text(cell, style=style) for cell in row))
    return table


def _evidence(value: Any, depth: int = 0) -> Iterator[str]:
    """Nested evidence as indented lines."""
    indent = "  " * depth
    items = value.items() if isinstance(value, dict) else enumerate(value, start=1)
    for name, inner in items:
        if isinstance(inner, dict) or (isinstance(inner, list | tuple) and any(isinstance(x, dict) for x in inner)):
            yield f"{indent}{name}:"
            yield from _evidence(inner, depth + 1)
        else:
            yield f"{indent}{name}: {_short(inner)}"


def _short(value: Any) -> str:
    if isinstance(value, list | tuple):
        return ", ".join(map(_short, value))
    return f"{value:.4g}" if isinstance(value, float) else "-" if value is None else str(value)


def plan_text(plan: TaskPlan) -> RenderableType:
    """A plan step by step."""
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    sure = any(step.confidence < 1 for step in plan.steps)
    chance = any(step.probability < 1 for step in plan.steps)
    told = len(plan.steps) <= LONG_PLAN
    why = told and any(step.why for step in plan.steps)
    names = ["", "do", *["then"] * told, "g", *["because"] * why, *["sure"] * sure, *["probability"] * chance]
    for name in names:
        table.add_column(name, justify="left" if name in ("do", "then", "because") else "right")
    if told:
        likely = f" (probability {plan.initial_probability:g})" if plan.initial_probability < 1 else ""
        table.add_row("", "", f"{plan.start}{likely}")
    for number, step in enumerate(plan.steps, start=1):
        cells: list[RenderableType] = [str(number), Text(action_text(step.action), style="bold")]
        cells += [step.state] * told
        cells += [f"{step.utility:.2f}"]
        cells += ["\n".join(f"{r.adds:+.2f} {r.concept}" for r in step.why[:1])] * why
        cells += [f"{step.confidence:.0%}"] * sure
        cells += [f"{step.probability:g}"] * chance
        table.add_row(*cells)
    notes = [_indented(Text(note)) for note in plan.notes]
    return Group(_indented(table), *notes, _indented(Text(_verdict(plan), style="dim")))


def samples_text(plans: Sequence[TaskPlan]) -> RenderableType:
    """Drawn plans, each different one once: the most frequent first, and of those the highest tau."""
    counts: dict[tuple[str, ...], list[TaskPlan]] = {}
    for plan in plans:
        counts.setdefault(tuple(action_text(a) for a in plan.actions), []).append(plan)
    table = Table(box=None, padding=(0, 2, 0, 0), show_edge=False, header_style="dim")
    for name in ("drawn", "tau", "plan"):
        table.add_column(name, justify="left" if name == "plan" else "right")
    ranked = sorted(counts.items(), key=lambda item: (-len(item[1]), -item[1][0].tau))
    for actions, same in ranked[:MOST_SAMPLES]:
        table.add_row(str(len(same)), f"{same[0].tau:.3f}", ", then ".join(actions) or "nothing")
    rest = len(counts) - MOST_SAMPLES
    more = f"; {rest} more are not shown" if rest > 0 else ""
    told = f"{len(counts)} different plans of {len(plans)} drawn by {plans[0].method}{more}"
    notes = [_indented(Text(note, style="dim")) for note in plans[0].notes]
    return Group(_indented(table), _indented(Text(told, style="dim")), *notes)


def _verdict(plan: TaskPlan) -> str:
    goal = {None: "", True: "; the goal is reached", False: "; the goal is NOT reached"}[plan.goal]
    quiet = ("finished", "iterations", "goal", "stopped")
    stopped = "" if plan.stopped_by in quiet else f" (stopped by {plan.stopped_by})"
    searched = ", by searching for it" if plan.goal_search and plan.goal else ""
    return f"{verdict(plan)}Kendall tau {plan.tau:.3f} by {plan.method}{stopped}{goal}{searched}"


def verdict(plan: TaskPlan) -> str:
    """How sure the plan is as a whole, where it was chosen step by step: "Likely right; ", or where to look."""
    if plan.method != "choices" or not plan.steps:
        return ""
    step = plan.doubtful
    if step is None:
        return f"Likely right (the held-out models are {plan.confidence:.0%} sure); "
    where = f"step {step}" if step <= len(plan.steps) else "where it stops"
    sure = plan.steps[step - 1].confidence if step <= len(plan.steps) else plan.stopping
    return f"Look at {where} (the held-out models are {sure:.0%} sure of it); "


def action_text(action: Any) -> str:
    """An action as words; numbers with four digits are enough to look at."""
    if isinstance(action, float):
        return f"{action:.4g}"
    return " ".join(map(action_text, action)) if isinstance(action, list | tuple) else str(action)


def _indented(what: RenderableType) -> Padding:
    return Padding(what, (0, 0, 0, 2))
