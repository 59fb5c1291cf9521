"""Learning runs: killed ones resume to the same bytes, estimators keep scikit-learn's contract."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from meip import LearningError, NotFittedError, Task, learn
from meip.base import documents
from meip.experiments.rites import demonstrate, paper_demonstrations, random_rite
from meip.learning.checkpoint import Checkpoint
from meip.learning.learner import Learner
from meip.learning.pursuit import Pursuit

KILLED = """
import os, signal, sys
from meip import learn
from meip.experiments.rites import paper_demonstrations

def stop(info):
    if info["member"] == 2 and len(info["concepts"]) == 2:
        os.kill(os.getpid(), signal.SIGKILL)

learn(paper_demonstrations("enforced"), committee=2, seed=5, order="greedy", checkpoint=sys.argv[1], progress=stop)
"""


def test_a_killed_run_resumes_from_its_checkpoint_to_the_same_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    done = subprocess.run([sys.executable, "-c", KILLED, str(folder)], capture_output=True, text=True)
    assert done.returncode == -signal.SIGKILL, done.stderr
    kept = documents.read(folder / "member-001.json", "checkpoint")
    assert sum(d.taken for d in kept.decisions) == 2
    seen: list[int] = []
    options = {"committee": 2, "seed": 5, "order": "greedy"}
    resumed = learn(
        paper_demonstrations("enforced"), checkpoint=folder, progress=lambda i: seen.append(i["tried"]), **options
    )
    assert seen.count(0) > 2  # what was taken before was fitted again, without trying the others
    resumed.save(tmp_path / "resumed.json")
    learn(paper_demonstrations("enforced"), **options).save(tmp_path / "whole.json")
    assert (tmp_path / "resumed.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
    assert not folder.exists()


def test_a_pool_of_samples_resumes_to_the_same_bits() -> None:
    rng = np.random.default_rng(0)
    episodes = demonstrate(random_rite(rng, 4, 4), "free", rng)
    first = Pursuit()
    states = list(first.pursue(episodes))
    again = list(Pursuit().pursue(episodes, states[1][1]["decisions"]))
    assert again[-1][0].trial.utility == states[-1][0].trial.utility
    assert again[-1][1]["decisions"] == states[-1][1]["decisions"]


def test_a_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "checkpoint"
    Checkpoint(folder, "sha256:another").keep(0, ())
    with pytest.raises(LearningError, match="checkpoint is of another run"):
        learn(paper_demonstrations("enforced"), committee=2, seed=6, order="greedy", checkpoint=folder)


def test_nothing_can_be_learned_from_nothing() -> None:
    with pytest.raises(LearningError, match="no demonstrations"):
        learn([])


@pytest.mark.parametrize("changes", [{"committee": 0}, {"concept_share": 0.0}, {"tolerance": 1.0}])
def test_options_out_of_range_are_refused(changes: dict[str, float]) -> None:
    with pytest.raises(LearningError, match=next(iter(changes))):
        learn(paper_demonstrations("enforced"), **changes)


def test_a_wrong_demonstration_is_tolerated() -> None:
    rng = np.random.default_rng(3)
    rite = random_rite(rng, 3, 3)
    task = learn(demonstrate(rite, "free", rng, count=6, wrong=1), tolerance=0.2)
    assert isinstance(task, Task)
    assert {str(c) for c in task.concepts} >= set(rite.concepts())


# --- scikit-learn's contract ---


@pytest.mark.parametrize("estimator", [Pursuit(kappa=0.5), Learner(["all(torch@1)"], alpha=0.1)])
def test_estimators_can_be_cloned_refitted_and_say_when_they_are_not_fitted(estimator: Pursuit | Learner) -> None:
    from sklearn.base import clone

    copy = clone(estimator)
    assert copy is not estimator
    assert copy.get_params() == estimator.get_params()
    with pytest.raises(NotFittedError, match="call fit"):
        copy.score(paper_demonstrations("enforced"))
    once = copy.fit(paper_demonstrations("enforced"))
    assert once is copy
    first = copy.utility_
    assert copy.fit(paper_demonstrations("enforced")).utility_ == first
    assert not hasattr(clone(copy), "utility_")


def test_grid_search_chooses_by_held_out_demonstrations() -> None:
    from sklearn.model_selection import GridSearchCV

    rng = np.random.default_rng(1)
    episodes = demonstrate(random_rite(rng, 3, 3), "enforced", rng, count=6)
    search = GridSearchCV(Pursuit(), {"kappa": [0.25, 1.0], "order": ["closure", "none"]}, cv=2, error_score="raise")
    search.fit(episodes)
    assert search.best_score_ == pytest.approx(1.0)
    assert search.best_estimator_.score(episodes) == pytest.approx(1.0)


def test_unknown_parameters_are_named() -> None:
    with pytest.raises(LearningError, match="no parameter 'kapa'; did you mean 'kappa'"):
        Pursuit().set_params(kapa=1)


def test_steps_and_branches_are_options_of_the_exact_regime_too() -> None:
    plain = learn(paper_demonstrations("free"))
    mixed = learn(paper_demonstrations("free"), steps=1.0, branches=20)
    assert mixed.provenance.options["steps"] == 1.0
    assert {str(c) for c in mixed.concepts} >= {"all(torch@1)"}
    assert mixed.members != plain.members
    with pytest.raises(LearningError, match="not negative"):
        learn(paper_demonstrations("free"), branches=-1)
