"""Are steps compared by what they add to g, or to their history? What `auto` decides, why, and that it acts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from meip import Domain, Episode, Facts, Task, World, function, learn, record
from meip.experiments.rites import paper_demonstrations
from meip.learning.evidence import Evidence
from meip.learning.history import Histories
from meip.model.choices import replay_all
from meip.model.graph import StateGraph
from meip.search.choosing import Chooser
from meip.utility.preferences import standing

DOMAIN = Domain("climb", (), (function("height"),))


@dataclass(frozen=True)
class Climb(World):
    """Up by 1 to 5 at each step, or down by 3."""

    domain = DOMAIN
    horizon = 7

    def initial(self) -> list[tuple[float, int]]:
        return [(1.0, 0)]

    def actions(self, state: int) -> list[int]:
        return [-3, 1, 2, 5]

    def outcomes(self, state: int, action: int) -> list[tuple[float, int]]:
        return [(1.0, state + action)]

    def facts(self, state: int) -> Facts:
        return Facts.build(DOMAIN, {}, {"height": float(state)})


def climber(rng: np.random.Generator, sharpness: float, strength: float) -> Episode:
    """Who goes by how far each step rises above all that was before, or for a sharpness of 0 by how far it rises."""
    world, states, actions = Climb(), [0], list[int]()
    while len(states) < world.horizon:
        legal = world.actions(states[-1])
        reached = np.array([float(states[-1] + a) for a in legal])
        worth = strength * standing(reached, np.array(states, np.float64), sharpness)
        p = np.exp(worth - worth.max())
        actions.append(int(rng.choice(legal, p=p / p.sum())))
        states.append(states[-1] + actions[-1])
    return Episode(world, record(world, actions))


@pytest.mark.parametrize(("sharpness", "strength", "taken"), [(1.0, 8.0, "history"), (0.0, 0.5, "choices")])
def test_held_out_choices_say_whether_histories_count(sharpness: float, strength: float, taken: str) -> None:
    rng = np.random.default_rng(7)
    task = learn([climber(rng, sharpness, strength) for _ in range(25)], seed=1, concepts=("mean(height)",))
    found = task.provenance.evidence["objective"]
    assert task.provenance.objective == found["taken"] == taken and found["because"] == "held-out choices"
    better = found["nats_by_choices"] - found["nats_by_history"]
    assert better == pytest.approx(found["history_better_by"])
    assert (better > 2 * found["standard_error"]) == (taken == "history")
    assert bool(task.preferences and task.preferences.history) == (taken == "history")


def test_what_is_asked_for_is_taken_and_said(tmp_path: Path) -> None:
    tasks = [learn(paper_demonstrations("free"), objective=objective) for objective in ("choices", "history")]
    assert [task.provenance.objective for task in tasks] == ["choices", "history"]
    assert all(task.provenance.evidence["objective"]["because"] == "asked for" for task in tasks)
    assert tasks[0].preferences and tasks[0].preferences.history == 0.0
    assert tasks[1].preferences and tasks[1].preferences.history > 0.0
    tasks[1].save(tmp_path / "task.json")
    assert Task.load(tmp_path / "task.json") == tasks[1]


def test_too_few_demonstrations_leave_none_out() -> None:
    found = learn(paper_demonstrations("free")[:2]).provenance.evidence["objective"]
    assert found == {"taken": "choices", "because": "there are too few demonstrations to leave one out"}


def test_a_history_without_sharpness_is_the_plain_difference() -> None:
    evidence = Evidence(replay_all([climber(np.random.default_rng(3), 0.0, 0.5) for _ in range(3)]))
    heights = np.array([float(evidence.replayed.graphs[g].states[s]) for g, s in evidence.states])
    plain = evidence.change(heights[:, None])[:, 0]
    assert Histories(evidence).gains(heights, 0.0) == pytest.approx(plain)
    bent = Histories(evidence).gains(heights, 1.0)
    assert np.abs(bent).max() < np.abs(plain).max()
    assert (np.sign(bent) == np.sign(plain)).all()


def test_a_step_far_above_the_past_counts_less() -> None:
    task = learn([climber(np.random.default_rng([5, k]), 1.0, 8.0) for k in range(6)], objective="history")
    graph = StateGraph(Climb())
    choosing = task.choosing
    assert choosing is not None
    chooser, high = Chooser(graph, choosing), graph.intern(30)
    before = graph.intern(0)
    chooser.remember({before: 1})
    first = np.ptp(chooser.worth(before, chooser.alternatives(before)[1]))
    chooser.remember({before: 5, high: 1})
    later = np.ptp(chooser.worth(high, chooser.alternatives(high)[1]))
    assert later < first and math.isfinite(later)
