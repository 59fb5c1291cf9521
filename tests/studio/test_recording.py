"""Recording in any world: every step is saved, undo and redo stay within their demonstration."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from meip.model.demonstrations import read_demonstrations, read_episodes, replay
from meip.studio import warming
from opened_studio import Opened

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture
def opened(tmp_path: Path) -> Opened:
    return Opened.at(tmp_path / "project")


def begin(opened: Opened, problem: str = "world:ritual", **more: Any) -> tuple[str, dict[str, Any]]:
    view = opened.post("/api/drafts", problem=problem, **more)
    return f"/api/drafts/{view['name']}", view


def kept(opened: Opened, name: str) -> dict[str, Any]:
    """The draft as it lies on the disk."""
    found: dict[str, Any] = json.loads((opened.studio.project.path / "drafts" / name).read_text())
    return found


def test_a_ritual_is_recorded_step_by_step_and_read_by_the_library(opened: Opened) -> None:
    path, view = begin(opened, "file:ritual, any order.json")
    assert view["legal"] == 3 * 19 and view["steps"] == [] and not view["over"]
    assert view["actions"][1]["parts"] == [["stage", "1"], ["type", "torch"], ["number", "1"]]
    for action in ([1, "torch", 6], [2, "bamboo", 2], [3, "clay", 4]):
        view = opened.post(f"{path}/step", action=action)
    assert view["over"] and view["legal"] == 0 and view["steps"][0]["value"] == [1, "torch", 6]
    file = opened.post(f"{path}/save", title="mine", by="me", note="slowly")["file"]
    saved = opened.studio.project.path / "demonstrations" / file
    (shown,) = read_demonstrations(saved)
    assert (file, shown.by, shown.note, shown.meta) == ("mine.json", "me", "slowly", None)
    (episode,) = read_episodes([saved])
    assert replay(episode.world, shown).actions == ((1, "torch", 6), (2, "bamboo", 2), (3, "clay", 4))
    assert opened.get("/api/drafts") == [] and "mine.json" in opened.get("/api/project")["demonstrations"]


def test_a_factory_named_on_the_command_line_is_recorded_like_a_class(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "my_bags.py").write_text("import packing\ndef bag(): return packing.Packing(('heavy', 'bottle'))\n")
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.syspath_prepend(str(tmp_path))
    opened = Opened.at(tmp_path / "project", ("garden:Garden", "my_bags:bag"))
    path, view = begin(opened, "own:my_bags:bag")
    assert view["title"] == "bag" and view["world"] == "packing:Packing" and view["legal"] == 2
    assert view["state"]["words"] == "" and view["state"]["facts"], "a table, and not what Python writes of a state"
    opened.post(f"{path}/step", action=0)
    again = Opened.at(opened.studio.project.path, ("garden:Garden", "my_bags:bag"))
    assert again.get(path)["steps"][0]["value"] == 0


def test_nobody_waits_for_what_is_compiled_for_somebody_else(opened: Opened, monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, asked = threading.Event(), list[Any]()
    monkeypatch.setattr(warming, "_warm", lambda world: (asked.append(world), compiled.wait(20)))
    opened.get("/api/problems/preview", id="file:t-shirt.json")
    first = threading.Thread(target=begin, args=(opened, "file:t-shirt.json"))
    first.start()
    _, view = begin(opened, "world:ritual")
    assert view["legal"] and first.is_alive() and len(asked) == 1, "once, for the first who looks at such a problem"
    compiled.set()
    first.join(20)
    assert {one["world"] for one in opened.get("/api/drafts")} == {"folding", "ritual"}


def test_every_step_is_on_the_disk_before_it_is_answered(opened: Opened) -> None:
    path, view = begin(opened)
    for n, action in enumerate(([1, "torch", 5], [2, "clay", 1]), start=1):
        view = opened.post(f"{path}/step", action=action)
        assert len(kept(opened, view["name"])["steps"]) == n == len(view["steps"])
    again = Opened.at(opened.studio.project.path)  # another server, another page
    assert again.get(path)["steps"] == view["steps"]


def test_undo_and_redo_go_step_by_step_and_survive_a_restart(opened: Opened) -> None:
    path, _ = begin(opened)
    opened.post(f"{path}/step", action=[1, "torch", 5])
    two = opened.post(f"{path}/step", action=[2, "clay", 1])
    one = opened.post(f"{path}/undo")
    assert (len(one["steps"]), one["redo"]) == (1, 1)
    nothing = opened.post(f"{path}/undo")
    assert (len(nothing["steps"]), nothing["redo"]) == (0, 2)
    assert "at its beginning" in opened.refused(f"{path}/undo")
    again = Opened.at(opened.studio.project.path)
    assert again.post(f"{path}/redo")["steps"] == one["steps"]
    redone = again.post(f"{path}/redo")
    assert (redone["steps"], redone["state"], redone["redo"]) == (two["steps"], two["state"], 0)
    assert "nothing to redo" in again.refused(f"{path}/redo")


def test_a_new_step_forgets_what_was_undone(opened: Opened) -> None:
    path, _ = begin(opened)
    opened.post(f"{path}/step", action=[1, "torch", 5])
    opened.post(f"{path}/undo")
    assert opened.post(f"{path}/step", action=[1, "clay", 2])["redo"] == 0
    assert "nothing to redo" in opened.refused(f"{path}/redo")


def test_undo_never_reaches_another_demonstration(opened: Opened) -> None:
    first, _ = begin(opened)
    opened.post(f"{first}/step", action=[1, "torch", 5])
    second, _ = begin(opened)
    assert first != second
    assert "at its beginning" in opened.refused(f"{second}/undo")
    assert len(opened.get(first)["steps"]) == 1


def test_a_window_that_is_behind_changes_nothing(opened: Opened) -> None:
    path, _ = begin(opened)
    opened.post(f"{path}/step", action=[1, "torch", 5], at=0)
    for verb, body in (("step", {"action": [2, "clay", 1]}), ("undo", {}), ("redo", {})):
        assert "changed in another window: it has 1 step" in opened.refused(f"{path}/{verb}", at=0, **body)
    assert len(opened.post(f"{path}/step", action=[2, "clay", 1], at=1)["steps"]) == 2


def test_an_illegal_step_is_refused_in_one_line_and_changes_nothing(opened: Opened) -> None:
    path, view = begin(opened)
    assert "is not legal" in opened.refused(f"{path}/step", action=[9, "torch", 5])
    assert kept(opened, view["name"])["steps"] == []
    assert "no steps yet" in opened.refused(f"{path}/save", title="empty")


def test_an_empty_name_or_one_with_a_path_is_refused_and_the_draft_stays(opened: Opened) -> None:
    path, _ = begin(opened)
    opened.post(f"{path}/step", action=[1, "torch", 5])
    for title in ("", "../x", "a/b"):
        assert "cannot be a name" in opened.refused(f"{path}/save", title=title)
    assert len(opened.get(path)["steps"]) == 1


def test_a_deleted_draft_comes_back(opened: Opened) -> None:
    path, view = begin(opened)
    opened.post(f"{path}/step", action=[1, "torch", 5])
    token = opened.client.request("DELETE", path, json={}).json()["undo"]
    assert opened.get("/api/drafts") == []
    opened.post(f"/api/trash/{token}/restore")
    assert opened.get(path)["steps"][0]["value"] == [1, "torch", 5] and view["name"] in path


def test_where_chance_has_a_say_it_is_asked_what_came_of_it(opened: Opened) -> None:
    path, view = begin(opened, "world:didactic")
    choose = opened.post(f"{path}/step", action=view["actions"][0]["value"])["choose"]
    assert len(choose) == 2 and abs(sum(one["probability"] for one in choose) - 1) < 1e-9
    assert opened.get(path)["steps"] == []
    opened.post(f"{path}/step", action=view["actions"][0]["value"], outcome=1, failure=True)
    (step,) = kept(opened, view["name"])["steps"]
    assert (step["outcome"], step["chance_failure"]) == (1, True)
    opened.post(f"{path}/undo")
    opened.post(f"{path}/redo")
    assert kept(opened, view["name"])["steps"] == [step]


def test_a_pddl_problem_is_recorded_with_what_changed(opened: Opened) -> None:
    path, view = begin(opened, "file:ferry.pddl")
    assert {one["parts"][0][1] for one in view["actions"]} == {"sail", "board"} or view["actions"]
    after = opened.post(f"{path}/step", action=view["actions"][0]["value"])
    assert "<ins>" in after["state"]["pictures"][0]["html"] and "<del>" in after["state"]["pictures"][0]["html"]
    found = opened.get(f"{path}/actions", q=after["actions"][-1]["text"])
    assert after["actions"][-1] in found["actions"] and found["total"] <= after["legal"]
    changed = [row for row in opened.get(f"{path}/facts") if row["changed"]]
    assert changed and {"+", "-"} == {entry["change"] for row in changed for entry in row["entries"] if entry["change"]}


def test_a_world_of_ones_own_is_recorded_when_it_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(EXAMPLES))
    opened = Opened.at(tmp_path / "p", ("garden:Garden", "packing:Packing"))
    path, view = begin(opened, "own:garden:Garden")
    assert "<svg" in view["state"]["pictures"][0]["svg"] and view["state"]["facts"] is None
    after = opened.post(f"{path}/step", action=["plant", 0])
    assert after["state"]["words"] == "1 of 5 planted, 0 watered"
    opened.post(f"{path}/save", title="my garden")
    found = opened.get("/api/demonstrations/my garden.json/replay")
    assert found["world"] == "garden" and [f["step"] and f["step"]["text"] for f in found["frames"]] == [
        None,
        "plant 0",
    ]
    without = Opened.at(tmp_path / "p")
    assert "not a registered world" in without.client.get("/api/demonstrations/my garden.json/replay").json()["error"]


def test_a_world_that_does_not_draw_itself_shows_its_facts_with_what_changed(opened: Opened) -> None:
    path, view = begin(opened, "world:didactic")
    assert not any(row["changed"] for row in view["state"]["facts"])
    after = opened.post(f"{path}/step", action="a2")
    rows = {row["name"]: row for row in after["state"]["facts"]}
    assert rows["at"]["changed"] and not rows["bad"]["changed"] and rows["bad"]["static"]
    assert [(entry["text"], entry["change"]) for entry in rows["at"]["entries"]] == [
        ("one is at place 0", "-"),
        ("one is at place 3", "+"),
    ]


def test_a_world_that_draws_itself_has_its_facts_when_they_are_asked_for(opened: Opened) -> None:
    path, _ = begin(opened)
    after = opened.post(f"{path}/step", action=[1, "torch", 2])
    assert after["state"]["pictures"][0]["svg"].count('fill="none" stroke="currentColor"') == 3
    assert after["state"]["facts"] is None
    rows = {row["name"]: row for row in opened.get(f"{path}/facts")}
    assert [entry["change"] for entry in rows["torch@1"]["entries"]] == ["+", "+"]


def test_another_like_this_one_begins_with_its_first_steps(opened: Opened) -> None:
    view = opened.post("/api/drafts", like="ritual 2.json", steps=2)
    assert [s["value"] for s in view["steps"]] == [[1, "torch", 5], [2, "bamboo", 3]] and view["title"] == "ritual 2"
    assert opened.post("/api/drafts", like="ritual 2.json")["steps"] == []
    assert "no number 7" in opened.refused("/api/drafts", like="ritual 2.json", place=6)


def test_a_draft_that_cannot_be_read_is_listed_with_the_reason(opened: Opened) -> None:
    (opened.studio.project.path / "drafts" / "broken.json").write_text("{")
    (row,) = opened.get("/api/drafts")
    assert "not JSON" in row["error"] and str(opened.studio.project.path) not in row["error"]


# --- lines ---


def test_a_line_over_a_garment_tells_what_moves_and_where_it_lands(opened: Opened) -> None:
    path, view = begin(opened, "file:t-shirt.json")
    _, y0, _, y1 = view["state"]["scene"]["box"]
    stroke = opened.post(f"{path}/stroke", line=[-15, y0, -15, y1])
    assert stroke["legal"] and stroke["problem"] == "" and len(stroke["moves"]) == len(stroke["lands"]) > 0
    assert all(x <= -15 for outline in stroke["moves"] for x, _ in outline)
    assert all(x >= -15 for outline in stroke["lands"] for x, _ in outline)
    after = opened.post(f"{path}/step", action=stroke["action"])
    assert len(after["state"]["scene"]["sheets"]) > len(view["state"]["scene"]["sheets"])
    assert {sheet["side"] for sheet in after["state"]["scene"]["sheets"]} == {"front", "back"}
    assert after["actions"] == [] and not after["over"]


def test_a_line_that_may_not_be_folded_says_why(opened: Opened) -> None:
    path, _ = begin(opened, "file:t-shirt.json")
    inside = opened.post(f"{path}/stroke", line=[0, 20, 5, 30])
    outside = opened.post(f"{path}/stroke", line=[300, 0, 300, 10])
    point = opened.post(f"{path}/stroke", line=[0, 0, 0, 0])
    assert not any(one["legal"] or one["action"] for one in (inside, outside, point))
    assert "ends inside the cloth" in inside["problem"] and "misses the cloth" in outside["problem"]
    assert "no length" in point["problem"]


def test_numbers_are_as_good_as_a_line(opened: Opened) -> None:
    path, _ = begin(opened, "file:t-shirt.json")
    drawn = opened.post(f"{path}/stroke", line=[-15, -20, -15, 100])
    typed = opened.post(f"{path}/stroke", action=drawn["action"])
    assert typed["action"] == pytest.approx(drawn["action"]) and typed["lands"] == drawn["lands"]
    assert "r > 0" in opened.refused(f"{path}/stroke", action=[0, 0, -1, 0])
    assert "expected a line" in opened.refused(f"{path}/stroke", line=[0, 1])


def test_the_last_fold_mirrored_is_among_the_guides(opened: Opened) -> None:
    path, view = begin(opened, "file:t-shirt.json")
    assert not any("mirrored" in guide["name"] for guide in view["state"]["scene"]["guides"])
    stroke = opened.post(f"{path}/stroke", line=[-16, -20, -14, 100])
    after = opened.post(f"{path}/step", action=stroke["action"])
    (mirror,) = [guide for guide in after["state"]["scene"]["guides"] if "mirrored" in guide["name"]]
    ends = sorted(tuple(round(number, 6) for number in point) for point in mirror["line"])
    assert ends == [(14, 100), (16, -20)]


def test_no_lines_are_drawn_in_other_worlds(opened: Opened) -> None:
    path, _ = begin(opened)
    assert "no lines are drawn" in opened.refused(f"{path}/stroke", line=[0, 0, 1, 1])
