"""Promise 9, time limits: every search answers within a second of its limit, whatever the world is like."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack import limits
from attack.signals import DEMOS
from meip import BudgetError
from meip.cli import main
from meip.search.find import SEARCHES
from meip.search.query import MOST_STATES, Query


@pytest.mark.parametrize("world", ["slow", "wide", "forked"])
def test_every_search_keeps_its_time_limit(world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIMIT", 0.2)
    assert limits.late_searches(tmp_path, len(SEARCHES), {world: limits.WORLDS[world]}).failures == []


def test_learning_gives_up_when_its_time_is_over_and_says_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more, words in (
        (["--committee", "2", "--checkpoint", str(tmp_path / "kept")], "goes on from"),
        ([], "nothing is"),
    ):
        learned = ["learn", DEMOS, "-o", str(tmp_path / "task.json"), "--objective", "plans", "--time", "0.01"]
        with pytest.raises(SystemExit) as ended:
            main([*learned, *more])
        error = capsys.readouterr().err
        assert ended.value.code == 2 and "error: --time 0.01: out of time" in error and words in error
        assert not (tmp_path / "task.json").exists()


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
