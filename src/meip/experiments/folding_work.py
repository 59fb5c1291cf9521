"""The work of learning to fold in pieces that processes can share: learn from one lesson, fold one garment.

Each piece is drawn from its own seeds, so that the result is the same for any number of processes.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from meip.base.errors import WorldError
from meip.experiments.folding_methods import ABLATIONS, METHODS, SIGN, Method, Setting, learn_methods, rank_accuracy
from meip.experiments.folding_problems import Lesson, Problem, random_folds
from meip.learning.committee import Committee
from meip.utility.ranking import UtilityRanking
from meip.worlds.folding.cloth import Garment
from meip.worlds.folding.demonstrate import demonstrate, random_demonstrations
from meip.worlds.folding.folds import Fold
from meip.worlds.folding.garments import garment, random_garment
from meip.worlds.folding.referee import Referee, Verdict
from meip.worlds.folding.world import proposal_from

__all__ = ["GARMENTS", "PHOTOGRAPHS", "Course", "Folded", "Job", "Learned", "Scale", "fold_garment", "garments", "take"]

GARMENTS = ("tshirt", "longsleeve", "sweater", "hoodie", "fresh sweater", "fresh hoodie")
PHOTOGRAPHS = "photographs"
Search = Literal["mcts", "beam", "exact", "likeliest"]
SEARCHES: tuple[Search, ...] = ("mcts", "beam", "exact", "likeliest")
SHOWN = 15
DRAWN = 10  # random plans per problem
Cell = tuple[str, str, str, str]  # method, garment, search, trained
LessonKind = Literal["varied", "cloth-frame", "fragment-edges", "one-shape", "photographs"]


@dataclass(frozen=True)
class Scale:
    """How much is tried."""

    seeds: int = 5
    problems: int = 10
    candidates: int = 17
    """Folds per state of the frozen trees: 17 give 4,913 plans."""
    simulations: int = 2000
    methods: tuple[str, ...] = (*METHODS, *ABLATIONS)
    few: int = 2
    """Problems per garment and seed for ablations; 0: only the methods that need no lesson of their own."""
    setting: Setting = field(default_factory=Setting)
    kinds: tuple[str, ...] = GARMENTS
    searches: tuple[Search, ...] = SEARCHES

    @classmethod
    def quick(cls) -> Scale:
        """A first look in about a minute."""
        return cls(1, 2, 12, 1000, METHODS, few=0, setting=Setting(candidates=30))


@dataclass(frozen=True)
class Course:
    """What is to be learned: from which lesson, with which seed."""

    kind: LessonKind
    seed: int
    size: Scale
    data: Path | None = None
    """CVAT file of photographed shirts."""


@dataclass(frozen=True)
class Learned:
    """What was learned in a course, and the photographed shirts that it has not seen."""

    course: Course
    lesson: Lesson
    methods: tuple[Method, ...]
    committee: Committee
    unseen: tuple[Garment, ...] = ()

    @property
    def seconds(self) -> float:
        spent = self.committee.evidence["seconds"]
        return float(spent["prepare"] + spent["learn"])


@dataclass(frozen=True)
class Job:
    """One garment to fold with what was learned."""

    learned: Learned
    kind: str
    garment: Garment
    number: int
    """Within its kind and seed."""
    draw: bool = False
    """Random plans too."""

    @property
    def seed(self) -> int:
        kinds = (*GARMENTS, PHOTOGRAPHS)
        return (self.learned.course.seed * len(kinds) + kinds.index(self.kind)) * 1000 + self.number


@dataclass
class Folded:
    """What became of one garment."""

    verdicts: list[tuple[Cell, bool, float]] = field(default_factory=list)
    ranked: list[tuple[tuple[str, str, str], list[bool]]] = field(default_factory=list)
    seconds: float = 0.0
    plans: dict[str, tuple[Garment, list[Fold], bool]] = field(default_factory=dict)
    """By search, of the committee: the garment, its folds, and whether the default order was kept."""

    def note(self, cell: Cell, verdict: Verdict) -> None:
        self.verdicts.append((cell, verdict.default_order, verdict.rectangularity))


def take(course: Course, rng: np.random.Generator | None = None) -> Learned:
    """Learn all methods of a course; its seed alone decides."""
    draw = np.random.default_rng([course.seed, 1])
    setting = replace(course.size.setting, seed=course.seed)
    unseen: list[Garment] = []
    if course.kind == "photographs":
        shown, unseen = _photographed(course, np.random.default_rng([course.seed, 2]))
    elif course.kind == "one-shape":
        shown = [demonstrate(garment(("tshirt", "longsleeve")[k % 2]), draw) for k in range(SHOWN)]
    else:
        shown = random_demonstrations(SHOWN, draw)
    proposal = proposal_from(shown, frame="cloth" if course.kind == "cloth-frame" else "polygon")
    trained = course.kind if course.kind in ("one-shape", "photographs") else "varied"
    edges: Any = "fragments" if course.kind == "fragment-edges" else "silhouette"
    lesson = Lesson(tuple(shown), proposal, trained, edges)
    names = {"varied": course.size.methods, "photographs": ("meip", "meip-single")}.get(course.kind, ("meip",))
    methods, committee = learn_methods(lesson, names, setting, lambda message: None)
    if course.kind in ("cloth-frame", "fragment-edges"):
        methods = [replace(methods[0], name=course.kind)]
    return Learned(course, lesson, tuple(methods), committee, tuple(unseen))


def garments(seed: int, problems: int, kinds: Sequence[str] = GARMENTS) -> list[tuple[str, int, Garment]]:
    """The templates again and again (their trees of folds differ), and freshly proportioned garments."""
    found = []
    for place, kind in enumerate(GARMENTS):
        template = kind.removeprefix("fresh ")
        for k in range(problems if kind in kinds else 0):
            rng = np.random.default_rng([seed, 4, place, k])
            one = garment(template) if template == kind else random_garment(template, rng, f"{kind} {k + 1}")
            found.append((kind, k, one))
    return found


def fold_garment(job: Job, rng: np.random.Generator | None = None) -> Folded:
    """Every method folds the garment, all on the same frozen tree."""
    learned, size, found = job.learned, job.learned.course.size, Folded()
    methods = [m for m in learned.methods if job.number < size.few or m.name not in ABLATIONS]
    begun = time.perf_counter()
    problem = Problem.frozen(job.kind, job.garment, learned.lesson, size.candidates, job.seed)
    g, at = UtilityRanking([u for method in methods for u in method.utilities])(problem.graph), 0
    found.seconds = time.perf_counter() - begun
    for method in methods:
        own = np.ascontiguousarray(g[:, at : at + len(method.utilities)])
        at += len(method.utilities)
        _plan(found, job, problem, method, own)
    if job.draw:
        _draw(found, job, problem)
    return found


def _plan(found: Folded, job: Job, problem: Problem, method: Method, g: Any) -> None:
    """Plan with strong search and by tree search; rank the scripted orders."""
    trained, size = job.learned.lesson.trained, job.learned.course.size
    if method.summed:
        best = problem.best_by_visits(g[:, 0])
        found.note((method.name, problem.kind, "exact", trained), problem.judge(best))
        return
    for search in size.searches:
        if search == "likeliest" and method.scale == SIGN:
            continue  # it knows no scale: the row would be that of the soft sign again
        best = problem.plan(g, search, method.scale, size.simulations, job.seed)
        verdict = problem.judge(best)
        found.note((method.name, problem.kind, search, trained), verdict)
        if method.name == "meip":
            found.plans[search] = (problem.garment, problem.folds(best), verdict.default_order)
    good = [s.states for s in problem.scripts if s.good]
    bad = [s.states for s in problem.scripts if not s.good]
    found.ranked.append(((method.name, problem.kind, trained), rank_accuracy(g, good, bad)))


def _draw(found: Folded, job: Job, problem: Problem) -> None:
    """Random plans: of the proposed folds, and of folds from the uniform grid."""
    rng = np.random.default_rng([job.seed, 3])
    trained = job.learned.lesson.trained
    for states in problem.random_plans(DRAWN, rng):
        found.note(("random-proposed", problem.kind, "random", trained), problem.judge(states))
    referee = Referee(problem.garment)
    for cloths in random_folds(problem.garment, DRAWN, rng):
        found.note(("random", problem.kind, "random", trained), referee.judge(cloths))


def _photographed(course: Course, rng: np.random.Generator) -> tuple[list[Any], list[Garment]]:
    """Demonstrations on fifteen of the photographed shirts, and others that were not looked at."""
    from meip.worlds.folding.cvat import import_cvat

    if course.data is None:
        raise WorldError("photographed shirts are needed: a CVAT file")
    known = list(import_cvat(course.data).garments)
    shown, others = _demonstrated([known[int(k)] for k in rng.permutation(len(known))], rng)
    return shown, others[: course.size.problems]


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
