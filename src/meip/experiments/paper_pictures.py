"""What `meip reproduce --out` draws of the first two experiments, from their rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from meip import learn
from meip.base.files import make_folder, write_text
from meip.base.results import Row
from meip.experiments.reward_bounds import bound_text
from meip.experiments.rites import paper_demonstrations
from meip.report.charts import line_chart
from meip.report.diagrams import Arrow, Mark, states_and_arrows, strip
from meip.report.paper_figures import Bar, bars_with_intervals, heat_maps
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual

__all__ = ["didactic_mdp", "draw_change", "draw_shift", "ritual_strip"]

PLACES = {"S0": (50.0, 150.0), "S1": (240.0, 90.0), "g": (430.0, 150.0), "b1": (240.0, 210.0), "b2": (240.0, 290.0)}
GLYPHS = {"torch": "flame", "bamboo": "stem", "clay": "lump"}


NAMES = {"order_tau": "order (tau)", "match": "offers right"}
LETTERS = {"free-5": "(a)", "free-6": "(b)"}
SHOWN = {"clean": "clean demonstrations", "failures": "some demonstrations failed"}

SHIFTED = (  # bars of Exp. 1: as many as can be told apart in black and white; the tables have them all
    "meip (bad, goal, waypoint)", "meip (pursued)", "meip-defaults (found)", "paper (bad, goal, waypoint)",
    "paper (pursued)", "maxent-irl (bad, goal)", "maxent-irl (pursued)",
)  # fmt: skip
CHANGED = (  # of Exp. 2
    "meip", "meip-svm", "meip-svm-literal", "paper", "paper, concepts given", "meip-defaults", "maxent-irl, final",
    "maxent-irl, visits",
)  # fmt: skip


def _written(found: dict[str, str], folder: Path) -> list[Path]:
    make_folder(folder)
    for name, text in found.items():
        write_text(folder / name, text)
    return [folder / name for name in found]


def didactic_mdp() -> str:
    """The paper's first figure: the MDP as the world has it, and which rewards would do, computed."""
    world, arrows = Didactic(0.1), list[Arrow]()
    for place in PLACES:
        for action in world.actions(place):
            outcomes = world.outcomes(place, action)
            for k, (_, after) in enumerate(outcomes):
                chance = "" if len(outcomes) == 1 else (", 1 - p", ", p")[k]
                desired = (place, after) in (("S0", "S1"), ("S1", "g"))
                arrows.append(Arrow(place, after, f"{action}{chance}", desired, -40.0 * (action == "a2")))
    note = "Thick: what is desired, S0, S1, g. Grey: bad places; b1 is for good. Discount .8, reward 1 at g and r in a "
    note += "bad place; computed from the world. The paper says r < -0.48 for p = .3: the sign is another one."
    lines = [bound_text(p) for p in (0.1, 0.2, 0.3)]
    return states_and_arrows(PLACES, arrows, ("b1", "b2"), "The short way may fail, the long way is bad", lines, note)


def ritual_strip() -> str:
    """The ritual: what was offered at each stage in every demonstration, and what is planned with six objects."""
    episodes = paper_demonstrations("enforced")
    rows: dict[str, list[list[Mark]]] = {}
    for k, episode in enumerate(episodes, start=1):
        rows[f"shown {k}"] = _offers(episode.demonstration.actions, episode.world)
    world = Ritual(order="free", objects=6)
    rows["planned"] = _offers(learn(episodes).plan(world).actions, world)
    note = "Filled: offered. Five of each at every stage where it was shown; the plan is for six, in any order, by "
    note += "learn() and Task.plan. At each stage one kind is chosen, and how many of it."
    headings = [f"stage {stage}" for stage in range(1, world.stages + 1)]
    return strip(
        headings, rows, "The ritual, five times shown and once planned", note, {g: k for k, g in GLYPHS.items()}
    )


def _offers(actions: Sequence[Any], world: Any) -> list[list[Mark]]:
    """What stands at each stage, and what was taken of it."""
    done = {int(stage): (kind, int(number)) for stage, kind, number in actions}
    return [
        [Mark(GLYPHS[kind], done[stage][1] * (kind == done[stage][0]), world.objects) for kind in world.types]
        for stage in range(1, world.stages + 1)
    ]


def draw_shift(rows: Sequence[Row], folder: Path) -> list[Path]:
    """Bars of executions, and the boundary as heat maps."""
    own = [row for row in rows if row["experiment"] == "probability-shift"]
    bars: dict[str, dict[str, dict[str, Bar]]] = {}
    n = 0
    for row in own:
        if row["metric"] == "executed" and row["chance"] == "expectation":
            panel, group = SHOWN[row["demonstrations"]], f"p = {row['p']:g}"
            bar = (row["value"], row["low"], row["high"], None)
            name = f"{row['method']} ({row['concepts']})"
            if name in SHIFTED:
                bars.setdefault(panel, {}).setdefault(group, {})[name] = bar
            n = row["n"]
    lines = {(panel, f"p = {p:g}"): 1 - p for panel in bars for p in (0.1, 0.3)}
    note = f"n = {n} executions a bar; whiskers: 95 %; dotted: 1 - p, the best possible. Learned at p = .1."
    cells: dict[str, dict[tuple[float, float], float]] = {}
    marks: dict[str, list[float]] = {}
    for row in own:
        panel = f"{row['method']}, {row.get('chance', '')}; {SHOWN.get(row.get('demonstrations', ''), '')}"
        if row["metric"] == "boundary":
            cells.setdefault(panel, {})[row["trained_p"], row["p"]] = row["value"]
        elif row["metric"] == "planned_right" and row["value"] >= 0.95:
            marks.setdefault(panel, []).append(row["trained_p"])
    drawn = max(row["n"] for row in own if row["metric"] == "boundary")
    told = f"Dark: a1 planned by all learners, white: by none (failures: {drawn} learners a column, clean: 1)."
    told += " Dots: at least 95 % plan a1 at the p they learned at. Dotted: the paper's .24 and .85."
    return _written(
        {
            "probability-shift-mdp.svg": didactic_mdp(),
            "probability-shift.svg": bars_with_intervals(bars, "Executions that go S0, S1, g", note, lines=lines),
            "probability-shift-boundary.svg": heat_maps(cells, marks, "The boundary of learning and acting", told),
        },
        folder,
    )


def draw_change(rows: Sequence[Row], folder: Path, paper: float) -> list[Path]:
    """Both panels, and samples against lambda."""
    own = [row for row in rows if row["experiment"] == "structural-change"]
    found = {
        (row["metric"], row["trained"], row["world"], row["method"], row["statistic"]): row
        for row in own
        if "lambda" not in row
    }
    bars: dict[str, dict[str, dict[str, Bar]]] = {}
    lines: dict[tuple[str, str], float] = {}
    for (metric, trained, world, method, statistic), row in found.items():
        if statistic != "samples" or not world.startswith("free") or method not in CHANGED:
            continue
        tick = found[metric, trained, world, method, "argmax"]["value"]
        panel, group = (
            f"{LETTERS[world]} {world}, learned {trained}",
            {"order_tau": "order (tau)", "match": "offers right"}[metric],
        )
        bars.setdefault(panel, {}).setdefault(group, {})[method] = (row["value"], row["low"], row["high"], tick)
        if (metric, world, trained) == ("order_tau", "free-5", "enforced"):
            lines[panel, group] = paper
    n = max(row["n"] for row in found.values())
    note = f"Bars: samples of {n} searches, 5 each; whiskers: 95 %; ticks: argmax. Dotted: the paper's {paper}."
    series: dict[str, list[tuple[float, float]]] = {}
    for row in own:
        if "lambda" in row and row["trained"] == "enforced":
            name = f"{NAMES[row['metric']]}, {row['world']}"
            series.setdefault(name, []).append((float(row["lambda"]), row["value"]))
    top = max(x for points in series.values() for x, _ in points)
    series[f"the paper's {paper}"] = [(0.0, paper), (top, paper)]
    curve = line_chart(series, "Plans drawn by exp(lambda tau), 400 a point", "lambda", "mean", (0.0, 1.0))
    title = "The ritual where the order is free"
    return _written(
        {
            "structural-change-ritual.svg": ritual_strip(),
            "structural-change.svg": bars_with_intervals(bars, title, note, (-1.0, 1.0), lines),
            "structural-change-lambda.svg": curve,
        },
        folder,
    )
