"""Promises 4 and 5, what is read: mutants give only clear errors, and small inputs cannot exhaust the machine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from attack import bounds, fuzz
from meip import (
    DocumentError,
    Domain,
    EntityClass,
    Task,
    Utility,
    UtilityTerm,
    append_demonstration,
    load_problem,
    parse_concept,
    predicate,
    record,
)
from meip.base import documents
from meip.base.text import UNSAFE, printable
from meip.cli import main
from meip.tasks.task import Provenance
from meip.worlds.folding.cvat import read_cvat
from meip.worlds.folding.parse_graph import parse_image
from meip.worlds.pddl.generators import generate
from meip.worlds.pddl.world import load_domain
from meip.worlds.pddl.writer import domain_text
from meip.worlds.ritual import Ritual

FEW = {"documents": 50, "problems": 150, "images": 100}  # of documents there are more in tests/base


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("parser", fuzz.PARSERS)
def test_mutants_give_only_clear_errors(parser: str, tmp_path: Path) -> None:
    assert fuzz.mutants(parser)(tmp_path, FEW.get(parser, 250)).failures == []


def test_small_inputs_that_ask_for_much_are_refused_before_anything_is_allocated(tmp_path: Path) -> None:
    assert bounds.small_and_greedy(tmp_path, len(bounds.CASES)).failures == []


def test_a_picture_whose_pieces_claim_to_be_longer_than_the_file_is_not_unpacked(tmp_path: Path) -> None:
    whole = fuzz._picture()
    for damaged in (whole[:-30], whole[:33] + b"\x7f" + whole[34:]):
        (tmp_path / "bad.png").write_bytes(damaged)
        with pytest.raises(DocumentError, match=r"bad\.png: not an image.* damaged or cut off"):
            parse_image(tmp_path / "bad.png")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "iso-8859-1", "windows-1252", "shift_jis", "klingon"])
def test_labelled_photographs_are_read_in_any_encoding_or_the_encoding_is_named(encoding: str, tmp_path: Path) -> None:
    text = f'<?xml version="1.0" encoding="{encoding}"?><annotations><image name="a.png"/></annotations>'
    file = tmp_path / "shirts.xml"
    file.write_bytes(text.encode("utf-16" if encoding == "utf-16" else "ascii"))
    if encoding in ("shift_jis", "klingon"):
        with pytest.raises(DocumentError, match=r"its encoding cannot be read.*save it as UTF-8"):
            read_cvat(file)
    else:
        assert [image.name for image in read_cvat(file)] == ["a.png"]


@pytest.mark.parametrize("named", ["../secret.pddl", "{folder}/secret.pddl", "link.pddl", "below/../../secret.pddl"])
def test_a_document_names_only_files_of_its_own_folder(named: str, tmp_path: Path) -> None:
    (tmp_path / "secret.pddl").write_text("my password")
    own = tmp_path / "own"
    (own / "below").mkdir(parents=True)
    (own / "link.pddl").symlink_to(tmp_path / "secret.pddl")
    file = own / "problem.json"
    problem = {"format": "meip.problem/1", "world": "pddl", "domain_pddl": named.format(folder=tmp_path)}
    file.write_text(json.dumps(problem))
    for read in (lambda: load_problem(file), lambda: load_problem(problem, folder=own)):
        with pytest.raises(DocumentError, match=r"\$\.domain_pddl: .* leads out of the document's folder") as caught:
            read()
        assert "password" not in str(caught.value)


def test_a_document_finds_files_beside_it_wherever_it_is_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "own" / "below").mkdir(parents=True)
    (tmp_path / "own" / "domain.pddl").write_text(domain_text(load_domain("ferry")))
    (tmp_path / "own" / "below" / "p.pddl").write_text(generate("ferry", 1, cars=2))
    file = tmp_path / "own" / "problem.json"
    paths = {"domain_pddl": "domain.pddl", "problem_pddl": "below/p.pddl"}
    file.write_text(json.dumps({"format": "meip.problem/1", "world": "pddl", **paths}))
    for place in (tmp_path, tmp_path / "own"):
        monkeypatch.chdir(place)
        assert load_problem(file).domain.name == "ferry"


@pytest.mark.parametrize("as_json", [False, True])
def test_no_command_lets_the_text_of_a_file_reach_the_terminal_as_a_command_to_it(
    as_json: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    evil = "\x1b[31mred\x1b]0;owned\x07\x9b2J\u202edetrever"
    monkeypatch.chdir(tmp_path)
    domain = Domain("lamps", (EntityClass("lamp"),), (predicate("on", "lamp", phrase="{0} is " + evil),))
    concept = UtilityTerm(parse_concept("some(on)"), "boolean", (), (1.0,))
    learned = Provenance("0.1", 3, "plans", "plans", {}, 5, "sha256:0", 4, False, ({"world": evil},))
    Task(domain, (Utility((concept,)),), 0.5, learned, (), (evil,)).save("task.json")
    documents.write("domain.json", domain)
    append_demonstration("demos.jsonl", record(Ritual(), [(1, "torch", 5)], by=evil, note=evil))
    Path("bad.jsonl").write_text(f"{evil}\n")
    Path(f"{evil}.json").write_text("{}")
    commands = [
        ["explain", "task.json"], ["concepts", "domain.json"], ["check", "demos.jsonl", "bad.jsonl", f"{evil}.json"],
        ["plan", "task.json", evil], ["show", evil], ["learn", f"{evil}.json", "-o", "x.json"],
        ["explain", "task.json", "--why"],
    ]  # fmt: skip
    for command in commands:
        more = ["--json"] if as_json and command[0] in ("explain", "concepts", "check", "show") else []
        with pytest.raises(SystemExit):
            main([*command, *more])
        told = "".join(capsys.readouterr())
        assert told and not UNSAFE.search(told), (command, told)


def test_errors_quote_nothing_that_a_terminal_would_act_on() -> None:
    evil = "\x1b[2J\x1b]0;owned\x07\u202e"
    with pytest.raises(DocumentError) as caught:
        load_problem({"format": "meip.problem/1", "world": evil})
    assert printable(str(caught.value)) == str(caught.value)
    assert "\\x1b[2J" in str(caught.value)
