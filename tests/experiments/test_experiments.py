"""The experiments in small: the rows they give, and the claims that hold whatever the seed."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from drawings import misplaced
from meip.base.errors import DocumentError
from meip.experiments import Experiment, held_out, probability_shift, structural_change
from meip.experiments.reward_bounds import bound
from meip.experiments.rites import PAPER, grade, paper_demonstrations
from meip.experiments.short_way import demonstrations
from meip.experiments.structural_change import METHODS, PAPER_TAU, crossing
from meip.report.page_tables import markdown, write_between

PAGE = Path(__file__).parents[2] / "docs" / "experiments.md"
Rows = list[dict[str, Any]]


@pytest.fixture(scope="module")
def shift() -> Rows:
    return probability_shift.run(Experiment(seeds=2, quick=True))


@pytest.fixture(scope="module")
def change() -> Rows:
    return structural_change.run(Experiment(seeds=2))


def test_meip_does_what_is_desired_as_often_as_chance_allows(shift: Rows) -> None:
    rows = [r for r in shift if r["metric"] == "exact" and r["method"].startswith("meip")]
    assert {(r["method"], r["concepts"], r["demonstrations"]) for r in rows} == {
        (method, concepts, luck)
        for luck in ("clean", "failures")
        for method, concepts in (
            ("meip", "bad, goal"),
            ("meip", "bad, goal, waypoint"),
            ("meip", "pursued"),
            ("meip-defaults", "found"),
        )
    }
    assert {r["chance"] for r in rows} == {"expectation", "posterior", "probability"}
    assert [r["value"] for r in rows] == pytest.approx([1 - r["p"] for r in rows])


def test_executions_are_drawn_in_the_world_and_near_their_probability(shift: Rows) -> None:
    exact = {_condition(r): r["value"] for r in shift if r["metric"] == "exact"}
    rows = [r for r in shift if r["metric"] == "executed"]
    assert len(rows) == len(exact) and all(r["n"] == 400 for r in rows)
    assert all(r["low"] <= r["value"] <= r["high"] for r in rows)
    assert all(abs(r["value"] - exact[_condition(r)]) < 0.1 for r in rows)
    assert any(r["value"] != pytest.approx(exact[_condition(r)], abs=1e-9) for r in rows)


def test_nothing_is_printed_as_the_papers_that_the_paper_does_not_print(shift: Rows) -> None:
    assert not any("paper" in r for r in shift)


def test_maxent_irl_fails_at_a_shift_on_the_concepts_of_the_paper_and_not_on_pursued_ones(shift: Rows) -> None:
    rows = [r for r in shift if (r["method"], r["metric"], r.get("demonstrations")) == ("maxent-irl", "exact", "clean")]
    found = {(r["concepts"], r["p"]): r["value"] for r in rows}
    assert {c: found[c, 0.3] for c, p in found if p == 0.3} == pytest.approx(
        {"bad, goal": 0.0, "bad, goal, waypoint": 0.0, "pursued": 0.7}
    )
    assert all(value == pytest.approx(0.9) for (_, p), value in found.items() if p == 0.1)


def test_maxent_irl_breaks_even_where_algebra_says(shift: Rows) -> None:
    """p = 4/17 at horizon 5 and 2/5 at horizon 3: see `meip.baselines.maxent_irl`."""
    rows = [r for r in shift if (r["method"], r["metric"]) == ("maxent-irl", "break_even")]
    found = {r["horizon"]: r["value"] for r in rows if r["concepts"] == "bad, goal"}
    assert found == pytest.approx({5: 4 / 17, 3: 0.4}, abs=2e-3)


def test_pursuit_finds_the_papers_three_concepts(shift: Rows) -> None:
    rows = [r for r in shift if (r["method"], r["metric"]) == ("meip", "concepts_found")]
    assert [r["value"] for r in rows] == [3.0, 3.0]


def test_no_training_p_turns_the_utility_upside_down(shift: Rows) -> None:
    rows = [r for r in shift if r["metric"] == "utility_right" and r["method"] == "meip"]
    assert len(rows) == 14 and all(r["value"] == 1.0 for r in rows)
    planned = [r for r in shift if r["metric"] == "planned_right" and r["method"] == "meip-defaults"]
    assert all(r["value"] == 1.0 for r in planned if r["trained_p"] <= 0.9)


def test_the_boundary_has_every_training_p_at_every_test_p(shift: Rows) -> None:
    rows = [r for r in shift if r["metric"] == "boundary"]
    ps = {r["trained_p"] for r in rows}
    assert len(rows) == 2 * 4 * len(ps) ** 2
    assert {r["p"] for r in rows} == ps


def test_demonstrations_fail_in_proportion_and_at_least_so_often() -> None:
    rng = np.random.default_rng(0)
    lengths = [len(e.demonstration.steps) for e in demonstrations(400, rng, 0.7)]  # type: ignore[union-attr]
    assert lengths.count(4) / 400 == pytest.approx(0.7, abs=0.06)
    for seed in range(20):
        shown = demonstrations(3, np.random.default_rng(seed), least=1)
        assert any(len(episode.demonstration.steps) == 4 for episode in shown)  # type: ignore[union-attr]


def test_order_and_offers_carry_over_to_the_free_world(change: Rows) -> None:
    rows = [r for r in change if r.get("statistic") == "argmax" and r["method"] in ("meip", "meip-defaults")]
    assert len(rows) == 24
    assert all(r["value"] == 1.0 for r in rows)
    assert all(r["value"] == 3.0 for r in change if (r["method"], r["metric"]) == ("meip", "concepts_found"))


def test_every_cell_has_its_statistics_by_name_and_the_papers_figure_stands_beside_samples_only(change: Rows) -> None:
    found = {(r["method"], r["statistic"]) for r in change if r["metric"] == "order_tau" and "lambda" not in r}
    trees = [name for name in METHODS if name != "meip-defaults"]
    assert found >= {(name, s) for name in trees for s in ("argmax", "best seen", "samples")}
    assert {(r["statistic"], r["metric"], r["world"]) for r in change if "paper" in r} == {
        ("samples", "order_tau", "free-5")
    }


@pytest.mark.parametrize("method", ["meip-svm", "meip-svm-literal"])
def test_a_ranking_svm_learns_the_order_of_given_concepts_in_either_world(change: Rows, method: str) -> None:
    assert _tau(change, method) == {"free": 1.0, "enforced": 1.0}


def test_the_method_as_printed_has_its_rows_whatever_it_gives(shift: Rows, change: Rows) -> None:
    assert {
        (r["concepts"], r["demonstrations"]) for r in shift if (r["method"], r["metric"]) == ("paper", "exact")
    } == {(concepts, luck) for concepts in probability_shift.SETS for luck in ("clean", "failures")}
    assert {r["trained"] for r in change if r["method"] in ("paper", "paper, concepts given")} == {"enforced", "free"}


def test_visit_sums_reverse_the_order_when_it_was_enforced(change: Rows) -> None:
    assert _tau(change, "maxent-irl, visits") == {"free": 1.0, "enforced": -1.0}


def test_samples_come_closer_to_the_demonstrated_order_with_lambda(change: Rows) -> None:
    rows = [r for r in change if "lambda" in r and (r["world"], r["trained"]) == ("free-5", "enforced")]
    curve = [(r["lambda"], r["value"]) for r in rows if r["metric"] == "order_tau"]
    assert abs(curve[0][1]) < 0.15 and curve[-1][1] > 0.95
    reached = crossing(curve, PAPER_TAU)
    assert reached is not None and 20 < reached < 60


def _tau(rows: Rows, method: str) -> dict[str, float]:
    """By the world it was learned in: the argmax's order of the stages in the free world."""
    chosen = ("order_tau", method, "free-5", "argmax")
    return {
        r["trained"]: r["value"]
        for r in rows
        if tuple(r.get(k) for k in ("metric", "method", "world", "statistic")) == chosen
    }


def _condition(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[k] for k in ("method", "concepts", "demonstrations", "chance", "p"))


def test_a_shuffled_rite_is_done_in_its_own_order() -> None:
    rite = replace(PAPER, sequence=(3, 1, 2))
    assert rite.concepts() == ["all(torch@3)", "some(bamboo@1)", "count(clay@2) = 4"]
    plan = [(3, "torch", 5), (1, "bamboo", 1), (2, "clay", 4)]
    assert grade(rite, rite.world("free", 5), plan) == (1.0, 1.0)
    assert [tuple(s.action) for s in paper_demonstrations("enforced", rite=rite)[0].demonstration.steps] == plan  # type: ignore[union-attr]


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
    written = [*probability_shift.draw(shift, tmp_path), *structural_change.draw(change, tmp_path)]
    assert sorted(p.name for p in written) == [
        "probability-shift-boundary.svg",
        "probability-shift-mdp.svg",
        "probability-shift.svg",
        "structural-change-lambda.svg",
        "structural-change-ritual.svg",
        "structural-change.svg",
    ]
    for path in written:
        assert misplaced(path.read_text()) == [], path.name
    assert "r &gt; +0.48" in (tmp_path / "probability-shift-mdp.svg").read_text()


@pytest.mark.parametrize(
    ("p", "side", "r"), [(0.1, "<", -0.16), (0.15, "<", -0.48), (0.25, ">", 0.8), (0.3, ">", 0.48)]
)
def test_the_reward_that_a_bad_place_needs_depends_on_the_chances(p: float, side: str, r: float) -> None:
    """By algebra r (1 - 5p) < -.8p, so that no r serves both; the world itself is asked here."""
    found = bound(p)
    assert found is not None
    assert (found[0], found[1]) == (side, pytest.approx(r))
    assert bound(0.2) is None


def test_tables_are_written_between_the_markers_of_the_page_and_nowhere_else(shift: Rows, tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(PAGE.read_text())
    text = markdown(probability_shift.summary(shift), "meip reproduce probability-shift")
    write_between(page, "probability-shift", text)
    once = page.read_text()
    write_between(page, "probability-shift", text)
    assert page.read_text() == once
    assert text in once and once.split("## Structural change")[1] == PAGE.read_text().split("## Structural change")[1]


@pytest.mark.parametrize("name", ["probability-shift", "structural-change", "held-out"])
def test_the_page_has_a_place_for_the_tables_of_each(name: str) -> None:
    assert PAGE.read_text().count(f"<!-- meip: {name} -->") == 1


def test_a_page_without_a_place_is_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("nothing here")
    with pytest.raises(DocumentError, match="no lines <!-- meip: held-out -->"):
        write_between(page, "held-out", "")
