"""The commands of ``meip fold``, run as a person would."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import zlib
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
    outputs += ["--tree", tmp_path / "t.svg"]
    assert run("fold", "parse", tmp_path / "shirt.png", *outputs) == 0
    said = capsys.readouterr().out
    assert (
        "3 polygons: body" in said
        and re.search(r"(9\d|100)% sure of axis and parts: tshirt \(100%\)", said)
        and "second best: tshirt with" in said
    )
    assert "data:image/jpeg" in (tmp_path / "p.svg").read_text() and "sleeve left" in (tmp_path / "t.svg").read_text()
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


def test_where_it_is_not_sure_it_asks_and_writes_no_garment(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    square = np.zeros((300, 300), np.uint8)
    square[80:220, 80:220] = 255
    write_image(tmp_path / "square.png", square)
    asked = ["fold", "parse", tmp_path / "square.png", "--garment", tmp_path / "s.json"]
    assert run(*asked, "--picture", tmp_path / "p.svg") == 2
    assert "not sure" in capsys.readouterr().err
    assert (tmp_path / "p.svg").exists() and not (tmp_path / "s.json").exists()
    assert run(*asked, "--kind", "plain") == 0
    assert [part.name for part in documents.read(tmp_path / "s.json", "garment").parts] == ["body"]


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--up", "north"), "expected up, right, down, left"),
        (("--kind", "sock"), "no kind of garment is called 'sock'"),
        (("--keypoint", "armpit_left=3"), "expected NAME=X,Y"),
        (("--rectangle", "1,2,3"), "expected X,Y,WIDTH,HEIGHT"),
        (("--click", "a,b"), "expected X,Y"),
        (("--sheet", "1,2"), "the four corners"),
    ],
)
def test_hints_that_cannot_be_read_are_refused_by_name(
    options: tuple[str, str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_image(tmp_path / "shirt.png", mask(garment("tshirt"), size=200)[0])
    assert run("fold", "parse", tmp_path / "shirt.png", *options) == 2
    assert words in capsys.readouterr().err


def test_a_huge_picture_is_refused_before_it_is_decoded(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    head = b"\x89PNG\r\n\x1a\n" + (13).to_bytes(4, "big") + b"IHDR" + (20_000).to_bytes(4, "big") * 2
    (tmp_path / "huge.png").write_bytes(head + b"\x08\x02\x00\x00\x00" + bytes(50))
    assert run("fold", "parse", tmp_path / "huge.png") == 2
    assert "20000 x 20000 pixels are more than 52 million" in capsys.readouterr().err


BAD = {
    "empty.png": "no garment: nothing in the picture differs",
    "two.png": "2 garments in one picture",
    "cut.png": "runs out of the picture",
    "one.png": "1 x 1 pixels are too few",
    "huge.png": "20000 x 20000 pixels are more than 52 million",
    "none.png": "not an image that can be read",
}


def test_each_bad_picture_is_one_clear_error_in_less_than_a_gigabyte(tmp_path: Path) -> None:
    table = np.full((400, 600, 3), 225, dtype=np.uint8)
    two, cut = table.copy(), table.copy()
    two[100:300, 60:240] = two[100:300, 330:540] = (40, 60, 160)
    cut[100:300, 400:] = (40, 60, 160)
    for name, image in (("empty", table), ("two", two), ("cut", cut), ("one", table[:1, :1])):
        write_image(tmp_path / f"{name}.png", image)
    (tmp_path / "none.png").write_text("a letter", encoding="utf-8")
    (tmp_path / "huge.png").write_bytes(black_png(20_000))
    code = (
        "import pathlib, sys\n"
        "from meip.cli import run\n"
        "codes = [run(['fold', 'parse', path]) for path in sys.argv[1:]]\n"
        "known = pathlib.Path('/proc/self/status')\n"  # ru_maxrss begins with that of the process that forked
        "most = known.read_text().split('VmHWM:')[1].split()[0] if known.exists() else 0\n"
        "print(codes, int(most) // 1024)\n"
    )
    paths = [str(tmp_path / name) for name in BAD]
    done = subprocess.run([sys.executable, "-c", code, *paths], capture_output=True, text=True, check=True)
    codes, _, megabytes = done.stdout.strip().rpartition(" ")
    assert codes == str([2] * len(BAD)) and int(megabytes) < 1000
    errors = done.stderr.strip().splitlines()
    assert len(errors) == len(BAD)
    for line, (name, words) in zip(errors, BAD.items(), strict=True):
        assert line.startswith("error: ") and name in line and words in line


def black_png(side: int) -> bytes:
    """A whole file, with every pixel: one bit for each."""
    packer = zlib.compressobj(9)
    row = bytes(side // 8 + 1)
    pixels = b"".join([*(packer.compress(row) for _ in range(side)), packer.flush()])

    def piece(name: bytes, data: bytes) -> bytes:
        return len(data).to_bytes(4, "big") + name + data + zlib.crc32(name + data).to_bytes(4, "big")

    head = side.to_bytes(4, "big") * 2 + b"\x01\x00\x00\x00\x00"
    return b"\x89PNG\r\n\x1a\n" + piece(b"IHDR", head) + piece(b"IDAT", pixels) + piece(b"IEND", b"")


def test_a_picture_of_two_is_read_where_it_is_clicked_or_framed(tmp_path: Path) -> None:
    shirt, _ = mask(garment("tshirt"), size=360)
    other, _ = mask(garment("trousers"), size=360)
    image = np.full((360, 720, 3), 225, dtype=np.uint8)
    image[:, :360][shirt > 0] = (40, 60, 160)
    image[:, 360:][other > 0] = (120, 70, 30)
    write_image(tmp_path / "both.png", image)
    assert run("fold", "parse", tmp_path / "both.png") == 2
    assert run("fold", "parse", tmp_path / "both.png", "--click", "180,200", "-o", tmp_path / "a.json") == 0
    assert run("fold", "parse", tmp_path / "both.png", "--rectangle", "362,2,356,356", "-o", tmp_path / "b.json") == 0
    kinds = [json.loads((tmp_path / name).read_text())["choices"][0]["alternative"] for name in ("a.json", "b.json")]
    assert kinds == ["tshirt", "trousers"]


def test_the_papers_fluents_can_be_asked_for(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fold", "problem", "hoodie", "--fluents", "paper", "-o", tmp_path / "h.json") == 0
    assert run("fold", "demonstrate", "-n", 1, "--fluents", "paper", "-o", tmp_path / "d.jsonl") == 0
    assert all('"fluents": "paper"' in (tmp_path / name).read_text() for name in ("h.json", "d.jsonl"))
    assert run("fold", "problem", "hoodie", "--fluents", "papers", "-o", tmp_path / "h.json") == 2
    assert "did you mean 'paper'" in capsys.readouterr().err


def test_demonstrations_are_drawn_one_row_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("fold", "render", BUNDLED, "-o", tmp_path / "demos.svg", "--theme", "dark", "--columns", 2) == 0
    assert "20 rows" in capsys.readouterr().out
    assert (tmp_path / "demos.svg").read_text(encoding="utf-8").count("other side") == 20


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
