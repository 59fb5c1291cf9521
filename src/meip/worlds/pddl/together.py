"""Two problems of one domain side by side, as one problem with the objects, facts and goals of both."""

from __future__ import annotations

from collections.abc import Mapping

from meip.worlds.pddl.conditions import substitute
from meip.worlds.pddl.syntax import And, Atom, DomainFile, ProblemFile, Value

__all__ = ["Names", "side_by_side"]

Names = dict[str, str]


def side_by_side(domain: DomainFile, first: ProblemFile, second: ProblemFile) -> tuple[ProblemFile, Names, Names]:
    """The joined problem, and what the objects of each are called in it; constants are shared."""
    names = (_named(first, "1"), _named(second, "2"))
    objects: dict[str, tuple[str, ...]] = {}
    atoms: dict[Atom, None] = {}
    values: dict[Value, float] = {}
    for problem, called in zip((first, second), names, strict=True):
        objects.update({called[name]: types for name, types in problem.objects.items()})
        atoms.update((Atom(a.name, _moved(a.args, called)), None) for a in problem.atoms)
        values.update((Value(v.name, _moved(v.args, called)), x) for v, x in problem.values.items())
    goal = And((substitute(first.goal, names[0]), substitute(second.goal, names[1])))
    name = f"{first.name}-and-{second.name}"
    return ProblemFile(name, domain.name, objects, tuple(atoms), values, goal), *names


def _named(problem: ProblemFile, suffix: str) -> Names:
    return {name: f"{name}-{suffix}" for name in problem.objects}


def _moved(args: tuple[str, ...], called: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(called.get(a, a) for a in args)
