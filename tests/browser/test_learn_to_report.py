"""From demonstrations to a report, in a real browser: learned, questioned, planned with, corrected, kept."""
# ruff: noqa: E501  (JavaScript)

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from meip import learn
from meip.model.demonstrations import read_episodes

LONG = 120_000
RITE = "ritual, five"  # what the task is called here


def opened(page: Any, hash_: str) -> None:
    page.goto(f"{page.url.partition('#')[0]}#{hash_}")


def listening(page: Any, address: str) -> list[str]:
    """What a page says on the console, and asks of others: nothing, one hopes."""
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: None if request.url.startswith(f"{address}/") else said.append(request.url))
    return said


def learned(page: Any, name: str) -> None:
    """Learn a task from the rituals that come with a project."""
    opened(page, "learn")
    page.get_by_role("group", name="Kind of demonstrations").get_by_role("button", name="ritual").click()
    page.get_by_label("Name of the task").fill(name)
    page.get_by_role("button", name="Learn", exact=False).last.click()
    until_learned(page, name)


def until_learned(page: Any, name: str) -> None:
    """Until the job that is shown has learned this task."""
    shown = page.locator(".job header", has=page.get_by_role("heading", name=name, exact=True))
    shown.locator(".chip", has_text=re.compile("^Learned$")).wait_for(timeout=LONG)


def steps_of(page: Any, side: int = 0) -> list[str]:
    """What a plan does, as it is listed."""
    page.locator(".plan-side").first.wait_for(timeout=LONG)
    texts = page.locator(".plan-side").nth(side).locator(".step-text").all_text_contents()
    return [str(text) for text in texts]


@pytest.fixture(scope="module")
def rite(studio: Any, browser: Any) -> str:
    """A task that was learned in this project."""
    context = browser.new_context()
    page = context.new_page()
    page.goto(studio.link)
    learned(page, RITE)
    context.close()
    return RITE


@pytest.fixture
def hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Time to look: workers wait where they fit members, until this file is gone."""
    found = tmp_path / "stage"
    found.write_text("members")
    monkeypatch.setenv("MEIP_STUDIO_HOLD", str(found))
    return found


@pytest.fixture
def held(studio: Any, hold: Path, tmp_path: Path) -> Iterator[Any]:
    running = type(studio)(tmp_path / "project")
    yield running
    running.stop()


def test_learning_goes_on_through_a_reload_a_closed_tab_and_a_restart_of_the_server(
    held: Any, hold: Path, browser: Any
) -> None:
    context = browser.new_context()
    page = context.new_page()
    said = listening(page, held.address)
    page.goto(held.link)
    opened(page, "learn")
    page.get_by_role("group", name="Kind of demonstrations").get_by_role("button", name="ritual").click()
    page.get_by_label("Name of the task").fill("slow rite")
    page.get_by_role("button", name="Learn", exact=False).last.click()
    page.locator(".now p", has_text="Fitting members").wait_for(timeout=LONG)
    page.reload()
    page.locator(".now p", has_text="Fitting members").wait_for(timeout=LONG)
    assert page.locator(".objective polyline").count() >= 1, "what was told before the reload is there again"
    page.close()
    held.restart()
    page = context.new_page()
    said_again = listening(page, held.address)
    page.goto(held.link)
    opened(page, "learn")
    page.locator(".job h2", has_text="slow rite").first.wait_for()
    page.locator(".job .chip", has_text="Learning").wait_for()  # it was still going on after the restart
    hold.unlink()
    until_learned(page, "slow rite")
    assert "1 attempt" in (page.locator(".now p").text_content() or "")
    page.locator(".found-column", has_text="Wanted").get_by_text("all torches are offered at stage 1").wait_for()
    page.locator(".found-column", has_text="Order").get_by_text("before").first.wait_for()
    page.get_by_text("11 of 15", exact=False).first.wait_for()
    assert said == [] and said_again == []
    context.close()


def test_a_job_is_cancelled_and_resumed_by_its_buttons(held: Any, hold: Path, browser: Any) -> None:
    context = browser.new_context()
    page = context.new_page()
    page.goto(held.link)
    opened(page, "learn")
    page.get_by_role("group", name="Kind of demonstrations").get_by_role("button", name="ritual").click()
    page.get_by_role("button", name="Learn", exact=False).last.click()
    page.locator(".now p", has_text="Fitting members").wait_for(timeout=LONG)
    page.get_by_role("button", name="Cancel").click()
    page.locator(".job .chip", has_text="Cancelled").wait_for()
    hold.unlink()
    page.get_by_role("button", name="Resume").click()
    until_learned(page, "ritual")
    context.close()


def test_the_sentence_comes_first_with_its_figure(page: Any, rite: str) -> None:
    opened(page, f"understand/{rite}")
    assert "First all torches are offered at stage 1" in (page.locator("#sentence").text_content() or "")
    assert page.locator(".foreseen .figure").first.text_content() == "11 of 15"
    card = page.locator(".wish").first
    assert card.locator("code").text_content() == "count(clay@3) = 4"
    assert "% of what plans go by" in (card.text_content() or "")


def test_a_click_on_a_wish_or_an_arrow_shows_what_stands_behind_it(page: Any, rite: str) -> None:
    opened(page, f"understand/{rite}")
    page.get_by_role("button", name="All torches are offered at stage 1: show").click()
    panel = page.get_by_role("complementary", name="What stands behind it")
    panel.get_by_text("5 steps").wait_for(timeout=LONG)
    panel.get_by_text("16 others", exact=False).wait_for()
    panel.locator("summary").first.click()
    panel.locator(".state").wait_for()
    arrow = page.locator(".order-arrow").first
    arrow.focus()
    page.keyboard.press("Enter")
    panel.get_by_role("columnheader", name="then").wait_for(timeout=LONG)
    page.locator("#order-sure").fill("80")
    page.get_by_text("No order is as sure as that.").wait_for()


def drag(page: Any, concept: str, down: float) -> None:
    """Drag the knot of a wish by the mouse, by so much of the picture's height."""
    card = page.locator(f'.wish[data-concept="{concept}"]').first
    knot = card.locator(".knot[tabindex]")
    card.scroll_into_view_if_needed()
    place, picture = knot.bounding_box(), card.locator(".curve-editor").bounding_box()
    x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + down * picture["height"] / 2, steps=4)
    page.mouse.move(x, y + down * picture["height"], steps=4)
    page.mouse.up()
    card.get_by_text("edited").wait_for()


def test_a_dragged_knot_changes_the_plan_and_can_be_reset(page: Any, rite: str, studio: Any) -> None:
    opened(page, f"plan/{rite}/world%3Aritual/alone/0")
    before = steps_of(page)
    assert "type bamboo" in before[1]
    opened(page, f"understand/{rite}")
    page.locator(".wish").first.wait_for()
    drag(page, "some(bamboo@2)", 0.9)
    assert page.locator(".edits li").count() == 1
    kept = json.loads((studio.folder / "tasks" / f"{rite}.json").read_text())
    (edit,) = kept["members"][0]["edits"]
    assert edit["concept"] == "some(bamboo@2)" and edit["after"][0] < 0 < edit["before"][0]
    page.get_by_role("link", name="See what it would do now").click()
    after = steps_of(page)
    assert after != before and "type bamboo" not in after[1]
    opened(page, f"understand/{rite}")
    page.locator('.wish[data-concept="some(bamboo@2)"]').first.get_by_role("button", name="Reset").click()
    page.locator(".edits").wait_for(state="detached")
    opened(page, f"plan/{rite}/world%3Aritual/alone/0")
    assert steps_of(page) == before


def test_a_knot_is_moved_by_keys_alone(page: Any, rite: str) -> None:
    opened(page, f"understand/{rite}")
    knot = page.get_by_role("slider", name="Weight of: all torches", exact=False).first
    knot.focus()
    was = float(knot.get_attribute("aria-valuenow"))
    for _ in range(3):
        page.keyboard.press("ArrowDown")
    card = page.locator('.wish[data-concept="all(torch@1)"]').first
    card.get_by_text("edited").wait_for()
    assert float(page.evaluate("document.activeElement.getAttribute('aria-valuenow')")) < was, "the focus stays on it"
    card.get_by_role("button", name="Reset").click()
    page.locator(".edits").wait_for(state="detached")


def test_two_plans_are_played_side_by_side_on_one_clock(page: Any, rite: str) -> None:
    opened(page, f"plan/{rite}/world%3Aritual/goal-count/0")
    page.get_by_role("region", name="The plan of the goal counting").wait_for(timeout=LONG)
    caption = page.locator(".transport .replay-caption")
    assert caption.text_content() == "Step 0 of 3"
    page.keyboard.press("ArrowRight")
    assert caption.text_content() == "Step 1 of 3"
    marked = page.locator(".plan-side li.latest .step-text").all_text_contents()
    assert len(marked) == 2 and all("stage" in text for text in marked)
    page.get_by_role("button", name="On", exact=True).focus()
    page.keyboard.press("Space")
    assert caption.text_content() == "Step 2 of 3", "on a button, the space bar presses it"
    page.keyboard.press("Home")
    page.locator("h1").click()
    page.keyboard.press("Space")
    page.locator(".transport .replay-caption", has_text="Step 3 of 3").wait_for()
    page.get_by_role("slider", name="Step").fill("2")
    assert caption.text_content() == "Step 2 of 3"
    page.get_by_role("heading", name="Why this and not another").wait_for()
    assert page.locator(".by-meip .rivals > li").count() >= 3
    assert page.url.endswith("/goal-count/2"), "the address is a link to this step"
    page.reload()
    page.locator(".plan-side").first.wait_for(timeout=LONG)
    assert caption.text_content() == "Step 2 of 3"
    colours = page.evaluate(
        "['.by-meip', '.by-baseline'].map((s) => getComputedStyle(document.querySelector(s)).borderTopStyle)"
    )
    assert colours == ["solid", "dashed"], "the two differ by more than their colour"


def test_another_problem_is_made_by_changing_a_parameter(page: Any, rite: str) -> None:
    opened(page, f"plan/{rite}/world%3Aritual/alone/0")
    steps_of(page)
    page.get_by_role("button", name="Change it").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name of the new problem").fill("seven of each")
    dialog.get_by_label("objects").fill("7")
    dialog.get_by_role("button", name="Make this problem").click()
    page.get_by_text("type torch, number 7").first.wait_for(timeout=LONG)
    assert page.locator("#problem").input_value() == "file:seven of each.json"


def test_a_wrong_step_is_corrected_learned_from_and_the_plan_changes(page: Any, studio: Any) -> None:
    name = "corrected"
    learned(page, name)
    opened(page, f"plan/{name}/world%3Aritual/alone/2")
    before = steps_of(page)
    page.get_by_role("button", name="This step is wrong").click()
    dialog = page.get_by_role("dialog", name="Step 2 is wrong")
    dialog.get_by_role("searchbox", name="Search the actions").fill("2 bamboo 5")
    dialog.get_by_role("button", name="stage 2, type bamboo, number 5").click()
    dialog.get_by_text("but stage 2, type bamboo, number 5.", exact=False).wait_for()
    dialog.get_by_text("nothing about the steps before or what comes then", exact=False).wait_for()
    dialog.get_by_role("button", name="Learn from it").click()
    page.locator(".job-list li.current", has_text="6 files").wait_for()
    until_learned(page, name)
    assert (studio.folder / "demonstrations" / f"{name} correction.json").exists()
    opened(page, f"plan/{name}/world%3Aritual/alone/2")
    after = steps_of(page)
    assert before[1] == "stage 2, type bamboo, number 1" and after[1] == "stage 2, type bamboo, number 5"


def test_a_wrong_fold_is_corrected_by_drawing_the_right_one(page: Any, studio: Any) -> None:
    shown = [studio.folder / "demonstrations" / f"shirt {k}.json" for k in (1, 2, 4)]
    learn(read_episodes(shown), concepts=("max(fill)",)).save(studio.folder / "tasks" / "folded.json")
    opened(page, "plan/folded/file%3At-shirt.json/alone/1")
    steps_of(page)
    page.get_by_role("button", name="This step is wrong").click()
    dialog = page.get_by_role("dialog", name="Step 1 is wrong")
    dialog.locator(".line-canvas").wait_for(timeout=LONG)
    ends = page.evaluate(
        """() => { const m = document.querySelector('dialog .line-canvas').getScreenCTM();
        return [[-15, -6], [-15, 76]].map(([x, y]) => { const p = new DOMPoint(x, -y).matrixTransform(m); return [p.x, p.y]; }); }"""
    )
    page.mouse.move(*ends[0])
    page.mouse.down()
    page.mouse.move(*ends[1], steps=6)
    page.mouse.up()
    dialog.get_by_text("of the cloth moves", exact=False).wait_for()
    page.keyboard.press("Escape")
    dialog.get_by_text("Draw a line across", exact=False).wait_for()
    page.keyboard.press("l")
    dialog.get_by_text("middle", exact=False).first.wait_for()
    page.keyboard.press("Enter")
    dialog.locator("strong", has_text="fold at (0.0, ").wait_for()
    dialog.get_by_role("button", name="Go on by hand").click()
    page.get_by_role("heading", name="Done so far").wait_for()
    (draft,) = (studio.folder / "drafts").glob("folded correction*.json")
    (step,) = json.loads(draft.read_text())["steps"]
    assert step["action"][0] == pytest.approx(0, abs=1e-6), "the line that was put there, not one of a list"
    draft.unlink()


def test_a_slip_is_set_aside_and_learning_runs_again(page: Any, studio: Any) -> None:
    name = "slipped"
    (studio.folder / "demonstrations" / "corrected correction.json").unlink(missing_ok=True)
    learned(page, name)
    opened(page, f"understand/{name}")
    odd = page.locator(".surprise").first
    odd.wait_for(timeout=LONG)
    assert odd.get_by_text("The task would rather").count() == 1
    odd.get_by_role("button", name=re.compile("slip")).click()
    page.get_by_role("dialog").get_by_role("button", name="Set aside and learn again").click()
    page.locator(".job-list li.current", has_text=re.compile("[1-4] file")).wait_for()
    until_learned(page, name)
    count = re.findall(r"(\d+) file", page.locator(".job-list li.current").inner_text())[0]
    page.reload()
    page.locator("#pick-count", has_text=f"{count} of ").wait_for()
    assert page.get_by_label("Name of the task").input_value() == name, "to go on with what the job learned from"
    opened(page, "learn")
    page.get_by_text("set aside: a slip at step", exact=False).first.wait_for()
    for left in range(page.get_by_role("button", name="Take it back in").count() - 1, -1, -1):
        page.get_by_role("button", name="Take it back in").first.click()
        page.locator(".pick-list .aside").nth(left).wait_for(state="detached")


def test_a_report_is_saved_and_opens_from_disk_without_anything_else(
    page: Any, browser: Any, rite: str, tmp_path: Path
) -> None:
    opened(page, f"report/{rite}")
    page.get_by_role("button", name="Write the report").click()
    with page.expect_download(timeout=LONG) as download:
        page.get_by_role("link", name="Save the page").click(timeout=LONG)
    kept = tmp_path / "report.html"
    download.value.save_as(kept)
    context = browser.new_context(offline=True)
    alone = context.new_page()
    asked: list[str] = []
    said: list[str] = []
    alone.on("request", lambda request: asked.append(request.url))
    alone.on("console", lambda message: said.append(message.text))
    alone.goto(kept.as_uri())
    assert asked == [kept.as_uri()] and said == []
    assert "All torches are offered at stage 1" in (alone.text_content("body") or "")
    assert alone.locator("h2", has_text="the learned task").count() == 2
    assert len(alone.locator("svg").all()) > 3 and alone.locator("script").count() == 0
    alone.emulate_media(media="print")
    assert alone.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    context.close()


def test_a_thousand_points_and_fifty_demonstrations_stay_smooth(page: Any, studio: Any, rite: str) -> None:
    from meip.studio.job_table import JobTable

    shelf = studio.folder / "demonstrations"
    text = (shelf / "ritual 1.json").read_text()
    for k in range(50):
        (shelf / f"many {k:02d}.json").write_text(text)
    table = JobTable(studio.folder / ".studio" / "jobs.sqlite")
    job = table.add({"task": "long.json", "demonstrations": ["ritual 1.json"], "options": {}})
    table.end(job.id, "cancelled")
    infos = ({"stage": "members", "done": n + 1, "members": 1000, "objective": -1000.0 + n} for n in range(1000))
    table.tell(job.id, *infos)
    opened(page, f"learn/{job.id}")
    page.locator('.objective[data-points="1000"]').wait_for(timeout=LONG)
    assert page.locator(".pick-list li").count() >= 55
    frames = page.evaluate(
        """() => new Promise((done) => { const all = document.querySelector('#pick-all'); const times = []; let last = performance.now();
        const tick = (now) => { times.push(now - last); last = now; if (times.length < 30) { all.click(); requestAnimationFrame(tick); } else done(times); };
        requestAnimationFrame(tick); })"""
    )  # fmt: skip
    assert sorted(frames)[len(frames) // 2] < 120, "a click on all of them is painted at once, on a busy machine too"
    for path in shelf.glob("many *.json"):
        path.unlink()
