"""Plans side by side, why each step, corrections that teach, and reports."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from meip import Correction, Task, learn, read_episodes
from meip.base import documents
from meip.cli import main
from meip.model.problems import load_problem
from meip.report.html import explanation_body
from meip.report.plan_page import plan_body
from meip.worlds.ritual import Ritual
from opened_studio import RITUALS, Opened

OTHER = "file:ritual, any order.json"


def actions(side: dict[str, Any]) -> list[Any]:
    return [step["action"] for step in side["steps"]]


def test_the_plan_is_the_one_that_the_library_makes(studio: Opened, rite: Task) -> None:
    (side,) = studio.post("/api/plans", task="rite", problem=OTHER)["sides"]
    own = rite.plan(studio.studio.worlds.load(OTHER))
    assert actions(side) == [list(action) for action in own.actions]
    assert len(side["frames"]) == len(side["steps"]) + 1
    assert documents.parse(side["document"]).actions == own.actions


@pytest.mark.parametrize("baseline", ["clone", "maxent-irl (visits)", "maxent-irl (final)", "goal-count", "random"])
def test_every_baseline_acts_beside_the_task(studio: Opened, baseline: str) -> None:
    assert baseline in studio.get("/api/plans/choices", task="rite")["baselines"]
    meip, other = studio.post("/api/plans", task="rite", problem="world:ritual", baseline=baseline)["sides"]
    assert (meip["who"], other["who"]) == ("meip", "baseline")
    assert len(other["steps"]) == 3 and actions(meip)[0] == [1, "torch", 5]


def test_the_same_seed_gives_the_same_two_plans(studio: Opened) -> None:
    asked = {"task": "rite", "problem": "world:ritual", "baseline": "random", "seed": 4}
    assert studio.post("/api/plans", **asked) == studio.post("/api/plans", **asked)


def test_every_step_says_why_it_and_not_another(studio: Opened) -> None:
    (side,) = studio.post("/api/plans", task="rite", problem="world:ritual")["sides"]
    why = side["steps"][2]["why"]
    assert why["possible"] == 17 and why["worth"] > max(other["worth"] for other in why["others"])
    reasons = {reason["text"]: reason["adds"] for other in why["others"] for reason in other["because"]}
    assert reasons["count(clay@3) = 4"] > 1
    for other in why["others"]:
        assert sum(reason["adds"] for reason in other["because"]) == pytest.approx(other["less"], abs=0.3)


def test_an_edit_changes_the_plan(studio: Opened) -> None:
    studio.post("/api/understand/rite/edits", text="some(bamboo@2)", weights=[-3.0])
    (side,) = studio.post("/api/plans", task="rite", problem="world:ritual")["sides"]
    assert actions(side)[1][1] != "bamboo"


ASKED: dict[str, Any] = {"task": "rite", "problem": "world:ritual"}


def test_a_wrong_step_becomes_a_correction_and_is_learned_from(studio: Opened, tmp_path: Path) -> None:
    (side,) = studio.post("/api/plans", **ASKED)["sides"]
    begun = [{"action": step["action"], "outcome": step["outcome"]} for step in side["steps"][:1]]
    wrong = side["steps"][1]["action"]
    possible = studio.post("/api/plans/actions", **ASKED, steps=begun, search="stage 2 bamboo 5")
    assert [one["value"] for one in possible["actions"]] == [[2, "bamboo", 5]] and wrong != [2, "bamboo", 5]
    made = studio.post("/api/plans/correct", **ASKED, steps=begun, wrong=wrong, right=[2, "bamboo", 5])
    kept = documents.read(tmp_path / "demonstrations" / made["file"], "demonstration")
    assert [list(action) for action in kept.actions] == [begun[0]["action"], [2, "bamboo", 5]]
    assert kept.by == "corrected in the studio" and kept.corrects == Correction(wrong)
    job = studio.over(made["job"]["id"])
    assert job["status"] == "done" and job["spec"]["demonstrations"] == [*RITUALS, made["file"]]
    learned = Task.load(tmp_path / "tasks" / "rite.json")
    assert learned.provenance.demonstrations == 5 and learned.provenance.evidence["corrections"]["not_followed"] == []
    (side,) = studio.post("/api/plans", **ASKED)["sides"]
    assert actions(side)[1] == [2, "bamboo", 5], "the plan changed"
    listed = {row["file"]: row["correction"] for row in studio.get("/api/demonstrations")}
    assert listed[made["file"]] and not listed[RITUALS[0]]
    assert studio.get("/api/understand/rite/behind", text="all(torch@1)")["shown"], "what stands behind it is there"
    assert isinstance(studio.get("/api/understand/rite/surprises"), list)


def test_the_command_line_learns_the_same_from_the_file_of_a_correction(studio: Opened, tmp_path: Path) -> None:
    begun, wrong = [{"action": [1, "torch", 5]}], [2, "bamboo", 1]
    made = studio.post("/api/plans/correct", **ASKED, steps=begun, wrong=wrong, right=[2, "bamboo", 5])
    studio.over(made["job"]["id"])
    shown = [tmp_path / "demonstrations" / name for name in (*RITUALS, made["file"])]
    learn(read_episodes(shown)).save(tmp_path / "alone.json")
    assert (tmp_path / "alone.json").read_bytes() == (tmp_path / "tasks" / "rite.json").read_bytes()


def test_a_correction_can_be_gone_on_with_by_hand(studio: Opened, tmp_path: Path) -> None:
    made = studio.post(
        "/api/plans/correct", **ASKED, steps=[], wrong=[1, "torch", 5], right=[1, "torch", 3], then="hand"
    )
    draft = documents.read(tmp_path / "drafts" / made["draft"], "demonstration")
    assert [list(action) for action in draft.actions] == [[1, "torch", 3]] and draft.corrects is None
    assert not (tmp_path / "demonstrations" / made["draft"]).exists()
    asked = {**ASKED, "steps": [{"action": [1, "torch", 5]}], "wrong": [2, "bamboo", 1]}
    begun = studio.post("/api/plans/correct", **asked, then="hand")
    assert studio.get("/api/drafts")[0]["name"] in (made["draft"], begun["draft"])
    assert len(documents.read(tmp_path / "drafts" / begun["draft"], "demonstration").steps) == 1


def test_a_plan_that_should_have_stopped_earlier_is_corrected_without_a_step(studio: Opened, tmp_path: Path) -> None:
    made = studio.post("/api/plans/correct", **ASKED, steps=[{"action": [1, "torch", 5]}], wrong=[2, "bamboo", 1])
    kept = documents.read(tmp_path / "demonstrations" / made["file"], "demonstration")
    assert [list(action) for action in kept.actions] == [[1, "torch", 5]]
    assert kept.corrects == Correction([2, "bamboo", 1], stop=True)
    studio.post(f"/api/jobs/{made['job']['id']}/cancel")


def test_what_is_not_possible_there_is_refused(studio: Opened) -> None:
    asked = {"task": "rite", "problem": "world:ritual", "steps": []}
    assert "not possible" in studio.refused("/api/plans/correct", **asked, wrong=[1, "torch", 5], right=[1, "torch", 9])
    assert "not possible" in studio.refused("/api/plans/correct", **asked, wrong=[1, "torch", 9], right=[1, "torch", 5])
    assert "was wrong" in studio.refused("/api/plans/correct", **asked, wrong=[1, "torch", 5], right=[1, "torch", 5])
    assert "unknown baseline" in studio.refused("/api/plans", task="rite", problem="world:ritual", baseline="x")
    assert "does not fit" in studio.refused("/api/plans", task="rite", problem="world:didactic")


def test_problems_that_a_task_does_not_fit_are_told_with_the_reason(studio: Opened) -> None:
    found = {one["id"]: one["why_not"] for one in studio.get("/api/plans/choices", task="rite")["problems"]}
    assert found["world:ritual"] == "" and found[OTHER] == ""
    assert "does not fit a world of domain 'didactic'" in found["world:didactic"]


def test_a_problem_is_changed_and_kept_as_a_document(studio: Opened, tmp_path: Path) -> None:
    found = studio.get("/api/plans/problem", id="world:ritual")["document"]
    made = studio.post("/api/plans/problems", name="eight", document={**found, "objects": 8})
    assert load_problem(tmp_path / "problems" / "eight.json") == Ritual(objects=8)
    (side,) = studio.post("/api/plans", task="rite", problem=made["id"])["sides"]
    assert actions(side)[0] == [1, "torch", 8]
    assert "objects" in studio.refused("/api/plans/problems", name="bad", document={**found, "objects": "many"})
    assert not (tmp_path / "problems" / "bad.json").exists()


DOMAIN = """(define (domain switches) (:requirements :strips) (:predicates (on ?x) (off ?x))
 (:action flip :parameters (?x) :precondition (off ?x) :effect (and (on ?x) (not (off ?x)))))"""
PROBLEM = (
    """(define (problem two) (:domain switches) (:objects a b) (:init (off a) (off b)) (:goal (and (on a) (on b))))"""
)


def test_a_pddl_file_is_a_problem(studio: Opened, tmp_path: Path) -> None:
    pytest.importorskip("unified_planning")
    made = studio.post("/api/plans/problems", name="two.pddl", text=PROBLEM, domain=DOMAIN)
    assert made["id"] == "file:two.pddl"
    assert (tmp_path / "problems" / "two-domain.pddl").exists()
    studio.refused("/api/plans/problems", name="three.pddl", text="(define", domain=DOMAIN)
    assert not list((tmp_path / "problems").glob("three*"))


def test_a_report_is_what_the_commands_write(studio: Opened, rite: Task, tmp_path: Path) -> None:
    alone = tmp_path / "alone.html"
    with pytest.raises(SystemExit):
        main(["explain", str(tmp_path / "tasks" / "rite.json"), "--html", str(alone)])
    made = studio.post("/api/reports", task="rite")
    assert (tmp_path / "reports" / made["html"]).read_bytes() == alone.read_bytes(), "the same page, byte by byte"
    made = studio.post("/api/reports", task="rite", problems=["world:ritual"], baseline="clone")
    text = (tmp_path / "reports" / made["html"]).read_text()
    assert explanation_body(rite.explain()) in text
    world = Ritual()
    plan = rite.plan(world, seconds=20.0)
    assert plan_body(plan, world, "ritual: the learned task", level=2) in text
    assert "default-src 'none'" in text and "<script" not in text and "http" not in text.replace("http-equiv", "")
    data = documents.read(tmp_path / "reports" / made["json"], "report")
    assert data.explanations == (json.loads(json.dumps(rite.explain().to_json())),)
    (results,) = data.results
    assert {row["method"] for row in results.rows} == {"meip", "nearest step shown"}
    assert all(cell in text for line in results.tables[0].lines for cell in line)
    answer = studio.client.get(f"/api/reports/{made['html']}")
    assert answer.text == text and answer.headers["content-disposition"].startswith("attachment")
    assert studio.client.get("/api/reports/..%2Ftasks%2Frite.json").status_code in (400, 404)


def test_a_report_shows_what_reproduce_and_evaluate_left_in_the_project(studio: Opened, tmp_path: Path) -> None:
    folder = tmp_path / "results"
    with pytest.raises(SystemExit) as ended:
        main(["reproduce", "probability-shift", "--seeds", "1", "--quick", "--out", str(folder)])
    assert not ended.value.code
    task, rows = str(tmp_path / "tasks" / "rite.json"), folder / "carried over.json"
    with pytest.raises(SystemExit):
        main(["evaluate", task, "ritual", "--searches", "1", "--json", str(rows)])
    (folder / "broken.json").write_text("{")
    listed = {one["file"]: one for one in studio.get("/api/reports/results")}
    assert listed["report.json"]["command"] == "meip reproduce probability-shift" and listed["broken.json"]["error"]
    made = studio.post("/api/reports", task="rite", results=["report.json", "carried over.json"])
    assert made["results"] == 2
    text, own = (tmp_path / "reports" / made["html"]).read_text(), (folder / "report.html").read_text()
    shown = own[own.index("<section><h2>meip reproduce probability-shift") : own.index("</body>")].strip()
    assert shown in text and shown.count("data:image/svg+xml") > 2, "as reproduce shows it, with its figures"
    assert "<h2>meip evaluate</h2>" in text and "demonstrated_match" in text
    assert "broken.json" in studio.refused("/api/reports", task="rite", results=["broken.json"])
