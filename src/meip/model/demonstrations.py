"""Demonstrations: what a person did, as actions (and the dice's outcomes); the states follow by replay.

A file of demonstrations is JSON Lines: one document of kind ``demonstration`` per line. Appending is durable, and
reading validates; `replay` finds the states and names the first step that was not legal, and what was.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from operator import index
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from meip.base import documents
from meip.base.documents import Strict, document
from meip.base.errors import DemonstrationError, DocumentError, MeipError
from meip.model.graph import StateGraph
from meip.model.problems import FORMAT, file_world, load_problem, problem_document, registered
from meip.model.world import Action, State, counted, encode

__all__ = [
    "Correction", "Demonstration", "Episode", "Plan", "Step", "Walk", "append_demonstration", "episodes_of", "follow",
    "read_demonstrations", "read_episodes", "record", "replay",
]  # fmt: skip

T = TypeVar("T")
SHOWN = 8  # legal actions listed in an error
OMIT = {"omit_default": True}


@dataclass(frozen=True)
class Step(Strict):
    """One action, kept as `encode` writes it, and the index of its outcome where chance had a say."""

    action: Any
    outcome: int | None = field(default=None, metadata=OMIT)
    chance_failure: bool = field(default=False, metadata=OMIT)
    """The person's choice was right and the dice were not: learn from the choice, not from where it led."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "action", encode(self.action))
        if self.outcome is not None:
            object.__setattr__(self, "outcome", index(self.outcome))  # numpy's integers too
            if self.outcome < 0:
                raise DemonstrationError(f"an outcome is counted from 0, got {self.outcome}")


@dataclass(frozen=True)
class Correction(Strict):
    """One step of a plan was wrong. All that is said is what should have been done there, and what not: the steps
    before are the plan's, and after it nothing is shown, so that it is no example of how it ends."""

    rejected: Any
    """What the plan did instead, kept as `encode` writes it; null: it stopped."""
    stop: bool = field(default=False, metadata=OMIT)
    """It should have stopped after these steps; else the last of them is the right one."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "rejected", encode(self.rejected))


@document("demonstration")
@dataclass(frozen=True)
class Demonstration(Strict):
    """A problem, and what somebody did in it."""

    problem: dict[str, Any]
    """The problem document of the world it was shown in."""
    steps: tuple[Step, ...]
    initial: int = 0
    """Index among the world's initial states."""
    by: str = field(default="", metadata=OMIT)
    """Who showed it."""
    note: str = field(default="", metadata=OMIT)
    meta: dict[str, Any] | None = field(default=None, metadata=OMIT)
    """Anything else worth keeping, such as times or the name of a recording."""
    corrects: Correction | None = field(default=None, metadata=OMIT)
    """This is no whole demonstration, but the correction of one step of a plan."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        object.__setattr__(self, "initial", index(self.initial))
        if self.corrects is not None:
            _check_correction(self.corrects, self.steps)
        if self.problem.get("format") != FORMAT:
            raise DemonstrationError(f'problem.format: expected "{FORMAT}", got {self.problem.get("format")!r}')
        if self.initial < 0:
            raise DemonstrationError(f"initial is counted from 0, got {self.initial}")

    @property
    def actions(self) -> tuple[Any, ...]:
        """What was done, as it is written; `replay` finds the world's own actions."""
        return tuple(step.action for step in self.steps)

    def __repr__(self) -> str:
        by = f" by {self.by}" if self.by else ""
        world = self.problem.get("world", "another world")
        return f"Demonstration in {world}{by}, {len(self.steps)} steps: {_shown(self.actions)}"


def _check_correction(correction: Correction, steps: Sequence[Step]) -> None:
    if correction.stop and correction.rejected is None:
        raise DemonstrationError(
            "corrects: to stop is right, and what the plan did (rejected: null) was to stop as well"
        )
    if not correction.stop and not steps:
        raise DemonstrationError("corrects: without a step there is no right one; give it last, or say stop: true")
    if not correction.stop and _key(steps[-1].action) == _key(correction.rejected):
        raise DemonstrationError(f"corrects: the last step, {_short(correction.rejected)}, is the one that was wrong")


@dataclass(frozen=True)
class Plan:
    """A demonstration replayed: h states, and for each of the h - 1 steps what was done and what came of it."""

    states: tuple[State, ...]
    actions: tuple[Action, ...]
    outcomes: tuple[int, ...]
    """Index among the outcomes of each action."""
    probabilities: tuple[float, ...]
    """Probability of each of these outcomes."""
    chance_failures: tuple[bool, ...]

    def __len__(self) -> int:
        return len(self.states)

    def __repr__(self) -> str:
        return f"Plan of {len(self.states)} states: {_shown(self.actions)}"


@dataclass(frozen=True)
class Episode:
    """One demonstration and the world it was given in."""

    world: Any
    demonstration: Demonstration | Plan
    where: str = field(default="", compare=False)
    """What errors call it, such as a file and a line; by default its number among the demonstrations."""

    def __post_init__(self) -> None:
        if isinstance(self.world, Demonstration | Plan):
            raise DemonstrationError("Episode(world, demonstration): the world comes first; these two are swapped")
        if not isinstance(self.demonstration, Demonstration | Plan):
            raise DemonstrationError(
                f"Episode(world, demonstration): expected a Demonstration or a Plan, got {_kind(self.demonstration)}; "
                "record(world, actions) makes one of actions"
            )


def episodes_of(given: Iterable[Any]) -> list[Episode]:
    """Episodes, also from pairs: a world, and a demonstration, a plan or a list of actions in it.

    Where chance has a say, actions alone do not tell what happened: `record` takes the outcomes as well.
    """
    if not isinstance(given, Iterable):
        raise DemonstrationError(f"expected a list of episodes, or of pairs (world, demonstration); got {_kind(given)}")
    return [_paired(one, f"demonstration {number}") for number, one in enumerate(given, start=1)]


def _paired(one: Any, where: str) -> Episode:
    if isinstance(one, Episode):
        return one
    if not isinstance(one, tuple | list) or len(one) != 2:
        raise DemonstrationError(f"{where}: expected an Episode or a pair (world, demonstration), got {_kind(one)}")
    world, shown = one
    if isinstance(shown, list | tuple):
        way = Walk(_graph(world, where), where)
        way.start(0)
        for action in shown:
            way.take(*way.find(encode(action)), None)
        shown = way.plan()
    try:
        return Episode(world, shown)
    except DemonstrationError as error:
        raise DemonstrationError(f"{where}: {error}") from None


def replay(world: Any, demonstration: Demonstration, *, where: str = "demonstration") -> Plan:
    """The states of a demonstration. An illegal step is named, counted from 1, with what was legal there."""
    return follow(_graph(world, where), demonstration, where=where)[0]


def follow(
    graph: StateGraph, demonstration: Demonstration, *, where: str = "demonstration", whole: bool = False
) -> tuple[Plan, tuple[int, ...]]:
    """A demonstration replayed in a graph: the plan, and its states' numbers. `whole`: every state on the way is
    expanded, so that the world is not asked about it again."""
    way = Walk(graph, where, whole=whole)
    way.start(demonstration.initial)
    for step in demonstration.steps:
        way.take(*way.find(step.action), step.outcome, step.chance_failure)
    return way.plan(), tuple(way.states)


def record(
    world: Any,
    actions: Sequence[Action],
    outcomes: Sequence[int | None] | None = None,
    rng: np.random.Generator | int | None = None,
    *,
    initial: int = 0,
    problem: dict[str, Any] | None = None,
    by: str = "",
    note: str = "",
) -> Demonstration:
    """A demonstration of these actions. Chance is decided by `outcomes`, or drawn with `rng` where they say None."""
    generator = None if rng is None else np.random.default_rng(rng)
    chosen = list(outcomes) if outcomes is not None else [None] * len(actions)
    if len(chosen) != len(actions):
        raise DemonstrationError(f"{len(actions)} actions but {len(chosen)} outcomes: give one (or None) per action")
    way = Walk(_graph(world, "record"), "record")
    way.start(initial)
    steps = []
    for action, outcome in zip(actions, chosen, strict=True):
        legal, choices = way.find(encode(action))
        if outcome is None and generator is not None:
            weights = np.array([p for p, _ in choices])
            outcome = int(generator.choice(len(weights), p=weights / weights.sum()))
        only_one = way.take(legal, choices, outcome)
        steps.append(Step(encode(legal), None if only_one else outcome))
    document = problem_document(world) if problem is None else problem
    return Demonstration(document, tuple(steps), initial, by, note)


def _graph(world: Any, where: str) -> StateGraph:
    """The states of a walk; what a world cannot say about its beginning is said with its place."""
    try:
        return StateGraph(world)
    except MeipError as error:
        raise DemonstrationError(f"{where}: {error}") from error
    except Exception as error:
        raise DemonstrationError(f"{where}: the world's initial() failed: {type(error).__name__}: {error}") from error


def read_demonstrations(path: str | Path) -> list[Demonstration]:
    """The demonstrations of a JSON Lines file (or the one of a ``.json`` file), in order."""
    if Path(path).suffix == ".json":
        return [documents.read(path, "demonstration")]
    return list(documents.read_lines(path, "demonstration"))


def append_demonstration(path: str | Path, demonstration: Demonstration) -> None:
    """Add a demonstration to a JSON Lines file; when this returns, it survives a crash."""
    documents.append_line(path, demonstration)


def read_episodes(
    paths: Sequence[str | Path],
    *,
    own: str | None = None,
    domain: str | Path | None = None,
    plans: str | Path | None = None,
) -> list[Episode]:
    """The demonstrations of files, each with its world; whoever learns from them replays them, once.

    `own` names the world of files that were recorded in one of the user's own, ``package.module:factory``; `plans` is a
    folder of plan files that some world reads (the hook `Files`), `domain` their domain.
    """
    worlds: dict[str, Any] = {}
    episodes = []
    for path in paths:
        shown = read_demonstrations(path)
        if not shown:
            raise DocumentError(f"{path}: no demonstrations in this file")
        folder = Path(path).parent
        episodes += [
            _episode(d, f"{path}: demonstration {n}", own, worlds, folder) for n, d in enumerate(shown, start=1)
        ]
    if plans is not None:
        episodes += _plan_reader(plans, domain).read_plans(plans, domain)
    return episodes


def _plan_reader(folder: str | Path, domain: str | Path | None) -> Any:
    """The world whose files lie in a folder: by the suffix of their domain, or of the files themselves."""
    suffixes = [Path(domain).suffix] if domain is not None and Path(domain).suffix else []
    suffixes += sorted({path.suffix for path in Path(folder).glob("*.*")})
    for suffix in suffixes:
        found = file_world(suffix)
        if found is not None:
            return found
    known = ", ".join(f".{name}" for name in registered("meip.files"))
    raise DocumentError(f"{folder}: no problem files here that a world could read ({known}), with plans beside them")


def _episode(
    demonstration: Demonstration, where: str, own: str | None, worlds: dict[str, Any], folder: Path
) -> Episode:
    """Demonstrations of the same problem share one world."""
    key = f"{folder} {documents.canonical(demonstration.problem)}"
    if key not in worlds:
        worlds[key] = load_problem(demonstration.problem, where=f"{where}: $.problem", own=own, folder=folder)
    return Episode(worlds[key], demonstration, where)


class Walk:
    """Walks through a graph step by step, and says where it got stuck.

    `whole`: every state on the way is expanded, so that what else could have been done is known as well, and the world
    is not asked about it again.
    """

    def __init__(self, graph: StateGraph, where: str, *, whole: bool = False) -> None:
        self.graph, self.where, self.whole = graph, where, whole
        self.states: list[int] = []
        self.actions: list[Action] = []
        self.outcomes: list[int] = []
        self.probabilities: list[float] = []
        self.failures: list[bool] = []

    def start(self, initial: int) -> None:
        count = len(self.graph.initial)
        if not 0 <= initial < count:
            raise DemonstrationError(f"{self.where}: initial state {initial}: this world has {count}, counted from 0")
        self.states.append(int(self.graph.initial[initial]))

    def find(self, value: Any) -> tuple[Action, list[tuple[float, int]]]:
        """The legal action that is written as this JSON value, and what it may lead to."""
        graph, state = self.graph, self.states[-1]
        if len(self.states) >= graph.horizon:
            raise self._stuck(f"{_short(value)} comes after the horizon of {counted(graph.horizon)}")
        decoded = self._ask("decode_action", graph.decoded, value)
        if decoded is not None:
            return decoded, self._ask("outcomes", graph.outcomes_of, state, decoded)
        wanted = _key(value)
        if self.whole:
            numbers = self._ask("actions() or outcomes", graph.action_numbers, state)
            legal = [graph.action(number) for number in numbers]
        else:
            legal = list(self._ask("actions", graph.legal, state))
        for place, action in enumerate(legal):
            if _key(encode(action)) == wanted:
                if self.whole:
                    return action, graph.listed(numbers[place])
                return action, self._ask("outcomes", graph.outcomes_of, state, action)
        if not legal:
            raise self._stuck(f"{_short(value)}, but the episode is over")
        shown = ", ".join(_short(encode(a)) for a in legal[:SHOWN])
        more = f", ... ({len(legal)} in all)" if len(legal) > SHOWN else ""
        raise self._stuck(f"{_short(value)} is not legal; legal: {shown}{more}")

    def take(
        self, action: Action, choices: Sequence[tuple[float, int]], outcome: int | None, failure: bool = False
    ) -> bool:
        """Go where the action led; True if it could lead nowhere else."""
        if outcome is None and len(choices) == 1:
            outcome = 0
        if outcome is None or not 0 <= outcome < len(choices):
            problem = "needs an outcome" if outcome is None else f"has no outcome {outcome}"
            first = enumerate(choices[:SHOWN])
            listed = "; ".join(f"{i}: {self.graph.describe(s)} (p = {p:g})" for i, (p, s) in first)
            raise self._stuck(f"{_short(encode(action))} {problem}; its outcomes: {listed}")
        probability, state = choices[outcome]
        self.actions.append(action)
        self.outcomes.append(int(outcome))
        self.probabilities.append(float(probability))
        self.failures.append(failure)
        self.states.append(state)
        return len(choices) == 1

    def back(self) -> None:
        """Take the last step back."""
        for steps in (self.states, self.actions, self.outcomes, self.probabilities, self.failures):
            steps.pop()

    def plan(self) -> Plan:
        return Plan(
            tuple(self.graph.states[s] for s in self.states),
            tuple(self.actions),
            tuple(self.outcomes),
            tuple(self.probabilities),
            tuple(self.failures),
        )

    def _ask(self, name: str, method: Callable[..., T], *arguments: Any) -> T:
        try:
            return method(*arguments)
        except MeipError as error:
            raise self._stuck(str(error)) from error
        except Exception as error:
            raise self._stuck(f"the world's {name}() failed: {type(error).__name__}: {error}") from error

    def _stuck(self, problem: str) -> DemonstrationError:
        place = f"step {len(self.states)}: {problem}; state: {self.graph.describe(self.states[-1])}"
        return DemonstrationError(f"{self.where}: {place}")


def _shown(actions: Sequence[Any]) -> str:
    more = f", ... ({len(actions)} in all)" if len(actions) > SHOWN else ""
    return ", ".join(_short(encode(action)) for action in actions[:SHOWN]) + more


def _kind(value: Any) -> str:
    return f"{'an' if type(value).__name__[0] in 'AEIOUaeiou' else 'a'} {type(value).__name__}"


def _key(value: Any) -> str:
    """Equal for the same JSON value only: 1, 1.0 and true are three different ones."""
    return documents.canonical(value)


def _short(value: Any) -> str:
    text = _key(value)
    return text if len(text) <= 80 else text[:77] + "..."
