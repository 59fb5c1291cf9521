"""Task: what was learned, as one file that a person can read, edit, and plan with (the paper's Definition 3).

A task holds the domain, one or more utilities, what else somebody who chooses step by step goes by (`Preferences`), how
well the demonstrations are ordered by it, and where all of this came from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from meip.base import documents
from meip.base.documents import Strict, document
from meip.base.errors import LearningError, did_you_mean
from meip.concepts.check import kind
from meip.concepts.language import Concept
from meip.learning.checkpoint import Decision
from meip.learning.selection import precedence
from meip.model.demonstrations import Demonstration, Step
from meip.model.domain import Domain
from meip.model.problems import FORMAT
from meip.model.world import with_proposal
from meip.tasks.demonstrated import Demonstrated
from meip.utility.preferences import Preferences
from meip.utility.terms import Utility, edit

if TYPE_CHECKING:
    from meip.learning.options import Run
    from meip.model.graph import StateGraph
    from meip.search.query import Found, Query
    from meip.tasks.explain import Explanation
    from meip.utility.preferences import ChoiceRanking
    from meip.utility.ranking import UtilityRanking

__all__ = ["PlanStep", "Precedence", "Provenance", "Reason", "Task", "TaskPlan"]

OMIT = {"omit_default": True}
SHOWN = 6  # concepts or steps in a short text
LIKELY = 0.6  # confidence of a plan that is likely right: 2 % wrong; below, 13 % (everyday tasks, 3 and 5 shown)
DOUBT = 0.01  # the least that one step makes of it


@dataclass(frozen=True)
class Provenance(Strict):
    """Where a task came from. Nothing here depends on when or on how many cores it was learned."""

    meip: str
    """Version that learned it."""
    seed: int
    objective: str
    """What it maximised: plans, choices, history, svm or svm-literal."""
    learner: str
    """What demonstrations were compared by: plans or choices. It decides how plans are searched for."""
    options: dict[str, Any]
    """Every option that was used, by its name."""
    demonstrations: int
    demonstrations_hash: str
    longest: int
    """States of the longest demonstration."""
    stopped: bool
    """Did people stop by themselves, where the world would have let them go on? Then plans are as long as theirs."""
    problems: tuple[dict[str, Any], ...] = ()
    """The problem documents of the worlds that it was shown in."""
    evidence: dict[str, Any] = field(default_factory=dict)
    """What spoke for choices that were made along the way."""


@dataclass(frozen=True)
class Precedence(Strict):
    """One concept is to come true before another: the utility punishes "then and not first"."""

    first: Concept
    then: Concept
    strength: float
    """By how much g falls where the order is violated (the members' mean)."""
    confidence: float
    """Share of the members that want it."""


@dataclass(frozen=True)
class Reason:
    """What a statement or a concept adds to a step."""

    concept: str
    adds: float


@dataclass(frozen=True)
class PlanStep:
    """One action, and the state that it most likely leads to."""

    action: Any
    state: str
    utility: float
    """g of the state, the members' mean."""
    confidence: float
    """How sure the models are that each held one demonstration out; of a committee, the share that agrees."""
    why: tuple[Reason, ...] = field(default=(), metadata=OMIT)
    """What the step adds to g, and what breaking a rule would have cost; the most telling first."""
    probability: float = field(default=1.0, metadata=OMIT)
    """Of this outcome, where chance has a say."""
    outcome: int | None = field(default=None, metadata=OMIT)
    """Its index among the outcomes."""
    how: dict[str, Any] | None = field(default=None, metadata=OMIT)
    """How it is carried out, where the world says so (the hook `Instructs`)."""


@document("plan")
@dataclass(frozen=True)
class TaskPlan(Strict):
    """A plan for a task in a world; where chance decides, along its likeliest outcomes."""

    start: str
    steps: tuple[PlanStep, ...]
    tau: float
    """Kendall tau of the plan: 1 where g rises from state to state; the members' mean."""
    value: float
    """What the search maximised: expected tau with a soft tie-break, or what `chance` says."""
    goal: bool | None
    """Is the world's own goal reached at the end? None where it has none."""
    method: str
    chance: str
    horizon: int
    stopped_by: str
    seed: int
    problem: dict[str, Any] | None = None
    initial: int = field(default=0, metadata=OMIT)
    """Index of `start` among the world's initial states."""
    initial_probability: float = field(default=1.0, metadata=OMIT)
    """Its chance, where the world has several."""
    goal_search: bool = field(default=False, metadata=OMIT)
    """Was it found by searching for the world's own goal? Then it shows little of what was learned."""
    notes: tuple[str, ...] = field(default=(), metadata=OMIT)
    """What one should know about it, e.g. that nothing tells some actions apart."""
    stopping: float = field(default=1.0, metadata=OMIT)
    """How sure the models are to stop where it does."""

    @property
    def actions(self) -> tuple[Any, ...]:
        return tuple(step.action for step in self.steps)

    def __repr__(self) -> str:
        goal = {None: "", True: ", goal reached", False: ", goal not reached"}[self.goal]
        shown = ", ".join(str(action) for action in self.actions[:SHOWN])
        more = f", ... ({len(self.steps)} in all)" if len(self.steps) > SHOWN else ""
        return f"TaskPlan of {len(self.steps)} steps by {self.method}, tau {self.tau:.3f}{goal}: {shown}{more}"

    def demonstration(self, by: str = "") -> Demonstration:
        """The plan as somebody could have shown it."""
        steps = tuple(Step(step.action, step.outcome) for step in self.steps)
        return Demonstration(self.problem or {"format": FORMAT}, steps, self.initial, by)

    @property
    def confidence(self) -> float:
        """Of the plan: the geometric mean over its steps, to stop included."""
        return float(np.exp(np.log(np.maximum(self._sure, DOUBT)).mean()))

    @property
    def doubtful(self) -> int | None:
        """The step to look at, from 1 (one more than there are: to stop): the least sure one; None: the plan is likely
        right."""
        return None if self.confidence >= LIKELY else int(np.argmin(self._sure)) + 1

    @property
    def _sure(self) -> list[float]:
        return [*(step.confidence for step in self.steps), self.stopping]


@document("task")
@dataclass(frozen=True)
class Task(Strict):
    """A learned task."""

    domain: Domain
    members: tuple[Utility, ...]
    tau_demo: float
    """Mean Kendall tau of the demonstrations (the wrong ones left out, up to the tolerance)."""
    provenance: Provenance
    decisions: tuple[Decision, ...] = ()
    notes: tuple[str, ...] = field(default=(), metadata=OMIT)
    warnings: tuple[str, ...] = field(default=(), metadata=OMIT)
    """What the learner wants its user to know."""
    proposal: dict[str, Any] | None = field(default=None, metadata=OMIT)
    """Which actions to bring up, learned along with the utility where a world has too many to list."""
    demonstrated: Demonstrated | None = field(default=None, metadata=OMIT)
    """What the demonstrations show by themselves, for `evaluate` to compare behaviour with."""
    made_of: tuple[str, ...] | None = field(default=None, metadata=OMIT)
    """The kinds of parts that the problems shown had, where the world says (the hook `MadeOf`)."""
    preferences: Preferences | None = field(default=None, metadata=OMIT)
    """How somebody chooses step by step: rules, order, when to stop. None where whole plans were compared."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        if not self.members:
            raise LearningError("a task has at least one member (a utility)")
        if not -1 <= self.tau_demo <= 1:
            raise LearningError(f"tau_demo is a Kendall tau between -1 and 1, got {self.tau_demo}")
        for member in self._utilities():
            for term in member.terms:
                found = kind(term.concept, self.domain)
                if found != term.kind and (term.kind != "linear" or found == "table"):
                    raise LearningError(
                        f"concept {term.concept} is a {found} in this domain, its term says {term.kind}"
                    )

    def _utilities(self) -> tuple[Utility, ...]:
        how = self.preferences
        if how is None:
            return self.members
        return (*self.members, how.done, *(u for held in how.held_out for u in (held.utility, held.done)))

    @property
    def nothing_learned(self) -> bool:
        """Is there nothing that tells one plan from another?"""
        how = self.preferences
        rules = () if how is None else [rule for rule in how.never if not rule.hunch]
        empty = how is None or not (rules or how.order or how.first or how.done.terms)
        return empty and not any(member.terms for member in self.members)

    def __repr__(self) -> str:
        """A few lines: what there is, and the concepts that weigh most."""
        given, concepts = self.provenance, self.concepts
        head = (
            f"Task of {self.domain.name!r} by {given.objective} from {given.demonstrations} demonstrations: "
            f"{len(self.members)} member{'s' * (len(self.members) != 1)}, {len(concepts)} concepts, "
            f"tau of the demonstrations {self.tau_demo:.3f}"
        )
        influence = dict.fromkeys(concepts, 0.0)
        for term in (term for member in self.members for term in member.terms):
            influence[term.concept] += term.influence
        heaviest = sorted(influence, key=lambda c: -influence[c])
        more = [f"  ... and {len(concepts) - SHOWN} more"] if len(concepts) > SHOWN else []
        return "\n".join([head, *(f"  {concept}" for concept in heaviest[:SHOWN]), *more])

    @property
    def concepts(self) -> tuple[Concept, ...]:
        """Every concept that matters, in the order of the first member that uses it; then those of rules and order."""
        found = dict.fromkeys(c for member in self.members for c in member.concepts)
        if self.preferences is not None:
            how = self.preferences
            found |= dict.fromkeys(c for pair in how.order for c in (pair.first, pair.then))
            rules = [*(r.concept for r in how.never), *(f.concept for f in how.first)]
            found |= dict.fromkeys([*rules, *how.done.concepts])
        return tuple(found)

    @property
    def order(self) -> tuple[Precedence, ...]:
        """The learned order: a before b for every "b and not a" with a negative weight."""
        if self.preferences is not None:
            told = [(s, precedence(s.concept)) for s in self.preferences.statements if s.kind == "order"]
            return tuple(Precedence(*pair, -s.weight, 1.0) for s, pair in told if pair is not None)
        weights: dict[tuple[Concept, Concept], list[float]] = {}
        for member in self.members:
            for term in member.terms:
                pair = precedence(term.concept)
                if pair is not None and term.kind == "boolean" and term.weights[0] < 0:
                    weights.setdefault(pair, []).append(term.weights[0])
        return tuple(
            Precedence(first, then, -float(np.mean(found)), len(found) / len(self.members))
            for (first, then), found in weights.items()
        )

    # --- files ---

    def save(self, path: str | Path) -> None:
        """Write the task to a file, as a whole or not at all."""
        documents.write(path, self)

    @classmethod
    def load(cls, path: str | Path) -> Task:
        """Read a task; the file and the place of what is wrong in it are named."""
        found: Task = documents.read(path, "task")
        return found

    # --- use ---

    @cached_property
    def ranking(self) -> UtilityRanking:
        """g of its members over the states of any graph."""
        from meip.utility.preferences import with_order
        from meip.utility.ranking import UtilityRanking

        if self.preferences is None:
            return UtilityRanking(self.members)
        return UtilityRanking([with_order(self.members[0], self.preferences)])

    @cached_property
    def choosing(self) -> ChoiceRanking | None:
        """What single steps are compared by, where they were learned from."""
        from meip.utility.preferences import ChoiceRanking

        return None if self.preferences is None else ChoiceRanking(self.members[0], self.preferences)

    def __getstate__(self) -> dict[str, Any]:
        """Without the rankings, which remember graphs: another process makes its own."""
        return {name: value for name, value in self.__dict__.items() if name not in ("ranking", "choosing")}

    def plan(
        self,
        world: Any,
        query: Query | None = None,
        *,
        start: int | None = None,
        method: str | None = None,
        chance: str | None = None,
        horizon: int | None = None,
        iterations: int | None = None,
        seconds: float | None = None,
        seed: int | None = None,
        **more: Any,
    ) -> TaskPlan:
        """The plan that this task would have in a world.

        `start` is the index of an initial state (default: the likeliest); `method` how to search: "auto" (by how the
        task was learned), "choices", "greedy", "gbfs", "beam", "likeliest", "exact" or "mcts"; `chance` what is
        maximised where chance plays a part: "expectation", "posterior" or "probability"; `horizon` counts states;
        `iterations` and `seconds` are limits; equal steps fall by the `seed`. Other fields of the `Query` by name.
        """
        from meip.tasks.plan import plan_task

        named: dict[str, Any] = {"method": method, "chance": chance, "horizon": horizon, "seed": seed}
        named |= {"iterations": iterations, "seconds": seconds}
        given = {name: value for name, value in named.items() if value is not None}
        return plan_task(self, world, query, start=start, **given, **more)

    def plans(
        self, world: Any, query: Query | None = None, *, run: Run | None = None, **changes: Any
    ) -> list[TaskPlan]:
        """One plan for each initial state of a world, with its chance; `changes` are fields of the query by name, and
        `run` tells how many processes search."""
        from meip.tasks.plan import plan_starts

        return plan_starts(self, world, query, run=run, **changes)

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        """What it would do after a history: a task is an `Agent`."""
        from meip.tasks.plan import act

        return act(self, graph, history, query)

    def sample(
        self, world: Any, n: int = 1, lambda_: float | None = None, *, seed: int = 0, horizon: int | None = None
    ) -> list[TaskPlan]:
        """Plans drawn in proportion to exp(lambda tau) P0, the paper's distribution; lambda is by default 2(h - 1)."""
        from meip.tasks.sample import sample_task

        return sample_task(self, world, n, lambda_, seed=seed, horizon=horizon)

    def prepared(self, world: Any) -> Any:
        """The world, listing the actions that were learned to be worth considering, where it cannot list them all."""
        return with_proposal(world, self.proposal)

    def score(self, world: Any, demonstration: Any) -> float:
        """How concordant a demonstration is with what was learned: the members' mean Kendall tau, -1 to 1."""
        from meip.tasks.plan import score_task

        return score_task(self, world, demonstration)

    def explain(self) -> Explanation:
        """What was learned, in words and numbers, ready to be shown."""
        from meip.tasks.explain import explain

        return explain(self)

    # --- by hand ---

    def edit(
        self, concept: Concept | str, weights: Sequence[float], note: str = "", *, member: int | None = None
    ) -> Task:
        """The same task with the weights of a concept set by hand; recorded.

        Where single choices were learned from, the concept is that of a statement (or any that plans go by), and what
        says nearly the same in the demonstrations changes along with it; 0 strikes it, rules and order included. A
        curve has a weight for each knot, and changes alone. Else in one member, or in all that have it.
        """
        name = str(concept)
        if self.preferences is not None:
            return self._edited(name, tuple(float(w) for w in weights), note)
        having = [m for m, utility in enumerate(self.members) if name in map(str, utility.concepts)]
        if not having:
            raise LearningError(f"the task has no concept {name!r}; {did_you_mean(name, map(str, self.concepts))}")
        if member is not None:
            if member not in having:
                raise LearningError(f"member {member} has no concept {name!r}; those that do: {having}")
            having = [member]
        changed = [
            edit(utility, name, weights=weights, note=note) if m in having else utility
            for m, utility in enumerate(self.members)
        ]
        return dataclasses.replace(self, members=tuple(changed))

    def strike(self, concept: Concept | str, note: str = "") -> Task:
        """The same task without a statement, and without what says nearly the same."""
        return self.edit(concept, [0.0], note)

    def _edited(self, name: str, weights: tuple[float, ...], note: str) -> Task:
        from meip.tasks.edits import bent, edited

        how, curved = cast(Preferences, self.preferences), self._curved(name)
        if curved and len(weights) != 1:
            utility, preferences = bent(self.members[0], how, name, weights, note)
        elif len(weights) != 1:
            raise LearningError(f"{name}: a statement has one weight, got {len(weights)}")
        else:
            utility, preferences = edited(self.members[0], how, name, weights[0], note)
        return dataclasses.replace(self, members=(utility,), preferences=preferences)

    def _curved(self, name: str) -> bool:
        return any(str(term.concept) == name and term.size > 1 for term in self.members[0].terms)

    def with_note(self, note: str) -> Task:
        """The same task with a remark."""
        return dataclasses.replace(self, notes=(*self.notes, note))
