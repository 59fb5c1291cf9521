"""What is told of the end, and of order: by its evidence, and never what came by chance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from meip import Domain, EntityClass, Facts, World, learn, predicate, record
from meip.experiments.gallery import demonstrate, everyday_task

DOMAIN = Domain(
    "bag",
    (EntityClass("thing"),),
    (
        predicate("packed", "thing", phrase="{0} is packed"),
        predicate("needed", "thing", static=True, phrase="{0} is needed"),
        predicate("round", "thing", static=True, phrase="{0} is round"),
        predicate("shut", phrase="the bag is shut"),
    ),
)


@dataclass(frozen=True)
class Bag(World):
    """Things go into a bag, in any order, until it is shut."""

    domain = DOMAIN
    horizon = 8

    def initial(self):
        return [(1.0, (frozenset(), False))]

    def actions(self, state):
        return [] if state[1] else [*(i for i in range(6) if i not in state[0]), -1]

    def outcomes(self, state, action):
        return [(1.0, (state[0], True) if action < 0 else (state[0] | {action}, False))]

    def facts(self, state):
        return Facts.build(DOMAIN, {"thing": 6}, {"packed": state[0], "shut": state[1]})

    def static_facts(self):
        return Facts.build(DOMAIN, {"thing": 6}, {"needed": [0, 1, 2], "round": [0, 3, 4]})


def told(*orders):
    task = learn([(Bag(), record(Bag(), [*order, -1])) for order in orders])
    return task.explain()


def test_all_of_a_kind_is_told_in_the_end_where_not_all_are_so():
    found = told((0, 1, 2), (2, 1, 0), (1, 2, 0, 3), (0, 2, 1, 5), (2, 0, 1, 4))
    ends = [s.text for s in found.statements if s.kind == "done"]
    assert "all(packed | needed)" in ends and "some(shut)" in ends
    assert not any("round" in text for text in ends)


def test_what_only_some_are_in_the_end_is_not_told():
    found = told((0,), (1, 3), (5,), (4, 2), (3,))
    assert [s.text for s in found.statements if s.kind == "done" and not s.weight] == ["some(shut)"]


@pytest.mark.parametrize("seed", [5, 6])
def test_an_order_that_could_hardly_have_been_otherwise_is_not_told(seed):
    task, rng = everyday_task("laundry"), np.random.default_rng(seed)
    found = learn([demonstrate(task, rng) for _ in range(5)]).explain()
    orders = [s for s in found.statements if s.kind == "order"]
    assert orders and all(s.possible == 0 or s.evidence > 0.5 for s in orders)


def test_what_is_avoided_but_always_comes_is_late():
    task, rng = everyday_task("laundry"), np.random.default_rng(201)
    found = learn([demonstrate(task, rng) for _ in range(5)]).explain()
    (late,) = (said for said in found.statements if said.kind == "late")
    assert "rather late: the number of garments that are washed and are not white" in late.english


def test_a_guess_says_so_in_the_table_and_in_the_sentence():
    task, rng = everyday_task("packing"), np.random.default_rng(202)
    found = learn([demonstrate(task, rng) for _ in range(5)]).explain()
    guesses = [s.english for s in found.statements if s.english.startswith("perhaps: ")]
    assert guesses and "Perhaps: " + guesses[0].removeprefix("perhaps: ") in found.sentence
