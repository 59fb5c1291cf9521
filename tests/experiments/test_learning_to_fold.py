"""Learning to fold, with a tiny budget: what was learned on a few garments carries over to another one."""

from __future__ import annotations

import pickle
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from meip import learn
from meip.experiments.folding_methods import Method, Setting, learn_methods, rank_accuracy
from meip.experiments.folding_problems import Lesson, Problem, random_folds
from meip.experiments.folding_report import committee_task, summary, write_learned
from meip.experiments.learning_to_fold import Scale, run
from meip.learning.committee import Committee, CommitteeOptions, learn_committee
from meip.model.demonstrations import Episode, replay
from meip.model.problems import load_problem
from meip.tasks.task import Task
from meip.utility.ranking import UtilityRanking
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.garments import garment
from meip.worlds.folding.referee import Referee
from meip.worlds.folding.world import Folding, proposal_from

pytest.importorskip("cv2")
SMALL = Setting(candidates=12, committee=CommitteeOptions(members=10, screen=3))


@cache
def lesson() -> Lesson:
    shown = tuple(bundled()[:8])
    return Lesson(shown, proposal_from(shown), "varied")


@cache
def learned() -> Committee:
    return learn_committee(lesson().episodes(12, 0), SMALL.committee)


@cache
def longsleeve() -> Problem:
    return Problem.frozen("longsleeve", garment("longsleeve"), lesson(), 8, 3)


def test_every_member_ranks_the_demonstrated_states_upwards() -> None:
    assert min(learned().evidence["tau"]) > 0.8


def test_good_orders_are_ranked_above_bad_ones() -> None:
    problem = longsleeve()
    g = UtilityRanking(learned().utilities)(problem.graph)
    good = [s.states for s in problem.scripts if s.good]
    bad = [s.states for s in problem.scripts if not s.good]
    assert len(good) == 2
    assert len(bad) == 4
    assert np.mean(rank_accuracy(g, good, bad)) >= 0.75


def test_an_unseen_longsleeve_is_folded_sleeves_first() -> None:
    problem = longsleeve()
    g = UtilityRanking(learned().utilities)(problem.graph)
    states = problem.plan(g, "exact", 2.0, 0, 0)
    assert problem.judge(states).default_order
    assert len(problem.folds(states)) == len(states) - 1


def test_random_folds_hardly_ever_keep_the_order() -> None:
    problem = longsleeve()
    cloths = random_folds(problem.garment, 10, np.random.default_rng(0))
    assert all(len(plan) <= 4 for plan in cloths)
    drawn = problem.random_plans(20, np.random.default_rng(0))
    assert np.mean([problem.judge(states).default_order for states in drawn]) < 0.5


def test_maxent_irl_learns_on_the_same_concepts() -> None:
    methods, committee = learn_methods(lesson(), ("maxent-irl",), SMALL, lambda message: None)
    (method,) = methods
    assert isinstance(method, Method)
    assert method.summed
    mine = {str(c) for u in committee.utilities for c in u.concepts}
    assert {str(c) for c in method.utilities[0].concepts} == mine


def test_the_committee_is_a_task_that_can_be_kept_and_read(tmp_path: Path) -> None:
    write_learned(tmp_path, lesson(), learned())
    assert Task.load(tmp_path / "folding-task.json") == committee_task(lesson(), learned())
    kept = Task.load(tmp_path / "folding-task.json")
    assert kept.plan(Folding(garment("longsleeve"), candidates=4)).method == "likeliest"
    assert "in English" in (tmp_path / "folding-concepts.md").read_text()


def test_a_small_run_gives_tidy_rows_and_contact_sheets(tmp_path: Path) -> None:
    size = Scale(1, 1, 5, 50, ("meip", "meip-sign"), few=0, setting=SMALL, kinds=("tshirt", "hoodie"))
    rows = run(scale=size, out=tmp_path)
    judged = [row for row in rows if not row["metric"].endswith("_seconds")]
    assert {row["metric"] for row in judged} == {"default_order", "rectangularity", "rank_accuracy"}
    assert len(rows) == len(judged) + 2
    title, headings, lines = summary(rows)[0]
    assert title.startswith("default_order")
    assert headings[3:] == ["tshirt", "hoodie"]
    assert ["meip", "exact", "varied"] in [line[:3] for line in lines]
    assert {row["search"] for row in rows} == {"exact", "beam", "mcts", "likeliest", "random", "none"}
    assert all(0 <= row["low"] <= row["value"] + 1e-9 and row["value"] <= row["high"] + 1e-9 <= 1.1 for row in judged)
    searched = {(row["method"], row["search"]) for row in judged}
    assert ("meip", "likeliest") in searched
    assert ("meip-sign", "likeliest") not in searched  # it would be the same row again
    assert (tmp_path / "folding-hoodie.svg").exists()
    assert (tmp_path / "folding-hoodie.png").exists()


def test_the_benchmark_says_where_the_time_goes() -> None:
    from meip.bench.folding import run as measure

    rows = measure(members=2, candidates=4, simulations=30)
    assert all(row["value"] >= 0 for row in rows)
    shares = [row["value"] for row in rows if row["work"] == "frozen tree" and row["metric"].startswith("share")]
    assert sum(shares) == pytest.approx(1.0, abs=0.5)
    assert {"seconds", "simulations/s", "states/s"} <= {row["metric"] for row in rows}


def test_learn_chooses_a_committee_and_the_task_knows_where_to_fold() -> None:
    worlds = [Folding(load_problem(one.problem).garment, 4, candidates=10) for one in bundled()[:6]]  # type: ignore[attr-defined]
    episodes = [Episode(world, one) for world, one in zip(worlds, bundled()[:6], strict=True)]
    task = learn(episodes, committee=12)
    assert task.provenance.regime == "committee"
    assert "not among the actions that their worlds list" in task.provenance.evidence["regime"]
    assert task.provenance.evidence["alternatives"] >= 50 * 18
    assert task.proposal is not None
    assert task.proposal["format"] == "meip.proposal/1"
    problem = Folding(garment("longsleeve"), candidates=10)
    assert not problem.proposal.box
    assert task.prepared(problem).proposal.box
    assert task.prepared(task.prepared(problem)) == task.prepared(problem)
    plan = task.plan(problem, seed=1)
    assert len(plan.steps) == 3
    shown = replay(problem, plan.demonstration())
    assert Referee(problem.garment).judge(shown.states).default_order


def test_the_rows_are_the_same_for_any_number_of_jobs() -> None:
    tiny = Setting(candidates=8, committee=CommitteeOptions(members=3, screen=2))
    size = Scale(1, 1, 3, 30, ("meip", "prefix-branches"), few=1, setting=tiny, kinds=("tshirt",), searches=("exact",))
    told: list[str] = []
    once, again = (
        [row for row in run(scale=size, seed=3, jobs=jobs, progress=told.append) if "seconds" not in row["metric"]]
        for jobs in (1, 2)
    )
    assert once == again
    assert {"cloth-frame", "fragment-edges", "prefix-branches"} <= {row["method"] for row in once}
    assert {row["trained"] for row in once} == {"varied", "one-shape"}
    assert told.count("4 of 4 garments folded") == 2


def test_edges_may_be_the_raw_fragments_of_polygons() -> None:
    one = bundled()[0]
    world = load_problem(one.problem)
    assert isinstance(world, Folding)
    raw = replace(lesson(), edges="fragments").world(world.garment, 4, 5, 0)
    for cloth in replay(world, one).states:
        seen, all_edges = world.facts(cloth), raw.facts(cloth)
        assert all_edges.counts["edge"] == sum(len(layer.polygon) for layer in cloth) > seen.counts["edge"]
        for name in ("extent", "aspect", "area", "inside", "above"):
            assert all_edges.tables[name] == pytest.approx(seen.tables[name])
    assert pickle.loads(pickle.dumps(raw)) == raw
