"""The walk by choices: steps that add most, rules, orders, quantities, and when to stop."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
import pytest

from line_world import LINE, Line
from meip import Domain, EntityClass, Facts, LearningError, Query, StateGraph, World, function, parse_concept, predicate
from meip.search.choosing import Chooser, search
from meip.utility.preferences import Before, ChoiceRanking, First, HeldOut, Preferences, Rule, beaten
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility, UtilityTerm

DOMAIN = Domain(
    "shelf",
    (EntityClass("book"),),
    (
        predicate("placed", "book"),
        predicate("large", "book", static=True),
        predicate("closed"),
        function("width", "book", static=True),
    ),
)


@dataclass(frozen=True)
class Shelf(World):
    widths: tuple[float, ...] = (3.0, 1.0, 2.0)
    slow: float = 0.0

    @property
    def domain(self) -> Domain:
        return DOMAIN

    @property
    def horizon(self) -> int:
        return len(self.widths) + 3

    def initial(self) -> list[tuple[float, tuple[frozenset[int], bool]]]:
        return [(1.0, (frozenset(), False))]

    def actions(self, state: tuple[frozenset[int], bool]) -> list[int]:
        time.sleep(self.slow)
        placed, closed = state
        return [] if closed else [*(i for i in range(len(self.widths)) if i not in placed), -1]

    def outcomes(
        self, state: tuple[frozenset[int], bool], action: int
    ) -> list[tuple[float, tuple[frozenset[int], bool]]]:
        placed, closed = state
        return [(1.0, (placed, True) if action < 0 else (placed | {action}, closed))]

    def facts(self, state: tuple[frozenset[int], bool]) -> Facts:
        placed, closed = state
        return Facts.build(DOMAIN, {"book": len(self.widths)}, {"placed": placed, "closed": closed})

    def static_facts(self) -> Facts:
        large = [i for i, w in enumerate(self.widths) if w > 2]
        return Facts.build(DOMAIN, {"book": len(self.widths)}, {"large": large, "width": np.array(self.widths)})


def utility(**weights: float) -> Utility:
    texts = {"placed": "count(placed)", "closed": "some(closed)", "all": "all(placed)"}
    kinds = {"placed": "linear", "closed": "boolean", "all": "boolean"}
    return Utility(
        tuple(UtilityTerm(parse_concept(texts[n], DOMAIN), kinds[n], (), (w,)) for n, w in weights.items())  # type: ignore[arg-type]
    )


def walked(how: Preferences, g: Utility, world: Shelf | None = None, **query: float) -> tuple[list[int], str]:
    graph = StateGraph(world or Shelf())
    found = search(graph, ChoiceRanking(g, how), [int(graph.initial[0])], Query(**query))  # type: ignore[arg-type]
    assert found.method == "choices"
    return [graph.action(a) for a in found.actions], found.stopped_by


def test_the_step_that_adds_most_is_taken_until_stopping_is_worth_more() -> None:
    actions, reason = walked(Preferences(stop=0.5, least=0.5), utility(placed=1.0, closed=-1.0))
    assert sorted(actions) == [0, 1, 2] and reason == "stopped"
    assert walked(Preferences(stop=2.0, least=2.0), utility(placed=1.0)) == ([], "stopped")


def test_a_rule_outweighs_what_a_step_adds() -> None:
    rule = Rule(parse_concept("some(closed) and not all(placed)", DOMAIN), 5.0, 9.0, 2.0, 3)
    g = utility(placed=0.1, closed=1.0)
    assert walked(Preferences(stop=-9.0), g)[0][0] == -1
    actions, reason = walked(Preferences(never=(rule,), stop=-9.0), g)
    assert actions[-1] == -1 and sorted(actions[:-1]) == [0, 1, 2] and reason == "finished"


def test_an_order_is_broken_by_what_comes_too_early_and_not_by_what_is_undone() -> None:
    pair = Before(parse_concept("some(placed and large)", DOMAIN), parse_concept("some(closed)", DOMAIN), 5.0, 2)
    actions, _ = walked(Preferences(order=(pair,), stop=-9.0), utility(placed=0.1, closed=1.0))
    assert actions[-1] == -1 and 0 in actions


@pytest.mark.parametrize(("largest", "order"), [(True, [0, 2, 1]), (False, [1, 2, 0])])
def test_first_by_a_quantity(largest: bool, order: list[int]) -> None:
    first = First(parse_concept("mean(width | placed)", DOMAIN), largest, -3.0)
    actions, _ = walked(Preferences(first=(first,), stop=0.0, least=0.0), utility(placed=1.0, closed=-9.0))
    assert actions == order


def test_what_changes_nothing_is_not_beaten() -> None:
    before, after = np.array([np.nan] * 3), np.array([np.nan, 2.0, 5.0])
    assert beaten(before, after, np.array([0, 3])).tolist() == [0.0, 1.0, 0.0]
    assert beaten(np.array([2.0, 2.0]), np.array([2.0, 1.0]), np.array([0, 2])).tolist() == [0.0, 0.0]


def test_the_end_is_worth_what_every_demonstration_ended_with() -> None:
    done = Utility((UtilityTerm(parse_concept("all(placed)", DOMAIN), "boolean", (), (4.0,)),))
    actions, _ = walked(Preferences(done=done, stop=-9.0), utility(placed=0.2, closed=-1.0))
    assert actions[-1] == -1 and len(actions) == 4


def test_ties_fall_by_the_seed() -> None:
    firsts = {walked(Preferences(stop=-9.0), utility(placed=1.0, closed=-1.0), seed=s)[0][0] for s in range(20)}
    assert firsts == {0, 1, 2}


def test_time_and_iterations_are_kept() -> None:
    begun = time.process_time()
    _, reason = walked(Preferences(stop=-9.0), utility(placed=1.0), Shelf((1.0,) * 12, slow=0.02), seconds=0.2)
    assert reason == "seconds" and time.process_time() - begun < 1.2
    assert walked(Preferences(stop=-9.0), utility(placed=1.0), iterations=2)[1] == "iterations"


def test_looking_ahead_finds_what_one_step_does_not_gain() -> None:
    g = utility(all=5.0, closed=-1.0)
    graph = StateGraph(Shelf((1.0, 2.0)))
    chooser = Chooser(graph, ChoiceRanking(g, Preferences(stop=-9.0)))
    alone = chooser.gains([0, 0, 0], chooser.alternatives(0)[1])[0]
    assert alone.max() == 0.0
    assert chooser.options(0, 4, {0: 1}).worth.max() > 1.0


@dataclass(frozen=True)
class FullShelf(Shelf):
    """The goal is that every book is placed; what is closed stays closed."""

    def reached(self, state: tuple[frozenset[int], bool]) -> bool:
        return len(state[0]) == len(self.widths)


def test_a_walk_that_misses_the_goal_is_tried_by_a_model_that_was_misled_otherwise() -> None:
    misled, other = utility(closed=9.0, placed=1.0), utility(closed=-9.0, placed=1.0)
    alone = walked(Preferences(), misled, FullShelf())
    assert alone == ([-1], "dead end")
    how = Preferences(held_out=(HeldOut((1,), 0.0, other, Utility(()), 0.0),))
    actions, reason = walked(how, misled, FullShelf())
    assert sorted(actions) == [0, 1, 2]
    assert reason == "goal"


def test_a_walk_to_a_goal_keeps_its_limit_over_all_tries() -> None:
    how = Preferences(held_out=(HeldOut((1,), 0.0, utility(closed=9.0), Utility(()), 0.0),))
    graph = StateGraph(FullShelf())
    ranking = ChoiceRanking(utility(closed=9.0), how)
    found = search(graph, ranking, [int(graph.initial[0])], Query(iterations=2))
    assert found.expansions <= 2
    assert found.stopped_by in ("dead end", "iterations")


def test_other_rankings_are_refused() -> None:
    graph = StateGraph(Shelf())
    with pytest.raises(LearningError, match="needs a task that was learned from choices"):
        search(graph, UtilityRanking([utility(placed=1.0)]), [0], Query())


def test_where_actions_are_samples_of_many_stopping_is_weighed_against_all_of_them_together() -> None:
    place = Utility((UtilityTerm(parse_concept("max(place)", LINE), "linear", (0.0,), (1.0,)),))
    ranking = ChoiceRanking(place, Preferences(stop=1.5, least=1.5))
    for proposed, steps in (((1.0,), 0), ((1.0, 1.01, 0.99), 2)):
        graph = StateGraph(Line(proposed=proposed))  # its other actions lead back
        assert len(search(graph, ranking, [int(graph.initial[0])], Query()).actions) == steps


def test_of_alternatives_that_are_samples_the_middle_of_what_is_there_many_times_is_taken() -> None:
    place = Utility(
        (UtilityTerm(parse_concept("max(place)", LINE), "real", (0.0, 1.0, 2.0, 3.0), (0.0, 2.0, 0.0, 2.2)),)
    )
    ranking = ChoiceRanking(place, Preferences(stop=-9.0))
    graph = StateGraph(Line(proposed=(0.98, 1.0, 1.02, 3.0), horizon=2))
    found = search(graph, ranking, [int(graph.initial[0])], Query())
    assert [graph.action(a) for a in found.actions] == [1.0]
