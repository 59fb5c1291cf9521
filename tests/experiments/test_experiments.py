"""The experiments in small: the rows they give, and the claims that hold whatever the seed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meip.experiments import Experiment, held_out, probability_shift, structural_change
from meip.experiments.rites import PAPER, grade
from meip.report.figures import write_figures

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def shift() -> Rows:
    return probability_shift.run(Experiment(seeds=2, quick=True))


@pytest.fixture(scope="module")
def change() -> Rows:
    return structural_change.run(Experiment(seeds=3))


def test_meip_does_what_is_desired_as_often_as_chance_allows(shift: Rows) -> None:
    rows = [r for r in shift if (r["method"], r["metric"]) == ("meip", "desired") and r["concepts"] != "default"]
    assert {(r["concepts"], r["demonstrations"]) for r in rows} == {
        (concepts, luck) for concepts in ("given", "pursued") for luck in ("clean", "failures")
    }
    assert {r["chance"] for r in rows} == {"expectation", "posterior", "probability"}
    assert [r["value"] for r in rows] == pytest.approx([1 - r["p"] for r in rows])
    assert all(r["low"] <= r["value"] <= r["high"] and r["n"] == 2 for r in rows)


def test_the_default_learner_is_in_the_table_whatever_it_finds(shift: Rows) -> None:
    rows = [r for r in shift if r["concepts"] == "default"]
    assert {r["metric"] for r in rows} == {"concepts_found", "desired"}


def test_maxent_irl_breaks_with_a_long_horizon_and_not_with_a_short_one(shift: Rows) -> None:
    rows = [r for r in shift if (r["method"], r["metric"]) == ("maxent-irl", "desired")]
    assert {(r["horizon"], r["p"]): r["value"] for r in rows} == pytest.approx(
        {(5, 0.1): 0.9, (5, 0.3): 0.0, (3, 0.1): 0.9, (3, 0.3): 0.7}
    )


def test_maxent_irl_breaks_even_where_algebra_says(shift: Rows) -> None:
    """p = 4/17 at horizon 5 and 2/5 at horizon 3: see `meip.baselines.maxent_irl`."""
    rows = [r for r in shift if (r["method"], r["metric"]) == ("maxent-irl", "break_even")]
    assert {r["horizon"]: r["value"] for r in rows} == pytest.approx({5: 4 / 17, 3: 0.4}, abs=2e-4)


@pytest.mark.parametrize(("chance", "limit"), [("expectation", 0.40), ("posterior", 0.80), ("probability", 0.98)])
def test_the_sweep_is_optimal_up_to_the_break_even_point(shift: Rows, chance: str, limit: float) -> None:
    exact = [r for r in shift if r["metric"] == "desired_exact" and r.get("chance") == chance and r["p"] <= limit]
    assert exact
    assert all(r["value"] == pytest.approx(1 - r["p"]) for r in exact)
    assert next(r["value"] for r in shift if r["metric"] == "break_even" and r.get("chance") == chance) > limit


def test_pursuit_finds_the_papers_three_concepts(shift: Rows) -> None:
    rows = [r for r in shift if r["metric"] == "concepts_found" and r["concepts"] == "pursued"]
    assert [r["value"] for r in rows] == [3.0, 3.0]


def test_demonstrations_with_failures_have_at_least_one() -> None:
    for seed in range(20):
        shown = probability_shift.demonstrations(3, np.random.default_rng(seed))
        assert any(len(episode.demonstration.steps) == 4 for episode in shown)  # type: ignore[union-attr]


def test_order_and_offers_carry_over_to_the_free_world(change: Rows) -> None:
    rows = [r for r in change if r["method"] == "meip" and r["metric"] in ("order_tau", "match")]
    assert len(rows) == 12
    assert all(r["value"] == 1.0 for r in rows)
    assert all(r["value"] == 3.0 for r in change if r["metric"] == "concepts_found")


def test_the_working_ranking_svm_orders_what_it_saw_in_the_free_world(change: Rows) -> None:
    tau = {
        (r["method"], r["trained"]): r["value"] for r in change if r["metric"] == "order_tau" and r["world"] == "free-6"
    }
    assert tau["meip-svm", "free"] == 1.0
    assert {method for method, _ in tau} == {"meip", "meip-choices", "meip-svm", "meip-svm-literal", "maxent-irl"}


def test_visit_sums_reverse_the_order_when_it_was_enforced(change: Rows) -> None:
    rows = [
        r for r in change if r.get("statistic") == "visits" and r["metric"] == "order_tau" and r["world"] == "free-5"
    ]
    assert {r["trained"]: r["value"] for r in rows} == {"free": 1.0, "enforced": -1.0}


@pytest.mark.parametrize(
    ("actions", "grades"),
    [
        ([(1, "torch", 5), (2, "bamboo", 3), (3, "clay", 4)], (1.0, 1.0)),
        ([(3, "clay", 4), (2, "bamboo", 1), (1, "torch", 5)], (-1.0, 1.0)),
        ([(1, "torch", 4), (2, "clay", 1), (3, "clay", 4)], (1.0, 1 / 3)),
        ([(1, "torch", 5)], (0.0, 1 / 3)),
    ],
)
def test_a_ritual_is_graded_by_its_order_and_by_the_wants_it_meets(
    actions: list[tuple[int, str, int]], grades: tuple[float, float]
) -> None:
    assert grade(PAPER, PAPER.world("free", 5), actions) == pytest.approx(grades)


def test_a_held_out_ritual_is_learned_in_either_world() -> None:
    told: list[str] = []
    rows = held_out.run(Experiment(seeds=1, seed=18, progress=told.append))
    assert [r["value"] for r in rows if r["metric"] == "perfect"] == [1.0, 1.0]
    assert told == ["1 of 1 rituals"]


def test_figures_are_drawn_from_the_rows(shift: Rows, change: Rows, tmp_path: Path) -> None:
    written = write_figures([*shift, *change], tmp_path)
    assert sorted(p.name for p in written) == ["probability-shift.svg", "structural-change.svg"]
    assert all(p.read_text().startswith("<svg") for p in written)
