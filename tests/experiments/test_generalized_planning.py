"""The experiment: five small problems, larger ones, and peers with the same demonstrations and searches."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from meip.base.errors import DocumentError
from meip.base.results import Row
from meip.experiments import Experiment, generalized_planning as planning, wl_features
from meip.report.figures import write_figures
from meip.search.query import Query
from meip.tasks.evaluate import evaluate
from meip.worlds.pddl import PddlWorld, shipped_domains
from meip.worlds.pddl.demonstrate import solve
from meip.worlds.pddl.plans import write_plan
from meip.worlds.pddl.writer import domain_text, problem_text

KEYS = {"experiment", "method", "domain", "search", "metric", "size", "value", "n"}


def test_every_domain_of_the_experiment_is_shipped_and_grows_with_its_size() -> None:
    assert set(planning.SIZES) <= set(shipped_domains())
    for domain, sizes in planning.SIZES.items():
        small, large = (PddlWorld(domain, generate=sizes(n), seed=0) for n in (4, 8))
        assert len(small.problem.objects) < len(large.problem.objects)


@pytest.fixture
def only_ferry(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "QUICK", ("ferry",))


@pytest.fixture
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planning, "available", lambda: False)


def solved(rows: list[Row]) -> dict[tuple[str, str, object], float]:
    return {(r["method"], r["search"], r["size"]): r["value"] for r in rows if r["metric"] == "solved"}


@pytest.mark.usefixtures("only_ferry", "without_peers")
def test_the_quick_run_gives_tidy_rows_and_figures_in_which_learning_beats_blind_search(tmp_path: Path) -> None:
    rows = planning.run(Experiment(quick=True))
    assert all(set(row) >= KEYS for row in rows)
    share = solved(rows)
    assert share["meip", "walk", 6] == share["goal-count", "gbfs", 6] == 1.0
    assert share["meip", "walk", 6] >= share["blind", "gbfs", 6]
    lengths = {row["size"]: row["value"] for row in rows if (row["method"], row["metric"]) == ("meip", "length")}
    assert 0 < lengths[4] < lengths[6]
    names = [path.name for path in write_figures(rows, tmp_path)]
    assert names == ["generalized-planning-ferry-solved.svg", "generalized-planning-ferry-length.svg"]


@pytest.mark.usefixtures("without_peers")
def test_plans_of_a_folder_are_drawn_and_the_others_tried(tmp_path: Path) -> None:
    (tmp_path / "boats" / "training").mkdir(parents=True)
    (tmp_path / "boats" / "domain.pddl").write_text(domain_text(PddlWorld("ferry").file))
    for seed in range(8):
        world = PddlWorld("ferry", generate={"cars": 2, "landings": 3}, seed=seed)
        place = tmp_path / "boats" / "training" / f"p{seed}"
        place.with_suffix(".pddl").write_text(problem_text(world.problem))
        write_plan(place.with_suffix(".plan"), solve(world)[0])
    rows = planning.run(Experiment(seeds=1, seed=7, data=tmp_path))
    assert {(row["domain"], row["draw"], row["size"]) for row in rows} == {("boats", 7, "all")}
    assert solved(rows)["meip", "walk", "all"] == 1.0
    relative = [r["value"] for r in rows if (r["method"], r["metric"]) == ("meip", "relative")]
    assert relative
    assert max(relative) <= 1.3
    assert {row["n"] for row in rows if row["metric"] == "solved"} == {3}, "five are learned from, the rest is tried"
    assert planning.run(Experiment(seeds=1, seed=7, data=tmp_path, jobs=2)) == rows, "processes change nothing"
    shutil.rmtree(tmp_path / "boats" / "training")
    with pytest.raises(DocumentError, match=r"expected domain\.pddl and training"):
        planning.run(Experiment(data=tmp_path))


def test_a_folder_without_domains_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"no folder with a domain\.pddl"):
        planning.run(Experiment(data=tmp_path))


def test_a_search_that_gives_up_is_not_asked_again() -> None:
    world = PddlWorld("blocksworld", generate={"blocks": 12}, seed=1)
    rows = evaluate({"blind": planning.BlindAgent()}, {"w": world}, planning.METRICS, searches=1, method="gbfs",
                    iterations=40)  # fmt: skip
    assert [(row["metric"], row["value"]) for row in rows] == [("solved", 0.0)]


@pytest.mark.skipif(not wl_features.available(), reason="wlplan is not installed")
def test_wl_features_learn_the_ferry_from_the_same_plans() -> None:
    lesson = planning.generated("ferry", 0, sizes=(4,), each=1)
    graph = lesson.others[0][1].state_graph()
    found = wl_features.WlAgent(lesson.episodes).act(graph, [0], Query(method="greedy"))
    assert found.stopped_by == "goal"
