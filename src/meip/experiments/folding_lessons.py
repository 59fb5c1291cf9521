"""Who learns to fold, and from which demonstrations: methods, ablations, and how much is tried."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, cast

import numpy as np

from meip import Demonstration, Episode, FactBlock, Facts, Grammar, Plan, Task, WorldError, learn, load_problem
from meip.base import documents
from meip.baselines.agents import MaxEntAgent
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.demonstrate import demonstrate, random_demonstrations
from meip.worlds.folding.fluents import fact_blocks
from meip.worlds.folding.folds import pile
from meip.worlds.folding.garments import garment
from meip.worlds.folding.proposal import learn_proposal
from meip.worlds.folding.world import WILD, Folding

__all__ = [
    "ABLATIONS", "EVERYWHERE", "GARMENTS", "METHODS", "PHOTOGRAPHED", "PHOTOGRAPHS", "ClothFrame", "FragmentEdges",
    "Lesson", "Method", "PaperFluents", "Scale", "learned", "photographs", "reward",
]  # fmt: skip

GARMENTS = (
    "tshirt", "longsleeve", "sweater", "hoodie", "fresh sweater", "fresh hoodie", "small tshirt", "small hoodie",
)  # fmt: skip
PHOTOGRAPHS = "photographs"
EXPLORATION = 1.0  # of the tree search: 58 % of 24 searches find the best of 4,913 plans, with the usual .3 46 %
POOL_CANDIDATES = 6  # folds per state in the trees of MaxEnt-IRL's pools


@dataclass(frozen=True)
class ClothFrame(Folding):
    """Folds are remembered in the frame of the whole cloth, not of its largest polygon."""

    kind: ClassVar[str] = "folding, cloth frame"

    def learn_proposal(self, plans: Sequence[Plan]) -> dict[str, Any]:
        return documents.dump(learn_proposal(((plan.states, plan.actions) for plan in plans), frame="cloth"))


@dataclass(frozen=True)
class FragmentEdges(Folding):
    """Another universe of edges: the raw fragments of all polygons, hidden ones too."""

    kind: ClassVar[str] = "folding, fragment edges"

    def facts(self, state: Cloth) -> Facts:
        (block,) = fact_blocks(pile([state]), "fragments")
        return Facts(block.counts, {name: table[0] for name, table in block.tables.items()})

    def facts_batch(self, states: Sequence[Cloth]) -> list[FactBlock]:
        return fact_blocks(pile(states), "fragments") if states else []


@dataclass(frozen=True)
class PaperFluents(Folding):
    """The ten fluents of the paper's table instead of ours."""

    kind: ClassVar[str] = "folding, paper fluents"

    fluents: Literal["extended", "paper"] = "paper"


@dataclass(frozen=True)
class Method:
    """A way to learn: with which options of `learn`, on which garments, in which kind of world."""

    name: str
    options: Mapping[str, Any] = field(default_factory=dict, hash=False)
    trained: str = "varied"
    world: type[Folding] = Folding


METHODS = (Method("meip"), Method("meip-sparse", {"view": "sparse"}), Method("meip-curves", {"view": "curves"}))
PAPER = Method("paper-fluents", world=PaperFluents)
ABLATIONS = (
    Method("knots-9", {"knots": 9}),
    Method("shares", {"grammar": Grammar.shares()}),
    Method("no-relative", {"relative": False}),
    Method("cloth-frame", world=ClothFrame),
    Method("fragment-edges", world=FragmentEdges),
    PAPER,
    Method("meip", trained="shirts"),
    Method("meip", trained="one-shape"),
)
PHOTOGRAPHED = (Method("meip", trained=PHOTOGRAPHS),)
EVERYWHERE = (METHODS[0], PAPER, *PHOTOGRAPHED)
"""Whose plans are made for every garment, as a user makes them."""


@dataclass(frozen=True)
class Scale:
    """How much is tried."""

    seeds: int = 5
    problems: int = 10
    """Garments of each kind and seed."""
    few: int = 1
    """Those of them that ablations and other searches fold as well .."""
    compared: int = 1
    """.. with so many of the seeds."""
    paper: int = 2
    """Seeds with which the paper's fluents are tried."""
    ablations: bool = True
    candidates: int = 17
    """Folds per state in the trees that searches share: 17 give 4,913 plans of three folds."""
    simulations: int = 2000
    shown: int = 20
    """Demonstrations."""
    kinds: tuple[str, ...] = GARMENTS

    @property
    def searches(self) -> dict[str, dict[str, Any]]:
        """The searches with what each is asked for."""
        tree = {"iterations": self.simulations, "exploration": EXPLORATION}
        return {
            "exact": {},
            "choices": {},
            "beam": {},
            "mcts": tree,
            "likeliest": {},
        }  # exact looks at all states at once


class Lesson(NamedTuple):
    """Who learns, and from which demonstrations."""

    seed: int
    method: Method
    scale: Scale
    data: Path | None = None

    @property
    def shown(self) -> list[tuple[Garment, int, Demonstration]]:
        """Garments, how many states each went through, and what was shown."""
        trained, rng = self.method.trained, np.random.default_rng([self.seed, 1])
        if trained == PHOTOGRAPHS:
            found, _ = photographs(self.data, self.seed, self.scale.shown)
        elif trained == "shirts":
            found = random_demonstrations(self.scale.shown, rng, ("tshirt", "longsleeve"))
        elif trained == "one-shape":
            found = [demonstrate(garment(("tshirt", "longsleeve")[k % 2]), rng) for k in range(self.scale.shown)]
        else:
            found = random_demonstrations(self.scale.shown, rng)
        return [(cast(Folding, load_problem(one.problem)).garment, len(one.steps) + 1, one) for one in found]


def learned(lesson: Lesson, rng: np.random.Generator) -> tuple[Task, float]:
    """The task and the processor time that it took; the seed of the lesson alone decides."""
    episodes = [Episode(lesson.method.world(piece), one) for piece, _, one in lesson.shown]
    begun = time.process_time()
    task = learn(episodes, **lesson.method.options, seed=lesson.seed)
    return task, time.process_time() - begun


def reward(given: tuple[Lesson, Task], rng: np.random.Generator) -> MaxEntAgent:
    """MaxEnt-IRL on the concepts of a task with the same basis; its plans are those of small trees of folds."""
    lesson, task = given
    terms = {str(term.concept): term for member in task.members for term in member.terms}
    wild = {**(task.proposal or {}), "uniform": WILD}
    episodes = []
    for k, (piece, horizon, one) in enumerate(lesson.shown):
        world = Folding(piece, horizon, candidates=POOL_CANDIDATES, seed=1000 * lesson.seed + k)
        episodes.append(Episode(world.with_proposal(wild), one))
    return MaxEntAgent(list(terms.values()), episodes)


def photographs(data: Path | None, seed: int, count: int) -> tuple[list[Demonstration], list[Garment]]:
    """Demonstrations on the first photographed shirts that the script fits, and the shirts not looked at."""
    from meip.worlds.folding.cvat import import_cvat

    if data is None:
        raise WorldError("photographed shirts are needed: a CVAT file")
    rng = np.random.default_rng([seed, 2])
    known = list(import_cvat(data).garments)
    shirts, shown = [known[int(k)] for k in rng.permutation(len(known))], list[Demonstration]()
    for number, one in enumerate(shirts, start=1):
        try:
            shown.append(demonstrate(one, rng))
        except WorldError:
            continue  # an outline that the script does not fit
        if len(shown) == count:
            return shown, shirts[number:]
    raise WorldError(f"the script fits only {len(shown)} of {len(shirts)} outlines; {count} demonstrations are needed")
