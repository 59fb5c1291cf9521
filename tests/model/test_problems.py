"""Worlds from files, names and the user's own code."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from meip import DocumentError, StateGraph, WorldError
from meip.model.problems import load_problem, problem_document, problem_schema, registered, resolve_world
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual

OWN_WORLD = """
from dataclasses import dataclass
from meip import Domain, Facts, predicate

@dataclass
class Switch:
    start: bool = False
    domain = Domain("switch", (), (predicate("on"),))
    horizon = 3
    def initial(self): return [(1.0, self.start)]
    def actions(self, state): return ["flip"]
    def outcomes(self, state, action): return [(1.0, not state)]
    def facts(self, state): return Facts.build(self.domain, {}, {"on": state})

def lit():
    return Switch(True)

def broken():
    raise KeyError("no such lamp")
"""


@pytest.mark.parametrize("world", [Ritual(), Ritual(stages=2, order=(2, 1)), Didactic(p=0.25, horizon=4)])
def test_a_world_written_to_a_problem_document_loads_as_the_same_world(world: Any, tmp_path: Path) -> None:
    file = tmp_path / "problem.json"
    file.write_text(json.dumps(problem_document(world)))
    assert load_problem(file) == world
    assert resolve_world(str(file)) == world


def test_every_built_in_class_carries_the_name_it_is_registered_under() -> None:
    for name, target in registered("meip.worlds").items():
        module, _, attribute = target.partition(":")
        assert getattr(importlib.import_module(module), attribute).kind == name


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "meip.problem/2"}, r'\$\.format: expected "meip.problem/1", got "meip.problem/2"'),
        ({"format": None}, r"\$\.format"),
        ({"world": "ritul"}, r"\$\.world: 'ritul' is not a registered world \(did you mean 'ritual'"),
        ({"world": 3}, r"\$\.world: expected the name of a world"),
        ({"stages": "3"}, r"\$\.stages: .*integer, got '3'"),
        ({"stages": True}, r"\$\.stages: .*integer"),
        ({"types": ["torch", 1]}, r"\$\.types\[1\]: "),
        ({"stags": 3}, r"\$\.stags: unknown field; did you mean 'stages'"),
        ({"stages": 0}, r"\$: a ritual needs at least one stage"),
    ],
)
def test_a_wrong_problem_document_is_refused_with_its_place(change: dict[str, Any], message: str) -> None:
    with pytest.raises(DocumentError, match="demo.json: " + message):
        load_problem(problem_document(Ritual()) | change, where="demo.json")


def test_a_file_cannot_make_meip_import_code(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "trap.py").write_text("raise SystemExit('imported')")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(DocumentError, match="Files never import code"):
        load_problem({"format": "meip.problem/1", "world": "trap:World"})
    assert "trap" not in sys.modules


def test_a_world_of_ones_own_is_named_by_module_and_factory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "lamps.py").write_text(OWN_WORLD)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.chdir(tmp_path)
    world = resolve_world("lamps:Switch")
    document = problem_document(resolve_world("lamps:lit"))
    assert document["world"] == "lamps:Switch" and load_problem(document, own="lamps:lit").start is True
    assert StateGraph(world).describe(0) == "False"  # a hook that it does not offer has a default
    with pytest.raises(WorldError, match="lamps:broken: making the world failed: KeyError"):
        resolve_world("lamps:broken")
    with pytest.raises(WorldError, match="has no 'Swich'; did you mean 'Switch'"):
        resolve_world("lamps:Swich")
    with pytest.raises(WorldError, match="dict is not a world: it has no domain, horizon"):
        resolve_world("builtins:dict")
    sys.modules.pop("lamps")


def test_an_unknown_name_suggests_a_known_one() -> None:
    with pytest.raises(WorldError, match="did you mean 'ritual'"):
        resolve_world("rituall")


def test_the_schema_of_problems_has_one_alternative_per_world() -> None:
    names = {choice["properties"]["world"]["const"] for choice in problem_schema()["oneOf"]}
    assert names >= {"didactic", "ritual"}
