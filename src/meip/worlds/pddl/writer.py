"""Write domains and problems back as PDDL text: what the reader reads, without comments."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from meip.worlds.pddl.syntax import DomainFile, ProblemFile, Symbol, Variable

__all__ = ["domain_text", "problem_text"]


def domain_text(domain: DomainFile) -> str:
    """The domain as PDDL."""
    lines = [f"(define (domain {domain.name})"]
    if domain.requirements:
        lines.append(f"  (:requirements {' '.join(domain.requirements)})")
    types = [str(Variable(t, p)) for t, p in domain.types.items() if t != "object"]
    lines += _section(":types", types)
    lines += _section(":constants", _objects(domain.constants))
    lines += _section(":predicates", map(_symbol, domain.predicates.values()))
    lines += _section(":functions", map(_symbol, domain.functions.values()))
    for action in domain.actions.values():
        lines += [
            f"  (:action {action.name}",
            f"    :parameters ({' '.join(map(str, action.parameters))})",
            f"    :precondition {action.precondition}",
            f"    :effect {action.effect})",
        ]
    return "\n".join(lines) + ")\n"


def problem_text(problem: ProblemFile) -> str:
    """The problem as PDDL."""
    lines = [f"(define (problem {problem.name})", f"  (:domain {problem.domain})"]
    lines += _section(":objects", _objects(problem.objects))
    facts = [str(a) for a in problem.atoms] + [f"(= {v} {x:.17g})" for v, x in problem.values.items()]
    lines += _section(":init", facts) or ["  (:init)"]
    lines.append(f"  (:goal {problem.goal})")
    if problem.metric is not None:
        lines.append(f"  (:metric {problem.metric[0]} {problem.metric[1]})")
    return "\n".join(lines) + ")\n"


def _section(head: str, entries: Iterable[str]) -> list[str]:
    listed = list(entries)
    return [f"  ({head}", *(f"    {entry}" for entry in listed), "  )"] if listed else []


def _objects(objects: Mapping[str, tuple[str, ...]]) -> list[str]:
    return [str(Variable(name, types)) for name, types in objects.items()]


def _symbol(symbol: Symbol) -> str:
    return f"({' '.join((symbol.name, *map(str, symbol.arguments)))})"
