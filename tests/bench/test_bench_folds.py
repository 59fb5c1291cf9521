from __future__ import annotations

import numpy as np
import pytest
import shapely

from meip.bench import folding
from meip.bench.folds import cases, run, shapely_fold
from meip.worlds.folding.folds import fold


def test_the_peer_does_the_same_folds() -> None:
    for cloth, action in cases(12):
        layers = np.array([shapely.Polygon(layer.polygon) for layer in cloth])
        peer, faces = shapely_fold(layers, cloth.label[:, 1].astype(np.int64), action, cloth.scale)
        ours = fold(cloth, action)
        assert len(peer) == len(ours)
        assert sorted(shapely.area(peer)) == pytest.approx(sorted(shapely.Polygon(o.polygon).area for o in ours))
        assert sum(faces) == sum(layer.face for layer in ours)
        assert shapely.union_all(peer).bounds == pytest.approx(ours.bounds)


def test_rows_name_the_work_and_the_ratio() -> None:
    rows = run(peers=True, count=6, repeats=1)
    ratios = {row["work"]: row["target"] for row in rows if row["metric"] == "ratio"}
    assert ratios["folds, one at a time"] == 20
    assert ratios["folds, in a batch"] == 100
    assert all(row["value"] > 0 for row in rows)


def test_the_folding_benchmark_splits_all_of_the_time() -> None:
    rows = folding.run(shown=3, candidates=3, frozen=2, simulations=40)
    trees = [("frozen tree", name) for name in folding.FROZEN]
    for part in [("plan by tree search", None), ("plan by beam search", None), *trees]:
        mine = [row for row in rows if (row["work"], row.get("garment")) == part]
        shares = [row["value"] for row in mine if row["metric"].startswith("share")]
        assert sum(shares) == pytest.approx(1.0, abs=1e-6)
        assert min(shares) >= 0.0
    (speed,) = [
        row["value"] for row in rows if row["work"] == "plan by tree search" and row["metric"] == "simulations/s"
    ]
    assert speed > 0
