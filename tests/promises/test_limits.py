"""Promise 9, limits: every search and every learner ends within a second of its time limit or of being called off, and
within a factor of its memory limit, whatever the world is like."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest

from attack import limits
from attack.signals import DEMOS
from meip import BudgetError, Cancelled, Grammar, learn
from meip.base import running
from meip.cli import main
from meip.experiments.rites import paper_demonstrations
from meip.search.find import SEARCHES
from meip.search.query import MOST_STATES, Query


@pytest.mark.parametrize("world", ["slow", "wide", "forked"])
def test_every_search_keeps_its_time_limit(world: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "LIMIT", 0.2)
    assert limits.late_searches(tmp_path, len(SEARCHES), {world: limits.WORLDS[world]}).failures == []


class Clock:
    """A clock that somebody can put forward."""

    def __init__(self) -> None:
        self.ahead = 0.0

    def monotonic(self) -> float:
        return time.monotonic() + self.ahead


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    found = Clock()
    monkeypatch.setattr(running, "time", found)
    return found


def test_learning_without_anything_to_show_in_time_is_an_error_that_says_what_is_kept(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for more, words in ((["--checkpoint", str(tmp_path / "kept")], "goes on from"), ([], "nothing is kept")):
        with pytest.raises(SystemExit) as ended:
            main(["learn", DEMOS, "-o", str(tmp_path / "task.json"), "--time", "0", *more])
        error = capsys.readouterr().err
        assert ended.value.code == 2 and "error: out of time after 0 s during" in error and words in error
        assert not (tmp_path / "task.json").exists()


@pytest.mark.parametrize(
    ("stage", "options"),
    [
        ("price", {}),
        ("members", {}),
        ("level 1", {"objective": "plans"}),
        ("members", {"objective": "history"}),
        ("level 1", {"objective": "plans", "committee": 2}),
        ("level 1", {"objective": "svm"}),
        ("level 1", {"objective": "plans", "pursuit": "literal", "grammar": Grammar.paper(2)}),
        ("round", {"objective": "svm", "concepts": ("all(torch@1)", "some(bamboo@2)")}),
    ],
)
def test_out_of_time_the_best_so_far_is_the_task_which_says_so_and_can_be_finished_later(
    stage: str, options: dict[str, Any], clock: Clock, tmp_path: Path
) -> None:
    episodes = paper_demonstrations("free")

    def late(info: dict[str, Any]) -> None:
        if info["stage"] == stage:
            clock.ahead = 1e6

    how: dict[str, Any] = {"checkpoint": tmp_path / "kept", **options}
    cut = learn(episodes, seconds=1000, progress=late, **how)
    report = cut.provenance.evidence["cut"]
    assert report["by"] == "seconds" and stage in report["stage"]
    assert "learning was cut (out of time: 1000 s)" in cut.warnings[0] and "goes on from" in cut.warnings[0]
    assert cut.concepts and cut.plan(episodes[0].world).steps
    assert learn(episodes, **how) == learn(episodes, **options)
    assert not (tmp_path / "kept").exists()


def test_with_time_enough_the_task_is_the_same() -> None:
    episodes = paper_demonstrations("free")
    assert learn(episodes, seconds=1e6, memory=1e6) == learn(episodes)


@pytest.mark.parametrize("objective", ["choices", "plans", "svm"])
@pytest.mark.parametrize("thread", [False, True])
def test_learning_can_be_called_off(objective: Any, thread: bool) -> None:
    called_off = threading.Event()
    caught: list[BaseException] = []

    def work() -> None:
        try:
            learn(
                paper_demonstrations("free"),
                objective=objective,
                cancelled=called_off.is_set,
                progress=lambda info: called_off.set(),
            )
        except Cancelled as error:
            caught.append(error)

    if thread:
        worker = threading.Thread(target=work)
        worker.start()
        worker.join()
    else:
        work()
    assert "called off during" in str(caught[0])


def test_learners_end_in_time(tmp_path: Path) -> None:
    assert limits.late_learners(tmp_path, 12, ("wide",)).failures == []


def test_who_would_need_more_memory_says_so_or_is_an_error_within_the_factor(tmp_path: Path) -> None:
    assert limits.greedy_runs(tmp_path, 3).failures == []


def test_a_language_that_does_not_fit_into_memory_is_made_simpler(monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[float] = []  # what is told the next time, and given back after that
    monkeypatch.setattr(running, "resident", lambda: held.pop() if held else 0.0)

    def more(info: dict[str, Any]) -> None:
        if info["stage"] == "price":
            held.append(1e9)

    task = learn(paper_demonstrations("free"), memory=1e6, progress=more)
    assert task.provenance.evidence["cut"]["by"] == "memory" and "a simpler language" in task.warnings[0]
    assert task.provenance.options["grammar"]["max_level"] == 2


def test_a_search_stops_when_its_memory_is_full_or_it_is_called_off() -> None:
    task, world = limits.taught(), limits.WORLDS["large"]
    for name, limit in (("memory", {"memory": 1.0}), ("cancelled", {"cancelled": lambda: True})):
        plan = task.plan(world, method="beam", **limit)
        assert plan.stopped_by == name


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
