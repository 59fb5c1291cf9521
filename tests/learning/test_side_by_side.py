"""Demonstrations side by side: what is woven, and when it is learned from."""

from __future__ import annotations

import numpy as np

from meip import Episode, learn
from meip.learning.side_by_side import beside, woven
from meip.learning.sparse import Problem, once
from meip.worlds.pddl import PddlWorld
from meip.worlds.pddl.demonstrate import solve, walked

DEMO = np.array([0, 0, 1])


def three_choices() -> Problem:
    """Two demonstrations, of two choices and of one; each alternative has a column of its own."""
    columns, group = np.eye(6), np.array([0, 0, 1, 1, 2, 2])
    free = np.full(6, np.inf)
    return Problem(
        columns, np.array([0, 2, 4, 6]), group, np.array([0, 3, 4]), np.ones(6), -free, free, once(columns, group)
    )


def test_a_weaving_keeps_both_orders_and_stays_at_the_last_choice() -> None:
    for seed in range(20):
        steps = list(woven([1, 2, 3], [7, 8], np.random.default_rng(seed)))
        made = [one for one, _ in steps]
        assert [c for c in made if c < 5] == [1, 2, 3]
        assert [c for c in made if c > 5] == [7, 8]
        for k, (one, other) in enumerate(steps):
            rest = [c for c in made[k + 1 :] if (c > 5) != (one > 5)]
            assert other == (rest[0] if rest else (8 if one < 5 else 3))


def test_beside_a_choice_is_what_was_not_chosen_in_the_other_world() -> None:
    problem = three_choices()
    found = beside(problem, DEMO, [0, 1], seed=0)
    assert len(found.chosen) == 6  # each choice alone, and each beside one of the other demonstration
    for start, end, chosen in zip(found.start[3:-1], found.start[4:], found.chosen[3:], strict=True):
        alternatives = set(found.columns[start:end].argmax(axis=1).tolist())
        assert len(alternatives) == 3
        right = alternatives & set(problem.chosen.tolist())
        assert right == {int(found.columns[chosen].argmax())}  # what the other would do next is as right


def test_a_demonstration_left_out_is_in_no_weaving() -> None:
    found = beside(three_choices(), DEMO, [0], seed=0)
    assert found.columns[:, 4:].sum() == 0
    assert len(found.chosen) == 2


def test_choices_left_out_decide_whether_demonstrations_are_learned_from_side_by_side() -> None:
    worlds = [PddlWorld("ferry", generate={"cars": n, "landings": 3}, seed=n) for n in (2, 3, 4)]
    task = learn([Episode(world, walked(world, solve(world)[0])) for world in worlds])
    assert set(task.provenance.evidence["side_by_side"]) == {"alone", "side by side"}
