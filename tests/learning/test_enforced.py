"""What the world made everybody do first to each single thing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from meip import Domain, EntityClass, Episode, Facts, World, learn, predicate, record
from meip.learning.enforced import always_ready
from meip.learning.evidence import Evidence
from meip.model.choices import replay_all

CUPS = Domain(
    "cups",
    (EntityClass("cup"),),
    (
        predicate("washed", "cup", phrase="{0} is washed"),
        predicate("filled", "cup", phrase="{0} is filled"),
        predicate("blue", "cup", static=True, phrase="{0} is blue"),
    ),
)
State = tuple[frozenset[int], frozenset[int]]
Action = tuple[str, int]


@dataclass(frozen=True)
class Cups(World):
    """Cups are washed and filled; where it is enforced, only washed ones can be filled."""

    cups: int = 3
    enforced: bool = True

    @property
    def domain(self) -> Domain:
        return CUPS

    @property
    def horizon(self) -> int:
        return 2 * self.cups + 1

    def initial(self) -> Sequence[tuple[float, State]]:
        return [(1.0, (frozenset(), frozenset()))]

    def actions(self, state: State) -> Sequence[Action]:
        washed, filled = state
        every = range(self.cups)
        fill = [("fill", i) for i in every if i not in filled and (i in washed or not self.enforced)]
        return [*fill, *(("wash", i) for i in every if i not in washed | filled)]

    def outcomes(self, state: State, action: Action) -> Sequence[tuple[float, State]]:
        washed, filled = state
        what, i = action
        return [(1.0, (washed | {i}, filled) if what == "wash" else (washed, filled | {i}))]

    def facts(self, state: State) -> Facts:
        return Facts.build(CUPS, {"cup": self.cups}, {"washed": state[0], "filled": state[1]})

    def static_facts(self) -> Facts:
        return Facts.build(CUPS, {"cup": self.cups}, {"blue": [0]})


def shown(enforced: bool = True) -> list[Episode]:
    """Each cup is washed some time before it is filled."""
    rng, found = np.random.default_rng(5), []
    for cups in (2, 3, 3, 4, 2):
        world = Cups(cups, enforced)
        todo = rng.permutation(np.repeat(np.arange(cups), 2)).tolist()
        seen: set[int] = set()
        actions = []
        for i in todo:
            actions.append(("fill" if i in seen else "wash", i))
            seen.add(i)
        found.append(Episode(world, record(world, actions)))
    return found


def test_what_each_had_to_be_before_is_found_and_nothing_else() -> None:
    assert [str(c) for c in always_ready(Evidence(replay_all(shown())))] == ["some(filled and not washed)"]


def test_what_could_have_been_otherwise_is_left_to_rules() -> None:
    assert always_ready(Evidence(replay_all(shown(enforced=False)))) == []


def test_it_is_kept_where_the_world_no_longer_enforces_it_and_told_as_what_it_is() -> None:
    task = learn(shown())
    filled: set[int] = set()
    washed: set[int] = set()
    for what, i in task.plan(Cups(5, enforced=False)).actions:
        assert what == "wash" or i in washed
        (washed if what == "wash" else filled).add(i)
    assert len(filled) == 5
    assert (
        "Never (always so far; there was no other way): some cup is filled and is not washed" in task.explain().sentence
    )


def test_without_order_it_is_not_kept() -> None:
    how = learn(shown(), order="none").preferences
    assert how is not None and not any(rule.possible == 0 for rule in how.never)
