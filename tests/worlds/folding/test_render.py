"""Pictures: the SVG is well-formed and escaped, the mask is the silhouette, both views show the right face."""

from __future__ import annotations

import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from outlines import outline
from shapely.geometry import Polygon, box

from meip.base.errors import DocumentError, MeipError, WorldError
from meip.worlds.folding.canvas import (
    DARK,
    LETTER,
    LIGHT,
    Canvas,
    Dot,
    Shape,
    Text,
    fitted,
    load_cv2,
    to_image,
    to_svg,
    write_canvas,
)
from meip.worlds.folding.cloth import Cloth, Garment, Part
from meip.worlds.folding.folds import fold
from meip.worlds.folding.garments import TEMPLATES, garment, random_garment
from meip.worlds.folding.render import Frame, Row, contact_sheet, mask, picture, plan_row, render_image, render_svg

SVG = "{http://www.w3.org/2000/svg}"


def two_sided() -> Cloth:
    """A square with a smaller, turned-over square on top of it."""
    flat = Cloth.flat(Garment("g", (Part("a", ((0, 0), (4, 0), (4, 4), (0, 4))), Part("b", ((1, 1), (3, 1), (3, 3))))))
    label = flat.label.copy()
    label[1, 1] = -1
    return Cloth(flat.start, flat.xy, flat.tag, label, flat.maps, flat.parts, flat.scale)


def colour_at(image: np.ndarray, x: float, y: float) -> str:
    b, g, r = image[round(y * image.shape[0]), round(x * image.shape[1])]
    return f"#{r:02x}{g:02x}{b:02x}"


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_garment_renders_to_well_formed_svg_with_its_logo(template: str) -> None:
    root = ElementTree.fromstring(render_svg(garment(template)))
    styles = [path.get("style", "") for path in root.iter(f"{SVG}path")]
    assert sum("--meip-logo" in style for style in styles) == len(garment(template).parts)
    assert len(list(root.iter(f"{SVG}clipPath"))) == len(garment(template).parts)


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_mask_covers_exactly_the_silhouette(template: str) -> None:
    one = random_garment(template, np.random.default_rng(4))
    found, place = mask(one, size=300)
    shape = Polygon(place(outline(one)))
    rows, columns = np.mgrid[0:300:7, 0:300:7]
    for y, x in zip(rows.ravel(), columns.ravel(), strict=True):
        share = shape.intersection(box(x, y, x + 1, y + 1)).area
        if abs(share - 0.5) > 0.3:  # OpenCV also fills the pixels of the boundary, a quarter of ours in size
            assert (found[y, x] == 255) == (share > 0.5)
    assert set(np.unique(found)) == {0, 255}
    assert found[0].max() == found[-1].max() == 0


def test_front_and_back_view_show_the_face_that_is_up_there() -> None:
    front = render_image(two_sided(), view="front")
    assert (colour_at(front, 0.15, 0.2), colour_at(front, 0.6, 0.6)) == (LIGHT.front, LIGHT.back)
    back = render_image(two_sided(), view="back")  # the large square now hides the small one
    assert (colour_at(back, 0.15, 0.2), colour_at(back, 0.4, 0.6)) == (LIGHT.back, LIGHT.back)


def test_the_back_view_is_mirrored() -> None:
    left = Garment("g", (Part("a", ((0, 0), (4, 0), (0, 4))),))
    front, back = render_image(left, view="front"), render_image(left, view="back")
    assert colour_at(front, 0.2, 0.3) == LIGHT.front
    assert colour_at(front, 0.8, 0.3) == LIGHT.background
    assert colour_at(back, 0.2, 0.3) == LIGHT.background
    assert colour_at(back, 0.8, 0.3) == LIGHT.back


def test_the_logo_shows_only_on_the_front_and_only_inside_the_cloth() -> None:
    square = Garment("g", (Part("a", ((0, 0), (4, 0), (4, 4), (0, 4))),), logo=((1, 1), (9, 1), (9, 3), (1, 3)))
    front = render_image(square, view="front")
    assert colour_at(front, 0.5, 0.5) == LIGHT.logo
    assert colour_at(front, 0.99, 0.5) == LIGHT.background
    assert colour_at(render_image(square, view="back"), 0.5, 0.5) == LIGHT.back


def test_a_theme_changes_every_colour_and_svg_colours_can_be_overridden() -> None:
    image = render_image(garment("tshirt"), theme=DARK)
    assert colour_at(image, 0.01, 0.01) == DARK.background
    assert f"var(--meip-front, {DARK.front})" in render_svg(garment("tshirt"), theme=DARK)


def test_hostile_captions_are_text_and_nothing_else() -> None:
    canvas = picture(garment("tshirt"), caption='<script>"&\x00\ud800')
    root = ElementTree.fromstring(to_svg(canvas))
    assert [text.text for text in root.iter(f"{SVG}text")] == ['<script>"&']
    assert not list(root.iter(f"{SVG}script"))


def extents(canvas: Canvas) -> list[tuple[float, float, float, float]]:
    """Boxes of the texts, by the width that they were cut to."""
    found = []
    for item in canvas.items:
        if isinstance(item, Text):
            width = LETTER * item.size * len(item.text)
            left = item.x - {"start": 0.0, "middle": 0.5, "end": 1.0}[item.anchor] * width
            found.append((left, item.y - item.size, left + width, item.y + 0.25 * item.size))
    return found


@pytest.mark.parametrize("columns", [1, 2, 3])
def test_no_text_of_a_contact_sheet_overlaps_another_or_leaves_it(columns: int) -> None:
    flat = Cloth.flat(garment("hoodie"))
    rows = [
        plan_row(
            "a plan with a title that goes on for ever " * 4,
            [flat] * n,
            garment=garment("hoodie"),
            captions=["a very long caption " * 3] * n,
        )
        for n in (1, 3, 4, 2)
    ]
    canvas = contact_sheet(rows, title="many plans " * 30, columns=columns)
    boxes = extents(canvas)
    assert len(boxes) == 1 + 4 + 10 + 4  # title, row titles, captions, one turned-over state each
    for i, (x0, y0, x1, y1) in enumerate(boxes):
        assert x0 >= 0 and y0 >= 0 and x1 <= canvas.width and y1 <= canvas.height
        for a0, b0, a1, b1 in boxes[:i]:
            assert x0 >= a1 or a0 >= x1 or y0 >= b1 or b0 >= y1


def test_states_of_one_plan_are_drawn_at_one_scale() -> None:
    large = Cloth.flat(Garment("g", (Part("a", ((0, 0), (8, 0), (8, 8), (0, 8))),)))
    small = Cloth.flat(Garment("g", (Part("a", ((0, 0), (2, 0), (2, 2), (0, 2))),)))
    canvas = contact_sheet([Row("r", [Frame(large), Frame(small)])])
    filled = [item for item in canvas.items if isinstance(item, Shape) and item.fill == "front"]
    sizes = [float(np.ptp(item.points[:, 0])) for item in filled]
    assert sizes[0] == pytest.approx(4 * sizes[1])


def test_the_next_fold_is_drawn_inside_its_cell_with_an_arrow_from_each_hand() -> None:
    flat = Cloth.flat(garment("tshirt"))
    half = (0.0, 33.0, 900.0, 0.0)
    row = plan_row("p", [flat, fold(flat, half)], folds=[half], garment=garment("tshirt"))
    canvas = contact_sheet([row])
    (line,) = [item for item in canvas.items if isinstance(item, Shape) and item.stroke == "fold"]
    assert np.ptp(line.points[:, 0]) < 132
    hands = [item for item in canvas.items if isinstance(item, Dot) and item.fill == "neck"]
    assert len(hands) == 2
    told = [item.text for item in contact_sheet([row], numbers=True).items if isinstance(item, Text)]
    assert "(-26, 33) - (26, 33)" in told and sum(" > " in text for text in told) == 2
    assert not any(" > " in item.text for item in canvas.items if isinstance(item, Text))


def test_a_plan_is_drawn_with_left_on_the_left_and_what_was_folded_on_top() -> None:
    shirt = garment("tshirt", logo_offset=0.12, logo_size=14)
    flat = Cloth.flat(shirt)
    after = fold(flat, (-20.0, 35.0, 60.0, np.pi / 2))  # the left side
    row = plan_row("p", [flat, after], folds=[(-20.0, 35.0, 60.0, np.pi / 2)], garment=shirt)
    canvas = contact_sheet([row])
    (line,) = [item for item in canvas.items if isinstance(item, Shape) and item.stroke == "fold"]
    assert line.points[:, 0].mean() < 16 + 132 / 2
    fills = [item.fill for item in canvas.items if isinstance(item, Shape) and item.fill in ("front", "back")]
    assert fills[:3] == ["front"] * 3 and "back" in fills[-6:]


def test_pictures_are_written_by_their_ending(tmp_path: Path) -> None:
    canvas = picture(garment("tanktop"), caption="a tank top")
    write_canvas(tmp_path / "a.svg", canvas)
    write_canvas(tmp_path / "a.png", canvas)
    assert (tmp_path / "a.svg").read_text(encoding="utf-8").startswith("<svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(DocumentError, match=r"\.svg or \.png"):
        write_canvas(tmp_path / "a.jpg", canvas)
    (tmp_path / "file").write_text("x", encoding="utf-8")
    with pytest.raises(DocumentError, match="cannot be written"):
        write_canvas(tmp_path / "file" / "a.png", canvas)


def test_bad_views_empty_plans_and_huge_pictures_are_refused() -> None:
    with pytest.raises(WorldError, match="front, back, over"):
        picture(garment("tshirt"), view="side")
    with pytest.raises(WorldError, match="no states"):
        plan_row("p", [], garment=garment("tshirt"))
    with pytest.raises(WorldError, match="at least one plan"):
        contact_sheet([])
    with pytest.raises(MeipError, match="too large"):
        to_image(Canvas(10_000, 10_000))


def test_without_opencv_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MeipError, match=r"meip\[folding\]"):
        load_cv2()


def test_texts_are_cut_to_fit() -> None:
    assert fitted("short", 100, 10) == "short"
    cut = fitted("a much longer caption than fits", 100, 10)
    assert cut.endswith("...") and len(cut) * LETTER * 10 <= 100
