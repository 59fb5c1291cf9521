"""What a search is asked for, and what it answers: one `Query` and one `Found` for every algorithm."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from meip.base.errors import LearningError, did_you_mean
from meip.base.running import Limits
from meip.model.graph import StateGraph
from meip.model.world import MOST_STATES
from meip.search import tree_kernels as kernels

__all__ = ["CHANCES", "Agent", "Chance", "Clock", "Found", "Query", "RootMove", "pair_sums"]

Chance = Literal["expectation", "posterior", "probability"]
CHANCES: tuple[Chance, ...] = ("expectation", "posterior", "probability")
PACE = 0.05  # seconds between two looks at the clock, about
SOFT_SCALE = 2.0  # mean of tanh(2 * difference): tau with a soft tie-break


@dataclass(frozen=True)
class Query:
    """What to look for, how, and for how long. Limits are kept by every search, whichever comes first."""

    method: str = "auto"
    """A name of `SEARCHES`, or "auto"."""
    chance: Chance = "expectation"
    """What is maximised where chance plays a part: the expected tau; "posterior", the paper's, which hopes for luck;
    "probability", that tau reaches `threshold`."""
    horizon: int | None = None
    """States of the plan, the first included: at most horizon - 1 actions; by default the world's own horizon."""
    iterations: int | None = None
    """Simulations of a tree search (3000 where nothing is said); of other searches the states that they expand, or
    for exact search the plans that it looks at."""
    seconds: float | None = None
    memory: float | None = None
    """Megabytes that this process may hold."""
    cancelled: Callable[[], bool] | None = field(default=None, repr=False, compare=False)
    """Asked many times a second: True ends the search with what it has found."""
    nodes: int = 5_000_000
    """States, nodes of a tree, or plans that are kept or listed."""
    width: int = 32
    """Of a beam."""
    seed: int = 0
    """Ties fall at random, by this seed, and never by the order in which a world lists its actions."""
    scale: float = SOFT_SCALE
    """Sharpness of tanh; 0 is the bare sign of the paper's tau."""
    threshold: float = 1.0
    """With chance="probability": the tau to reach, usually that of the demonstrations."""
    strength: float = 1.0
    """With chance="posterior": factor on lambda(h) = 2(h - 1)."""
    exploration: float | None = None
    """UCT's constant on min-max scaled returns; None: .3, or 1 where chance plays a part (one bad draw)."""
    widening: tuple[float, float] | None = None
    """Progressive widening (k, a): k * visits ** a actions are open; None: all at once, or (2, .5) where a world lists
    its actions as far as it is asked to."""
    rules: tuple[Any, Any, Any] = field(default=kernels.DEFAULT_RULES, repr=False)
    """(selection, rollout, backup) of the tree search: functions compiled by numba, see `tree_kernels`."""

    def __post_init__(self) -> None:
        if self.chance not in CHANCES:
            raise LearningError(f"chance={self.chance!r}: {did_you_mean(self.chance, CHANCES)}")
        if self.horizon is not None and self.horizon < 1:
            raise LearningError(f"horizon counts the states of a plan, so it is at least 1, got {self.horizon}")
        if self.horizon is not None and self.horizon > MOST_STATES:
            raise LearningError(f"a horizon may be {MOST_STATES:,} states at most")
        for name, least in (("iterations", 1), ("nodes", 1), ("width", 1), ("seed", 0)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise LearningError(f"{name} must be at least {least}, got {value}")

    def changed(self, **changes: Any) -> Query:
        """The same query with some fields changed; an unknown name is corrected."""
        known = [f.name for f in dataclasses.fields(self)]
        for name in changes:
            if name not in known:
                raise LearningError(f"a search has no option {name!r}; {did_you_mean(name, known)}")
        return dataclasses.replace(self, **changes) if changes else self

    def length(self, graph: StateGraph, history: Sequence[int]) -> int:
        """How many states the plan may have, those of the history included."""
        return max(graph.horizon if self.horizon is None else self.horizon, len(history))

    def numbers(self, horizon: int, mode: int = 0, *, certain: bool = True) -> NDArray[np.float64]:
        """In the form that the kernels read; `certain`: no action has several outcomes."""
        exploration = (0.3 if certain else 1.0) if self.exploration is None else self.exploration
        rule = CHANCES.index(self.chance)
        return np.array([horizon, self.scale, exploration, rule, self.threshold, self.strength, mode], dtype=np.float64)

    def worth(self, soft: float, sign: float, length: int, horizon: int) -> float:
        """The return of a plan with these pair sums."""
        rule = CHANCES.index(self.chance)
        return float(kernels.worth(soft, sign, length, rule, self.threshold, self.strength, horizon))


class RootMove(NamedTuple):
    """What a search thinks of an action that it could begin with."""

    action: int
    value: float
    visits: int = 0


@dataclass(frozen=True)
class Found:
    """A plan as state and action numbers of a graph, from the beginning of the history on; where chance decides, along
    the likeliest outcomes."""

    states: tuple[int, ...]
    actions: tuple[int, ...]
    """Those after the history."""
    value: float
    """What was maximised, as far as the search can tell."""
    stopped_by: str = "finished"
    """finished, goal, dead end, horizon, iterations, nodes, seconds, memory or cancelled."""
    expansions: int = 0
    """How much was looked at: simulations, states or plans, as `Query.iterations` counts them."""
    seconds: float = 0.0
    method: str = ""
    root: tuple[RootMove, ...] = ()
    goal_search: bool = False
    """Was the plan found by searching for the world's own goal?"""


class Agent(Protocol):
    """Whoever acts in a world: a task, a baseline, a script."""

    def act(self, graph: StateGraph, history: Sequence[int], query: Query) -> Found:
        """What it would do after this history; only the actions matter to those who watch."""
        ...


class Clock:
    """When a search has to stop: its time, its memory, what it may expand, how many states it may see, and whoever
    calls it off."""

    def __init__(self, query: Query, graph: StateGraph, default: int | None = None) -> None:
        self.begun = self._looked = time.monotonic()
        self.stop = None if query.seconds is None else self.begun + query.seconds
        self.most = query.iterations if query.iterations is not None else default
        self.graph, self.room = graph, len(graph) + query.nodes
        self.expansions = 0
        self._watched = Limits(None, query.memory, query.cancelled)
        self._asked, self._why = self.begun - 1.0, ""

    @property
    def limited(self) -> bool:
        """Has it to look up while it works?"""
        return self.stop is not None or self._watched.any

    @property
    def late(self) -> bool:
        """Is its time over, is its memory full, or was it called off?"""
        return bool(self.over())

    def over(self) -> str:
        """Which of these it is; "" while none is."""
        now = time.monotonic()
        if self._watched.any and now - self._asked > PACE / 2:
            self._asked, self._why = now, self._watched.reached(now - self.begun)
        return self._why or ("seconds" if self.stop is not None and now > self.stop else "")

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.begun

    def pace(self, amount: int) -> int:
        """How much to do until the next look at the clock: about a twentieth of a second, by what the last took."""
        before, self._looked = self._looked, time.monotonic()
        took = self._looked - before
        return amount * 2 if took < PACE / 2 else max(1, amount // 2) if took > 2 * PACE else amount

    def reason(self) -> str:
        """Which limit is reached; "" while none is."""
        if self.most is not None and self.expansions >= self.most:
            return "iterations"
        if len(self.graph) > self.room:
            return "nodes"
        return self.over()


def pair_sums(g: NDArray[np.float64], states: Sequence[int], scale: float) -> tuple[float, float]:
    """The sums over the pairs of a history: of tanh(scale * difference), and of signs."""
    path = np.array(states, np.int64)
    sums = [kernels.increment(g, path, i, int(path[i]), scale) for i in range(1, len(path))]
    return sum(s for s, _ in sums), sum(s for _, s in sums)
