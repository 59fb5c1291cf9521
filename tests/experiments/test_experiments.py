"""The experiments in small: the rows they give, and the claims that hold whatever the seed."""

from __future__ import annotations

from typing import Any

import pytest

from meip.experiments import probability_shift, structural_change
from meip.report.figures import write_figures

Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def shift() -> Rows:
    return probability_shift.run(seeds=3, quick=True)


@pytest.fixture(scope="module")
def change() -> Rows:
    return structural_change.run(searches=3)


def test_meip_does_what_is_desired_as_often_as_chance_allows(shift: Rows) -> None:
    rows = [r for r in shift if r["method"] == "meip" and r["metric"] == "desired"]
    assert {r["demonstrations"] for r in rows} == {"clean", "failures"}
    assert all(r["low"] - 0.02 <= 1 - r["p"] <= r["high"] + 0.02 for r in rows)


def test_maxent_irl_breaks_with_a_long_horizon_and_not_with_a_short_one(shift: Rows) -> None:
    at = {r["horizon"]: r["value"] for r in shift if r["method"] == "maxent-irl" and r.get("p") == 0.3}
    assert at[5] <= 0.02
    assert at[3] > 0.65


@pytest.mark.parametrize(("chance", "limit"), [("expectation", 0.40), ("posterior", 0.80), ("probability", 0.98)])
def test_the_sweep_is_optimal_up_to_the_break_even_point(shift: Rows, chance: str, limit: float) -> None:
    exact = [r for r in shift if r["metric"] == "desired_exact" and r.get("chance") == chance and r["p"] <= limit]
    assert exact
    assert all(r["value"] == pytest.approx(1 - r["p"]) for r in exact)
    assert next(r["value"] for r in shift if r["metric"] == "break_even" and r.get("chance") == chance) > limit


def test_pursuit_finds_the_papers_three_concepts(shift: Rows) -> None:
    assert [r["value"] for r in shift if r["metric"] == "concepts_found"] == [3.0]


def test_order_and_offers_carry_over_to_the_free_world(change: Rows) -> None:
    rows = [r for r in change if r["method"] == "meip" and r["metric"] in ("order_tau", "match")]
    assert len(rows) == 12
    assert all(r["value"] == 1.0 for r in rows)
    assert all(r["value"] == 3.0 for r in change if r["metric"] == "concepts_found")


def test_the_working_ranking_svm_orders_and_the_literal_labels_do_not(change: Rows) -> None:
    tau = {
        (r["method"], r["trained"]): r["value"] for r in change if r["metric"] == "order_tau" and r["world"] == "free-6"
    }
    assert tau["meip-svm", "free"] == 1.0
    assert tau["meip-svm-literal", "free"] < 0.9


def test_visit_sums_reverse_the_order_when_it_was_enforced(change: Rows) -> None:
    rows = [
        r for r in change if r.get("statistic") == "visits" and r["metric"] == "order_tau" and r["world"] == "free-5"
    ]
    assert {r["trained"]: r["value"] for r in rows} == {"free": 1.0, "enforced": -1.0}


def test_a_held_out_ritual_is_learned_in_either_world() -> None:
    rows = structural_change.held_out(count=1, seed=11)
    assert [r["value"] for r in rows if r["metric"] == "perfect"] == [1.0, 1.0]


def test_figures_are_drawn_from_the_rows(shift: Rows, change: Rows, tmp_path: Any) -> None:
    written = write_figures([*shift, *change], tmp_path)
    assert sorted(p.name for p in written) == ["probability-shift.svg", "structural-change.svg"]
    assert all(p.read_text().startswith("<svg") for p in written)
