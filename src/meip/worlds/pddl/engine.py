"""Successor generation over packed states: `Engine` (grounded) and what it shares with `lifted.LiftedEngine`.

A state is a row of uint64 words (see `objects.Layout`); every method takes one row [width] or many [K, width].
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.base.errors import BudgetError, WorldError, did_you_mean
from meip.worlds.pddl import kernels
from meip.worlds.pddl.objects import Instance, Layout
from meip.worlds.pddl.plans import Step
from meip.worlds.pddl.programs import Fact, Grounder, Joined, Programs, join
from meip.worlds.pddl.reachability import reach
from meip.worlds.pddl.schemas import Schema, normalise
from meip.worlds.pddl.syntax import DomainFile, ProblemFile
from meip.worlds.pddl.tables import ActionTable, build_table, split_bits

__all__ = ["MAX_ACTIONS", "BaseEngine", "Engine", "Successors", "compile_problem"]

MAX_ACTIONS = 1_000_000
WALK_ACTIONS = 100_000


@dataclass(frozen=True)
class Successors:
    """What can happen next in K states: M results, those of state k at ``offsets[k]:offsets[k + 1]``."""

    offsets: Ints  # [K + 1]
    actions: Ints  # [M] ids, ascending within a state; an action with several outcomes is repeated
    states: Words  # [M, width]
    probabilities: Floats  # [M] of the outcome, given the action

    @cached_property
    def parents(self) -> Ints:
        """[M] the state each result comes from."""
        return np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))


class BaseEngine(ABC):
    """One problem, compiled: initial state, goal, names of facts and actions."""

    table: ActionTable

    def __init__(self, instance: Instance, schemas: tuple[Schema, ...], layout: Layout) -> None:
        self.instance, self.schemas, self.layout = instance, schemas, layout
        self.grounder = Grounder(instance, layout)
        self.programs = Programs()
        self._goal_tests, self._goal_program = self._compile_goal()
        self._goal_arrays = self.programs.arrays()

    @property
    def width(self) -> int:
        """Words of a state."""
        return self.layout.width

    @cached_property
    def initial(self) -> Words:
        """[width] the initial state."""
        instance, layout = self.instance, self.layout
        bits = [layout.fact(a.name, instance.code(a)) for a in instance.problem.atoms if a.name in layout.codes]
        numbers = np.full(layout.numbers, np.nan)
        for value, number in instance.problem.values.items():
            if value.name in layout.values:
                numbers[layout.values[value.name] + instance.code(value)] = number
        return layout.pack(bits, numbers)

    def rows(self, states: Words) -> Words:
        """States as a contiguous [K, width] array."""
        found = np.ascontiguousarray(np.atleast_2d(states), dtype=np.uint64)
        if found.ndim != 2 or found.shape[1] != self.width:
            raise WorldError(f"expected states of {self.width} words, got an array of shape {np.shape(states)}")
        return found

    def numbers(self, states: Words) -> Floats:
        """[K, F] the numeric fluents of states, as a view."""
        return states[:, self.layout.words :].view(np.float64)

    def _compile_goal(self) -> tuple[tuple[Ints, Words, Words], int]:
        ground = self.grounder.ground(self.instance.problem.goal, {})
        parts = ground.parts if isinstance(ground, Joined) and ground.all else (ground,)
        facts = [p for p in parts if isinstance(p, Fact)]
        rest = [p for p in parts if not isinstance(p, Fact) and p is not True]
        bits = np.array([f.bit for f in facts], dtype=np.int64)
        flags = np.array([f.positive for f in facts], dtype=bool)
        _, word, mask, need = split_bits(np.zeros(len(bits), dtype=np.int64), bits, flags, 1, self.layout.words)
        self.goal_facts = tuple(facts)
        return (word, mask, need), self.programs.condition(join(True, rest)) if rest else -1

    def reached(self, states: Words) -> Bools:
        """[K] does the goal hold?"""
        rows = self.rows(states)
        reached = np.empty(len(rows), dtype=np.bool_)
        kernels.all_set(rows, *self._goal_tests, reached)
        if self._goal_program >= 0:
            floats, (start, operation, integer, real) = rows.view(np.float64), self._goal_arrays
            kernels.holds(rows, floats, self.layout.words, self._goal_program, start, operation, integer, real, reached)
        return reached

    def unmet(self, states: Words) -> Ints:
        """[K] how many literals of the goal do not hold; one more where the goal's other conditions do not."""
        rows = self.rows(states)
        count = np.zeros(len(rows), dtype=np.int64)
        for fact in self.goal_facts:
            bit = rows[:, fact.bit // 64] >> np.uint64(fact.bit % 64) & np.uint64(1)
            count += (bit == 1) != fact.positive
        if self._goal_program >= 0:
            count += (count == 0) & ~self.reached(rows)
        return count

    def fact_texts(self, state: Words) -> list[str]:
        """The changing facts that hold in one state, and its numbers, as PDDL text."""
        row = self.rows(state)
        found = []
        for bit in np.flatnonzero(self.layout.unpack(row)[0]):
            name, code = self.layout.where(int(bit))
            found.append(self.instance.fact_text(name, code))
        numbers = self.numbers(row)[0]
        for name, start in self.layout.values.items():
            size = int(np.prod(self.instance.shape(name)))
            for code in range(size):
                if not np.isnan(numbers[start + code]):
                    found.append(f"(= {self.instance.fact_text(name, code)} {numbers[start + code]:g})")
        return found

    def step(self, action: int) -> Step:
        """The name and the arguments of an action."""
        number, row = self._binding(action)
        return (self.schemas[number].name, *(self.instance.names[i] for i in row))

    def _row(self, step: Sequence[str]) -> tuple[int, Ints]:
        """The schema and the object numbers of a step, checked."""
        names = {s.name: i for i, s in enumerate(self.schemas)}
        if not step or step[0] not in names:
            name = step[0] if step else ""
            raise WorldError(f"domain {self.instance.file.name!r} has no action {name!r}; {did_you_mean(name, names)}")
        schema = self.schemas[names[step[0]]]
        if len(step) - 1 != len(schema.parameters):
            raise WorldError(f"{step[0]!r} takes {len(schema.parameters)} arguments, {len(step) - 1} given")
        for term in step[1:]:
            if term not in self.instance.number:
                raise WorldError(
                    f"problem {self.instance.problem.name!r} has no object {term!r}; "
                    + did_you_mean(term, self.instance.number)
                )
        return names[step[0]], np.array([self.instance.number[t] for t in step[1:]], dtype=np.int64)

    @abstractmethod
    def _binding(self, action: int) -> tuple[int, Ints]:
        """Schema and object numbers of an action."""

    @abstractmethod
    def action_id(self, step: Sequence[str]) -> int:
        """The id of ``(name, arg, ..)``; -1 where it can never apply. `WorldError` where it is not well formed."""

    @abstractmethod
    def applicable_batch(self, states: Words) -> tuple[Ints, Ints]:
        """Offsets [K + 1] and the ids of the applicable actions, ascending within a state."""

    @abstractmethod
    def successors(self, states: Words) -> Successors:
        """Everything that can happen next in each state."""

    @abstractmethod
    def results(self, state: Words, action: int) -> tuple[Floats, Words]:
        """Probabilities [n] and states [n, width] of an action's outcomes in one state; it must be applicable."""

    def applicable(self, state: Words) -> Ints:
        """The ids of the actions that apply in one state."""
        return self.applicable_batch(state)[1]

    @abstractmethod
    def cost(self, action: int) -> float:
        """The action's cost: 1 where the domain states none."""

    def _expand(
        self, table: ActionTable, rows: Words, offsets: Ints, actions: Ints
    ) -> tuple[Ints, Ints, Words, Floats]:
        """Apply `actions` (positions in `table`): offsets, positions, states and probabilities of the results."""
        if table.is_plain:
            states = kernels.apply_plain(
                rows, offsets, actions, table.patch_start, table.patch_word, table.patch_clear, table.patch_set
            )
            return offsets, actions, states, np.ones(len(actions))
        counts = np.diff(table.outcome_start)[actions]
        parents = np.repeat(np.repeat(np.arange(len(rows)), np.diff(offsets)), counts)
        repeated = np.repeat(actions, counts)
        within = np.arange(len(repeated)) - np.repeat(np.cumsum(counts) - counts, counts)
        outcomes = table.outcome_start[repeated] + within
        out = np.empty((len(outcomes), self.width), dtype=np.uint64)
        kernels.apply_general(
            rows,
            rows.view(np.float64),
            self.layout.words,
            parents,
            outcomes,
            out,
            out.view(np.float64),
            *(table.patch_start, table.patch_word, table.patch_clear, table.patch_set),
            *(table.when_start, table.when_program, table.when_fact, table.when_add),
            *(table.set_start, table.set_program, table.set_kind, table.set_target, table.set_amount),
            *table.programs,
        )
        starts = np.searchsorted(parents, np.arange(len(rows) + 1)).astype(np.int64)
        return starts, repeated, out, table.probability[outcomes]

    def _match(self, table: ActionTable, watch: tuple[Ints, Ints], rows: Words) -> tuple[Ints, Ints]:
        offsets, actions = kernels.match(
            rows, self.layout.words, *watch, table.test_start, table.test_word, table.test_mask, table.test_need
        )
        if table.has_conditions:
            floats, words = rows.view(np.float64), self.layout.words
            offsets, actions = kernels.keep_conditions(
                rows, floats, words, offsets, actions, table.condition, *table.programs
            )
        return offsets, actions


class Engine(BaseEngine):
    """All reachable actions are ground; each is watched by the one of its facts that is true least often."""

    def __init__(self, instance: Instance, schemas: tuple[Schema, ...], max_actions: int = MAX_ACTIONS) -> None:
        reached = reach(instance, schemas, max_actions)
        super().__init__(instance, schemas, Layout.build(instance, reached.codes))
        self.table = build_table(self.grounder, schemas, reached.bindings, self.programs)
        self._first = np.searchsorted(self.table.schema, np.arange(len(schemas) + 1))
        self._watch = self._watches(np.ones(self.layout.bits))
        self._watch = self._watches(self._frequencies())

    @cached_property
    def needed(self) -> tuple[Ints, Ints]:
        """(action, fact) pairs of the positive bit tests."""
        table = self.table
        owners = np.repeat(np.arange(table.actions), np.diff(table.test_start))
        bits = np.unpackbits(np.ascontiguousarray(table.test_need[:, None]).view(np.uint8), axis=1, bitorder="little")
        test, bit = np.nonzero(bits)
        return owners[test], table.test_word[test] * 64 + bit

    def _watches(self, frequency: Floats) -> tuple[Ints, Ints]:
        """For each fact the actions that watch it; the last bucket holds those without a positive precondition."""
        owners, facts = self.needed
        order = np.lexsort((facts, frequency[facts], owners))
        owners, facts = owners[order], facts[order]
        bits = self.layout.words * 64
        watched = np.full(self.table.actions, bits, dtype=np.int64)
        first = np.unique(owners, return_index=True)[1]
        watched[owners[first]] = facts[first]
        actions = np.argsort(watched, kind="stable").astype(np.int64)
        starts = np.searchsorted(watched[actions], np.arange(bits + 2)).astype(np.int64)
        return starts, actions

    def _frequencies(self, walks: int = 8, steps: int = 32) -> Floats:
        """How often each fact is true on short random walks (a fixed seed: the same engine every time)."""
        random = np.random.default_rng(0)
        rows = np.repeat(self.initial[None], walks if self.table.actions < WALK_ACTIONS else 1, axis=0)
        total = np.zeros(self.layout.bits)
        seen = 0
        for _ in range(steps):
            total += self.layout.unpack(rows).sum(axis=0)
            offsets, actions = self.applicable_batch(rows)
            counts = np.diff(offsets)
            alive = counts > 0
            seen += len(actions)
            if not alive.any() or seen > WALK_ACTIONS:  # long enough to tell rare facts from common ones
                break
            chosen = actions[offsets[:-1][alive] + (random.random(int(alive.sum())) * counts[alive]).astype(np.int64)]
            rows = rows[alive]
            picks = np.arange(len(rows) + 1)
            starts, _, states, _ = self._expand(self.table, rows, picks, chosen)
            rows = states[starts[:-1]]
        return total

    def _binding(self, action: int) -> tuple[int, Ints]:
        number = int(self.table.schema[action])
        return number, self.table.arguments[number][action - self._first[number]]

    @cached_property
    def _ids(self) -> list[dict[bytes, int]]:
        return [
            {row.tobytes(): i for i, row in enumerate(rows, start=int(first))}
            for first, rows in zip(self._first, self.table.arguments, strict=False)
        ]

    def action_id(self, step: Sequence[str]) -> int:
        number, row = self._row(step)
        return self._ids[number].get(row.tobytes(), -1)

    def cost(self, action: int) -> float:
        return float(self.table.cost[action])

    def applicable_batch(self, states: Words) -> tuple[Ints, Ints]:
        return self._match(self.table, self._watch, self.rows(states))

    def successors(self, states: Words) -> Successors:
        rows = self.rows(states)
        offsets, actions = self._match(self.table, self._watch, rows)
        return Successors(*self._expand(self.table, rows, offsets, actions))

    def results(self, state: Words, action: int) -> tuple[Floats, Words]:
        rows = self.rows(state)
        _, _, states, probabilities = self._expand(self.table, rows, np.array([0, 1]), np.array([action]))
        return probabilities, states


def compile_problem(file: DomainFile, problem: ProblemFile, max_actions: int = MAX_ACTIONS) -> BaseEngine:
    """The engine of a problem: grounded where that takes at most `max_actions` actions, else lifted."""
    instance = Instance.build(file, problem)
    schemas = tuple(normalise(a) for a in file.actions.values())
    try:
        return Engine(instance, schemas, max_actions)
    except BudgetError:
        from meip.worlds.pddl.lifted import LiftedEngine

        return LiftedEngine(instance, schemas)
