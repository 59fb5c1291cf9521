"""meip learn, explain, plan and demo: from files to files, with exit codes that scripts can rely on."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from meip import LearnOptions, Task, append_demonstration, learn, read_episodes, record
from meip.base import documents
from meip.cli import main
from meip.model.problems import problem_document
from meip.worlds.didactic import Didactic
from meip.worlds.ritual import Ritual


def run(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as caught:
        main([str(a) for a in arguments])
    out, err = capsys.readouterr()
    return int(caught.value.code or 0), out, err


@pytest.fixture
def demos(tmp_path: Path) -> Path:
    file = tmp_path / "demos.jsonl"
    for number in (1, 3, 2):
        shown = record(Ritual(order="enforced"), [(1, "torch", 5), (2, "bamboo", number), (3, "clay", 4)])
        append_demonstration(file, shown)
    return file


def test_learn_explain_and_plan_from_files_to_files(
    demos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task, page, plan = tmp_path / "task.json", tmp_path / "task.html", tmp_path / "plan.json"
    code, out, err = run(capsys, "learn", demos, "-o", task)
    assert code == 0 and "First all torches are offered at stage 1" in " ".join(out.split())
    assert "members learned" in err  # plain lines where there is no terminal
    assert Task.load(task).provenance.demonstrations == 3

    code, out, _ = run(capsys, "explain", task, "--why", "--html", page)
    assert code == 0 and "strengths" in out and page.read_text().startswith("<!DOCTYPE html>")
    code, out, _ = run(capsys, "explain", task, "--json")
    assert json.loads(out)["order"][0]["confidence"] == 1.0

    problem = tmp_path / "problem.json"
    problem.write_text(json.dumps(problem_document(Ritual(order="free", objects=6))))
    code, out, _ = run(capsys, "plan", task, problem, "-o", plan, "--render", tmp_path / "p.html")
    assert code == 0 and "1 torch 6" in out
    assert documents.read(plan, "plan").actions[0] == [1, "torch", 6]
    code, out, _ = run(capsys, "check", task, plan)
    assert code == 0 and "task (version 1)" in out and "plan (version 1)" in out


def test_the_papers_method_has_one_name(demos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    by_command = tmp_path / "paper.json"
    assert run(capsys, "learn", demos, "-o", by_command, "--paper", "--seed", "2")[0] == 0
    by_library = learn(read_episodes([str(demos)]), LearnOptions.paper(seed=2))
    assert Task.load(by_command) == by_library


def test_plan_exits_with_3_where_the_goal_is_not_reached_and_writes_the_best_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    demos, task, plan = tmp_path / "demos.jsonl", tmp_path / "task.json", tmp_path / "best.plan"
    append_demonstration(demos, record(Didactic(), ["a1", "a1"], [0, None]))
    assert run(capsys, "learn", demos, "-o", task)[0] == 0
    code, out, _ = run(capsys, "plan", task, "didactic")
    assert code == 0 and "the goal is reached" in out
    code, out, _ = run(capsys, "plan", task, "didactic", "--horizon", "2", "-o", plan)
    assert code == 3 and "NOT reached" in out
    assert plan.read_text() == "a1\n; cost = 1 (unit cost)\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["learn", "{demos}"], "say where to write the task: -o TASK"),
        (["learn", "-o", "task.json"], "nothing to learn from"),
        (["learn", "nowhere.jsonl", "-o", "task.json"], "nowhere.jsonl: cannot be read"),
        (["learn", "{demos}", "-o", "task.json", "--objective", "svn"], "did you mean 'svm'"),
        (["learn", "{demos}", "-o", "task.json", "--paper", "--objective", "svm"], "no effect beside --paper"),
        (["learn", "{demos}", "-o", "task.json", "--order", "greedy"], "order='greedy'"),
        (["learn", "{demos}", "-o", "task.json", "--grammar", "papr"], "did you mean 'paper'"),
        (["learn", "{demos}", "-o", "task.json", "--backend", "rai"], "did you mean 'ray'"),
        (["explain", "{demos}"], "demos.jsonl: "),
        (["plan", "nowhere.json", "ritual"], "nowhere.json: cannot be read"),
    ],
)
def test_bad_input_ends_with_2_and_one_line(
    arguments: list[str],
    message: str,
    demos: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    code, _, err = run(capsys, *[a.format(demos=demos) for a in arguments])
    assert code == 2
    assert err.startswith("error: ") and message in err and err.count("\n") == 1
    assert not (tmp_path / "task.json").exists()


def test_an_illegal_demonstration_is_named_with_its_file(
    demos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with demos.open("a") as file:
        file.write(demos.read_text().splitlines()[0].replace('"torch", 5', '"torch", 9') + "\n")
    code, _, err = run(capsys, "learn", demos, "-o", tmp_path / "task.json")
    assert code == 2 and "demos.jsonl: demonstration 4: step 1" in err


def test_ctrl_c_leaves_no_half_written_file(demos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    out.mkdir()
    command = [sys.executable, "-m", "meip", "learn", str(demos), "-o", str(out / "task.json"), "--committee", "500"]
    hear = partial(signal.signal, signal.SIGINT, signal.SIG_DFL)  # a suite run in the background hands down "ignore"
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=hear
    ) as learning:
        assert learning.stderr is not None
        learning.stderr.readline()  # it is at work
        os.kill(learning.pid, signal.SIGINT)
        _, err = learning.communicate(timeout=60)
    assert learning.returncode == 130 and "Traceback" not in err
    assert list(out.iterdir()) == []


def test_the_demo_learns_explains_and_plans(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "demo", "-o", tmp_path / "task.json")
    assert code == 0
    assert "exactly 4 clays are offered at stage 3" in out and "1 torch 6" in out
    assert max(len(line) for line in out.splitlines()) <= 80
    assert Task.load(tmp_path / "task.json").preferences is not None


def test_evaluate_prints_a_table_and_writes_tidy_rows(
    demos: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task, rows = tmp_path / "task.json", tmp_path / "rows.json"
    run(capsys, "learn", demos, "-o", task)
    code, out, err = run(
        capsys, "evaluate", task, "ritual", "--searches", "2", "--search", "beam", "--json", rows,
        "--against", "maxent-irl", "--demos", demos,
    )  # fmt: skip
    assert code == 0 and "maxent-irl (visits)" in out and err == ""
    found = documents.read(rows, "results").rows
    assert {row["metric"] for row in found} == {
        "demonstrated_match",
        "demonstrated_order",
        "tau",
        "match",
        "order",
        "length",
    }
    code, _, err = run(capsys, "evaluate", task, "ritual", "--against", "maxent-irl")
    assert code == 2 and "--demos FILE" in err
