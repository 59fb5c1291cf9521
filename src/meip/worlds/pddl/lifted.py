"""Successors without grounding: applicable actions by joining preconditions with the facts of a state.

For problems with more ground actions than fit. The id of an action is computed from its arguments (mixed radix over
the objects that each parameter can be), in the order of schemas and arguments.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import prod

import numpy as np

from meip.base.arrays import Bools, Floats, Ints, Words
from meip.base.errors import BudgetError
from meip.worlds.pddl import kernels
from meip.worlds.pddl.datalog import Relation, join
from meip.worlds.pddl.engine import BaseEngine, Successors
from meip.worlds.pddl.objects import Instance, Layout
from meip.worlds.pddl.reachability import initial_relations, negative_mask, query
from meip.worlds.pddl.schemas import Schema
from meip.worlds.pddl.tables import ActionTable, build_table

__all__ = ["LiftedEngine"]

MAX_ROWS = 50_000_000
MAX_IDS = 2**62


class LiftedEngine(BaseEngine):
    """The interface of `engine.Engine`; nothing is ground before it applies."""

    def __init__(self, instance: Instance, schemas: tuple[Schema, ...]) -> None:
        super().__init__(instance, schemas, Layout.build(instance, None))
        self._relations = initial_relations(instance)
        self._queries = [query(instance, s.parameters, s.condition) for s in schemas]
        self._choices = [[instance.of_types(p.types) for p in s.parameters] for s in schemas]
        sizes = [prod(len(c) for c in choices) for choices in self._choices]
        if sum(sizes) > MAX_IDS:
            raise BudgetError(
                f"problem {instance.problem.name!r} could have {sum(sizes):,} actions, too many to number; "
                "use fewer objects, or actions with fewer or more narrowly typed parameters"
            )
        self._first: Ints = np.cumsum([0, *sizes]).astype(np.int64)

    def _binding(self, action: int) -> tuple[int, Ints]:
        schema = int(np.searchsorted(self._first, action, side="right")) - 1
        code = int(action - self._first[schema])
        row = []
        for choices in reversed(self._choices[schema]):
            code, rank = divmod(code, len(choices))
            row.append(choices[rank])
        return schema, np.array(row[::-1], dtype=np.int64)

    def _codes(self, schema: int, rows: Ints) -> Ints:
        """[n] the ids of bindings of a schema."""
        code = np.zeros(len(rows), dtype=np.int64)
        for column, choices in zip(rows.T, self._choices[schema], strict=True):
            code = code * len(choices) + np.searchsorted(choices, column)
        return np.asarray(code + self._first[schema])

    def action_id(self, step: Sequence[str]) -> int:
        number, row = self._row(step)
        fits = all(i in choices for i, choices in zip(row, self._choices[number], strict=True))
        return int(self._codes(number, row[None])[0]) if fits else -1

    def cost(self, action: int) -> float:
        return float(self._ground_one(action).cost[0])

    def _state_relations(self, row: Words) -> dict[str, Relation]:
        """The facts of one state as rows of object numbers."""
        layout, instance = self.layout, self.instance
        bits = layout.unpack(row[None])[0]
        found = dict(self._relations)
        for name in layout.names:
            shape = instance.shape(name)
            start = layout.starts[name]
            codes = np.flatnonzero(bits[start : start + len(layout.codes[name])])
            classes = instance.words.domain.fluent(name).classes
            axes = np.unravel_index(codes, shape) if shape else ()
            columns = [self._members[c][axis] for c, axis in zip(classes, axes, strict=True)]
            rows = np.stack(columns, axis=1) if columns else np.zeros((len(codes), 0), dtype=np.int64)
            found[name] = Relation(rows)
        return found

    @cached_property
    def _members(self) -> dict[str, Ints]:
        number = self.instance.number
        return {c: np.array([number[n] for n in names], dtype=np.int64) for c, names in self.instance.by_class.items()}

    def _matches(self, row: Words) -> list[Ints]:
        """For each schema the sorted bindings whose literals hold in one state."""
        relations = self._state_relations(row)
        bits = self.layout.unpack(row[None])[0]
        found = []
        for schema, wanted in zip(self.schemas, self._queries, strict=True):
            ranges = [(0, len(relations[p.name].rows)) for p in wanted.patterns]
            bound = join(wanted, relations, ranges, len(self.instance.names), MAX_ROWS)
            rows = np.zeros((0, len(schema.parameters)), dtype=np.int64)
            if bound is not None:
                columns = [bound[p.name] for p in schema.parameters]
                rows = np.stack(columns, axis=1) if columns else np.zeros((1, 0), dtype=np.int64)
                for atom in schema.condition.negative:
                    named = {p.name: rows[:, i] for i, p in enumerate(schema.parameters)}
                    rows = rows[negative_mask(self.instance, atom, named, self._holds(atom.name, bits))]
                rows = rows[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows[:1]
            found.append(rows)
        return found

    def _holds(self, name: str, bits: Bools) -> Bools:
        if name in self.grounder.static:
            return self.grounder.static[name]
        start = self.layout.starts[name]
        return bits[start : start + len(self.layout.codes[name])]

    def _ground(self, bindings: Sequence[Ints]) -> ActionTable:
        return build_table(self.grounder, self.schemas, tuple(bindings), self.programs)

    def _ground_one(self, action: int) -> ActionTable:
        schema, row = self._binding(action)
        none = [np.zeros((0, len(s.parameters)), dtype=np.int64) for s in self.schemas]
        return self._ground([*none[:schema], row[None], *none[schema + 1 :]])

    def _applicable(self, row: Words) -> tuple[ActionTable, Ints]:
        """The table of the actions whose literals hold, and which of them apply."""
        table = self._ground(self._matches(row))
        positions = np.arange(table.actions, dtype=np.int64)
        if table.has_conditions:
            rows = row[None]
            offsets = np.array([0, table.actions], dtype=np.int64)
            floats, words = rows.view(np.float64), self.layout.words
            _, positions = kernels.keep_conditions(
                rows, floats, words, offsets, positions, table.condition, *table.programs
            )
        return table, positions

    def _ids(self, table: ActionTable, positions: Ints) -> Ints:
        """The ids of actions of a table."""
        ids = [self._codes(i, rows) for i, rows in enumerate(table.arguments)]
        found: Ints = np.concatenate([*ids, np.zeros(0, dtype=np.int64)])[positions]
        return found

    def applicable_batch(self, states: Words) -> tuple[Ints, Ints]:
        parts = [self._ids(*self._applicable(row)) for row in self.rows(states)]
        offsets = np.cumsum([0, *(len(p) for p in parts)]).astype(np.int64)
        return offsets, np.concatenate([*parts, np.zeros(0, dtype=np.int64)])

    def successors(self, states: Words) -> Successors:
        offsets, actions, results, probabilities = [0], [], [], []
        for row in self.rows(states):
            table, positions = self._applicable(row)
            whole = np.array([0, len(positions)], dtype=np.int64)
            _, repeated, out, chances = self._expand(table, row[None], whole, positions)
            ids = self._ids(table, positions)
            actions.append(ids[np.searchsorted(positions, repeated)])
            results.append(out)
            probabilities.append(chances)
            offsets.append(offsets[-1] + len(out))
        return Successors(
            np.array(offsets, dtype=np.int64),
            np.concatenate([*actions, np.zeros(0, dtype=np.int64)]),
            np.concatenate([*results, np.zeros((0, self.width), dtype=np.uint64)]),
            np.concatenate([*probabilities, np.zeros(0)]),
        )

    def results(self, state: Words, action: int) -> tuple[Floats, Words]:
        table = self._ground_one(action)
        rows = self.rows(state)
        one = np.arange(min(1, table.actions), dtype=np.int64)
        _, _, states, probabilities = self._expand(table, rows, np.array([0, len(one)]), one)
        return probabilities, states
