"""What the world gives is compared with: relations that lead somewhere, kinds in one place, numbers that stay."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from meip import Domain, EntityClass, Facts, Task, World, function, learn, predicate
from meip.concepts.bank import ConceptBank
from meip.concepts.english import english
from meip.concepts.grammar import Grammar
from meip.concepts.parser import parse_concept

SHELVES = Domain(
    "shelves",
    (EntityClass("jar"), EntityClass("owner"), EntityClass("shelf", "shelves")),
    (
        predicate("on", "jar", "shelf", phrase="{0} is on {1}"),
        predicate("of", "jar", "owner", static=True, phrase="{0} belongs to {1}"),
        predicate("has", "owner", "shelf", static=True, phrase="{0} has {1}"),
        predicate("acid", "jar", static=True, phrase="{0} is sour"),
        predicate("base", "jar", static=True, phrase="{0} is bitter"),
    ),
)


@dataclass(frozen=True)
class Shelves(World):
    owners: tuple[int, ...]
    """Of each jar."""
    shelves: tuple[int, ...]
    """Of each owner."""
    acids: tuple[int, ...] = ()
    bases: tuple[int, ...] = ()
    domain = SHELVES

    @property
    def horizon(self) -> int:
        return len(self.owners) + 1

    def initial(self) -> Any:
        return [(1.0, (-1,) * len(self.owners))]

    def actions(self, state: Any) -> Any:
        return [(i, k) for i, at in enumerate(state) if at < 0 for k in range(max(self.shelves) + 1)]

    def outcomes(self, state: Any, action: Any) -> Any:
        i, k = action
        return [(1.0, (*state[:i], k, *state[i + 1 :]))]

    @property
    def counts(self) -> dict[str, int]:
        return {"jar": len(self.owners), "owner": len(self.shelves), "shelf": max(self.shelves) + 1}

    def facts(self, state: Any) -> Facts:
        return Facts.build(SHELVES, self.counts, {"on": [(i, k) for i, k in enumerate(state) if k >= 0]})

    def static_facts(self) -> Facts:
        return Facts.build(SHELVES, self.counts, {
            "of": list(enumerate(self.owners)), "has": list(enumerate(self.shelves)),
            "acid": self.acids, "base": self.bases,
        })  # fmt: skip


def shelves(rng: np.random.Generator, jars: int) -> Shelves:
    kinds = rng.permutation(jars)
    owners = tuple(int(k) for k in rng.permutation(np.arange(jars) % 4))
    third = jars // 3
    return Shelves(owners, (0, 1, 2, 1), tuple(kinds[:third].tolist()), tuple(kinds[third : 2 * third].tolist()))


def at_home(world: Shelves, state: Any, action: Any) -> bool:
    return bool(world.shelves[world.owners[action[0]]] == action[1])


def apart(world: Shelves, state: Any, action: Any) -> bool:
    i, k = action
    there = {j for j, at in enumerate(state) if at == k}
    other = world.bases if i in world.acids else world.acids if i in world.bases else ()
    return not there & set(other)


Rule = Callable[[Shelves, Any, Any], bool]


def shown(rule: Rule, count: int, seed: int) -> list[tuple[Shelves, list[Any]]]:
    """Jars put away at random, as the rule allows; again from the start where it does not."""
    rng, found = np.random.default_rng(seed), []
    while len(found) < count:
        world = shelves(rng, 6)
        state, actions = world.initial()[0][1], list[Any]()
        while fine := [a for a in world.actions(state) if rule(world, state, a)]:
            actions.append(fine[int(rng.integers(len(fine)))])
            state = world.outcomes(state, actions[-1])[0][1]
        if -1 not in state:
            found.append((world, actions))
    return found


def keeps(task: Task, rule: Rule, world: Shelves) -> bool:
    state = world.initial()[0][1]
    for action in task.plan(world).actions:
        if not rule(world, state, action):
            return False
        state = world.outcomes(state, action)[0][1]
    return -1 not in state


def test_each_where_what_it_belongs_to_is_at_home() -> None:
    task = learn(shown(at_home, 5, 1))
    said = "in some pair of a jar and a shelf, the jar is on the shelf and belongs to no owner that has the shelf"
    assert said in task.explain().sentence
    rng = np.random.default_rng(2)
    assert all(keeps(task, at_home, shelves(rng, 12)) for _ in range(3))


def test_two_kinds_are_never_in_one_place() -> None:
    task = learn(shown(apart, 8, 3))
    assert task.preferences is not None
    rules = [str(rule.concept) for rule in task.preferences.never if not rule.hunch]
    assert "some(some inverse(on).acid and some inverse(on).base)" in rules
    rng = np.random.default_rng(4)
    assert sum(keeps(task, apart, shelves(rng, 9)) for _ in range(4)) >= 3


def test_candidates_of_company_stay_within_what_changes_and_what_is_given() -> None:
    bank = ConceptBank(SHELVES, Grammar(restriction=True, company=True, boolean_arity=1, closure=False, max_level=3))
    every = {str(concept) for _, concepts, _ in bank.levels() for concept in concepts}
    assert "some(on and not (of . has))" in every and "count(on and of . has)" in every
    assert "some(some inverse(on).acid and some inverse(on).base)" in every
    assert not any("inverse(of)" in text or "inverse(has)" in text for text in every)
    without = ConceptBank(SHELVES, Grammar(restriction=True, boolean_arity=1, closure=False, max_level=3))
    assert not any("inverse" in str(c) for _, concepts, _ in without.levels() for c in concepts)


def test_a_role_between_two_classes_can_be_turned_round() -> None:
    concept = parse_concept("count(some inverse(on).acid)", SHELVES)
    assert str(concept) == "count(some inverse(on).acid)"
    assert english(concept, SHELVES) == "the number of shelves that some jar that is sour is on"


TABLE = Domain(
    "table",
    (EntityClass("guest"), EntityClass("cup")),
    (
        predicate("coming", "guest", static=True, phrase="{0} comes"),
        predicate("laid", "cup", phrase="{0} is laid"),
        function("water", "cup", phrase="the water in {0}"),
    ),
)


@dataclass(frozen=True)
class Table(World):
    """Cups are laid, and filled up by ten."""

    coming: int
    cups: tuple[int, ...]
    """What is in each."""
    domain = TABLE

    @property
    def horizon(self) -> int:
        return 24

    def initial(self) -> Any:
        return [(1.0, (frozenset(), self.cups))]

    def actions(self, state: Any) -> Any:
        laid, water = state
        fill = [("fill", i) for i in range(len(water)) if water[i] < 100]
        return [*(("lay", i) for i in range(len(water)) if i not in laid), *fill]

    def outcomes(self, state: Any, action: Any) -> Any:
        (laid, water), (what, i) = state, action
        more = (*water[:i], water[i] + 10, *water[i + 1 :])
        return [(1.0, (laid | {i}, water) if what == "lay" else (laid, more))]

    def facts(self, state: Any) -> Facts:
        laid, water = state
        counts = {"guest": self.coming + 2, "cup": len(water)}
        return Facts.build(TABLE, counts, {"laid": laid, "water": [float(w) for w in water]})

    def static_facts(self) -> Facts:
        return Facts.build(TABLE, {"guest": self.coming + 2, "cup": len(self.cups)}, {"coming": range(self.coming)})


def laid(coming: int, cups: int, rng: np.random.Generator) -> tuple[Table, list[Any]]:
    """A cup for each guest; cups with less than forty are filled up."""
    world = Table(coming, tuple(int(w) for w in rng.choice([20, 30, 40, 50, 60, 70], cups)))
    todo = [("lay", int(i)) for i in rng.permutation(cups)[:coming]]
    todo += [("fill", i) for i, w in enumerate(world.cups) for _ in range(max(0, (49 - w) // 10))]
    return world, [todo[k] for k in rng.permutation(len(todo))]


def test_as_many_as_the_world_asks_for_and_only_what_lacks() -> None:
    rng = np.random.default_rng(5)
    task = learn([laid(n, 5, rng) for n in (2, 4, 3, 1, 3, 2)])
    assert task.preferences is not None
    rules = [str(rule.concept) for rule in task.preferences.never]
    assert "not (count(laid) <= count(coming))" in rules
    for coming in (5, 6):
        world, _ = laid(coming, 8, rng)
        plan = task.plan(world)
        states = [world.initial()[0][1]]
        for action in plan.actions:
            assert action[0] == "lay" or states[-1][1][action[1]] < 50
            states.append(world.outcomes(states[-1], action)[0][1])
        assert len(states[-1][0]) == coming
