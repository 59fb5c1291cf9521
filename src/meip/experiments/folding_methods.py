"""What plans the folds: the committee, its ablations, and the baselines, all learned from the same lesson."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.baselines.maxent_irl import MaxEntIRL, PlanPool
from meip.concepts.values.columns import GraphColumns
from meip.experiments.folding_problems import Lesson
from meip.learning.committee import Committee, CommitteeOptions, learn_committee, share_grammar
from meip.learning.shown import ShownPlans
from meip.search.plans import enumerate_plans
from meip.utility.ordering import kendall_tau
from meip.utility.terms import Utility, UtilityTerm, features, with_weights

__all__ = ["ABLATIONS", "METHODS", "Method", "Setting", "learn_methods", "rank_accuracy"]

Floats = NDArray[np.float64]
SOFT, SIGN = 2.0, 0.0  # tanh(2 * difference), or the bare sign
POOL_CANDIDATES = 6  # folds per state in the trees of MaxEnt-IRL's pools: 216 plans each
MANY_KNOTS = 9
BRANCHES = 60  # plans per demonstration that leave it half-way, and as many at random
TOLD = 4  # messages per committee
ALONE = 6  # concepts of a utility that has no committee to rely on

METHODS = ("meip", "meip-sign", "meip-single", "meip-svm", "maxent-irl")
ABLATIONS = ("knots-9", "level-1", "no-relative", "prefix-branches")


@dataclass(frozen=True)
class Setting:
    """How much is spent on learning."""

    candidates: int = 60
    """Folds that stand beside each demonstrated one."""
    committee: CommitteeOptions = field(default_factory=CommitteeOptions)
    seed: int = 0


@dataclass(frozen=True)
class Method:
    """A way to plan: utilities whose mean tau is maximised, or a reward that is summed up."""

    name: str
    utilities: tuple[Utility, ...]
    scale: float = SOFT
    summed: bool = False


def learn_methods(
    lesson: Lesson, names: Sequence[str], setting: Setting, tell: Callable[[str], None]
) -> tuple[list[Method], Committee]:
    """Learn every method that is asked for; the reference committee is always learned, and given back as well."""
    episodes = lesson.episodes(setting.candidates, setting.seed)

    def committee(what: str, **changes: Any) -> Committee:
        options = replace(setting.committee, seed=setting.seed, **changes)

        def told(info: dict[str, Any]) -> None:
            if info["member"] % max(1, info["members"] // TOLD) == 0:
                tell(f"learning {what}: {info['member']} of {info['members']} members")

        return learn_committee(episodes, options, told)

    reference = committee("the committee")
    makers: dict[str, Callable[[], Method]] = {
        "meip": lambda: Method("meip", reference.utilities),
        "meip-sign": lambda: Method("meip-sign", reference.utilities, SIGN),
        "meip-single": lambda: Method(
            "meip-single", committee("one utility", members=1, share=1.0, most=ALONE).utilities
        ),
        "meip-svm": lambda: Method("meip-svm", committee("by Ranking SVM", objective="svm").utilities),
        "maxent-irl": lambda: Method("maxent-irl", (_maxent(lesson, reference, setting),), summed=True),
        "knots-9": lambda: Method("knots-9", committee("with 9 knots", knots=MANY_KNOTS).utilities),
        "level-1": lambda: Method("level-1", committee("level 1 only", grammar=share_grammar(1)).utilities),
        "prefix-branches": lambda: Method(
            "prefix-branches", committee("with whole plans", branches=BRANCHES).utilities
        ),
        "no-relative": lambda: Method("no-relative", committee("nothing relative", relative=False).utilities),
    }
    return [makers[name]() for name in names], reference


def _maxent(lesson: Lesson, committee: Committee, setting: Setting) -> Utility:
    """MaxEnt-IRL on the same concepts with the same basis; its plans are those of small trees of proposed folds."""
    terms: dict[str, UtilityTerm] = {str(t.concept): t for u in committee.utilities for t in u.terms}
    basis = list(terms.values())
    pools, shown = [], []
    for episode in lesson.episodes(POOL_CANDIDATES, setting.seed + 1):
        training = ShownPlans([episode])
        graph, demonstration = training.graphs[0], training.shown[0][1].states
        plans = enumerate_plans(graph, demonstration[0], len(demonstration))
        states = np.vstack([plans.states, np.array(demonstration)])
        lengths = np.append(plans.lengths, len(demonstration))
        values, missing = GraphColumns(graph).matrix([t.concept for t in basis])
        pools.append(PlanPool(states, lengths, np.zeros(len(lengths)), features(basis, values, missing)))
        shown.append([demonstration])
    learned = MaxEntIRL("visits").fit(pools, shown)
    return with_weights(basis, learned.weights_)


def rank_accuracy(g: Floats, good: Sequence[Sequence[int]], bad: Sequence[Sequence[int]]) -> list[bool]:
    """For each good order and each bad one: does the committee's mean tau prefer the good one?"""

    def worth(states: Sequence[int]) -> float:
        rows = g[list(states)]
        soft = [np.tanh(SOFT * (rows[i] - rows[j])).mean() for i in range(1, len(rows)) for j in range(i)]
        return float(np.mean([kendall_tau(rows[:, m]) for m in range(g.shape[1])])) + 1e-3 * float(np.mean(soft))

    high, low = [worth(s) for s in good], [worth(s) for s in bad]
    return [a > b for a in high for b in low]
