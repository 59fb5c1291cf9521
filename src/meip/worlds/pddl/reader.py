"""Read PDDL domains and problems. Sloppy files are read as planners read them; the rest gets one clear error.

Accepted: any case, missing requirements, sections in any order, types without ``:typing`` (and without ``:types`` at
all), a parent type that is never declared, the same object declared twice with one type, ``()`` as a condition.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from meip.base.errors import DocumentError, did_you_mean
from meip.worlds.pddl.expressions import Scope, read_condition, read_effect, read_number, typed_list
from meip.worlds.pddl.syntax import (
    ActionSchema,
    And,
    Atom,
    Condition,
    DomainFile,
    Not,
    Numeric,
    ProblemFile,
    Symbol,
    Together,
    Value,
    Variable,
)
from meip.worlds.pddl.tokens import Node, Source, read_nodes

__all__ = ["parse_domain", "parse_problem", "read_text", "read_variables"]

_UNSUPPORTED = {
    ":durative-action": "durative actions",
    ":derived": "derived predicates",
    ":constraints": "trajectory constraints",
    ":process": "processes",
    ":event": "events",
    ":observe": "observations",
    ":task": "hierarchical tasks",
    ":method": "hierarchical tasks",
    ":htn": "hierarchical tasks",
}
_SECTIONS = (":requirements", ":types", ":constants", ":predicates", ":functions", ":action")
_PROBLEM_SECTIONS = (":domain", ":requirements", ":objects", ":init", ":goal", ":metric", ":length")
_TIMED = "timed initial literals are not supported: "


def read_text(path: str | Path) -> str:
    """The text of a PDDL or plan file."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise DocumentError(f"{path}: cannot be read: {error.strerror}") from None


def _define(source: Source, kind: str) -> tuple[str, tuple[Node, ...]]:
    """The name and the sections of ``(define (kind name) ..)``."""
    nodes = read_nodes(source)
    if not nodes:
        raise source.error((1, 1), f"the file is empty; expected (define ({kind} NAME) ..)")
    top = nodes[0]
    if top.text is not None or top.head != "define":
        raise source.error(top, f"expected (define ({kind} NAME) ..), found {str(top)[:40]}")
    if len(nodes) > 1:
        raise source.error(nodes[1], "text after the end of (define ..): a ')' too many before it?")
    title = top.items[1] if len(top.items) > 1 else top
    if len(title.items) != 2 or title.items[1].text is None or title.head not in ("domain", "problem"):
        raise source.error(title, f"expected ({kind} NAME) after define, found {str(title)[:40]}")
    if title.head != kind:
        raise source.error(title, f"this is a {title.head} file; a {kind} is expected here")
    for section in top.items[2:]:
        if section.text is not None or not section.head.startswith(":"):
            raise source.error(section, f"expected a section such as (:action ..), found {str(section)[:40]}")
    return title.items[1].text, top.items[2:]


def _known_section(source: Source, section: Node, known: tuple[str, ...]) -> None:
    if section.head in _UNSUPPORTED:
        raise source.error(section, f"{_UNSUPPORTED[section.head]} ({section.head}) are not supported")
    if section.head not in known:
        raise source.error(section, f"section {section.head} is not known; {did_you_mean(section.head, known)}")


def parse_domain(text: str, name: str = "domain") -> DomainFile:
    """Read a domain from text; `name` is what errors call the file."""
    source = Source(name, text)
    title, sections = _define(source, "domain")
    for section in sections:
        _known_section(source, section, _SECTIONS)

    def each(head: str) -> list[Node]:
        return [n for s in sections if s.head == head for n in s.items[1:]]

    types = _types(source, tuple(each(":types")), declared=any(s.head == ":types" for s in sections))
    empty = DomainFile(title, types, {}, {}, {}, {}, source=name)
    constants = _objects(source, empty, tuple(each(":constants")), "the constants")
    predicates = _symbols(source, empty, each(":predicates"), "predicate")
    functions = _symbols(source, empty, _without_number_types(source, each(":functions")), "function")
    for twice in predicates.keys() & functions.keys():
        raise source.error(sections[0], f"{twice!r} is declared both as a predicate and as a function")
    requirements = tuple(n.text or "" for n in each(":requirements"))
    domain = replace(empty, constants=constants, predicates=predicates, functions=functions, requirements=requirements)
    actions: dict[str, ActionSchema] = {}
    for section in sections:
        if section.head == ":action":
            action = _action(source, domain, section)
            if action.name in actions:
                raise source.error(section.items[1], f"action {action.name!r} is defined twice")
            actions[action.name] = action
    # types that were used without any (:types ..) were collected on the way
    return replace(domain, actions=actions)


class _OpenTypes(dict[str, tuple[str, ...]]):
    """Types of a domain without (:types ..): whatever is used is a type."""


def _types(source: Source, nodes: tuple[Node, ...], declared: bool) -> dict[str, tuple[str, ...]]:
    types: dict[str, tuple[str, ...]] = {} if declared else _OpenTypes()
    types["object"] = ()
    for name, parents in typed_list(source, nodes, "the types"):
        above = tuple(p.text or "" for p in parents) or ("object",)
        if name.text == "object":
            continue
        types[name.text or ""] = tuple(dict.fromkeys((*types.get(name.text or "", ()), *above)))
    for parents_of in list(types.values()):
        for parent in parents_of:
            types.setdefault(parent, ("object",))
    for name, _ in typed_list(source, nodes, "the types"):
        if name.text != "object" and _is_cyclic(types, name.text or ""):
            raise source.error(name, f"type {name.text!r} is its own ancestor")
    return types


def _is_cyclic(types: dict[str, tuple[str, ...]], name: str) -> bool:
    seen, todo = set[str](), list(types[name])
    while todo:
        one = todo.pop()
        if one == name:
            return True
        if one not in seen:
            seen.add(one)
            todo.extend(types[one])
    return False


def _type_names(source: Source, domain: DomainFile, nodes: tuple[Node, ...]) -> tuple[str, ...]:
    for node in nodes:
        name = node.text or ""
        if isinstance(domain.types, _OpenTypes):
            domain.types.setdefault(name, ("object",))
        elif name not in domain.types:
            raise source.error(node, f"type {name!r} is not declared; {did_you_mean(name, domain.types)}")
    return tuple(dict.fromkeys(n.text or "" for n in nodes)) or ("object",)


def _objects(source: Source, domain: DomainFile, nodes: tuple[Node, ...], what: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for node, kinds in typed_list(source, nodes, what):
        name = node.text or ""
        if name.startswith("?"):
            raise source.error(node, f"{name} is a variable; {what} are named without '?'")
        types = _type_names(source, domain, kinds)
        earlier = found.get(name, domain.constants.get(name))
        if earlier is not None and not (domain.is_a(types, earlier) or domain.is_a(earlier, types)):
            raise source.error(
                node, f"object {name!r} is declared twice, as {' or '.join(earlier)} and as {' or '.join(types)}"
            )
        if earlier is None or domain.is_a(types, earlier):  # the more special type stays
            found[name] = types
    return found


def read_variables(source: Source, domain: DomainFile, node: Node, what: str) -> tuple[Variable, ...]:
    """The typed variables of ``(?x ?y - block)``."""
    if node.text is not None:
        raise source.error(node, f"expected {what} in parentheses, found {node.text!r}")
    found: dict[str, Variable] = {}
    for name, kinds in typed_list(source, node.items, what):
        text = name.text or ""
        if not text.startswith("?"):
            raise source.error(name, f"{text!r} in {what} must start with '?'")
        if text in found:
            raise source.error(name, f"{text} occurs twice in {what}")
        found[text] = Variable(text, _type_names(source, domain, kinds))
    return tuple(found.values())


def _symbols(source: Source, domain: DomainFile, nodes: list[Node], kind: str) -> dict[str, Symbol]:
    found: dict[str, Symbol] = {}
    for node in nodes:
        if node.text is not None or not node.items or node.items[0].text is None:
            raise source.error(node, f"expected a {kind} declaration such as (at ?x), found {str(node)[:40]}")
        arguments: list[Variable] = []
        for position, (name, kinds) in enumerate(typed_list(source, node.items[1:], f"the arguments of {node.head!r}")):
            if not (name.text or "").startswith("?"):
                raise source.error(name, f"argument {name.text!r} of {kind} {node.head!r} must start with '?'")
            arguments.append(Variable(f"?x{position}", _type_names(source, domain, kinds)))
        symbol = Symbol(node.head, tuple(arguments))
        if node.head in found and found[node.head] != symbol:
            raise source.error(node, f"{kind} {node.head!r} is declared twice, with different arguments")
        if node.head == "=":
            continue  # some files declare equality
        found[node.head] = symbol
    return found


def _without_number_types(source: Source, nodes: list[Node]) -> list[Node]:
    """Function declarations without their ``- number``; other types are object fluents."""
    kept: list[Node] = []
    for i, node in enumerate(nodes):
        if node.text == "-":
            if i + 1 < len(nodes) and nodes[i + 1].text != "number":
                raise source.error(
                    nodes[i + 1], f"functions to objects ({nodes[i + 1]}) are not supported, only numbers"
                )
        elif not (node.text == "number" and i > 0 and nodes[i - 1].text == "-"):
            kept.append(node)
    return kept


def _action(source: Source, domain: DomainFile, section: Node) -> ActionSchema:
    if len(section.items) < 2 or section.items[1].text is None:
        raise source.error(section, "expected (:action NAME :parameters (..) :precondition (..) :effect (..))")
    name = section.items[1].text
    parts: dict[str, Node] = {}
    i = 2
    while i < len(section.items):
        key = section.items[i]
        if key.text not in (":parameters", ":precondition", ":effect"):
            raise source.error(
                key, f"action {name!r}: expected :parameters, :precondition or :effect, found {str(key)[:40]}"
            )
        if i + 1 == len(section.items) or (section.items[i + 1].text or "").startswith(":"):
            raise source.error(key, f"action {name!r}: nothing follows {key.text}")
        if key.text in parts:
            raise source.error(key, f"action {name!r} has {key.text} twice")
        parts[key.text] = section.items[i + 1]
        i += 2
    parameters: tuple[Variable, ...] = ()
    if ":parameters" in parts:
        parameters = read_variables(source, domain, parts[":parameters"], f"the parameters of action {name!r}")
    scope = Scope(source, domain, domain.constants, {v.name: v.types for v in parameters})
    precondition = read_condition(scope, parts[":precondition"]) if ":precondition" in parts else And(())
    effect = read_effect(scope, parts[":effect"]) if ":effect" in parts else Together(())
    return ActionSchema(name, parameters, precondition, effect)


def parse_problem(text: str, domain: DomainFile, name: str = "problem") -> ProblemFile:
    """Read a problem of this domain from text; `name` is what errors call the file."""
    source = Source(name, text)
    title, sections = _define(source, "problem")
    by_head: dict[str, Node] = {}
    for section in sections:
        _known_section(source, section, _PROBLEM_SECTIONS)
        if section.head in by_head and section.head != ":objects":
            raise source.error(section, f"section {section.head} occurs twice")
        by_head[section.head] = section
    _check_domain_name(source, domain, by_head.get(":domain"))
    nodes = tuple(n for s in sections if s.head == ":objects" for n in s.items[1:])
    objects = _objects(source, domain, nodes, "the objects")
    scope = Scope(source, domain, {**domain.constants, **objects}, {})
    for head in (":init", ":goal"):
        if head not in by_head:
            raise source.error((1, 1), f"problem {title!r} has no {head} section")
    atoms, values = _initial(scope, by_head[":init"])
    return ProblemFile(
        title, domain.name, objects, atoms, values, _goal(scope, by_head[":goal"]), _metric(scope, by_head), name
    )


def _check_domain_name(source: Source, domain: DomainFile, section: Node | None) -> None:
    if section is None:
        return  # sloppy, and the domain is given anyway
    if len(section.items) != 2:
        raise source.error(section, "expected (:domain NAME)")
    if section.items[1].text != domain.name:
        raise source.error(
            section.items[1],
            f"this problem belongs to domain {section.items[1]}, not to {domain.name!r}; give the right domain file",
        )


def _initial(scope: Scope, section: Node) -> tuple[tuple[Atom, ...], dict[Value, float]]:
    atoms: dict[Atom, None] = {}
    values: dict[Value, float] = {}
    for node in section.items[1:]:
        if node.text is None and node.head == "at" and len(node.items) == 3 and node.items[2].text is None:
            raise scope.source.error(node, _TIMED + str(node))
        if node.head == "=" and len(node.items) == 3:
            target = read_number(scope, node.items[1])
            number = node.items[2].text
            try:
                amount = float(number or "")
            except ValueError:
                raise scope.source.error(node.items[2], f"expected a number, found {node.items[2]}") from None
            if not isinstance(target, Value):
                raise scope.source.error(node.items[1], f"expected a numeric fluent, found {node.items[1]}")
            values[target] = amount
            continue
        fact = read_condition(scope, node)
        if isinstance(fact, Atom):
            atoms[fact] = None
        elif isinstance(fact, And):
            for part in fact.parts:
                if not isinstance(part, Atom):
                    raise scope.source.error(node, f"an initial fact is expected, found {node}")
                atoms[part] = None
        elif not _is_negated_atom(fact):  # (not p) is what is assumed anyway
            raise scope.source.error(node, f"an initial fact is expected, found {node}")
    return tuple(atoms), values


def _is_negated_atom(fact: Condition) -> bool:
    return isinstance(fact, Not) and isinstance(fact.part, Atom)


def _goal(scope: Scope, section: Node) -> Condition:
    if len(section.items) != 2:
        raise scope.source.error(
            section, f"(:goal ..) takes one condition, {len(section.items) - 1} given; use (and ..)"
        )
    return read_condition(scope, section.items[1])


def _metric(scope: Scope, sections: dict[str, Node]) -> tuple[str, Numeric] | None:
    section = sections.get(":metric")
    if section is None:
        return None
    if len(section.items) != 3 or section.items[1].text not in ("minimize", "maximize"):
        raise scope.source.error(section, "expected (:metric minimize EXPRESSION) or (:metric maximize EXPRESSION)")
    if "total-time" in str(section.items[2]):
        return None  # the number of steps, for plans without durations
    return (section.items[1].text, read_number(scope, section.items[2]))
