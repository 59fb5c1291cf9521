"""Promise 9, time limits: every search answers within a second of its limit, whatever the world is like."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack import limits
from meip import BudgetError
from meip.search.find import SEARCHES
from meip.search.query import MOST_STATES, Query


@pytest.mark.parametrize("world", ["slow", "wide", "forked"])
def test_every_search_keeps_its_time_limit(world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIMIT", 0.2)
    assert limits.late_searches(tmp_path, len(SEARCHES), {world: limits.WORLDS[world]}).failures == []


def test_a_tree_search_without_time_for_one_simulation_stays_where_it_is() -> None:
    plan = limits.taught().plan(limits.WORLDS["far"], method="mcts", seconds=0.0, horizon=6000)
    assert plan.steps == () and plan.stopped_by == "seconds"


def test_exact_search_refuses_plans_whose_tables_would_not_fit() -> None:
    with pytest.raises(BudgetError, match=r"exact search: .*"):
        limits.taught().plan(limits.WORLDS["far"], method="exact", horizon=6000)


def test_horizons_and_seeds_have_bounds() -> None:
    with pytest.raises(ValueError, match="a horizon may be 1,000,000 states at most"):
        Query(horizon=MOST_STATES + 1)
    with pytest.raises(ValueError, match="seed must be at least 0, got -1"):
        Query(seed=-1)
