"""How well pictures are read: the truths are true, troubles are what they say, shares are counted honestly."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from meip.cli import main
from meip.experiments import Experiment, parsing
from meip.experiments.parsing import Grade, grade, rows_of, run, summary
from meip.experiments.parsing_cases import AS_IT_LIES, TROUBLES, Case, drawn, laid_garment, laid_outlines
from meip.worlds.folding.garments import garment

pytest.importorskip("cv2")


def shown(template: str, trouble: str, seed: int = 0) -> Case:
    rng = np.random.default_rng(seed)
    return drawn(TROUBLES[trouble](laid_garment(garment(template)), rng), rng)


def size(mask: Any) -> int:
    return int(np.count_nonzero(mask))


@pytest.mark.parametrize("template", ["tshirt", "hoodie", "trousers"])
def test_the_parts_of_a_picture_cover_its_garment_once(template: str) -> None:
    case = shown(template, AS_IT_LIES)
    assert size(np.maximum.reduce([*case.parts.values()])) == size(case.image)
    assert sum(map(size, case.parts.values())) < 1.03 * size(case.image)  # seams are drawn by both sides
    assert grade(case) == Grade(right=True, seen=True, asks=False)


def test_a_mirror_image_has_its_sleeves_on_the_other_side_and_is_read_as_well() -> None:
    laid = laid_garment(garment("tshirt", chest=60))
    flipped = TROUBLES["mirrored"](laid, np.random.default_rng(0))
    assert np.allclose(flipped.parts["sleeve_left"] * [-1, 1], laid.parts["sleeve_right"])
    assert grade(drawn(flipped, np.random.default_rng(1))).right


@pytest.mark.parametrize("trouble", ["bent sleeve", "partly under"])
def test_less_is_seen_of_a_sleeve_that_is_bent_or_pushed_under(trouble: str) -> None:
    shares = []
    for seed in range(6):
        case = shown("tshirt", trouble, seed)
        left, right = sorted((size(case.parts["sleeve_left"]), size(case.parts["sleeve_right"])))
        shares.append(left / right)
    assert max(shares) < 0.95 and min(shares) < 0.6


@pytest.mark.parametrize("trouble", ["wrinkled", "asymmetric", "tilted"])
def test_a_trouble_changes_the_outline_and_leaves_the_parts(trouble: str) -> None:
    rng = np.random.default_rng(2)
    laid = laid_garment(garment("tshirt"))
    changed = TROUBLES[trouble](laid, rng)
    assert set(changed.parts) == set(laid.parts)
    a, b = (drawn(one, np.random.default_rng(3)).image for one in (laid, changed))
    assert 0.01 < size(a != b) / size(a) < 0.6


def test_what_is_not_there_is_wrong_and_a_picture_without_a_garment_asks() -> None:
    case = shown("tshirt", AS_IT_LIES)
    half_turn = Case(case.image, case.parts, (case.up + 180) % 360)
    assert not grade(half_turn).right and grade(half_turn).silent
    gone = Case(case.image, {**case.parts, "hood": case.image * 0}, case.up, ("hood",))
    assert not grade(gone).right and grade(gone).seen and not grade(gone).silent
    assert grade(Case(case.image * 0, case.parts, 0.0)) == Grade(right=False, seen=False, asks=True)


def test_shares_come_with_their_number_and_interval() -> None:
    grades = [Grade(True, True, False), Grade(True, True, True), Grade(False, False, False), Grade(False, True, False)]
    rows = {row["metric"]: row for row in rows_of(grades, "templates", AS_IT_LIES)}
    assert {name: row["value"] for name, row in rows.items()} == {
        "right": 0.5, "seen": 0.75, "asks": 0.25, "silent": 0.25,
    }  # fmt: skip
    assert all(row["n"] == 4 and row["low"] < row["value"] < row["high"] for row in rows.values())


def labelled(path: Path, count: int) -> Path:
    """A CVAT file of T-shirts drawn from the template, as if photographed."""
    laid = laid_garment(garment("tshirt"))
    body, sleeves = laid.parts["body"], laid.seams
    top, low = body[:, 1].max(), body[:, 1].min()
    outer = {name: part[np.abs(part[:, 0]).argsort()[-2:]] for name, part in laid.parts.items() if name in sleeves}
    marks = {"neck_left": (-8, top), "neck_right": (8, top)}
    for side, sign in (("left", -1), ("right", 1)):
        shoulder, armpit = sleeves[f"sleeve_{side}"]
        cuff = outer[f"sleeve_{side}"]
        high, deep = cuff[cuff[:, 1].argmax()], cuff[cuff[:, 1].argmin()]
        waist = body[(sign * body[:, 0] - body[:, 1]).argmax()]
        marks |= {f"shoulder_{side}": tuple(shoulder), f"armpit_{side}": tuple(armpit), f"waist_{side}": tuple(waist)}
        marks |= {f"sleeve_{side}_top": tuple(high), f"sleeve_{side}_bottom": tuple(deep)}
    ring = [
        "waist_left", "waist_right", "armpit_right", "sleeve_right_bottom", "sleeve_right_top", "shoulder_right",
        "neck_right", "neck_left", "shoulder_left", "sleeve_left_top", "sleeve_left_bottom", "armpit_left",
    ]  # fmt: skip
    del low

    def text(points: list[Any]) -> str:
        return ";".join(f"{200 + 2 * x:.2f},{300 - 2 * y:.2f}" for x, y in points)

    image = f'<polygon label="t.mask" points="{text([marks[name] for name in ring])}"/>'
    image += "".join(f'<points label="t.{name}" points="{text([at])}"/>' for name, at in marks.items())
    images = "".join(f'<image id="{n}" name="{n}.png">{image}</image>' for n in range(count))
    path.write_text(f"<annotations>{images}</annotations>")
    return path


def test_labelled_outlines_are_cut_at_their_seams(tmp_path: Path) -> None:
    (laid,) = laid_outlines(labelled(tmp_path / "one.xml", 1))
    assert laid is not None and set(laid.parts) == {"body", "sleeve_left", "sleeve_right"}
    assert laid.up[1] > 0 and abs(laid.up[0]) < 1e-6 * laid.up[1]
    assert grade(drawn(laid, np.random.default_rng(0))) == Grade(right=True, seen=True, asks=False)


def test_every_third_of_a_file_and_every_trouble_has_its_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = labelled(tmp_path / "four.xml", 4)
    monkeypatch.setattr(parsing, "TROUBLES", {name: TROUBLES[name] for name in (AS_IT_LIES, "mirrored")})
    rows = run(Experiment(seeds=1, data=path))
    cells = {(row["pictures"], row["trouble"]) for row in rows}
    assert cells >= {(f"real outlines, third {k}", t) for k in (1, 2, 3) for t in (AS_IT_LIES, "mirrored")}
    assert ("photo-like", "all of it") in cells
    (table,) = summary(rows)
    assert len(table.lines) == len(cells)


def test_the_command_prints_the_table(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parsing, "TROUBLES", {AS_IT_LIES: TROUBLES[AS_IT_LIES]})
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "parsing", "--quick"])
    assert not ended.value.code
    said = capsys.readouterr().out
    assert "templates" in said and "photo-like" in said and "silent" in said
