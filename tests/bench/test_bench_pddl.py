"""Plans and demonstrations are timed where the goal is reached."""

from __future__ import annotations

from meip.bench.pddl import planning


def test_learned_plans_of_a_large_problem_are_measured() -> None:
    rows = planning(["ferry"], repeats=1)
    assert [row["work"].rsplit(": ")[-1] for row in rows] == ["demonstrate", "plan, greedy", "plan, gbfs"]
    assert all(row["value"] > 0 for row in rows)
    assert all(20 <= row["steps"] <= 200 for row in rows[1:])
