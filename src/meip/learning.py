"""Learning, as one call: demonstrations in, a `Task` out.

`learn` is the facade over the pursuit (Algorithm 2) and its committees. The same episodes, options and seed give the
same task to the last bit, for any number of jobs, and also when the run was killed and resumed from its checkpoint.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from meip import __version__, documents
from meip.checkpoint import Checkpoint
from meip.concepts.grammar import Grammar
from meip.decisions import Decision
from meip.demonstrations import Demonstration, Plan
from meip.errors import LearningError, MeipError, did_you_mean
from meip.learner import Objective
from meip.parallel import Backend, parallel_map, task_rng
from meip.problems import problem_document
from meip.pursuit import Order, Pursued, Pursuit
from meip.task import Provenance, Task
from meip.training import ChanceFailures, Episode, TrainingSet
from meip.utility import Utility
from meip.world import encode

__all__ = ["LearnOptions", "Progress", "learn"]

Progress = Callable[[dict[str, Any]], None]


@dataclass(frozen=True)
class LearnOptions:
    """Everything that decides what is learned; kept in the task by name."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    objective: Objective = "likelihood"
    grammar: Grammar | None = None
    """What may be said; by default the paper's grammar with one fluent at a time."""
    tolerance: float = 0.0
    """Share of the demonstrations that may be wrong."""
    order: Order = "closure"
    kappa: float = 0.25
    constant_cost: float = 0.5
    max_concepts: int = 20
    chance_failures: ChanceFailures = "non-modal"
    committee: int = 1
    """Members. The first is fitted to everything, the others to random shares of the concepts and demonstrations."""
    concept_share: float = 0.8
    demonstration_share: float = 0.8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.committee < 1:
            raise LearningError(f"committee counts the members, so it is at least 1, got {self.committee}")
        for name in ("concept_share", "demonstration_share"):
            if not 0 < getattr(self, name) <= 1:
                raise LearningError(f"{name} must be above 0 and at most 1, got {getattr(self, name)}")
        if not 0 <= self.tolerance < 1:
            raise LearningError(f"tolerance is a share of the demonstrations below 1, got {self.tolerance}")


@dataclass(frozen=True)
class _Member:
    """What one member of the committee is fitted to."""

    number: int
    episodes: tuple[Episode, ...]
    options: LearnOptions
    seed: int
    checkpoint: Checkpoint | None


def learn(
    episodes: Sequence[Episode],
    options: LearnOptions | None = None,
    *,
    jobs: int = 1,
    backend: Backend = "loky",
    checkpoint: str | Path | None = None,
    progress: Progress | None = None,
    **changes: Any,
) -> Task:
    """Learn a task from episodes; options by name, e.g. ``learn(episodes, seed=1, committee=5)``.

    `checkpoint` names a folder: a run that was killed goes on from there. `progress` is called with what there is to
    tell: stage, concepts so far, their tau, the member.
    """
    options = _changed(options or LearnOptions(), changes)
    training = TrainingSet(episodes, chance_failures=options.chance_failures, seed=options.seed)
    given = _described(episodes)
    store = None if checkpoint is None else Checkpoint.open(checkpoint, _fingerprint(given, options))
    members = [_member(number, episodes, options, store) for number in range(options.committee)]
    tell = progress or (lambda info: None)
    if jobs == 1 and backend == "loky":
        fitted = [_fit(member, tell) for member in members]
    else:
        fitted = parallel_map(
            _fit_apart,
            members,
            jobs=jobs,
            backend=backend,
            progress=lambda done, total: tell({"stage": "members", "done": done, "members": total}),
        )
    found = Task(
        training.domain,
        tuple(utility for utility, _, _ in fitted),
        fitted[0][2],
        _provenance(training, given, options),
        fitted[0][1],
    )
    if store is not None:
        store.remove()
    return found


def _changed(options: LearnOptions, changes: dict[str, Any]) -> LearnOptions:
    known = [f.name for f in dataclasses.fields(options)]
    for name in changes:
        if name not in known:
            raise LearningError(f"learn() has no option {name!r}; {did_you_mean(name, known)}")
    return dataclasses.replace(options, **changes)


def _member(number: int, episodes: Sequence[Episode], options: LearnOptions, store: Checkpoint | None) -> _Member:
    """The first member sees everything; the others a random share, each with a seed of its own."""
    if number == 0:
        return _Member(0, tuple(episodes), options, options.seed, store)
    rng = task_rng(options.seed, number)
    size = math.ceil(options.demonstration_share * len(episodes) - 1e-9)
    chosen = np.sort(rng.choice(len(episodes), size, replace=False))
    return _Member(number, tuple(episodes[i] for i in chosen), options, int(rng.integers(2**31)), store)


def _fit_apart(member: _Member, rng: np.random.Generator) -> tuple[Utility, tuple[Decision, ...], float]:
    """In a worker: nobody listens, and the member has its own seed."""
    return _fit(member, lambda info: None)


def _fit(member: _Member, tell: Progress) -> tuple[Utility, tuple[Decision, ...], float]:
    """The utility, the decisions and the demonstrations' tau of one member."""
    options = member.options
    pursuit = Pursuit(
        options.grammar,
        objective=options.objective,
        kappa=options.kappa,
        constant_cost=options.constant_cost,
        tolerance=options.tolerance,
        order=options.order,
        max_concepts=options.max_concepts,
        share=options.concept_share if member.number else 1.0,
        chance_failures=options.chance_failures,
        seed=member.seed,
    )
    resume = () if member.checkpoint is None else member.checkpoint.decisions(member.number)
    found = None
    for found, info in pursuit.pursue(member.episodes, resume):  # noqa: B007  (the last one is the result)
        if member.checkpoint is not None and _resumable(info["stage"], options):
            member.checkpoint.keep(member.number, info["decisions"])
        tell({**info, "member": member.number + 1, "members": options.committee})
    trial = cast(Pursued, found).trial  # the pursuit ends with a last fit, so there is one
    return trial.utility, pursuit.decisions_, trial.tau(options.tolerance)


def _resumable(stage: str, options: LearnOptions) -> bool:
    """Stages that add one concept at a time; closing the order and the last fit are quick, and done again."""
    return stage != "done" and not (stage == "order" and options.order == "closure")


def _described(episodes: Sequence[Episode]) -> list[dict[str, Any]]:
    """Each demonstration as JSON values: what was shown, and where."""
    found = []
    for episode in episodes:
        given = episode.demonstration
        if isinstance(given, Demonstration):
            found.append(documents.dump(given))
        else:
            found.append({"problem": _problem(episode.world), "steps": _steps(given)})
    return found


def _steps(plan: Plan) -> list[Any]:
    return [[encode(a), o] for a, o in zip(plan.actions, plan.outcomes, strict=True)]


def _problem(world: Any) -> dict[str, Any] | None:
    try:
        return problem_document(world)
    except MeipError:
        return None


def _provenance(training: TrainingSet, given: list[dict[str, Any]], options: LearnOptions) -> Provenance:
    problems = {documents.canonical(d["problem"]): d["problem"] for d in given if d["problem"] is not None}
    stopped = any(
        len(shown.states) < graph.horizon and len(graph.action_numbers(shown.states[-1])) > 0
        for case, shown in training.shown
        for graph in [training.graphs[case.graph]]
    )
    return Provenance(
        __version__,
        options.seed,
        "exact",
        documents.to_json(options),
        len(given),
        documents.content_hash(given),
        max(len(shown.states) for _, shown in training.shown),
        stopped,
        tuple(problems.values()),
    )


def _fingerprint(given: list[dict[str, Any]], options: LearnOptions) -> str:
    """Of everything that decides the result: a checkpoint of another run is refused."""
    return documents.content_hash({"demonstrations": given, "options": documents.to_json(options), "meip": __version__})
