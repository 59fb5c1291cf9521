"""A state as a table of facts, with what the last action added and deleted: an HTML fragment."""

from __future__ import annotations

from html import escape

from meip.worlds.pddl.world import PddlWorld

__all__ = ["changes", "html_state"]


def changes(world: PddlWorld, state: bytes, before: bytes | None = None) -> dict[str, list[tuple[str, str]]]:
    """For each fluent the facts of a state, each with a mark: "" (held before), "+" (added), "-" (deleted)."""
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
    return {n: sorted(groups[n]) for n in sorted(groups, key=order.index)}


def html_state(world: PddlWorld, state: bytes, before: bytes | None = None) -> str:
    """A row for each fluent; added and deleted facts are <ins> and <del>, so they read without colour too."""
    rows = []
    for name, facts in changes(world, state, before).items():
        cells = " ".join(_fact(fact, mark) for fact, mark in facts)
        rows.append(f'<tr><th scope="row">{escape(name)}</th><td>{cells}</td></tr>')
    return f'<table class="pddl-state"><tbody>{"".join(rows)}</tbody></table>'


def _fact(fact: str, mark: str) -> str:
    tag = {"": "span", "+": "ins", "-": "del"}[mark]
    return f"<{tag}>{escape(fact)}</{tag}>"
