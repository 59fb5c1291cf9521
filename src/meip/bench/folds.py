"""Folds, outlines and fluents against shapely doing the same work with its vectorised functions."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from meip.bench._compare import compare as compare_all
from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.demonstrate import bundled
from meip.worlds.folding.fluents import fact_blocks
from meip.worlds.folding.folds import Fold, fold, fold_many, pile
from meip.worlds.folding.garments import random_garment
from meip.worlds.folding.kernel import FOLDED
from meip.worlds.folding.proposal import propose
from meip.worlds.folding.silhouette import outlines
from meip.worlds.folding.world import proposal_from

__all__ = ["cases", "run", "shapely_fold"]

Case = tuple[Cloth, Fold]
SINGLE, BATCH = 20.0, 100.0
FAR = 10.0
TIMES = 10  # a batch is this many times as large as what the peer does, and its time divided by it


def cases(count: int, seed: int = 0) -> list[Case]:
    """Cloths after 0, 1 and 2 folds, and a legal fold right across each."""
    rng = np.random.default_rng(seed)
    found: list[Case] = []
    while len(found) < count:
        template = ("tshirt", "longsleeve", "sweater", "hoodie")[len(found) // 3 % 4]
        cloth = Cloth.flat(random_garment(template, rng))
        for _ in range(3):
            low, high = cloth.xy.min(axis=0), cloth.xy.max(axis=0)
            code = -1
            while code != FOLDED:
                x, y = rng.uniform(0.75 * low + 0.25 * high, 0.25 * low + 0.75 * high).tolist()
                action = (x, y, FAR * cloth.scale, float(rng.uniform(0.0, np.pi)))
                code = int(fold_many(cloth, [action])[0][0])
            found.append((cloth, action))
            cloth = fold(cloth, action)
    return found[:count]


def shapely_fold(layers: Any, faces: NDArray[np.int64], action: Fold, scale: float) -> tuple[Any, NDArray[np.int64]]:
    """The fold of layers (shapely polygons, bottom to top) along a line through the whole cloth."""
    import shapely

    x, y, _, theta = action
    u = FAR * scale * np.array([np.cos(theta), np.sin(theta)])
    n = np.array([-u[1], u[0]])
    a, b = np.array([x, y]) - u, np.array([x, y]) + u
    sides, origins = [], []
    for half in (shapely.Polygon([a, b, b + n, a + n]), shapely.Polygon([b, a, a - n, b - n])):
        parts, origin = shapely.get_parts(shapely.intersection(layers, half), return_index=True)
        solid = shapely.area(parts) > 1e-12 * scale**2
        sides.append(parts[solid])
        origins.append(origin[solid])
    plus, minus = (float(shapely.area(parts).sum()) for parts in sides)
    moves = 0 if plus < minus - 1e-9 * (plus + minus) else 1
    normal = n / np.hypot(*n)

    def mirrored(points: Any) -> Any:
        return points - 2.0 * ((points - [x, y]) @ normal)[:, None] * normal

    moved = shapely.transform(sides[moves][::-1], mirrored)
    return (
        np.concatenate([moved, sides[1 - moves]]),
        np.concatenate([-faces[origins[moves]][::-1], faces[origins[1 - moves]]]),
    )


def run(peers: bool = True, count: int = 300, repeats: int = 7) -> list[dict[str, Any]]:
    """Rows: folds one at a time and in a batch, outlines; without a peer: outlines with fluents, proposals."""
    chosen = cases(count)
    installed = peers and find_spec("shapely") is not None
    source = pile([cloth for cloth, _ in chosen])
    shapes = [_shapes(cloth) for cloth, _ in chosen] if installed else []

    def singly() -> None:
        for cloth, action in chosen:
            fold(cloth, action)

    def theirs() -> None:
        for (layers, faces), (cloth, action) in zip(shapes, chosen, strict=True):
            shapely_fold(layers, faces, action, cloth.scale)

    def unions() -> None:
        import shapely

        for layers, _ in shapes:
            shapely.union_all(layers)

    peer = theirs if installed else None
    compare = partial(compare_all, repeats=repeats, clock=time.process_time)  # both sides use one thread
    rows = compare("folds, one at a time", "shapely", singly, peer, target=SINGLE).rows(folds=count)
    many = cases(TIMES * count, seed=1)  # as many as search folds at once; the peer does a part of such work
    large, segments = pile([cloth for cloth, _ in many]), np.array([action for _, action in many])
    batch = compare("folds, in a batch", "shapely", lambda: fold_many(large, segments), peer, target=BATCH)
    rows += replace(batch, ours=batch.ours / TIMES).rows(folds=count)
    rows += compare("visible outlines", "shapely", lambda: outlines(source), unions if installed else None).rows(
        states=count
    )
    rows += compare("visible outlines and fluents", "-", lambda: fact_blocks(source), None).rows(states=count)
    rows += compare("forty proposed folds", "-", _proposer(chosen[:60]), None).rows(states=60)
    return rows


def _proposer(chosen: list[Case]) -> Callable[[], None]:
    """What expanding a state in search costs: legal folds with different results near the bundled demonstrations."""
    proposal = proposal_from(bundled())

    def work() -> None:
        rng = np.random.default_rng(0)
        for cloth, _ in chosen:
            propose(cloth, proposal, 40, rng)

    return work


def _shapes(cloth: Cloth) -> tuple[Any, NDArray[np.int64]]:
    import shapely

    layers = np.array([shapely.Polygon(layer.polygon) for layer in cloth])
    return layers, cloth.label[:, 1].astype(np.int64)
