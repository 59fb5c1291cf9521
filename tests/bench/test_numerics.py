"""The benchmarks compare like with like: the peer reaches the same result."""

from __future__ import annotations

from typing import Any

from meip.bench import maxent, ranksvm


def values(rows: list[dict[str, Any]], metric: str) -> list[float]:
    return [row["value"] for row in rows if row["metric"] == metric]


def test_linear_svc_and_the_ranking_fit_reach_the_same_objective() -> None:
    rows = ranksvm.run(peers=True, sizes=((6, 40),), repeats=1)
    assert len(values(rows, "ratio")) == 2
    assert all(difference <= 1e-5 for difference in values(rows, "objective_difference"))


def test_dense_recursions_expect_the_same_visits() -> None:
    rows = maxent.run(peers=True, size=5, horizon=7, repeats=1)
    assert len(values(rows, "ratio")) == 1
    assert values(rows, "visits_difference")[0] < 1e-9


def test_without_peers_only_our_own_seconds_are_measured() -> None:
    rows = ranksvm.run(peers=False, sizes=((3, 10),), repeats=1) + maxent.run(peers=False, size=4, horizon=5, repeats=1)
    assert {row["method"] for row in rows} == {"meip"}
    assert {row["metric"] for row in rows} == {"ours"}
