"""Plan files: one ``(action arg ..)`` per step, as planners write them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from meip.base.documents import write_text
from meip.base.errors import did_you_mean
from meip.worlds.pddl.reader import read_text
from meip.worlds.pddl.syntax import DomainFile, ProblemFile
from meip.worlds.pddl.tokens import Source, read_nodes

__all__ = ["Step", "parse_plan", "plan_text", "read_plan", "step_text", "write_plan"]

Step = tuple[str, ...]  # the action's name and its arguments
_PREFIX = re.compile(r"\s*(?:step\s+)?\d+(?:\.\d+)?\s*:\s*", re.IGNORECASE)
_DURATION = re.compile(r"\[\s*\d+(?:\.\d+)?\s*\]\s*$")


def step_text(step: Iterable[str]) -> str:
    """``(board car1 loc1)``."""
    return f"({' '.join(step)})"


def read_plan(path: str | Path, domain: DomainFile, problem: ProblemFile) -> list[Step]:
    """Read a plan file; every step must name an action and objects that exist, legal or not."""
    return parse_plan(read_text(path), domain, problem, str(path))


def parse_plan(text: str, domain: DomainFile, problem: ProblemFile, name: str = "plan") -> list[Step]:
    """Read a plan from text. Comments, step numbers, times and durations around the steps are passed over."""
    objects = problem.all_objects(domain)
    steps: list[Step] = []
    for number, line in enumerate(text.split("\n"), start=1):
        content = line.split(";", 1)[0].rstrip()
        prefix = _PREFIX.match(content)
        skip = prefix.end() if prefix else len(content) - len(content.lstrip())
        content = _DURATION.sub("", content[skip:]).rstrip()
        if not content:
            continue
        if not content.startswith("("):
            content, shift = f"({content})", skip - 1  # some planners write bare words
        else:
            shift = skip
        source = Source(name, content)
        steps += [_step(source, content, number, shift, domain, objects)]
    return steps


def _step(
    source: Source, content: str, line: int, shift: int, domain: DomainFile, objects: dict[str, tuple[str, ...]]
) -> Step:
    column = shift + 1
    if content.count("(") != 1 or content.count(")") != 1 or not content.endswith(")"):
        raise source.error((line, column), f"expected one step (action arg ..), found {content[:60]!r}")
    node = read_nodes(source)[0]
    words = tuple(item.text or "" for item in node.items)
    if not words:
        raise source.error((line, column), "an empty step: expected (action arg ..)")
    action = domain.actions.get(words[0])
    if action is None:
        raise source.error(
            (line, column + 1),
            f"domain {domain.name!r} has no action {words[0]!r}; {did_you_mean(words[0], domain.actions)}",
        )
    if len(words) - 1 != len(action.parameters):
        raise source.error(
            (line, column), f"{words[0]!r} takes {len(action.parameters)} arguments, {len(words) - 1} given"
        )
    for item, parameter in zip(node.items[1:], action.parameters, strict=True):
        place = (line, shift + item.column)
        if item.text not in objects:
            raise source.error(place, f"object {item.text!r} is not declared; {did_you_mean(item.text or '', objects)}")
        if not domain.is_a(objects[item.text], parameter.types):
            raise source.error(
                place,
                f"{item.text} is of type {' or '.join(objects[item.text])}, but {words[0]!r} takes "
                f"{' or '.join(parameter.types)} for {parameter.name}",
            )
    return words


def plan_text(steps: Sequence[Iterable[str]], comment: str = "") -> str:
    """A plan file: one step per line, and the cost in steps, as planners write it. Steps are words, or texts."""
    lines = [step if isinstance(step, str) else step_text(step) for step in steps]
    note = f"; {comment}\n" if comment else ""
    return "".join(f"{line}\n" for line in lines) + note + f"; cost = {len(lines)} (unit cost)\n"


def write_plan(path: str | Path, steps: Sequence[Iterable[str]], comment: str = "") -> None:
    """Write a plan file."""
    write_text(path, plan_text(steps, comment))
