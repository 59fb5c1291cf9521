"""Max-margin ranking against scikit-learn's LinearSVC on the listed differences: the same objective to 1e-5.

A fit costs us time by states and LinearSVC by pairs, so the ratio grows with the length of plans: several are shown.
"""

from __future__ import annotations

import subprocess
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.bench._compare import compare
from meip.learning.pairs import RankedPairs, demonstration_pairs
from meip.learning.ranking_svm import Loss, fit_ranking, ranking_objective

__all__ = ["fit_many", "peak_memory", "random_plans", "run"]


MILLION = ((100, 142), (10, 448), (1000, 46))  # plans x states: each has 1.0e6 pairs; the first is the one with targets
HUNDRED_MILLION = (100, 1415)
FEATURES = 20
C = 1e-4
TARGETS: dict[Loss, float] = {"squared_hinge": 150.0, "hinge": 40.0}
SAME = 1e-5
MEMORY = """
import sys, time
from meip.bench.ranksvm import fit_many, peak_memory
fit_many(8, 100, sys.argv[1])
start = time.perf_counter()
pairs = fit_many(int(sys.argv[2]), int(sys.argv[3]), sys.argv[1])
print(pairs, time.perf_counter() - start, peak_memory())
"""


def random_plans(plans: int, states: int, features: int = FEATURES, seed: int = 0) -> tuple[Floats, RankedPairs]:
    """Plans whose states are ordered by a hidden linear utility with as much noise as signal."""
    random = np.random.default_rng(seed)
    table = random.normal(size=(plans * states, features))
    hidden = random.normal(size=features)
    scores = (table @ hidden + np.linalg.norm(hidden) * random.normal(size=plans * states)).reshape(plans, states)
    order = np.argsort(scores, axis=1) + states * np.arange(plans)[:, None]
    return table, demonstration_pairs(order, np.full(plans, states), 1.0)


def fit_many(plans: int, states: int, loss: Loss) -> int:
    """Fit so many plans and return how many pairs they stand for."""
    table, chains = random_plans(plans, states)
    fit_ranking(table, chains, loss=loss, C=C, tol=SAME)
    return chains.pairs


def peak_memory() -> float:
    """The most memory this process has held, in MB.

    Linux's own count, where there is one: ru_maxrss of a child begins with what its parent held when it started it.
    """
    status = Path("/proc/self/status")
    if status.is_file():
        for line in status.read_text().splitlines():
            if line.startswith("VmHWM:"):
                return float(line.split()[1]) / 2**10
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)


def run(peers: bool = True, sizes: tuple[tuple[int, int], ...] = MILLION, repeats: int = 7) -> list[dict[str, Any]]:
    """Rows for every size and loss; the largest size, and its memory, without a peer (it would need 16 GB)."""
    installed = peers and find_spec("sklearn") is not None
    rows: list[dict[str, Any]] = []
    for plans, states in sizes:
        table, chains = random_plans(plans, states)
        listed = _listed(table, chains) if installed else None
        for loss in TARGETS:
            first = (plans, states) == sizes[0]
            rows += _race(table, chains, listed, loss, plans, states, repeats if first else min(repeats, 3), first)
    if sizes == MILLION:
        for loss in TARGETS:
            rows += _memory(loss)
    return rows


def _race(
    table: Floats, chains: RankedPairs, listed: tuple[Floats, Floats] | None, loss: Loss, plans: int, states: int,
    repeats: int, first: bool,
) -> list[dict[str, Any]]:  # fmt: skip
    found: dict[str, Floats] = {}

    def ours() -> None:
        found["ours"] = fit_ranking(table, chains, loss=loss, C=C, tol=SAME).w

    def theirs() -> None:
        found["theirs"] = _linear_svc(listed, loss) if listed is not None else found["ours"]

    work = f"max-margin fit, {loss}, {chains.pairs:.1e} pairs"
    target = TARGETS[loss] if first else None
    result = compare(work, "LinearSVC", ours, theirs if listed is not None else None, repeats=repeats, target=target)
    rows = result.rows(plans=plans, states=states)
    if listed is not None:
        mine, other = (ranking_objective(table, chains, found[who], loss=loss, C=C) for who in ("ours", "theirs"))
        common = {"experiment": "bench", "work": work, "plans": plans, "states": states, "method": "LinearSVC"}
        rows.append({**common, "metric": "objective_difference", "value": abs(mine - other) / other, "target": SAME})
    return rows


def _listed(table: Floats, chains: RankedPairs) -> tuple[Floats, Floats]:
    """All differences of features, every second one turned round, so that there are two classes."""
    parts = []
    for start, stop in zip(chains.starts, chains.starts[1:], strict=False):
        rows = table[chains.items[start:stop]]
        earlier, later = np.triu_indices(stop - start, 1)
        parts.append(rows[later] - rows[earlier])
    differences = np.concatenate(parts)
    signs = np.where(np.arange(len(differences)) % 2 == 0, 1.0, -1.0)
    return differences * signs[:, None], signs


def _linear_svc(listed: tuple[Floats, Floats], loss: Loss) -> Floats:
    """With the faster of its solvers for each loss, and the loosest tolerance that reaches 1e-5."""
    from sklearn.svm import LinearSVC

    dual, tol = loss == "hinge", 1e-2 if loss == "hinge" else 1e-4
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = LinearSVC(loss=loss, dual=dual, C=C, fit_intercept=False, tol=tol, max_iter=1000).fit(*listed)
    return np.asarray(model.coef_[0], dtype=np.float64)


def _memory(loss: Loss) -> list[dict[str, Any]]:
    """Seconds and peak memory of a process that does nothing else."""
    plans, states = HUNDRED_MILLION
    done = subprocess.run(
        [sys.executable, "-c", MEMORY, loss, str(plans), str(states)], capture_output=True, text=True, check=True
    )
    pairs, seconds, peak = done.stdout.split()
    common: dict[str, Any] = {"experiment": "bench", "method": "meip"}
    common["work"] = f"max-margin fit, {loss}, {int(pairs):.1e} pairs"
    common |= {"plans": plans, "states": states}
    return [
        {**common, "metric": "ours", "value": float(seconds)},
        {**common, "metric": "peak_mb", "value": float(peak), "target": 400.0},
    ]
