"""Demonstrations: what a person did, as actions (and the dice's outcomes); the states follow by replay.

A file of demonstrations is JSON Lines: one document of kind ``demonstration`` per line. Appending is durable, and
reading validates; `replay` finds the states and names the first step that was not legal, and what was.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import numpy as np

from meip.base import documents
from meip.base.documents import document
from meip.base.errors import DemonstrationError, DocumentError, MeipError
from meip.model.problems import FORMAT, file_world, load_problem, problem_document, registered
from meip.model.world import Action, Decodes, Open, State, World, describe, encode, offers

__all__ = [
    "Demonstration",
    "Episode",
    "Plan",
    "Step",
    "append_demonstration",
    "read_demonstrations",
    "read_episodes",
    "record",
    "replay",
    "widened",
]

T = TypeVar("T")
SHOWN = 8  # legal actions listed in an error
SEEDS = 7919  # between the worlds of one seed and those of the next
OMIT = {"omit_default": True}


@dataclass(frozen=True)
class Step:
    """One action, as `encode` writes it, and the index of its outcome where chance had a say."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

    action: Any
    outcome: int | None = field(default=None, metadata=OMIT)
    chance_failure: bool = field(default=False, metadata=OMIT)
    """The person's choice was right and the dice were not: learn from the choice, not from where it led."""

    def __post_init__(self) -> None:
        if self.outcome is not None and self.outcome < 0:
            raise DemonstrationError(f"an outcome is counted from 0, got {self.outcome}")


@document("demonstration")
@dataclass(frozen=True)
class Demonstration:
    """A problem, and what somebody did in it."""

    __pydantic_config__: ClassVar[Any] = {"extra": "forbid"}

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

    def __post_init__(self) -> None:
        object.__setattr__(self, "steps", tuple(self.steps))
        if self.problem.get("format") != FORMAT:
            raise DemonstrationError(f'problem.format: expected "{FORMAT}", got {self.problem.get("format")!r}')
        if self.initial < 0:
            raise DemonstrationError(f"initial is counted from 0, got {self.initial}")


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


@dataclass(frozen=True)
class Episode:
    """One demonstration and the world it was given in."""

    world: Any
    demonstration: Demonstration | Plan


def replay(world: Any, demonstration: Demonstration, *, where: str = "demonstration") -> Plan:
    """The states of a demonstration. An illegal step is named, counted from 1, with what was legal there."""
    follow = _Follower(world, where)
    follow.start(demonstration.initial)
    for step in demonstration.steps:
        action = follow.find(step.action)
        follow.take(action, step.outcome, step.chance_failure)
    return follow.plan()


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
    follow = _Follower(world, "record")
    follow.start(initial)
    steps = []
    for action, outcome in zip(actions, chosen, strict=True):
        legal = follow.find(encode(action))
        if outcome is None and generator is not None:
            outcome = follow.draw(legal, generator)
        only_one = follow.take(legal, outcome)
        steps.append(Step(encode(legal), None if only_one else outcome))
    document = problem_document(world) if problem is None else problem
    return Demonstration(document, tuple(steps), initial, by, note)


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
    """The demonstrations of files, each with its world, replayed and found legal.

    `own` names the world of files that were recorded in one of the user's own, ``package.module:factory``; `plans` is a
    folder of plan files that some world reads (the hook `Files`), `domain` their domain.
    """
    worlds: dict[str, Any] = {}
    episodes = []
    for path in paths:
        shown = read_demonstrations(path)
        if not shown:
            raise DocumentError(f"{path}: no demonstrations in this file")
        episodes += [_episode(d, f"{path}: demonstration {n}", own, worlds) for n, d in enumerate(shown, start=1)]
    if plans is not None:
        pairs = _plan_reader(plans, domain).read_plans(plans, domain)
        episodes += [_episode(d, f"{plans}: plan {n}", own, worlds) for n, d in enumerate(pairs, start=1)]
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


def _episode(demonstration: Demonstration, where: str, own: str | None, worlds: dict[str, Any]) -> Episode:
    """Demonstrations of the same problem share one world."""
    key = documents.canonical(demonstration.problem)
    if key not in worlds:
        worlds[key] = load_problem(demonstration.problem, where=f"{where}: $.problem", own=own)
    replay(worlds[key], demonstration, where=where)
    return Episode(worlds[key], demonstration)


def widened(episodes: Sequence[Episode], seed: int = 0) -> tuple[list[Episode], dict[str, Any] | None]:
    """The episodes in worlds that list alternatives to what was shown, and the proposal to plan with.

    Both only where a world has more actions than can be listed (`Open`); else the episodes as they are, and None.
    """
    if not episodes or not offers(episodes[0].world, Open):
        return list(episodes), None
    plans = [
        given
        if isinstance(given := episode.demonstration, Plan)
        else replay(episode.world, given, where=f"demonstration {n}")
        for n, episode in enumerate(episodes, start=1)
    ]
    proposal = episodes[0].world.learn_proposal(plans)
    wider = [
        Episode(
            episode.world.with_proposal(proposal, alternatives=True, seed=SEEDS * seed + number), episode.demonstration
        )
        for number, episode in enumerate(episodes)
    ]
    return wider, proposal


class _Follower:
    """Walks through a world step by step, and says where it got stuck."""

    def __init__(self, world: World, where: str) -> None:
        self.world = world
        self.where = where
        self.states: list[State] = []
        self.actions: list[Action] = []
        self.outcomes: list[int] = []
        self.probabilities: list[float] = []
        self.failures: list[bool] = []

    def start(self, initial: int) -> None:
        choices = self._ask("initial", self.world.initial)
        if not 0 <= initial < len(choices):
            raise DemonstrationError(
                f"{self.where}: initial state {initial}: this world has {len(choices)}, counted from 0"
            )
        self.states.append(choices[initial][1])

    def find(self, value: Any) -> Action:
        """The legal action that is written as this JSON value."""
        state = self.states[-1]
        if len(self.states) >= self.world.horizon:
            raise self._stuck(f"{_short(value)} comes after the horizon of {self.world.horizon} states")
        if offers(self.world, Decodes):
            decoded = self._ask("decode_action", self.world.decode_action, value)
            if decoded is not None:
                return decoded
        legal = self._ask("actions", self.world.actions, state)
        wanted = _key(value)
        for action in legal:
            if _key(encode(action)) == wanted:
                return action
        if not legal:
            raise self._stuck(f"{_short(value)}, but the episode is over")
        shown = ", ".join(_short(encode(a)) for a in legal[:SHOWN])
        more = f", ... ({len(legal)} in all)" if len(legal) > SHOWN else ""
        raise self._stuck(f"{_short(value)} is not legal; legal: {shown}{more}")

    def draw(self, action: Action, rng: np.random.Generator) -> int:
        """An outcome of the action, at random."""
        weights = np.array([p for p, _ in self._ask("outcomes", self.world.outcomes, self.states[-1], action)])
        return int(rng.choice(len(weights), p=weights / weights.sum()))

    def take(self, action: Action, outcome: int | None, failure: bool = False) -> bool:
        """Go where the action led; True if it could lead nowhere else."""
        choices = self._ask("outcomes", self.world.outcomes, self.states[-1], action)
        if outcome is None and len(choices) == 1:
            outcome = 0
        if outcome is None or not 0 <= outcome < len(choices):
            problem = "needs an outcome" if outcome is None else f"has no outcome {outcome}"
            listed = "; ".join(
                f"{i}: {describe(self.world, s)} (p = {p:g})" for i, (p, s) in enumerate(choices[:SHOWN])
            )
            raise self._stuck(f"{_short(encode(action))} {problem}; its outcomes: {listed}")
        probability, state = choices[outcome]
        self.actions.append(action)
        self.outcomes.append(outcome)
        self.probabilities.append(float(probability))
        self.failures.append(failure)
        self.states.append(state)
        return len(choices) == 1

    def plan(self) -> Plan:
        return Plan(
            tuple(self.states),
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
        if not self.states:
            return DemonstrationError(f"{self.where}: {problem}")
        return DemonstrationError(
            f"{self.where}: step {len(self.states)}: {problem}; state: {describe(self.world, self.states[-1])}"
        )


def _key(value: Any) -> str:
    """Equal for the same JSON value only: 1, 1.0 and true are three different ones."""
    return documents.canonical(value)


def _short(value: Any) -> str:
    text = _key(value)
    return text if len(text) <= 80 else text[:77] + "..."
