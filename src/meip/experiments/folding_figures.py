"""Counterparts of the paper's figures about folding, for `meip reproduce folding --out`.

folding-orders      the default and a weird order of the same folds, and what the utility says of both
folding-transfer    the demonstrated garment, and plans for garments that nobody has shown
folding-structures  the edges and vertices of every garment
folding-line        what a fold is
folding-actions     the grid of folds
folding-proposed    the folds that a learned proposal brings up
folding-trees       the parse graph of the cloth, flat and after each fold
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import cast

import numpy as np

from meip import Demonstration, Task, WorldError, load_problem, record, replay
from meip.base.results import Row
from meip.model.graph import state_graph
from meip.search.choosing import Chooser
from meip.utility.preferences import ChoiceRanking
from meip.worlds.folding.canvas import Canvas, Dot, Shape, Text, write_canvas
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.demonstrate import bundled, script_orders, scripted_folds
from meip.worlds.folding.diagrams import action_space, entity_counts, folding_line, proposed_folds, structures
from meip.worlds.folding.folds import Fold
from meip.worlds.folding.garments import TEMPLATES, garment, random_garment
from meip.worlds.folding.parse_tree import cloth_trees
from meip.worlds.folding.referee import Referee
from meip.worlds.folding.render import Row as Strip, contact_sheet, demonstration_row, plan_row
from meip.worlds.folding.world import Folding, proposal_from

__all__ = ["draw", "log_likelihood", "orders", "transfer"]

NOISES = 3  # scripted noise per order of folds
OURS = {"metric": "default_order", "method": "meip", "search": "choices", "trained": "varied"}
SLEEVED = ("tshirt", "longsleeve", "sweater", "hoodie")


def draw(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Every figure, as SVG, from the task that the experiment left in the folder, and its rows."""
    task = Task.load(folder / "folding-task.json")
    first = bundled()[0]
    shown = cast(Folding, load_problem(first.problem)).garment
    found = {
        "folding-orders": orders(task),
        "folding-transfer": transfer(task, first, rows),
        "folding-structures": structures([garment(name) for name in TEMPLATES]),
        "folding-line": folding_line(shown, cast(Fold, tuple(first.steps[0].action))),
        "folding-actions": action_space(garment("tshirt")),
        "folding-proposed": proposed_folds(garment("sweater"), proposal_from(bundled())),
        "folding-trees": cloth_trees(demonstration_row(first)),
    }
    for name, canvas in found.items():
        write_canvas(folder / f"{name}.svg", canvas)
    return [folder / f"{name}.svg" for name in found]


def orders(task: Task, noises: int = NOISES) -> Canvas:
    """The default order and a weird one on a T-shirt with g of every state, and how likely all orders are."""
    shirt = garment("tshirt")
    strips = []
    for title, names in (("Default: sleeves, then in half", 0), ("Weird: in half, then sleeves", 1)):
        chosen = script_orders(shirt)[names]
        order = chosen[0] if names == 0 else next(one for one in chosen if one[0] == "half")
        strips.append(_scored(task, shirt, order, title))
    canvas = contact_sheet(strips, title="Two orders of the same folds, and their utility")
    found = {kind: _likelihoods(task, garment(kind), noises) for kind in SLEEVED}
    _dots(canvas, found, f"{noises} noisy scripts of each order")
    return canvas


def _dots(canvas: Canvas, found: Mapping[str, Sequence[tuple[float, bool]]], told: str) -> None:
    """A line for each garment below what there is: likelihoods of good orders as dots, of bad ones as crosses."""
    top, every = canvas.height, [value for points in found.values() for value, _ in points]
    canvas.height += 86 + 44 * len(found)
    canvas.width = max(canvas.width, 640.0)
    canvas.add([Text(16, top + 10, "How likely each order of the same folds is, by what was learned", 13, bold=True)])
    left, right, low, high = 150.0, canvas.width - 40, min(every), max(every)
    for k, (kind, points) in enumerate(found.items()):
        y = top + 40 + 44 * k
        axis = np.array([[left, y + 8], [right, y + 8]])
        canvas.add([Text(16, y + 12, kind, 12), Shape(axis, stroke="muted", width=0.8, closed=False)])
        for value, good in points:
            x = left + (value - low) / (high - low) * (right - left)
            if good:
                canvas.add([Dot(x, y + 2, 4.0, "outline")])
            else:
                cross = 4.0 * np.array([[-1.0, -1], [1, 1], [0, 0], [-1, 1], [1, -1]]) + (x, y + 15)
                canvas.add([Shape(cross, stroke="fold", width=1.5, closed=False)])
    bottom = top + 40 + 44 * len(found)
    for value, x, anchor in ((low, left, "start"), (high, right, "end")):
        canvas.add([Text(x, bottom - 4, f"{value:.1f}", 11, anchor=anchor)])
    canvas.add([Text((left + right) / 2, bottom - 4, "log-likelihood of the folds", 11, anchor="middle")])
    note = f"dots: sleeves before the half fold; crosses: not so; n = {len(every)}, {told}"
    canvas.add([Text(16, bottom + 22, note, 11, fill="muted")])


def _scored(task: Task, one: Garment, order: Sequence[str], title: str) -> Strip:
    """A scripted order as a strip, with g below every state and tau in the title."""
    world = Folding(one, len(order) + 1)
    shown = _script(world, order, 0)
    if shown is None:
        raise WorldError(f"the script {', '.join(order)} does not fit {one.name}")
    plan, utility = replay(world, shown), _utilities(task, world, shown)
    captions = [f"{name}, g = {g:.2f}" for name, g in zip(("flat", "fold 1", "fold 2", "fold 3"), utility, strict=True)]
    states, folds = [cast(Cloth, s) for s in plan.states], [cast(Fold, a) for a in plan.actions]
    tau = task.score(world, shown)
    return plan_row(f"{title} (tau {tau:+.2f})", states, captions=captions, folds=folds, garment=one, turn_over=False)


def _utilities(task: Task, world: Folding, shown: Demonstration) -> list[float]:
    """g of every state of a demonstration less that of the first, the members' mean."""
    graph = state_graph(task.prepared(world))
    states = [graph.intern(state) for state in replay(world, shown).states]
    mean = task.ranking(graph, states)[states].mean(axis=1)
    return [float(value) for value in mean - mean[0]]


def _likelihoods(task: Task, one: Garment, noises: int) -> list[tuple[float, bool]]:
    """How likely every order of the scripted folds is, and whether it is a good one."""
    found = []
    for good, many in zip((True, False), script_orders(one), strict=True):
        for order in many:
            world = Folding(one, len(order) + 1)
            shown = [_script(world, order, noise) for noise in range(noises)]
            found += [(log_likelihood(task, world, script), good) for script in shown if script is not None]
    return found


def log_likelihood(task: Task, world: Folding, shown: Demonstration) -> float:
    """Of the steps of a demonstration, each among what could have been done instead."""
    graph, plan = state_graph(task.prepared(world)), replay(world, shown)
    chooser, total = Chooser(graph, cast(ChoiceRanking, task.choosing)), 0.0
    seen: dict[int, int] = {}
    for before, after in pairwise(graph.intern(state) for state in plan.states):
        seen[before] = seen.get(before, 0) + 1
        chooser.remember(seen)
        done = ((1.0, after),)
        others = [one for one in chooser.alternatives(before)[1] if one != done]
        worth = chooser.worth(before, [done, *others])
        total += float(worth[0] - np.logaddexp.reduce(worth))
    return total


def _script(world: Folding, order: Sequence[str], noise: int) -> Demonstration | None:
    try:
        return record(world, scripted_folds(world.garment, order, np.random.default_rng([noise, 7])))
    except WorldError:
        return None  # the noise put an end of the segment inside the cloth


def transfer(task: Task, shown: Demonstration, rows: Sequence[Row] = (), seed: int = 0) -> Canvas:
    """What was shown, and one plan for each kind of garment; counts, verdicts, and how many plans are right in all."""
    world = cast(Folding, load_problem(shown.problem))
    strips = [_strip(f"Shown (one of {task.provenance.demonstrations})", world, shown)]
    right = {
        row["garment"]: f"; in the table: kept in {row['value'] * row['n']:.0f} of {row['n']}"
        for row in rows
        if (row["metric"], row["method"], row["search"], row["trained"])
        == ("default_order", "meip", "choices", "varied")
    }
    rng = np.random.default_rng([seed, 9])
    kinds = {name: garment(name) for name in SLEEVED}
    kinds |= {f"fresh {name}": random_garment(name, rng, f"fresh {name}") for name in ("sweater", "hoodie")}
    for kind, one in kinds.items():
        planned_in = Folding(one)
        plan = task.plan(planned_in, seed=seed).demonstration()
        judged = Referee(one).judge(replay(planned_in, plan).states)
        faults = [] if judged.default_order else ["order NOT kept"]
        verdict = ", ".join(["Planned", *faults, *([] if judged.neat else ["not neat"])])
        strips.append(_strip(verdict, planned_in, plan, right.get(kind, "")))
    return contact_sheet(strips, title="From the garments shown to others", columns=1)


def _strip(title: str, world: Folding, shown: Demonstration, more: str = "") -> Strip:
    plan, count = replay(world, shown), entity_counts(Cloth.flat(world.garment))
    told = f"{title}: {world.garment.name}, {count['edge']} edges, {count['vertex']} vertices{more}"
    states, folds = [cast(Cloth, s) for s in plan.states], [cast(Fold, a) for a in plan.actions]
    return plan_row(told, states, folds=folds, garment=world.garment)
