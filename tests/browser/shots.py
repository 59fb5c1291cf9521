"""``make studio-shots``: a picture of every tab, light and dark, as small files in ``docs/studio``.

Everything in them was done by the studio itself, on its bundled examples: a fold is drawn, a ritual and the folding of
shirts are learned, explained, planned and reported.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import cv2
import numpy as np
from conftest import CHROMIUM, ROOT, Running
from playwright.sync_api import sync_playwright

SIZE = {"width": 1200, "height": 780}
QUALITY = 78
PATIENCE = 900  # seconds for learning
SHIRTS = [f"shirt {k}.json" for k in range(1, 21)]
RITUALS = [f"ritual {k}.json" for k in range(1, 6)]


def ask(page: Any, path: str, body: Any = None) -> Any:
    """Ask the server from the page, as the page does."""
    return page.evaluate(
        """([path, body]) => fetch(path, body === null ? {} : { method: "POST", body: JSON.stringify(body),
        headers: { "Content-Type": "application/json" } }).then((r) => r.json())""",
        [path, body],
    )


def learned(page: Any, task: str, files: list[str]) -> int:
    """Learn a task to the end: the job's number."""
    job = ask(page, "/api/jobs", {"task": task, "demonstrations": files, "options": {}})["id"]
    stop = time.monotonic() + PATIENCE
    while time.monotonic() < stop:
        now = ask(page, f"/api/jobs/{job}")["job"]
        if now["status"] not in ("waiting", "running"):
            assert now["status"] == "done", now
            return int(job)
        time.sleep(1)
    raise SystemExit(f"learning {task} did not end within {PATIENCE} seconds")


def draw_a_fold(page: Any) -> None:
    """A left sleeve folded, the right one about to be."""
    page.get_by_role("button", name="Record in t-shirt", exact=True).click()
    page.locator(".line-canvas").wait_for()
    for _ in range(2):
        if page.locator(".steps li:not(.undone)").count():
            page.keyboard.press("m")
        else:
            line = page.evaluate(
                """() => { const m = document.querySelector('.line-canvas').getScreenCTM();
                const pixel = ([x, y]) => { const p = new DOMPoint(x, -y).matrixTransform(m); return [p.x, p.y]; };
                return [[-14, -6], [-18, 76]].map(pixel); }"""
            )
            page.mouse.move(*line[0])
            page.mouse.down()
            page.mouse.move(*line[1], steps=8)
            page.mouse.up()
        page.locator("#verdict").filter(has_text="of the cloth moves").wait_for()
        if not page.locator(".steps li:not(.undone)").count():
            page.keyboard.press("Enter")
            page.locator(".steps li:not(.undone)").first.wait_for()


def quiet(page: Any) -> None:
    page.wait_for_load_state("networkidle")
    page.wait_for_function("() => !document.querySelector('main[aria-busy]')")
    page.evaluate("() => { document.getElementById('status').className = 'status'; document.activeElement?.blur(); }")
    page.wait_for_timeout(300)


def save(page: Any, path: Path) -> None:
    quiet(page)
    picture = cv2.imdecode(np.frombuffer(page.screenshot(), np.uint8), cv2.IMREAD_COLOR)
    done, data = cv2.imencode(".webp", picture, [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    assert done
    path.write_bytes(data.tobytes())
    print(f"{path.name}: {len(data) // 1024} KB")


def main(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        running = Running(Path(place) / "examples")
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            jobs: dict[str, int] = {}
            for scheme in ("light", "dark"):
                page = browser.new_page(viewport=SIZE, color_scheme=scheme, reduced_motion="reduce")
                page.set_default_timeout(60_000)
                page.goto(running.link)
                page.locator(".problem").first.wait_for()
                if not jobs:
                    jobs = {"ritual": learned(page, "ritual", RITUALS), "shirts": learned(page, "shirts", SHIRTS)}
                page.goto(f"{running.address}/#record")
                draw_a_fold(page)
                save(page, folder / f"record-{scheme}.webp")
                for name, hash_ in (
                    ("learn", f"learn/{jobs['ritual']}"),
                    ("understand", "understand/ritual"),
                    ("plan", "plan/shirts/file%3Asweater.json"),
                    ("report", "report/ritual"),
                ):
                    page.evaluate("hash => { location.hash = hash; }", hash_)
                    page.wait_for_selector(f"main[data-tab={name}] h1")
                    if name == "plan":
                        page.locator(".scene-svg").first.wait_for()
                        for _ in range(2):
                            page.keyboard.press("ArrowRight")
                    save(page, folder / f"{name}-{scheme}.webp")
                page.close()
        finally:
            browser.close()
            running.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs" / "studio")
