"""Learning, as one call: demonstrations in, a `Task` out.

Demonstrations are replayed once. Every step is a choice among what could have been done; whole plans are compared where
they are asked for (the paper's Algorithm 2, or Algorithm 1 where the concepts are given). The same episodes, options
and seed give the same task to the last bit, for any number of jobs, and also when the run was killed and resumed from
its checkpoint.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from meip import __version__
from meip.base import documents
from meip.base.errors import LearningError, MeipError
from meip.base.packing import single_threaded
from meip.base.parallel import Workers, task_rng
from meip.base.running import Limits, Running, Stopped, digest, keeping, now_running, running
from meip.concepts.grammar import Grammar
from meip.learning import learner
from meip.learning.checkpoint import Checkpoint, Learned
from meip.learning.choosing import learn_choices
from meip.learning.generated import Generated
from meip.learning.options import Compared, LearnOptions, Progress, Run, routed
from meip.learning.pursuit import Pursuit
from meip.learning.shown import ShownPlans
from meip.learning.study import ChoiceOptions, choice_grammar
from meip.model.choices import Replayed, replay_all
from meip.model.demonstrations import Demonstration, Episode, Plan, episodes_of
from meip.model.graph import state_graph
from meip.model.problems import problem_document
from meip.model.world import encode, made_of
from meip.tasks.demonstrated import demonstrated_by
from meip.tasks.limits import apart, cut_short, within_limits
from meip.tasks.task import Provenance, Task
from meip.utility.ordering import mean_tau
from meip.utility.preferences import with_order
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import KNOTS, Utility

__all__ = ["LearnOptions", "Run", "learn"]

QUICK = (1, 2)  # levels of the grammar that are quickly learned
CURVED = ("view", "knots", "relative")  # options of curves
FITTED = ("steps", "branches", "knots", "chance_failures", "generated")  # options of Algorithm 1; of Algorithm 2:
PURSUED = ("grammar", "kappa", "constant_cost", "pursuit", "threshold", "tolerance", "order", "max_concepts", *FITTED)


@dataclass(frozen=True)
class _Member:
    """What one member is fitted to."""

    number: int
    given: Sequence[Episode] | Replayed
    options: LearnOptions
    seed: int
    checkpoint: Checkpoint | None
    limits: Limits = field(default_factory=Limits)
    """Where it is fitted in a process of its own."""


def learn(
    episodes: Sequence[Episode], options: LearnOptions | None = None, *, run: Run | None = None, **changes: Any
) -> Task:
    """Learn a task from episodes.

    Fields of `LearnOptions` and of `Run` may be given by name, e.g. ``learn(episodes, seed=1, committee=5, jobs=2)``.
    An option that would have no effect is refused, with the reason; what was used is kept in the task.
    """
    asked, how = routed(options, run, changes)
    given = episodes_of(episodes)
    with single_threaded():
        return within_limits(lambda ways, how: _learn(given, ways, how), asked, how, lambda: _simpler(given, asked))


def _learn(episodes: Sequence[Episode], asked: LearnOptions, how: Run) -> Task:
    """By these options, as far as the limits of what is running allow."""
    shown = replay_all(episodes, lambda done, total: how.tell(stage="replay", replayed=done, demonstrations=total))
    training = ShownPlans(shown, chance_failures=asked.chance_failures, seed=asked.seed)
    chosen = _learner(asked, training)
    asked.checked(chosen)
    _check_evidence(asked, training, chosen)
    if shown.corrections and chosen != "choices":
        raise LearningError(
            f"objective={asked.objective!r} compares whole plans; corrections ({len(shown.corrections)}) are about one "
            "choice each: leave them out, or use objective='choices'"
        )
    used = _completed(asked, training, chosen)
    described = _described(episodes)
    store = None if how.checkpoint is None else Checkpoint.open(how.checkpoint, _fingerprint(described, used, shown))
    common = demonstrated_by(shown, used.tolerance)
    how.tell(stage="replay", replayed=len(episodes), demonstrations=len(episodes))
    shown = shown.widened(used.seed)
    fitted = LEARNERS[chosen](episodes, shown, used, store, how)
    evidence = {"objective": {"taken": asked.objective, "because": "asked for"}, **fitted.evidence}
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
    if fitted.cut is not None:
        return cut_short(found, fitted.cut, how)
    if store is not None:
        store.remove()
    return found


def _simpler(episodes: Sequence[Episode], asked: LearnOptions) -> list[LearnOptions]:
    """Languages with less to say that are quickly learned from choices, the simplest first."""
    if asked.objective not in ("auto", "choices", "history") or asked.concepts is not None or not episodes:
        return []
    full = asked.grammar or choice_grammar(state_graph(episodes[0].world).domain)
    levels = [level for level in QUICK if level < full.max_level]
    alone = asked.changed(committee=1, concept_share=None)
    return [alone.changed(grammar=dataclasses.replace(full, max_level=level)) for level in levels]


def _learner(options: LearnOptions, training: ShownPlans) -> Compared:
    """What demonstrations are compared by: whole plans, or single choices."""
    if options.objective in ("auto", "choices", "history"):
        return "choices"
    if options.objective != "plans" and training.domain.has_goals:
        raise LearningError(
            f"objective={options.objective!r}: the Ranking SVM compares whole plans of one length, but here a goal "
            "ends them; use 'choices'"
        )
    return "plans"


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


def _by_plans(
    episodes: Sequence[Episode], shown: Replayed, options: LearnOptions, store: Checkpoint | None, run: Run
) -> Learned:
    """Pursue the concepts of each member, or fit those that are given."""
    count = options.committee or 1
    members = [_member(number, episodes, shown, options, store) for number in range(count)]
    work = cast(Running, now_running())
    alone = run.jobs == 1 and run.backend == "loky"
    if alone or count == 1:  # a single one has all workers for its candidates and samples
        with run.workers() as workers:
            fitted = [_fit(member, run.progress or _silent, workers) for member in members if not work.over]
    else:
        with apart(work) as limits, run.workers() as workers:
            fitted = workers.map(
                _fit_apart,
                [dataclasses.replace(member, limits=limits) for member in members],
                progress=lambda done, total: run.tell(stage="members", done=done, members=total),
            )
    stop = next((found.cut for found in fitted if found.cut is not None), None)
    utilities = [utility for found in fitted for utility in found.utilities]
    if stop is not None and (stop.by == "cancelled" or not utilities):
        raise stop
    return Learned(tuple(utilities), decisions=fitted[0].decisions, cut=stop)


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
        score=options.objective,
        seed=options.seed,
    )
    with keeping(None if store is None else store.rounds(0)), run.workers() as workers:
        found = learn_choices(shown, settings, run.tell, workers)
    return Learned((found.utility,), found.evidence, (), found.preferences, found.warnings)


def _ranked(found: Learned) -> tuple[Utility, ...]:
    """The utilities that states are ranked by: order is part of them."""
    return found.utilities if found.preferences is None else (with_order(found.utilities[0], found.preferences),)


LEARNERS = {"plans": _by_plans, "choices": _by_choices}


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


def _fit_apart(member: _Member, rng: np.random.Generator) -> Learned:
    """In a worker: nobody listens, and the member has its own seed."""
    with running(member.limits):
        return _fit(member, _silent)


def _fit(member: _Member, tell: Progress, workers: Workers | None = None) -> Learned:
    """The utility and the decisions of one member; where it is stopped, those so far."""
    options, work = member.options, cast(Running, now_running())
    objective: Any = options.objective if options.objective in ("svm", "svm-literal") else "likelihood"
    rounds = (_pursued if options.concepts is None else _given)(member, objective, workers)
    found, cut = Learned(()), None
    with keeping(None if member.checkpoint is None else member.checkpoint.rounds(member.number)):
        try:
            for utility, info in rounds:
                found = Learned((utility,), decisions=info.get("decisions", ()))
                tell({**info, "member": member.number + 1, "members": options.committee or 1})
        except (Stopped, MemoryError) as error:
            cut = Stopped(error.by if isinstance(error, Stopped) else "memory", work.stage)  # without its frames
            work.over = True
    return dataclasses.replace(found, cut=cut)


def _pursued(member: _Member, objective: Any, workers: Workers | None) -> Iterator[tuple[Utility, dict[str, Any]]]:
    """Algorithm 2, round by round."""
    options = member.options
    share = cast(float, options.concept_share) if member.number else 1.0
    pursuit = Pursuit(objective=objective, share=share, seed=member.seed, **_named(options, *PURSUED))
    for found, info in pursuit.pursue(member.given, workers):
        yield found.trial.utility, info


def _given(member: _Member, objective: Any, workers: Workers | None) -> Iterator[tuple[Utility, dict[str, Any]]]:
    """Algorithm 1, round by round: the weights of the concepts that are given."""
    options = member.options
    common = _named(options, *FITTED)
    fitting = learner.Learner(options.concepts or (), objective=objective, seed=member.seed, **common)
    for state, info in fitting.learn(member.given, workers):
        given = [str(c) for c in state.best.utility.concepts]
        yield state.best.utility, {**info, "stage": "round", "tried": 0, "concepts": given}


def _named(options: LearnOptions, *names: str) -> dict[str, Any]:
    return {name: getattr(options, name) for name in names}


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
        evidence["objective"]["taken"],
        chosen,
        {name: value for name, value in documents.to_json(options).items() if name not in options.unused(chosen)},
        len(training.shown),
        documents.content_hash(given),
        max(len(shown.states) for _, shown in training.shown),
        stopped,
        tuple(problems.values()),
        evidence,
    )


def _fingerprint(given: list[dict[str, Any]], options: LearnOptions, shown: Replayed) -> str:
    """Of everything that decides the result, as far as it can be told: a checkpoint of another run is refused."""
    seen = [digest(*(block.tables[name] for block in blocks for name in sorted(block.tables)))
            for walk in shown.walks for blocks in [shown.graphs[walk.graph].facts(walk.states)]]  # fmt: skip
    whole = {"demonstrations": given, "options": documents.to_json(options), "seen": seen, "meip": __version__}
    return documents.content_hash(whole)
