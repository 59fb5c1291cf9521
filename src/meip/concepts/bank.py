"""The bank of concepts of a domain, enumerated lazily, level by level (a level is a complexity), whole levels only.

No two concepts of the bank are twins by their form: see `canonical` for terms; a negated value is left out where
another quantifier says the opposite (``all(not p)`` is ``not some(p)``), a scope where a conjunction says the same
(``count(p | q)`` is ``count(p and q)``), and of the ways to permute all arguments of a concept the first is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from meip.base.running import look
from meip.concepts.canonical import chain, conjuncts, negated, orders, permuted, rank
from meip.concepts.check import slot
from meip.concepts.grammar import Grammar
from meip.concepts.language import (
    Aggregated,
    Agreement,
    AtLeast,
    Closure,
    Composition,
    Concept,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Quantifier,
    Restriction,
    Term,
    walk,
)
from meip.model.domain import Domain, Fluent

__all__ = ["ConceptBank", "LevelInfo", "Prune"]

Classes = tuple[str, ...]
Prune = Callable[[int, tuple[Term, ...]], Sequence[Term]]
"""Given a level and its terms, those to keep and build on; e.g. one of each set of terms that are true of the same."""


@dataclass(frozen=True)
class LevelInfo:
    """What is worth knowing about a level; the last one may say why there are no more."""

    level: int
    terms: int = 0
    concepts: int = 0
    slots: int = 0
    total: int = 0
    """Concepts of this level and those before it."""
    stopped: str = ""
    """Why the enumeration stopped before this level; empty for a level that is complete."""


_REPEATING = (Composition, Closure)
"""Roles R for which ``some R.U`` is said more simply: ``some R*.U`` is ``some R.U``."""


class _TooMany(Exception):
    """More terms than a level may have."""


class ConceptBank:
    """The concepts of a domain by a grammar. Levels are made when they are asked for, and kept."""

    def __init__(self, domain: Domain, rules: Grammar | None = None, prune: Prune | None = None) -> None:
        self.domain = domain
        self.rules = rules or Grammar()
        self.prune = prune
        self._levels: list[dict[Classes, list[Term]]] = [{}]
        self._concepts: dict[int, tuple[Concept, ...]] = {}
        self._goal_facts: dict[Term, bool | None] = {}

    # --- levels ---

    def levels(self) -> Iterator[tuple[int, tuple[Concept, ...], LevelInfo]]:
        """Level, concepts, info, from level 1 on. A cap stops before a level: a last item without concepts says so."""
        rules, total, info = self.rules, 0, LevelInfo(0)
        beside = rules.company and rules.max_level == 3 and bool(self._changing_roles())
        for level in range(1, rules.max_level + 1 + beside):
            if rules.deeper_below is not None and level > 1 and info.slots >= rules.deeper_below:
                why = f"level {info.level} has {info.slots} slots, not fewer than {rules.deeper_below} (deeper_below)"
                yield level, (), LevelInfo(level, total=total, stopped=f"stopped before level {level}: {why}")
                return
            try:
                concepts = self.concepts(level)
            except _TooMany:
                why = f"it has more than {rules.max_terms} terms (max_terms)"
                yield level, (), LevelInfo(level, total=total, stopped=f"stopped before level {level}: {why}")
                return
            if rules.max_concepts is not None and total + len(concepts) > rules.max_concepts:
                why = f"with its {len(concepts)} concepts there would be more than {rules.max_concepts} (max_concepts)"
                yield level, (), LevelInfo(level, total=total, stopped=f"stopped before level {level}: {why}")
                return
            total += len(concepts)
            slots = len({slot(c) for c in concepts})
            info = LevelInfo(level, len(self.terms(level)), len(concepts), slots, total)
            yield level, concepts, info

    def terms(self, level: int) -> tuple[Term, ...]:
        """The predicates and roles of one level, negated ones included, in canonical order."""
        return tuple(sorted((t for group in self._grouped(level).values() for t in group), key=rank))

    def concepts(self, level: int) -> tuple[Concept, ...]:
        """The atomic concepts of one level, in canonical order of their values."""
        if level not in self._concepts:
            self._concepts[level] = (*self._quantified(level), *self._aggregated(level))
        return self._concepts[level]

    def _grouped(self, level: int) -> dict[Classes, list[Term]]:
        while len(self._levels) <= level:
            self._levels.append(self._make(len(self._levels)))
        return self._levels[level]

    def _make(self, level: int) -> dict[Classes, list[Term]]:
        """All terms of a level by signature. More arguments come first: ``some R.U`` is of the same level as R."""
        rules = self.rules
        bases: dict[Classes, dict[Term, None]] = {}
        for count, (classes, term) in enumerate(self._base(level)):
            look()
            if count >= rules.max_terms:
                raise _TooMany
            if level <= rules.role_level or len(classes) < 2:
                bases.setdefault(classes, {})[term] = None
        found: dict[Classes, dict[Term, None]] = {}
        for arity in range(max(map(len, bases), default=0), -1, -1):
            for classes in [c for c in bases if len(c) == arity]:
                forms = found[classes] = {form: None for term in bases[classes] for form in self._forms(classes, term)}
                if rules.restriction and arity >= 2:
                    lower = bases.setdefault(classes[:-1], {})
                    lower.update((Restriction("some", r, None), None) for r in forms if not isinstance(r, _REPEATING))
        if sum(map(len, found.values())) > rules.max_terms:
            raise _TooMany
        if self.prune is not None:
            every = tuple(sorted((t for group in found.values() for t in group), key=rank))
            kept = set(self.prune(level, every))
            found = {classes: {t: None for t in group if t in kept} for classes, group in found.items()}
        return {classes: sorted(group, key=rank) for classes, group in found.items()}

    def _forms(self, classes: Classes, term: Term) -> Iterator[Term]:
        """A term, its closure, and the negations of both."""
        forms = [term]
        if self.rules.closure and len(classes) == 2 and classes[0] == classes[1]:
            forms.append(Closure(term))
        yield from forms
        if self.rules.negation and self._boolean(classes):
            yield from (negated(form) for form in forms)

    def _boolean(self, classes: Classes) -> bool:
        return self.rules.boolean_arity is None or len(classes) <= self.rules.boolean_arity

    # --- the rules for terms ---

    def _base(self, level: int) -> Iterator[tuple[Classes, Term]]:
        rules = self.rules
        if level > rules.max_level:
            yield from self._side_by_side()
            return
        if level == 1:
            for fluent in self.domain.predicates:
                for term in self._permutations(fluent):
                    yield fluent.classes, term
        if level == 2:
            for name, least in rules.thresholds:
                yield self.domain.fluent(name).classes, AtLeast(Primitive(name), least)
        if rules.conjunction:
            yield from self._conjunctions(level)
        if rules.goal_agreement and level == 2:
            yield from self._agreements()
        if rules.restriction:
            yield from self._restrictions(level)
        if rules.composition:
            yield from self._compositions(level)
        if rules.company:
            yield from self._as_given(level)

    def _permutations(self, fluent: Fluent) -> list[Term]:
        term = Primitive(fluent.name)
        return [term, *(Permutation(term, o) for o in orders(fluent.classes))] if self.rules.permutation else [term]

    def _splits(self, level: int) -> Iterator[tuple[dict[Classes, list[Term]], dict[Classes, list[Term]]]]:
        for i in range(1, level):
            yield self._grouped(i), self._grouped(level - i)

    def _conjunctions(self, level: int) -> Iterator[tuple[Classes, Term]]:
        """Sorted chains: a chain is extended only by terms that come after its last one."""
        for lefts, rights in self._splits(level):
            for classes, group in lefts.items():
                if not self._boolean(classes):
                    continue
                singles = [(rank(r), r) for r in rights.get(classes, ()) if not isinstance(r, Conjunction)]
                for left in group:
                    parts = conjuncts(left)
                    last, known = rank(parts[-1]), {*parts, *map(negated, parts)}
                    for key, right in singles:
                        if key > last and not _repeats(right, known) and all(self._may_meet(p, right) for p in parts):
                            yield classes, Conjunction(left, right)

    def _agreements(self) -> Iterator[tuple[Classes, Term]]:
        for goal in self.domain.fluents:
            if goal.goal_of is None:
                continue
            pairs = zip(self._permutations(self.domain.fluent(goal.goal_of)), self._permutations(goal), strict=True)
            for now, then in pairs:
                yield goal.classes, chain((now, then))
                yield goal.classes, chain((then, Negation(now)))
                if goal.arity > 1:
                    yield goal.classes[:-1], Agreement("same", now, then)
                    yield goal.classes[:-1], Agreement("within", now, then)
                    yield goal.classes[:-1], Agreement("within", then, now)

    def _restrictions(self, level: int) -> Iterator[tuple[Classes, Term]]:
        """some R.P, all R.P; ``some (R . S).P`` is left to ``some R.(some S.P)``."""
        for roles, fillers in self._splits(level):
            for classes, group in roles.items():
                if len(classes) < 2:
                    continue
                for filler in fillers.get(classes[-1:], ()):
                    for role in group:
                        if not isinstance(role, Composition):
                            yield classes[:-1], Restriction("some", role, filler)
                            yield classes[:-1], Restriction("all", role, filler)

    def _compositions(self, level: int) -> Iterator[tuple[Classes, Term]]:
        """R . S of binary roles; ``R . (S . T)`` is left to ``(R . S) . T``."""
        for lefts, rights in self._splits(level):
            for classes, group in lefts.items():
                for others, following in rights.items():
                    if len(classes) == len(others) == 2 and classes[1] == others[0]:
                        for right in following:
                            if not isinstance(right, Composition):
                                for left in group:
                                    yield (classes[0], others[1]), Composition(left, right)

    def _as_given(self, level: int) -> Iterator[tuple[Classes, Term]]:
        """R and S, R and not S: R changes; S, of as many primitives, is given or leads along what is given."""
        for role in self._changing_roles():
            one, other = role.classes
            own = Primitive(role.name)
            paths: list[Term] = []
            if level == 2:
                paths = self._given(one, other)
            elif level == 3:
                middles = [c.name for c in self.domain.classes]
                paths = [Composition(s, t) for m in middles for s in self._given(one, m) for t in self._given(m, other)]
                paths += [Composition(way, own) for way in self._given(one, one)]
            for way in paths:
                yield role.classes, chain((own, way))
                yield role.classes, chain((own, Negation(way)))

    def _changing_roles(self) -> list[Fluent]:
        return [fluent for fluent in self.domain.predicates if fluent.arity == 2 and not fluent.static]

    def _given(self, one: str, other: str) -> list[Term]:
        """Relations from one class to another that never change, in either direction."""
        roles = [fluent for fluent in self.domain.predicates if fluent.arity == 2 and fluent.static]
        straight: list[Term] = [Primitive(fluent.name) for fluent in roles if fluent.classes == (one, other)]
        names = [fluent.name for fluent in roles if fluent.classes == (other, one)]
        return [*straight, *(Permutation(Primitive(name), (1, 0)) for name in names)]

    def _side_by_side(self) -> Iterator[tuple[Classes, Term]]:
        """some R.P and some R.Q, for a role R that changes, in either direction."""
        for role in self._changing_roles():
            own = Primitive(role.name)
            for way, (one, other) in ((own, role.classes), (Permutation(own, (1, 0)), role.classes[::-1])):
                kinds = [Primitive(f.name) for f in self.domain.predicates if f.classes == (other,)]
                within = [Restriction("some", way, kind) for kind in kinds]
                for k, first in enumerate(within):
                    yield from (((one,), chain((first, second))) for second in within[:k])

    # --- goals ---

    def _may_meet(self, one: Term, other: Term) -> bool:
        """May a conjunction join these? Without `mix_goals`, a plain predicate meets its own goal copy only."""
        if self.rules.mix_goals:
            return True
        first, second = self._about_goal(one), self._about_goal(other)
        if first is None or second is None or first == second:
            return True
        goal, now = (one, other) if first else (other, one)
        own = self._current(goal)
        return self.rules.goal_agreement and own is not None and now in (own, Negation(own))

    def _about_goal(self, term: Term) -> bool | None:
        """Is a plain term about the goal (True) or about now (False)? None if it is about both, or not plain."""
        if term not in self._goal_facts:
            nodes = list(walk(term))
            plain = not any(isinstance(n, Restriction | Composition | Agreement) for n in nodes)
            flags = {self.domain.fluent(n.name).goal_of is not None for n in nodes if isinstance(n, Primitive)}
            self._goal_facts[term] = flags.pop() if plain and len(flags) == 1 else None
        return self._goal_facts[term]

    def _current(self, goal: Term) -> Term | None:
        """The predicate of which this is the goal copy, its arguments permuted likewise."""
        if isinstance(goal, Permutation):
            inner = self._current(goal.term)
            return None if inner is None else Permutation(inner, goal.order)
        name = self.domain.fluent(goal.name).goal_of if isinstance(goal, Primitive) else None
        return None if name is None else Primitive(name)

    # --- the rules for concepts ---

    def _quantified(self, level: int) -> Iterator[Concept]:
        """Q V and the share of V, over U and over scopes."""
        rules = self.rules
        found: list[tuple[Term, Term | None, tuple[Quantifier, ...], bool]] = []
        for classes, group in self._grouped(level).items():
            for value in group:
                choices = self._choices(classes, value)
                if (choices or not self._is_negative(value)) and self._is_first(classes, value, None):
                    found.append((value, None, choices, bool(classes)))
        if rules.scopes and level <= rules.max_level:
            for values, scopes in self._splits(level):
                for classes, group in values.items():
                    some_too = not (rules.conjunction and self._boolean(classes))
                    choices = rules.quantifiers if some_too else tuple(q for q in rules.quantifiers if q == "all")
                    within = scopes.get(classes, ()) if classes else ()
                    found += [(v, s, choices, True) for v in group for s in within if self._is_useful(classes, v, s)]
        found.sort(key=lambda entry: (rank(entry[0]), rank(entry[1])))
        for value, scope, quantifiers, shared in found:
            yield from (Quantified(q, value, scope) for q in quantifiers)
            if rules.predicate_mean and shared and not self._is_negative(value):
                yield Aggregated("mean", value, scope)

    def _choices(self, classes: Classes, value: Term) -> tuple[Quantifier, ...]:
        """The quantifiers of a value over U: one will do without arguments; a negated value only without its dual."""
        quantifiers = self.rules.quantifiers
        if self._is_negative(value):
            dual = {"all": "some", "some": "all", "count": "count"}
            return tuple(q for q in quantifiers if dual[q] not in quantifiers) if classes else ()
        return quantifiers if classes else ("some",)

    def _is_negative(self, value: Term) -> bool:
        """Is this the opposite of another term of the bank, which is taken instead?"""
        dual = isinstance(value, Restriction) and value.quantifier == "all" and self.rules.negation
        return isinstance(value, Negation) or dual

    def _is_useful(self, classes: Classes, value: Term, scope: Term) -> bool:
        """Does all(p | q) say something new? Not if p and q share a part, in which case a shorter one says the same."""
        if self._is_negative(value):
            return False
        parts, given = conjuncts(value), set(conjuncts(scope))
        if any(p in given or negated(p) in given for p in parts):
            return False
        opposite = negated(value)
        if any(p in (value, opposite) for g in given for p in conjuncts(negated(g))):
            return False  # all(p | not (p and q)) is all(p)
        return self._is_first(classes, value, scope)

    def _is_first(self, classes: Classes, value: Term, scope: Term | None) -> bool:
        """Is this the first, in canonical order, of the concepts that differ in the order of all arguments only?

        Nor may it be the contraposition of another: all(p | not q) is all(q | not p).
        """
        own = (rank(value), rank(scope))
        variants: list[tuple[Term, Term | None]] = [(value, scope)]
        if scope is not None and self._is_negative(scope):
            variants.append((negated(scope), negated(value)))
            if (rank(variants[1][0]), rank(variants[1][1])) < own:
                return False
        for order in orders(classes) if self.rules.permutation else ():
            for one, other in variants:
                moved, along = permuted(one, order), permuted(other, order) if other is not None else None
                if moved is None or (other is not None and along is None):
                    continue
                if (rank(moved), rank(along)) < own:
                    return False
        return True

    def _aggregated(self, level: int) -> Iterator[Concept]:
        """A V for the functions of the domain, over U and over scopes."""
        for fluent in self.domain.functions if level <= self.rules.max_level else ():
            value = Primitive(fluent.name)
            if level == 1:
                yield from (Aggregated(a, value) for a in (self.rules.aggregators if fluent.classes else ("mean",)))
            elif self.rules.scopes and fluent.classes:
                for scope in self._grouped(level - 1).get(fluent.classes, ()):
                    yield from (Aggregated(a, value, scope) for a in self.rules.aggregators)


def _repeats(term: Term, known: set[Term]) -> bool:
    """Is a part of this term decided by the terms it would join? ``p and not (p and q)`` is ``p and not q``."""
    if isinstance(term, Negation) and isinstance(term.term, Conjunction):
        return not known.isdisjoint(conjuncts(term.term))
    return term in known
