"""Learning, as one call: demonstrations in, a `Task` out.

`learn` is the facade over three regimes. *exact*, the pursuit (Algorithm 2), compares whole plans. *stepwise* compares
each demonstrated step with its alternatives, for plans too long to compare as a whole. *committee* does so with many
simple utilities, and what a step adds to its whole history, where there are too many actions to list. The same
episodes, options and seed give the same task to the last bit, for any number of jobs, and also when the run was killed
and resumed from its checkpoint.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, cast

import numpy as np

from meip import __version__
from meip.base import documents
from meip.base.errors import LearningError, MeipError, did_you_mean
from meip.base.parallel import Backend, parallel_map, task_rng
from meip.concepts.grammar import Grammar
from meip.learning.checkpoint import Checkpoint
from meip.learning.decisions import Decision
from meip.learning.learner import Objective
from meip.learning.pursuit import Order, Pursued, Pursuit
from meip.learning.training import ChanceFailures, TrainingSet
from meip.model.demonstrations import Demonstration, Episode, Plan, widened
from meip.model.domain import Domain
from meip.model.problems import problem_document
from meip.model.world import encode
from meip.tasks.regimes import REGIMES, Regime, choose_regime, default_grammar
from meip.tasks.task import Provenance, Task
from meip.utility.ordering import kendall_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility

__all__ = ["LearnOptions", "Progress", "learn"]

Progress = Callable[[dict[str, Any]], None]
SHARES, SIZES = {"committee": 0.2}, {"committee": 4}  # of a member's concepts, where a regime has its own


@dataclass(frozen=True)
class LearnOptions:
    """Everything that decides what is learned; kept in the task by name."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    regime: Regime = "auto"
    """exact, stepwise, committee, or auto: see `choose_regime`."""
    objective: Objective = "likelihood"
    grammar: Grammar | None = None
    """What may be said; by default roles and goals where the domain has goals, shares of entities and extreme values
    in the committee regime, else the paper's grammar with one fluent at a time."""
    tolerance: float = 0.0
    """Share of the demonstrations that may be wrong."""
    order: Order = "closure"
    kappa: float = 0.25
    constant_cost: float = 0.5
    max_concepts: int | None = None
    """Of one member; None: 20, in the committee regime 4."""
    relative: bool = True
    """Committee regime: also every simple concept relative to its value in the initial state."""
    branches: int = 0
    """Whole plans per demonstration that leave it half-way, in pools that cannot hold all plans. In the committee
    regime whole plans are compared only where there are some: these, and as many at random."""
    steps: float = 0.0
    """Exact regime: weight of the likelihood of each step among its alternatives, beside that of whole plans."""
    chance_failures: ChanceFailures = "non-modal"
    committee: int | None = None
    """Members. The first is fitted to everything, the others to random shares of the concepts and demonstrations.
    None: one in the exact regime; in the stepwise one 32, or one where the order shown matters; in the committee
    regime 40, each with its own share of the concepts and all demonstrations."""
    concept_share: float | None = None
    """Of the concepts, for each member; None: .8, in the committee regime .2."""
    demonstration_share: float = 0.8
    seed: int = 0

    def __post_init__(self) -> None:
        if self.regime not in REGIMES:
            raise LearningError(f"regime={self.regime!r}: {did_you_mean(self.regime, REGIMES)}")
        if self.committee is not None and self.committee < 1:
            raise LearningError(f"committee counts the members, so it is at least 1, got {self.committee}")
        for name in ("concept_share", "demonstration_share"):
            if getattr(self, name) is not None and not 0 < getattr(self, name) <= 1:
                raise LearningError(f"{name} must be above 0 and at most 1, got {getattr(self, name)}")
        if self.branches < 0 or self.steps < 0:
            raise LearningError(f"branches and steps are not negative, got {self.branches} and {self.steps}")
        if not 0 <= self.tolerance < 1:
            raise LearningError(f"tolerance is a share of the demonstrations below 1, got {self.tolerance}")


@dataclass(frozen=True)
class _Fitted:
    """What a regime gives."""

    members: tuple[Utility, ...]
    decisions: tuple[Decision, ...] = ()
    evidence: dict[str, Any] = field(default_factory=dict)
    proposal: dict[str, Any] | None = None


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
    options = _completed(options, training.domain, regime)
    given = _described(episodes)
    tell = progress or (lambda info: None)
    store = None if checkpoint is None else Checkpoint.open(checkpoint, _fingerprint(given, options))
    if regime == "exact":
        fitted = _exact(episodes, options, store, jobs, backend, tell)
    elif regime == "committee":
        fitted = _committee(episodes, options, store, jobs, backend, tell)
    else:
        fitted = _stepwise(episodes, options, tell)
    found = Task(
        training.domain,
        fitted.members,
        _tau_demo(training, fitted.members, options.tolerance),
        _provenance(training, given, options, regime, {"regime": reason, **fitted.evidence}),
        fitted.decisions,
        proposal=fitted.proposal,
    )
    if store is not None:
        store.remove()
    return found


def _completed(options: LearnOptions, domain: Domain, regime: str) -> LearnOptions:
    """What the regime decides where nothing was asked for, so that the task tells every option."""
    share, most = options.concept_share, options.max_concepts
    return dataclasses.replace(
        options,
        grammar=options.grammar or default_grammar(domain, regime),
        concept_share=SHARES.get(regime, 0.8) if share is None else share,
        max_concepts=SIZES.get(regime, 20) if most is None else most,
    )


def _exact(
    episodes: Sequence[Episode],
    options: LearnOptions,
    store: Checkpoint | None,
    jobs: int,
    backend: Backend,
    tell: Progress,
) -> _Fitted:
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
    return _Fitted(tuple(utility for utility, _ in fitted), fitted[0][1])


def _committee(
    episodes: Sequence[Episode],
    options: LearnOptions,
    store: Checkpoint | None,
    jobs: int,
    backend: Backend,
    tell: Progress,
) -> _Fitted:
    """Many simple utilities, each from its own share of the concepts; where there are too many actions to list, also
    what to consider when planning."""
    from meip.learning.committee import CommitteeOptions, learn_committee

    if options.objective == "svm-literal":
        raise LearningError("objective='svm-literal': a committee learns by the likelihood, or by 'svm'")
    settings = CommitteeOptions(
        members=CommitteeOptions.members if options.committee is None else options.committee,
        share=cast(float, options.concept_share),
        most=cast(int, options.max_concepts),
        grammar=cast(Grammar, options.grammar),
        relative=options.relative,
        price=options.kappa,
        branches=options.branches,
        objective=options.objective,
        seed=options.seed,
    )
    wider, proposal = widened(episodes, options.seed)

    def told(info: dict[str, Any]) -> None:
        tell({**info, "done": info["member"]} if info["member"] else {"stage": info["stage"]})

    found = learn_committee(wider, settings, told, jobs=jobs, backend=backend, checkpoint=store)
    evidence = {key: value for key, value in found.evidence.items() if key not in ("seconds", "demonstrations")}
    return _Fitted(found.utilities, found.decisions, evidence, proposal)


def _stepwise(episodes: Sequence[Episode], options: LearnOptions, tell: Progress) -> _Fitted:
    """Learn from each step among its alternatives; takes seconds, so that nothing is kept in between."""
    from meip.learning.stepwise import StepwiseOptions, learn_stepwise

    if options.objective != "likelihood":
        raise LearningError(f"objective={options.objective!r}: the stepwise regime maximises the likelihood of steps")
    chosen: dict[str, Any] = {"grammar": options.grammar, "seed": options.seed}
    if options.committee is not None:
        chosen |= {"members": options.committee, "choice": "committee" if options.committee > 1 else "single"}
    found = learn_stepwise(episodes, StepwiseOptions(**chosen), tell)
    evidence = {key: value for key, value in found.evidence.items() if key not in ("regime", "seed")}
    return _Fitted(found.utilities, evidence=evidence)


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
        max_concepts=cast(int, options.max_concepts),
        share=cast(float, options.concept_share) if member.number else 1.0,
        steps=options.steps,
        branches=options.branches,
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
