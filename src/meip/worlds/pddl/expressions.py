"""Conditions, numbers and effects: read in a scope that knows what is declared, so that errors name what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from meip.base.errors import did_you_mean
from meip.worlds.pddl.syntax import (
    And,
    Arithmetic,
    Assign,
    Atom,
    Chance,
    Compare,
    Condition,
    DomainFile,
    Effect,
    Equal,
    ForAll,
    Literal,
    Not,
    Number,
    Numeric,
    Or,
    Quantified,
    Symbol,
    Together,
    Value,
    Variable,
    When,
)
from meip.worlds.pddl.tokens import Node, Source

__all__ = ["Scope", "read_condition", "read_effect", "read_number", "typed_list"]

_COMPARISONS = ("<", "<=", "=", ">=", ">")
_ASSIGNMENTS = {
    "assign": "assign",
    "increase": "increase",
    "decrease": "decrease",
    "scale-up": "scale-up",
    "scale-down": "scale-down",
}
_UNSUPPORTED = {
    "preference": "preferences (:preferences)",
    "oneof": "nondeterministic effects without probabilities (oneof)",
    "unknown": "unknown initial facts (:contingent)",
    "at": "timed or durative conditions",
    "over": "durative conditions",
    "always": "trajectory constraints (:constraints)",
    "sometime": "trajectory constraints (:constraints)",
    "within": "trajectory constraints (:constraints)",
    "at-most-once": "trajectory constraints (:constraints)",
}


@dataclass(frozen=True)
class Scope:
    """What may be named here: the domain's symbols, objects with their types, and the variables in scope."""

    source: Source
    domain: DomainFile
    objects: Mapping[str, tuple[str, ...]]
    variables: Mapping[str, tuple[str, ...]]
    alias: Mapping[str, str] = field(default_factory=dict)  # a variable that hides an outer one -> its new name

    def with_variables(self, variables: tuple[Variable, ...]) -> tuple[Scope, tuple[Variable, ...]]:
        """The scope inside a quantifier, and its variables; one that hides an outer variable gets a name of its own."""
        alias = dict(self.alias)
        renamed = []
        for v in variables:
            name = v.name
            while name in self.variables or name in alias.values():
                name += "_"
            alias[v.name] = name
            renamed.append(Variable(name, v.types))
        inner = {**self.variables, **{v.name: v.types for v in variables}, **{v.name: v.types for v in renamed}}
        return replace(self, variables=inner, alias=alias), tuple(renamed)

    def term(self, node: Node) -> str:
        """The word that stands for a term in the tree."""
        return self.alias.get(node.text or "", node.text or "")

    def types_of(self, node: Node) -> tuple[str, ...]:
        """The types of a term, which must be declared."""
        name = node.text
        if name is None:
            raise self.source.error(node, f"expected an object or a variable, found the list {node}")
        if name.startswith("?"):
            if name not in self.variables:
                raise self.source.error(
                    node, f"variable {name} is not declared here; {did_you_mean(name, self.variables)}"
                )
            return self.variables[name]
        if name not in self.objects:
            raise self.source.error(node, f"object {name!r} is not declared; {did_you_mean(name, self.objects)}")
        return self.objects[name]

    def arguments(self, node: Node, symbol: Symbol) -> tuple[str, ...]:
        """The terms of an atom, checked against the declaration."""
        terms = node.items[1:]
        if len(terms) != symbol.arity:
            declared = f"({' '.join((symbol.name, *(str(a) for a in symbol.arguments)))})"
            plural = "argument" if symbol.arity == 1 else "arguments"
            raise self.source.error(
                node, f"{symbol.name!r} takes {symbol.arity} {plural} (declared as {declared}), {len(terms)} given"
            )
        for term, argument in zip(terms, symbol.arguments, strict=True):
            types = self.types_of(term)
            fits = self.domain.overlap if (term.text or "").startswith("?") else self.domain.is_a
            if not fits(types, argument.types):
                raise self.source.error(
                    term,
                    f"{term.text} is of type {' or '.join(types)}, but {symbol.name!r} takes "
                    f"{' or '.join(argument.types)} here",
                )
        return tuple(self.term(t) for t in terms)


def typed_list(source: Source, nodes: tuple[Node, ...], what: str) -> list[tuple[Node, tuple[Node, ...]]]:
    """``a b - t c`` -> [(a, t), (b, t), (c, nothing)]: names with the nodes of their types."""
    found: list[tuple[Node, tuple[Node, ...]]] = []
    waiting: list[Node] = []
    i = 0
    while i < len(nodes):
        node = nodes[i]
        if node.text == "-":
            if i + 1 == len(nodes):
                raise source.error(node, f"a type is missing after '-' in {what}")
            if not waiting:
                raise source.error(node, f"no name before '-' in {what}")
            kind = nodes[i + 1]
            if kind.text is None and (kind.head != "either" or len(kind.items) < 2):
                raise source.error(kind, f"expected a type or (either type ..) after '-', found {kind}")
            types = (kind,) if kind.text is not None else kind.items[1:]
            found += [(name, types) for name in waiting]
            waiting = []
            i += 2
            continue
        if node.text is None:
            raise source.error(node, f"expected a name in {what}, found the list {node}")
        waiting.append(node)
        i += 1
    return found + [(name, ()) for name in waiting]


def _variables(scope: Scope, node: Node, what: str) -> tuple[Variable, ...]:
    from meip.worlds.pddl.reader import read_variables

    return read_variables(scope.source, scope.domain, node, what)


def _parts(scope: Scope, node: Node, count: int) -> tuple[Node, ...]:
    if len(node.items) != count + 1:
        raise scope.source.error(node, f"({node.head} ..) takes {count} parts, {len(node.items) - 1} given")
    return node.items[1:]


def read_condition(scope: Scope, node: Node) -> Condition:
    """A precondition, a goal, or the condition of a conditional effect."""
    if node.text is not None:
        raise scope.source.error(node, f"expected a condition in parentheses, found {node.text!r}")
    if not node.items:
        return And(())  # () is true, as every planner reads it
    head = node.head
    if head in ("and", "or"):
        parts = tuple(read_condition(scope, n) for n in node.items[1:])
        return And(parts) if head == "and" else Or(parts)
    if head == "not":
        return Not(read_condition(scope, _parts(scope, node, 1)[0]))
    if head == "imply":
        left, right = (read_condition(scope, n) for n in _parts(scope, node, 2))
        return Or((Not(left), right))
    if head in ("forall", "exists"):
        names, body = _parts(scope, node, 2)
        inside, variables = scope.with_variables(_variables(scope, names, f"the variables of {head}"))
        return Quantified("forall" if head == "forall" else "exists", variables, read_condition(inside, body))
    if head in _COMPARISONS:
        return _comparison(scope, node)
    return _atom(scope, node)


def _comparison(scope: Scope, node: Node) -> Condition:
    left, right = _parts(scope, node, 2)
    if node.head == "=" and not (_is_numeric(scope, left) or _is_numeric(scope, right)):
        scope.types_of(left), scope.types_of(right)
        return Equal(scope.term(left), scope.term(right))
    return Compare(node.head, read_number(scope, left), read_number(scope, right))


def _is_numeric(scope: Scope, node: Node) -> bool:
    if node.text is None:
        return True
    return _number(node.text) is not None or (node.text in scope.domain.functions and node.text not in scope.objects)


def _number(text: str) -> float | None:
    try:
        return float(text) if text[0] in "+-.0123456789" else None
    except ValueError:
        return None


def _atom(scope: Scope, node: Node) -> Atom:
    head = node.items[0]
    if head.text is None:
        raise scope.source.error(head, f"expected a predicate, found the list {head}")
    symbol = scope.domain.predicates.get(head.text)
    if symbol is None:
        if head.text in _UNSUPPORTED:
            raise scope.source.error(node, f"{_UNSUPPORTED[head.text]} are not supported: {node}")
        if head.text in scope.domain.functions:
            raise scope.source.error(node, f"{head.text!r} is a numeric function; a predicate is expected here")
        raise scope.source.error(
            head, f"predicate {head.text!r} is not declared; {did_you_mean(head.text, scope.domain.predicates)}"
        )
    return Atom(head.text, scope.arguments(node, symbol))


def read_number(scope: Scope, node: Node) -> Numeric:
    """A number, a numeric fluent, or an expression of them."""
    if node.text is not None:
        value = _number(node.text)
        if value is not None:
            return Number(value)
        if node.text in scope.domain.functions:
            return _value(scope, Node(None, (node,), node.line, node.column))
        raise scope.source.error(node, f"expected a number, found {node.text!r}")
    if node.head in ("+", "-", "*", "/"):
        parts = tuple(read_number(scope, n) for n in node.items[1:])
        if len(parts) < (1 if node.head == "-" else 2):
            raise scope.source.error(node, f"'{node.head}' takes two numbers, {len(parts)} given")
        return Arithmetic(node.head, parts)
    return _value(scope, node)


def _value(scope: Scope, node: Node) -> Value:
    symbol = scope.domain.functions.get(node.head)
    if symbol is None:
        if node.head in scope.domain.predicates:
            raise scope.source.error(node, f"{node.head!r} is a predicate; a number is expected here")
        raise scope.source.error(
            node,
            f"function {node.head or str(node)!r} is not declared; {did_you_mean(node.head, scope.domain.functions)}",
        )
    return Value(node.head, scope.arguments(node, symbol))


def read_effect(scope: Scope, node: Node) -> Effect:
    """The effect of an action."""
    if node.text is not None:
        raise scope.source.error(node, f"expected an effect in parentheses, found {node.text!r}")
    head = node.head
    if not node.items:
        return Together(())
    if head == "and":
        return Together(tuple(read_effect(scope, n) for n in node.items[1:]))
    if head == "not":
        inner = _parts(scope, node, 1)[0]
        if inner.text is not None or not inner.items:
            raise scope.source.error(inner, f"expected an atom after not, found {inner}")
        return Literal(_atom(scope, inner), positive=False)
    if head == "when":
        condition, effect = _parts(scope, node, 2)
        return When(read_condition(scope, condition), read_effect(scope, effect))
    if head == "forall":
        names, body = _parts(scope, node, 2)
        inside, variables = scope.with_variables(_variables(scope, names, "the variables of forall"))
        return ForAll(variables, read_effect(inside, body))
    if head == "probabilistic":
        return _chance(scope, node)
    if head in _ASSIGNMENTS:
        target, amount = _parts(scope, node, 2)
        if target.text is not None:
            target = Node(None, (target,), target.line, target.column)
        return Assign(_ASSIGNMENTS[head], _value(scope, target), read_number(scope, amount))
    if head in ("or", "imply", "exists", *_COMPARISONS):
        raise scope.source.error(node, f"'{head}' cannot be an effect: say which facts become true or false")
    return Literal(_atom(scope, node))


def _chance(scope: Scope, node: Node) -> Chance:
    rest = node.items[1:]
    if len(rest) < 2 or len(rest) % 2:
        raise scope.source.error(node, "(probabilistic p1 e1 p2 e2 ..) takes pairs of a probability and an effect")
    outcomes: list[tuple[float, Effect]] = []
    for number, effect in zip(rest[::2], rest[1::2], strict=True):
        outcomes.append((_probability(scope, number), read_effect(scope, effect)))
    total = sum(p for p, _ in outcomes)
    if total > 1 + 1e-9:
        raise scope.source.error(node, f"the probabilities add up to {total:g}, more than 1")
    return Chance(tuple(outcomes))


def _probability(scope: Scope, node: Node) -> float:
    value = None
    if node.text is not None:
        top, slash, bottom = node.text.partition("/")
        value = _number(top)
        divisor = _number(bottom) if slash and bottom else 1.0
        value = None if value is None or not divisor else value / divisor
    if value is None or not 0 <= value <= 1:
        raise scope.source.error(node, f"expected a probability between 0 and 1, found {node}")
    return value
