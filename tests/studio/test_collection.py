"""Demonstrations and problems of a project: listed, replayed, renamed, deleted, imported, exported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from meip.model.demonstrations import read_demonstrations
from opened_studio import Opened

ROOT = Path(__file__).parents[2]
RITUAL = (ROOT / "src" / "meip" / "data" / "ritual.jsonl").read_text()
DOMAINS = ROOT / "src" / "meip" / "worlds" / "pddl" / "domains"


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened.at(tmp_path / "project")


def test_demonstrations_are_listed_with_what_they_are(opened: Opened) -> None:
    rows = {row["file"]: row for row in opened.get("/api/demonstrations")}
    assert (rows["ritual 1.json"]["world"], rows["ritual 1.json"]["steps"], rows["ritual 1.json"]["count"]) == (
        "ritual",
        3,
        1,
    )
    (opened.studio.project.path / "demonstrations" / "broken.json").write_text('{"format": "meip.demonstration/1"}')
    rows = {row["file"]: row for row in opened.get("/api/demonstrations")}
    assert "problem" in rows["broken.json"]["error"] and len(rows) > 5


def test_a_demonstration_is_replayed_state_by_state(opened: Opened) -> None:
    found = opened.get("/api/demonstrations/shirt 1.json/replay")
    assert len(found["frames"]) == 4 and found["frames"][0]["step"] is None and found["frames"][0]["motion"] is None
    for frame in found["frames"][1:]:
        sheets, lands = frame["state"]["scene"]["sheets"], frame["motion"]["lands"]
        assert lands and [sheet["points"] for sheet in sheets[-len(lands) :]] == lands, "what moved lies on top"


def test_renaming_moves_the_file(opened: Opened) -> None:
    assert opened.post("/api/demonstrations/ritual 1.json/rename", title="first")["file"] == "first.json"
    names = opened.studio.project.demonstrations()
    assert "first.json" in names and "ritual 1.json" not in names
    assert "already" in opened.refused("/api/demonstrations/first.json/rename", title="ritual 2")


def test_deleting_can_be_undone(opened: Opened) -> None:
    answer = opened.client.request("DELETE", "/api/demonstrations/ritual 1.json", json={})
    assert "ritual 1.json" not in opened.studio.project.demonstrations()
    assert opened.post(f"/api/trash/{answer.json()['undo']}/restore") == {
        "kind": "demonstrations",
        "file": "ritual 1.json",
    }
    assert "ritual 1.json" in opened.studio.project.demonstrations()


def test_what_is_exported_can_be_learned_from_and_imported_again(opened: Opened, tmp_path: Path) -> None:
    answer = opened.client.get("/api/export/demonstrations.jsonl")
    assert "attachment" in answer.headers["content-disposition"]
    (tmp_path / "all.jsonl").write_text(answer.text)
    shown = read_demonstrations(tmp_path / "all.jsonl")
    assert len(shown) == len(opened.studio.project.demonstrations())
    one = opened.client.get("/api/export/demonstrations.jsonl", params={"name": "ritual 3.json"}).text
    back = opened.post("/api/import", files=[{"name": "back.jsonl", "text": one}])
    assert back == {"demonstrations": ["back.json"], "problems": []}
    folder = opened.studio.project.path / "demonstrations"
    assert read_demonstrations(folder / "back.json") == read_demonstrations(folder / "ritual 3.json")


def test_a_file_of_several_becomes_a_file_each(opened: Opened) -> None:
    found = opened.post("/api/import", files=[{"name": "five.jsonl", "text": RITUAL}])
    assert found["demonstrations"] == [f"five {k}.json" for k in range(1, 6)]
    opened.studio.project.write("demonstrations", "many.jsonl", RITUAL)
    assert opened.get("/api/demonstrations/many.jsonl/replay", place=4)["count"] == 5
    assert opened.post("/api/demonstrations/many.jsonl/split") == [f"many {k}.json" for k in range(1, 6)]
    assert "many.jsonl" not in opened.studio.project.demonstrations()


def test_where_one_file_is_wrong_nothing_is_imported(opened: Opened) -> None:
    before = sorted(opened.studio.project.path.rglob("*"))
    good, bad = {"name": "good.jsonl", "text": RITUAL}, {"name": "bad.jsonl", "text": RITUAL + "{}\n"}
    assert "bad.jsonl:6" in opened.refused("/api/import", files=[good, bad])
    assert "choose demonstrations" in opened.refused("/api/import", files=[good, {"name": "a.exe", "text": "x"}])
    assert "not UTF-8 text" in opened.refused("/api/import", files=[good, {"name": "a.png", "text": "\ufffd"}])
    assert "1 to 200 files" in opened.refused("/api/import", files=[])
    assert sorted(opened.studio.project.path.rglob("*")) == before


def test_a_problem_document_is_imported_and_shown(opened: Opened) -> None:
    text = json.dumps({"format": "meip.problem/1", "world": "ritual", "stages": 2})
    assert opened.post("/api/import", files=[{"name": "two.json", "text": text}])["problems"] == ["file:two.json"]
    found = opened.get("/api/problems/preview", id="file:two.json")
    assert found["initial"] == ["stage 1: not visited, stage 2: not visited"]
    bad = text.replace("stages", "stges")
    assert "stges" in opened.refused("/api/import", files=[{"name": "three.json", "text": bad}])


GRIPPER = """(define (problem p) (:domain gripper) (:objects rooma roomb - room ball1 - ball left - gripper)
 (:init (robot-in rooma) (in ball1 rooma) (free left)) (:goal (in ball1 roomb)))"""


def test_a_pddl_problem_finds_its_domain_among_the_files_that_came_along(opened: Opened) -> None:
    domain = {"name": "robots.pddl", "text": (DOMAINS / "gripper.pddl").read_text()}
    assert "choose its domain as well" in opened.refused("/api/import", files=[{"name": "p.pddl", "text": GRIPPER}])
    assert opened.refused("/api/import", files=[domain])
    wrong = {"name": "p.pddl", "text": GRIPPER.replace("robot-in", "robot-on")}
    assert "p.pddl" in (line := opened.refused("/api/import", files=[domain, wrong])) and "robot-on" in line
    found = opened.post("/api/import", files=[domain, {"name": "p.pddl", "text": GRIPPER}])
    assert found["problems"] == ["file:p.pddl"]
    assert opened.studio.project.read("problems", "p-domain.pddl") == domain["text"]
    assert opened.get("/api/problems/preview", id="file:p.pddl")["state"]["pictures"]


def test_a_pddl_problem_finds_its_domain_in_the_project(opened: Opened) -> None:
    ferry = opened.studio.project.read("problems", "ferry.pddl")
    found = opened.post("/api/import", files=[{"name": "another.pddl", "text": ferry}])
    assert found["problems"] == ["file:another.pddl"]
    assert opened.get("/api/problems/preview", id="file:another.pddl")["state"]["pictures"]
