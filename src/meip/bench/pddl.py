"""Expansions on blocksworld with 29 blocks against pymimir driven from Python, grounding included as a row of its own.

Both expand the same states: every state fewer than `depth` steps from the start, each once, with duplicates found on
the way, so that all successors are there as states that Python can go on with. pymimir runs grounded and through its
inner interface, which is faster than its documented wrapper. The number of states is compared before timing. A second
comparison walks at random and hands over one state at a time, which is the least favourable way to use our batches.
Last, whole plans by `Task.plan`, for tasks learned from small problems, and A* as it makes demonstrations.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from meip import Episode, MeipError, learn
from meip.bench._compare import compare
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import solve, walked
from meip.worlds.pddl.engine import BaseEngine, compile_problem
from meip.worlds.pddl.graph import StateTable
from meip.worlds.pddl.writer import domain_text, problem_text

__all__ = ["breadth_first", "planning", "random_walk", "run"]

BLOCKS, DEPTH, STEPS = 29, 5, 2000
LARGE = 146
PEER, TARGET = "pymimir", 5.0
CHUNK = 512
SHOWN = 5  # small problems that a task is learned from
PLANNED: dict[str, tuple[dict[str, int], dict[str, int]]] = {  # a small size and a large one
    "ferry": ({"cars": 3, "landings": 3}, {"cars": 20, "landings": 20}),
    "blocksworld": ({"blocks": 5}, {"blocks": 15}),
    "satellite": ({"images": 3}, {"satellites": 5, "modes": 2, "directions": 11, "images": 10}),
}


def breadth_first(engine: BaseEngine, depth: int) -> tuple[int, int]:
    """Expand every state nearer than `depth`: how many were expanded, and how many are known then."""
    table = StateTable(engine.width, 1 << 16)
    table.add(engine.initial)
    begin = 0
    for _ in range(depth):
        end = len(table)
        for low in range(begin, end, CHUNK):
            table.add(engine.successors(table.states[low : min(low + CHUNK, end)]).states)
        begin = end
    return begin, len(table)


def random_walk(engine: BaseEngine, steps: int, seed: int = 0) -> int:
    """Expand one state after another along a random walk; returns the number of successors."""
    random = np.random.default_rng(seed).random(steps)
    state, total = engine.initial, 0
    for x in random:
        states = engine.successors(state).states
        total += len(states)
        state = states[int(x * len(states))]
    return total


@contextmanager
def _quiet() -> Iterator[None]:
    """Standard output of compiled code goes nowhere."""
    sys.stdout.flush()
    kept, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(nowhere)


class _Mimir:
    """The same work by pymimir."""

    def __init__(self, world: PddlWorld, copies: int) -> None:
        import pymimir

        domain = pymimir.Domain(domain_text(world.file))
        text = problem_text(world.problem)
        with _quiet():  # grounding prints every fact
            # a fresh problem for each repeat: a known state is found faster than a new one is made
            self.fresh = [pymimir.Problem(domain, text, mode="grounded") for _ in range(copies)]

    def _parts(self) -> tuple[Any, Any, Any]:
        context = self.fresh.pop()._search_context
        repository = context.get_state_repository()
        return repository.get_or_create_initial_state()[0], context.get_applicable_action_generator(), repository

    def breadth_first(self, depth: int) -> tuple[int, int]:
        start, generator, repository = self._parts()
        seen, layer, expanded = {start.get_index()}, [start], 0
        applicable, successor = generator.generate_applicable_actions, repository.get_or_create_successor_state
        for _ in range(depth):
            following = []
            for state in layer:
                expanded += 1
                for action in applicable(state):
                    after = successor(state, action, 0.0)[0]
                    index = after.get_index()
                    if index not in seen:
                        seen.add(index)
                        following.append(after)
            layer = following
        return expanded, len(seen)

    def random_walk(self, steps: int, seed: int = 0) -> int:
        state, generator, repository = self._parts()
        total = 0
        for x in np.random.default_rng(seed).random(steps):
            states = [
                repository.get_or_create_successor_state(state, action, 0.0)[0]
                for action in generator.generate_applicable_actions(state)
            ]
            total += len(states)
            state = states[int(x * len(states))]
        return total


def planning(domains: Sequence[str] = tuple(PLANNED), repeats: int = 7) -> list[dict[str, Any]]:
    """Seconds of plans in a large problem by what was learned from small ones, and of one of their demonstrations."""
    rows: list[dict[str, Any]] = []
    for domain in domains:
        small, large = PLANNED[domain]
        worlds = [PddlWorld(domain, generate=small, seed=seed) for seed in range(SHOWN)]
        task = learn([Episode(world, walked(world, solve(world)[0])) for world in worlds])
        rows += compare(f"{domain} {small}: demonstrate", "", partial(solve, worlds[0]), None, repeats=repeats).rows()
        world = PddlWorld(domain, generate=large, seed=0)
        for method in ("greedy", "gbfs"):
            work = f"{domain} {large}: plan, {method}"
            steps = len(task.plan(world, method=method).steps)
            rows += compare(work, "", partial(task.plan, world, method=method), None, repeats=repeats).rows(steps=steps)
    return rows


def run(
    peers: bool = True,
    blocks: int = BLOCKS,
    depth: int = DEPTH,
    large: int = LARGE,
    repeats: int = 7,
    domains: Sequence[str] = tuple(PLANNED),
) -> list[dict[str, Any]]:
    """Rows of seconds and ratios for expansions, and of seconds for grounding and for plans."""
    world = PddlWorld("blocksworld", generate={"blocks": blocks}, seed=0)
    engine = world.engine
    expanded, known = breadth_first(engine, depth)
    asked = peers and find_spec("pymimir") is not None
    mimir = _Mimir(world, 2 * repeats + 1) if asked else None
    if mimir is not None and mimir.breadth_first(depth) != (expanded, known):
        raise MeipError(f"pymimir and meip disagree about the states within {depth} steps of the start")
    rows = compare(
        f"blocksworld {blocks}: expand all {expanded:,} states nearer than {depth} steps",
        PEER,
        lambda: breadth_first(engine, depth),
        None if mimir is None else lambda: mimir.breadth_first(depth),
        repeats=repeats,
        target=TARGET,
    ).rows(expansions=expanded)
    rows += compare(
        f"blocksworld {blocks}: expand {STEPS:,} states of a random walk, one at a time",
        PEER,
        lambda: random_walk(engine, STEPS),
        None if mimir is None else lambda: mimir.random_walk(STEPS),
        repeats=repeats,
    ).rows(expansions=STEPS)
    big = PddlWorld("blocksworld", generate={"blocks": large}, seed=0)
    grounding = compare(
        f"blocksworld {large}: ground", "", lambda: compile_problem(big.file, big.problem), None, repeats=3
    )
    return rows + grounding.rows() + planning(domains, repeats)
