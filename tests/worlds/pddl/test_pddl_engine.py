"""Grounding and successors, against an oracle that works by name."""

from __future__ import annotations

import numpy as np
import pddl_oracle as oracle
import pytest
from pddl_data import DOMAINS, ipc_folder

from meip.base.errors import BudgetError
from meip.worlds.pddl import PddlWorld, kernels, load_domain, parse_domain, parse_problem, shipped_domains
from meip.worlds.pddl.engine import BaseEngine, Engine, compile_problem
from meip.worlds.pddl.graph import StateTable
from meip.worlds.pddl.lifted import LiftedEngine
from meip.worlds.pddl.plans import read_plan, step_text
from meip.worlds.pddl.reader import read_text

RICH = """(define (domain rich)
  (:types truck drone - mover package - object place - object)
  (:constants depot - place)
  (:predicates (at ?m - mover ?p - place) (in ?x - package ?m - mover) (lies ?x - package ?p - place)
               (road ?p ?q - place) (broken ?m - mover) (lit) (seen ?x - package))
  (:functions (fuel ?m - mover) (dist ?p ?q - place) (total-cost) (trips))
  (:action drive :parameters (?t - mover ?p ?q - place)
    :precondition (and (at ?t ?p) (not (broken ?t)) (or (road ?p ?q) (road ?q ?p) (exists (?d - drone) (= ?t ?d)))
                       (not (= ?p ?q)) (>= (fuel ?t) (dist ?p ?q)))
    :effect (and (not (at ?t ?p)) (at ?t ?q) (decrease (fuel ?t) (dist ?p ?q)) (increase (total-cost) (dist ?p ?q))
                 (increase (trips) 1)
                 (forall (?x - package) (when (and (in ?x ?t) (lit)) (seen ?x)))))
  (:action load :parameters (?x - package ?m - mover ?p - place)
    :precondition (and (lies ?x ?p) (at ?m ?p) (forall (?y - package) (or (= ?x ?y) (not (in ?y ?m)))))
    :effect (and (in ?x ?m) (not (lies ?x ?p)) (increase (total-cost) 1)))
  (:action drop :parameters (?x - package ?m - mover ?p - place)
    :precondition (and (in ?x ?m) (at ?m ?p))
    :effect (and (not (in ?x ?m)) (probabilistic 0.75 (lies ?x ?p) 0.25 (and (lies ?x depot) (not (lit))))
                 (probabilistic 0.1 (broken ?m))))
  (:action mend :parameters (?m - mover) :precondition (imply (lit) (broken ?m))
    :effect (and (not (broken ?m)) (assign (fuel ?m) (+ 2 (* 2 (dist depot depot)))) (lit)))
  (:action wipe :parameters () :precondition (lit)
    :effect (and (lit) (not (lit)) (forall (?x - package ?p - place) (when (lies ?x ?p) (not (seen ?x)))))))"""
RICH_PROBLEM = """(define (problem r) (:domain rich)
  (:objects t - truck d - drone a b - package x y - place)
  (:init (at t depot) (at d x) (road depot x) (road x y) (lies a depot) (lies b y) (lit)
    (= (fuel t) 4) (= (fuel d) 2) (= (trips) 0) (= (total-cost) 0)
    (= (dist depot x) 1) (= (dist x depot) 1) (= (dist x y) 2) (= (dist y x) 2) (= (dist depot depot) 1))
  (:goal (and (lies a y) (or (seen a) (not (lit))))) (:metric minimize (total-cost)))"""


def rich() -> PddlWorld:
    return PddlWorld(RICH, RICH_PROBLEM)


def world_of(engine: BaseEngine, world: PddlWorld) -> PddlWorld:
    """The same world on another engine."""
    other = PddlWorld(world.domain_pddl, world.problem_pddl, world.generate, world.seed)
    other.__dict__["engine"] = engine
    return other


def without_cost(found: object) -> dict[str, dict[tuple[frozenset[str], frozenset[tuple[str, float]]], float]]:
    assert isinstance(found, dict)
    return {
        a: {(f, frozenset(v for v in n if v[0] != "(total-cost)")): p for (f, n), p in r.items()}
        for a, r in found.items()
    }


def check_walk(world: PddlWorld, steps: int, seed: int = 0) -> None:
    random = np.random.default_rng(seed)
    state = world.initial()[0][1]
    for _ in range(steps):
        expected = without_cost(oracle.successors(world.situation(state)))
        if world.reached(state):
            assert world.actions(state) == []
            return
        actions = world.actions(state)
        assert set(actions) == set(expected)
        for action in actions:
            got = {oracle.by_name(world.situation(s)): p for p, s in world.outcomes(state, action)}
            got = without_cost({"a": got})["a"]
            assert set(got) == set(expected[action])
            for key, p in got.items():
                assert p == pytest.approx(expected[action][key])
        if not actions:
            return
        choices = world.outcomes(state, actions[int(random.integers(len(actions)))])
        state = choices[int(random.integers(len(choices)))][1]


@pytest.mark.parametrize("seed", range(3))
def test_every_kind_of_condition_and_effect_agrees_with_the_oracle(seed: int) -> None:
    check_walk(rich(), 15, seed)


def test_lifted_successors_agree_with_the_oracle_too() -> None:
    world = rich()
    engine = LiftedEngine(world.instance, world.engine.schemas)
    check_walk(world_of(engine, world), 10)


@pytest.mark.parametrize("domain", shipped_domains())
def test_shipped_domains_agree_with_the_oracle(domain: str) -> None:
    check_walk(PddlWorld(domain, generate={}, seed=3), 4)


@pytest.mark.parametrize("domain", ["childsnack", "satellite", "spanner", "slippery-blocks"])
def test_lifted_and_grounded_engines_give_the_same_successors_in_the_same_order(domain: str) -> None:
    world = PddlWorld(domain, seed=5)
    ground, lifted = world.engine, LiftedEngine(world.instance, world.engine.schemas)
    other = world_of(lifted, world)
    one, two = world.initial()[0][1], other.initial()[0][1]
    for _ in range(6):
        first, second = world.actions(one), other.actions(two)
        assert first == second
        assert world.facts(one).tables.keys() == other.facts(two).tables.keys()
        for name, table in world.facts(one).tables.items():
            assert (table == other.facts(two).tables[name]).all()
        one, two = world.outcomes(one, first[-1])[0][1], other.outcomes(two, second[-1])[0][1]
    assert isinstance(ground, Engine)


def test_costs_are_read_and_are_no_part_of_a_state() -> None:
    world = rich()
    assert "total-cost" not in [f.name for f in world.domain.fluents]
    engine = world.engine
    assert engine.cost(engine.action_id(("drive", "t", "x", "y"))) == 2
    lifted = LiftedEngine(world.instance, engine.schemas)
    assert lifted.cost(lifted.action_id(("drive", "t", "x", "y"))) == 2


def test_a_batch_gives_what_single_states_give() -> None:
    engine = PddlWorld("blocksworld", generate={"blocks": 6}).engine
    states = engine.successors(engine.initial).states
    states = engine.successors(states).states
    batch = engine.successors(states)
    for k, row in enumerate(states):
        single = engine.successors(row)
        part = slice(batch.offsets[k], batch.offsets[k + 1])
        assert (batch.states[part] == single.states).all()
        assert (batch.actions[part] == single.actions).all()
        assert (engine.applicable(row) == single.actions).all()


def test_breadth_first_search_finds_as_many_states_as_there_are_arrangements() -> None:
    """With n blocks: arrangements of n blocks (73 for 4), and of the others with one held (4 x 13)."""
    engine = PddlWorld("blocksworld", generate={"blocks": 4}).engine
    table = StateTable(engine.width, capacity=16)
    _, fresh = table.add(engine.initial)
    frontier = table.states.copy()
    while len(frontier):
        after = engine.successors(frontier).states
        _, fresh = table.add(after)
        frontier = after[fresh]
    assert len(table) == 73 + 4 * 13


def test_a_state_table_gives_each_state_one_id() -> None:
    random = np.random.default_rng(1)
    rows = random.integers(0, 3, size=(5000, 2)).astype(np.uint64) + random.integers(0, 300, size=(5000, 1)).astype(
        np.uint64
    )
    table = StateTable(2, capacity=16)
    ids, fresh = table.add(rows)
    assert fresh.sum() == len(table) == len(np.unique(rows, axis=0))
    assert (table.states[ids] == rows).all()
    again, fresh = table.add(rows)
    assert (again == ids).all() and not fresh.any()


def test_grounding_stops_at_its_limit_and_the_lifted_engine_takes_over() -> None:
    world = PddlWorld("childsnack", generate={"children": 6})
    with pytest.raises(BudgetError, match="limit is 50"):
        Engine(world.instance, world.engine.schemas, max_actions=50)
    assert isinstance(compile_problem(world.file, world.problem, max_actions=50), LiftedEngine)


def test_static_and_unreachable_facts_cost_no_bits() -> None:
    domain = parse_domain("""(define (domain d) (:predicates (road ?x ?y) (at ?x))
      (:action go :parameters (?x ?y) :precondition (and (at ?x) (road ?x ?y)) :effect (and (at ?y) (not (at ?x)))))""")
    problem = parse_problem(
        "(define (problem p) (:objects a b c d) (:init (at a) (road a b) (road b a) (road c d)) (:goal (at b)))", domain
    )
    engine = compile_problem(domain, problem)
    assert engine.layout.bits == 2 and engine.table.actions == 2
    assert engine.step(0) == ("go", "a", "b") and engine.action_id(("go", "c", "d")) == -1


@pytest.mark.parametrize("name", DOMAINS)
def test_competition_plans_replay_to_the_goal(name: str) -> None:
    folder = ipc_folder() / name
    domain = load_domain(folder / "domain.pddl")
    for path in sorted((folder / "training").glob("*.pddl"))[::20]:
        problem = parse_problem(read_text(path), domain, str(path))
        engine = compile_problem(domain, problem)
        state = engine.initial
        for step in read_plan(path.with_suffix(".plan"), domain, problem):
            action = engine.action_id(step)
            assert action in engine.applicable(state), f"{path}: {step_text(step)}"
            state = engine.results(state, action)[1][0]
        assert engine.reached(state).all()


def test_lifted_ids_name_their_actions_and_do_not_depend_on_what_was_asked() -> None:
    world = PddlWorld("satellite", seed=2)
    one, two = (LiftedEngine(world.instance, world.engine.schemas) for _ in range(2))
    after = one.successors(one.initial)
    two.successors(after.states[0])
    for action in after.actions:
        assert two.step(int(action)) == one.step(int(action))
        assert two.action_id(one.step(int(action))) == action
    assert (np.diff(after.actions) > 0).all()


def test_kernels_are_compiled_once_for_one_state_and_for_many_with_numbers_or_without() -> None:
    for world in (rich(), PddlWorld("ferry")):
        for states in (world.engine.initial, world.pack([world.engine.initial.tobytes()] * 3)):
            found = world.engine.successors(states)
            world.engine.reached(found.states)
            world.engine.reached(found.states[:1])
            StateTable(world.engine.width).add(found.states)
    compiled = {name: len(getattr(kernels, name).signatures) for name in kernels.__all__}
    assert compiled["apply_general"] == compiled["holds"] == compiled["apply_plain"] == 1
    assert max(compiled.values()) == 1, compiled


@pytest.mark.parametrize("length", [0, 1, 2, 255, 256, 257, 1000, 5000])
def test_runs_of_actions_of_any_length_are_sorted_and_nothing_else_is(length: int) -> None:
    buffer = np.random.default_rng(length).permutation(length + 20)
    expected = buffer.copy()
    expected[10 : 10 + length] = np.sort(expected[10 : 10 + length])
    kernels._sort(buffer, 10, 10 + length)
    np.testing.assert_array_equal(buffer, expected)
