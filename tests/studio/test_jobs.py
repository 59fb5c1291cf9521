"""Learning as jobs: it goes on without the page and the server, is cancelled, and comes back when it was killed."""

from __future__ import annotations

import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from meip import Task, learn, read_episodes
from opened_studio import RITUALS, Opened


@pytest.fixture
def hold(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Time to look: workers wait at the stage that this file names, until it is gone."""
    found = tmp_path_factory.mktemp("held") / "stage"
    monkeypatch.setenv("MEIP_STUDIO_HOLD", str(found))
    return found


def pid(studio: Opened, number: int) -> int:
    found = studio.studio.jobs.table.get(number).pid
    assert found is not None
    return int(found)


def test_a_job_learns_what_the_library_learns(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    job = studio.learned("rite")
    assert job["status"] == "done", job
    kept = Task.load(tmp_path / "tasks" / "rite.json")
    own = learn(read_episodes([tmp_path / "demonstrations" / name for name in RITUALS]))
    assert kept == own
    assert job["result"]["sentence"] == own.explain().sentence


def test_the_log_tells_what_is_found_and_polling_gives_only_what_is_new(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    number = studio.learned()["id"]
    rows = studio.get(f"/api/jobs/{number}")["log"]
    assert [row["n"] for row in rows] == list(range(1, len(rows) + 1))
    last = rows[-1]
    assert last["english"]["all(torch@1)"] == "all torches are offered at stage 1"
    assert last["foreseen"] == 11 and last["choices"] == 15
    assert any(row.get("order") for row in rows) and any("objective" in row for row in rows)
    assert studio.get(f"/api/jobs/{number}", after=len(rows) - 2)["log"] == rows[-2:]


def test_what_cannot_be_learned_from_is_refused_at_once_in_one_line(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    assert "choose at least one" in studio.refused("/api/jobs", task="a", demonstrations=[])
    assert "no demonstrations/gone" in studio.refused("/api/jobs", task="a", demonstrations=["gone.json"])
    assert "cannot be a name" in studio.refused("/api/jobs", task="../a", demonstrations=RITUALS)
    wrong = studio.refused("/api/jobs", task="a", demonstrations=RITUALS, options={"tolerance": 3})
    assert "tolerance" in wrong
    assert "unknown field" in studio.refused("/api/jobs", task="a", demonstrations=RITUALS, options={"nonsense": 1})
    assert studio.get("/api/jobs") == []


def test_a_job_that_fails_says_why_in_one_line(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    job = studio.learned(kappa=3.0)
    assert job["status"] == "failed" and "kappa=3.0 has no effect here" in job["message"]


def test_a_job_is_cancelled_within_a_second_or_so_and_can_be_resumed(tmp_path: Path, hold: Path) -> None:
    studio = Opened.at(tmp_path)
    hold.write_text("candidates")
    number = studio.post("/api/jobs", task="rite", demonstrations=RITUALS)["id"]
    studio.until(number, "candidates")
    worker = pid(studio, number)
    studio.post(f"/api/jobs/{number}/cancel")
    assert studio.over(number, 10)["status"] == "cancelled"
    stop = time.monotonic() + 10
    while Path(f"/proc/{worker}/cmdline").exists() and Path(f"/proc/{worker}/cmdline").read_bytes():
        assert time.monotonic() < stop, "its worker is still there"
        time.sleep(0.05)
    assert not (tmp_path / "tasks" / "rite.json").exists()
    hold.unlink()
    studio.post(f"/api/jobs/{number}/resume")
    assert studio.over(number)["status"] == "done"
    assert (tmp_path / "tasks" / "rite.json").exists()
    assert "nothing to resume" in studio.refused(f"/api/jobs/{number}/resume")


def test_a_killed_worker_is_replaced_and_the_task_is_the_same(tmp_path: Path, hold: Path) -> None:
    studio = Opened.at(tmp_path)
    hold.write_text("members")
    number = studio.post("/api/jobs", task="rite", demonstrations=RITUALS)["id"]
    studio.until(number, "members")
    kept = tmp_path / ".studio" / "checkpoints" / str(number)
    assert list(kept.iterdir()), "rounds that are finished are kept"
    os.kill(pid(studio, number), signal.SIGKILL)
    hold.unlink()
    job = studio.over(number)
    assert job["status"] == "done" and job["attempts"] == 2
    assert not kept.exists()
    assert any(row["stage"] == "restarted" for row in studio.get(f"/api/jobs/{number}")["log"])
    own = learn(read_episodes([tmp_path / "demonstrations" / name for name in RITUALS]))
    assert Task.load(tmp_path / "tasks" / "rite.json") == own


def test_a_worker_that_is_killed_again_and_again_is_given_up_until_somebody_asks(tmp_path: Path, hold: Path) -> None:
    studio = Opened.at(tmp_path)
    hold.write_text("replay")
    number = studio.post("/api/jobs", task="rite", demonstrations=RITUALS)["id"]
    killed: set[int] = set()
    stop = time.monotonic() + 60
    while (job := studio.get(f"/api/jobs/{number}")["job"])["status"] in ("waiting", "running"):
        assert time.monotonic() < stop
        found = studio.studio.jobs.table.get(number).pid
        if found is not None and found not in killed and job["status"] == "running":
            os.kill(found, signal.SIGKILL)
            killed.add(found)
        time.sleep(0.02)
    assert job["status"] == "interrupted" and len(killed) == 3 and "Resume" in job["message"]
    hold.unlink()
    studio.post(f"/api/jobs/{number}/resume")
    assert studio.over(number)["status"] == "done"


def test_a_worker_goes_on_when_the_server_ends_and_the_next_server_finds_it(tmp_path: Path, hold: Path) -> None:
    first = Opened.at(tmp_path)
    hold.write_text("candidates")
    number = first.post("/api/jobs", task="rite", demonstrations=RITUALS)["id"]
    first.until(number, "candidates")
    worker = pid(first, number)
    second = Opened.at(tmp_path)  # as after a restart: it shares nothing with the first but the folder
    assert pid(second, number) == worker
    hold.unlink()
    assert second.over(number)["status"] == "done"
    assert second.get(f"/api/jobs/{number}")["job"]["attempts"] == 1, "nothing was started twice"


def test_a_task_that_was_changed_by_hand_is_kept_when_it_is_learned_again(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    studio.learned()
    studio.post("/api/understand/rite/edits", text="all(torch@1)", weights=[1.0])
    studio.learned()
    assert studio.get("/api/understand/rite")["edits"] == []
    assert [edit["after"] for edit in studio.get("/api/understand/rite edited")["edits"]] == [[1.0]]


def test_a_thousand_rows_of_a_log_are_told_in_one_answer(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    table = studio.studio.jobs.table
    job = table.add({"task": "a.json", "demonstrations": [], "options": {}})
    table.end(job.id, "cancelled")
    begun = time.process_time()
    table.tell(job.id, *({"stage": "members", "objective": -1000.0 + n} for n in range(1000)))
    rows = studio.get(f"/api/jobs/{job.id}")["log"]
    assert len(rows) == 1000 and rows[-1]["objective"] == -1.0
    assert time.process_time() - begun < 10


def test_many_who_look_at_once_start_nothing_twice(tmp_path: Path) -> None:
    studio = Opened.at(tmp_path)
    jobs = studio.studio.jobs
    with ThreadPoolExecutor(8) as pool:
        looking = [pool.submit(jobs.watch) for _ in range(20)]
        number = studio.post("/api/jobs", task="rite", demonstrations=RITUALS)["id"]
        looking += [pool.submit(jobs.watch) for _ in range(20)]
        assert [one.result() for one in looking] == [None] * 40
    assert studio.over(number)["attempts"] == 1
    assert not any(row["stage"] == "restarted" for row in studio.get(f"/api/jobs/{number}")["log"])
