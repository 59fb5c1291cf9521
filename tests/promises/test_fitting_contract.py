"""Promise 7: estimators keep scikit-learn's contract: parameters are only stored, `fit` returns the estimator and may
be called again, what is not fitted says so, and a clone is as new."""

from __future__ import annotations

from typing import Any

import pytest
from sklearn.base import clone

from meip import NotFittedError
from meip.experiments.rites import paper_demonstrations
from meip.learning.learner import Learner
from meip.learning.pursuit import Pursuit


@pytest.mark.parametrize("made", [Learner(("all(torch@1)", "some(bamboo@2)"), alpha=0.1), Pursuit(kappa=0.5)])
def test_an_estimator_can_be_cloned_refitted_and_asked_too_early(made: Any) -> None:
    episodes = paper_demonstrations("enforced")
    copy = clone(made)
    assert copy is not made and copy.get_params() == made.get_params()
    with pytest.raises(NotFittedError, match="call fit"):
        copy.score(episodes)
    assert copy.fit(episodes) is copy
    first = copy.utility_
    assert copy.fit(episodes).utility_ == first
    assert "utility_" not in vars(clone(copy))
