"""Loop avoidance for greedy walks: what looks the same as before is worth a little less each time it comes up.

A walk that only avoids states it has been in can still stay for ever among states that its utility cannot tell apart
(five satellites that turn to and fro). Here each step to a value met before wears it out, so that in the end even a
step down is worth more than another one on the plateau.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["Weariness", "without_loops"]

Floats = NDArray[np.float64]
RATE = 0.07
ROUND = 9


class Weariness:
    """Counts the values and states a walk has been at; the unit is how much the alternatives of a step differ."""

    def __init__(self, rate: float = RATE) -> None:
        self.rate = rate
        self._met: Counter[float] = Counter()
        self._visited: Counter[Hashable] = Counter()
        self._spread, self._steps = 0.0, 0

    def worn(self, values: Floats) -> Floats:
        """The values of a step's alternatives, less what they have lost; equal ones are equal to 9 digits."""
        rounded: Floats = np.round(np.asarray(values, dtype=np.float64), ROUND).astype(np.float64)
        finite = rounded[np.isfinite(rounded)]
        self._spread += float(finite.std()) if len(finite) else 0.0
        self._steps += 1
        unit = self.rate * self._spread / self._steps
        met = np.array([self._met[v] for v in rounded.tolist()], dtype=np.float64)
        worn: Floats = np.round(rounded - unit * met, ROUND)
        return worn

    def went(self, value: float) -> None:
        """The walk went on to a state of this value."""
        self._met[round(float(value), ROUND)] += 1

    def at(self, state: Hashable) -> None:
        """The walk is at this state."""
        self._visited[state] += 1

    def step(self, values: Floats, outcomes: Sequence[Sequence[tuple[float, Hashable]]]) -> tuple[int, int] | None:
        """The action to take and which of its outcomes (probability, state) to count on; None where there is none.

        By the best value, to the likeliest outcome that was not visited yet; where all were, back to the one visited
        least. `values` are those of the actions.
        """
        if not len(outcomes):
            return None
        order = np.argsort(-self.worn(values), kind="stable").tolist()
        for action in order:
            fresh = [k for k, (_, state) in enumerate(outcomes[action]) if state not in self._visited]
            if fresh:
                break
        else:
            action = min(order, key=lambda a: self._visited[outcomes[a][0][1]])
            fresh = list(range(len(outcomes[action])))
        chosen = max(fresh, key=lambda k: outcomes[action][k][0])
        self.went(float(values[action]))
        self.at(outcomes[action][chosen][1])
        return action, chosen


def without_loops(states: Sequence[Hashable]) -> list[int]:
    """The positions of a walk that are left when it is cut short wherever it came back to a state."""
    kept: list[int] = []
    at: dict[Hashable, int] = {}
    for position, state in enumerate(states):
        if state in at:
            for gone in kept[at[state] + 1 :]:
                del at[states[gone]]
            del kept[at[state] + 1 :]
        else:
            at[state] = len(kept)
            kept.append(position)
    return kept
