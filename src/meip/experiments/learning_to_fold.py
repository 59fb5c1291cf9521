"""The paper's third experiment: learn to fold from a few recorded folds, and fold clothes never seen.

For each demonstration seed: fifteen scripted demonstrations on T-shirts and long-sleeves of varied proportions, a
proposal and a committee learned from them, and garments to fold: the templates, and freshly proportioned ones. The
tree of proposed folds of each garment is frozen, so that all methods choose among the same plans; the referee, who
never sees a utility, says whether the default order was kept (every sleeve before the half fold).
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from meip.committee import Committee, CommitteeOptions
from meip.errors import WorldError
from meip.experiments.folding_methods import ABLATIONS, METHODS, Method, Setting, learn_methods, rank_accuracy
from meip.experiments.folding_problems import Lesson, Problem, random_folds
from meip.experiments.tables import Progress, Row, mean_row, no_progress, share_row
from meip.ranking import UtilityRanking
from meip.worlds.folding.cloth import Garment
from meip.worlds.folding.demonstrate import demonstrate, random_demonstrations
from meip.worlds.folding.garments import garment, random_garment
from meip.worlds.folding.referee import Referee
from meip.worlds.folding.world import proposal_from

__all__ = ["GARMENTS", "Scale", "Tally", "run"]

NAME = "folding"
GARMENTS = ("tshirt", "longsleeve", "sweater", "hoodie", "fresh sweater", "fresh hoodie")
SEARCHES: tuple[Literal["mcts", "beam", "exact"], ...] = ("mcts", "beam", "exact")
SHOWN = 15
DRAWN = 10  # random plans per problem
SHEET_ROWS = 3  # plans per garment on a contact sheet


@dataclass(frozen=True)
class Scale:
    """How much is tried."""

    seeds: int = 5
    problems: int = 10
    candidates: int = 17
    """Folds per state of the frozen trees: 17 give 4,913 plans."""
    simulations: int = 2000
    methods: tuple[str, ...] = (*METHODS, *ABLATIONS)
    other_lessons: int = 2
    """Problems per garment for what is learned from one shape only, and with a proposal in the cloth's frame."""
    setting: Setting = field(default_factory=Setting)

    @classmethod
    def quick(cls) -> Scale:
        """A first look in about a minute."""
        few = Setting(candidates=30, committee=CommitteeOptions(members=24, screen=4))
        return cls(1, 2, 12, 1000, METHODS, other_lessons=0, setting=few)


@dataclass
class Tally:
    """Verdicts and rankings, by condition."""

    verdicts: dict[tuple[str, str, str, str], list[tuple[bool, float]]] = field(default_factory=dict)
    ranked: dict[tuple[str, str, str], list[bool]] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    """Of learning a committee, and of expanding and evaluating the tree of a garment; by metric and lesson."""

    def rows(self) -> list[Row]:
        found = []
        for (method, kind, search, trained), verdicts in self.verdicts.items():
            cell = {"experiment": NAME, "method": method, "garment": kind, "search": search, "trained": trained}
            orders = [order for order, _ in verdicts]
            found.append(share_row(sum(orders), len(orders), **cell, metric="default_order"))
            found.append(mean_row([neat for _, neat in verdicts], 0, **cell, metric="rectangularity"))
        for (method, kind, trained), right in self.ranked.items():
            cell = {"experiment": NAME, "method": method, "garment": kind, "search": "none", "trained": trained}
            found.append(share_row(sum(right), len(right), **cell, metric="rank_accuracy"))
        for (metric, trained), values in self.seconds.items():
            cell = {"experiment": NAME, "method": "meip", "garment": "all", "search": "none", "trained": trained}
            found.append(mean_row(values, 0, **cell, metric=metric))
        return found


def run(
    quick: bool = False,
    seeds: int | None = None,
    progress: Progress | None = None,
    out: Path | None = None,
    *,
    seed: int = 0,
    artf: Path | None = None,
    scale: Scale | None = None,
) -> list[Row]:
    """Tidy rows of the whole experiment; contact sheets, concepts and curves go to the folder `out`.

    `artf` names a CVAT file of photographed shirts: fifteen of them are demonstrated, others are folded.
    """
    tell = progress or no_progress
    size = scale or (Scale.quick() if quick else Scale())
    size = size if seeds is None else replace(size, seeds=seeds)
    tally, sheets = Tally(), _Sheets(out)
    for number in range(size.seeds):
        once = _Once(size, seed + number, tally, sheets, f"seed {number + 1} of {size.seeds}", tell)
        once.templates(first=number == 0)
        if artf is not None:
            once.photographs(artf, first=number == 0)
    sheets.write()
    return tally.rows()


class _Once:
    """One demonstration seed."""

    def __init__(self, size: Scale, seed: int, tally: Tally, sheets: _Sheets, name: str, tell: Progress) -> None:
        self.size, self.seed, self.tally, self.sheets = size, seed, tally, sheets
        self.setting = replace(size.setting, seed=seed)
        self.tell: Progress = lambda message: tell(f"{name}: {message}")

    def templates(self, first: bool) -> None:
        """Learn on T-shirts and long-sleeves, fold templates and freshly proportioned garments."""
        rng = np.random.default_rng([self.seed, 1])
        shown = tuple(random_demonstrations(SHOWN, rng))
        lesson = Lesson(shown, proposal_from(shown), "varied")
        methods, committee = learn_methods(lesson, self.size.methods, self.setting, self.tell)
        spent = committee.evidence["seconds"]
        self.tally.seconds.setdefault(("learning_seconds", "varied"), []).append(spent["prepare"] + spent["learn"])
        if first:
            self.sheets.keep(lesson, committee)
        garments = self._garments(rng)
        self._fold(lesson, methods, garments, draw=True, sheet=first)
        if self.size.other_lessons:
            few = [
                (kind, one)
                for k, (kind, one) in enumerate(garments)
                if k % self.size.problems < self.size.other_lessons
            ]
            cloth = Lesson(shown, proposal_from(shown, frame="cloth"), "varied")
            self._renamed(cloth, "cloth-frame", few)
            one = [demonstrate(garment(("tshirt", "longsleeve")[k % 2]), rng) for k in range(SHOWN)]
            self._renamed(Lesson(tuple(one), proposal_from(one), "one-shape"), "meip", few)

    def photographs(self, path: Path, first: bool) -> None:
        """Learn on photographed shirts, and fold others of them; also with what was learned on templates."""
        from meip.worlds.folding.cvat import import_cvat

        rng = np.random.default_rng([self.seed, 2])
        garments = list(import_cvat(path).garments)
        order = [garments[int(k)] for k in rng.permutation(len(garments))]
        shown, others = _demonstrated(order, rng)
        lesson = Lesson(tuple(shown), proposal_from(shown), "photographs")
        methods, _ = learn_methods(lesson, ("meip", "meip-single"), self.setting, self.tell)
        problems = [("photographs", one) for one in others[: self.size.problems]]
        self._fold(lesson, methods, problems, draw=True, sheet=first)
        given = tuple(random_demonstrations(SHOWN, np.random.default_rng([self.seed, 1])))
        self._renamed(Lesson(given, proposal_from(given), "varied"), "meip", problems)

    def _garments(self, rng: np.random.Generator) -> list[tuple[str, Garment]]:
        found = []
        for kind in GARMENTS:
            for k in range(self.size.problems):
                template = kind.removeprefix("fresh ")
                name = f"{kind} {k + 1}"
                found.append((kind, random_garment(template, rng, name) if template != kind else garment(template)))
        return found

    def _renamed(self, lesson: Lesson, name: str, garments: Sequence[tuple[str, Garment]]) -> None:
        """Only the committee, from another lesson, under a name of its own."""
        methods, _ = learn_methods(lesson, ("meip",), self.setting, self.tell)
        self._fold(lesson, [replace(methods[0], name=name)], garments)

    def _fold(
        self,
        lesson: Lesson,
        methods: Sequence[Method],
        garments: Sequence[tuple[str, Garment]],
        *,
        draw: bool = False,
        sheet: bool = False,
    ) -> None:
        """Every method folds every garment, all on the same frozen tree."""
        ranking = UtilityRanking([u for method in methods for u in method.utilities])
        for number, (kind, one) in enumerate(garments):
            self.tell(f"folding {kind} ({number + 1} of {len(garments)}, learned from {lesson.trained} shapes)")
            begun = time.perf_counter()
            problem = Problem.frozen(kind, one, lesson.proposal, self.size.candidates, 1000 * self.seed + number)
            g, at = ranking(problem.graph), 0
            spent = time.perf_counter() - begun
            self.tally.seconds.setdefault(("garment_seconds", lesson.trained), []).append(spent)
            for method in methods:
                own = np.ascontiguousarray(g[:, at : at + len(method.utilities)])
                at += len(method.utilities)
                states = self._plan(problem, method, own, lesson.trained)
                if sheet and method.name == "meip":
                    self.sheets.add(problem, states)
            if draw:
                self._draw(problem, lesson.trained, number)

    def _plan(self, problem: Problem, method: Method, g: Any, trained: str) -> tuple[int, ...]:
        """Plan with strong search and by tree search; rank the scripted orders. Gives the plan of strong search."""
        name, kind = method.name, problem.kind
        if method.summed:
            best = problem.best_by_visits(g[:, 0])
            self._note((name, kind, "exact", trained), problem, best)
            return best
        for search in SEARCHES:
            best = problem.plan(g, search, method.scale, self.size.simulations, self.seed)
            self._note((name, kind, search, trained), problem, best)
        good = [s.states for s in problem.scripts if s.good]
        bad = [s.states for s in problem.scripts if not s.good]
        self.tally.ranked.setdefault((name, kind, trained), []).extend(rank_accuracy(g, good, bad))
        return best

    def _note(self, cell: tuple[str, str, str, str], problem: Problem, states: tuple[int, ...]) -> None:
        verdict = problem.judge(states)
        self.tally.verdicts.setdefault(cell, []).append((verdict.default_order, verdict.rectangularity))

    def _draw(self, problem: Problem, trained: str, number: int) -> None:
        """Random plans: of the proposed folds, and of folds from the uniform grid."""
        rng = np.random.default_rng([self.seed, 3, number])
        for states in problem.random_plans(DRAWN, rng):
            self._note(("random-proposed", problem.kind, "random", trained), problem, states)
        referee = Referee(problem.garment)
        for cloths in random_folds(problem.garment, DRAWN, rng):
            verdict = referee.judge(cloths)
            cell = ("random", problem.kind, "random", trained)
            self.tally.verdicts.setdefault(cell, []).append((verdict.default_order, verdict.rectangularity))


def _demonstrated(garments: Sequence[Garment], rng: np.random.Generator) -> tuple[list[Any], list[Garment]]:
    """Demonstrations on the first fifteen that the script fits, and the garments that were not looked at."""
    shown = []
    for number, one in enumerate(garments):
        try:
            shown.append(demonstrate(one, rng))
        except WorldError:
            continue  # an outline that the script does not fit
        if len(shown) == SHOWN:
            return shown, list(garments[number + 1 :])
    raise WorldError(
        f"the script fits only {len(shown)} of {len(garments)} outlines; {SHOWN} demonstrations are needed"
    )


class _Sheets:
    """What is written to a folder: contact sheets, and the learned task with its concepts and curves."""

    def __init__(self, out: Path | None) -> None:
        self.out = out
        self._plans: dict[str, list[Any]] = {}
        self._learned: tuple[Lesson, Committee] | None = None

    def keep(self, lesson: Lesson, committee: Committee) -> None:
        self._learned = (lesson, committee)

    def add(self, problem: Problem, states: tuple[int, ...]) -> None:
        rows = self._plans.setdefault(problem.kind, [])
        if self.out is not None and len(rows) < SHEET_ROWS:
            from meip.worlds.folding.sheets import folds_row

            verdict = problem.judge(states)
            title = f"{problem.garment.name}{'' if verdict.default_order else ' (not the default order)'}"
            rows.append(folds_row(title, problem.garment, problem.folds(states)))

    def write(self) -> None:
        if self.out is None:
            return
        from meip.experiments.folding_report import write_learned
        from meip.worlds.folding.canvas import write_canvas
        from meip.worlds.folding.render import contact_sheet

        self.out.mkdir(parents=True, exist_ok=True)
        for kind, rows in self._plans.items():
            canvas = contact_sheet(rows, title=f"Planned folds: {kind}")
            for suffix in ("svg", "png"):
                write_canvas(self.out / f"folding-{kind.replace(' ', '-')}.{suffix}", canvas)
        if self._learned is not None:
            write_learned(self.out, *self._learned)
