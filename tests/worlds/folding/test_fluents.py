from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from shapely.geometry import LineString, Point, Polygon
from test_silhouette import SHEET, folded_cloths

from meip.worlds.folding.cloth import Cloth
from meip.worlds.folding.fluent_table import NAMES, fluent_rows
from meip.worlds.folding.fluents import DOMAIN, OUTLYING, SCRAP, fact_blocks
from meip.worlds.folding.folds import fold, pile
from meip.worlds.folding.garments import garment
from meip.worlds.folding.silhouette import parsed


def tables_of(cloth: Cloth) -> dict[str, NDArray[np.float64]]:
    (block,) = fact_blocks(pile([cloth]))
    return {name: table[0] for name, table in block.tables.items()}


def test_fluents_are_over_the_four_classes_of_the_paper() -> None:
    assert [c.name for c in DOMAIN.classes] == ["cloth", "polygon", "edge", "vertex"]


def test_the_table_has_the_papers_ten_and_every_one_of_ours_once() -> None:
    rows = fluent_rows()
    assert [row.paper for row in rows] == [*NAMES, *[""] * (len(rows) - 10)]
    assert len({row.name for row in rows}) == len(rows) == 20
    assert {row.name for row in rows if row.extended} == {fluent.name for fluent in DOMAIN.fluents}
    found = {row.paper: (row.name, row.arity, row.type, row.of) for row in rows}
    assert found["Edge Length"] == ("length", 1, "function", "edge")
    assert found["Vt2Edge Distance"] == ("edge_distance", 2, "function", "vertex, edge")
    assert found["Edge on Edge"] == ("along", 2, "predicate", "edge, edge")


def test_the_strip_of_a_hood_that_a_crease_above_its_seam_leaves_sticks_out_like_a_hood() -> None:
    one = garment("hoodie")
    lowest = min(y for x, y in one.part("hood").points if (x, y) in set(one.part("body").points))
    flat = Cloth.flat(one)
    folded = [flat, fold(flat, (0, lowest - 1, 30, 0)), fold(flat, (0, lowest + 3, 30, 0))]
    assert [int(tables_of(cloth)["outlying"].sum()) for cloth in folded] == [3, 2, 4]


def test_a_sheet_folded_at_a_quarter() -> None:
    facts = tables_of(fold(SHEET, (1, 2, 9, np.pi / 2)))
    assert facts["area"] == pytest.approx([0.25, 0.75])
    assert sorted(facts["length"]) == pytest.approx([0.75, 0.75, 1, 1])
    assert facts["extent"] == pytest.approx([0.75])
    assert facts["aspect"] == pytest.approx([4 / 3])
    assert facts["fill"] == pytest.approx([1])
    assert facts["height"] == pytest.approx([4])
    assert facts["beyond"] == pytest.approx([0] * 8, abs=1e-9)
    assert facts["parallel"].sum() == 4
    assert facts["perpendicular"].sum() == 8
    assert facts["above"].tolist() == [[False, False], [True, False]]
    assert not facts["inside"].any()  # the strip's corners lie on the edges of the rest
    assert np.nansum(facts["angle"]) == pytest.approx(6 * 90)  # four corners, two of them of both layers
    assert np.isnan(facts["angle"]).sum() == 2


def test_a_corner_folded_in_lies_inside() -> None:
    facts = tables_of(fold(SHEET, (3, 3.5, 9, -np.pi / 4)))
    assert facts["inside"].sum() == 1


def test_the_facts_agree_with_shapely() -> None:
    for cloth in folded_cloths(30, 11):
        facts = tables_of(cloth)
        shapes = [Polygon(layer.polygon) for layer in cloth]
        overlaps = [
            [p > q and shapes[p].intersection(shapes[q]).area > 1e-3 * cloth.scale**2 for q in range(len(cloth))]
            for p in range(len(cloth))
        ]
        surely = np.array(overlaps)
        assert (facts["above"] >= surely).all()
        hulls = [[p > q and shapes[p].distance(shapes[q]) < 1e-3 for q in range(len(cloth))] for p in range(len(cloth))]
        assert (facts["above"] <= np.array(hulls)).all()
        owner = np.repeat(np.arange(len(cloth)), np.diff(cloth.start))
        for v, at in enumerate(cloth.xy):
            for p, shape in enumerate(shapes):
                far = shape.exterior.distance(Point(at)) > 2e-6 * cloth.scale
                assert facts["inside"][v, p] == (owner[v] != p and far and shape.contains(Point(at)))
        edges = [LineString([loop[i - 1], loop[i]]) for loop in parsed(cloth) for i in range(len(loop))]
        assert sorted(edge.length / cloth.scale for edge in edges) == pytest.approx(sorted(facts["length"]))
        near = sum(edge.distance(Point(at)) <= 0.025 * cloth.scale for edge in edges for at in cloth.xy)
        assert facts["on"].sum() == near
        away = [shapes[cloth.largest].distance(Point(at)) / cloth.scale for at in cloth.xy]
        assert facts["beyond"] == pytest.approx(away, abs=1e-9)
        assert facts["overhang"] == pytest.approx([max(away)], abs=1e-9)
        corner = [max(away[v] for v in range(len(away)) if owner[v] == p) > OUTLYING for p in range(len(cloth))]
        assert (facts["outlying"] >= corner * (facts["area"] > SCRAP)).all()
        left = [shape.difference(shapes[cloth.largest].buffer(1e-3)).area for shape in shapes]
        assert not facts["outlying"][np.array(left) == 0].any()
        x0, y0, x1, y1 = cloth.bounds
        covered = facts["extent"] * cloth.scale**2
        assert facts["fill"] == pytest.approx(covered / ((x1 - x0) * (y1 - y0)))


def test_facts_do_not_depend_on_the_batch() -> None:
    cloths = folded_cloths(25, 12)
    together = fact_blocks(pile(cloths))
    assert sorted(int(i) for block in together for i in block.states) == list(range(25))
    for block in together:
        for row, state in enumerate(block.states):
            alone = tables_of(cloths[int(state)])
            for name, table in block.tables.items():
                np.testing.assert_array_equal(table[row], alone[name])


def test_facts_do_not_depend_on_the_unit_of_length() -> None:
    cloth = folded_cloths(1, 13)[0]
    larger = Cloth(cloth.start, cloth.xy * 7.0, cloth.tag, cloth.label, cloth.maps, cloth.parts, cloth.scale * 7.0)
    (large,) = fact_blocks(pile([larger]), centimetre=1 / 7)
    for name, table in tables_of(cloth).items():
        np.testing.assert_allclose(large.tables[name][0], table, rtol=1e-9)
