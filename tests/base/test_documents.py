"""Documents: what is written is read back, what is wrong is refused with its place, and files are never torn."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from meip import DocumentError, Domain, function, predicate
from meip.base import documents
from meip.base.files import load_json
from meip.model.domain import EntityClass

BLOCKS = Domain(
    "blocks",
    (EntityClass("block"),),
    (predicate("on", "block", "block", phrase="{0} is on {1}"), function("weight", "block", static=True)),
)


def test_a_domain_survives_a_file(tmp_path: Path) -> None:
    documents.write(tmp_path / "blocks.json", BLOCKS)
    assert documents.read(tmp_path / "blocks.json", "domain") == BLOCKS
    assert json.loads((tmp_path / "blocks.json").read_text())["format"] == "meip.domain/1"


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.text(st.characters(exclude_categories=["Cs"])), st.floats(allow_nan=False, allow_infinity=False))
def test_any_text_and_any_number_survive_the_round_trip_bit_by_bit(text: str, number: float) -> None:
    value = {"name": text, "number": number}
    back = load_json(documents.canonical(value), "here")
    assert back == value and math.copysign(1, back["number"]) == math.copysign(1, number)


def test_equal_documents_have_equal_hashes_and_different_ones_differ() -> None:
    assert documents.content_hash({"a": 1, "b": 2}) == documents.content_hash({"b": 2, "a": 1})
    assert documents.content_hash(BLOCKS) != documents.content_hash(replace(BLOCKS, name="bricks"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[1]", r"\$: expected a JSON object, got an array"),
        ('{"format": "meip.domain/1"', "line 1, column 27: not JSON"),
        ('{"format": "meip.domain/1", "format": "x"}', "key 'format' is given twice"),
        ('{"format": "meip.domain/9", "name": "x"}', r"\$\.format: this meip reads version 1 .* has '9'"),
        ('{"format": "meip.domian/1", "name": "x"}', r"\$\.format: unknown kind .* did you mean 'domain'"),
        ('{"format": "other/1"}', r"\$\.format: expected \"meip"),
        ('{"format": "meip.domain/1"}', r"\$\.name: Field required|\$\.name: Missing"),
        ('{"format": "meip.domain/1", "name": NaN}', "NaN is not a JSON number"),
        ('{"format": "meip.domain/1", "name": 1e999}', "1e999 is too large"),
        ('{"format": "meip.domain/1", "name": "x", "nmae": 1}', r"\$\.nmae: unknown field; did you mean 'name'"),
        ('{"format": "meip.domain/1", "name": "x", "fluents": [{"name": "p", "real": 1}]}', r"\$\.fluents\[0\]\.real"),
        ('{"format": "meip.domain/1", "name": "x", "fluents": [{"name": "p", "x": 1}]}', r"\$\.fluents\[0\]\.x"),
        ("[" * 100_000, "nested too deeply"),
        ('{"format": ' + "[" * 70 + "]" * 70 + "}", "nested more than 64 deep"),
        ('{"format": "meip.domain/1", "name": "\\ud800"}', r"\$"),
        ("9" * 5000, "not JSON"),
    ],
)
def test_bad_input_names_the_file_and_the_place(text: str, message: str, tmp_path: Path) -> None:
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(DocumentError, match=message) as caught:
        documents.read(file)
    assert str(caught.value).startswith(str(file))
    str(caught.value).encode()  # can be printed


def test_what_cannot_be_read_or_written_is_said_plainly(tmp_path: Path) -> None:
    with pytest.raises(DocumentError, match="cannot be read: No such file"):
        documents.read(tmp_path / "missing.json")
    with pytest.raises(DocumentError, match="cannot be read: Is a directory"):
        documents.read(tmp_path)
    (tmp_path / "latin.json").write_bytes(b"\xff\xfe")
    with pytest.raises(DocumentError, match="not UTF-8 text"):
        documents.read(tmp_path / "latin.json")
    (tmp_path / "file").write_text("")
    with pytest.raises(DocumentError, match="cannot be written"):
        documents.write(tmp_path / "file" / "below.json", BLOCKS)


def test_only_registered_dataclasses_are_documents() -> None:
    with pytest.raises(DocumentError, match="int is not a kind of document"):
        documents.dump(3)


def test_values_that_json_cannot_express_are_refused_before_anything_is_written(tmp_path: Path) -> None:
    @documents.document("test-anything")
    @dataclass(frozen=True)
    class Anything:
        value: Any

    try:
        for value in (math.nan, object(), "\ud800"):
            with pytest.raises(DocumentError):
                documents.write(tmp_path / "x.json", Anything(value))
        assert not list(tmp_path.iterdir())
    finally:
        del documents._KINDS["test-anything"]


def test_a_schema_names_the_format_and_forbids_other_fields() -> None:
    schema = documents.schema("domain")
    assert schema["properties"]["format"] == {"const": "meip.domain/1"}
    assert schema["required"][:2] == ["format", "name"]
    assert schema["additionalProperties"] is False


def test_an_append_that_was_killed_is_left_out_and_taken_away_by_the_next(tmp_path: Path) -> None:
    file = tmp_path / "domains.jsonl"
    documents.append_line(file, BLOCKS)
    whole = file.read_text()
    for written in (1, 5, 50, len(whole)):  # the process was killed in the middle of the second line, or at its end
        file.write_text(whole + "\0" + whole[1:written])
        assert list(documents.read_lines(file, "domain")) == [BLOCKS]
        documents.append_line(file, BLOCKS)
        assert file.read_text() == whole * 2
    file.write_text(whole + whole.rstrip("\n"))  # only the newline is missing: the line is whole
    assert len(list(documents.read_lines(file))) == 2
    documents.append_line(file, BLOCKS)
    assert file.read_text() == whole * 3


def test_a_bad_line_is_named_by_its_number(tmp_path: Path) -> None:
    file = tmp_path / "domains.jsonl"
    documents.append_line(file, BLOCKS)
    file.write_text(file.read_text() + "nonsense\n")
    with pytest.raises(DocumentError, match=r"domains\.jsonl:2: line 1, column 1"):
        list(documents.read_lines(file))
