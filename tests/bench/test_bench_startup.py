"""Compiling is what a first run takes longer than a later one."""

from __future__ import annotations

import pytest

from meip.base.errors import MeipError
from meip.bench import startup


def test_compiling_is_the_difference_of_a_first_and_a_later_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(startup.COMMANDS, "concepts", ("concepts", "ritual"))
    rows = {row["metric"]: row for row in startup.run(commands=["concepts"], repeats=1)}
    values = {metric: row["value"] for metric, row in rows.items()}
    assert values["compiling"] == pytest.approx(values["first run"] - values["later runs"])
    assert values["later runs"] > 0.1 and rows["compiling"]["target"] == 10
    assert all(row["work"] == "meip concepts" for row in rows.values())
    assert set(rows) == {"compiling", "first run", "later runs", "kernels compiled"}


def test_a_command_that_fails_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(startup.COMMANDS, "nothing", ("show", "no-such-world"))
    with pytest.raises(MeipError, match="meip show no-such-world failed"):
        startup.run(commands=["nothing"], repeats=1)
