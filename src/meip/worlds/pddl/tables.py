"""Ground actions as arrays: what to test, what to change, with which probability. One struct of arrays."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.worlds.pddl.programs import Fact, Ground, Grounder, Joined, Programs, join
from meip.worlds.pddl.schemas import Change, Schema
from meip.worlds.pddl.syntax import Atom, Literal
from meip.worlds.pddl.vocabulary import COST

__all__ = ["ActionTable", "build_table", "split_bits"]

ASSIGNMENTS = ("assign", "increase", "decrease", "scale-up", "scale-down")


@dataclass(frozen=True)
class ActionTable:
    """A ground actions with O outcomes in all. Bits are tested and changed by whole words."""

    schema: Ints  # [A]
    arguments: tuple[Ints, ...]  # each schema's rows of object numbers, in the order of the actions
    cost: Floats  # [A]
    test_start: Ints  # [A + 1]
    test_word: Ints  # (state[word] & mask) == need
    test_mask: Words
    test_need: Words
    condition: Ints  # [A] program that must also be true, or -1
    outcome_start: Ints  # [A + 1]
    probability: Floats  # [O]
    patch_start: Ints  # [O + 1]
    patch_word: Ints  # state[word] = state[word] & ~clear | set
    patch_clear: Words
    patch_set: Words
    when_start: Ints  # [O + 1] conditional changes of single bits
    when_program: Ints
    when_fact: Ints
    when_add: Ints  # 1: becomes true, 0: becomes false
    set_start: Ints  # [O + 1] changes of numbers
    set_program: Ints  # condition, or -1
    set_kind: Ints  # index into ASSIGNMENTS
    set_target: Ints
    set_amount: Ints  # program
    programs: tuple[Ints, Ints, Ints, Floats] = field(repr=False)

    @property
    def actions(self) -> int:
        return len(self.schema)

    @cached_property
    def is_plain(self) -> bool:
        """One outcome each, which only sets and clears bits."""
        return len(self.probability) == self.actions and not len(self.when_fact) and not len(self.set_kind)

    @cached_property
    def has_conditions(self) -> bool:
        return bool((self.condition >= 0).any())


def split_bits(owners: Ints, facts: Ints, flags: Bools, count: int, words: int) -> tuple[Ints, Ints, Words, Words]:
    """Group (owner, fact, flag) by owner and word: starts, words, mask of all facts, mask of the flagged ones."""
    key = owners * words + facts // 64
    order = np.argsort(key, kind="stable")
    key, facts, flags = key[order], facts[order], flags[order]
    bit = np.uint64(1) << (facts % 64).astype(np.uint64)
    first = np.flatnonzero(np.diff(key, prepend=-1))
    unique = key[first]
    if len(unique):
        mask = np.bitwise_or.reduceat(bit, first)
        need = np.bitwise_or.reduceat(np.where(flags, bit, np.uint64(0)), first)
    else:
        mask = need = np.zeros(0, dtype=np.uint64)
    starts = np.searchsorted(unique // words, np.arange(count + 1)).astype(np.int64)
    return starts, (unique % words).astype(np.int64), mask, need


@dataclass
class _Flat:
    """Columns that grow: arrays, or single rows."""

    width: int
    blocks: list[Ints] = field(default_factory=list)
    rows: list[tuple[int, ...]] = field(default_factory=list)

    def array(self) -> Ints:
        last = np.array(self.rows, dtype=np.int64).reshape(len(self.rows), self.width)
        return np.concatenate([*self.blocks, last])

    def sorted(self) -> Ints:
        found = self.array()
        return found[np.argsort(found[:, 0], kind="stable")]


class _Builder:
    def __init__(self, grounder: Grounder, schemas: tuple[Schema, ...], programs: Programs) -> None:
        self.grounder, self.schemas, self.programs = grounder, schemas, programs
        self.tests = _Flat(3)  # action, fact, positive
        self.patches = _Flat(3)  # outcome, fact, add
        self.whens = _Flat(4)  # outcome, program, fact, add
        self.sets = _Flat(5)  # outcome, program, kind, target, amount
        self.actions = self.outcomes = 0
        self.conditions: list[Ints] = []
        self.costs: list[Floats] = []
        self.probabilities: list[Floats] = []
        self.counts: list[Ints] = []  # outcomes of each action

    def facts(self, atom: Atom, rows: Ints, schema: Schema) -> Ints:
        """[n] the bit of an atom under each binding."""
        instance = self.grounder.instance
        position = {p.name: i for i, p in enumerate(schema.parameters)}
        columns = [
            rows[:, position[t]] if t.startswith("?") else np.full(len(rows), instance.number[t]) for t in atom.args
        ]
        full = np.stack(columns, axis=1) if columns else np.zeros((len(rows), 0), dtype=np.int64)
        return self.grounder.layout.facts(atom.name, instance.codes(atom.name, full))

    def add_schema(self, schema: Schema, rows: Ints) -> Ints:
        """Ground one schema for these bindings; returns those that can ever apply."""
        changing = self.grounder.instance.words.changing
        tests = [
            (self.facts(a, rows, schema), positive)
            for atoms, positive in ((schema.condition.positive, True), (schema.condition.negative, False))
            for a in atoms
            if a.name in changing
        ]
        keep = np.ones(len(rows), dtype=bool)
        for one, wanted in tests:
            keep &= (one >= 0) | (not wanted)
            for other, unwanted in tests:
                if wanted and not unwanted:
                    keep &= one != other
        extra = self._residuals(schema, rows, keep)
        rows = rows[keep]
        numbers = np.arange(self.actions, self.actions + len(rows))
        for facts, positive in tests:
            kept = facts[keep]
            known = kept >= 0
            self.tests.blocks.append(_columns(numbers[known], kept[known], positive))
        self._conditions(extra, len(rows))
        self._effects(schema, rows)
        self.actions += len(rows)
        return rows

    def _residuals(self, schema: Schema, rows: Ints, keep: Bools) -> list[Ground]:
        """The rest of the precondition under each binding that is kept; false ones are dropped from `keep`."""
        if not schema.condition.rest:
            return []
        found: list[Ground] = []
        for i in np.flatnonzero(keep):
            binding = self.binding(schema, rows[i])
            ground = join(True, [self.grounder.condition(part, binding) for part in schema.condition.rest])
            if ground is False:
                keep[i] = False
            else:
                found.append(ground)
        return found

    def binding(self, schema: Schema, row: Ints) -> dict[str, str]:
        names = self.grounder.instance.names
        return {p.name: names[i] for p, i in zip(schema.parameters, row, strict=True)}

    def _conditions(self, extra: list[Ground], count: int) -> None:
        programs = np.full(count, -1, dtype=np.int64)
        for i, ground in enumerate(extra):
            left = []
            for part in ground.parts if isinstance(ground, Joined) and ground.all else (ground,):
                if isinstance(part, Fact):
                    self.tests.rows.append((self.actions + i, part.bit, int(part.positive)))
                elif part is not True:
                    left.append(part)
            if left:
                programs[i] = self.programs.condition(join(True, left))
        self.conditions.append(programs)

    def _effects(self, schema: Schema, rows: Ints) -> None:
        count, each = len(rows), len(schema.outcomes)
        cost = np.zeros(count)
        for j, (_, changes) in enumerate(schema.outcomes):
            numbers = self.outcomes + np.arange(count) * each + j
            for change in changes:
                if change.is_simple:
                    for literal in change.literals:
                        self._patch(numbers, self.facts(literal.atom, rows, schema), literal.positive)
                else:
                    for i in range(count):
                        binding = self.binding(schema, rows[i])
                        for inner in self.grounder.objects(change.variables, binding):
                            cost[i] += self._change(int(numbers[i]), change, inner)
        self.costs.append(cost if self.grounder.instance.words.has_cost else np.ones(count))
        self.probabilities.append(np.tile([p for p, _ in schema.outcomes], count))
        self.counts.append(np.full(count, each))
        self.outcomes += count * each

    def _patch(self, outcomes: Ints, facts: Ints, add: bool) -> None:
        known = facts >= 0
        self.patches.blocks.append(_columns(outcomes[known], facts[known], add))

    def _change(self, outcome: int, change: Change, binding: dict[str, str]) -> float:
        """One conditional, universal or numeric change; returns what it adds to the action's cost."""
        ground = self.grounder.ground(change.condition, binding)
        if ground is False:
            return 0.0
        program = -1 if ground is True else self.programs.condition(ground)
        for literal in change.literals:
            self._literal(outcome, program, literal, binding)
        cost = 0.0
        for assign in change.assignments:
            amount = self.grounder.number(assign.amount, binding)
            if assign.target.name == COST and self.grounder.instance.words.has_cost:
                cost += amount[0][2]
                continue
            target = self.grounder.target(assign.target, binding)
            kind = ASSIGNMENTS.index(assign.operator)
            self.sets.rows.append((outcome, program, kind, target, self.programs.add(amount)))
        return cost

    def _literal(self, outcome: int, program: int, literal: Literal, binding: dict[str, str]) -> None:
        bit = self.grounder.bit(literal.atom, binding)
        if bit < 0:
            return
        if program < 0:
            self.patches.rows.append((outcome, bit, int(literal.positive)))
        else:
            self.whens.rows.append((outcome, program, bit, int(literal.positive)))


def _columns(owners: Ints, facts: Ints, flag: bool) -> Ints:
    return np.stack([owners, facts, np.full(len(owners), int(flag))], axis=1)


def build_table(
    grounder: Grounder, schemas: tuple[Schema, ...], bindings: tuple[Ints, ...], programs: Programs
) -> ActionTable:
    """The table of these ground actions, in the order of schemas and bindings."""
    builder = _Builder(grounder, schemas, programs)
    rows = tuple(builder.add_schema(s, b) for s, b in zip(schemas, bindings, strict=True))
    words, actions, outcomes = grounder.layout.words, builder.actions, builder.outcomes
    tests, patches = builder.tests.array(), builder.patches.array()
    # facts both deleted and added are added: the flag of an addition wins within a word mask
    test_start, test_word, test_mask, test_need = split_bits(tests[:, 0], tests[:, 1], tests[:, 2] == 1, actions, words)
    patch_start, patch_word, touched, added = split_bits(
        patches[:, 0], patches[:, 1], patches[:, 2] == 1, outcomes, words
    )
    whens, sets = builder.whens.sorted(), builder.sets.sorted()
    counts = np.concatenate([*builder.counts, np.zeros(0, dtype=np.int64)])
    return ActionTable(
        schema=np.repeat(np.arange(len(schemas)), [len(r) for r in rows]).astype(np.int64),
        arguments=rows,
        cost=np.concatenate([*builder.costs, np.zeros(0)]),
        test_start=test_start,
        test_word=test_word,
        test_mask=test_mask,
        test_need=test_need,
        condition=np.concatenate([*builder.conditions, np.zeros(0, dtype=np.int64)]),
        outcome_start=np.concatenate([[0], np.cumsum(counts)]).astype(np.int64),
        probability=np.concatenate([*builder.probabilities, np.zeros(0)]),
        patch_start=patch_start,
        patch_word=patch_word,
        patch_clear=touched & ~added,
        patch_set=added,
        when_start=np.searchsorted(whens[:, 0], np.arange(outcomes + 1)).astype(np.int64),
        when_program=np.ascontiguousarray(whens[:, 1]),
        when_fact=np.ascontiguousarray(whens[:, 2]),
        when_add=np.ascontiguousarray(whens[:, 3]),
        set_start=np.searchsorted(sets[:, 0], np.arange(outcomes + 1)).astype(np.int64),
        set_program=np.ascontiguousarray(sets[:, 1]),
        set_kind=np.ascontiguousarray(sets[:, 2]),
        set_target=np.ascontiguousarray(sets[:, 3]),
        set_amount=np.ascontiguousarray(sets[:, 4]),
        programs=programs.arrays(),
    )
