"""``meip show``: a world's first states, what can be done there, and what is true."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from meip.cli.app import DomainOption, JsonOption, app, console, print_json

__all__ = ["show"]

SHOWN_ACTIONS = 4
SHOWN_TUPLES = 8

WorldArgument = Annotated[str, typer.Argument(metavar="WORLD", help="A name, a problem file, or module:factory.")]


@app.command()
def show(
    world: WorldArgument,
    steps: Annotated[int, typer.Option("--steps", min=0, help="Steps of the walk.")] = 3,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Which random walk.")] = 0,
    domain: DomainOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show a world: its fluents, and the states, actions and facts of a random walk.

    \b
    Examples:
      meip show ritual
      meip show problem.json --steps 5 --seed 1
      meip show packing:Packing
    """
    from meip.model.graph import state_graph
    from meip.model.problems import resolve_world

    graph = state_graph(resolve_world(world, domain=domain))
    rows = list(_walk(graph, steps, seed))
    if as_json:
        print_json({"world": world, "domain": graph.domain.name, "horizon": graph.horizon, "walk": rows})
    else:
        console().print(_fluents(graph), _states(world, rows, graph.horizon), sep="\n")


def _walk(graph: Any, steps: int, seed: int) -> Any:
    """One row per state of a random walk: where one is, what could be done, what was done, what is true."""
    import numpy as np

    from meip.model.world import encode

    rng = np.random.default_rng(seed)
    static = set(graph.static_facts().tables)
    state = int(rng.choice(graph.initial, p=graph.initial_probability))
    for step in range(min(steps, graph.horizon - 1) + 1):
        actions = graph.action_numbers(state)
        last = step == min(steps, graph.horizon - 1) or not actions
        action = None if last else actions[rng.integers(len(actions))]
        tables = {name: table[0] for name, table in graph.facts([state])[0].tables.items() if name not in static}
        yield {
            "state": graph.describe(state),
            "legal": len(actions),
            "actions": [encode(graph.action(a)) for a in actions[:SHOWN_ACTIONS]],
            "action": None if action is None else encode(graph.action(action)),
            "facts": _true_facts(graph.domain, tables),
        }
        if action is None:
            return
        odds, states = zip(*graph.outcomes(action), strict=True)
        state = int(rng.choice(states, p=odds))


def _true_facts(domain: Any, tables: Any) -> dict[str, Any]:
    """For each fluent that has a table: the tuples of which it is true, or its values."""
    import numpy as np

    found: dict[str, Any] = {}
    for fluent in domain.fluents:
        table = tables.get(fluent.name)
        if table is None:
            continue
        if fluent.real:
            found[fluent.name] = [None if np.isnan(v) else float(v) for v in np.ravel(table)]
        else:
            found[fluent.name] = [list(map(int, index)) for index in np.argwhere(table)]
    return found


def _fluents(graph: Any) -> Any:
    from rich.table import Table

    static = _true_facts(graph.domain, graph.static_facts().tables)
    table = Table(title=f"domain {graph.domain.name}", title_justify="left")
    for heading in ("fluent", "of", "in English", "static: true of"):
        table.add_column(heading)
    for fluent in graph.domain.fluents:
        kind = "number" if fluent.real else "predicate"
        of = f"{kind} of {', '.join(fluent.classes)}" if fluent.classes else kind
        table.add_row(fluent.name, of, fluent.phrase, _tuples(static[fluent.name]) if fluent.name in static else "")
    return table


def _states(name: str, rows: list[dict[str, Any]], horizon: int) -> Any:
    from rich.table import Table

    table = Table(title=f"a walk in {name} (horizon {horizon} states)", title_justify="left", show_lines=True)
    for heading in ("", "state", "what can be done", "true facts"):
        table.add_column(heading)
    for number, row in enumerate(rows):
        facts = "\n".join(f"{fluent}: {_tuples(value)}" for fluent, value in row["facts"].items() if value)
        table.add_row(str(number), row["state"], _choices(row), facts)
    return table


def _choices(row: dict[str, Any]) -> str:
    from meip.report.text import action_text

    if not row["legal"]:
        return "nothing: the episode is over"
    shown = ", ".join(action_text(a) for a in row["actions"])
    more = ", ..." if row["legal"] > len(row["actions"]) else ""
    chosen = "" if row["action"] is None else f"\nchosen: {action_text(row['action'])}"
    return f"{row['legal']}: {shown}{more}{chosen}"


def _tuples(values: list[Any]) -> str:
    shown = [
        ("(" + ",".join(map(str, v)) + ")" if len(v) != 1 else str(v[0])) if isinstance(v, list) else _number(v)
        for v in values[:SHOWN_TUPLES]
    ]
    return (
        "yes" if shown == ["()"] else " ".join(shown) + (f" ... ({len(values)})" if len(values) > SHOWN_TUPLES else "")
    )


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"
