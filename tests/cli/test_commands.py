"""The command line: exit codes, one message for bad input, and output that people and programs can read."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import types
from functools import partial
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest

import meip
from meip import Domain, EntityClass, append_demonstration, predicate, record
from meip.base import documents
from meip.cli import learn as cli_learn, main, plan as cli_plan, reproduce as cli_reproduce
from meip.learning.options import Objective
from meip.model.problems import problem_document, registered
from meip.search.find import SEARCHES
from meip.search.query import CHANCES
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual

OWN = """
from dataclasses import dataclass
from meip import Domain, Facts, World, predicate

@dataclass(frozen=True)
class Stairs(World):
    steps: int = 3
    domain = Domain("stairs", (), (predicate("[top]"),))
    @property
    def horizon(self): return self.steps + 1
    def initial(self): return [(1.0, 0)]
    def actions(self, state): return ["up"] if state < self.steps else []
    def outcomes(self, state, action): return [(1.0, state + 1)]
    def facts(self, state): return Facts.build(self.domain, {}, {"[top]": state == self.steps})

class Broken(Stairs):
    def facts(self, state): raise ZeroDivisionError("a missing stair")

class Odd(Stairs):
    def onward(self, state): return []

class OddAndBroken(Broken, Odd): pass
"""


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main(list(arguments))
    out, err = capsys.readouterr()
    return int(caught.value.code or 0), out, err


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    file = tmp_path / "demos.jsonl"
    for number in (1, 3):
        append_demonstration(file, record(Ritual(), [(1, "torch", 5), (2, "bamboo", number), (3, "clay", 4)]))
    return file


def test_right_files_are_ok(capsys: pytest.CaptureFixture[str], demos: Path) -> None:
    folder = demos.parent
    (folder / "problem.json").write_text(json.dumps(problem_document(Didactic(p=0.3))))
    documents.write(folder / "domain.json", Domain("d", (), (predicate("p"),)))
    names = [str(demos), str(folder / "problem.json"), str(folder / "domain.json"), "ritual"]
    code, out, err = run(capsys, "check", *names)
    assert (code, err) == (0, "")
    assert [line.split()[0] for line in out.splitlines()] == ["ok"] * 4
    assert "demos.jsonl: 2 demonstrations" in out


def test_wrong_files_are_named_with_place_and_exit_code_2(capsys: pytest.CaptureFixture[str], demos: Path) -> None:
    text = demos.read_text()
    demos.write_text(text + text.splitlines()[0].replace('"bamboo", 1', '"bamboo", 7') + "\n" + "{}\n")
    code, out, _ = run(capsys, "check", str(demos), "missing.json")
    assert code == 2
    lines = out.splitlines()
    assert len(lines) == 3 and all(line.startswith("problem") for line in lines)
    assert 'demos.jsonl:3: step 2: [2,"bamboo",7] is not legal; legal: [2,"torch",0]' in lines[0]
    assert "demos.jsonl:4: $.format" in lines[1]
    assert "missing.json: cannot be read" in lines[2]


def test_check_speaks_json(capsys: pytest.CaptureFixture[str], demos: Path) -> None:
    code, out, _ = run(capsys, "check", "--json", str(demos))
    assert code == 0
    assert json.loads(out) == [{"file": str(demos), "what": "2 demonstrations", "problems": [], "hints": []}]


def test_a_world_of_ones_own_is_checked_shown_and_replayed(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "stairway.py").write_text(OWN)
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p])
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "check", "stairway:Stairs") == (0, "ok       stairway:Stairs: world, walked\n", "")
    code, out, _ = run(capsys, "check", "stairway:Broken")
    assert code == 2 and "facts() failed in state 0: ZeroDivisionError: a missing stair" in out
    hint = "the hook GoesOn is half there: reached missing; add it, or rename the rest"
    lines = f"ok       stairway:Odd: world, walked\nhint     stairway:Odd: {hint}\n"
    assert run(capsys, "check", "stairway:Odd") == (0, lines, "")
    code, out, _ = run(capsys, "check", "stairway:OddAndBroken")
    assert code == 2 and [line.split()[0] for line in out.splitlines()] == ["problem", "hint"]
    code, out, _ = run(capsys, "check", "stairway:Odd", "--json")
    assert code == 0 and json.loads(out)[0] | {"what": ""} == {
        "file": "stairway:Odd", "what": "", "problems": [], "hints": [hint]
    }  # fmt: skip
    code, out, err = run(capsys, "show", "stairway:Broken")
    assert (
        code == 2 and err.startswith("error: facts() failed in state 0: ZeroDivisionError") and "Traceback" not in err
    )
    code, out, _ = run(capsys, "show", "stairway:Stairs")
    assert code == 0 and "[top]: yes" in out  # brackets are text, not markup

    stairs = sys.modules["stairway"].Stairs(steps=2)
    append_demonstration(tmp_path / "up.jsonl", record(stairs, ["up", "up"]))
    code, out, _ = run(capsys, "check", "up.jsonl")
    assert code == 2 and "Files never import code" in out
    assert run(capsys, "check", "up.jsonl", "--world", "stairway:Stairs")[0] == 0
    sys.modules.pop("stairway")


def test_show_walks_and_speaks_json(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "show", "ritual", "--json", "--seed", "4")
    shown: dict[str, Any] = json.loads(out)
    assert code == 0 and shown["horizon"] == 4 and len(shown["walk"]) == 4
    assert [row["legal"] for row in shown["walk"]] == [48, 32, 16, 0]
    assert run(capsys, "show", "ritual", "--json", "--seed", "4")[1] == out


def test_check_and_schema_know_every_kind_of_document_in_the_source() -> None:
    source = Path(meip.__file__).parent
    homes = {
        ".".join(path.relative_to(source.parent).with_suffix("").parts)
        for path in source.rglob("*.py")
        if re.search(r"^@document\(", path.read_text(), flags=re.MULTILINE)
    }
    assert homes == set(registered("meip.documents").values()), "name them in pyproject.toml"


def test_schema_lists_kinds_and_prints_each(capsys: pytest.CaptureFixture[str]) -> None:
    kinds = run(capsys, "schema")[1].split()
    assert {"demonstration", "domain", "problem"} <= set(kinds)
    for kind in kinds:
        code, out, _ = run(capsys, "schema", kind)
        assert code == 0 and json.loads(out)["$schema"].startswith("https://json-schema.org")
    code, _, err = run(capsys, "schema", "demonstartion")
    assert code == 2 and "did you mean 'demonstration'" in err


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["show", "rituall"], "error: rituall: neither a file nor the name of a world (did you mean 'ritual'?)"),
        (["show", "no.such.module:X"], "error: no.such.module:X: cannot import"),
        (["show", "missing.json"], "error: missing.json: cannot be read: No such file or directory"),
        (["shw", "ritual"], "No such command 'shw'"),
        (["show"], "Missing argument"),
        (["show", "ritual", "--steps", "many"], "Invalid value for '--steps'"),
    ],
)
def test_bad_input_is_one_message_and_exit_code_2(
    capsys: pytest.CaptureFixture[str], arguments: list[str], message: str
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert message in err and "Traceback" not in err


def test_version_and_help(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(capsys, "--version")[:2] == (0, "meip 0.1.0\n")
    code, out, _ = run(capsys, "--help")
    assert code == 0 and "Examples:" in out


def test_control_c_exits_quietly_with_130(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import sys, time\nprint('ready', flush=True)\ntime.sleep(60)\n")
    command = [sys.executable, "-m", "meip", "check", "slow:World"]
    environment = os.environ | {"PYTHONPATH": str(Path(meip.__file__).parents[1])}
    hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a suite run in the background hands down "ignore"
    process = subprocess.Popen(
        command, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=hear,
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_reader_that_stops_early_is_no_error() -> None:
    command = f"{sys.executable} -m meip schema problem | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "{\n", "")


def test_the_ritual_has_27_concepts_in_9_slots(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "concepts", "ritual", "--json")
    found = json.loads(out)
    assert code == 0 and len(found["concepts"]) == 27
    assert {row["slot"] for row in found["concepts"]} == set(range(1, 10))
    row = next(row for row in found["concepts"] if row["concept"] == "all(torch@1)")
    assert row["complexity"] == 1 and row["english"] == "all torches are offered at stage 1"
    assert "27 concepts in 9 slots" in run(capsys, "concepts", "ritual")[1]


def test_concepts_of_a_domain_document_are_limited_but_counted(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    documents.write(tmp_path / "d.json", Domain("d", (EntityClass("thing"),), (predicate("p", "thing"),)))
    code, out, _ = run(capsys, "concepts", str(tmp_path / "d.json"), "--limit", "2")
    assert code == 0 and "the first 2 of 3 are listed" in out
    code, _, err = run(capsys, "concepts", "ritual", "--grammar", "papers")
    assert code == 2 and "did you mean 'paper'" in err


def test_bench_prints_and_writes_the_rows_of_each_benchmark(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = [{"work": "columns", "metric": "ours", "value": np.float64(1234.5)}]
    package, module = types.ModuleType("meip.bench"), types.ModuleType("meip.bench.columns")
    package.__path__ = [str(tmp_path)]
    module.run = lambda peers: rows  # type: ignore[attr-defined]
    (tmp_path / "columns.py").touch()
    (tmp_path / "_tools.py").touch()
    monkeypatch.setitem(sys.modules, "meip.bench", package)
    monkeypatch.setitem(sys.modules, "meip.bench.columns", module)
    code, out, _ = run(capsys, "bench", "--json", str(tmp_path / "rows.json"))
    assert code == 0 and "1,234" in out
    assert documents.read(tmp_path / "rows.json", "results").rows[0]["value"] == 1234.5
    assert "columns: its peer is not installed" in run(capsys, "bench", "columns", "--peers")[1]
    code, _, err = run(capsys, "bench", "colums")
    assert code == 2 and "no benchmark 'colums'; did you mean 'columns'" in err


def test_names_that_the_command_line_lists_are_those_of_the_library() -> None:
    """They are written twice, because `meip --help` must not load what knows them."""
    assert ("auto", *SEARCHES) == cli_plan.METHODS
    assert cli_plan.CHANCES == CHANCES
    assert get_args(Objective) == cli_learn.OBJECTIVES
    assert [name.value for name in cli_reproduce.Name] == [*cli_reproduce.RUNNERS, "all"]
