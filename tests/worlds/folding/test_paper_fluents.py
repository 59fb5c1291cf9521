"""The ten fluents of the paper's table, against geometry that is computed otherwise."""

from __future__ import annotations

import numpy as np
import pytest
from shapely.geometry import LineString, Point, Polygon

from meip.base.errors import WorldError
from meip.model.check import check_world
from meip.model.problems import load_problem, problem_document
from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.folds import fold
from meip.worlds.folding.garments import garment
from meip.worlds.folding.paper_fluents import PAPER
from meip.worlds.folding.silhouette import parsed
from meip.worlds.folding.world import Folding

SHIRT = garment("tshirt", logo_size=12)
WORLD = Folding(SHIRT, fluents="paper")


def folded() -> Cloth:
    return fold(Cloth.flat(SHIRT), (-18.0, 35.0, 90.0, np.pi / 2))


def test_the_table_has_the_papers_ten() -> None:
    assert [(f.name, len(f.classes)) for f in PAPER.fluents] == [
        ("length", 1), ("logo", 1), ("neck", 1), ("vertex_distance", 2), ("edge_distance", 2), ("parallel", 2),
        ("perpendicular", 2), ("on", 2), ("along", 2), ("inside", 2),
    ]  # fmt: skip
    assert WORLD.domain is PAPER and Folding(SHIRT).domain is not PAPER
    with pytest.raises(WorldError, match="no fluents are called 'papers'"):
        Folding(SHIRT, fluents="papers")  # type: ignore[arg-type]


def test_distances_agree_with_shapely() -> None:
    cloth = folded()
    facts = WORLD.facts(cloth)
    edges = [LineString([a, b]) for loop in parsed(cloth) for a, b in zip(loop, np.roll(loop, -1, axis=0), strict=True)]
    vertices = [Point(xy) for xy in cloth.xy]
    expected = np.array([[v.distance(e) for e in edges] for v in vertices]) / cloth.scale
    assert facts.tables["edge_distance"] == pytest.approx(expected, abs=1e-9)
    apart = np.array([[v.distance(w) for w in vertices] for v in vertices]) / cloth.scale
    assert facts.tables["vertex_distance"] == pytest.approx(apart, abs=1e-9)
    lines = facts.tables["along"]
    assert not lines.diagonal().any()
    for i, j in zip(*np.nonzero(lines), strict=True):
        (x0, y0), (x1, y1) = edges[j].coords
        far = LineString([(x0 - 99 * (x1 - x0), y0 - 99 * (y1 - y0)), (x1 + 99 * (x1 - x0), y1 + 99 * (y1 - y0))])
        assert all(Point(end).distance(far) <= 0.025 * cloth.scale + 1e-9 for end in edges[i].coords)


def test_the_logo_and_the_neck_are_where_they_were_drawn() -> None:
    flat = WORLD.facts(Cloth.flat(SHIRT))
    assert flat.tables["logo"].tolist() == [1.0, 0.0, 0.0]
    assert (flat.tables["neck"] > 0).tolist() == [True, False, False]
    through = fold(Cloth.flat(SHIRT), (0.0, float(Polygon(SHIRT.logo).centroid.y), 90.0, 0.0))
    logo = WORLD.facts(through).tables["logo"]
    assert logo.sum() == pytest.approx(0.5) and (logo > 0).sum() == 1  # the other half is turned over


def test_the_choice_of_fluents_is_kept_in_the_problem_and_left_out_where_it_is_the_usual_one() -> None:
    document = problem_document(WORLD)
    assert document["fluents"] == "paper" and load_problem(document).domain is PAPER
    assert "fluents" not in problem_document(Folding(SHIRT))
    assert check_world(Folding(SHIRT, 3, candidates=3, fluents="paper")) == []
