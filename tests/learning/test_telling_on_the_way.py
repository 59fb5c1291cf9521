"""What is told while demonstrations are read and the bank of concepts grows: nobody looks at an empty page."""

from __future__ import annotations

from typing import Any

import pytest

from meip import learn
from meip.cli.progress import learning_progress
from meip.experiments.rites import paper_demonstrations


@pytest.fixture(scope="module")
def told() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    learn(paper_demonstrations("free"), progress=found.append)
    return found


def test_each_demonstration_and_each_level_of_the_bank_is_told_with_counts(told: list[dict[str, Any]]) -> None:
    stages = list(dict.fromkeys(info["stage"] for info in told))
    assert stages[:4] == ["replay", "choices", "bank", "statements"]
    replays = [(info["replayed"], info["demonstrations"]) for info in told if info["stage"] == "replay"]
    assert replays == [(k, 5) for k in range(6)]
    (choices,) = (info for info in told if info["stage"] == "choices")
    assert 0 < choices["choices"] < choices["alternatives"] and choices["states"] > 0
    bank = [info for info in told if info["stage"] == "bank"]
    assert [info["level"] for info in bank if "terms" in info] == [1, 2, 3]
    growing = [info["found"] for info in bank]
    assert growing == sorted(growing) and growing[-1] == next(i["concepts"] for i in told if i["stage"] == "candidates")


def test_what_shown_steps_bring_about_most_is_a_first_impression(told: list[dict[str, Any]]) -> None:
    first = next(info["impressions"] for info in told if "impressions" in info)
    assert 0 < len(first) <= 6 and [abs(w) for _, w in first] == sorted((abs(w) for _, w in first), reverse=True)
    wanted = [text for text, weight in first if weight > 0]
    assert any("torch" in text or "bamboo" in text or "clay" in text for text in wanted)


def test_the_command_line_prints_the_same_events(capsys: pytest.CaptureFixture[str]) -> None:
    with learning_progress() as tell:
        learn(paper_demonstrations("enforced"), progress=tell)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == "replay: replayed 0, demonstrations 5"
    assert any(line.startswith("bank: level 2, terms ") for line in lines)
    assert any(line.startswith("bank: level 1, found ") and "wanted " in line for line in lines)
