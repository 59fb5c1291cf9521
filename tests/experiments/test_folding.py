"""Learning to fold, with a tiny budget: what was learned on a few garments carries over to another one."""

from __future__ import annotations

import dataclasses
import json
import pickle
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from drawings import misplaced
from meip import learn
from meip.base.results import Row
from meip.experiments import Experiment
from meip.experiments.folding import NOTES, ClothFrame, FragmentEdges, Scale, _who, draw, run, summary, tried
from meip.experiments.folding_report import Planned
from meip.model.demonstrations import Episode, replay
from meip.model.problems import load_problem
from meip.tasks.task import Task
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.garments import garment
from meip.worlds.folding.referee import Referee
from meip.worlds.folding.world import Folding

pytest.importorskip("cv2")
SMALL = Scale(
    seeds=1, problems=1, few=1, ablations=False, candidates=6, simulations=50, shown=6, kinds=("tshirt", "hoodie")
)
TINY = Scale(seeds=1, problems=1, few=1, candidates=3, simulations=30, shown=3, kinds=("tshirt",))


def episodes(count: int, kind: type[Folding] = Folding) -> list[Episode]:
    """Bundled demonstrations in worlds of this kind."""
    worlds = [load_problem(one.problem) for one in bundled()[:count]]
    assert all(isinstance(world, Folding) for world in worlds)
    return [Episode(kind(w.garment, candidates=10), one) for w, one in zip(worlds, bundled(), strict=False)]  # type: ignore[attr-defined]


@cache
def task() -> Task:
    return learn(episodes(10))


@pytest.fixture(scope="module")
def folded(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Row], Path]:
    out = tmp_path_factory.mktemp("folding")
    return tried(Experiment(out=out), SMALL), out


def value(rows: list[Row], metric: str, method: str, search: str) -> float:
    found = [r["value"] for r in rows if (r["metric"], r["method"], r["search"]) == (metric, method, search)]
    assert len(found) == len(SMALL.kinds)
    return float(np.mean(found))


def test_demonstrated_states_rank_upwards() -> None:
    assert task().tau_demo > 0.8


def test_folding_is_learned_from_choices_held_out_ones_weigh_curves_and_the_task_knows_where_to_fold() -> None:
    learned = task()
    assert learned.provenance.objective == "choices"
    views = learned.provenance.evidence["views"]
    assert views["both"] <= min(views["sparse"], views["curves"])
    assert (views["share_of_curves"] > 0) == (views["better_by"] > views["standard_error"])
    assert learned.provenance.evidence["alternatives"] >= 50 * 24
    assert learned.proposal is not None
    assert learned.proposal["format"] == "meip.proposal/1"
    problem = Folding(garment("longsleeve"), candidates=10)
    assert not problem.proposal.box
    assert learned.prepared(problem).proposal.box
    assert learned.prepared(learned.prepared(problem)) == learned.prepared(problem)


def test_an_unseen_longsleeve_is_folded_sleeves_first_and_the_plan_says_why() -> None:
    problem = Folding(garment("longsleeve"), candidates=10)
    plan = task().plan(problem, seed=1)
    assert plan.method == "choices"
    assert len(plan.steps) == 3
    assert all(step.why for step in plan.steps)
    shown = replay(problem, plan.demonstration())
    assert Referee(problem.garment).judge(shown.states).default_order


def test_good_orders_are_ranked_above_bad_ones(folded: tuple[list[Row], Path]) -> None:
    rows, _ = folded
    assert {row["n"] for row in rows if row["metric"] == "rank_accuracy"} == {2 * 4}
    assert value(rows, "rank_accuracy", "meip", "none") >= 0.75


def test_what_was_learned_folds_better_than_chance(folded: tuple[list[Row], Path]) -> None:
    rows, _ = folded
    assert value(rows, "rectangularity", "meip", "exact") > value(rows, "rectangularity", "random", "random") + 0.05
    assert value(rows, "default_order", "random", "random") < 0.2
    assert value(rows, "default_order", "random-proposed", "random") < 0.5


def test_rows_are_tidy(folded: tuple[list[Row], Path]) -> None:
    rows, _ = folded
    judged = [row for row in rows if not row["metric"].endswith("_seconds")]
    assert {row["metric"] for row in judged} == {"default_order", "neat", "enough", "rectangularity", "rank_accuracy"}
    assert {row["metric"] for row in rows} >= {"learning_seconds", "garment_seconds"}
    assert {row["search"] for row in rows} == {
        "choices",
        "exact",
        "beam",
        "mcts",
        "likeliest",
        "policy",
        "random",
        "none",
    }
    assert all(0 <= row["low"] <= row["value"] + 1e-9 and row["value"] <= row["high"] + 1e-9 <= 1.1 for row in judged)
    searched = {(row["method"], row["search"]) for row in judged}
    assert {("meip", "choices"), ("meip-sign", "exact"), ("maxent-irl", "policy")} <= searched
    assert ("meip-sign", "likeliest") not in searched  # it would be the same row again
    drawn = [row["n"] for row in judged if row["method"] == "random" and row["metric"] == "default_order"]
    assert drawn == [10, 10]


def test_tables_have_garments_side_by_side(folded: tuple[list[Row], Path]) -> None:
    title, headings, lines = summary(folded[0])[0]
    assert title == "default_order, with 95 % intervals, n = 1 or 10"
    assert headings == ["method", "search", "learned on", "tshirt", "hoodie"]
    assert ["meip", "exact", "varied"] in [line[:3] for line in lines]
    assert any("Default order" in note for note in NOTES)


def test_there_is_something_to_look_at(folded: tuple[list[Row], Path]) -> None:
    _, out = folded
    for name in ("folding-tshirt", "folding-hoodie"):
        assert (out / f"{name}.svg").stat().st_size > 1000
        assert (out / f"{name}.png").stat().st_size > 1000
    assert "in English" in (out / "folding-concepts.md").read_text()
    kept = Task.load(out / "folding-task.json")
    assert kept.plan(Folding(garment("longsleeve"), candidates=4)).method == "choices"


def test_every_figure_of_the_paper_has_its_counterpart(folded: tuple[list[Row], Path]) -> None:
    rows, out = folded
    written = draw(rows, out)
    names = ("orders", "transfer", "structures", "line", "actions", "proposed", "trees")
    assert [path.name for path in written] == [f"folding-{name}.svg" for name in names]
    for path in written:
        assert misplaced(path.read_text()) == [], path.name
    texts = {path.stem: path.read_text() for path in written}
    assert "10,800" in texts["folding-actions"] and "2,258 have different results" in texts["folding-actions"]
    assert "3 polygons, 15 edges, 19 vertices" in texts["folding-structures"]
    assert "in the table: kept in" in texts["folding-transfer"]


def test_the_rows_are_the_same_for_any_number_of_jobs() -> None:
    told: list[str] = []
    alone = dataclasses.replace(TINY, ablations=False)
    once, again = (
        [
            row
            for row in tried(Experiment(seed=3, jobs=jobs, progress=told.append), alone)
            if "seconds" not in row["metric"]
        ]
        for jobs in (1, 2)
    )
    assert json.dumps(once) == json.dumps(again)
    assert told.count("1 of 1 garments folded") == 2


def test_every_ablation_has_its_rows() -> None:
    rows = tried(Experiment(seed=3, jobs=2), TINY)
    ablations = {"knots-9", "shares", "no-relative", "cloth-frame", "fragment-edges", "paper-fluents"}
    assert ablations <= {row["method"] for row in rows}
    assert {row["trained"] for row in rows} == {"varied", "one-shape", "shirts"}


def test_a_quick_run_is_small(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Scale] = []
    monkeypatch.setattr("meip.experiments.folding.tried", lambda experiment, scale: asked.append(scale) or [])
    for quick in (True, False):
        assert run(Experiment(quick=quick)) == []
    assert (asked[0].seeds, asked[0].problems, asked[0].ablations) == (1, 2, False)
    assert (asked[1].seeds, asked[1].problems) == (5, 10)


def test_the_papers_fluents_are_tried_with_the_first_seeds_only() -> None:
    experiment = Experiment()
    alone = dataclasses.replace(SMALL, paper=1)
    assert [[one.name for one in _who(k, alone, experiment)] for k in (0, 1)] == [["meip", "paper-fluents"], ["meip"]]
    every = dataclasses.replace(SMALL, ablations=True, compared=1)
    assert {"knots-9", "paper-fluents"} <= {one.name for one in _who(0, every, experiment)}


def test_a_sheet_says_what_is_wrong_with_a_plan() -> None:
    plan = Planned("hoodie", 1, 7, "choices", bundled()[2], ("hood sticks out", "it is no rectangle"))
    assert plan.title == "hoodie 2, seed 7 (hood sticks out; it is no rectangle)"
    assert plan._replace(wrong=()).title == "hoodie 2, seed 7"


def test_folds_may_be_remembered_in_the_frame_of_the_cloth() -> None:
    learned = learn(episodes(2, ClothFrame), committee=1)
    assert learned.proposal is not None
    assert learned.proposal["frame"] == "cloth"
    assert learned.prepared(Folding()).proposal.frame == "cloth"


def test_edges_may_be_the_raw_fragments_of_polygons() -> None:
    seen, raw = episodes(1)[0].world, episodes(1, FragmentEdges)[0].world
    for cloth in replay(seen, bundled()[0]).states:
        visible, all_edges = seen.facts(cloth), raw.facts(cloth)
        assert all_edges.counts["edge"] == sum(len(layer.polygon) for layer in cloth) > visible.counts["edge"]
        for name in ("extent", "aspect", "fill", "height", "area", "inside", "above"):
            assert all_edges.tables[name] == pytest.approx(visible.tables[name])
    assert pickle.loads(pickle.dumps(raw)) == raw
