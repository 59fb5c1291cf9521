"""One gradient of MaxEnt-IRL on a 30 x 30 grid against imitation's tabular core: the same visits to 1e-3.

The core is two numpy functions of ``imitation.algorithms.mce_irl``. Importing that module would load its deep-learning
dependencies, which they do not use, so they are compiled from the installed source by themselves; where imitation is
not installed, the same recursions over a dense transition matrix stand in and are labelled so.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from meip.base.arrays import Floats
from meip.baselines.maxent_irl import MaxEntIRL
from meip.baselines.tabular import TabularWorld, solve, visits
from meip.bench._compare import compare
from meip.model.graph import GraphArrays

__all__ = ["dense_visits", "grid", "run"]

DenseVisits = Callable[[Floats, Floats, Floats, int], Floats]

SIZE, HORIZON, SLIP, FEATURES = 30, 60, 0.1, 10
TARGET, SAME = 50.0, 1e-3


def grid(size: int = SIZE, horizon: int = HORIZON, features: int = FEATURES, seed: int = 0) -> TabularWorld:
    """A grid with four moves, each of which slips to one of the two sides with probability SLIP in all."""
    random = np.random.default_rng(seed)
    moves = ((0, 1), (1, 0), (0, -1), (-1, 0))
    targets, odds = [], []
    for s in range(size * size):
        x, y = divmod(s, size)
        ways = [np.clip(x + dx, 0, size - 1) * size + np.clip(y + dy, 0, size - 1) for dx, dy in moves]
        for a in range(4):
            targets += [ways[a], ways[(a + 1) % 4], ways[(a + 3) % 4]]
            odds += [1 - SLIP, SLIP / 2, SLIP / 2]
    states, actions = size * size, 4 * size * size
    arrays = GraphArrays(
        4 * np.arange(states),
        np.full(states, 4),
        3 * np.arange(actions),
        np.full(actions, 3),
        np.array(targets, dtype=np.int64),
        np.array(odds),
    )
    initial = np.zeros(states)
    initial[states // 2 + size // 2] = 1.0
    return TabularWorld(arrays, initial, horizon, random.normal(size=(states, features)))


def run(peers: bool = True, size: int = SIZE, horizon: int = HORIZON, repeats: int = 7) -> list[dict[str, Any]]:
    """Rows of seconds per gradient, the ratio, and how far the visits differ; and seconds of a whole fit."""
    world = grid(size, horizon)
    w: Floats = np.random.default_rng(1).normal(size=(world.features.shape[1],))
    peer, dense = _peer()
    transitions = _transitions(world)
    found: dict[str, Floats] = {}

    def ours() -> None:
        reached, _ = visits(world, solve(world, world.features @ w))
        found["ours"] = reached.sum(axis=0)
        found["ours"] @ world.features

    def theirs() -> None:
        found["theirs"] = dense(transitions, world.features @ w, world.initial, horizon)
        found["theirs"] @ world.features

    work = f"MaxEnt-IRL gradient, {size}x{size} grid, {horizon} steps"
    result = compare(work, peer, ours, theirs if peers else None, repeats=repeats, target=TARGET)
    rows = result.rows()
    if peers:
        difference = float(np.abs(found["ours"] - found["theirs"]).max())
        common = {"experiment": "bench", "work": work, "method": peer}
        rows.append({**common, "metric": "visits_difference", "value": difference, "target": SAME})
    return rows + _whole_fit(world, w, repeats)


def _whole_fit(world: TabularWorld, w: Floats, repeats: int) -> list[dict[str, Any]]:
    """Learning until the expected statistics match to 1e-3, from plans of a hidden reward."""
    shown = MaxEntIRL()
    shown.weights_ = w
    plans = shown.sample(world, 20, seed=2, choice="soft")

    def fit() -> None:
        MaxEntIRL(alpha=0.01, tol=SAME).fit(world, plans)

    return compare("MaxEnt-IRL fit to 1e-3", "", fit, None, repeats=min(repeats, 3)).rows()


def _transitions(world: TabularWorld) -> Floats:
    """P(next | state, action) as a dense array [S, A, S], as imitation wants it."""
    a, states = world.arrays, world.initial.size
    table = np.zeros((states, 4, states))
    action = np.repeat(np.arange(4 * states), a.outcome_count)
    np.add.at(table, (action // 4, action % 4, a.outcome_state), a.outcome_probability)
    return table


def _peer() -> tuple[str, DenseVisits]:
    core = _imitation_core()
    if core is None:
        return "numpy, dense (imitation is not installed)", dense_visits
    partition, occupancy = core

    def measured(transitions: Floats, reward: Floats, initial: Floats, horizon: int) -> Floats:
        world = SimpleNamespace(
            horizon=horizon,
            state_dim=reward.size,
            action_dim=transitions.shape[1],
            transition_matrix=transitions,
            initial_state_dist=initial,
            reward_matrix=reward,
        )
        policy = partition(world, reward=reward)[2]
        return np.asarray(occupancy(world, reward=reward, pi=policy)[0][:horizon].sum(axis=0), dtype=np.float64)

    return "imitation", measured


def _imitation_core() -> tuple[Callable[..., Any], Callable[..., Any]] | None:
    """mce_partition_fh and mce_occupancy_measures of the installed package."""
    spec = find_spec("imitation")
    if spec is None or not spec.submodule_search_locations:
        return None
    path = Path(next(iter(spec.submodule_search_locations))) / "algorithms" / "mce_irl.py"
    names = ("mce_partition_fh", "mce_occupancy_measures")
    if not path.is_file():
        return None
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kept = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in names]
    header = "from __future__ import annotations\nimport numpy as np\nimport scipy.special\n"
    # The sum over time without discount is all that they take from imitation's rollout module.
    space: dict[str, Any] = {"rollout": SimpleNamespace(discounted_sum=lambda rows, discount: rows.sum(axis=0))}
    exec(compile(ast.Module([*ast.parse(header).body, *kept], []), str(path), "exec"), space)
    return (space[names[0]], space[names[1]]) if len(kept) == 2 else None


def dense_visits(transitions: Floats, reward: Floats, initial: Floats, horizon: int) -> Floats:
    """Expected visits [S] by the soft recursions over a dense transition array, in plain numpy."""
    from scipy.special import logsumexp

    value, policies = reward, []
    for _ in range(horizon - 1):
        q = transitions @ value
        soft = logsumexp(q, axis=1)
        policies.append(np.exp(q - soft[:, None]))
        value = reward + soft
    mass, total = initial, initial.copy()
    for policy in reversed(policies):
        mass = np.einsum("sa,sat->t", mass[:, None] * policy, transitions, optimize=True)
        total += mass
    return total
