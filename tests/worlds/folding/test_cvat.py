"""Reading labelled photographs: a hand-made file, its mutilations, and the real set where it is at hand."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from outlines import outline, real_shirts
from shapely.geometry import LineString, Polygon

from meip.base.errors import DocumentError, WorldError
from meip.worlds.folding.cvat import import_cvat
from meip.worlds.folding.planar import simplified

POINTS = {
    "waist_left": (100, 500), "waist_right": (300, 500), "armpit_right": (300, 260), "sleeve_right_bottom": (360, 280),
    "sleeve_right_top": (380, 200), "shoulder_right": (290, 140), "neck_right": (240, 120), "neck_left": (160, 120),
    "shoulder_left": (110, 140), "sleeve_left_top": (20, 200), "sleeve_left_bottom": (40, 280),
    "armpit_left": (100, 260),
}  # fmt: skip


def xml(points: dict[str, tuple[float, float]], mask: list[tuple[float, float]] | None = None) -> str:
    ring = mask if mask is not None else list(points.values())
    body = f'<polygon label="tshirt.mask" points="{";".join(f"{x},{y}" for x, y in ring)}"></polygon>' if ring else ""
    marks = "".join(f'<points label="tshirt.{name}" points="{x},{y}"/>' for name, (x, y) in points.items())
    return f'<?xml version="1.0"?>\n<annotations>\n<image id="0" name="a/one.png">{body}{marks}</image></annotations>'


@pytest.fixture
def write(tmp_path: Path) -> Path:
    return tmp_path / "shirts.xml"


@pytest.mark.parametrize("kind", ["keypoints", "mask"])
@pytest.mark.parametrize("turn", [0.0, 100.0, 215.0])
@pytest.mark.parametrize("flip", [1, -1])
def test_a_labelled_shirt_becomes_an_upright_body_and_two_sleeves_however_it_lies(
    write: Path, kind: str, turn: float, flip: int
) -> None:
    a = np.radians(turn)
    rotation = np.array([[np.cos(a), -np.sin(a)], [np.sin(a), np.cos(a)]])
    turned = {name: tuple(rotation @ (flip * x, y) + 700) for name, (x, y) in POINTS.items()}
    write.write_text(xml(turned), encoding="utf-8")
    result = import_cvat(write, outline=kind)
    assert not result.rejected
    (shirt,) = result.garments
    assert shirt.name == "shirt 1"
    assert result.images == ("a/one.png",)
    assert [part.name for part in shirt.parts] == ["body", "sleeve_left", "sleeve_right"]
    body, left, right = (part.polygon for part in shirt.parts)
    assert left[:, 0].max() <= 0 <= right[:, 0].min()
    assert body[:, 1].min() == pytest.approx(0, abs=1e-9)
    assert body[:, 1].max() == pytest.approx(70)
    assert len(outline(shirt)) == 12
    assert [part.tags.count("seam") for part in shirt.parts] == [2, 1, 1]
    assert shirt.parts[0].tags.count("neck") == 1
    expected = Polygon(list(POINTS.values())).area * (70 / 380) ** 2
    assert shirt.area == pytest.approx(expected)


def test_a_keypoint_beside_the_mask_is_moved_onto_it(write: Path) -> None:
    off = POINTS | {"shoulder_right": (280, 155)}
    write.write_text(xml(off, list(POINTS.values())), encoding="utf-8")
    (shirt,) = import_cvat(write, outline="mask").garments
    assert shirt.area == pytest.approx(Polygon(list(POINTS.values())).area * (70 / 380) ** 2, rel=1e-2)


def test_where_the_labelled_seam_leaves_the_outline_its_ends_move_as_little_as_needed(write: Path) -> None:
    tucked = POINTS | {"sleeve_right_top": (285, 190), "sleeve_right_bottom": (340, 290)}
    write.write_text(xml(tucked, []), encoding="utf-8")
    (shirt,) = import_cvat(write).garments
    sleeve = shirt.part("sleeve_right")
    assert Polygon(sleeve.points).is_valid
    assert Polygon(outline(shirt)).area == pytest.approx(shirt.area)


def test_a_sleeve_that_lies_on_the_body_is_left_out_and_the_shirt_kept(write: Path) -> None:
    inside = POINTS | {"sleeve_left_top": (160.0, 200.0), "sleeve_left_bottom": (160.0, 260.0)}
    write.write_text(xml(inside, []), encoding="utf-8")
    result = import_cvat(write)
    assert not result.rejected
    (shirt,) = result.garments
    assert [part.name for part in shirt.parts] == ["body", "sleeve_right"]
    assert [part.tags.count("seam") for part in shirt.parts] == [1, 1]
    assert all(Polygon(part.points).is_valid for part in shirt.parts)
    both = inside | {"sleeve_right_top": (240.0, 200.0), "sleeve_right_bottom": (240.0, 260.0)}
    write.write_text(xml(both, []), encoding="utf-8")
    (rejected,) = import_cvat(write).rejected
    assert "lies on or under the body" in rejected.reason


def without(name: str) -> dict[str, tuple[float, float]]:
    return {key: value for key, value in POINTS.items() if key != name}


RING = list(POINTS.values())


@pytest.mark.parametrize(
    ("text", "kind", "words"),
    [
        (xml(without("armpit_left"), RING), "keypoints", "keypoint 'armpit_left' is missing"),
        (xml(without("neck_left"), RING), "mask", "keypoint 'neck_left' is missing"),
        (xml(POINTS, RING[:5] + RING[6:7] + RING[5:6] + RING[7:]), "keypoints", "crosses or touches itself"),
        (xml(POINTS | {"waist_left": (300, 500), "waist_right": (100, 500)}, []), "keypoints", "keypoints crosses"),
        (xml(POINTS | {"armpit_left": (700, 900)}, RING), "mask", "away from the outline"),
        (xml(POINTS | {"neck_left": (20, 200)}, RING), "mask", "same point of the outline"),
        (xml(POINTS | {"neck_left": (290, 142), "shoulder_right": (160, 121)}, RING), "mask", "order of a shirt"),
        (xml(POINTS, RING[:5]), "mask", "5 different points"),
        (xml(POINTS, []), "mask", "expected one outline polygon, found 0"),
    ],
)
def test_what_cannot_be_a_shirt_is_left_out_with_the_reason(write: Path, text: str, kind: str, words: str) -> None:
    write.write_text(text, encoding="utf-8")
    result = import_cvat(write, outline=kind)
    assert not result.garments
    (rejected,) = result.rejected
    assert words in rejected.reason
    assert (rejected.name, rejected.line) == ("a/one.png", 3)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (xml(POINTS)[:300], "line 3, column .* not well-formed XML"),
        ("", "not well-formed XML"),
        ("<html></html>", "got <html>"),
        ("<annotations></annotations>", "holds no <image>"),
        (xml(POINTS).replace("100,260", "100;260"), "line 3: expected points="),
        (xml(POINTS).replace("100,260", "nan,1"), "line 3: expected points="),
        ('<!DOCTYPE a [<!ENTITY x "y">]><annotations/>', "document type"),
    ],
)
def test_a_file_that_is_not_cvat_gives_one_clear_error(write: Path, text: str, words: str) -> None:
    write.write_text(text, encoding="utf-8")
    with pytest.raises(DocumentError, match=words) as caught:
        import_cvat(write)
    assert str(write) in str(caught.value)


def test_a_missing_file_and_an_unknown_outline_are_errors(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be read"):
        import_cvat(tmp_path / "none.xml")
    with pytest.raises(WorldError, match="did you mean 'mask'"):
        import_cvat(tmp_path / "none.xml", outline="masks")


def test_simplification_agrees_with_shapely() -> None:
    rng = np.random.default_rng(2)
    chain = np.cumsum(rng.normal(size=(60, 2)), axis=0)
    ours = simplified(chain, 0.8)
    line = LineString(chain)
    assert line.hausdorff_distance(LineString(ours)) <= 0.8 + 1e-9
    assert len(ours) <= len(line.simplify(0.8, preserve_topology=False).coords) + 3


def test_the_photographed_shirts_import_and_the_rest_have_reasons() -> None:
    result = import_cvat(real_shirts())
    assert len(result.garments) + len(result.rejected) == 210
    assert len(result.garments) == len(result.images) >= 206
    assert sum("crosses itself" in item.reason for item in result.rejected) == 2
    assert all(item.reason for item in result.rejected)
    assert sum("is missing" in item.reason for item in result.rejected) == 2
    for shirt in result.garments:
        parts = [Polygon(part.points) for part in shirt.parts]
        assert all(part.is_valid for part in parts)
        assert Polygon(outline(shirt)).area == pytest.approx(sum(part.area for part in parts))
