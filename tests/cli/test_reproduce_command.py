"""``meip reproduce`` from the command line: tables, rows and figures."""

from __future__ import annotations

from pathlib import Path

import pytest

from meip.base import documents
from meip.base.results import Results
from meip.cli import main


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(list(arguments))
    return int(ended.value.code or 0)


def test_an_experiment_prints_tables_and_writes_rows_and_figures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "rows.json"
    code = run(
        "reproduce", "probability-shift", "--quick", "--seeds", "2", "--json", str(rows), "--out", str(tmp_path / "f")
    )
    printed = capsys.readouterr().out
    assert code == 0
    assert "desired" in printed and "maxent-irl" in printed and "pursued" in printed
    found = documents.read(rows, "results")
    assert isinstance(found, Results) and {row["method"] for row in found.rows} == {"meip", "maxent-irl"}
    assert (tmp_path / "f" / "probability-shift.svg").read_text().startswith("<svg")


def test_held_out_needs_a_positive_number(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("reproduce", "structural-change", "--held-out", "0") == 2
    assert "at least 1" in capsys.readouterr().err
