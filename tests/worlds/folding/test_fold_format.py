"""FOLD files: what is written reads back the same, foreign files are read, broken ones refused with the place."""

from __future__ import annotations

import copy
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from outlines import outline

from meip.base.errors import DocumentError, MeipError
from meip.worlds.folding.cloth import Cloth, Garment, Part
from meip.worlds.folding.demonstrate import script, scripted_folds
from meip.worlds.folding.fold_format import (
    cloth_from_fold,
    fold_of_cloth,
    fold_of_garment,
    garment_from_fold,
    read_fold,
    write_fold,
)
from meip.worlds.folding.folds import fold
from meip.worlds.folding.garments import TEMPLATES, garment, random_garment


def folded(template: str, seed: int = 0) -> Cloth:
    rng = np.random.default_rng(seed)
    one = random_garment(template, rng)
    cloth = Cloth.flat(one)
    for action in scripted_folds(one, script(one, rng), rng):
        cloth = fold(cloth, action)
    return cloth


def halved_square() -> Cloth:
    """A square folded in half: the upper half now lies below the lower one, turned over."""
    flat = Cloth.flat(Garment("g", (Part("a", ((0, 0), (2, 0), (2, 2), (0, 2))),)))
    return fold(flat, (1.0, 1.0 + 1e-3, 5.0, 0.0))


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_garment_survives_the_fold_file(template: str, tmp_path: Path) -> None:
    one = random_garment(template, np.random.default_rng(2), name="mine")
    write_fold(tmp_path / "g.fold", one)
    assert read_fold(tmp_path / "g.fold") == one


@pytest.mark.parametrize("template", TEMPLATES)
def test_a_folded_cloth_survives_the_fold_file(template: str, tmp_path: Path) -> None:
    cloth = folded(template)
    assert len(cloth) > 2
    write_fold(tmp_path / "c.fold", cloth)
    again = read_fold(tmp_path / "c.fold")
    assert again == cloth
    assert isinstance(again, Cloth)
    assert np.array_equal(again.maps, cloth.maps)


def test_sewn_parts_share_vertices_and_their_seam_is_a_flat_edge() -> None:
    data = fold_of_garment(garment("tshirt"))
    assert len(data["vertices_coords"]) == len(outline(garment("tshirt")))
    assert data["edges_assignment"].count("F") == 2
    assert data["edges_assignment"].count("B") == len(outline(garment("tshirt")))


def test_a_half_fold_is_one_mountain_with_the_moved_half_below() -> None:
    data = fold_of_cloth(halved_square())
    assert sorted(data["edges_assignment"]) == ["B"] * 6 + ["M"]
    assert len(data["vertices_coords"]) == 6
    (order,) = data["faceOrders"]
    f, g, s = order
    assert (f, g) == (1, 0)
    assert s == -1  # face 0 is turned over: its front looks down, away from face 1


def test_without_our_own_properties_order_faces_and_maps_are_recovered() -> None:
    cloth = halved_square()
    data = {key: value for key, value in fold_of_cloth(cloth).items() if "meip:" not in key}
    data["faces_vertices"] = data["faces_vertices"][::-1]
    data["faceOrders"] = [[1 - f, 1 - g, s] for f, g, s in data["faceOrders"]]
    again = cloth_from_fold(data)
    assert [layer.face for layer in again] == [layer.face for layer in cloth]
    for ours, theirs in zip(again, cloth, strict=True):
        assert np.array_equal(ours.polygon, theirs.polygon)
    material = [np.linalg.inv(np.vstack([layer.affine, [0, 0, 1]])) for layer in again]
    corners = np.vstack([layer.polygon @ m[:2, :2].T + m[:2, 2] for layer, m in zip(again, material, strict=True)])
    assert np.ptp(corners, axis=0) == pytest.approx([2, 2])  # unfolded, it is the square again


def foreign() -> dict[str, Any]:
    return {
        "file_spec": 1.1,
        "vertices_coords": [[0, 0, 0], [1, 0, 0], [2, 0, 0], [2, 1, 0], [1, 1, 0], [0, 1, 0]],
        "edges_vertices": [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [1, 4]],
        "edges_assignment": ["B", "B", "B", "B", "B", "B", "V"],
        "faces_vertices": [[0, 1, 4, 5], [1, 2, 3, 4]],
    }


def test_a_crease_pattern_of_other_software_becomes_a_garment() -> None:
    one = garment_from_fold(foreign())
    assert [part.name for part in one.parts] == ["face0", "face1"]
    assert [part.tags.count("seam") for part in one.parts] == [1, 1]
    assert one.area == 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"vertices_coords": None}, r"\$\.vertices_coords: expected"),
        ({"vertices_coords": [[0, 0], [1, "x"]]}, r"\$\.vertices_coords: expected"),
        ({"vertices_coords": [[0, 0, 0], [1, 0, 1], [2, 0, 0], [2, 1, 0], [1, 1, 0], [0, 1, 0]]}, "not flat"),
        ({"faces_vertices": []}, "missing or empty"),
        ({"faces_vertices": [[0, 1, 9]]}, r"\$\.faces_vertices\[0\]"),
        ({"faces_vertices": [[0, 4, 1, 5]]}, "crosses itself"),
        ({"faces_meip:part": ["a"]}, "one name per face"),
        ({"faces_meip:tags": [["seam"]]}, "one list per face"),
        ({"faces_meip:tags": [["seam"] * 4, ["hem"] * 4]}, "expected the tags"),
        ({"meip:logo": 3}, "meip:logo"),
        ({"meip:style": {"chest": "wide"}}, "meip:style"),
        ({"frame_classes": ["foldedForm"], "faceOrders": 1}, r"\$\.faceOrders"),
        ({"frame_classes": ["foldedForm"], "faceOrders": [[0, 7, 1]]}, r"\$\.faceOrders\[0\]"),
        ({"frame_classes": ["foldedForm"], "faceOrders": [[0, 1, 1], [1, 0, 1]]}, "in a circle"),
        ({"frame_classes": ["foldedForm"], "faces_meip:map": [[1]]}, "2 x 3"),
        ({"frame_classes": ["foldedForm"], "faces_meip:map": [[[9, 0, 0], [0, 1, 0]]] * 2}, "rotations"),
        ({"frame_classes": ["foldedForm"], "faces_vertices": [[0, 4, 1, 5]]}, r"faces_vertices\[0\].*crosses"),
    ],
)
def test_a_broken_fold_file_is_refused_with_the_place(change: dict[str, Any], words: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.fold"
    path.write_text(json.dumps(foreign() | change), encoding="utf-8")
    with pytest.raises(DocumentError, match=words) as caught:
        read_fold(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("text", ["", "[1]", '{"vertices_coords"', "[" * 100_000, '{"faces_vertices": [[0, 1, 2]]}'])
def test_what_is_not_fold_at_all_is_refused(text: str, tmp_path: Path) -> None:
    path = tmp_path / "bad.fold"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError):
        read_fold(path)
    with pytest.raises(DocumentError, match="cannot be read"):
        read_fold(tmp_path / "none.fold")


def mutated(value: Any, dice: random.Random) -> Any:
    """A JSON value with something in it replaced or left out."""
    if isinstance(value, list | dict) and value and dice.random() < 0.5:
        key = dice.choice(list(value) if isinstance(value, dict) else range(len(value)))
        if dice.random() < 0.15:
            del value[key]
        else:
            value[key] = mutated(value[key], dice)
        return value
    return dice.choice([None, 1, -1, 1e308, "x", [], {}, [1], True, 0.5, 99_999, [[0, 0]], {"a": 1}, "seam"])


def test_mutated_fold_files_give_a_result_or_an_error_in_words() -> None:
    dice = random.Random(1)
    sources = [fold_of_garment(garment("hoodie")), fold_of_cloth(halved_square())]
    refused = 0
    for k in range(400):
        data = copy.deepcopy(sources[k % 2])
        for _ in range(dice.randint(1, 3)):
            key = dice.choice(list(data))
            data[key] = mutated(data[key], dice)
        try:
            (cloth_from_fold if k % 2 else garment_from_fold)(data)
        except MeipError:
            refused += 1
    assert refused > 100
