"""What decides a learned task (`LearnOptions`), and what only decides how the work is done (`Run`)."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, get_args

from meip.base.documents import Strict
from meip.base.errors import LearningError, did_you_mean
from meip.base.parallel import Backend, Workers, check_workers
from meip.base.running import Limits
from meip.concepts.grammar import Grammar
from meip.learning.generated import Generated
from meip.learning.shown import ChanceFailures

__all__ = ["Compared", "LearnOptions", "Objective", "Order", "Progress", "Rule", "Run", "View", "routed"]

View = Literal["auto", "sparse", "curves"]
Progress = Callable[[dict[str, Any]], None]
Objective = Literal["auto", "plans", "choices", "history", "svm", "svm-literal"]
Compared = Literal["plans", "choices"]
Order = Literal["closure", "none"]
Rule = Literal["tau-first", "literal"]
SINGLE_STEPS = {"steps": "it compares single steps already", "branches": "no whole plans are compared"}
NO_CURVES = {
    "view": "it is of objective='choices' only",
    "relative": "curves relative to the initial state are of objective='choices' only",
}
UNUSED: dict[str, dict[str, str]] = {
    "plans": NO_CURVES,
    "choices": {
        **SINGLE_STEPS,
        "constant_cost": "numbers have a price of their own only in the paper's pursuit",
        "demonstration_share": "its members differ by their concepts, and all learn from every demonstration",
        "kappa": "the price of a statement is chosen by held-out demonstrations",
        "max_concepts": "the price decides how many statements there are",
        "pursuit": "it is of the pursuit over whole plans; use objective='plans', 'svm' or 'svm-literal'",
        "chance_failures": "a step is compared by the mean over its outcomes",
    },
}
"""Options that whole plans, or single choices, have no use for, and why."""
GIVEN = {
    "grammar": "the concepts are given",
    "pursuit": "the concepts are given",
    "max_concepts": "the concepts are given",
    "kappa": "the concepts are given, so that none has to pay its price",
    "constant_cost": "the concepts are given, so that none has to pay its price",
    "order": "the concepts are given; give those about order, such as 'b and not a', too",
    "relative": "the concepts are given",
    "concept_share": "the concepts are given to every member",
    "tolerance": "wrong demonstrations are found by a trial pursuit, and the concepts are given",
}
LITERAL = {"tolerance": "Algorithm 2 as printed sets no demonstration aside"}
ALONE = {
    "concept_share": "there is one member, which uses all concepts",
    "demonstration_share": "there is one member, which learns from all demonstrations",
}
RENAMED = {"regime": "objective", "likelihood": "objective"}


@dataclass(frozen=True)
class LearnOptions(Strict):
    """Everything that decides what is learned; what was used is kept in the task by name."""

    objective: Objective = "auto"
    """What is maximised. choices: the likelihood of single steps among their alternatives, by what they add to g;
    history: the same, by how far they rise above all that was before (the mean of tanh(g - g before)); auto: the one
    of these that foresees the choices of demonstrations left out better; plans: of whole plans (Eq. 10), by the
    paper's pursuit; svm, svm-literal: a Ranking SVM with labels of our own, and with the paper's."""
    view: View = "auto"
    """Of choices: few statements (sparse), many curves of real quantities (curves), or by held-out choices as much of
    both as foresees them best."""
    concepts: tuple[str, ...] | None = None
    """Only these, as texts: Algorithm 1. None: they are pursued (Algorithm 2)."""
    grammar: Grammar | None = None
    """What may be said; None: `choice_grammar` for choices, else the paper's, one fluent at a time."""
    tolerance: float = 0.0
    """Share of the demonstrations that may be wrong."""
    order: Order = "closure"
    """closure: what always came first is required first; none: no order but what concepts say that were found."""
    pursuit: Rule = "tau-first"
    """How concepts are pursued. tau-first: what orders the demonstrations better, then the posterior, until they are
    explained; literal: Algorithm 2 as printed, by the posterior alone and through all levels of the grammar."""
    threshold: float | None = None
    """Of the literal pursuit, its epsilon: the gain in the posterior above which a concept is taken; None: 0."""
    generated: Generated | None = None
    """Which plans a Ranking SVM generates per round; None: 50 of the model, and all are kept."""
    kappa: float = 0.25
    """Price of a primitive in a concept, in units of the objective."""
    constant_cost: float = 0.5
    """Price of a number that a concept names."""
    max_concepts: int | None = None
    """Of one member; None: 20."""
    relative: bool = True
    """Curves also of simple concepts relative to their value in the initial state."""
    branches: int = 0
    """Whole plans per demonstration that leave it half-way, where not all plans can be listed."""
    steps: float = 0.0
    """Weight of the likelihood of each step among its alternatives, beside that of whole plans."""
    knots: int | None = None
    """Where the curve of a real concept may bend; None: 6."""
    chance_failures: ChanceFailures = "non-modal"
    """When what happened was the dice and not the person: an outcome that is not the likeliest, a marked one, never."""
    committee: int | None = None
    """Members. None: one; for "choices" 16."""
    concept_share: float | None = None
    """Of the concepts, for each member; None: .8, for "choices" .5."""
    demonstration_share: float = 0.8
    """Of the demonstrations, for each member but the first."""
    seed: int = 0

    def __post_init__(self) -> None:
        words = {"objective": Objective, "view": View, "order": Order, "pursuit": Rule}
        words["chance_failures"] = ChanceFailures
        for name, known in words.items():
            if (value := getattr(self, name)) not in get_args(known):
                raise LearningError(f"{name}={value!r}: {did_you_mean(value, get_args(known))}")
        if self.concepts is not None:
            given = (self.concepts,) if isinstance(self.concepts, str) else tuple(map(str, self.concepts))
            object.__setattr__(self, "concepts", given)
            if not given:
                raise LearningError("concepts=(): give at least one, or None to have them pursued")
        for name, least in (
            ("committee", 1),
            ("max_concepts", 1),
            ("knots", 2),
            ("branches", 0),
            ("steps", 0),
            ("seed", 0),
        ):
            value = getattr(self, name)
            if value is not None and value < least:
                raise LearningError(f"{name} is at least {least}, got {value}")
        for name in ("concept_share", "demonstration_share"):
            value = getattr(self, name)
            if value is not None and not 0 < value <= 1:
                raise LearningError(f"{name} must be above 0 and at most 1, got {value}")
        if self.threshold is not None and not self.threshold >= 0:
            raise LearningError(f"threshold is at least 0: nothing is taken at a loss; got {self.threshold}")
        if not 0 <= self.tolerance < 1:
            raise LearningError(f"tolerance is a share of the demonstrations below 1, got {self.tolerance}")

    def unused(self, learner: str) -> dict[str, str]:
        """Options that have no effect for this learner ("plans" or "choices"), and why."""
        reasons = dict(UNUSED[learner])
        alone = self.committee == 1 or (self.committee is None and (learner != "choices" or self.concepts is not None))
        if alone:
            reasons |= ALONE
        if not self.objective.startswith("svm"):
            reasons["generated"] = "only a Ranking SVM generates plans; use objective='svm' or 'svm-literal'"
        if self.pursuit == "literal":
            reasons |= LITERAL
        else:
            reasons["threshold"] = "it is of pursuit='literal'"
        return reasons | (GIVEN if self.concepts is not None else {})

    def checked(self, learner: str) -> None:
        """Refuse options that were set and would have no effect."""
        for name, reason in self.unused(learner).items():
            if getattr(self, name) != getattr(LearnOptions, name):
                raise LearningError(f"{name}={getattr(self, name)!r} has no effect here: {reason}; leave it out")
        if learner == "choices" and self.grammar is not None and self.grammar.composites:
            raise LearningError(
                "grammar: composites have no effect here: they are of the pursuit over whole plans; use "
                "objective='plans', or a grammar without them"
            )

    @classmethod
    def paper(cls, **changes: Any) -> LearnOptions:
        """The paper's method as printed: Algorithm 1, with the three families of labels, linear hinge, five plans of a
        tree search per round and the last round kept, inside Algorithm 2, with nothing of ours. Fields may be changed
        by name; with `concepts` it is Algorithm 1 alone."""
        fixed: dict[str, Any] = {"objective": "svm-literal", "generated": Generated.paper()}
        if changes.get("concepts") is None:
            fixed |= {"pursuit": "literal", "threshold": 0.0, "order": "none"}
        return cls(**{**fixed, **changes})

    def changed(self, **changes: Any) -> LearnOptions:
        return dataclasses.replace(self, **changes) if changes else self


@dataclass(frozen=True)
class Run:
    """How many processes, where, who is told, and what it may use. Only what a limit cuts is another result."""

    jobs: int = 1
    """Processes; -1: one per core."""
    backend: Backend = "loky"
    checkpoint: str | Path | None = None
    """A folder in which finished rounds are kept: a run that was killed or cut goes on, to the same bytes."""
    progress: Progress | None = None
    """Called with what there is to tell, as a dictionary with at least a "stage"."""
    address: str | None = None
    """Of a cluster of Ray or Dask that runs already; it decides how many processes there are."""
    seconds: float | None = None
    """By the clock; when they are over, the best so far is the result and says so, or there is an error."""
    memory: float | None = None
    """Megabytes, of each process: what would need more says less, or is the best so far; else there is an error."""
    cancelled: Callable[[], bool] | None = None
    """Asked many times a second, e.g. `threading.Event().is_set`: True ends the run with the error `Cancelled`."""

    def __post_init__(self) -> None:
        check_workers(self.jobs, self.backend, self.address)
        _ = self.limits  # are checked

    @property
    def limits(self) -> Limits:
        return Limits(self.seconds, self.memory, self.cancelled)

    def workers(self) -> Workers:
        """Who does the work; to be used in a ``with``."""
        return Workers(self.jobs, self.backend, self.address)

    def tell(self, **info: Any) -> None:
        """Tell whoever wants to know."""
        if self.progress is not None:
            self.progress(info)


def routed(options: LearnOptions | None, run: Run | None, changes: Mapping[str, Any]) -> tuple[LearnOptions, Run]:
    """Options and run with these fields changed, each by its name; an unknown one is refused, with its successor."""
    mine, its = ({f.name for f in dataclasses.fields(kind)} for kind in (LearnOptions, Run))
    for name in changes:
        if name in RENAMED:
            raise LearningError(f"learn() has no option {name!r} any more: use {RENAMED[name]!r}")
        if name not in mine | its:
            raise LearningError(f"learn() has no option {name!r}; {did_you_mean(name, mine | its)}")
    return (
        (options or LearnOptions()).changed(**{k: v for k, v in changes.items() if k in mine}),
        dataclasses.replace(run or Run(), **{k: v for k, v in changes.items() if k in its}),
    )
