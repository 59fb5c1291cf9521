"""The estimator contract of scikit-learn, without depending on it.

Parameters are only stored in `__init__`, `fit` returns self, fitted attributes end in ``_``; `get_params` and
`set_params` make `clone`, `GridSearchCV` and people's habits work.
"""

from __future__ import annotations

import inspect
from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from meip.base.errors import LearningError, NotFittedError, did_you_mean
from meip.learning.shown import ShownPlans
from meip.model.choices import Replayed
from meip.model.demonstrations import Episode
from meip.utility.ordering import mean_tau
from meip.utility.ranking import UtilityRanking
from meip.utility.terms import Utility

__all__ = ["Estimator", "UtilityEstimator"]


class Estimator:
    """Base of everything with a `fit`."""

    @classmethod
    def _parameters(cls) -> list[str]:
        signature = inspect.signature(cls.__init__)
        return sorted(name for name in signature.parameters if name != "self")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters by name."""
        return {name: getattr(self, name) for name in self._parameters()}

    def set_params(self, **params: Any) -> Self:
        """Change parameters by name."""
        known = self._parameters()
        for name, value in params.items():
            if name not in known:
                raise LearningError(f"{type(self).__name__} has no parameter {name!r}; {did_you_mean(name, known)}")
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in inspect.signature(type(self).__init__).parameters.items()}
        shown = [f"{n}={v!r}" for n, v in self.get_params().items() if v is not defaults[n] and v != defaults[n]]
        return f"{type(self).__name__}({', '.join(shown)})"

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import Tags, TargetTags

        return Tags(estimator_type=None, target_tags=TargetTags(required=False))

    def _check_fitted(self, attribute: str) -> None:
        if not hasattr(self, attribute):
            raise NotFittedError(f"this {type(self).__name__} is not fitted yet: call fit(episodes) first")


class UtilityEstimator(Estimator):
    """One whose `fit` finds a utility."""

    utility_: Utility

    def score(self, episodes: Sequence[Episode] | Replayed, y: Any = None) -> float:
        """Mean sign-tau of other demonstrations under the learned utility."""
        self._check_fitted("utility_")
        given = ShownPlans(episodes)
        ranking = UtilityRanking([self.utility_])
        plans = [(given.graphs[case.graph], list(shown.intended)) for case, shown in given.shown]
        return float(np.mean([mean_tau(ranking(graph, states)[states]) for graph, states in plans]))
