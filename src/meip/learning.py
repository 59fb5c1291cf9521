"""Learning, as one call: demonstrations in, a `Task` out.

`learn` is the facade over two regimes: *exact*, the pursuit (Algorithm 2), which compares whole plans, and *stepwise*,
which compares each demonstrated step with its alternatives, for plans too long to compare as a whole. The same
episodes, options and seed give the same task to the last bit, for any number of jobs, and also when the run was killed
and resumed from its checkpoint.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

import numpy as np

from meip import __version__, documents
from meip.checkpoint import Checkpoint
from meip.concepts.grammar import Grammar
from meip.decisions import Decision
from meip.demonstrations import Demonstration, Plan
from meip.domain import Domain
from meip.errors import LearningError, MeipError, did_you_mean
from meip.learner import Objective
from meip.ordering import kendall_tau
from meip.parallel import Backend, parallel_map, task_rng
from meip.problems import problem_document
from meip.pursuit import Order, Pursued, Pursuit
from meip.ranking import UtilityRanking
from meip.task import Provenance, Task
from meip.training import ChanceFailures, Episode, TrainingSet
from meip.utility import Utility
from meip.world import encode

__all__ = ["LearnOptions", "Progress", "Regime", "choose_regime", "default_grammar", "learn"]

Progress = Callable[[dict[str, Any]], None]
Regime = Literal["auto", "exact", "stepwise"]
REGIMES = ("auto", "exact", "stepwise")
LONG_PLANS = 30  # states of a plan beyond which the exact regime has nothing good to compare with
Fitted = tuple[tuple[Utility, ...], tuple[Decision, ...], dict[str, Any]]  # members, decisions, evidence


@dataclass(frozen=True)
class LearnOptions:
    """Everything that decides what is learned; kept in the task by name."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    regime: Regime = "auto"
    """exact, stepwise, or auto: see `choose_regime`."""
    objective: Objective = "likelihood"
    grammar: Grammar | None = None
    """What may be said; by default roles and goals where the domain has goals, else the paper's grammar with one fluent
    at a time."""
    tolerance: float = 0.0
    """Share of the demonstrations that may be wrong."""
    order: Order = "closure"
    kappa: float = 0.25
    constant_cost: float = 0.5
    max_concepts: int = 20
    chance_failures: ChanceFailures = "non-modal"
    committee: int | None = None
    """Members. The first is fitted to everything, the others to random shares of the concepts and demonstrations.
    None: one in the exact regime; in the stepwise one, held-out problems decide between one and ten."""
    concept_share: float = 0.8
    demonstration_share: float = 0.8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.regime not in REGIMES:
            raise LearningError(f"regime={self.regime!r}: {did_you_mean(self.regime, REGIMES)}")
        if self.committee is not None and self.committee < 1:
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
    regime, reason = choose_regime(training) if options.regime == "auto" else (options.regime, "asked for")
    options = dataclasses.replace(options, grammar=options.grammar or default_grammar(training.domain))
    given = _described(episodes)
    tell = progress or (lambda info: None)
    store = None if checkpoint is None else Checkpoint.open(checkpoint, _fingerprint(given, options))
    if regime == "exact":
        members, decisions, evidence = _exact(episodes, options, store, jobs, backend, tell)
    else:
        members, decisions, evidence = _stepwise(episodes, options, tell)
    found = Task(
        training.domain,
        members,
        _tau_demo(training, members, options.tolerance),
        _provenance(training, given, options, regime, {"regime": reason, **evidence}),
        decisions,
    )
    if store is not None:
        store.remove()
    return found


def choose_regime(training: TrainingSet) -> tuple[Literal["exact", "stepwise"], str]:
    """Which regime fits the demonstrations, and why: whole plans where they are short, single steps else."""
    if any(f.goal_of for f in training.domain.fluents):
        return "stepwise", "the domain has goals: plans are as long as their problems are large"
    longest = max(case.horizon for case in training.cases)
    if longest > LONG_PLANS:
        return "stepwise", f"plans have up to {longest} states, more than {LONG_PLANS}"
    return "exact", f"plans have at most {longest} states, so that whole plans can be compared"


def default_grammar(domain: Domain) -> Grammar:
    """Roles and goals where the domain has goals, else the paper's grammar with one fluent at a time."""
    return Grammar.planning() if any(f.goal_of for f in domain.fluents) else Grammar.paper(1)


def _exact(
    episodes: Sequence[Episode],
    options: LearnOptions,
    store: Checkpoint | None,
    jobs: int,
    backend: Backend,
    tell: Progress,
) -> Fitted:
    """Pursue the concepts of each member."""
    count = options.committee or 1
    members = [_member(number, episodes, options, store) for number in range(count)]
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
    return tuple(utility for utility, _ in fitted), fitted[0][1], {}


def _stepwise(episodes: Sequence[Episode], options: LearnOptions, tell: Progress) -> Fitted:
    """Learn from each step among its alternatives; takes seconds, so that nothing is kept in between."""
    from meip.stepwise import StepwiseOptions, learn_stepwise

    if options.objective != "likelihood":
        raise LearningError(f"objective={options.objective!r}: the stepwise regime maximises the likelihood of steps")
    chosen: dict[str, Any] = {"grammar": options.grammar, "seed": options.seed}
    if options.committee is not None:
        chosen |= {"members": options.committee, "choice": "committee" if options.committee > 1 else "single"}
    found = learn_stepwise(episodes, StepwiseOptions(**chosen), tell)
    return found.utilities, (), {key: value for key, value in found.evidence.items() if key not in ("regime", "seed")}


def _tau_demo(training: TrainingSet, members: Sequence[Utility], tolerance: float) -> float:
    """The members' mean tau of the demonstrations, the worst floor(tolerance * n) of them left out."""
    ranking = UtilityRanking(members)
    taus = []
    for case, shown in training.shown:
        g = ranking(training.graphs[case.graph])[list(shown.intended)]
        taus.append(float(np.mean([kendall_tau(g[:, m]) for m in range(len(members))])))
    kept = sorted(taus, reverse=True)[: len(taus) - int(tolerance * len(taus) + 1e-9)]
    return float(np.mean(kept)) if kept else 0.0


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


def _fit_apart(member: _Member, rng: np.random.Generator) -> tuple[Utility, tuple[Decision, ...]]:
    """In a worker: nobody listens, and the member has its own seed."""
    return _fit(member, lambda info: None)


def _fit(member: _Member, tell: Progress) -> tuple[Utility, tuple[Decision, ...]]:
    """The utility and the decisions of one member."""
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
        tell({**info, "member": member.number + 1, "members": options.committee or 1})
    return cast(Pursued, found).trial.utility, pursuit.decisions_  # the pursuit ends with a last fit, so there is one


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


def _provenance(
    training: TrainingSet, given: list[dict[str, Any]], options: LearnOptions, regime: str, evidence: dict[str, Any]
) -> Provenance:
    problems = {documents.canonical(d["problem"]): d["problem"] for d in given if d["problem"] is not None}
    stopped = any(
        len(shown.states) < graph.horizon and len(graph.action_numbers(shown.states[-1])) > 0
        for case, shown in training.shown
        for graph in [training.graphs[case.graph]]
    )
    return Provenance(
        __version__,
        options.seed,
        regime,
        documents.to_json(options),
        len(given),
        documents.content_hash(given),
        max(len(shown.states) for _, shown in training.shown),
        stopped,
        tuple(problems.values()),
        evidence,
    )


def _fingerprint(given: list[dict[str, Any]], options: LearnOptions) -> str:
    """Of everything that decides the result: a checkpoint of another run is refused."""
    return documents.content_hash({"demonstrations": given, "options": documents.to_json(options), "meip": __version__})
