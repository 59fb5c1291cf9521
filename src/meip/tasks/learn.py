"""Learning, as one call: demonstrations in, a `Task` out.

Demonstrations are replayed once. Every step is a choice among what could have been done; whole plans are compared where
they are asked for (the paper's Algorithm 2, or Algorithm 1 where the concepts are given). The same episodes, options
and seed give the same task to the last bit, for any number of jobs, and also when the run was killed and resumed from
its checkpoint.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from meip import __version__
from meip.base import documents
from meip.base.errors import LearningError, MeipError
from meip.base.parallel import parallel_map, task_rng
from meip.concepts.grammar import Grammar
from meip.learning import learner
from meip.learning.checkpoint import Checkpoint, Decision, Learned
from meip.learning.choosing import learn_choices
from meip.learning.generated import Generated
from meip.learning.options import Compared, LearnOptions, Progress, Run, routed
from meip.learning.pursuit import Pursued, Pursuit
from meip.learning.shown import ShownPlans
from meip.learning.study import ChoiceOptions, choice_grammar
from meip.model.choices import Replayed, replay_all
from meip.model.demonstrations import Demonstration, Episode, Plan, episodes_of
from meip.model.problems import problem_document
from meip.model.world import encode, made_of
from meip.tasks.demonstrated import demonstrated_by
from meip.tasks.task import Provenance, Task
from meip.utility.ordering import mean_tau
from meip.utility.preferences import with_order
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import KNOTS, Utility

__all__ = ["LearnOptions", "Run", "learn"]

CURVED = ("view", "knots", "relative")  # options of curves
FITTED = ("branches", "knots", "chance_failures", "generated")  # options of Algorithm 1; of Algorithm 2:
PURSUED = ("grammar", "kappa", "constant_cost", "pursuit", "threshold", "tolerance", "order", "max_concepts", *FITTED)


@dataclass(frozen=True)
class _Member:
    """What one member is fitted to."""

    number: int
    given: Sequence[Episode] | Replayed
    options: LearnOptions
    seed: int
    checkpoint: Checkpoint | None


def learn(
    episodes: Sequence[Episode], options: LearnOptions | None = None, *, run: Run | None = None, **changes: Any
) -> Task:
    """Learn a task from episodes.

    Fields of `LearnOptions` and of `Run` may be given by name, e.g. ``learn(episodes, seed=1, committee=5, jobs=2)``.
    An option that would have no effect is refused, with the reason; what was used is kept in the task.
    """
    asked, how = routed(options, run, changes)
    shown = replay_all(episodes := episodes_of(episodes))
    training = ShownPlans(shown, chance_failures=asked.chance_failures, seed=asked.seed)
    chosen, why = _learner(asked, training)
    asked.checked(chosen)
    _check_evidence(asked, training, chosen)
    used = _completed(asked, training, chosen)
    described = _described(episodes)
    store = _store(how, described, used, chosen)
    common = demonstrated_by(shown, used.tolerance)
    shown = shown.widened(used.seed)
    fitted = LEARNERS[chosen](episodes, shown, used, store, how)
    evidence = {"objective": why, **fitted.evidence}
    found = Task(
        training.domain,
        fitted.utilities,
        _tau_demo(training, _ranked(fitted), used.tolerance),
        _provenance(training, described, used, chosen, evidence),
        fitted.decisions,
        warnings=fitted.warnings,
        proposal=shown.proposal,
        demonstrated=common,
        made_of=_made_of(episodes),
        preferences=fitted.preferences,
    )
    if store is not None:
        store.remove()
    return found


def _learner(options: LearnOptions, training: ShownPlans) -> tuple[Compared, str]:
    """What demonstrations are compared by, and why."""
    if options.objective in ("plans", "choices", "history"):
        return options.objective, "asked for"
    if options.objective == "auto":
        return "choices", "every step shown is a choice among what could have been done"
    if training.domain.has_goals:
        raise LearningError(
            f"objective={options.objective!r}: the Ranking SVM compares whole plans of one length, but here a goal "
            "ends them; use 'choices'"
        )
    return "plans", f"{options.objective} asked for"


def _check_evidence(options: LearnOptions, training: ShownPlans, chosen: Compared) -> None:
    """Refuse what cannot have an effect on these demonstrations."""
    count = len(training.shown)
    if options.tolerance and int(options.tolerance * count + 1e-9) < 1:
        raise LearningError(
            f"tolerance={options.tolerance:g} has no effect here: of {count} demonstrations it leaves out none; give "
            f"at least {1 / count:.2g}, or leave it out"
        )
    if training.domain.has_goals and chosen == "choices":
        for name in CURVED:
            if getattr(options, name) != getattr(LearnOptions, name):
                raise LearningError(
                    f"{name}={getattr(options, name)!r} has no effect here: a domain with goals is learned without "
                    "curves; leave it out"
                )
    if options.chance_failures != LearnOptions.chance_failures and not training.chancy:
        raise LearningError(
            f"chance_failures={options.chance_failures!r} has no effect here: no demonstrated step could have led "
            "anywhere else; leave it out"
        )


def _completed(options: LearnOptions, training: ShownPlans, chosen: Compared) -> LearnOptions:
    """What the learner decides where nothing was asked for, so that the task tells every option that was used."""
    share, most = options.concept_share, options.max_concepts
    grammar = choice_grammar(training.domain) if chosen == "choices" else Grammar.paper(1)
    return options.changed(
        grammar=options.grammar or grammar,
        concept_share=(0.5 if chosen == "choices" else 0.8) if share is None else share,
        max_concepts=20 if most is None else most,
        knots=KNOTS if options.knots is None else options.knots,
        threshold=0.0 if options.threshold is None else options.threshold,
        generated=Generated() if options.generated is None else options.generated,
    )


def _store(run: Run, described: list[dict[str, Any]], options: LearnOptions, chosen: str) -> Checkpoint | None:
    if run.checkpoint is None:
        return None
    if chosen == "choices" or options.concepts is not None:
        what = "objective='choices'" if chosen == "choices" else "concepts that are given"
        raise LearningError(
            f"checkpoint: learning with {what} takes seconds and keeps nothing in between; leave it out"
        )
    return Checkpoint.open(run.checkpoint, _fingerprint(described, options))


def _by_plans(
    episodes: Sequence[Episode], shown: Replayed, options: LearnOptions, store: Checkpoint | None, run: Run
) -> Learned:
    """Pursue the concepts of each member, or fit those that are given."""
    count = options.committee or 1
    members = [_member(number, episodes, shown, options, store) for number in range(count)]
    if run.jobs == 1 and run.backend == "loky":
        tell = run.progress or _silent
        fitted = [_fit(member, tell) for member in members]
    else:
        fitted = parallel_map(
            _fit_apart,
            members,
            jobs=run.jobs,
            backend=run.backend,
            progress=lambda done, total: run.tell(stage="members", done=done, members=total),
        )
    return Learned(tuple(utility for utility, _ in fitted), decisions=fitted[0][1])


def _by_choices(
    episodes: Sequence[Episode], shown: Replayed, options: LearnOptions, store: Checkpoint | None, run: Run
) -> Learned:
    """Learn from each step among its alternatives."""
    members = ChoiceOptions.members if options.committee is None else options.committee
    settings = ChoiceOptions(
        grammar=cast(Grammar, options.grammar),
        concepts=options.concepts,
        members=members,
        share=cast(float, options.concept_share),
        order=options.order == "closure" and options.concepts is None,
        tolerance=options.tolerance,
        view=options.view,
        knots=cast(int, options.knots),
        relative=options.relative,
        seed=options.seed,
    )
    found = learn_choices(shown, settings, run.tell)
    return Learned((found.utility,), found.evidence, (), found.preferences, found.warnings)


def _ranked(found: Learned) -> tuple[Utility, ...]:
    """The utilities that states are ranked by: order is part of them."""
    return found.utilities if found.preferences is None else (with_order(found.utilities[0], found.preferences),)


LEARNERS = {"plans": _by_plans, "history": _by_plans, "choices": _by_choices}


def _silent(info: dict[str, Any]) -> None:
    """Nobody listens."""


def _tau_demo(training: ShownPlans, members: Sequence[Utility], tolerance: float) -> float:
    """The members' mean tau of the demonstrations, the worst floor(tolerance * n) of them left out."""
    ranking = UtilityRanking(members)
    taus = []
    for case, shown in training.shown:
        states = list(shown.intended)
        taus.append(mean_tau(ranking(training.graphs[case.graph], states)[states]))
    kept = sorted(taus, reverse=True)[: len(taus) - int(tolerance * len(taus) + 1e-9)]
    return float(np.mean(kept)) if kept else 0.0


def _member(
    number: int, episodes: Sequence[Episode], shown: Replayed, options: LearnOptions, store: Checkpoint | None
) -> _Member:
    """The first member sees everything; the others a random share, each with a seed and graphs of its own, so that it
    does not matter who is fitted first, or in which process."""
    plans = [
        Episode(episode.world, walk.plan, episode.where) for episode, walk in zip(episodes, shown.walks, strict=True)
    ]
    if number == 0:
        return _Member(0, shown if (options.committee or 1) == 1 else plans, options, options.seed, store)
    rng = task_rng(options.seed, number)
    size = math.ceil(options.demonstration_share * len(plans) - 1e-9)
    chosen = np.sort(rng.choice(len(plans), size, replace=False))
    return _Member(number, tuple(plans[i] for i in chosen), options, int(rng.integers(2**31)), store)


def _fit_apart(member: _Member, rng: np.random.Generator) -> tuple[Utility, tuple[Decision, ...]]:
    """In a worker: nobody listens, and the member has its own seed."""
    return _fit(member, _silent)


def _fit(member: _Member, tell: Progress) -> tuple[Utility, tuple[Decision, ...]]:
    """The utility and the decisions of one member."""
    options = member.options
    objective: Any = options.objective if options.objective in ("svm", "svm-literal") else "likelihood"
    if options.concepts is not None:
        return _fit_given(member, objective, tell), ()
    share = cast(float, options.concept_share) if member.number else 1.0
    weighed = _weights(options)
    pursuit = Pursuit(objective=objective, share=share, seed=member.seed, **weighed, **_named(options, *PURSUED))
    resume = () if member.checkpoint is None else member.checkpoint.decisions(member.number)
    found = None
    for found, info in pursuit.pursue(member.given, resume):  # noqa: B007  (the last one is the result)
        if member.checkpoint is not None and _resumable(info["stage"], options):
            member.checkpoint.keep(member.number, info["decisions"])
        tell({**info, "member": member.number + 1, "members": options.committee or 1})
    return cast(Pursued, found).trial.utility, pursuit.decisions_  # the pursuit ends with a last fit, so there is one


def _fit_given(member: _Member, objective: Any, tell: Progress) -> Utility:
    """Algorithm 1: the weights of the concepts that are given."""
    options = member.options
    common = {**_weights(options), **_named(options, *FITTED)}
    fitting = learner.Learner(options.concepts or (), objective=objective, seed=member.seed, **common)
    for state, info in fitting.learn(member.given):
        given = [str(c) for c in state.best.utility.concepts]
        best = state.best
        tell({**info, "stage": "round", "tried": 0, "concepts": given, "member": member.number + 1,
              "members": options.committee or 1})  # fmt: skip
    return best.utility


def _weights(options: LearnOptions) -> dict[str, Any]:
    """Of whole plans and of single steps."""
    by_steps = options.objective == "history"
    return {"plans": 0.0, "steps": 1.0} if by_steps else {"plans": 1.0, "steps": options.steps}


def _named(options: LearnOptions, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


def _resumable(stage: str, options: LearnOptions) -> bool:
    """Stages that add one concept at a time; closing the order and the last fit are quick, and done again."""
    return stage != "done" and not (stage == "order" and options.order == "closure")


def _made_of(episodes: Sequence[Episode]) -> tuple[str, ...] | None:
    """The kinds of parts that some problem had."""
    found = [made_of(episode.world) for episode in episodes]
    return None if None in found else tuple(sorted({kind for kinds in found for kind in kinds or ()}))


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
    training: ShownPlans, given: list[dict[str, Any]], options: LearnOptions, chosen: str, evidence: dict[str, Any]
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
        options.objective if options.objective.startswith("svm") else chosen,
        chosen,
        {name: value for name, value in documents.to_json(options).items() if name not in options.unused(chosen)},
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
