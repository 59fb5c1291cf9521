"""Steps: what they make new beside how things were, and what is learned of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meip import Domain, EntityClass, Episode, Facts, MeipError, Task, World, function, learn, predicate, record
from meip.concepts.language import Concept
from meip.concepts.parser import parse_concept
from meip.concepts.steps import before, first_of, is_about_steps, not_done
from meip.learning.evidence import Evidence
from meip.learning.steps import Steps
from meip.model.choices import replay_all
from meip.model.domain import stack_facts
from meip.model.steps import step_blocks, step_domain

ROUND = Domain(
    "round",
    (EntityClass("stop"),),
    (
        predicate("visited", "stop", phrase="{0} is visited"),
        predicate("here", "stop", phrase="the van is at {0}"),
        predicate("north", "stop", static=True, phrase="{0} is in the north"),
        function("away", "stop", phrase="the way from here to {0}"),
        function("fuel", phrase="the fuel"),
    ),
)


@dataclass(frozen=True)
class Round(World):
    """A van visits places on a line; each unit of way takes fuel, and it can be filled up anywhere."""

    places: tuple[int, ...] = (3, -1, 6)
    tank: int = 40
    domain = ROUND

    @property
    def horizon(self) -> int:
        return 3 * len(self.places) + 1

    def initial(self) -> Any:
        return [(1.0, (0, frozenset(), self.tank))]

    def actions(self, state: Any) -> Any:
        at, visited, fuel = state
        left = [i for i in range(len(self.places)) if i not in visited]
        if not left:
            return []
        near = [i for i in left if abs(self.places[i] - at) <= fuel]
        return [*near, "fill"] if fuel < self.tank else near

    def outcomes(self, state: Any, action: Any) -> Any:
        at, visited, fuel = state
        if action == "fill":
            return [(1.0, (at, visited, self.tank))]
        to = self.places[action]
        return [(1.0, (to, visited | {action}, fuel - abs(to - at)))]

    def facts(self, state: Any) -> Facts:
        at, visited, fuel = state
        return Facts.build(ROUND, {"stop": len(self.places)}, {
            "visited": visited, "here": [i for i in visited if self.places[i] == at], "fuel": float(fuel),
            "away": [float(abs(p - at)) for p in self.places],
        })  # fmt: skip

    def static_facts(self) -> Facts:
        north = [i for i, p in enumerate(self.places) if p > 0]
        return Facts.build(ROUND, {"stop": len(self.places)}, {"north": north})


def nearest(world: Round, state: Any) -> int:
    at, visited, _ = state
    return min((i for i in range(len(world.places)) if i not in visited), key=lambda i: abs(world.places[i] - at))


def walk(world: Round, low: int = 0) -> list[Any]:
    """On to the nearest; filled up first where there is less fuel than `low`."""
    state, actions = world.initial()[0][1], list[Any]()
    while world.actions(state):
        fill = "fill" if state[2] < low else None
        actions.append(fill or nearest(world, state))
        state = world.outcomes(state, actions[-1])[0][1]
    return actions


def rounds(seed: int, count: int, places: int, tank: int = 400) -> list[Round]:
    rng = np.random.default_rng(seed)
    return [Round(tuple(rng.choice(np.r_[-40:0, 1:40], places, replace=False).tolist()), tank) for _ in range(count)]


def kept(world: Round, task: Task) -> bool:
    state = world.initial()[0][1]
    for action in task.plan(world).actions:
        if action != "fill" and action != nearest(world, state):
            return False
        state = world.outcomes(state, action)[0][1]
    return len(state[1]) == len(world.places)


@pytest.fixture(scope="module")
def near() -> Task:
    return learn([(world, walk(world)) for world in rounds(1, 5, 5)])


def test_the_facts_of_a_step_say_what_is_new_and_how_things_were() -> None:
    world = Round((3, -1, 6), 40)
    one = world.initial()[0][1]
    other = world.outcomes(one, 0)[0][1]
    blocks = stack_facts(ROUND, [world.facts(one), world.facts(other)], world.static_facts())
    (found,), steps = step_blocks(ROUND, blocks, np.array([0, 1]), np.array([1, 1]))
    assert steps.tolist() == [0, 1]
    assert found.tables["new-visited"].tolist() == [[True, False, False], [False] * 3]
    assert found.tables["old-away"].tolist() == [[3.0, 1.0, 6.0], [0.0, 4.0, 3.0]]
    assert found.tables["up-away"].tolist() == [[False, True, False], [False] * 3]
    assert found.tables["down-fuel"].tolist() == [True, False] and found.tables["gone-here"].sum() == 0
    assert {f.name for f in step_domain(ROUND).fluents} == set(found.tables)
    assert "new-north" not in found.tables  # what never changes is not made


def test_a_fluent_of_the_user_keeps_its_name() -> None:
    own = Domain("own", (), (predicate("done"), predicate("new-done", phrase="it is brand new")))
    assert own.fluent("new-done").phrase == "it is brand new" and "new-done" not in own.copies
    assert own.fluent("old-done").name == "old-done"


def test_on_to_the_nearest_is_learned_and_carries_over_to_more_places(near: Task) -> None:
    assert sum(kept(world, near) for world in rounds(2, 6, 9)) >= 5
    said = near.explain().sentence
    assert "First: of the steps by which" in said and "the one for which the way from here to it is smallest" in said


def test_what_is_said_of_steps_is_saved_struck_and_edited(near: Task, tmp_path: Path) -> None:
    near.save(tmp_path / "near.json")
    again = Task.load(tmp_path / "near.json")
    worlds = rounds(3, 4, 8)
    assert [again.plan(w).actions for w in worlds] == [near.plan(w).actions for w in worlds]
    assert near.preferences is not None
    struck = near
    for said in near.preferences.statements:
        struck = struck.strike(str(said.concept)) if said.kind == "first" else struck
    assert struck.preferences is not None and len(struck.preferences.first) < len(near.preferences.first)
    assert [struck.plan(w).actions for w in worlds] != [near.plan(w).actions for w in worlds]


def test_a_rule_may_say_how_things_were_before_a_step() -> None:
    """Filled up with less than 30 in the tank only: filling changes what it depends on."""
    worlds = rounds(4, 6, 6, tank=100)
    task = learn([(world, walk(world, 30)) for world in worlds])
    assert task.preferences is not None
    rules = [str(rule.concept) for rule in task.preferences.never if rule.step]
    assert any("up-fuel" in rule and "old-fuel" in rule for rule in rules), rules
    assert "the fuel is raised while the fuel is" in task.explain().sentence
    for world in rounds(5, 4, 8, tank=100):
        state = world.initial()[0][1]
        for action in task.plan(world).actions:
            assert action != "fill" or state[2] < 40
            state = world.outcomes(state, action)[0][1]


def test_nothing_is_a_rule_where_there_was_no_other_way() -> None:
    """With one place at a time there is no choice but to go on: no evidence, and nothing broken."""
    shown = replay_all([Episode(w, record(w, walk(w))) for w in rounds(6, 5, 4)])
    evidence = Evidence(shown)
    steps = Steps(evidence)
    usual = np.ones(len(evidence.rows)) / np.diff(evidence.start)[evidence.group]
    for deed in steps.rules(usual):
        for choice in range(evidence.count):
            rows = slice(evidence.start[choice], evidence.start[choice + 1])
            done, stop = deed.done[rows], evidence.stop[rows]
            assert not done.any() or (~done & ~stop).any()


def concept(text: str) -> Concept:
    return parse_concept(text, ROUND)


def test_concepts_about_steps_parse_and_read() -> None:
    low = before(concept("not (30 <= mean(fuel))"), ROUND)
    assert str(low) == "not (30 <= mean(old-fuel))" and is_about_steps(low, ROUND)
    deed = concept("some(new-visited and north) and not (30 <= mean(old-fuel))")
    assert not_done(deed, ROUND) == "some stop is visited and is in the north while the fuel is below 30"
    assert "of the steps by which" in first_of(concept("mean(old-away | new-visited)"), ROUND, True)


def test_a_concept_about_steps_is_refused_where_states_are_meant() -> None:
    with pytest.raises(MeipError, match="'new-visited' is about a step"):
        learn([(w, walk(w)) for w in rounds(7, 3, 3)], concepts=["some(new-visited)"])
