"""Correcting as an experiment: plans that break a rule, their first wrong step, and what becomes of it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from meip.experiments import Experiment, corrections
from meip.experiments.gallery import everyday_task

DID = dict.fromkeys(corrections.TOLD, 1.0) | {"as learned": 0.5, "corrected": 1.0}


def test_tasks_with_nothing_to_correct_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def only_some(case: tuple[str, int], rng: np.random.Generator) -> dict[str, float] | None:
        return DID if case == ("post", 1) else None

    monkeypatch.setattr(corrections, "_corrected", only_some)
    rows = corrections.run(Experiment(seeds=3, quick=True))
    assert {row["task"] for row in rows} == {"all", "post"} and {row["n"] for row in rows} == {1}
    assert {row["metric"] for row in rows} == {*corrections.TOLD, "success"}
    steps, worlds, tasks = corrections.summary(rows)
    assert [line[1] for line in steps[2]] == ["1.00"] * 5
    assert [line[:2] for line in worlds[2]] == [["as learned", "0.50"], ["corrected", "1.00"]]
    assert all(len(line) == len(tasks[1]) for line in tasks[2])


def test_a_wrong_step_is_the_first_after_which_a_rule_cannot_be_kept() -> None:
    task, rng = everyday_task("laundry"), np.random.default_rng(0)
    world: Any = task.make("changed", rng)
    coloured, white = world.garments.index("coloured"), world.garments.index("white")
    start = world.initial()[0][1]
    for first, fine in (((white, "wash"), True), ((coloured, "wash"), False)):
        after = world.outcomes(start, first)[0][1]
        assert corrections._can_keep(task, world, [start, after], [first], rng) == fine
    wrong = corrections._Wrong(world, (start,), (), (coloured, "wash"), (white, "wash"))
    made = corrections._correction(wrong)
    assert made.corrects is not None and made.corrects.rejected == [coloured, "wash"] and len(made.steps) == 1
