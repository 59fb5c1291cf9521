"""Learning from choices: the one learner, the same for every world.

    choices -> candidates -> a sparse softmax, and curves -> never-rules -> order -> members -> preferences

Every demonstrated step is a choice among what could have been done there, stopping included. What is worth saying is
chosen by its price, whose strength is the one under which demonstrations left out are foreseen best. Planning uses the
mean of many members; what is told is a small model of its own.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip.base.arrays import Floats, Ints
from meip.base.parallel import Shared, Workers
from meip.learning.corrections import learned_from
from meip.learning.enforced import always_ready
from meip.learning.evidence import CHOICES, drawn
from meip.learning.history import Histories, Score, score_of
from meip.learning.readings import accidents, crossed, only_needed
from meip.learning.rules import Never, Nevers, always_first, chosen_first
from meip.learning.sparse import GRID, Problem, path
from meip.learning.statements import told
from meip.learning.study import ChoiceOptions, Model, Study, terms_of
from meip.model.choices import Replayed, Walk
from meip.model.graph import StateGraph
from meip.search.choosing import DISCOUNT, Chooser
from meip.utility.preferences import Before, ChoiceRanking, First, HeldOut, Preferences, Rule, summed
from meip.utility.terms import Utility

__all__ = ["LearnedChoices", "learn_choices"]


CLOSURE = 2.0  # what an order is worth at least
PACE, SLOWEST = 0.5, 0.05


@dataclass(frozen=True)
class LearnedChoices:
    """What was learned, what spoke for choices on the way, and what a user should know."""

    utility: Utility
    preferences: Preferences
    evidence: dict[str, Any]
    warnings: tuple[str, ...]


def learn_choices(
    replayed: Replayed, options: ChoiceOptions, tell: Callable[..., None] | None = None, workers: Workers | None = None
) -> LearnedChoices:
    """Learn from every choice that was shown; the same seed gives the same result."""
    say, workers, shown = tell or _silent, workers or Workers(), len(replayed.walks)
    replayed, numbers = drawn(replayed, options.seed)
    replayed, reading = _read(replayed, options, say, workers)
    study = Study(replayed, options, say, workers, numbers)
    strange = study.strange()
    aside = study.to_set_aside()
    if aside:
        rest = [walk for number, walk in enumerate(replayed.walks) if number not in aside]
        kept = [number for place, number in enumerate(numbers or ()) if place not in aside]
        study = Study(dataclasses.replace(replayed, walks=tuple(rest)), options, say, workers, kept)
    if numbers:
        strange, aside = [(numbers[d], step) for d, step in strange], [numbers[d] for d in aside]
    found = learned_from(study, lambda: _learned(study, strange, aside))
    if numbers:
        few = f"{len(numbers)} of {shown} demonstrations were looked at, drawn by the seed: there were very many"
        found = dataclasses.replace(found, warnings=(*found.warnings, few))
        reading["looked_at"] = [number + 1 for number in numbers]
    return dataclasses.replace(found, evidence={**reading, **found.evidence})


def _read(
    replayed: Replayed, options: ChoiceOptions, say: Callable[..., None], workers: Workers
) -> tuple[Replayed, dict[str, Any]]:
    """The demonstrations as shown, or what their goals need of them, and what spoke for it."""
    short = only_needed(replayed)
    count = len(replayed.walks)
    if short is None or count < 2:
        return replayed, {}
    walks = (*replayed.walks, *short.walks)
    both = Study(dataclasses.replace(replayed, walks=walks, corrections=()), options, _silent)
    losses = crossed(both.problem, both.evidence.walk, count, workers)
    left_out = sum(len(a.states) - len(b.states) for a, b in zip(replayed.walks, short.walks, strict=True))
    taken = "needed" if accidents(losses) else "shown"
    names = ("shown", "needed")
    table = {f"{a} by {b}": float(losses[j, i]) for i, a in enumerate(names) for j, b in enumerate(names)}
    say(stage="reading", reading=taken, unneeded=left_out)
    return short if taken == "needed" else replayed, {"reading": taken, "unneeded": left_out, "readings": table}


def _learned(study: Study, strange: Sequence[tuple[int, int]], aside: Sequence[int]) -> LearnedChoices:
    evidence, offers = study.evidence, study.offers
    problem, every = study.lesson
    whole = path(problem, study.strength.value, every)
    share = 1 / evidence.kinds if study.options.members > 1 and study.options.concepts is None else 1.0
    mean = share * whole + (1 - share) * study.members() if share < 1 else whole
    model = study.model(mean, None if study.curves is None else study.curves.weights)
    rules = study.rules
    firm = [rule for rule in rules if rule.evidence > rule.price]
    study.say(stage="rules", never=[str(rule.concept) for rule in firm])
    score = score_of(study, study.options.score)
    study.say(stage="score", **score.report)
    gained = _gained(study, model, score)
    pairs = always_first(evidence, offers, whole[: study.size]) if study.options.order else []
    strength = max(CLOSURE, float(gained.max()) if len(gained) else 0.0)
    order = _ordered(study, pairs, strength)
    study.say(stage="order", order=[[str(pair.first), str(pair.then)] for pair in order])
    ready = always_ready(evidence) if study.options.order and study.options.concepts is None else []
    enforced = tuple(Rule(concept, strength, 0.0, 0.0, 0) for concept in ready)
    ranked = np.flatnonzero(np.abs(model.firsts) > 1e-8)
    preferences = Preferences(
        never=(*map(_rule, rules), *enforced),
        order=order,
        first=tuple(
            First(offers.ranked[j].concept, offers.ranked[j].largest, float(model.firsts[j]), offers.ranked[j].step)
            for j in ranked
        ),
        done=summed(terms_of(offers.done, model.reasons)),
        stop=model.stop,
        least=_least(study, model),
        by_itself=bool(len(evidence.stopped)),
        pace=max(SLOWEST, PACE * float(gained.mean())) if len(gained) else SLOWEST,
        history=score.sharpness,
        held_out=(
            *_held_out(study, rules, ranked, tuple(rule.strength for rule in enforced)),
            *_simpler(study, [*(rule.strength for rule in rules), *(rule.strength for rule in enforced)], ranked),
        ),
    )
    utility = study.utility(model)
    tried = _patience(study, utility, preferences)
    study.say(stage="planning", patience=max(tried, key=lambda p: tried[p]))
    said = told(study, firm, pairs, order, model, study.nevers.usual, enforced)
    preferences = dataclasses.replace(preferences, patience=max(tried, key=lambda p: tried[p]), **said)
    warnings = _warnings(study, strange, aside, utility, preferences)
    report = {"objective": score.report, **_report(study, tried, strange, aside)}
    return LearnedChoices(utility, preferences, report, warnings)


def _gained(study: Study, model: Model, score: Score) -> Floats:
    """What the steps shown added, where it was anything."""
    evidence = study.evidence
    if score.sharpness:
        histories = Histories(evidence)
        found = histories.gains(histories.values([study.utility(model)])[:, 0], score.sharpness)
    else:
        found = study.gains(model)
    found = found[evidence.chosen][~evidence.stop[evidence.chosen]]
    return np.asarray(found[found > 1e-9], np.float64)


def _report(
    study: Study, tried: dict[float, float], strange: Sequence[tuple[int, int]], aside: Sequence[int]
) -> dict[str, Any]:
    evidence = study.evidence
    losses = study.strength.losses
    return {
        "choices": evidence.count,
        "alternatives": len(evidence.rows),
        "alternatives_left_out": evidence.dropped,
        "levels": study.levels,
        "thresholds": [list(pair) for pair in study.thresholds],
        "candidates": study.size,
        **({"side_by_side": study.side_by_side} if study.side_by_side else {}),
        "strength": study.strength.value,
        "strengths": dict(zip(map(str, GRID), losses, strict=False)),
        "look_ahead": {"single steps": tried[0.0], "ways": tried[DISCOUNT]},
        "views": study.weighed.report,
        "nats_per_choice_by_the_others": [round(float(x), 6) for x in study.held_out_loss()],
        "oddest_step_beyond_chance": [round(float(x), 6) for x in study.slips()],
        "unlike_the_others": [d + 1 for d, _ in strange],
        "set_aside": [d + 1 for d in aside],
    }


def _warnings(
    study: Study, strange: Sequence[tuple[int, int]], aside: Sequence[int], utility: Utility, how: Preferences
) -> tuple[str, ...]:
    evidence = study.evidence
    found = []
    for d, step in strange:
        done = " It was set aside." if d in aside else " Set it aside with tolerance, if it was a slip."
        found.append(f"demonstration {d + 1} is unlike the others at step {step + 1}.{done}")
    if evidence.kinds < 3:
        shown = "is only one demonstration" if evidence.kinds == 1 else "are only two demonstrations"
        more = "" if len(evidence.paths) == evidence.kinds else ", the others show the same"
        found.append(f"there {shown} to learn from{more}: what is chance and what is meant is a guess")
    if not (utility.terms or how.first or how.done.terms or any(not rule.hunch for rule in how.never)):
        found.append("nothing was found that tells shown steps from others")
    found += [f"the bank of concepts was cut: {cut}" for cut in study.cuts]
    if evidence.dropped:
        found.append(f"{evidence.dropped} alternatives were not looked at: there were too many")
    if evidence.passed_over:
        found.append(f"{evidence.passed_over} choices were not looked at: there were too many")
    return tuple(found)


def _rule(rule: Never) -> Rule:
    return Rule(rule.concept, rule.strength, rule.evidence, rule.price, rule.possible, rule.broken, rule.step)


def _ordered(study: Study, pairs: Sequence[tuple[int, int]], strength: float) -> tuple[Before, ...]:
    concepts, true = study.offers.forms.concepts, np.nan_to_num(study.offers.values) > 0.5
    return tuple(
        Before(concepts[a], concepts[b], strength, chosen_first(study.evidence, true[:, b], true[:, a]))
        for b, a in pairs
    )


def _least(study: Study, model: Model) -> float | None:
    """The least worth of stopping where a demonstration stopped by itself."""
    evidence = study.evidence
    rows = evidence.chosen[evidence.stop[evidence.chosen]]
    return float((model.stop + study.offers.stopped[rows] @ model.reasons).min()) if len(rows) else None


def _held_out(study: Study, rules: Sequence[Never], ranked: Ints, enforced: tuple[float, ...]) -> tuple[HeldOut, ...]:
    evidence, offers = study.evidence, study.offers
    found = []
    folds = range(len(study.strength.held_out))
    without = study.workers.map_compiled(_rules_without, folds if rules else (), Shared(study.nevers))
    for d in folds:
        model = study.without(d)
        mine = evidence.fold == d
        loss = float(study.loss_without(d)[mine].mean()) if mine.any() else 0.0
        others = {rule.concept: rule.strength for rule in without[d]} if rules else {}
        found.append(
            HeldOut(
                tuple(study.number(int(k)) for k in np.flatnonzero(evidence.fold_of[evidence.same] == d)),
                loss,
                study.utility(model),
                summed(terms_of(offers.done, model.reasons)),
                model.stop,
                (*(others.get(rule.concept, 0.0) for rule in rules), *enforced),
                tuple(model.firsts[ranked].tolist()),
            )
        )
    return tuple(found)


def _rules_without(d: int, candidates: Nevers) -> list[Never]:
    return candidates.found(without=d)


def _simpler(study: Study, never: Sequence[float], ranked: Ints) -> list[HeldOut]:
    """What would have been learned had statements been dearer; of use on the way to a goal only."""
    if not any(study.evidence.goals):
        return []
    found = []
    strengths = sorted(s for s in GRID if s > study.strength.value)
    for weights in study.workers.map_compiled(_path_at, strengths, Shared(study.lesson)):
        model = study.model(weights, None)
        done = summed(terms_of(study.offers.done, model.reasons))
        found.append(
            HeldOut((), 0.0, study.utility(model), done, model.stop, tuple(never), tuple(model.firsts[ranked].tolist()))
        )
    return found


def _path_at(strength: float, lesson: tuple[Problem, Floats]) -> Floats:
    return path(lesson[0], strength, lesson[1])


def _patience(study: Study, utility: Utility, preferences: Preferences) -> dict[float, float]:
    """How well choices of demonstrations left out are foreseen by single steps, and by looking ahead, in nats."""
    evidence = study.evidence
    tried = dict.fromkeys((0.0, DISCOUNT), 0.0)
    ranking = ChoiceRanking(utility, preferences)
    walks = [evidence.replayed.walks[evidence.representative(d)] for d in range(evidence.kinds)]
    every = -(-sum(len(walk.states) for walk in walks) // CHOICES)  # of many steps some
    count = 0
    for walk, fold in zip(walks, evidence.fold_of[: evidence.kinds].tolist(), strict=True):
        graph = evidence.replayed.graphs[walk.graph]
        chooser = Chooser(graph, ranking, fold + 1 if preferences.judges else 0)
        if preferences.judges:
            chooser.least = _least(study, study.without(fold))
        seen: dict[int, int] = {}
        for t, state in enumerate(walk.states):
            seen[state] = seen.get(state, 0) + 1
            count += 1
            shown = _shown(chooser, graph, walk, t) if count % every == 0 else None
            if shown is None:
                continue
            for patience in tried:
                options = chooser.options(state, graph.horizon - t - 1, seen, patience)
                worth = np.append(options.worth, options.stop)
                tried[patience] += float(worth[shown] - np.logaddexp.reduce(worth))
    return tried


def _shown(chooser: Chooser, graph: StateGraph, walk: Walk, t: int) -> int | None:
    """The place of what was done at a step among the alternatives; None where nothing was chosen."""
    actions, outcomes = chooser.alternatives(walk.states[t])
    if t == len(walk.states) - 1:
        free = actions and len(walk.states) < graph.horizon and not graph.has_goal
        return len(actions) if free else None
    merged: dict[int, float] = {}
    for p, s in graph.outcomes_of(walk.states[t], walk.plan.actions[t]):
        merged[s] = merged.get(s, 0.0) + p
    key = tuple(sorted((round(p, 12), s) for s, p in merged.items() if p > 0))
    return outcomes.index(key) if key in outcomes else None


def _silent(**info: Any) -> None:
    """Nobody listens."""
