"""A state as a table of facts, with what the last action added and deleted: plain text, and an HTML fragment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from meip.worlds.pddl.world import PddlWorld

__all__ = ["Change", "change", "html_state", "text_plan", "text_state"]


@dataclass(frozen=True)
class Change:
    """The facts of a state in groups by fluent, each with a mark: "" (holds), "+" (added), "-" (deleted)."""

    action: str
    groups: dict[str, list[tuple[str, str]]]  # fluent -> [(fact, mark)]

    def marked(self, mark: str) -> list[str]:
        """The facts with this mark."""
        return [fact for facts in self.groups.values() for fact, own in facts if own == mark]


def change(world: PddlWorld, state: bytes, before: bytes | None = None, action: str = "") -> Change:
    """The facts of a state compared with the state before it."""
    now = world.engine.fact_texts(world.pack([state])[0])
    old = now if before is None else world.engine.fact_texts(world.pack([before])[0])
    marks = {fact: "" if fact in set(old) else "+" for fact in now}
    marks.update({fact: "-" for fact in old if fact not in marks})
    groups: dict[str, list[tuple[str, str]]] = {}
    for fact, mark in marks.items():
        words = fact.strip("()").split()
        name = words[1].strip("()") if words[0] == "=" else words[0]
        groups.setdefault(name, []).append((fact, mark))
    order = [f.name for f in world.domain.fluents]
    return Change(action, {n: sorted(groups[n]) for n in sorted(groups, key=order.index)})


def text_state(world: PddlWorld, state: bytes, before: bytes | None = None, action: str = "") -> str:
    """One line for each fluent; + before what was added, - before what was deleted."""
    found = change(world, state, before, action)
    width = max((len(n) for n in found.groups), default=0)
    lines = [found.action] if found.action else []
    for name, facts in found.groups.items():
        lines.append(f"  {name:<{width}}  " + "  ".join(f"{mark}{fact}" for fact, mark in facts))
    return "\n".join(lines)


def html_state(world: PddlWorld, state: bytes, before: bytes | None = None, action: str = "") -> str:
    """The same as a table; added and deleted facts are <ins> and <del>, so they read without colour too."""
    found = change(world, state, before, action)
    caption = f"<caption>{escape(found.action)}</caption>" if found.action else ""
    rows = []
    for name, facts in found.groups.items():
        cells = " ".join(_fact(fact, mark) for fact, mark in facts)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{cells}</td></tr>')
    return f'<table class="pddl-state">{caption}<tbody>{"".join(rows)}</tbody></table>'


def _fact(fact: str, mark: str) -> str:
    tag = {"": "span", "+": "ins", "-": "del"}[mark]
    return f"<{tag}>{escape(fact)}</{tag}>"


def _steps(states: Sequence[bytes], actions: Sequence[str]) -> list[tuple[bytes, bytes | None, str]]:
    first: list[tuple[bytes, bytes | None, str]] = [(states[0], None, "")] if states else []
    pairs = zip(states[1:], states, actions, strict=False)
    return first + [(state, before, action) for state, before, action in pairs]


def text_plan(world: PddlWorld, states: Sequence[bytes], actions: Sequence[str]) -> str:
    """Every state of a plan, one after another."""
    return "\n".join(f"{i}. {text_state(world, *step).lstrip()}" for i, step in enumerate(_steps(states, actions)))
