"""Which facts can ever become true, and which actions ever apply, if nothing were deleted (semi-naive grounding)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from meip.base.arrays import Bools, Ints
from meip.base.errors import BudgetError
from meip.worlds.pddl.datalog import Pattern, Query, Relation, join
from meip.worlds.pddl.objects import Instance
from meip.worlds.pddl.schemas import Conjunct, Schema, conjunction
from meip.worlds.pddl.syntax import TRUE, Atom, Variable

__all__ = ["Reached", "initial_relations", "negative_mask", "pattern", "query", "reach"]


@dataclass(frozen=True)
class Reached:
    """The result: for each schema the bindings of its parameters, for each changing predicate its facts."""

    bindings: tuple[Ints, ...]  # one [n, parameters] for each schema, sorted
    codes: Mapping[str, Ints]


@dataclass(frozen=True)
class _Rule:
    schema: int | None  # the schema whose bindings these are; None: only the heads count
    parameters: tuple[str, ...]
    query: Query
    negative: tuple[Atom, ...]  # static predicates only: what can change may become false
    heads: tuple[Pattern, ...]


def pattern(instance: Instance, atom: Atom) -> Pattern:
    """An atom with its objects as numbers."""
    return Pattern(atom.name, tuple(t if t.startswith("?") else instance.number[t] for t in atom.args))


def query(instance: Instance, variables: tuple[Variable, ...], condition: Conjunct) -> Query:
    """A conjunction as a query over objects."""
    masks = {v.name: instance.type_mask(v.types) for v in variables}
    ends = [(_term(instance, a), _term(instance, b), equal) for a, b, equal in condition.equalities]
    return Query(masks, tuple(pattern(instance, a) for a in condition.positive), tuple(ends))


def _term(instance: Instance, term: str) -> str | int:
    return term if term.startswith("?") else instance.number[term]


def initial_relations(instance: Instance) -> dict[str, Relation]:
    """The initial facts as relations."""
    rows: dict[str, list[tuple[int, ...]]] = {name: [] for name in instance.file.predicates}
    for atom in instance.problem.atoms:
        rows[atom.name].append(tuple(instance.number[a] for a in atom.args))
    return {
        name: Relation(np.array(found, dtype=np.int64).reshape(len(found), instance.file.predicates[name].arity))
        for name, found in rows.items()
    }


def _rules(instance: Instance, schemas: tuple[Schema, ...]) -> list[_Rule]:
    rules = []
    static = instance.file.predicates.keys() - instance.words.changing
    for number, schema in enumerate(schemas):
        names = tuple(p.name for p in schema.parameters)
        core = query(instance, schema.parameters, schema.condition)
        negative = tuple(a for a in schema.condition.negative if a.name in static)
        changes = [c for _, found in schema.outcomes for c in found]
        always = [c for c in changes if not c.variables and c.condition == TRUE]
        simple = [x.atom for c in always for x in c.literals if x.positive]
        heads = tuple(dict.fromkeys(pattern(instance, a) for a in simple))
        rules.append(_Rule(number, names, core, negative, heads))
        for change in changes:
            added = tuple(pattern(instance, x.atom) for x in change.literals if x.positive)
            if added and not set(added) <= set(heads):
                more = conjunction(change.condition)
                inner = query(instance, change.variables, more)
                masks = {**core.variables, **inner.variables}
                both = Query(masks, core.patterns + inner.patterns, core.equalities + inner.equalities)
                rules.append(_Rule(None, tuple(masks), both, negative, added))
    return rules


def negative_mask(instance: Instance, atom: Atom, bound: Mapping[str, Ints], holds: Bools) -> Bools:
    """[n] is this atom false under each binding? `holds` is the flat table of its predicate."""
    length = len(next(iter(bound.values()))) if bound else 1
    columns = [bound[t] if t.startswith("?") else np.full(length, instance.number[t]) for t in atom.args]
    rows = np.stack(columns, axis=1) if columns else np.zeros((length, 0), dtype=np.int64)
    return ~holds[instance.codes(atom.name, rows)]


class _Fixpoint:
    """Relations that grow until no rule finds anything new."""

    def __init__(self, instance: Instance, schemas: tuple[Schema, ...], limit: int) -> None:
        self.instance, self.limit = instance, limit
        self.rules = _rules(instance, schemas)
        self.relations = initial_relations(instance)
        self.seen = {n: np.zeros(instance.size(n), dtype=bool) for n in self.relations}
        for name, relation in self.relations.items():
            self.seen[name][instance.codes(name, relation.rows)] = True
        self.found: list[list[Ints]] = [[] for _ in schemas]
        self.total = 0

    def run(self) -> None:
        old = dict.fromkeys(self.relations, 0)
        first = True
        while True:
            new = {n: len(r.rows) for n, r in self.relations.items()}
            fresh: list[tuple[str, Ints]] = []
            for rule in self.rules:
                fresh += self._fire(rule, old, new, first)
            for name, rows in fresh:
                self._add(name, rows)
            if all(len(r.rows) == new[n] for n, r in self.relations.items()):
                return
            old, first = new, False

    def _fire(self, rule: _Rule, old: dict[str, int], new: dict[str, int], first: bool) -> list[tuple[str, Ints]]:
        """Every binding that uses at least one fact of the last round, each exactly once."""
        patterns = rule.query.patterns
        full = [(0, new[p.name]) for p in patterns]
        if first:
            return self._collect(rule, full, None)
        fresh: list[tuple[str, Ints]] = []
        for i, p in enumerate(patterns):
            if old[p.name] < new[p.name]:
                later = [(0, old[q.name]) for q in patterns[i + 1 :]]
                fresh += self._collect(rule, [*full[:i], (old[p.name], new[p.name]), *later], i)
        return fresh

    def _collect(self, rule: _Rule, ranges: list[tuple[int, int]], start: int | None) -> list[tuple[str, Ints]]:
        instance = self.instance
        bound = join(rule.query, self.relations, ranges, len(instance.names), self.limit, start)
        if bound is None:
            return []
        for atom in rule.negative:
            keep = negative_mask(instance, atom, bound, self.seen[atom.name])
            bound = {n: c[keep] for n, c in bound.items()} if bound else bound
            if not keep.any():
                return []
        length = len(next(iter(bound.values()))) if bound else 1
        if rule.schema is not None:
            columns = [bound[n] for n in rule.parameters]
            self.found[rule.schema].append(
                np.stack(columns, axis=1) if columns else np.zeros((length, 0), dtype=np.int64)
            )
            self.total += length
            if self.total > self.limit:
                raise BudgetError(f"more than {self.limit:,} ground actions")
        return [(head.name, _rows(head, bound, length)) for head in rule.heads]

    def _add(self, name: str, rows: Ints) -> None:
        codes = self.instance.codes(name, rows)
        codes, where = np.unique(codes, return_index=True)
        fresh = ~self.seen[name][codes]
        if fresh.any():
            self.seen[name][codes[fresh]] = True
            self.relations[name].append(rows[where[fresh]])


def _rows(head: Pattern, bound: Mapping[str, Ints], length: int) -> Ints:
    columns = [bound[t] if isinstance(t, str) else np.full(length, t) for t in head.terms]
    return np.stack(columns, axis=1) if columns else np.zeros((length, 0), dtype=np.int64)


def reach(instance: Instance, schemas: tuple[Schema, ...], limit: int) -> Reached:
    """Relaxed reachability from the initial state; `BudgetError` beyond `limit` ground actions."""
    fixpoint = _Fixpoint(instance, schemas, limit)
    fixpoint.run()
    bindings = []
    for schema, found in zip(schemas, fixpoint.found, strict=True):
        rows = np.concatenate(found) if found else np.zeros((0, len(schema.parameters)), dtype=np.int64)
        bindings.append(rows[np.lexsort(rows.T[::-1])] if rows.shape[1] else rows[:1])
    codes = {n: np.flatnonzero(fixpoint.seen[n]).astype(np.int64) for n in instance.words.changing}
    return Reached(tuple(bindings), codes)
