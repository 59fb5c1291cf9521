"""Render then parse: corners, parts and axis come back; pictures that show no single garment are refused in words."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray
from outlines import outline
from shapely.geometry import Polygon

from meip.base import documents
from meip.base.errors import DocumentError, MeipError, WorldError
from meip.worlds.folding.canvas import to_svg, write_image
from meip.worlds.folding.cloth import Garment
from meip.worlds.folding.garments import TEMPLATES, garment, random_garment
from meip.worlds.folding.parse_graph import ParsedEdge, ParsedPolygon, ParseGraph, parse_array, parse_image, to_garment
from meip.worlds.folding.parse_image import outline_of_mask
from meip.worlds.folding.parse_picture import overlay
from meip.worlds.folding.render import mask, render_image
from meip.worlds.folding.segment import find_mask

PARTS = {
    "tshirt": ["body", "sleeve_left", "sleeve_right"],
    "longsleeve": ["body", "sleeve_left", "sleeve_right"],
    "sweater": ["body", "sleeve_left", "sleeve_right"],
    "hoodie": ["body", "hood", "sleeve_left", "sleeve_right"],
    "tanktop": ["body"],
    "trousers": ["leg_left", "leg_right"],
}


def names(graph: ParseGraph) -> list[str]:
    return sorted(polygon.name for polygon in graph.polygons)


def seen(one: Garment, turn: float, size: int = 700) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """A mask of the garment turned on the table, and where its outline's corners are in it."""
    image, place = mask(one, size=size, turn=turn)
    a = np.radians(turn)
    return image, place(outline(one) @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]))


@pytest.mark.parametrize("template", TEMPLATES)
def test_rendered_garments_parse_back_to_their_corners_and_parts(template: str) -> None:
    rng = np.random.default_rng(21)
    close = total = 0
    for k in range(8):
        image, corners = seen(random_garment(template, rng), turn=float(rng.uniform(0, 360)) if k % 2 else 0.0)
        graph = parse_array(image)
        assert names(graph) == PARTS[template]
        gaps = np.linalg.norm(corners[:, None] - graph.outline[None], axis=2).min(axis=1)
        close += int((gaps < 0.01 * np.linalg.norm(np.ptp(corners, axis=0))).sum())
        total += len(corners)
        assert len(graph.outline) <= len(corners) + 3
    assert close / total >= 0.95


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_parsed_garment_has_the_parts_seams_and_proportions_of_the_one_that_was_drawn(template: str) -> None:
    one = garment(template)
    parsed = to_garment(parse_array(seen(one, turn=70.0)[0]))
    assert parsed.area == pytest.approx(65.0**2)
    share = (parsed.area / one.area) ** 0.5
    drawn = Polygon(outline(one) * share)
    found = Polygon(outline(parsed))
    shift = np.array(drawn.centroid.coords[0]) - np.array(found.centroid.coords[0])
    moved = Polygon(outline(parsed) + shift)
    assert moved.intersection(drawn).area / moved.union(drawn).area > 0.97  # upright again, left and right kept
    for part in one.parts:
        assert parsed.part(part.name).area == pytest.approx(part.area * share**2, rel=0.2)
        assert ("seam" in parsed.part(part.name).tags) == ("seam" in part.tags)
    necks = [sum(tag == "neck" for part in g.parts for tag in part.tags) for g in (one, parsed)]
    assert necks[0] == necks[1]


def test_corners_are_found_to_a_fraction_of_a_pixel() -> None:
    square = np.array([[100.3, 80.7], [420.3, 100.7], [400.3, 420.7], [80.3, 400.7]])
    fine = np.zeros((4000, 4000), dtype=np.uint8)
    cv2.fillPoly(fine, [np.round((square * 8 - 0.5) * 16).astype(np.int32)], 255, cv2.LINE_8, 4)
    image = np.where(cv2.resize(fine, (500, 500), interpolation=cv2.INTER_AREA) >= 128, 255, 0).astype(np.uint8)
    found = outline_of_mask(image)
    assert len(found) == 4
    gaps = np.linalg.norm(square[:, None] - found[None], axis=2).min(axis=1)
    assert gaps.max() < 0.3


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_noisy_photograph_with_uneven_light_parses_into_the_same_parts(template: str) -> None:
    rng = np.random.default_rng(1)
    clean = render_image(garment(template), size=600).astype(np.float64)
    photo = clean * 0.8 + np.linspace(0, 35, 600)[None, :, None] + rng.normal(0, 5, clean.shape)
    assert names(parse_array(np.clip(photo, 0, 255).astype(np.uint8))) == PARTS[template]


def test_a_cut_out_with_a_transparent_background_is_read_by_its_alpha(tmp_path: Path) -> None:
    image, _ = mask(garment("tshirt"), size=400)
    wild = np.random.default_rng(0).integers(0, 255, (400, 400, 3)).astype(np.uint8)
    write_image(tmp_path / "cut.png", np.dstack([wild, image]))
    graph = parse_image(tmp_path / "cut.png")
    assert names(graph) == PARTS["tshirt"]
    assert (graph.source, graph.width, graph.height) == ("cut.png", 400, 400)


def test_grey_and_sixteen_bit_images_are_read(tmp_path: Path) -> None:
    image, _ = mask(garment("tanktop"), size=300)
    cv2.imwrite(str(tmp_path / "deep.png"), image.astype(np.uint16) * 257)
    assert names(parse_image(tmp_path / "deep.png")) == ["body"]


def plain(width: int = 300, height: int = 300) -> NDArray[np.uint8]:
    return np.full((height, width, 3), 230, dtype=np.uint8)


def with_boxes(*boxes: tuple[int, int, int, int]) -> NDArray[np.uint8]:
    image = plain()
    for x, y, w, h in boxes:
        image[y : y + h, x : x + w] = (60, 90, 30)
    return image


@pytest.mark.parametrize(
    ("image", "words"),
    [
        (plain(), "no garment"),
        (with_boxes((20, 20, 100, 200), (170, 30, 90, 220)), "2 garments in one picture"),
        (with_boxes((0, 60, 100, 100)), "runs out of the picture"),
        (with_boxes((0, 60, 100, 100), (150, 100, 40, 40)), "runs out of the picture"),
        (np.random.default_rng(3).integers(0, 255, (300, 300, 3)).astype(np.uint8), "cannot be told apart"),
        (plain(20, 20), "too few"),
    ],
)
def test_a_picture_that_is_not_of_one_garment_is_refused_in_words(image: NDArray[np.uint8], words: str) -> None:
    with pytest.raises(WorldError, match=words) as caught:
        parse_array(image, where="desk.png")
    assert str(caught.value).startswith("desk.png: ")


def test_specks_are_not_a_second_garment() -> None:
    assert find_mask(with_boxes((60, 60, 150, 150), (20, 20, 6, 6)))[22, 22] == 0


@pytest.mark.parametrize("content", [b"", b"not an image", b"\x89PNG\r\n\x1a\n" + b"\x00" * 50])
def test_an_unreadable_file_is_a_document_error(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "bad.png"
    path.write_bytes(content)
    with pytest.raises(DocumentError, match=r"bad\.png: not an image"):
        parse_image(path)
    with pytest.raises(DocumentError, match="cannot be read"):
        parse_image(tmp_path / "none.png")


def test_a_parse_graph_survives_its_document_and_draws_itself() -> None:
    graph = parse_array(seen(garment("hoodie"), 0.0)[0], source="h.png")
    assert documents.parse(documents.dump(graph)) == graph
    root = ElementTree.fromstring(to_svg(overlay(graph)))
    texts = [text.text for text in root.iter("{http://www.w3.org/2000/svg}text")]
    assert {str(i) for i in range(len(graph.vertices))} <= set(texts)
    assert "cloth: 4 polygons" in texts


def test_sewn_polygons_share_the_very_edge() -> None:
    graph = parse_array(seen(garment("tshirt"), 0.0)[0])
    used = [e for polygon in graph.polygons for e in polygon.edges]
    shared = {e for e in used if used.count(e) == 2}
    assert shared == {i for i, edge in enumerate(graph.edges) if edge.tag == "seam"}
    assert len(shared) == 2


@pytest.mark.parametrize(
    ("polygons", "edges", "words"),
    [
        (((0, 1, 2),), ((0, 1), (1, 9), (2, 0)), "only 3 vertices"),
        (((0, 1, 7),), ((0, 1), (1, 2), (2, 0)), "at least 3 of 3 edges"),
        (((0, 1),), ((0, 1), (1, 2), (2, 0)), "at least 3 of 3 edges"),
        (((0, 1, 1),), ((0, 1), (1, 2), (2, 0)), "in a ring"),
    ],
)
def test_a_graph_that_contradicts_itself_is_refused(
    polygons: tuple[tuple[int, ...], ...], edges: tuple[tuple[int, int], ...], words: str
) -> None:
    with pytest.raises(MeipError, match=words):
        ParseGraph(
            "x",
            10,
            10,
            ((0.0, 0.0), (0.0, 1.0)),
            tuple(ParsedPolygon("p", members) for members in polygons),
            tuple(ParsedEdge(a, b) for a, b in edges),
            ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)),
        )


def test_a_shirt_that_is_more_alike_across_than_along_still_has_sleeves() -> None:
    corners = [(140, 20), (90, 65), (5, 115), (25, 160), (55, 158), (40, 410)]
    corners += [(325, 435), (320, 140), (380, 125), (415, 50), (320, 25), (230, 10)]
    image = np.zeros((480, 460), dtype=np.uint8)
    cv2.fillPoly(image, [np.array(corners, dtype=np.int32) + 20], 255)
    assert names(parse_array(image)) == PARTS["tshirt"]


def test_any_single_shape_parses_or_is_refused_in_words() -> None:
    rng = np.random.default_rng(0)
    parsed = 0
    for k in range(60):
        image = np.zeros((200, 200), dtype=np.uint8)
        if k % 3 == 0:
            cv2.ellipse(image, (100, 100), (80, int(rng.integers(1, 80))), 30, 0, int(rng.integers(20, 361)), 255, -1)
        elif k % 3 == 1:
            cv2.fillPoly(image, [rng.integers(10, 190, (int(rng.integers(3, 9)), 2)).astype(np.int32)], 255)
        else:
            cv2.line(image, (20, 30), (180, int(rng.integers(20, 180))), 255, int(rng.integers(1, 12)))
        try:
            graph = parse_array(image)
        except WorldError:
            continue
        assert to_garment(graph, unsure=True).area == pytest.approx(65.0**2)
        parsed += 1
    assert parsed > 40


def test_a_straight_top_has_sleeves_but_no_neck() -> None:
    image = np.full((400, 440, 3), 255, np.uint8)
    shirt = [[60, 100], [360, 100], [360, 160], [300, 160], [300, 350], [120, 350], [120, 160], [60, 160]]
    cv2.fillPoly(image, [np.array(shirt)], (180, 60, 40))
    graph = parse_array(image)
    assert [polygon.name for polygon in graph.polygons] == PARTS["tshirt"]
    assert {edge.tag for edge in graph.edges} == {"outline", "seam"}
