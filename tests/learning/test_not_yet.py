"""The last thing that is done has conditions, rules speak of any rather than of all, and who breaks them is odd."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from meip import Domain, EntityClass, Facts, Task, World, learn, predicate

KINDS = ("rose", "fern", "moss")
BASKET = Domain(
    "basket",
    (EntityClass("flower"),),
    (
        predicate("taken", "flower", phrase="{0} is in the basket"),
        predicate("shut", phrase="the basket is shut"),
        *(predicate(kind, "flower", static=True, phrase=f"{{0}} is a {kind}") for kind in KINDS),
        predicate("wilted", "flower", static=True, phrase="{0} is wilted"),
    ),
)
SHUT = -1


@dataclass(frozen=True)
class Basket(World):
    """Flowers are taken in any order; the basket may be shut at any time, and then it is over."""

    kinds: tuple[str, ...]
    wilted: tuple[int, ...] = ()
    domain = BASKET

    @property
    def horizon(self) -> int:
        return len(self.kinds) + 2

    def initial(self) -> Any:
        return [(1.0, (frozenset(), False))]

    def actions(self, state: Any) -> Any:
        taken, shut = state
        return [] if shut else [*(i for i in range(len(self.kinds)) if i not in taken), SHUT]

    def outcomes(self, state: Any, action: Any) -> Any:
        taken, _ = state
        return [(1.0, (taken, True) if action == SHUT else (taken | {action}, False))]

    def facts(self, state: Any) -> Facts:
        taken, shut = state
        return Facts.build(BASKET, {"flower": len(self.kinds)}, {"taken": taken, "shut": shut})

    def static_facts(self) -> Facts:
        kinds = {kind: np.array(self.kinds) == kind for kind in KINDS}
        return Facts.build(BASKET, {"flower": len(self.kinds)}, {**kinds, "wilted": self.wilted})


def shown(rng: np.random.Generator, roses: int, wilted: int = 1) -> tuple[Basket, list[int]]:
    """Two roses, ferns as one likes, nothing wilted; then the basket is shut."""
    kinds = tuple(rng.permutation(["rose"] * roses + ["fern"] * 3 + ["moss"] * wilted).tolist())
    world = Basket(kinds, tuple(i for i, kind in enumerate(kinds) if kind == "moss"))
    chosen = [int(i) for i in rng.permutation([i for i, k in enumerate(kinds) if k == "rose"])[:2]]
    chosen += [i for i, k in enumerate(kinds) if k == "fern" and rng.random() < 0.5]
    return world, [*(chosen[i] for i in rng.permutation(len(chosen))), SHUT]


@pytest.fixture(scope="module")
def task() -> Task:
    rng = np.random.default_rng(1)
    return learn([shown(rng, roses) for roses in (4, 5, 4, 3, 5, 4)])


def test_nobody_does_the_last_thing_before_there_is_enough(task: Task) -> None:
    assert task.preferences is not None
    rules = {str(rule.concept): rule for rule in task.preferences.never}
    rule = rules["some(shut) and not (count(rose and taken) = 2)"]
    assert not rule.hunch and rule.possible > 10
    rng = np.random.default_rng(2)
    for roses in (5, 7):
        world, _ = shown(rng, roses)
        taken = [action for action in task.plan(world).actions if action != SHUT]
        assert sum(world.kinds[i] == "rose" for i in taken) == 2


def test_a_rule_is_about_any_where_one_was_all_there_was(task: Task) -> None:
    """One wilted flower in each basket: that all of them are never taken is that none is."""
    assert task.preferences is not None
    rules = [str(rule.concept) for rule in task.preferences.never]
    assert "some(moss and taken)" in rules and "all(taken | moss)" not in rules
    rng = np.random.default_rng(3)
    world, _ = shown(rng, 4, wilted=3)
    assert not set(task.plan(world).actions) & set(world.wilted)


def test_who_breaks_a_rule_of_all_others_is_named() -> None:
    rng = np.random.default_rng(4)
    right = [shown(rng, roses) for roses in (4, 5, 4, 3, 5)]
    world, actions = shown(rng, 4)
    wrong = (world, [world.wilted[0], *actions])
    found = learn([*right[:3], wrong, *right[3:]]).provenance.evidence["unlike_the_others"]
    assert found[:1] == [4]
