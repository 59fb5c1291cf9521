"""StateGraph: a world's states as integers, with successors and facts computed once.

The learner re-plans hundreds of times over the same world with different utilities. So a state becomes an integer
the first time it is seen, its successors are asked for once, and search, likelihood and pursuit work on integer arrays.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from meip.base.arrays import Growing
from meip.base.errors import BudgetError, WorldError
from meip.base.running import look
from meip.model.asking import actions_of, ask, asked, bad_pairs, facts_of, outcomes_of, place, shown
from meip.model.domain import Domain, FactBlock, Facts
from meip.model.world import (
    Action,
    Batches,
    Decodes,
    Fast,
    GoesOn,
    HasGoal,
    Instructs,
    Lazy,
    State,
    StaticFacts,
    World,
    describe,
    horizon_of,
    offers,
)

__all__ = ["GraphArrays", "StateGraph", "state_graph"]

UNEXPANDED = -1
Outcomes = tuple[tuple[float, State], ...]
PROBABILITY_TOLERANCE = 1e-6


class GraphArrays(NamedTuple):
    """The graph as compact arrays, in the form that numba kernels read. S states, A actions, O outcomes."""

    first_action: NDArray[np.int64]  # [S] index of the state's first action
    action_count: NDArray[np.int64]  # [S] number of actions; 0: the episode ends here; -1: not expanded yet
    first_outcome: NDArray[np.int64]  # [A] index of the action's first outcome
    outcome_count: NDArray[np.int64]  # [A]
    outcome_state: NDArray[np.int64]  # [O]
    outcome_probability: NDArray[np.float64]  # [O]


def state_graph(world: Any) -> StateGraph:
    """The graph of a world: its own where it offers one (`Fast`), else a `StateGraph`."""
    return cast(StateGraph, ask(world, "state_graph")) if offers(world, Fast) else StateGraph(world)


class StateGraph:
    """States interned as integers, successors and facts cached, expanded lazily.

    It stands between a world and everybody who wants to know something of it: nobody else calls a world's methods.
    """

    def __init__(self, world: Any) -> None:
        self.world: World = world
        self.states: list[State] = []
        self.actions: list[Action] = []  # [A] flat, in the order of GraphArrays
        self._index: dict[State, int] = {}
        self._first_action = Growing(np.int64)
        self._action_count = Growing(np.int64)
        self._first_outcome = Growing(np.int64)
        self._outcome_count = Growing(np.int64)
        self._outcome_state = Growing(np.int64)
        self._outcome_probability = Growing(np.float64)
        self._arrays: GraphArrays | None = None
        self._blocks: list[FactBlock] | None = None
        self._asked: dict[int, Sequence[Action]] = {}  # actions of states that are not expanded yet
        self._listed: dict[int, list[tuple[float, int]]] = {}  # outcomes as listed, where some were equal
        self._domain: Domain = asked("the domain", lambda: world.domain)
        if not isinstance(self._domain, Domain):
            raise WorldError(f"{type(world).__name__}.domain must be a Domain, got {shown(None, self._domain)}")
        self._prepare()
        self.complete = False
        """True once every state within the horizon is expanded."""
        start = self._distribution(ask(world, "initial"), "initial()")
        self.initial: NDArray[np.int64] = np.array([i for _, i in start], dtype=np.int64)
        self.initial_probability: NDArray[np.float64] = np.array([p for p, _ in start], dtype=np.float64)

    def __repr__(self) -> str:
        known = "complete" if self.complete else "as far as it was asked for"
        return (
            f"{type(self).__name__} of {self.domain.name!r}: {len(self)} states, {len(self.actions)} actions, {known}"
        )

    def _prepare(self) -> None:
        """What a graph of another kind needs before it gets its initial states."""

    @staticmethod
    def _growing(dtype: Any) -> Growing:
        return Growing(dtype)

    def __len__(self) -> int:
        return len(self.states)

    @property
    def domain(self) -> Domain:
        return self._domain

    @property
    def horizon(self) -> int:
        """States of an episode at most, the first included."""
        return asked("the horizon", lambda: horizon_of(self.world))

    @property
    def has_goal(self) -> bool:
        """Has the world a goal of its own?"""
        return offers(self.world, HasGoal)

    @property
    def listed_lazily(self) -> bool:
        """Does the world list its actions as far as it is asked to, and are they not all known yet?"""
        return offers(self.world, Lazy) and not self.complete

    def intern(self, state: State) -> int:
        """The integer of a state, given to it now if it is new."""
        try:
            known = self._index.get(state)
        except Exception:
            raise WorldError(
                f"a state must be hashable, got {type(state).__name__}: use tuples, strings or frozen dataclasses"
            ) from None
        if known is not None:
            return known
        number = len(self.states)
        self._index[state] = number
        self.states.append(state)
        self._first_action.append(0)
        self._action_count.append(UNEXPANDED)
        self._arrays = self._blocks = None
        self.complete = False
        return number

    def expanded(self, number: int) -> bool:
        return bool(self._action_count.data[number] != UNEXPANDED)

    def expand(self, number: int) -> None:
        """Ask the world for this state's actions and outcomes, once."""
        if self.expanded(number):
            return
        look()
        state = self.states[number]
        known = self._asked.pop(number, None)
        actions = actions_of(self.world, state) if known is None else known
        listed = [outcomes_of(self.world, state, action) for action in actions]
        results = [
            self._distribution(pairs, "outcomes()", state, action)
            for action, pairs in zip(actions, listed, strict=True)
        ]
        for k, (pairs, merged) in enumerate(zip(listed, results, strict=True), start=len(self.actions)):
            if len(pairs) != len(merged):
                self._listed[k] = [(float(p), self.intern(s)) for p, s in pairs]
        self._first_action.data[number] = len(self.actions)
        self._action_count.data[number] = len(actions)
        self.actions.extend(actions)
        sizes = [len(outcomes) for outcomes in results]
        starts: Any = np.cumsum([len(self._outcome_state), *sizes[:-1]]) if sizes else ()
        self._first_outcome.extend(starts)
        self._outcome_count.extend(sizes)
        self._outcome_state.extend([successor for outcomes in results for _, successor in outcomes])
        self._outcome_probability.extend([probability for outcomes in results for probability, _ in outcomes])
        self._arrays = None

    def expand_many(self, numbers: Iterable[int]) -> None:
        """The same for many states."""
        for number in numbers:
            self.expand(number)

    def expand_all(
        self,
        max_states: int = 1_000_000,
        max_seconds: float = 60.0,
        *,
        horizon: int | None = None,
        partial: bool = False,
    ) -> bool:
        """Expand every state that a plan within the horizon can leave. Returns whether all of them were.

        When a limit is reached: BudgetError, or False with `partial=True` and the graph as far as it goes.
        """
        depth_limit = (self.horizon if horizon is None else horizon) - 1
        stop = time.monotonic() + max_seconds
        seen = set(self.initial.tolist())
        layer = sorted(seen)
        for _ in range(depth_limit):
            following: list[int] = []
            for number in layer:
                self.expand(number)
                if len(self) > max_states or time.monotonic() > stop:
                    if partial:
                        return False
                    raise BudgetError(
                        f"the world has more than {max_states} states, or takes longer than {max_seconds:g} s to "
                        f"expand: {len(self)} seen so far; raise max_states or max_seconds, or sample plans instead"
                    )
                for successor in self.successors(number):
                    if successor not in seen:
                        seen.add(successor)
                        following.append(successor)
            if not following:
                break
            layer = following
        self.complete = True
        return True

    def successors(self, number: int) -> list[int]:
        """Every state that some action of an expanded state may lead to (with repetitions)."""
        actions = self.action_numbers(number)
        if not actions:
            return []
        first, last = self._first_outcome.data[actions[0]], self._first_outcome.data[actions[-1]]
        last += self._outcome_count.data[actions[-1]]
        return cast("list[int]", self._outcome_state.data[first:last].tolist())

    def moves(self, number: int) -> list[tuple[int, int]]:
        """Each action of a state, by its number, with the state that it most likely leads to."""
        numbers = self.action_numbers(number)
        if not numbers:
            return []
        first, last = int(self._first_outcome.data[numbers[0]]), int(self._first_outcome.data[numbers[-1]])
        if last - first == len(numbers) - 1 and self._outcome_count.data[numbers[-1]] == 1:  # one outcome each
            return list(zip(numbers, self._outcome_state.data[first : last + 1].tolist(), strict=True))
        return [(n, max(self.outcomes(n), key=lambda outcome: outcome[0])[1]) for n in numbers]

    def fan(self, number: int) -> list[list[tuple[float, int]]]:
        """The outcomes of each action of a state."""
        numbers = self.action_numbers(number)
        if not numbers:
            return []
        low, high = numbers.start, numbers.stop
        first = int(self._first_outcome.data[low])
        last = int(self._first_outcome.data[high - 1] + self._outcome_count.data[high - 1])
        odds, states = (
            self._outcome_probability.data[first:last].tolist(),
            self._outcome_state.data[first:last].tolist(),
        )
        if last - first == len(numbers):  # one outcome each
            return [[pair] for pair in zip(odds, states, strict=True)]
        starts = (self._first_outcome.data[low:high] - first).tolist()
        pairs = list(zip(odds, states, strict=True))
        return [pairs[a:b] for a, b in zip(starts, [*starts[1:], len(pairs)], strict=True)]

    def action_numbers(self, number: int) -> range:
        """The numbers of a state's actions, in the order the world gave them."""
        self.expand(number)
        first = int(self._first_action.data[number])
        return range(first, first + int(self._action_count.data[number]))

    def over(self, number: int) -> bool:
        """Is there nothing more to do in a state? Where its actions lead is not asked for; of what is listed as far as
        it is asked for, one action is enough."""
        if self.expanded(number):
            return not self.action_numbers(number)
        if self.listed_lazily:
            return not self.first_moves({number: 1})[0][0]
        if number not in self._asked:
            self._asked[number] = self.legal(number)
        return not self._asked[number]

    def outcomes(self, action_number: int) -> list[tuple[float, int]]:
        """The outcomes of an action by its number: probabilities and states."""
        first, count = int(self._first_outcome.data[action_number]), int(self._outcome_count.data[action_number])
        states, odds = self._outcome_state.data, self._outcome_probability.data
        return [(float(odds[o]), int(states[o])) for o in range(first, first + count)]

    def arrays(self) -> GraphArrays:
        """The graph as it is now; later expansions give new arrays."""
        if self._arrays is None:
            self._arrays = GraphArrays(
                self._first_action.view(),
                self._action_count.view(),
                self._first_outcome.view(),
                self._outcome_count.view(),
                self._outcome_state.view(),
                self._outcome_probability.view(),
            )
        return self._arrays

    # --- what the world says about states ---

    def facts(self, numbers: Sequence[int] | NDArray[np.int64] | None = None) -> list[FactBlock]:
        """The facts of these states, by default of all (then kept until a new state is seen)."""
        if numbers is not None:
            return self._facts([self.states[n] for n in numbers])
        if self._blocks is None:
            self._blocks = self._facts(self.states)
        return self._blocks

    def static_facts(self) -> Facts:
        """What holds in every state."""
        found = ask(self.world, "static_facts") if offers(self.world, StaticFacts) else Facts()
        if not isinstance(found, Facts):
            raise WorldError(f"static_facts() must return Facts, got {shown(None, found)}")
        return found

    def _facts(self, states: Sequence[State]) -> list[FactBlock]:
        world = self.world
        if offers(world, Batches):
            blocks = asked("facts_batch()", lambda: world.facts_batch(states))
            if not isinstance(blocks, list) or not all(isinstance(block, FactBlock) for block in blocks):
                raise WorldError(f"facts_batch() must return a list of FactBlock, got {shown(None, blocks)}")
            return blocks
        return facts_of(world, self.domain, states, self.static_facts())

    def reached(self, numbers: Sequence[int] | NDArray[np.int64]) -> NDArray[np.bool_]:
        """In which of these states the world's goal is reached; in none where it has no goal."""
        if not offers(self.world, HasGoal):
            return np.zeros(len(numbers), np.bool_)
        world = self.world
        answers = [ask(world, "reached", self.states[n]) for n in numbers]
        return asked("reached()", lambda: np.array([bool(answer) for answer in answers], np.bool_))

    def goal(self, number: int) -> bool | None:
        """Is the goal reached here? None for worlds without a goal of their own."""
        return bool(self.reached([number])[0]) if self.has_goal else None

    def onward(self, number: int) -> list[int]:
        """Where another step would have led from a state in which the goal ended the episode; often nobody knows."""
        if not offers(self.world, GoesOn):
            return []
        return [self.intern(state) for state in ask(self.world, "onward", self.states[number])]

    def describe(self, number: int) -> str:
        """One line about a state, for people."""
        return asked("describe()", lambda: describe(self.world, self.states[number]))

    def instructions(self, numbers: Sequence[int], actions: Sequence[int]) -> list[dict[str, Any] | None]:
        """How each action between these states is carried out, where the world says so."""
        if not offers(self.world, Instructs):
            return [None] * len(actions)
        return list(self.world.instructions([self.states[n] for n in numbers], [self.action(a) for a in actions]))

    # --- actions beyond the list ---

    def action(self, number: int) -> Action:
        """The action of this number, as the world calls it."""
        return self.actions[number]

    def decoded(self, value: Any) -> Action | None:
        """The action that is written as this JSON value, where the world knows without listing actions (`Decodes`)."""
        world = self.world
        return asked("decode_action()", lambda: world.decode_action(value)) if offers(world, Decodes) else None

    def legal(self, number: int) -> Sequence[Action]:
        """The actions of a state as the world lists them; nothing is expanded."""
        return actions_of(self.world, self.states[number])

    def listed(self, action_number: int) -> list[tuple[float, int]]:
        """The outcomes of an action as the world lists them, equal and impossible ones too."""
        return self._listed.get(action_number) or self.outcomes(action_number)

    def outcomes_of(self, number: int, action: Action) -> list[tuple[float, int]]:
        """What an action leads to as the world lists it, whether or not it is among the actions of this state."""
        if self.expanded(number):
            for known in self.action_numbers(number):
                if self.action(known) == action:
                    return self.listed(known)
        found = outcomes_of(self.world, self.states[number], action)
        return [(float(probability), self.intern(state)) for probability, state in found]

    def first_moves(self, wanted: Mapping[int, int]) -> list[tuple[list[int], bool]]:
        """For each state the successors by its first so many actions, and whether these are all (`listed_lazily`)."""
        world = cast(Lazy, self.world)
        states = [self.states[n] for n in wanted]
        found = asked("first_moves()", lambda: world.first_moves(states, list(wanted.values())))
        return [([self.intern(after) for _, after in moves], done) for moves, done in found]

    @property
    def most_moves(self) -> int:
        return int(cast(Lazy, self.world).most_moves)

    def drawn(
        self, number: int, rng: np.random.Generator, known: dict[int, Sequence[Outcomes]]
    ) -> tuple[int, float] | None:
        """A successor drawn from P0 and its probability; None where the episode is over.

        Actions with the same outcomes count once. Nothing is expanded: only what is drawn gets a number. `known`
        remembers what can happen in states.
        """
        look()
        state = self.states[number]
        choices = known.get(number)
        if choices is None:
            listed = [self._checked(state, action) for action in actions_of(self.world, state)]
            choices = known[number] = list(
                {frozenset(Counter(outcomes).items()): outcomes for outcomes in listed}.values()
            )
        if not choices:
            return None
        outcomes = choices[int(rng.integers(len(choices)))]
        k = 0 if len(outcomes) == 1 else int(rng.choice(len(outcomes), p=[p for p, _ in outcomes]))
        return self.intern(outcomes[k][1]), outcomes[k][0] / len(choices)

    # --- other graphs ---

    def fresh(self) -> StateGraph:
        """An empty graph of the same world."""
        return state_graph(self.world)

    def nbytes(self) -> int:
        """Bytes held by the integer arrays (states, actions and facts are the world's own objects)."""
        return sum(part.nbytes for part in self.arrays())

    def _checked(self, state: State, action: Action) -> Outcomes:
        """The outcomes of an action as the world lists them, found to be a distribution."""
        look()
        pairs = outcomes_of(self.world, state, action)
        self._distribution(pairs, "outcomes()", state, action)
        return tuple((float(p), after) for p, after in pairs)

    def _distribution(
        self, pairs: Sequence[tuple[float, State]], name: str, *arguments: Any
    ) -> list[tuple[float, int]]:
        try:
            if len(pairs) == 1 and pairs[0][0] == 1.0:  # the usual case, quickly
                return [(1.0, self.intern(pairs[0][1]))]
            return self._merged(pairs)
        except Exception as error:
            where = place(self.world, *arguments)
            bad_pairs(pairs, name, where)
            raise WorldError(f"{name}{where}: {error}") from error

    def _merged(self, pairs: Sequence[tuple[float, State]]) -> list[tuple[float, int]]:
        merged: dict[int, float] = {}
        for probability, state in pairs:
            if not probability >= 0:
                raise WorldError(f"{probability!r} is not a probability")
            if probability > 0:
                number = self.intern(state)
                merged[number] = merged.get(number, 0.0) + float(probability)
        total = sum(merged.values())
        if not merged or not abs(total - 1) <= PROBABILITY_TOLERANCE:
            raise WorldError(f"the probabilities add up to {total:g}, not to 1")
        return [(probability / total, number) for number, probability in merged.items()]
