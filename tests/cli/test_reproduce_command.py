"""``meip reproduce`` from the command line: tables, rows and figures; no option is ignored in silence."""

from __future__ import annotations

from html import escape
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from meip.base import documents
from meip.base.results import Results
from meip.cli import main
from meip.cli.reproduce import RUNNERS, Name
from meip.experiments import Experiment


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", *arguments])
    return int(ended.value.code or 0)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Experiment]:
    """Experiments that only remember what they were asked for."""
    found: dict[str, Experiment] = {}

    def stub(path: str) -> Any:
        name = next(name for name, module in RUNNERS.items() if module == path)
        module: Any = ModuleType(path)
        module.NAME, module.NOTES = name, (f"a note on {name}",)

        def remember(experiment: Experiment) -> list[dict[str, Any]]:
            found[name] = experiment
            return [{"experiment": name, "method": "meip", "metric": "drawn", "value": 1.0}]

        module.run, module.FIGURES = remember, ("drawn",)
        if name == "folding":
            module.summary = lambda rows: [("in its own form", ["method", "shirt"], [["meip", f"{len(rows)} of 1"]])]
        else:
            module.UNUSED = {"data": "it needs none"}
        return module

    monkeypatch.setattr("meip.cli.reproduce.import_module", stub)
    return found


def test_an_experiment_prints_tables_and_writes_rows_and_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows, figures = tmp_path / "rows.json", tmp_path / "f"
    code = run("probability-shift", "--quick", "--seeds", "1", "--json", str(rows), "--out", str(figures))
    printed = capsys.readouterr().out
    assert code == 0
    assert "executions" in printed and "maxent-irl" in printed and "pursued" in printed and "1 - p" in printed
    found = documents.read(rows, "results")
    assert isinstance(found, Results) and {row["method"] for row in found.rows} == {
        "meip",
        "meip-defaults",
        "paper",
        "maxent-irl",
    }
    report = documents.read(figures / "report.json", "report").results[0]
    assert report == found and set(report.figures) == {path.stem for path in figures.glob("*.svg")} != set()
    page = (figures / "report.html").read_text()
    assert all(escape(cell) in page for table in found.tables for line in table.lines for cell in line)
    assert all(escape(note) in page for note in found.notes) and page.count("<figure>") == len(found.figures)
    assert "<script" not in page and "default-src 'none'" in page


def test_every_name_has_an_experiment() -> None:
    assert [*RUNNERS, "all"] == [name.value for name in Name]


def test_an_experiment_is_asked_for_what_the_options_say(asked: dict[str, Experiment]) -> None:
    assert run("structural-change", "--seeds", "3", "--seed", "7", "--jobs", "2", "--quick") == 0
    got = asked["structural-change"]
    assert (got.seeds, got.seed, got.jobs, got.quick, got.noisy) == (3, 7, 2, True, False)


def test_all_runs_every_experiment_and_prints_each_in_its_own_form(
    asked: dict[str, Experiment], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("all", "--quick") == 0
    assert list(asked) == list(RUNNERS)
    printed = capsys.readouterr().out
    assert "folding: in its own form" in printed and "1 of 1" in printed
    assert all(f"a note on {name}" in printed for name in RUNNERS)


@pytest.mark.parametrize("noisy", [False, True])
def test_held_out_rituals_replace_the_papers(asked: dict[str, Experiment], noisy: bool) -> None:
    assert run("structural-change", "--held-out", "5", *["--noisy"] * noisy) == 0
    assert {name: (got.seeds, got.noisy) for name, got in asked.items()} == {"held-out": (5, noisy)}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("structural-change", "--held-out", "0"), ("--held-out", "1")),
        (("structural-change", "--seeds", "0"), ("--seeds", "1")),
        (("structural-change", "--noisy"), ("--noisy", "held-out")),
        (("structural-change", "--held-out", "5", "--quick"), ("--quick", "how many rituals")),
        (("structural-change", "--held-out", "5", "--seeds", "3"), ("--seeds", "how many rituals")),
        (("folding", "--held-out", "5"), ("--held-out", "structural-change")),
        (("probability-shift", "--data", "x"), ("--data", "it needs none")),
        (("all", "--data", "x"), ("--data", "one by one")),
    ],
)
def test_an_option_without_effect_is_refused_with_the_reason(
    asked: dict[str, Experiment], capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], said: tuple[str, ...]
) -> None:
    assert run(*arguments) == 2
    printed = capsys.readouterr().err
    assert all(word in printed for word in said)
    assert not asked


@pytest.mark.parametrize("name", ["probability-shift", "structural-change", "held-out"])
def test_the_papers_worlds_need_no_material(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(name, "--data", "somewhere") == 2
    assert "outside material" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["everday"], "unknown experiment 'everday'; did you mean 'everyday'?"),
        (["everyday", "--seeds", "abc"], "'--seeds'"),
        (["everyday", "--json", "."], ".: cannot be written: it is a folder"),  # before the work, and not after it
    ],
)
def test_a_slip_of_the_hand_is_told_before_anything_is_run(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["reproduce", *arguments])
    assert stopped.value.code == 2 and words in capsys.readouterr().err
