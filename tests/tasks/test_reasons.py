"""How sure a model is of a step: beside its best one, and beside chance."""

from __future__ import annotations

import numpy as np
import pytest

from meip.search.choosing import Options
from meip.tasks.reasons import _sure


def options(*worth: float, stop: float = 0.0) -> Options:
    return Options(list(range(len(worth))), [((1.0, n),) for n in range(len(worth))], np.array(worth), stop)


def test_a_step_is_as_sure_as_it_is_likely_beside_the_best_and_beside_chance() -> None:
    seen = options(np.log(4.0), 0.0)  # p = 4/6, 1/6, and 1/6 to stop
    assert _sure(seen, 0) == pytest.approx(2 / 3)
    assert _sure(seen, 1) == pytest.approx(1 / 4 * 1 / 3)
    assert _sure(seen, -1) == _sure(seen, 1)


def test_equals_are_no_disagreement_but_knowing_nothing_is_no_certainty() -> None:
    assert _sure(options(9.0, 9.0, *[0.0] * 8), 0) > 0.8
    assert _sure(options(*[0.0] * 9), 0) == pytest.approx(0.5)


def test_what_nobody_could_choose_is_sure_and_what_is_not_there_is_not() -> None:
    assert _sure(options(-3.0), 0, stops=False) == 1.0
    assert _sure(options(0.0), None) == 0.0
