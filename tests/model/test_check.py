"""check_world: each thing that can be wrong with a world is found and said in words; nothing is ever raised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from meip import Domain, EntityClass, FactBlock, Facts, WorldError, check_world, function, predicate
from meip.model.graph import StateGraph
from meip.model.problems import checked_world
from meip.model.world import HOOKS, half_offered, horizon_of, offers
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual

DOMAIN = Domain(
    "lamps",
    (EntityClass("lamp"),),
    (predicate("on", "lamp"), function("power", "lamp"), predicate("red", "lamp", static=True)),
)


class Lamps:
    """Three lamps, one is switched at each step; written without inheriting from World."""

    domain: Any = DOMAIN
    horizon: Any = 4

    def initial(self) -> Any:
        return [(1.0, (False, False, False))]

    def actions(self, state: Any) -> Any:
        return [0, 1, 2]

    def outcomes(self, state: Any, action: Any) -> Any:
        lit = (*state[:action], not state[action], *state[action + 1 :])
        return [(0.75, lit), (0.25, state)]

    def facts(self, state: Any) -> Any:
        return Facts.build(DOMAIN, {"lamp": 3}, {"on": np.array(state), "power": np.array(state, dtype=float)})

    def static_facts(self) -> Any:
        return Facts.build(DOMAIN, {"lamp": 3}, {"red": [0]})


@pytest.mark.parametrize(
    "world", [Lamps(), Ritual(), Ritual(order=(3, 1, 2), distractors=2), Didactic(), Didactic(p=0)]
)
def test_good_worlds_have_no_problems(world: Any) -> None:
    assert check_world(world) == []


def good(state: Any, **changes: Any) -> Facts:
    tables = {"on": np.array(state), "power": np.zeros(3)}
    return Facts({"lamp": 3}, {k: v for k, v in (tables | changes).items() if v is not None})


def raises(*_: Any) -> Any:
    raise KeyError("bulb")


def refuses(*_: Any) -> Any:
    raise WorldError("no bulb")


CALLS = iter(range(10**6))

FAULTS: list[tuple[str, Any, str]] = [
    ("domain", None, "domain must be a Domain, got None"),
    ("horizon", 0, "horizon must be a positive number of states, got 0"),
    ("horizon", 2.5, "got 2.5"),
    ("initial", lambda self: [], "initial() is empty"),
    ("initial", lambda self: [(0.5, (False,) * 3)], "the probabilities of initial() sum to 0.5, not to 1"),
    ("initial", lambda self: [(1.0, [False] * 3)], "state [False, False, False] is not hashable; use tuples"),
    ("initial", lambda self: [(False,) * 3], "initial() must list (probability, state), got (False, False, False)"),
    ("initial", lambda self: None, "initial() must return a list or tuple, got None"),
    ("actions", lambda self, state: [], "the episode is over before it begins"),
    ("actions", lambda self, state: [0, 0], "actions() list an action twice"),
    ("actions", lambda self, state: [[0]], "action [0] is not hashable"),
    ("actions", lambda self, state: (a for a in [0]), "actions() must return a list or tuple"),
    ("actions", raises, "actions() failed in state (False, False, False): KeyError: 'bulb'"),
    ("actions", refuses, "actions() failed in state (False, False, False): no bulb"),
    ("outcomes", lambda self, state, action: [], "outcomes() is empty"),
    ("outcomes", lambda self, state, action: [(-0.5, state), (1.5, state)], "outcomes() has the probability -0.5"),
    ("outcomes", lambda self, state, action: [(float("nan"), state)], "outcomes() has the probability nan"),
    ("outcomes", lambda self, state, action: [(0.9, state)], "the probabilities of outcomes() sum to 0.9, not to 1"),
    ("outcomes", raises, "outcomes() failed for action "),
    ("facts", lambda self, state: good(state, on=None), "facts() have no table for fluent 'on' in state"),
    ("facts", lambda self, state: good(state, on=np.zeros(2, bool)), "'on' must have shape (3,) (an axis per"),
    ("facts", lambda self, state: good(state, on=np.zeros(3)), "predicate 'on' must be a numpy array of bool"),
    ("facts", lambda self, state: good(state, on=[True] * 3), "got list"),
    ("facts", lambda self, state: good(state, power=np.full(3, np.inf)), "function 'power' is infinite"),
    ("facts", lambda self, state: good(state, of=np.zeros(3)), "have a table 'of', which is no fluent"),
    (
        "facts",
        lambda self, state: good(state, power=np.full(3, float(next(CALLS)))),
        "facts() differ between two calls",
    ),
    ("facts", lambda self, state: {}, "facts() must return Facts, got {}"),
    ("facts", raises, "facts() failed in state"),
    ("static_facts", lambda self: Facts({"lamp": 3}), "'red' is declared static, but static_facts() has no table"),
    ("static_facts", lambda self: None, "static_facts() must return Facts"),
    ("static_facts", lambda self: Facts({"lmap": 3}, {"red": np.zeros(3, bool)}), "count 'lmap', which is no class"),
    ("describe", raises, "describe() failed: KeyError"),
    ("reached", lambda self, state: True, "the goal is reached, but actions() is not empty"),
    ("facts_batch", lambda self, states: [], "facts_batch() disagrees with facts() about 'on'"),
    ("facts_batch", lambda self, states: [FactBlock(np.arange(1), {}, {})], "facts_batch() is malformed: KeyError"),
    ("max_steps", 4, "horizon = 4 and max_steps = 4 contradict each other: horizon counts states, the first included"),
    ("max_steps", -1, "max_steps must be a number of actions, got -1"),
    ("horizon", property(raises), "asking for the horizon failed: KeyError: 'bulb'"),
    ("horizon", None, "Broken has neither horizon, the states of an episode at most, nor max_steps, its actions"),
    (
        "facts",
        lambda self, state: good(state, red=np.zeros(3, bool)),
        "fluent 'red' is in static_facts() and in facts() in state (False, False, False): state it in one of them",
    ),
]


@pytest.mark.parametrize(("member", "value", "message"), FAULTS)
def test_each_fault_is_named(member: str, value: Any, message: str) -> None:
    report = check_world(type("Broken", (Lamps,), {member: value})())
    assert any(message in error for error in report.errors), report
    assert len(report) <= 4  # the first of each kind, not a flood


class Short(Lamps):
    """One lamp is lit, and that is all."""

    horizon = 10

    def actions(self, state: Any) -> Any:
        return [] if any(state) else [0]

    def outcomes(self, state: Any, action: Any) -> Any:
        return [(1.0, (True, False, False))]


def test_what_works_and_may_not_be_meant_is_a_hint_and_no_error() -> None:
    report = check_world(Short())
    assert report == report.errors == []
    assert report.hints == [
        "no walk of 50 reached the horizon of 10 states (9 actions), the longest had 2 states (1 action): is an action "
        "missing, or the horizon too large?"
    ]
    assert str(report) == f"hint   {report.hints[0]}"


def test_a_report_shows_errors_before_hints() -> None:
    report = check_world(type("Broken", (Lamps,), {"onward": raises, "initial": lambda self: []})())
    assert [line.split()[0] for line in str(report).splitlines()] == ["error", "hint"]
    assert report[0] in str(report) and report.hints[0] in str(report)
    assert str(check_world(Lamps())) == "nothing wrong was found"


def test_to_begin_in_a_goal_is_a_hint() -> None:
    there = {"reached": lambda self, state: True, "actions": lambda self, state: []}
    report = check_world(type("There", (Lamps,), there)())
    assert report == []
    assert report.hints == ["the goal is reached before anything is done in state (False, False, False)"]


def test_a_world_may_count_actions_instead_of_states() -> None:
    counting = {name: member for name, member in vars(Lamps).items() if name != "horizon"}
    world = type("Counting", (), counting | {"max_steps": np.int64(3)})()
    assert check_world(world) == [] and check_world(world).hints == []
    assert horizon_of(world) == StateGraph(world).horizon == Lamps().horizon
    assert checked_world(world, "here") is world
    both = type("Both", (Lamps,), {"max_steps": 3})()
    assert check_world(both) == [] and horizon_of(both) == 4
    neither = type("Neither", (), counting)()
    assert check_world(neither)[0].startswith("Neither has no horizon; a world needs domain, horizon (or max_steps)")
    with pytest.raises(WorldError, match="Neither has neither horizon, the states of an episode at most, nor"):
        _ = StateGraph(neither).horizon


def test_what_is_not_a_world_at_all_is_told_what_it_lacks() -> None:
    assert check_world(object())[0].startswith("object has no domain; a world needs domain, horizon")


def test_a_walk_is_repeatable() -> None:
    faulty = type("Faulty", (Lamps,), {"outcomes": lambda self, s, a: [(0.5, s)] if a == 2 else [(1.0, s)]})
    assert check_world(faulty(), seed=3) == check_world(faulty(), seed=3) != []


def with_members(*names: str) -> Any:
    """The lamps with these members besides."""
    return type("Hooked", (Lamps,), dict.fromkeys(names, lambda self, *given: None))()


HALF = {
    ("onward",): "the hook GoesOn is half there: reached missing",
    ("first_moves",): "the hook Lazy is half there: most_moves missing",
    ("most_moves",): "the hook Lazy is half there: first_moves missing",
    ("paint",): "the hook Paints is half there: draw missing",
    ("decode_action", "with_proposal"): "the hook Open is half there: learn_proposal missing",
    ("learn_proposal",): "the hook Open is half there: decode_action, with_proposal missing",
    ("suffixes", "read_problem"): "the hook Files is half there: plan_text, read_plans missing",
}


@pytest.mark.parametrize("members", HALF, ids="+".join)
def test_a_hook_that_is_half_there_is_named_with_what_is_missing(members: tuple[str, ...]) -> None:
    found = [hint for hint in check_world(with_members(*members)).hints if "half there" in hint]
    assert found == [f"{HALF[members]}; add it, or rename the rest"]


@pytest.mark.parametrize("hook", HOOKS, ids=lambda hook: hook.__name__)
def test_a_hook_with_all_its_members_is_offered_and_none_is_half_there(hook: type[Any]) -> None:
    members = {name for name in (*dir(hook), *hook.__annotations__) if not name.startswith("_")}
    world = with_members(*members)
    assert offers(world, hook) and half_offered(world) == []


@pytest.mark.parametrize(
    "member", ["static_facts", "facts_batch", "describe", "draw", "reached", "decode_action", "state_graph"]
)
def test_a_hook_of_one_member_is_never_half_there(member: str) -> None:
    world = with_members(member)
    assert half_offered(world) == []
    assert any(offers(world, hook) and not offers(Lamps(), hook) for hook in HOOKS) or member == "static_facts"
