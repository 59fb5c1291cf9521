"""The commands of ``meip fold``, run as a person would."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from meip.base import documents
from meip.cli import main
from meip.worlds.folding.canvas import write_image
from meip.worlds.folding.cloth import Garment
from meip.worlds.folding.demonstrate import BUNDLED
from meip.worlds.folding.garments import TEMPLATES, garment
from meip.worlds.folding.render import mask


def run(*arguments: object) -> int:
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in arguments])
    return int(ended.value.code or 0)


def test_garments_are_listed_with_their_parameters(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fold", "garments") == 0
    said = capsys.readouterr().out
    assert all(template in said for template in TEMPLATES)
    assert run("fold", "garments", "hoodie", "--json") == 0
    assert json.loads(capsys.readouterr().out)["hoodie"]["hood_width"]["low"] == 25


def test_random_garments_are_written_and_drawn(tmp_path: Path) -> None:
    picture = tmp_path / "all.svg"
    assert (
        run("fold", "garments", "tshirt", "--random", 3, "--seed", 4, "-o", tmp_path / "g", "--picture", picture) == 0
    )
    found = [documents.read(path, "garment") for path in sorted((tmp_path / "g").glob("*.json"))]
    assert [one.name for one in found] == ["tshirt 1", "tshirt 2", "tshirt 3"]
    assert len({one.parts for one in found}) == 3
    assert picture.read_text(encoding="utf-8").startswith("<svg")


def test_a_picture_is_parsed_into_a_graph_a_garment_and_a_drawing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_image(tmp_path / "shirt.png", mask(garment("tshirt"), size=400)[0])
    outputs = ["-o", tmp_path / "g.json", "--garment", tmp_path / "s.json", "--picture", tmp_path / "p.svg"]
    assert run("fold", "parse", tmp_path / "shirt.png", *outputs) == 0
    assert "3 polygons: body" in capsys.readouterr().out
    assert len(documents.read(tmp_path / "g.json", "parse-graph").polygons) == 3
    assert isinstance(documents.read(tmp_path / "s.json"), Garment)
    assert run("fold", "render", tmp_path / "s.json", tmp_path / "g.json", "-o", tmp_path / "look.png") == 0
    assert (tmp_path / "look.png").read_bytes().startswith(b"\x89PNG")


def test_an_empty_picture_ends_with_exit_code_two_and_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_image(tmp_path / "empty.png", np.full((100, 100, 3), 200, dtype=np.uint8))
    assert run("fold", "parse", tmp_path / "empty.png") == 2
    said = capsys.readouterr().err
    assert "no garment" in said and said.count("\n") == 1


def test_demonstrations_are_drawn_one_row_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fold", "render", BUNDLED, "-o", tmp_path / "demos.svg", "--theme", "dark", "--columns", 2) == 0
    assert "15 rows" in capsys.readouterr().out
    assert (tmp_path / "demos.svg").read_text(encoding="utf-8").count("other side") == 15


def test_garments_convert_to_fold_and_back(tmp_path: Path) -> None:
    one = garment("sweater")
    documents.write(tmp_path / "a.json", one)
    assert run("fold", "convert", tmp_path / "a.json", tmp_path / "a.fold") == 0
    assert run("fold", "convert", tmp_path / "a.fold", tmp_path / "b.json") == 0
    assert documents.read(tmp_path / "b.json") == one


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["garments", "tshrit"], "did you mean 'tshirt'"),
        (["garments", "tshirt", "--set", "chest"], "NAME=NUMBER"),
        (["garments", "--set", "chest=50"], "needs a template"),
        (["render", "none.json", "-o", "x.svg"], "cannot be read"),
        (["render", str(BUNDLED), "-o", "x.svg", "--theme", "drak"], "did you mean 'dark'"),
        (["import", "none.xml", "-o", "x"], "cannot be read"),
    ],
)
def test_bad_input_ends_with_exit_code_two_and_the_fix(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("fold", *arguments) == 2
    assert words in capsys.readouterr().err
