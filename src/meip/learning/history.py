"""The score by history: does a step count by what it adds to g, or by how far it rises above all that was before?

The paper's reward of a state is its sum of tanh(g - g before) over the history. Here that is a second view of the same
choices with the same g: what an alternative adds is the rise of `standing`, which levels off where it is far above the
past already, and is the plain difference of g for a sharpness of 0. Which of the two foresees the choices of
demonstrations left out is counted, each at the scale that suits it best.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.learning.evidence import Evidence
from meip.learning.sparse import softmax
from meip.learning.study import Study
from meip.utility.preferences import standing
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility

__all__ = ["Histories", "Score", "score_of"]

SHARPNESS = (0.25, 0.5, 1.0, 2.0, 4.0)
SCALES = (0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0)  # of whole scores: how sure they are is not what is compared
ERRORS = 2.0  # standard errors by which the history has to be better


@dataclass(frozen=True)
class Score:
    """By what steps are compared, and what spoke for it."""

    sharpness: float
    """0: by what they add to g; else by their histories."""
    report: dict[str, Any]

    @property
    def name(self) -> str:
        return "history" if self.sharpness else "choices"


class Histories:
    """What each alternative adds to the history of its choice."""

    def __init__(self, evidence: Evidence) -> None:
        self.evidence = evidence

    @cached_property
    def _outcomes(self) -> list[slice]:
        """The outcomes of each choice."""
        first = np.append(self.evidence.first, len(self.evidence.after))[self.evidence.start]
        return [slice(int(a), int(b)) for a, b in pairwise(first)]

    def values(self, utilities: Sequence[Utility]) -> Floats:
        """g of every state [S], for each utility [., U]."""
        evidence, ranking = self.evidence, UtilityRanking(utilities)
        found = np.zeros((evidence.size, len(utilities)))
        graphs = np.array([graph for graph, _ in evidence.states])
        numbers = np.array([number for _, number in evidence.states])
        for number, graph in enumerate(evidence.replayed.graphs):
            rows = np.flatnonzero(graphs == number)
            states = numbers[rows].tolist()
            found[rows] = ranking(graph, states)[states]
        return found

    def gains(self, g: Floats, sharpness: float, fold: int | None = None) -> Floats:
        """What each alternative adds [N], by g of the states [S]; nothing where one stops, and outside of a fold."""
        evidence = self.evidence
        rise = np.zeros(len(evidence.after))
        wanted = range(evidence.count) if fold is None else np.flatnonzero(evidence.fold == fold).tolist()
        for c in wanted:
            outcomes, past = self._outcomes[c], g[evidence.past(c)]
            reached = standing(np.append(g[evidence.after[outcomes]], past[-1]), past, sharpness)
            rise[outcomes] = reached[:-1] - reached[-1]
        found = np.add.reduceat(rise * evidence.odds, evidence.first)
        return np.asarray(np.where(evidence.stop, 0.0, found), np.float64)


def score_of(study: Study, asked: str) -> Score:
    """By what the steps of these demonstrations are compared: as asked, or, for "auto", as held-out choices say."""
    if asked == "choices":
        return Score(0.0, {"taken": "choices", "because": "asked for"})
    if not study.strength.losses:
        return Score(*_unheld(asked))
    losses = _losses(study)
    plain, bent = losses.pop(0.0), min(losses, key=lambda k: losses[k].sum())
    better = plain - losses[bent]
    error = float(better.std(ddof=1) * np.sqrt(len(better)))
    taken = bent if asked == "history" or better.sum() > max(ERRORS * error, 1e-9) else 0.0
    report = {
        "taken": "history" if taken else "choices",
        "because": "asked for" if asked == "history" else "held-out choices",
        "nats_by_choices": float(plain.sum()),
        "nats_by_history": float(losses[bent].sum()),
        "history_better_by": float(better.sum()),
        "standard_error": error,
        "sharpness": bent,
    }
    return Score(taken, report)


def _unheld(asked: str) -> tuple[float, dict[str, Any]]:
    if asked == "history":
        return 1.0, {"taken": "history", "because": "asked for"}
    return 0.0, {"taken": "choices", "because": "there are too few demonstrations to leave one out"}


def _losses(study: Study) -> dict[float, Floats]:
    """Nats of each kind of demonstration by what the others taught, for each sharpness, at its best scale."""
    evidence, histories = study.evidence, Histories(study.evidence)
    models = [study.without(d) for d in range(evidence.folds)]
    g = histories.values([study.utility(model) for model in models])
    scores = {sharpness: np.zeros(len(evidence.rows)) for sharpness in (0.0, *SHARPNESS)}
    for d, model in enumerate(models):
        rows = (evidence.fold == d)[evidence.group]
        plain, own = study.held_out_scores(d), study.gains(model)
        scores[0.0][rows] = plain[rows]
        for sharpness in SHARPNESS:
            bent = plain - own + histories.gains(g[:, d], sharpness, d)
            scores[sharpness][rows] = bent[rows]
    return {sharpness: _scaled(study, score) for sharpness, score in scores.items()}


def _scaled(study: Study, scores: Floats) -> Floats:
    evidence = study.evidence
    tried = [
        softmax(scale * scores, evidence.start, evidence.group, evidence.chosen, study.odds)[0] for scale in SCALES
    ]
    best = min(tried, key=lambda losses: float(losses.sum()))
    return np.bincount(evidence.demo, best, evidence.kinds).astype(np.float64)[: evidence.kinds]
