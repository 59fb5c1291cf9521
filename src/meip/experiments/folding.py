"""The paper's third experiment: learn to fold from a few recorded folds, and fold clothes never seen.

For each demonstration seed: fifteen scripted demonstrations on T-shirts and long-sleeves of varied proportions, a task
learned from them, and garments to fold: the templates, and freshly proportioned ones. A garment and a seed give one
tree of proposed folds, so that all methods choose among the same plans; the referee, who never sees a utility, says
whether the default order was kept (every sleeve before the half fold).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar, cast

import numpy as np

from meip import (
    Demonstration,
    Episode,
    FactBlock,
    Facts,
    Found,
    Grammar,
    Metric,
    Plan,
    Query,
    StateGraph,
    Task,
    TaskPlan,
    WorldError,
    evaluate,
    learn,
    load_problem,
    record,
    replay,
)
from meip.base import documents
from meip.base.results import Row, mean_row, share_row
from meip.baselines.agents import MaxEntAgent, RandomAgent
from meip.experiments import Experiment
from meip.experiments.folding_figures import draw, log_likelihood
from meip.experiments.folding_report import Planned, summary, write
from meip.search.query import Agent
from meip.tasks.evaluate import Behaviour
from meip.worlds.folding.cloth import Cloth, Garment
from meip.worlds.folding.demonstrate import demonstrate, random_demonstrations, script_orders, scripted_folds
from meip.worlds.folding.fluents import fact_blocks
from meip.worlds.folding.folds import pile
from meip.worlds.folding.garments import garment, random_garment
from meip.worlds.folding.proposal import learn_proposal
from meip.worlds.folding.referee import Referee, Verdict
from meip.worlds.folding.world import WILD, Folding

__all__ = ["NAME", "NOTES", "ClothFrame", "FragmentEdges", "Method", "PaperFluents", "Scale", "draw", "run", "summary"]
__all__ += ["tried"]

NAME = "folding"
NOTES: tuple[str, ...] = (
    "Default order: every sleeve lies on the body before the garment is halved, by a referee who sees no utility.",
    "Neat: sleeve folds upright, the last across, no slivers, sleeves and hood on the body, a rectangle; same referee.",
    "Searches: choices is what was learned, and the default; exact, beam, mcts maximise tau of g; likeliest: by tanh.",
    "random: folds from the uniform grid; random-proposed: any of the folds that the learned proposal brings up.",
    "Rank accuracy: how often a scripted good order of folds is likelier than a bad one; equal ones count half.",
    "meip-sparse, meip-curves: one view of the choices alone, instead of as much of both as held-out choices say.",
    "Garment seconds: of one Task.plan, as a user calls it.",
    "There is no column for the paper: we know of no figure in it for these garments.",
)
GARMENTS = ("tshirt", "longsleeve", "sweater", "hoodie", "fresh sweater", "fresh hoodie")
PHOTOGRAPHS = "photographs"
HORIZON = 4
EXPLORATION = 1.0  # of the tree search: 58 % of 24 searches find the best of 4,913 plans, with the usual .3 46 %
DRAWN = 10  # random plans per garment
POOL_CANDIDATES = 6  # folds per state in the trees of MaxEnt-IRL's pools: 216 plans each
SCRIPT_ATTEMPTS = 5
T = TypeVar("T")
R = TypeVar("R")
SHARES = ("default_order", "neat", "rank_accuracy")  # metrics that are proportions


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
ABLATIONS = (
    Method("knots-9", {"knots": 9}),
    Method("shares", {"grammar": Grammar.shares()}),
    Method("no-relative", {"relative": False}),
    Method("cloth-frame", world=ClothFrame),
    Method("fragment-edges", world=FragmentEdges),
    Method("paper-fluents", world=PaperFluents),
    Method("meip", trained="one-shape"),
)
PHOTOGRAPHED = (Method("meip", trained=PHOTOGRAPHS),)


@dataclass(frozen=True)
class Scale:
    """How much is tried."""

    seeds: int = 5
    problems: int = 10
    """Garments of each kind and seed."""
    few: int = 2
    """Those of them that ablations fold as well; 0: no ablations."""
    candidates: int = 17
    """Folds per state: 17 give 4,913 plans."""
    simulations: int = 2000
    shown: int = 15
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


FULL, QUICK = Scale(), Scale(seeds=1, problems=2, few=0, candidates=12, simulations=1000)


def run(experiment: Experiment) -> list[Row]:
    """Tidy rows of the whole experiment; contact sheets, concepts and curves go to its folder.

    `data` names a CVAT file of photographed shirts: fifteen of them are demonstrated, others are folded. The rows are
    the same for any number of jobs, but for the seconds.
    """
    return tried(experiment, QUICK if experiment.quick else FULL)


def tried(experiment: Experiment, scale: Scale) -> list[Row]:
    """The same with another scale."""
    seeds = range(experiment.seed, experiment.seed + (experiment.seeds or scale.seeds))
    methods = [*METHODS, *(ABLATIONS if scale.few else ()), *(PHOTOGRAPHED if experiment.data else ())]
    lessons = [_Lesson(seed, method, scale, experiment.data) for seed in seeds for method in methods]
    experiment.tell(f"learning {len(lessons)} tasks")
    learned = _shared(experiment, _learned, lessons, "tasks learned")
    tasks: dict[int, dict[Method, Task]] = {seed: {} for seed in seeds}
    for lesson, (task, _) in zip(lessons, learned, strict=True):
        tasks[lesson.seed][lesson.method] = task
    first = [(lesson, tasks[lesson.seed][lesson.method]) for lesson in lessons if lesson.method == METHODS[0]]
    rewards = _shared(experiment, _reward, first, "rewards learned")
    problems = [
        problem
        for seed, reward in zip(seeds, rewards, strict=True)
        for problem in _problems(seed, tasks[seed], reward, scale, experiment)
    ]
    folded = _shared(experiment, _folded, problems, "garments folded")
    if experiment.out is not None:
        write(experiment.out, learned[0][0], [plan for _, plans in folded for plan in plans])
    spent = [
        _row(lesson.method.name, "none", lesson.method.trained, "all", "learning_seconds", seconds)
        for lesson, (_, seconds) in zip(lessons, learned, strict=True)
    ]
    return _gathered([*(row for rows, _ in folded for row in rows), *spent])


def _shared(
    experiment: Experiment, work: Callable[[T, np.random.Generator], R], items: Sequence[T], done: str
) -> list[R]:
    """The work on all items, by as many processes as there are; each item has its own seed."""
    return experiment.map(work, items, lambda n, total: experiment.tell(f"{n} of {total} {done}"))


# --- learning ---


class _Lesson(NamedTuple):
    """Who learns, and from which demonstrations."""

    seed: int
    method: Method
    scale: Scale
    data: Path | None = None

    @property
    def shown(self) -> list[tuple[Garment, int, Demonstration]]:
        """Garments, how many states each is to go through, and what was shown."""
        trained, rng = self.method.trained, np.random.default_rng([self.seed, 1])
        if trained == PHOTOGRAPHS:
            found, _ = _photographs(self.data, self.seed, self.scale.shown)
        elif trained == "one-shape":
            found = [demonstrate(garment(("tshirt", "longsleeve")[k % 2]), rng) for k in range(self.scale.shown)]
        else:
            found = random_demonstrations(self.scale.shown, rng)
        return [(cast(Folding, load_problem(one.problem)).garment, len(one.steps) + 1, one) for one in found]


def _learned(lesson: _Lesson, rng: np.random.Generator) -> tuple[Task, float]:
    """The task and the seconds that it took; the seed of the lesson alone decides."""
    episodes = [Episode(lesson.method.world(piece, horizon), one) for piece, horizon, one in lesson.shown]
    begun = time.perf_counter()
    task = learn(episodes, **lesson.method.options, seed=lesson.seed)
    return task, time.perf_counter() - begun


def _reward(given: tuple[_Lesson, Task], rng: np.random.Generator) -> MaxEntAgent:
    """MaxEnt-IRL on the concepts of a task with the same basis; its plans are those of small trees of folds."""
    lesson, task = given
    terms = {str(term.concept): term for member in task.members for term in member.terms}
    wild = {**(task.proposal or {}), "uniform": WILD}
    episodes = []
    for k, (piece, horizon, one) in enumerate(lesson.shown):
        world = Folding(piece, horizon, candidates=POOL_CANDIDATES, seed=1000 * lesson.seed + k)
        episodes.append(Episode(world.with_proposal(wild), one))
    return MaxEntAgent(list(terms.values()), episodes)


def _photographs(data: Path | None, seed: int, count: int) -> tuple[list[Demonstration], list[Garment]]:
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


# --- folding ---


class _Problem(NamedTuple):
    """A garment to fold, and what was learned; the plans of the first task are drawn."""

    kind: str
    number: int
    seed: int
    garment: Garment
    tasks: Mapping[Method, Task]
    reward: MaxEntAgent
    scale: Scale
    draw: bool

    def world(self, kind: type[Folding] = Folding) -> Folding:
        """The same tree of folds for all who have the same proposal."""
        kinds = (*GARMENTS, PHOTOGRAPHS)
        seed = (self.seed * len(kinds) + kinds.index(self.kind)) * 1000 + self.number
        return kind(self.garment, HORIZON, candidates=self.scale.candidates, seed=seed)


def _problems(
    seed: int, tasks: Mapping[Method, Task], reward: MaxEntAgent, scale: Scale, experiment: Experiment
) -> list[_Problem]:
    """The templates again and again (their trees of folds differ), fresh garments, and photographed ones."""
    found, last = list[_Problem](), (reward, scale, experiment.out is not None)
    for place, kind in enumerate(GARMENTS):
        template = kind.removeprefix("fresh ")
        for k in range(scale.problems if kind in scale.kinds else 0):
            rng = np.random.default_rng([seed, 4, place, k])
            one = garment(template) if template == kind else random_garment(template, rng, f"{kind} {k + 1}")
            own = {m: tasks[m] for m in (*METHODS, *(ABLATIONS if k < scale.few else ()))}
            found.append(_Problem(kind, k, seed, one, own, *last))
    if experiment.data is not None:
        own = {m: tasks[m] for m in (*PHOTOGRAPHED, *METHODS)}
        shirts = _photographs(experiment.data, seed, scale.shown)[1][: scale.problems]
        found += [_Problem(PHOTOGRAPHS, k, seed, one, own, *last) for k, one in enumerate(shirts)]
    return found


@dataclass(frozen=True)
class _Asked:
    """A task that is asked for one kind of search."""

    task: Task
    query: Mapping[str, Any]

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        return self.task.act(graph, history, query.changed(**self.query))

    def prepared(self, world: Folding) -> Any:
        return self.task.prepared(world)


def _folded(problem: _Problem, rng: np.random.Generator) -> tuple[list[Row], list[Planned]]:
    """Everybody folds the garment, on one tree for all who have the same proposal: rows, and plans to look at."""
    agents: dict[type[Folding], dict[str, Agent]] = {}
    for name, method, more in (*((m.name, m, {}) for m in problem.tasks), ("meip-sign", METHODS[0], {"scale": 0.0})):
        for search, asked in problem.scale.searches.items():
            if not (more and search in ("choices", "likeliest")):  # they know no scale: the row would be the same again
                agent = _Asked(problem.tasks[method], {"method": search, **asked, **more})
                agents.setdefault(method.world, {})[f"{name}|{search}|{method.trained}"] = agent
    rows = [row for kind, those in agents.items() for row in _judged(problem, those, problem.world(kind))]
    proposed = problem.tasks[METHODS[0]].prepared(problem.world())
    rows += _judged(problem, {"maxent-irl|policy|varied": problem.reward}, proposed)
    first, task = next(iter(problem.tasks.items()))
    for name, world in (("random-proposed", task.prepared(problem.world())), ("random", problem.world())):
        rows += _judged(problem, {f"{name}|random|{first.trained}": RandomAgent()}, world, DRAWN)
    rows += _ranked(problem)
    world, begun = problem.world(), time.perf_counter()
    plans = [task.plan(world)]
    rows.append(_row("meip", "none", first.trained, "all", "garment_seconds", time.perf_counter() - begun))
    plans += [task.plan(world, method="exact")] if problem.draw else []
    return rows, [_planned(problem, world, one) for one in plans]


def _planned(problem: _Problem, world: Folding, plan: TaskPlan) -> Planned:
    shown = plan.demonstration()
    right = Referee(problem.garment).judge(replay(world, shown).states).default_order
    return Planned(problem.kind, problem.number, problem.seed, plan.method, shown, right)


def _verdict(graph: StateGraph, way: Behaviour) -> Verdict:
    return Referee(cast(Folding, graph.world).garment).judge([graph.states[s] for s in way.states])


METRICS = (
    Metric("default_order", lambda graph, way: float(_verdict(graph, way).default_order), proportion=True),
    Metric("neat", lambda graph, way: float(_verdict(graph, way).neat), proportion=True),
    Metric("rectangularity", lambda graph, way: _verdict(graph, way).rectangularity),
)


def _judged(problem: _Problem, agents: Mapping[str, Agent], world: Folding, searches: int = 1) -> list[Row]:
    """What the referee says about the plans of some agents, named "method|search|trained"."""
    found = evaluate(agents, {problem.kind: world}, METRICS, searches=searches, seed=problem.seed)
    rows = []
    for row in found:
        method, search, trained = row["method"].split("|")
        rows.append(_row(method, search, trained, problem.kind, row["metric"], row["value"], row["n"]))
    return rows


def _ranked(problem: _Problem) -> list[Row]:
    """Good and bad orders of the same folds, without any search: how often is the good one likelier?"""
    scripts = [
        [_scripted(problem.world(), order, [side, k]) for k, order in enumerate(orders)]
        for side, orders in enumerate(script_orders(problem.garment))
    ]
    rows = []
    for method, task in problem.tasks.items():
        world = problem.world(method.world)
        good, bad = ([log_likelihood(task, world, one) for one in orders if one is not None] for orders in scripts)
        right = [0.5 + 0.5 * float(np.sign(round(a - b, 9))) for a in good for b in bad]
        if right:
            who = (method.name, "none", method.trained)
            rows.append(_row(*who, problem.kind, "rank_accuracy", float(np.mean(right)), len(right)))
    return rows


def _scripted(world: Folding, order: Sequence[str], seed: Sequence[int]) -> Demonstration | None:
    rng = np.random.default_rng([world.seed, *seed])
    for _ in range(SCRIPT_ATTEMPTS):
        try:
            return record(world, scripted_folds(world.garment, order, rng))
        except WorldError:
            continue  # the noise put an end of the segment inside the cloth
    return None


def _row(method: str, search: str, trained: str, garment: str, metric: str, value: float, n: int = 1) -> Row:
    cell = {"experiment": NAME, "method": method, "garment": garment, "search": search, "trained": trained}
    return {**cell, "metric": metric, "value": value, "n": n}


def _gathered(rows: Iterable[Row]) -> list[Row]:
    """Rows about the same, of all seeds and garments of a kind, as one with its interval."""
    cells: dict[tuple[Any, ...], list[Row]] = {}
    for row in rows:
        cells.setdefault(tuple(item for item in row.items() if item[0] not in ("value", "n")), []).append(row)
    found = []
    for cell, same in cells.items():
        given = dict(cell)
        if given["metric"] in SHARES:
            found.append(share_row(sum(r["value"] * r["n"] for r in same), sum(r["n"] for r in same), **given))
        else:
            found.append(mean_row([r["value"] for r in same], 0, **given))
    return found
