"""The experiment: five small problems, larger ones, and peers with the same demonstrations and searches."""

from __future__ import annotations

from pathlib import Path

import pytest

from meip.base.errors import DocumentError
from meip.experiments import wl_features
from meip.experiments.generalized_planning import SIZES, draw_lesson, generated_lesson, run, run_folder
from meip.report.figures import write_figures
from meip.worlds.pddl import PddlWorld, shipped_domains
from meip.worlds.pddl.planners import greedy

KEYS = {"experiment", "method", "domain", "search", "metric", "size", "value", "n"}


def test_every_domain_of_the_experiment_is_shipped_and_grows_with_its_size() -> None:
    assert set(SIZES) <= set(shipped_domains())
    for domain, sizes in SIZES.items():
        small, large = (PddlWorld(domain, generate=sizes(n), seed=0) for n in (4, 8))
        assert len(small.problem.objects) < len(large.problem.objects)


def test_the_quick_run_gives_tidy_rows_and_figures_in_which_learning_beats_blind_search(tmp_path: Path) -> None:
    rows = run(["ferry"], quick=True)
    assert all(set(row) >= KEYS for row in rows)
    solved = {(row["method"], row["search"], row["size"]): row["value"] for row in rows if row["metric"] == "solved"}
    assert solved["meip", "greedy", 6] == 1.0
    assert solved["meip", "greedy", 6] >= solved["blind", "gbfs", 6]
    lengths = {row["size"]: row["value"] for row in rows if (row["method"], row["metric"]) == ("meip", "length")}
    assert 0 < lengths[4] < lengths[6]
    names = [path.name for path in write_figures(rows, tmp_path)]
    assert names == ["generalized-planning-ferry-solved.svg", "generalized-planning-ferry-length.svg"]


@pytest.mark.skipif(not wl_features.available(), reason="wlplan is not installed")
def test_wl_features_learn_the_ferry_from_the_same_plans() -> None:
    lesson = generated_lesson("ferry", 0, sizes=(4,), per_size=1)
    world = lesson.others[0][1]
    assert greedy(world.engine, wl_features.learn(lesson.episodes)(world)).solved


def test_a_folder_without_domains_or_plans_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match=r"no folder with a domain\.pddl"):
        run_folder(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(DocumentError, match=r"expected domain\.pddl and training"):
        draw_lesson(tmp_path / "empty", 0)
