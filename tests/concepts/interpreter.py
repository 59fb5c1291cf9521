"""The slow, obvious meaning of concepts, one state and one tuple at a time: the oracle for the fast one."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import permutations, product
from typing import Any, TypeVar

from meip.concepts.language import (
    Aggregated,
    Agreement,
    Closure,
    Composite,
    Composition,
    Concept,
    Conjunction,
    Constant,
    Negation,
    Permutation,
    Primitive,
    Quantified,
    Restriction,
    Term,
)
from meip.model.domain import Domain, Facts, function, predicate

DOMAIN = Domain(
    "oracle",
    ("a", "b"),
    (
        predicate("z"),
        predicate("p", "a"),
        predicate("q", "a", static=True),
        predicate("t", "b"),
        predicate("r", "a", "a"),
        predicate("k", "a", "a", static=True),
        predicate("s", "a", "b"),
        predicate("u", "b", "a"),
        predicate("m", "a", "b", "a"),
        function("f", "a"),
        function("w", "a", static=True),
        function("g", "a", "a"),
        function("h"),
    ),
)
T = TypeVar("T")
STATIC = tuple(f.name for f in DOMAIN.fluents if f.static)


class Naive:
    """One state: terms are sets of tuples (functions: mappings), concepts are numbers, None where missing."""

    def __init__(self, facts: Facts, initial: Naive | None = None) -> None:
        self.facts = facts
        self.initial = initial
        self.known: dict[tuple[Term, tuple[int, ...]], bool] = {}

    def tuples(self, classes: tuple[str, ...]) -> list[tuple[int, ...]]:
        return list(product(*(range(self.facts.counts[c]) for c in classes)))

    def classes(self, term: Term) -> tuple[str, ...]:
        match term:
            case Primitive(name):
                return DOMAIN.fluent(name).classes
            case Negation(inner) | Closure(inner) | Conjunction(inner, _):
                return self.classes(inner)
            case Permutation(inner, order):
                classes = self.classes(inner)
                return tuple(classes[i] for i in order)
            case Restriction(_, role, _) | Agreement(_, role, _):
                return self.classes(role)[:-1]
            case Composition(left, right):
                return self.classes(left)[:-1] + self.classes(right)[1:]
        raise AssertionError(term)

    def holds(self, term: Term, x: tuple[int, ...]) -> bool:
        if (term, x) not in self.known:
            self.known[term, x] = self.decide(term, x)
        return self.known[term, x]

    def decide(self, term: Term, x: tuple[int, ...]) -> bool:
        match term:
            case Primitive(name):
                return bool(self.facts.tables[name][x])
            case Negation(inner):
                return not self.holds(inner, x)
            case Conjunction(left, right):
                return self.holds(left, x) and self.holds(right, x)
            case Permutation(inner, order):
                return self.holds(inner, unpermuted(x, order))
            case Closure(inner):
                return x[1] in self.reachable(inner, x[0])
            case Restriction(quantifier, role, filler):
                found = [filler is None or self.holds(filler, (y,)) for y in self.fillers(role, x)]
                return any(found) if quantifier == "some" else all(found)
            case Composition(left, right):
                split = len(self.classes(left)) - 1
                return any(self.holds(right, (y, *x[split:])) for y in self.fillers(left, x[:split]))
            case Agreement(relation, left, right):
                ours, theirs = set(self.fillers(left, x)), set(self.fillers(right, x))
                return ours == theirs if relation == "same" else ours <= theirs
        raise AssertionError(term)

    def fillers(self, role: Term, x: tuple[int, ...]) -> Iterator[int]:
        last = self.classes(role)[-1]
        return (y for y in range(self.facts.counts[last]) if self.holds(role, (*x, y)))

    def reachable(self, term: Term, start: int) -> set[int]:
        seen: set[int] = set()
        stack = list(self.fillers(term, (start,)))
        while stack:
            node = stack.pop()
            if node not in seen:
                seen.add(node)
                stack += self.fillers(term, (node,))
        return seen

    def number(self, term: Term, x: tuple[int, ...]) -> float:
        match term:
            case Primitive(name) if DOMAIN.fluent(name).real:
                return float(self.facts.tables[name][x])
            case Permutation(inner, order):
                return self.number(inner, unpermuted(x, order))
        return float(self.holds(term, x))

    def value(self, concept: Concept) -> float | None:
        match concept:
            case Constant(number):
                return number
            case Quantified(quantifier, value, scope):
                found = [self.holds(value, x) for x in self.scope(value, scope)]
                return float({"all": all, "some": any, "count": sum}[quantifier](found))
            case Aggregated(aggregator, value, scope):
                numbers = [self.number(value, x) for x in self.scope(value, scope)]
                numbers = [v for v in numbers if v == v]
                if not numbers:
                    return None
                return {"max": max, "min": min, "mean": lambda v: sum(v) / len(v)}[aggregator](numbers)
            case Composite("initial", (inner,)):
                assert self.initial is not None
                return self.initial.value(inner)
            case Composite(name, arguments):
                values = [self.value(a) for a in arguments]
                return None if any(v is None for v in values) else float(MEANING[name](*values))
        raise AssertionError(concept)

    def scope(self, value: Term, scope: Term | None) -> list[tuple[int, ...]]:
        return [x for x in self.tuples(self.classes(value)) if scope is None or self.holds(scope, x)]


MEANING: dict[str, Any] = {
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
    "implies": lambda a, b: b or not a,
    "=": lambda a, b: a == b,
    "<=": lambda a, b: a <= b,
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "min": min,
    "max": max,
}


def unpermuted(x: tuple[T, ...], order: tuple[int, ...]) -> tuple[T, ...]:
    """The arguments of the inner term, or their classes: its argument order[i] is argument i of the permuted one."""
    return tuple(x[order.index(i)] for i in range(len(order)))


def random_term(rng: random.Random, classes: tuple[str, ...], depth: int) -> Term:
    """A well-typed predicate term over these classes."""
    primitives = [Primitive(f.name) for f in DOMAIN.predicates if f.classes == classes]
    if depth <= 0 and primitives:
        return rng.choice(primitives)
    if not primitives:  # ("b", "b")
        return Composition(Primitive("u"), Primitive("s"))

    def inner(wanted: tuple[str, ...]) -> Term:
        return random_term(rng, wanted, depth - 1)

    longer = (*classes, rng.choice("ab"))
    rules = ["not", "and", "permute"]
    rules += ["restrict", "agree"] if len(longer) <= 2 or longer == ("a", "b", "a") else []
    rules += ["close"] * (len(classes) == 2 and classes[0] == classes[1])
    rules += ["compose"] * (len(classes) <= 2)
    match rng.choice(rules):
        case "not":
            return Negation(inner(classes))
        case "and":
            return Conjunction(inner(classes), inner(classes))
        case "permute":
            known = {f.classes for f in DOMAIN.predicates} | {classes}
            order = rng.choice([o for o in permutations(range(len(classes))) if unpermuted(classes, o) in known])
            return Permutation(inner(unpermuted(classes, order)), order)
        case "restrict":
            filler = inner(longer[-1:]) if rng.random() < 0.7 else None
            return Restriction(rng.choice(("some", "all")), inner(longer), filler)
        case "agree":
            return Agreement(rng.choice(("same", "within")), inner(longer), inner(longer))
        case "close":
            return Closure(inner(classes))
        case _:
            middle, split = rng.choice("ab"), rng.randint(0, len(classes))
            if len(classes) == 2:
                split = 1  # other splits need relations of three arguments that the domain has not
            return Composition(inner((*classes[:split], middle)), inner((middle, *classes[split:])))


def random_concept(rng: random.Random, depth: int, initial: bool = True) -> Concept:
    """A well-typed concept; its terms are `depth` deep at most."""
    choice = rng.random()
    if choice < 0.3:
        names = {"boolean": ("and", "or", "not", "implies"), "number": ("=", "<=", "+", "-", "min", "max")}
        if initial and choice < 0.08:
            return Composite("initial", (random_concept(rng, depth, initial),))
        if choice < 0.18:
            name = rng.choice(names["boolean"])
            arguments = tuple(
                Quantified(rng.choice(("all", "some")), random_term(rng, ("a",), depth))
                for _ in range(1 if name == "not" else 2)
            )
            return Composite(name, arguments)
        return Composite(rng.choice(names["number"]), tuple(random_concept(rng, depth, initial) for _ in "12"))
    if choice < 0.5:
        real = rng.choice(DOMAIN.functions)
        value: Term = Primitive(real.name)
        if real.name == "g" and rng.random() < 0.5:
            value = Permutation(value, (1, 0))
        scope = random_term(rng, real.classes, depth) if rng.random() < 0.6 else None
        return Aggregated(rng.choice(("max", "min", "mean")), value, scope)
    classes = rng.choice([(), ("a",), ("b",), ("a", "a"), ("a", "b"), ("b", "a"), ("a", "b", "a")])
    value = random_term(rng, classes, depth)
    scope = random_term(rng, classes, depth) if rng.random() < 0.5 else None
    if choice < 0.6:
        return Aggregated(rng.choice(("max", "min", "mean")), value, scope)
    return Quantified(rng.choice(("all", "some", "count")), value, scope)
