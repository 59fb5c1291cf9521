"""``meip concepts``: everything that can be said about a domain, level by level."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from meip.cli.app import DomainOption, JsonOption, app, console, print_json
from meip.cli.inputs import grammar as chosen_grammar

__all__ = ["concepts"]


@app.command()
def concepts(
    world: Annotated[str, typer.Argument(metavar="WORLD", help="A world, or a domain document.")],
    level: Annotated[int, typer.Option("--level", min=1, help="The last level: primitives per concept.")] = 1,
    grammar: Annotated[
        str | None,
        typer.Option(help="paper, planning (roles and goals), counts, shares; default: planning if there are goals."),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", min=0, help="Concepts listed; all are counted.")] = 100,
    domain: DomainOption = None,
    as_json: JsonOption = False,
) -> None:
    """List the concepts of a domain: what a task could be about.

    \b
    Concepts that differ only in the quantifier (all, some, count) or aggregator (max, min, mean)
    share a slot: a task uses one of them.

    \b
    Examples:
      meip concepts ritual
      meip concepts domain.json --level 2 --json
    """
    from meip.concepts.bank import ConceptBank

    described = _domain(world, domain)
    levels = list(ConceptBank(described, chosen_grammar(grammar or _usual(described), level)).levels())
    rows = _rows(described, levels, None if as_json else limit)
    if as_json:
        print_json({"domain": described.name, "levels": [vars(info) for _, _, info in levels], "concepts": rows})
        return
    out = console()
    out.print(_table(described.name, rows))
    for _, found, info in levels:
        if info.stopped:
            out.print(info.stopped)
        else:
            out.print(f"level {info.level}: {len(found)} concepts in {info.slots} slots")
    total = sum(len(found) for _, found, _ in levels)
    if total > len(rows):
        out.print(f"the first {len(rows)} of {total} are listed; --limit {total} lists them all")


def _domain(name: str, pddl_domain: str | None) -> Any:
    """The domain of a world, or the one that a domain document describes."""
    from pathlib import Path

    from meip.base import documents
    from meip.model.problems import resolve_world

    if Path(name).suffix == ".json":
        data = documents.read_json(name)
        if documents.kind_of(data, name)[0] == "domain":
            import meip.model.domain  # noqa: F401  (registers the kind)

            return documents.parse(data, "domain", where=name)
    return resolve_world(name, domain=pddl_domain).domain


def _usual(domain: Any) -> str:
    return "planning" if any(f.goal_of for f in domain.fluents) else "paper"


def _rows(domain: Any, levels: list[Any], limit: int | None) -> list[dict[str, Any]]:
    from itertools import chain, islice

    from meip.concepts.check import kind, slot
    from meip.concepts.english import english

    slots: dict[Any, int] = {}
    listed = islice(chain.from_iterable(found for _, found, _ in levels), limit)
    return [
        {
            "slot": slots.setdefault(slot(concept), len(slots) + 1),
            "complexity": concept.complexity,
            "kind": kind(concept, domain),
            "concept": str(concept),
            "english": english(concept, domain),
        }
        for concept in listed
    ]


def _table(name: str, rows: list[dict[str, Any]]) -> Any:
    from rich.table import Table

    table = Table(title=f"concepts of {name}", title_justify="left")
    for heading in ("slot", "complexity", "concept", "in English"):
        table.add_column(heading, justify="right" if heading in ("slot", "complexity") else "left")
    for before, row in zip([None, *rows], rows, strict=False):
        new = before is None or before["slot"] != row["slot"]
        table.add_row(
            str(row["slot"]) if new else "", *(str(row[k]) for k in ("complexity", "kind", "concept", "english"))
        )
    return table
