"""Columns for about 1,000 concepts on 5,000 blocksworld-like states, encoding included, against DLPlan.

Both sides start from the same raw states (which block each block stands on), build their own representation of every
state, and evaluate the same features: count and emptiness of the same relations. The values are compared before timing.
Features are made before (DLPlan's elements, our program), states are encoded within.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip import Domain, EntityClass, FactBlock, predicate
from meip.bench._compare import compare
from meip.concepts.language import (
    Agreement,
    Closure,
    Composition,
    Concept,
    Conjunction,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
    Term,
)
from meip.concepts.values.denotation import Denotation
from meip.concepts.values.program import Program

__all__ = ["blocksworld_features", "encode", "facts", "random_towers", "run"]

Towers = NDArray[np.int64]
"""[S, n]: the block that each block stands on, -1 the table, -2 in the hand."""

TABLE, HAND = -1, -2
PEER, TARGET = "dlplan", 50.0
DYNAMIC = (("on", 2), ("ontable", 1), ("clear", 1), ("holding", 1))
DOMAIN = Domain(
    "blocksworld", (EntityClass("block"),), tuple(predicate(name, *["block"] * arity) for name, arity in DYNAMIC)
).with_goals(["on", "ontable", "clear"])


def random_towers(states: int, blocks: int, seed: int = 0) -> Towers:
    """Random towers: blocks in random order, each on the one before or, one time in four, on the table."""
    rng = np.random.default_rng(seed)
    order = rng.permuted(np.tile(np.arange(blocks), (states, 1)), axis=1)
    below = np.full((states, blocks), TABLE)
    starts = rng.random((states, blocks)) < 0.25
    previous = np.where(starts[:, 1:], TABLE, order[:, :-1])
    np.put_along_axis(below, order[:, 1:], previous, axis=1)
    held = rng.random(states) < 0.5  # the last block placed is on top of its tower
    below[held, order[held, -1]] = HAND
    return below


def encode(below: Towers) -> dict[str, NDArray[np.bool_]]:
    """The tables of all states, without a loop over states."""
    states, n = below.shape
    on = np.zeros((states, n, n), np.bool_)
    upper = np.nonzero(below >= 0)
    on[upper[0], upper[1], below[upper]] = True
    covered = np.zeros((states, n), np.bool_)
    covered[upper[0], below[upper]] = True
    holding = below == HAND
    return {"on": on, "ontable": below == TABLE, "clear": ~covered & ~holding, "holding": holding}


def facts(below: Towers, goal: Towers) -> FactBlock:
    """One block of facts for all states, the goal's stated once."""
    wanted = encode(goal[None])
    tables = encode(below) | {name + "_goal": wanted[name] for name in ("on", "ontable", "clear")}
    return FactBlock(np.arange(len(below)), {"block": below.shape[1]}, tables)


def blocksworld_features(number: int) -> list[Concept]:
    """The first `number` features: count and some of unary and binary terms, simple ones first."""
    features: list[Concept] = []
    for term in _terms():
        features += [Quantified("count", term), Quantified("some", term)]
        if len(features) >= number:
            break
    return features[:number]


def _terms() -> Iterator[Term]:
    """Terms without repetition: primitives, roles built from them, restrictions, agreements, conjunctions."""
    unary: list[Term] = [Primitive(n) for n in ("ontable", "clear", "holding", "ontable_goal", "clear_goal")]
    on, goal = Primitive("on"), Primitive("on_goal")
    roles: list[Term] = [on, goal, Conjunction(on, goal), Conjunction(on, Negation(goal))]
    roles += [Closure(r) for r in roles]
    roles += [Permutation(r, (1, 0)) for r in roles]
    roles += [Composition(a, b) for a in roles[:4] for b in roles[:4]]
    concepts = unary + [Negation(u) for u in unary]
    concepts += [Agreement("same", on, goal), Agreement("within", goal, on)]
    yield from concepts
    yield from roles
    restricted: list[Term] = []
    for role in roles[:16]:
        restricted += [Restriction("some", role, c) for c in concepts]
        restricted += [Restriction("all", role, c) for c in concepts]
    yield from restricted
    for i, a in enumerate(restricted):
        yield from (Conjunction(a, b) for b in concepts[: 1 + i % len(concepts)])


class _Peer:
    """The same features and states through DLPlan's Python interface, evaluated in its own batches."""

    def __init__(self, features: list[Concept], goal: Towers) -> None:
        from dlplan import core

        self.core = core
        self.n = len(goal)
        self.vocabulary = core.VocabularyInfo()
        for fluent in DOMAIN.fluents:
            self.vocabulary.add_predicate(fluent.name, fluent.arity, fluent.static)
        self.factory = core.SyntacticElementFactory(self.vocabulary)
        self.terms: dict[Term, Any] = {}
        self.features = [self._feature(f) for f in features]
        self.goal = goal

    def evaluate(self, below: Towers) -> list[list[int]]:
        """State construction (its encoding) and all features, sub-terms cached by DLPlan itself."""
        instance = self.core.InstanceInfo(0, self.vocabulary)
        objects = [instance.add_object(f"b{i}") for i in range(self.n)]
        for name, arguments in _atoms(self.goal.tolist()):
            if name != "holding":
                named = self.vocabulary.get_predicate(name + "_goal")
                instance.add_static_atom(named, [objects[i] for i in arguments])
        index: dict[tuple[str, tuple[int, ...]], int] = {}
        states = []
        for number, one in enumerate(below.tolist()):
            atoms = []
            for atom in _atoms(one):
                if atom not in index:
                    named = self.vocabulary.get_predicate(atom[0])
                    index[atom] = instance.add_atom(named, [objects[i] for i in atom[1]]).get_index()
                atoms.append(index[atom])
            states.append(self.core.State(number, instance, atoms))
        caches = self.core.DenotationsCaches()
        return [feature.evaluate(states, caches) for feature in self.features]

    def _feature(self, concept: Concept) -> Any:
        if not isinstance(concept, Quantified):
            raise TypeError(f"{concept} has no counterpart")
        term = self._term(concept.value)
        make = self.factory
        return make.make_count_numerical(term) if concept.quantifier == "count" else make.make_empty_boolean(term)

    def _term(self, term: Term) -> Any:
        if term not in self.terms:
            self.terms[term] = self._made(term)
        return self.terms[term]

    def _made(self, term: Term) -> Any:
        make = self.factory
        match term:
            case Primitive(name):
                named = self.vocabulary.get_predicate(name)
                binary = DOMAIN.fluent(name).arity == 2
                return make.make_primitive_role(named, 0, 1) if binary else make.make_primitive_concept(named, 0)
            case Negation(inner):
                made = self._term(inner)
                role = isinstance(made, self.core.Role)
                return make.make_not_role(made) if role else make.make_not_concept(made)
            case Conjunction(left, right):
                a, b = self._term(left), self._term(right)
                role = isinstance(a, self.core.Role)
                return make.make_and_role(a, b) if role else make.make_and_concept(a, b)
            case Permutation(inner, _):
                return make.make_inverse_role(self._term(inner))
            case Closure(inner):
                return make.make_transitive_closure(self._term(inner))
            case Composition(left, right):
                return make.make_compose_role(self._term(left), self._term(right))
            case Agreement(relation, left, right):
                agree = make.make_equal_concept if relation == "same" else make.make_subset_concept
                return agree(self._term(left), self._term(right))
            case Restriction(quantifier, role, filler) if filler is not None:
                restrict = make.make_some_concept if quantifier == "some" else make.make_all_concept
                return restrict(self._term(role), self._term(filler))
        raise TypeError(f"{term} has no counterpart")


def _atoms(below: list[int]) -> Iterator[tuple[str, tuple[int, ...]]]:
    """The true atoms of one state."""
    covered = set(below)
    for block, under in enumerate(below):
        if under == HAND:
            yield "holding", (block,)
            continue
        yield ("ontable", (block,)) if under == TABLE else ("on", (block, under))
        if block not in covered:
            yield "clear", (block,)


def run(
    peers: bool = False, *, features: int = 1000, states: int = 5000, blocks: int = 20, repeats: int = 7
) -> list[dict[str, Any]]:
    """Tidy rows: seconds of both, their ratio, and features * states per second."""
    concepts = blocksworld_features(features)
    below, goal = random_towers(states, blocks, seed=1), random_towers(1, blocks, seed=2)[0]

    program = Program(DOMAIN, concepts)

    def ours() -> NDArray[np.float64]:
        return Denotation(DOMAIN, [facts(below, goal)]).matrix(program)[0]

    other = _peer(concepts, goal) if peers else None
    if other is not None:
        _compare(concepts, ours(), other.evaluate(below[:100]))
    work = f"columns of {len(concepts)} concepts on {states} states of {blocks} blocks"
    theirs = None if other is None else lambda: other.evaluate(below)
    found = compare(work, PEER, ours, theirs, repeats=repeats, target=TARGET).rows()
    amount = len(concepts) * states
    rates = [
        {**row, "metric": "features*states/s", "value": amount / row["value"]}
        for row in found
        if row["metric"] in ("ours", "theirs")
    ]
    return found + rates


def _peer(concepts: list[Concept], goal: Towers) -> _Peer | None:
    try:
        return _Peer(concepts, goal)
    except ImportError:
        print("DLPlan is not installed (pip install 'meip[bench]'): ours alone", file=sys.stderr)
        return None


def _compare(concepts: list[Concept], ours: NDArray[np.float64], theirs: list[list[int]]) -> None:
    """Both sides must give the same values, or their times mean nothing."""
    for concept, column, other in zip(concepts, ours.T, theirs, strict=True):
        found = np.array(other, np.float64)
        expected = 1 - found if isinstance(concept, Quantified) and concept.quantifier == "some" else found
        if not np.array_equal(column[: len(found)], expected):
            raise ArithmeticError(f"{concept}: our values differ from DLPlan's")
