"""Reading PDDL and plan files: what is accepted, and one clear error with its place for what is not."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings, strategies as st

from meip.base.errors import DocumentError, MeipError
from meip.worlds.pddl.plans import parse_plan, read_plan, write_plan
from meip.worlds.pddl.reader import parse_domain, parse_problem, read_text
from meip.worlds.pddl.syntax import And, Atom, Chance, Compare, ForAll, Or, Quantified, Together, When
from meip.worlds.pddl.world import read_problem
from meip.worlds.pddl.writer import domain_text, problem_text

DOMAIN = """(define (domain d)
  (:types car boat - vehicle place)
  (:predicates (at ?v - vehicle ?p - place) (free))
  (:functions (fuel ?v - vehicle))
  (:action go
    :parameters (?v - vehicle ?a ?b - place)
    :precondition (and (at ?v ?a) (free))
    :effect (and (at ?v ?b) (not (at ?v ?a)))))
"""
PROBLEM = """(define (problem p)
  (:domain d)
  (:objects c - car x y - place)
  (:init (at c x) (free))
  (:goal (at c y)))
"""

BAD_DOMAINS = {
    "an open parenthesis": (DOMAIN.replace("(free))\n  (:f", "(free)\n  (:f"), "1:1", "never closed"),
    "a parenthesis too many": (DOMAIN.rstrip() + ")", "8:48", "closes nothing"),
    "an unknown predicate": (
        DOMAIN.replace("(at ?v ?a) (free)", "(att ?v ?a) (free)"),
        "7:25",
        "'att' is not declared",
    ),
    "a wrong arity": (DOMAIN.replace("(at ?v ?b)", "(at ?v)"), "8:18", "takes 2 arguments"),
    "an undeclared type": (DOMAIN.replace("?v - vehicle ?a", "?v - wagon ?a"), "6:23", "type 'wagon'"),
    "an undeclared variable": (DOMAIN.replace("(at ?v ?b)", "(at ?v ?c)"), "8:25", "variable ?c"),
    "a disjoint type": (DOMAIN.replace("(at ?v ?b)", "(at ?a ?b)"), "8:22", "?a is of type place"),
    "an action twice": (DOMAIN.rstrip()[:-1] + "(:action go))", "8:56", "'go' is defined twice"),
    "a durative action": (DOMAIN.replace(":action", ":durative-action"), "5:3", "durative actions"),
    "a derived predicate": (DOMAIN.rstrip()[:-1] + "(:derived (free) (at c x)))", "8:47", "derived predicates"),
    "a preference": (DOMAIN.replace("(free))\n    :eff", "(preference q (free)))\n    :eff"), "7:35", "preferences"),
    "an object function": (DOMAIN.replace("(fuel ?v - vehicle)", "(fuel ?v) - place"), "4:27", "functions to objects"),
    "a problem file": (PROBLEM, "1:9", "this is a problem file"),
    "an empty file": ("; nothing\n", "1:1", "the file is empty"),
    "no define": ("(domain d)", "1:1", "expected (define"),
    "an unknown section": (DOMAIN.replace(":functions", ":funktions"), "4:3", "did you mean ':functions'"),
    "a parameter twice": (DOMAIN.replace("?a ?b", "?a ?a"), "6:34", "occurs twice"),
    "a parameter without ?": (DOMAIN.replace("?a ?b - place", "?a b - place"), "6:34", "must start with '?'"),
    "no type after -": (DOMAIN.replace("?a ?b - place)", "?a ?b -)"), "6:37", "a type is missing"),
    "a type above itself": (DOMAIN.replace("(:types", "(:types vehicle - car"), "2:11", "its own ancestor"),
    "an or effect": (DOMAIN.replace("(and (at ?v ?b)", "(or (at ?v ?b)"), "8:13", "cannot be an effect"),
    "too much probability": (
        DOMAIN.replace("(not (at ?v ?a))", "(probabilistic 0.7 (free) 0.5 (not (free)))"),
        "8:29",
        "add up to 1.2",
    ),
    "a bad probability": (DOMAIN.replace("(not (at ?v ?a))", "(probabilistic x (free))"), "8:44", "a probability"),
    "a number for a predicate": (
        DOMAIN.replace("(free))\n    :eff", "(> (free) 1))\n    :eff"),
        "7:38",
        "is a predicate",
    ),
    "nothing after :effect": (
        DOMAIN.replace("(and (at ?v ?b) (not (at ?v ?a)))", ""),
        "8:5",
        "nothing follows :effect",
    ),
    "a nested bomb": ("(" * 500, "1:201", "nested more than"),
}
BAD_PROBLEMS = {
    "another domain": (PROBLEM.replace("domain d", "domain e"), "2:12", "belongs to domain e"),
    "no goal": (PROBLEM.replace("(:goal (at c y))", ""), "1:1", "has no :goal"),
    "no init": (PROBLEM.replace("(:init (at c x) (free))", ""), "1:1", "has no :init"),
    "an undeclared object": (PROBLEM.replace("(at c y)", "(at c z)"), "5:16", "object 'z'"),
    "a wrong type": (PROBLEM.replace("(at c x)", "(at x x)"), "4:14", "x is of type place"),
    "an object twice": (PROBLEM.replace("x y - place", "x y - place x - car"), "3:33", "declared twice"),
    "an undeclared type": (PROBLEM.replace("c - car", "c - cart"), "3:17", "did you mean 'car'"),
    "a timed literal": (PROBLEM.replace("(free))\n", "(at 5 (free)))\n"), "4:19", "timed initial literals"),
    "two goals": (PROBLEM.replace("(:goal (at c y))", "(:goal (at c y) (free))"), "5:3", "takes one condition"),
    "a word as fact": (PROBLEM.replace("(free))", "free)"), "4:19", "found 'free'"),
    "text after the end": (PROBLEM + "(:goal (free))", "6:1", "after the end"),
    "a value that is no number": (PROBLEM.replace("(free))\n", "(= (fuel c) much))\n"), "4:31", "expected a number"),
    "an undeclared function": (PROBLEM.replace("(free))\n", "(= (load c) 1))\n"), "4:22", "function 'load'"),
}
BAD_PLANS = {
    "an unknown action": ("(go c x y)\n(goo c y x)", "2:2", "no action 'goo'"),
    "a missing argument": ("(go c x)", "1:1", "takes 3 arguments"),
    "an unknown object": ("; hi\n\n0.5: (go c x yy)", "3:14", "object 'yy'"),
    "a wrong type": ("(go x x y)", "1:5", "x is of type place"),
    "half a step": ("(go c x y", "1:1", "expected one step"),
    "an empty step": ("()", "1:1", "empty step"),
}


@pytest.mark.parametrize("name", BAD_DOMAINS)
def test_a_malformed_domain_gets_one_error_with_its_place(name: str) -> None:
    text, place, message = BAD_DOMAINS[name]
    with pytest.raises(DocumentError) as error:
        parse_domain(text, "f.pddl")
    assert str(error.value).startswith(f"f.pddl:{place}: ")
    assert message in str(error.value)


@pytest.mark.parametrize("name", BAD_PROBLEMS)
def test_a_malformed_problem_gets_one_error_with_its_place(name: str) -> None:
    text, place, message = BAD_PROBLEMS[name]
    with pytest.raises(DocumentError) as error:
        parse_problem(text, parse_domain(DOMAIN), "f.pddl")
    assert str(error.value).startswith(f"f.pddl:{place}: ")
    assert message in str(error.value)


@pytest.mark.parametrize("name", BAD_PLANS)
def test_a_malformed_plan_gets_one_error_with_its_place(name: str) -> None:
    text, place, message = BAD_PLANS[name]
    domain = parse_domain(DOMAIN)
    with pytest.raises(DocumentError) as error:
        parse_plan(text, domain, parse_problem(PROBLEM, domain), "f.plan")
    assert str(error.value).startswith(f"f.plan:{place}: ")
    assert message in str(error.value)


def test_a_missing_file_is_named() -> None:
    with pytest.raises(DocumentError, match=r"nowhere\.pddl: cannot be read"):
        read_text("nowhere.pddl")


def test_sloppy_files_are_read_as_planners_read_them() -> None:
    text = """(DEFINE (Domain D) ; no requirements, no types, mixed case
      (:ACTION Move :parameters (?X - Thing ?y) :precondition () :effect (AND (Here ?x) (not (here ?Y))))
      (:predicates (here ?x) (here ?z) (= ?a ?b)) (:constants home HOME - thing))"""
    domain = parse_domain(text)
    assert domain.actions["move"].parameters[0].types == ("thing",)
    assert domain.actions["move"].precondition == And(())
    problem = parse_problem(
        "(define (problem p) (:objects home A) (:init (HERE a) (here a) (not (here home))) (:goal (and)))", domain
    )
    assert problem.atoms == (Atom("here", ("a",)),)
    assert problem.all_objects(domain) == {"home": ("thing",), "a": ("object",)}


def test_every_construct_has_its_place_in_the_tree() -> None:
    domain = parse_domain("""(define (domain d) (:types a b - c) (:predicates (p ?x) (q ?x ?y - (either a b)) (r))
      (:functions (total-cost) - number (f ?x - a) - number)
      (:action act :parameters (?x - a)
        :precondition (and (imply (p ?x) (r)) (exists (?y - b) (q ?x ?y)) (not (= ?x ?x))
                           (>= (+ (f ?x) 1) 2) (= (f ?x) 3))
        :effect (and (forall (?x - b) (when (or (p ?x) (r)) (not (p ?x)))) (increase (total-cost) (f ?x))
                     (probabilistic 1/4 (p ?x) 0.5 (and (r) (probabilistic .5 (p ?x)))))))""")
    action = domain.actions["act"]
    assert isinstance(action.precondition, And) and isinstance(action.effect, Together)
    kinds = [type(p) for p in action.precondition.parts]
    assert kinds[0] is Or and kinds[1] is Quantified and kinds[3] is Compare and kinds[4] is Compare
    universal, _, chance = action.effect.parts
    assert isinstance(universal, ForAll) and isinstance(universal.effect, When)
    assert universal.variables[0].name == "?x_"  # hides the parameter, so it has a name of its own
    assert isinstance(chance, Chance) and [p for p, _ in chance.outcomes] == [0.25, 0.5]


def test_what_is_written_reads_back_as_the_same() -> None:
    domain = parse_domain(DOMAIN)
    problem = parse_problem(PROBLEM.replace("(free))", "(free) (= (fuel c) 0.1))"), domain)
    again = parse_domain(domain_text(domain), "domain")
    assert again == domain
    assert parse_problem(problem_text(problem), again) == problem


def test_plan_files_with_numbers_times_and_comments_are_read(tmp_path: Path) -> None:
    domain = parse_domain(DOMAIN)
    problem = parse_problem(PROBLEM, domain)
    text = "; by hand\n0: (GO c x y) [1]\n  1.000: (go c y x)\nstep 3: go c x y\n; cost = 3 (unit cost)"
    steps = [("go", "c", "x", "y"), ("go", "c", "y", "x"), ("go", "c", "x", "y")]
    assert parse_plan(text, domain, problem) == steps
    write_plan(tmp_path / "a.plan", steps)
    assert read_plan(tmp_path / "a.plan", domain, problem) == steps


def test_problem_files_are_read_from_disk(tmp_path: Path) -> None:
    (tmp_path / "d.pddl").write_text(DOMAIN)
    (tmp_path / "p.pddl").write_text(PROBLEM)
    assert read_problem(tmp_path / "p.pddl", tmp_path / "d.pddl").problem.goal == Atom("at", ("c", "y"))


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.integers(0, len(DOMAIN) + len(PROBLEM)), st.integers(0, 12), st.text("()?-:; \nabe0.é", max_size=6))
def test_mutilated_files_give_only_our_errors(place: int, length: int, inserted: str) -> None:
    both = DOMAIN + "\0" + PROBLEM
    text = both[:place] + inserted + both[place + length :]
    domain, _, problem = text.partition("\0")
    try:
        file = parse_domain(domain)
        parse_problem(problem, file)
    except MeipError as error:
        assert str(error).startswith(("domain:", "problem:"))
