"""Promises 4 and 5, what is read: mutants give only clear errors, and small inputs cannot exhaust the machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from attack import bounds, fuzz
from meip import DocumentError, load_problem
from meip.base.text import printable
from meip.worlds.folding.cvat import read_cvat

FEW = {"problems": 150, "images": 100}


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("parser", fuzz.PARSERS)
def test_mutants_give_only_clear_errors(parser: str, tmp_path: Path) -> None:
    assert fuzz.mutants(parser)(tmp_path, FEW.get(parser, 250)).failures == []


def test_small_inputs_that_ask_for_much_are_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    assert bounds.small_and_greedy(tmp_path, len(bounds.CASES)).failures == []


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252", "shift_jis", "klingon"])
def test_labelled_photographs_are_read_in_any_encoding_or_the_encoding_is_named(encoding: str, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><annotations><image name="a.png"/></annotations>'
    file = tmp_path / "shirts.xml"
    file.write_bytes(text.encode("utf-16" if encoding == "utf-16" else "ascii"))
    if encoding in ("shift_jis", "klingon"):
        with pytest.raises(DocumentError, match="its encoding cannot be read.*save it as UTF-8"):
            read_cvat(file)
    else:
        assert [image.name for image in read_cvat(file)] == ["a.png"]


def test_errors_quote_nothing_that_a_terminal_would_act_on() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\u202e"
    with pytest.raises(DocumentError) as caught:
        load_problem({"format": "meip.problem/1", "world": evil})
    assert printable(str(caught.value)) == str(caught.value)
    assert "\\x1b[2J" in str(caught.value)
