"""PDDL worlds: any PDDL problem is a World, and any plan file a demonstration. It knows PDDL and packed states, and
nothing of what is learned from plans.

::

    syntax, tokens, expressions, reader, writer, plans    files -> a small tree, and back
    vocabulary, objects                                   the tree -> our Domain, objects and facts as numbers
    schemas, datalog, reachability, programs, tables      lifted actions -> ground actions as arrays
    kernels, engine, lifted, graph                        successors of packed states, states as integers
    world, unified                                        PddlWorld, and unified-planning's Problems as one
    heuristics, demonstrate                               estimates, plans and demonstrations
    generators, domains/                                  the shipped domains and their random problems
    conditions, view, commands                            why a step is illegal; tables of facts; what can be typed
"""

from meip.worlds.pddl.reader import parse_domain, parse_problem
from meip.worlds.pddl.world import PddlWorld, load_domain, read_problem, shipped_domains

__all__ = [
    "PddlWorld", "load_domain", "parse_domain", "parse_problem", "read_problem", "shipped_domains",
]  # fmt: skip
