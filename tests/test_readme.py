"""The README is true: its Python runs, its commands exit with 0, its document loads."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest

from meip.base.files import load_json
from meip.cli import main
from meip.model.problems import load_problem
from meip.model.world import HOOKS

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```(\w+)\n(.*?)```", (ROOT / "README.md").read_text(), flags=re.DOTALL)


def test_a_newcomer_can_follow_the_readme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    commands = 0
    for language, text in BLOCKS:
        if language == "python":
            exec(text, names)
        elif language == "json":
            load_problem(load_json(text, "README.md"))
        for line in text.splitlines() if language == "sh" else ():
            command = shlex.split(line, comments=True)
            if command[0] == "cd":
                monkeypatch.chdir(command[1])
            elif command[0] == "mkdir":
                Path(command[1]).mkdir()
            elif command[0] == "meip":
                commands += 1
                with pytest.raises(SystemExit) as caught:
                    main(command[1:])
                assert caught.value.code == 0, line
    assert commands >= 5


def test_the_page_about_learning_is_true(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    shutil.copy(ROOT / "src" / "meip" / "data" / "ritual.jsonl", "demos.jsonl")
    names: dict[str, Any] = {}
    for text in re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "learning.md").read_text(), flags=re.DOTALL):
        exec(text, names)
    assert names["plan"].actions[0] == [1, "torch", 6]


def test_the_page_about_worlds_is_true() -> None:
    page = (ROOT / "docs" / "worlds.md").read_text()
    for text in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(text, {"__name__": "__main__"})
    assert {hook.__name__ for hook in HOOKS} == set(re.findall(r"^\| `(\w+)` \|", page, flags=re.MULTILINE))


def test_the_page_about_histories_is_true() -> None:
    """Four worlds that are learned and planned: history, durations, beliefs, failure; and several starts."""
    names: dict[str, Any] = {"__name__": "__main__"}
    snippets = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "histories.md").read_text(), flags=re.DOTALL)
    for text in snippets:
        exec(text, names)
    assert len(snippets) == 5


def test_every_file_that_the_documents_link_to_exists() -> None:
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"\]\((?!http)([^)]+)\)", (ROOT / name).read_text()):
            assert (ROOT / target).exists(), f"{name} links to {target}"


def test_every_make_target_that_the_documents_name_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    for name in ("README.md", "CONTRIBUTING.md"):
        for target in re.findall(r"`make (\w+)`", (ROOT / name).read_text()):
            assert re.search(rf"^{target}:", makefile, flags=re.MULTILINE), f"{name} names make {target}"
