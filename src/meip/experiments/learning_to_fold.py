"""The paper's third experiment: learn to fold from a few recorded folds, and fold clothes never seen.

For each demonstration seed: fifteen scripted demonstrations on T-shirts and long-sleeves of varied proportions, a
proposal and a committee learned from them, and garments to fold: the templates, and freshly proportioned ones. The
tree of proposed folds of each garment is frozen, so that all methods choose among the same plans; the referee, who
never sees a utility, says whether the default order was kept (every sleeve before the half fold).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from meip.base.parallel import parallel_map
from meip.base.results import Progress, Row, mean_row, no_progress, share_row
from meip.experiments.folding_work import (
    GARMENTS,
    PHOTOGRAPHS,
    Cell,
    Course,
    Folded,
    Job,
    Learned,
    LessonKind,
    Scale,
    fold_garment,
    garments,
    take,
)

__all__ = ["GARMENTS", "Scale", "Tally", "run"]

NAME = "folding"
SHEET_ROWS = 4  # plans per garment on a contact sheet, of different seeds
MOST_FAILURES = 24  # plans on the sheet of what went wrong


@dataclass
class Tally:
    """Verdicts and rankings, by condition."""

    verdicts: dict[Cell, list[tuple[bool, float]]] = field(default_factory=dict)
    ranked: dict[tuple[str, str, str], list[bool]] = field(default_factory=dict)
    seconds: dict[tuple[str, str], list[float]] = field(default_factory=dict)
    """Of learning a committee, and of expanding and evaluating the tree of a garment; by metric and lesson."""

    def learned(self, one: Learned) -> None:
        self.seconds.setdefault(("learning_seconds", one.lesson.trained), []).append(one.seconds)

    def folded(self, job: Job, found: Folded) -> None:
        for cell, order, neat in found.verdicts:
            self.verdicts.setdefault(cell, []).append((order, neat))
        for key, right in found.ranked:
            self.ranked.setdefault(key, []).extend(right)
        self.seconds.setdefault(("garment_seconds", job.learned.lesson.trained), []).append(found.seconds)

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
    jobs: int = 1,
) -> list[Row]:
    """Tidy rows of the whole experiment; contact sheets, concepts and curves go to the folder `out`.

    `artf` names a CVAT file of photographed shirts: fifteen of them are demonstrated, others are folded. The rows are
    the same for any number of `jobs`, but for the seconds.
    """
    tell = progress or no_progress
    size = scale or (Scale.quick() if quick else Scale())
    size = size if seeds is None else replace(size, seeds=seeds)
    courses = [
        Course(kind, seed + number, size, artf if kind == "photographs" else None)
        for number in range(size.seeds)
        for kind in _kinds(size, artf)
    ]
    tell(f"learning {len(courses)} lessons")
    learned = parallel_map(
        take, courses, jobs=jobs, progress=lambda done, total: tell(f"{done} of {total} lessons learned")
    )
    work = _work(learned)
    found = parallel_map(
        fold_garment, work, jobs=jobs, progress=lambda done, total: tell(f"{done} of {total} garments folded")
    )
    tally = Tally()
    for one in learned:
        tally.learned(one)
    for job, folded in zip(work, found, strict=True):
        tally.folded(job, folded)
    if out is not None:
        _write(out, learned[0], work, found)
    return tally.rows()


def _kinds(size: Scale, artf: Path | None) -> list[LessonKind]:
    found: list[LessonKind] = ["varied"]
    if size.few:
        found += ["cloth-frame", "fragment-edges", "one-shape"]
    if artf is not None:
        found.append("photographs")
    return found


def _work(learned: list[Learned]) -> list[Job]:
    """Every garment to fold; those of photographs also with what was learned on templates."""
    found = []
    by_course = {(one.course.seed, one.course.kind): one for one in learned}
    for one in learned:
        seed, kind, size = one.course.seed, one.course.kind, one.course.size
        if kind == "photographs":
            for number, shirt in enumerate(one.unseen):
                found.append(Job(one, PHOTOGRAPHS, shirt, number, draw=True))
                found.append(Job(by_course[seed, "varied"], PHOTOGRAPHS, shirt, size.few + number))
            continue
        varied = kind == "varied"
        problems = garments(seed, size.problems if varied else min(size.few, size.problems), size.kinds)
        found += [Job(one, what, piece, number, draw=varied) for what, number, piece in problems]
    return found


def _write(out: Path, first: Learned, work: list[Job], found: list[Folded]) -> None:
    """Contact sheets of what was planned and of what went wrong, and the learned task with its concepts and curves."""
    from meip.experiments.folding_report import write_learned, write_sheet

    out.mkdir(parents=True, exist_ok=True)
    plans: dict[str, list[Any]] = {}
    failures: list[Any] = []
    for job, folded in zip(work, found, strict=True):
        own = job.kind == PHOTOGRAPHS
        if job.learned.course.kind != ("photographs" if own else "varied"):
            continue
        seed = job.learned.course.seed
        for search, (garment, folds, right) in folded.plans.items():
            title = f"{job.kind} {job.number + 1}, seed {seed}, {search}{'' if right else ' (not the default order)'}"
            if search == "likeliest" and job.number == 0 and len(plans.setdefault(job.kind, [])) < SHEET_ROWS:
                plans[job.kind].append((title, garment, folds))
            if not right and search in ("exact", "likeliest"):
                failures.append((title, garment, folds))
    for kind, rows in plans.items():
        write_sheet(out / f"folding-{kind.replace(' ', '-')}", f"Planned folds: {kind}", rows)
    if failures:
        write_sheet(out / "folding-failures", "Not the default order", failures[:MOST_FAILURES], columns=2)
    write_learned(out, first.lesson, first.committee)
