"""PddlWorld as a World: facts, classes, goal copies, documents, views, commands."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer import Typer
from typer.testing import CliRunner

from meip.base.errors import DocumentError, WorldError
from meip.model.domain import stack_facts
from meip.model.problems import load_problem, problem_document, resolve_world
from meip.worlds.pddl import PddlWorld, parse_domain, shipped_domains
from meip.worlds.pddl.commands import demonstrate, generate
from meip.worlds.pddl.view import changes, html_state
from meip.worlds.pddl.vocabulary import vocabulary

SPANNER = PddlWorld("spanner")


def walk(world: PddlWorld, steps: int) -> list[bytes]:
    states = [world.initial()[0][1]]
    for i in range(steps):
        actions = world.actions(states[-1])
        if not actions:
            break
        states.append(world.outcomes(states[-1], actions[i % len(actions)])[0][1])
    return states


def test_types_that_share_an_argument_share_a_class_and_become_predicates() -> None:
    domain = SPANNER.domain
    assert [c.name for c in domain.classes] == ["place", "thing"]
    assert domain.fluent("at").classes == ("thing", "place")
    assert {"worker", "nut", "tool"} <= {f.name for f in domain.fluents if f.static}
    facts = SPANNER.static_facts()
    assert facts.tables["worker"].sum() == 1 and facts.tables["tool"].sum() == 4
    assert (facts.tables["worker"].astype(int) + facts.tables["nut"] + facts.tables["tool"] == 1).all()


def test_constants_are_predicates_and_goal_copies_say_what_the_goal_asks_for() -> None:
    world = PddlWorld("childsnack")
    tables = world.static_facts().tables
    assert tables["kitchen"].sum() == 1
    assert tables["served_goal"].all() and not tables["at_goal"].any()
    goals = {f.goal_of for f in world.domain.fluents if f.goal_of}
    assert goals == world.instance.words.changing


def test_the_domain_is_the_same_for_all_problems_of_a_domain() -> None:
    for name in shipped_domains():
        assert (
            PddlWorld(name, seed=1).domain == PddlWorld(name, seed=2).domain == vocabulary(PddlWorld(name).file).domain
        )


def test_an_untyped_domain_has_one_class_and_an_either_joins_two() -> None:
    untyped = parse_domain("(define (domain d) (:predicates (p ?x) (q ?x ?y)))")
    assert [c.name for c in vocabulary(untyped).domain.classes] == ["object"]
    either = parse_domain(
        "(define (domain d) (:types a b c) (:predicates (p ?x - (either a b)) (q ?y - c) (a ?x - c)))"
    )
    found = vocabulary(either)
    assert [c.name for c in found.domain.classes] == ["a-or-b", "c"]
    assert found.type_predicates == {"a": "a-type", "b": "b"}


@pytest.mark.parametrize("name", [*shipped_domains()])
def test_facts_of_a_batch_are_the_facts_of_each_state(name: str) -> None:
    world = PddlWorld(name, seed=2)
    states = walk(world, 6)
    (block,) = world.facts_batch(states)
    (expected,) = stack_facts(world.domain, [world.facts(s) for s in states], world.static_facts())
    assert block.counts == expected.counts and block.tables.keys() == expected.tables.keys()
    for fluent in world.domain.fluents:
        assert (block.tables[fluent.name] == expected.tables[fluent.name]).all()
    first = world.engine.layout.names[0]
    for state, table in zip(states, block.tables[first], strict=True):
        names = [fact.strip("()").split()[0] for fact in world.engine.fact_texts(world.pack([state])[0])]
        assert table.sum() == names.count(first)


def test_numbers_are_function_tables() -> None:
    text = """(define (domain d) (:predicates (done)) (:functions (fuel) (size ?x))
      (:action burn :parameters (?x) :precondition (>= (fuel) (size ?x))
        :effect (and (decrease (fuel) (size ?x)) (done))))"""
    problem = (
        "(define (problem p) (:objects a b) (:init (= (fuel) 3) (= (size a) 2)) (:goal (and (done) (< (fuel) 1.5))))"
    )
    world = PddlWorld(text, problem)
    start = world.initial()[0][1]
    assert world.facts(start).tables["fuel"] == 3
    assert world.static_facts().tables["size"][0] == 2 and np.isnan(world.static_facts().tables["size"][1])
    assert world.actions(start) == ["(burn a)"]  # the size of b is undefined
    after = world.outcomes(start, "(burn a)")[0][1]
    assert world.facts(after).tables["fuel"] == 1 and world.reached(after) and world.actions(after) == []
    assert "(= (fuel) 1)" in html_state(world, after)


def test_an_illegal_or_unknown_action_is_explained() -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 3}, seed=0)
    start = world.initial()[0][1]
    with pytest.raises(WorldError, match=r"\(put-down b1\) is not legal: its precondition \(held b1\) does not hold"):
        world.outcomes(start, "(put-down b1)")
    with pytest.raises(WorldError, match="did you mean 'put-down'"):
        world.decode_action("(put-dwn b1)")
    with pytest.raises(WorldError, match="no object 'b9'"):
        world.decode_action(["put-down", "b9"])
    with pytest.raises(WorldError, match="takes 1 arguments, 2 given"):
        world.decode_action("(put-down b1 b2)")
    assert world.decode_action(["PUT-DOWN", "b1"]) == "(put-down b1)"


def test_probabilities_of_outcomes_add_up_and_equal_results_are_merged() -> None:
    world = PddlWorld("slippery-blocks", seed=4)
    for state in walk(world, 5):
        for action in world.actions(state):
            choices = world.outcomes(state, action)
            assert sum(p for p, _ in choices) == pytest.approx(1)
            assert len({s for _, s in choices}) == len(choices)


def test_a_problem_document_makes_the_same_world() -> None:
    world = PddlWorld("ferry", generate={"cars": 2}, seed=9)
    again = load_problem(problem_document(world))
    assert again.initial() == world.initial()
    text = load_problem({"format": "meip.problem/1", "world": "pddl", "domain_pddl": "ferry", "seed": 9})
    assert text.domain == world.domain


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"domain_pddl": "fery"}, "did you mean 'ferry'"),
        ({"domain_pddl": "ferry", "problem_pddl": "(", "generate": {}}, "not both"),
        ({"domain_pddl": "ferry", "problem_pddl": "(define (problem p))"}, "problem_pddl:1:1: .* has no :init"),
        ({"domain_pddl": "ferry", "problem_pddl": "nowhere.pddl"}, "nowhere.pddl: cannot be read"),
        ({"domain_pddl": "(define (domain d))"}, "no generator"),
        ({"domain_pddl": "ferry", "horizon": 0}, "at least 1"),
    ],
)
def test_a_wrong_document_is_explained(fields: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        load_problem({"format": "meip.problem/1", "world": "pddl", **fields})


def test_the_domain_of_a_problem_is_found_beside_it_or_above(tmp_path: Path) -> None:
    from meip.worlds.pddl.writer import domain_text, problem_text

    world = PddlWorld("gripper")
    (tmp_path / "deep").mkdir()
    (tmp_path / "deep" / "p.pddl").write_text(problem_text(world.problem))
    with pytest.raises(DocumentError, match=r"no domain\.pddl"):
        resolve_world(str(tmp_path / "deep" / "p.pddl"))
    (tmp_path / "domain.pddl").write_text(domain_text(world.file))
    found = resolve_world(str(tmp_path / "deep" / "p.pddl"))
    assert found.initial() == world.initial()


def test_a_view_marks_what_the_last_action_added_and_deleted() -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 3}, seed=0)
    states = walk(world, 1)
    action = world.actions(states[0])[0]
    marked = [one for facts in changes(world, states[1], states[0]).values() for one in facts]
    before, after = (set(world.engine.fact_texts(world.pack([s])[0])) for s in states)
    assert {fact for fact, mark in marked if mark == "+"} == after - before
    assert {fact for fact, mark in marked if mark == "-"} == before - after
    assert "<del>(hand-free)</del>" in html_state(world, states[1], states[0])
    assert [p.html.count("<table") for p in world.draw(states, [action])] == [1, 1]


def test_the_commands_generate_a_problem_and_solve_it(tmp_path: Path) -> None:
    app = Typer()
    app.command()(demonstrate)
    app.command()(generate)
    domain, problem, plan = (str(tmp_path / n) for n in ("domain.pddl", "p.pddl", "p.plan"))
    run = CliRunner().invoke
    made = run(app, ["generate", "ferry", "--size", "cars=2", "--seed", "1", "-o", problem, "--domain-output", domain])
    assert made.exit_code == 0
    assert run(app, ["demonstrate", domain, problem, "-o", plan]).exit_code == 0
    assert "(board c" in Path(plan).read_text()
    assert isinstance(run(app, ["generate", "ferry", "--size", "cars"]).exception, DocumentError)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", ["ferry", "childsnack", "spanner"])
def test_a_unified_planning_problem_is_the_same_world(name: str) -> None:
    pytest.importorskip("unified_planning")
    from unified_planning.io import PDDLReader

    from meip.worlds.pddl.unified import from_unified
    from meip.worlds.pddl.writer import domain_text, problem_text

    world = PddlWorld(name, seed=3)
    other = from_unified(PDDLReader().parse_problem_string(domain_text(world.file), problem_text(world.problem)))
    one, two = world.initial()[0][1], other.initial()[0][1]
    for i in range(5):
        assert set(world.actions(one)) == set(other.actions(two))
        assert set(map(str, world.situation(one).atoms)) == set(map(str, other.situation(two).atoms))
        actions = sorted(world.actions(one))
        action = actions[i % len(actions)]
        one, two = world.outcomes(one, action)[0][1], other.outcomes(two, action)[0][1]


@pytest.mark.filterwarnings("ignore")
def test_numbers_conditions_and_quantifiers_come_over_from_unified_planning() -> None:
    up = pytest.importorskip("unified_planning.shortcuts")
    from meip.worlds.pddl.unified import from_unified

    place = up.UserType("Place")
    at, seen = up.Fluent("at", up.BoolType(), p=place), up.Fluent("seen", up.BoolType(), p=place)
    fuel = up.Fluent("fuel", up.RealType())
    go = up.InstantaneousAction("go", a=place, b=place)
    a, b = go.parameter("a"), go.parameter("b")
    go.add_precondition(at(a))
    go.add_precondition(up.Not(up.Equals(a, b)))
    go.add_precondition(up.GE(fuel, 1))
    go.add_effect(at(a), False)
    go.add_effect(at(b), True)
    go.add_effect(seen(b), True, up.Not(seen(b)))
    go.add_decrease_effect(fuel, 1)
    problem = up.Problem("trip")
    for fluent in (at, seen):
        problem.add_fluent(fluent, default_initial_value=False)
    problem.add_fluent(fuel, default_initial_value=2)
    problem.add_action(go)
    problem.add_objects([up.Object(n, place) for n in ("x", "y", "z")])
    problem.set_initial_value(at(problem.object("x")), True)
    v = up.Variable("v", place)
    problem.add_goal(up.Exists(up.And(seen(v), at(v)), v))
    world = from_unified(problem)
    start = world.initial()[0][1]
    assert world.actions(start) == ["(go x y)", "(go x z)"]
    after = world.outcomes(start, "(go x z)")[0][1]
    assert world.reached(after) and world.facts(after).tables["fuel"] == 1


def test_the_benchmark_gives_tidy_rows() -> None:
    from meip.bench.pddl import run

    rows = run(peers=False, blocks=4, depth=3, large=5, repeats=1, domains=())
    assert {r["metric"] for r in rows} == {"ours"} and len(rows) == 3
