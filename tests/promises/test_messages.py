"""Promise 5: bad input names the file and the place in it, and says what to do; one line, and exit code 2."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from attack.signals import DEMOS
from meip.cli import main

SHOWN: dict[str, Any] = json.loads(Path(DEMOS).read_text().splitlines()[0])
CASES: dict[str, tuple[str, list[str]]] = {
    "cut": (json.dumps(SHOWN)[:-30], ["demos.jsonl:2", "meip check --repair"]),
    "a field too many": (json.dumps({**SHOWN, "stpes": []}), ["demos.jsonl:2: $.stpes", "did you mean 'steps'"]),
    "a field missing": (json.dumps({k: v for k, v in SHOWN.items() if k != "steps"}), ["demos.jsonl:2: $.steps"]),
    "of the wrong type": (json.dumps({**SHOWN, "steps": 3}), ["demos.jsonl:2: $.steps", "got 3"]),
    "of another kind": (json.dumps({**SHOWN, "format": "meip.task/1"}), ["demos.jsonl:2: $.format", "expected"]),
    "of a later version": (json.dumps({**SHOWN, "format": "meip.demonstration/9"}), ["demos.jsonl:2", "upgrade meip"]),
    "an unknown world": (json.dumps({**SHOWN, "problem": {**SHOWN["problem"], "world": "ritul"}}), ["did you mean"]),
}


@pytest.mark.parametrize("name", CASES)
def test_a_bad_line_of_demonstrations_is_named_with_its_place_and_what_to_do(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    line, expected = CASES[name]
    file = tmp_path / "demos.jsonl"
    file.write_text(json.dumps(SHOWN) + "\n" + line + "\n")
    with pytest.raises(SystemExit) as ended:
        main(["learn", str(file), "-o", str(tmp_path / "task.json")])
    error = capsys.readouterr().err
    assert ended.value.code == 2 and error.startswith("error: ") and len(error.strip().splitlines()) == 1, error
    for words in expected:
        assert words in error, error


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        (["learn", "nowhere.jsonl", "-o", "task.json"], ["nowhere.jsonl", "No such file"]),
        (["learn", DEMOS], ["-o TASK"]),
        (["learn", DEMOS, "-o", "task.json", "--objective", "plnas"], ["--objective", "did you mean 'plans'"]),
        (["learn", DEMOS, "-o", "task.json", "--given", "all(torhc@1)"], ["torhc", "did you mean"]),
        (["learn", DEMOS, "-o", "task.json", "--objective", "plans", "--view", "sparse"], ["view", "leave it out"]),
        (["plan", "nowhere.json", "ritual"], ["nowhere.json"]),
        (["plan", "nowhere.json", "ritul"], ["ritul", "did you mean 'ritual'"]),
    ],
)
def test_a_bad_command_says_what_and_what_to_do(
    command: list[str], expected: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit) as ended:
        main(command)
    error = capsys.readouterr().err
    assert ended.value.code == 2 and "Traceback" not in error
    for words in expected:
        assert words in error, error
