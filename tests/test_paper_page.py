"""The map of the paper is true: what it names exists. Modules and what is in them, tests, commands and their options,
figures."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer

from meip.cli import app
from meip.cli.reproduce import RUNNERS

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "paper.md").read_text()
SHELL = typer.main.get_command(app)
TESTS = {path.name: path for path in (ROOT / "tests").rglob("test_*.py")}


def rows() -> Iterator[list[str]]:
    """The cells of every row, the heads left out."""
    for line in PAGE.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split(" | ")]
        if line.startswith("| ") and cells[0] != "element":
            yield cells


def named(pattern: str) -> list[str]:
    return sorted(set(re.findall(pattern, PAGE)))


def test_every_row_has_all_its_cells_and_names_a_test_and_a_command() -> None:
    found = list(rows())
    assert len(found) > 60
    for cells in found:
        assert len(cells) == 6, cells[0]
        assert all(cells), cells[0]
        assert "::test_" in cells[3] and cells[4].startswith("`meip "), cells[0]


def test_every_equation_figure_and_table_of_the_paper_has_a_row() -> None:
    said = " ".join(cells[0] for cells in rows())
    equations = {n for a, b in re.findall(r"Eq\. (\d+)(?:-(\d+))?", said) for n in range(int(a), int(b or a) + 1)}
    assert equations == set(range(1, 20))
    assert {int(n) for n in re.findall(r"Figure (\d)", said)} == set(range(1, 10))
    for name in ("Definition 1", "Definition 2", "Definition 3", "Algorithm 1", "Algorithm 2", "Table 1", "Protocol"):
        assert name in said
    assert {int(n) for n in re.findall(r"Experiment (\d)", said)} == {1, 2, 3}


@pytest.mark.parametrize("name", named(r"`((?:[a-z_]+\.)+[A-Za-z_]+)`"))
def test_a_module_or_what_is_in_it_exists(name: str) -> None:
    if (ROOT / "docs" / name).exists() or name.endswith((".svg", ".py", ".md")):
        return
    module, _, attribute = f"meip.{name}".rpartition(".")
    found: Any = import_module(module)
    assert hasattr(found, attribute) or import_module(f"meip.{name}")


@pytest.mark.parametrize("name", named(r"`(test_\w+\.py::test_\w+)`"))
def test_a_test_exists(name: str) -> None:
    file, function = name.split("::")
    assert f"def {function}(" in TESTS[file].read_text(), name


@pytest.mark.parametrize("text", named(r"`(meip [^`]+)`"))
def test_a_command_and_its_options_exist(text: str) -> None:
    words = text.split()[1:]
    command: Any = SHELL
    while hasattr(command, "commands"):
        assert words[0] in command.commands, text
        command, words = command.commands[words[0]], words[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in words if word.startswith("-")} <= known, text
    if command.name == "reproduce":
        assert words[0] in (*RUNNERS, "EXPERIMENT")


@pytest.mark.parametrize("name", named(r"`((?:probability|structural|folding)-[\w-]*\.svg|folding-\w+\.svg)`"))
def test_a_figure_is_drawn_by_an_experiment(name: str) -> None:
    sources = (ROOT / "src" / "meip" / "experiments").glob("*.py")
    assert any(f'"{name.removesuffix(".svg")}' in path.read_text() for path in sources), name


@pytest.mark.parametrize("page", ["paper", "histories", "learning", "worlds", "experiments", "concepts", "folding"])
def test_what_a_page_links_to_exists(page: str) -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", (ROOT / "docs" / f"{page}.md").read_text()):
        assert (ROOT / "docs" / target).exists(), target
