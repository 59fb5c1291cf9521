"""How sure a model is of a step: beside its best one, and beside chance; and how an order is told."""

from __future__ import annotations

import numpy as np
import pytest

from meip import Domain, predicate
from meip.concepts.parser import parse_concept
from meip.search.choosing import Options
from meip.tasks.explain import _chain
from meip.tasks.reasons import _sure
from meip.utility.preferences import Statement


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


def test_an_order_is_a_chain_only_where_it_says_every_pair() -> None:
    """Windows are open before walls are painted, not before they are sanded."""
    domain = Domain("walls", (), tuple(predicate(name) for name in ("covered", "open", "sanded", "painted")))

    def before(first: str, then: str) -> Statement:
        return Statement("order", parse_concept(f"some({then}) and not some({first})", domain), -2.0, 3.0, 4)

    pairs = [before("covered", "sanded"), before("open", "painted"), before("sanded", "painted")]
    told, _ = _chain(pairs, domain)
    assert not told.startswith("first") and "covered is the case before sanded is the case" in told
    told, _ = _chain([before("covered", "sanded"), before("sanded", "painted")], domain)
    assert told.startswith("first") and told.count("then") == 2
