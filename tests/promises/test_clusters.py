"""Promises 1 and 2 on more than one machine: learning on clusters gives the bytes of one process, also where one dies.

The clusters are real, with two nodes or two worker processes on this machine, and listen to nobody else.
"""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from attack.resume import CASES
from meip import append_demonstration, learn, read_episodes
from meip.experiments.rites import paper_demonstrations
from meip.learning.checkpoint import Checkpoint, KeptRounds

PATIENCE = 100.0  # seconds; on a machine that does nothing else a tenth of it is enough
COMMITTEE = ["--objective", "plans", "--committee", "8"]
TWO_NODES = """
import sys
from ray.cluster_utils import Cluster
node = dict(num_cpus=1, object_store_memory=100_000_000, node_ip_address="127.0.0.1", include_dashboard=False)
cluster = Cluster()
cluster.add_node(wait=False, **node)
cluster.add_node(wait=True, **node)
print(cluster.address, flush=True)
sys.stdin.read()
cluster.shutdown()
"""
ONLY_HERE = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0", "RAY_AUTH_MODE": "disabled"}

needs_proc = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="workers are found in /proc")


def needs(package: str, extra: str) -> pytest.MarkDecorator:
    missing = importlib.util.find_spec(package) is None
    return pytest.mark.skipif(missing, reason=f"{package} is not installed: pip install 'meip[{extra}]'")


@pytest.fixture
def demonstrations(tmp_path: Path) -> Path:
    path = tmp_path / "demos.jsonl"
    for episode in paper_demonstrations("free"):
        append_demonstration(path, episode.demonstration)
    return path


@pytest.fixture
def two_ray_nodes() -> Iterator[tuple[str, int]]:
    with running([sys.executable, "-c", TWO_NODES]) as host:
        yield first_line(host, lambda line: line.startswith("127.0.0.1:")), host.pid


@pytest.fixture
def two_dask_workers(tmp_path: Path) -> Iterator[tuple[str, int]]:
    here = ["--host", "127.0.0.1", "--no-dashboard"]
    with running([*DASK, "scheduler", *here, "--port", "0", "--dashboard-address", "127.0.0.1:0"]) as scheduler:
        line = first_line(scheduler, lambda line: "tcp://127.0.0.1:" in line)
        address = "tcp://" + line.split("tcp://")[1].split()[0]
        workers = ["--nworkers", "2", "--nthreads", "1", "--local-directory", str(tmp_path)]
        with running([*DASK, "worker", address, *here, *workers]) as host:
            for _ in range(2):
                first_line(host, lambda line: "Registered to" in line)
            yield address, host.pid


DASK = [sys.executable, "-m", "dask"]


@contextmanager
def running(command: list[str]) -> Iterator[subprocess.Popen[str]]:
    """A process that ends when its input does, or when it is told to."""
    process = subprocess.Popen(
        command, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdin is not None and process.stdout is not None
    try:
        yield process
    finally:
        process.stdin.close()
        if "-c" not in command:
            process.terminate()
        try:
            process.wait(PATIENCE)
        finally:
            for pid in [*descendants(process.pid), process.pid]:
                kill(pid)
            process.stdout.close()
            process.wait()


def environment() -> dict[str, str]:
    return {**os.environ, **ONLY_HERE}


def first_line(process: subprocess.Popen[str], wanted: Callable[[str], bool]) -> str:
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if wanted(line):
            return line.strip()
    raise AssertionError(f"it ended: {''.join(said)}")


def descendants(pid: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
        except OSError:  # it has just ended
            continue
        children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        mine = children.get(todo.pop(), [])
        found += mine
        todo += mine
    return found


def kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def kill_one(host: int, wanted: str) -> None:
    """Kill a worker of a cluster, as soon as there is one."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        for pid in descendants(host):
            try:
                command = Path(f"/proc/{pid}/cmdline").read_bytes().decode(errors="replace")
            except OSError:
                continue
            if wanted in command and kill(pid):
                return
        time.sleep(0.05)
    raise AssertionError("no worker was found")


def learned_on(cluster: tuple[str, str], demos: Path, options: list[str], kills: Callable[[], None] | None) -> bytes:
    """The task that the command line learns there; a worker is killed when the first member is there."""
    output = demos.with_name(f"{uuid.uuid4().hex}.json")
    command = [sys.executable, "-m", "meip", "learn", str(demos), "-o", str(output), *options]
    command += ["--backend", cluster[0], "--address", cluster[1]]
    process = subprocess.Popen(command, env=environment(), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    said = []
    with process:
        for line in process.stderr:
            said.append(line)
            if line.startswith("1 of ") and kills is not None:
                kills()
    assert process.returncode == 0, "".join(said)
    return output.read_bytes()


def by_one_process(demos: Path, **options: object) -> bytes:
    path = demos.with_name("alone.json")
    learn(read_episodes([demos]), **options).save(path)  # type: ignore[arg-type]
    return path.read_bytes()


def goes_on(
    backend: str, address: str, demos: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[list[int], set[bytes]]:
    """How many rounds one process does, how many a cluster, how many one there that goes on from half of them; and the
    bytes."""
    done: list[str] = []
    keep = KeptRounds.keep

    def counted(self: KeptRounds, name: str, value: object) -> None:
        done.append(name)
        keep(self, name, value)  # type: ignore[arg-type]

    monkeypatch.setattr(KeptRounds, "keep", counted)
    monkeypatch.setattr(Checkpoint, "remove", lambda self: None)
    counts, saved, episodes = [], set[bytes](), read_episodes([demos])
    learn(episodes, checkpoint=folder.with_name("alone")).save(task := folder.with_suffix(".json"))
    counts.append(len(done))
    done.clear()
    file, there = folder / "member-000.jsonl", {"backend": backend, "address": address}
    for _ in range(2):
        learn(episodes, checkpoint=folder, **there).save(task)  # type: ignore[arg-type]
        saved.add(task.read_bytes())
        counts.append(len(done))
        done.clear()
        kept = file.read_text().splitlines(keepends=True)
        file.write_text("".join(kept[: len(kept) // 2]))
    return counts, saved


def same_there(backend: str, address: str, folder: Path) -> set[str]:
    """Other kinds of worlds that are learned there to the bytes of one process: PDDL, and where chance plays a part."""
    same = set[str]()
    for name in ("choices, PDDL", "choices, chance"):
        made, options = CASES[name]
        learn(made(), **options).save(folder / "here.json")
        there = {"backend": backend, "address": address}
        learn(made(), **options, **there).save(folder / "there.json")  # type: ignore[arg-type]
        same |= {name} if (folder / "here.json").read_bytes() == (folder / "there.json").read_bytes() else set()
    return same


@needs_proc
@needs("ray", "ray")
def test_two_ray_nodes_learn_what_one_process_does_though_a_worker_is_killed(
    demonstrations: Path, two_ray_nodes: tuple[str, int]
) -> None:
    address, host = two_ray_nodes
    found = learned_on(("ray", address), demonstrations, COMMITTEE, lambda: kill_one(host, "ray::work"))
    assert found == by_one_process(demonstrations, objective="plans", committee=8)
    assert learned_on(("ray", address), demonstrations, [], None) == by_one_process(demonstrations)


@needs_proc
@needs("distributed", "dask")
def test_two_dask_workers_learn_what_one_process_does_though_one_is_killed(
    demonstrations: Path, two_dask_workers: tuple[str, int], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    address, host = two_dask_workers
    found = learned_on(("dask", address), demonstrations, COMMITTEE, lambda: kill_one(host, "spawn_main"))
    assert found == by_one_process(demonstrations, objective="plans", committee=8)
    alone = by_one_process(demonstrations)
    assert learned_on(("dask", address), demonstrations, [], None) == alone
    assert same_there("dask", address, tmp_path) == {"choices, PDDL", "choices, chance"}
    (here, there, then), saved = goes_on("dask", address, demonstrations, tmp_path / "rounds", monkeypatch)
    assert saved == {alone} and 0 < then < there == here
